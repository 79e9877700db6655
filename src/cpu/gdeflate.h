// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference decoder for one GDeflate tile. Its statuses define those of every other decoder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::cpu {

// Decodes one tile. Reads source[0 .. sourceSize), and writes only destination[0 ..
// destinationSize), which the tile must fill. Returns the tile's status (SLUICE_ST_...), never
// PENDING. The work is bounded by both sizes and the limit of 256 blocks.
uint32_t decodeGdeflateTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                            size_t destinationSize);

} // namespace sluice::cpu
