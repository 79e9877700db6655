// SPDX-License-Identifier: MIT OR Apache-2.0
// The alphabets of GDeflate 1.0, which are DEFLATE64's: how symbols and extra bits make lengths and
// distances.
#pragma once

#include "formulas/gdeflate.h"
#include "formats/integers.h"

namespace sluice::gdeflate {

constexpr u32 kLanes = SLUICE_GD_LANES;
constexpr u32 kTileBytes = SLUICE_GD_TILE_BYTES;
constexpr u32 kMaxBlocks = SLUICE_GD_MAX_BLOCKS;

constexpr u32 kMinMatch = 3;
constexpr u32 kMaxMatch = 65535;
constexpr u32 kMaxShortMatch = 257; // longer ones take the last slot, with 16 extra bits

constexpr u32 kEndOfBlock = 256;
constexpr u32 kFirstLength = 257;
constexpr u32 kLengthSlots = 29;
// A code has at most kMaxSymbols symbols; the last two are undefined.
constexpr u32 kLitLenSymbols = kFirstLength + kLengthSlots;
constexpr u32 kMaxSymbols = SLUICE_GD_LITLEN_SYMS;
constexpr u32 kDistanceSymbols = SLUICE_GD_DIST_SYMS;

constexpr u32 kMaxCodeLength = 15;
constexpr u32 kMaxPrecodeLength = 7;

// The precode: symbols 0 to 15 are code lengths, 16 repeats the last length, 17 and 18 are runs of
// zeros. kPrecodeOrder is the order in which a block header lists its lengths.
constexpr u32 kPrecodeSymbols = 19;
constexpr u8 kPrecodeOrder[kPrecodeSymbols] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                               11, 4,  12, 3, 13, 2, 14, 1, 15};
constexpr u32 runExtraBits(u32 symbol)
{
    return symbol == 16 ? 2 : symbol == 17 ? 3 : symbol == 18 ? 7 : 0;
}
constexpr u32 runBase(u32 symbol) { return symbol < 16 ? 1 : symbol == 18 ? 11 : 3; }

constexpr u32 kStaticDistanceLength = 5;
constexpr u32 staticLength(u32 symbol)
{
    return symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
}

// Extra bits and first value of each length slot. Slots 0 to 27 are DEFLATE's.
constexpr u32 lengthExtraBits(u32 slot)
{
    return slot == kLengthSlots - 1 ? 16 : gdeflateExtraBits(slot, 2);
}
constexpr u32 lengthBase(u32 slot)
{
    const u32 extraBits = gdeflateExtraBits(slot, 2);
    return slot == kLengthSlots - 1 ? 3 : (gdeflateMantissa(slot, 2, extraBits) << extraBits) + 3;
}

// Extra bits and first value of each distance slot: DEFLATE's rule, with two more slots.
constexpr u32 distanceExtraBits(u32 slot) { return gdeflateExtraBits(slot, 1); }
constexpr u32 distanceBase(u32 slot)
{
    const u32 extraBits = distanceExtraBits(slot);
    return (gdeflateMantissa(slot, 1, extraBits) << extraBits) + 1;
}

inline u32 lengthSlot(u32 length)
{
    if (length > kMaxShortMatch) return kLengthSlots - 1;
    const u32 value = length - kMinMatch, extra = floorLog2(value | 4) - 2;
    return 4 * extra + (value >> extra);
}

inline u32 distanceSlot(u32 distance)
{
    const u32 value = distance - 1, extra = floorLog2(value | 2) - 1;
    return 2 * extra + (value >> extra);
}

} // namespace sluice::gdeflate
