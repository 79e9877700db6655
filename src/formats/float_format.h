// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout of the float codec (docs/format.md, 6), for the encoder and the decoders. A tile is
// decoded by 32 lanes, row by row: in a row each lane decodes 8 consecutive elements. The last
// kTailRows rows are the tail.
#pragma once

#include <sluice/sluice_float.h>

#include "formats/integers.h"

namespace sluice::floats {

constexpr uint32_t kTile = SLUICE_FLOAT_TILE; // elements of a tile
constexpr uint32_t kLanes = 32;
constexpr uint32_t kPerLane = 8;             // consecutive elements that a lane decodes in a row
constexpr uint32_t kRow = kLanes * kPerLane; // elements of a row
constexpr uint32_t kLookUps =
    kPerLane / 2;                  // look-ups of a lane in a row, each of one symbol or two
constexpr uint32_t kMaxBits = 12;  // longest code
constexpr uint32_t kWordBits = 32; // bits of the words that lanes take before the tail
constexpr uint32_t kTailRows = 2;  // rows of the tail, in which words are shorter
constexpr uint32_t kTailWordBits = 16;
// The index of a tensor says where each tile's words begin, in units of this many bytes. The words
// of a tile fill whole units.
constexpr uint32_t kUnit = 8;
constexpr uint64_t kMaxCount = 1ull << 40;

struct Layout {
    uint32_t bytes;        // bytes of an element
    uint32_t mantissaBits; // bits of the mantissa that are not coded
    uint32_t exponentBits; // bits that are coded; may include the highest bit of the mantissa
    // Raw bits are those that are not coded: the sign, and below it the remaining mantissa bits.
    // The lowest 16 raw bits of an element are stored in a plane of 2-byte words, the next 8 in a
    // plane of bytes, the remaining ones in a plane of bits. A plane is missing if too few bits are
    // left for it.
    constexpr uint32_t rawBits() const { return bytes * 8 - exponentBits; }
    constexpr bool hasWords() const { return rawBits() >= 16; }
    constexpr bool hasBytes() const { return rawBits() % 16 >= 8; }
    constexpr uint32_t planeBits() const { return rawBits() % 8; }
};

// `type` must be valid.
constexpr Layout layoutOf(uint32_t type)
{
    constexpr Layout layouts[SLUICE_FLOAT_TYPE_COUNT] = {
        {2, 7, 8}, {2, 10, 5}, {4, 23, 8}, {1, 3, 4}, {1, 2, 5}, {1, 0, 8}, {1, 1, 6}};
    return layouts[type];
}

constexpr uint64_t aligned16(uint64_t size) { return alignUp(size, 16); }

// Offsets of a tile's planes in bytes, multiples of 16. The plane of 2-byte words begins at 0.
struct Planes {
    uint32_t bytes, bits, end;
};
constexpr Planes planesOf(const Layout& layout, uint32_t elements)
{
    Planes planes = {};
    planes.bytes = layout.hasWords() ? uint32_t(aligned16(2 * elements)) : 0;
    planes.bits = planes.bytes + (layout.hasBytes() ? uint32_t(aligned16(elements)) : 0);
    planes.end = planes.bits + uint32_t(aligned16(divideUp(elements, 8u) * layout.planeBits()));
    return planes;
}
// Returns the bytes that the planes of a full tile take.
constexpr uint32_t rawTileBytes(const Layout& layout) { return kTile / 8 * layout.rawBits(); }
constexpr uint64_t rawBytes(const Layout& layout, uint64_t count)
{
    return count / kTile * rawTileBytes(layout) + planesOf(layout, uint32_t(count % kTile)).end;
}

constexpr uint64_t tileCount(uint64_t count) { return divideUp<uint64_t>(count, kTile); }
constexpr uint32_t rowCount(uint32_t elements) { return divideUp(elements, kRow); }
constexpr uint32_t wholeRows(uint32_t rows) { return rows > kTailRows ? rows - kTailRows : 0; }

// Returns a symbol's code length from a table that has two lengths in each byte.
inline uint32_t codeLength(const uint8_t* lengths, uint32_t symbol)
{
    return lengths[symbol / 2] >> symbol % 2 * 4 & 15;
}

} // namespace sluice::floats
