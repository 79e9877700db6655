// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcodes single blocks of UASTC (docs/uastc.md).
#pragma once

#include <cstdint>

namespace sluice::cpu {

constexpr uint32_t kUastcMostBytes = 64; // bytes of the largest block of any target

// Returns the size in bytes of a target's block (SLUICE_UA_*). RGBA8 has blocks of 16 texels.
uint32_t uastcTargetBytes(uint32_t target);

// Transcodes a block of 16 bytes to `made`, which has room for kUastcMostBytes. Returns whether the
// block is valid; an invalid one becomes opaque magenta.
bool transcodeUastc(uint32_t target, const uint8_t* block, uint8_t* made);

} // namespace sluice::cpu
