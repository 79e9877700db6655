// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcodes single blocks of UASTC (docs/uastc.md).
#pragma once

#include <cstdint>

namespace sluice::cpu {

constexpr uint32_t kUastcMostBytes = 64; // of a block in a target format

// Returns the bytes of a block in a target (SLUICE_UA_*); in RGBA8 those of its 16 texels.
uint32_t uastcTargetBytes(uint32_t target);

// Transcodes a block of 16 bytes to `made`, which has room for kUastcMostBytes. Returns whether the
// block is valid; an invalid one becomes opaque magenta.
bool transcodeUastc(uint32_t target, const uint8_t* block, uint8_t* made);

} // namespace sluice::cpu
