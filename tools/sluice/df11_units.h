// SPDX-License-Identifier: MIT OR Apache-2.0
// Units of DFloat11 and ECF8 in memory.
#pragma once

#include <array>

#include <sluice/sluice_df11.h>

#include "tool.h"

namespace sluice {

inline uint32_t elementBytes(uint32_t kind) { return kind == SLUICE_DF11_BF16 ? 2 : 1; }
inline uint32_t blocksOf(const SluiceDf11Unit& unit)
{
    return (unit.encodedSize + SLUICE_DF11_BLOCK_BYTES - 1) / SLUICE_DF11_BLOCK_BYTES;
}
// The offsets of luts, encoded, signMantissa, outputPositions and gaps.
inline std::array<uint64_t*, 5> offsetsOf(SluiceDf11Unit& unit)
{
    return {&unit.lutsOffset, &unit.encodedOffset, &unit.signMantissaOffset,
            &unit.outputPositionsOffset, &unit.gapsOffset};
}

// Encodes `count` elements, `repeats` times over, and appends the unit's parts to `source`, each at
// a multiple of 256. Returns the bytes of all parts; 0 if the format cannot hold an exponent.
uint64_t packDf11Unit(SluiceDf11Kind kind, const uint8_t* elements, uint64_t count,
                      uint64_t repeats, Bytes& source, SluiceDf11Unit& unit);

} // namespace sluice
