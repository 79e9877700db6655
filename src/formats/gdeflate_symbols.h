// SPDX-License-Identifier: MIT OR Apache-2.0
// The alphabets of GDeflate 1.0, which are those of DEFLATE64. They say how symbols and extra bits
// make lengths and distances. A slot is the range of lengths, or distances, that one symbol stands
// for.
#pragma once

#include "formulas/gdeflate.h"
#include "formats/integers.h"

namespace sluice::gdeflate {

constexpr uint32_t kLanes = SLUICE_GD_LANES;
constexpr uint32_t kTileBytes = SLUICE_GD_TILE_BYTES;
constexpr uint32_t kMaxBlocks = SLUICE_GD_MAX_BLOCKS;

constexpr uint32_t kMinMatch = 3;
constexpr uint32_t kMaxMatch = 65535;
constexpr uint32_t kMaxShortMatch = 257; // longer matches use the last slot, with 16 extra bits

constexpr uint32_t kEndOfBlock = 256;
constexpr uint32_t kFirstLength = 257;
constexpr uint32_t kLengthSlots = 29;
// The header of a block may list code lengths for kMaxSymbols symbols, but only the first
// kLitLenSymbols of them may occur in the block.
constexpr uint32_t kLitLenSymbols = kFirstLength + kLengthSlots;
constexpr uint32_t kMaxSymbols = SLUICE_GD_LITLEN_SYMS;
constexpr uint32_t kDistanceSymbols = SLUICE_GD_DIST_SYMS;

constexpr uint32_t kMaxCodeLength = 15;
constexpr uint32_t kMaxPrecodeLength = 7;

// The precode is the code for code lengths. Symbols 0 to 15 are lengths, 16 repeats the last
// length, 17 and 18 are runs of zeros. A block header lists the precode's own lengths in the order
// kPrecodeOrder.
constexpr uint32_t kPrecodeSymbols = 19;
constexpr uint8_t kPrecodeOrder[kPrecodeSymbols] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
constexpr uint32_t runExtraBits(uint32_t symbol)
{
    return symbol == 16 ? 2 : symbol == 17 ? 3 : symbol == 18 ? 7 : 0;
}
constexpr uint32_t runBase(uint32_t symbol) { return symbol < 16 ? 1 : symbol == 18 ? 11 : 3; }

constexpr uint32_t kStaticDistanceLength = 5;
constexpr uint32_t staticLength(uint32_t symbol)
{
    return symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
}

// Returns the number of extra bits of a length slot. Slots 0 to 27 are those of DEFLATE.
constexpr uint32_t lengthExtraBits(uint32_t slot)
{
    return slot == kLengthSlots - 1 ? 16 : gdeflateExtraBits(slot, 2);
}
// Returns the smallest length of a slot.
constexpr uint32_t lengthBase(uint32_t slot)
{
    const uint32_t extraBits = gdeflateExtraBits(slot, 2);
    return slot == kLengthSlots - 1 ? 3 : (gdeflateMantissa(slot, 2, extraBits) << extraBits) + 3;
}

// Returns the number of extra bits of a distance slot. The rule is that of DEFLATE, continued for
// two more slots.
constexpr uint32_t distanceExtraBits(uint32_t slot) { return gdeflateExtraBits(slot, 1); }
// Returns the smallest distance of a slot.
constexpr uint32_t distanceBase(uint32_t slot)
{
    const uint32_t extraBits = distanceExtraBits(slot);
    return (gdeflateMantissa(slot, 1, extraBits) << extraBits) + 1;
}

inline uint32_t lengthSlot(uint32_t length)
{
    if (length > kMaxShortMatch) return kLengthSlots - 1;
    const uint32_t value = length - kMinMatch, extra = floorLog2(value | 4) - 2;
    return 4 * extra + (value >> extra);
}

inline uint32_t distanceSlot(uint32_t distance)
{
    const uint32_t value = distance - 1, extra = floorLog2(value | 2) - 1;
    return 2 * extra + (value >> extra);
}

} // namespace sluice::gdeflate
