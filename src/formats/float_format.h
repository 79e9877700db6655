// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout of the float codec (docs/format.md, 6), for encoder and decoders.
#pragma once

#include <sluice/sluice_float.h>

#include "formats/integers.h"

namespace sluice::floats {

constexpr u32 kTile = SLUICE_FLOAT_TILE; // elements
constexpr u32 kLanes = 32;
constexpr u32 kPerLane = 8;             // consecutive elements of a lane in a row
constexpr u32 kRow = kLanes * kPerLane; // elements
constexpr u32 kLookUps = kPerLane / 2;  // look-ups of a lane in a row, each of one symbol or two
constexpr u32 kMaxBits = 12;            // of a code
constexpr u32 kWordBits = 32;           // a lane takes words of this many bits,
constexpr u32 kTailRows = 2;            // and in the last rows shorter ones
constexpr u32 kTailWordBits = 16;
constexpr u32 kUnit = 8; // bytes: the index counts in units, and a tile's words fill whole ones
constexpr u64 kMaxCount = 1ull << 40;

struct Layout {
    u32 bytes;        // of an element
    u32 mantissaBits; // bits that are not coded
    u32 exponentBits; // coded bits, which may include the highest of the mantissa
    // The bits that are not coded, with the sign above the mantissa. The low ones stand in planes
    // of 2 bytes and of 1 byte, the others in a plane of bits.
    constexpr u32 rawBits() const { return bytes * 8 - exponentBits; }
    constexpr bool hasWords() const { return rawBits() >= 16; }
    constexpr bool hasBytes() const { return rawBits() % 16 >= 8; }
    constexpr u32 planeBits() const { return rawBits() % 8; }
};

// `type` is valid.
constexpr Layout layoutOf(u32 type)
{
    constexpr Layout layouts[SLUICE_FLOAT_TYPE_COUNT] = {
        {2, 7, 8}, {2, 10, 5}, {4, 23, 8}, {1, 3, 4}, {1, 2, 5}, {1, 0, 8}, {1, 1, 6}};
    return layouts[type];
}

constexpr u64 aligned16(u64 size) { return alignUp(size, 16); }

// Where a tile's planes begin, each at a multiple of 16; the plane of 2 bytes begins at 0.
struct Planes {
    u32 bytes, bits, end;
};
constexpr Planes planesOf(const Layout& layout, u32 elements)
{
    Planes planes = {};
    planes.bytes = layout.hasWords() ? u32(aligned16(2 * elements)) : 0;
    planes.bits = planes.bytes + (layout.hasBytes() ? u32(aligned16(elements)) : 0);
    planes.end = planes.bits + u32(aligned16(divideUp(elements, 8u) * layout.planeBits()));
    return planes;
}
// Returns the bytes of a whole tile's planes.
constexpr u32 rawTileBytes(const Layout& layout) { return kTile / 8 * layout.rawBits(); }
constexpr u64 rawBytes(const Layout& layout, u64 count)
{
    return count / kTile * rawTileBytes(layout) + planesOf(layout, u32(count % kTile)).end;
}

constexpr u64 tileCount(u64 count) { return divideUp<u64>(count, kTile); }
constexpr u32 rowCount(u32 elements) { return divideUp(elements, kRow); }
constexpr u32 wholeRows(u32 rows) { return rows > kTailRows ? rows - kTailRows : 0; }

// Returns a symbol's code length from a table with two lengths a byte.
inline u32 codeLength(const u8* lengths, u32 symbol)
{
    return lengths[symbol / 2] >> symbol % 2 * 4 & 15;
}

} // namespace sluice::floats
