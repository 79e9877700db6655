// SPDX-License-Identifier: MIT OR Apache-2.0
// GDeflate 1.0 constants: DEFLATE64's alphabets and how lengths and distances map to symbols and
// extra bits.
#pragma once

#include <array>
#include <cstdint>

#include "../../shaders/lib/formulas/gdeflate.h"
#include "../formats/log2.h"

namespace sluice::gdeflate {

constexpr uint32_t kLanes = 32;
constexpr uint32_t kTileBytes = 65536;
constexpr uint32_t kMaxBlocks = 256;
constexpr uint32_t kMaxStoredBytes = 65535;

constexpr uint32_t kMinMatch = 3;
constexpr uint32_t kMaxMatch = 65535;
constexpr uint32_t kMaxShortMatch = 257; // longer ones take the last slot, with 16 extra bits

constexpr uint32_t kEndOfBlock = 256;
constexpr uint32_t kFirstLength = 257;
constexpr uint32_t kLengthSlots = 29;
// 286; symbols 286 and 287 are undefined
constexpr uint32_t kLitLenSymbols = kFirstLength + kLengthSlots;
constexpr uint32_t kDistanceSymbols = 32;
constexpr uint32_t kPrecodeSymbols = 19;

constexpr uint32_t kMaxCodeLength = 15;
constexpr uint32_t kMaxPrecodeLength = 7;

// The order in which a block header lists the lengths of the precode.
constexpr std::array<uint8_t, kPrecodeSymbols> kPrecodeOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                                11, 4,  12, 3, 13, 2, 14, 1, 15};

// Extra bits and first value of each length slot. Slots 0 to 27 are DEFLATE's.
constexpr uint32_t lengthExtraBits(uint32_t slot)
{
    return slot == kLengthSlots - 1 ? 16 : gdeflateExtraBits(slot, 2);
}
constexpr uint32_t lengthBase(uint32_t slot)
{
    const uint32_t extraBits = gdeflateExtraBits(slot, 2);
    return slot == kLengthSlots - 1 ? 3 : (gdeflateMantissa(slot, 2, extraBits) << extraBits) + 3;
}

// Extra bits and first value of each distance slot: DEFLATE's rule, with two more slots.
constexpr uint32_t distanceExtraBits(uint32_t slot) { return gdeflateExtraBits(slot, 1); }
constexpr uint32_t distanceBase(uint32_t slot)
{
    const uint32_t extraBits = distanceExtraBits(slot);
    return (gdeflateMantissa(slot, 1, extraBits) << extraBits) + 1;
}

inline uint32_t lengthSlot(uint32_t length)
{
    if (length > kMaxShortMatch) {
        return kLengthSlots - 1;
    }
    const uint32_t value = length - kMinMatch;
    const uint32_t extra = floorLog2(value | 4) - 2;
    return 4 * extra + (value >> extra);
}

inline uint32_t distanceSlot(uint32_t distance)
{
    const uint32_t value = distance - 1;
    const uint32_t extra = floorLog2(value | 2) - 1;
    return 2 * extra + (value >> extra);
}

// A literal (length 0, value is the byte) or a match (value is the distance; inside a tile it is
// less than 65,536).
struct Token {
    uint16_t length;
    uint16_t value;

    uint32_t bytes() const { return length == 0 ? 1u : length; }
};

} // namespace sluice::gdeflate
