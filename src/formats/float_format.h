// SPDX-License-Identifier: MIT OR Apache-2.0
// What encoder and reference decoder share of the float codec (docs/format.md).
#pragma once

#include <sluice/sluice_float.h>

namespace sluice::floats {

constexpr uint32_t kTile = SLUICE_FLOAT_TILE; // elements
constexpr uint32_t kLanes = 32;
constexpr uint32_t kPerLane = 8;             // consecutive elements of a lane in a row
constexpr uint32_t kRow = kLanes * kPerLane; // elements
constexpr uint32_t kLookUps = kPerLane / 2;  // of a lane in a row, each of one symbol or two
constexpr uint32_t kMaxBits = 12;            // of a code
constexpr uint32_t kWordBits = 32;           // of a code word,
constexpr uint32_t kTailRows = 2;            // but in the last rows, where lanes take
constexpr uint32_t kTailWordBits = 16;
constexpr uint32_t kUnit = 8; // bytes: the index counts so many, and so a tile's
                              // words are padded
constexpr uint64_t kMaxCount = 1ull << 40;

struct Layout {
    uint32_t bytes;        // of an element
    uint32_t mantissaBits; // below the coded ones
    uint32_t exponentBits; // coded, those of the mantissa that are coded too included
    // The other bits, sign above mantissa: the low ones in planes of 2 bytes and of 1 byte, the
    // rest in a plane of bits.
    constexpr uint32_t rawBits() const { return bytes * 8 - exponentBits; }
    constexpr bool hasWords() const { return rawBits() >= 16; }
    constexpr bool hasBytes() const { return rawBits() % 16 >= 8; }
    constexpr uint32_t planeBits() const { return rawBits() % 8; }
};

// type: a valid one.
constexpr Layout layoutOf(uint32_t type)
{
    constexpr Layout layouts[SLUICE_FLOAT_TYPE_COUNT] = {
        {2, 7, 8}, {2, 10, 5}, {4, 23, 8}, {1, 3, 4}, {1, 2, 5}, {1, 0, 8}, {1, 1, 6}};
    return layouts[type];
}

constexpr uint64_t aligned16(uint64_t size) { return (size + 15) / 16 * 16; }

// Where the planes of a tile begin, the one of 2 bytes at 0, each at a multiple of 16.
struct Planes {
    uint32_t bytes, bits, end;
};
constexpr Planes planesOf(const Layout& layout, uint32_t elements)
{
    Planes planes = {};
    planes.bytes = layout.hasWords() ? uint32_t(aligned16(2 * elements)) : 0;
    planes.bits = planes.bytes + (layout.hasBytes() ? uint32_t(aligned16(elements)) : 0);
    planes.end = planes.bits + uint32_t(aligned16((elements + 7) / 8 * layout.planeBits()));
    return planes;
}
// Bytes of the planes of a tile that is not the last one.
constexpr uint32_t rawTileBytes(const Layout& layout) { return kTile / 8 * layout.rawBits(); }
constexpr uint64_t rawBytes(const Layout& layout, uint64_t count)
{
    return count / kTile * rawTileBytes(layout) + planesOf(layout, uint32_t(count % kTile)).end;
}

inline uint64_t tileCount(uint64_t count) { return (count + kTile - 1) / kTile; }
inline uint32_t rowCount(uint32_t elements) { return (elements + kRow - 1) / kRow; }
inline uint32_t wholeRows(uint32_t rows) { return rows > kTailRows ? rows - kTailRows : 0; }

} // namespace sluice::floats
