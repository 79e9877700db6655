// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles of a compaction: loads, tests and ranks.
//
// Each invocation holds kRows rows of 16 consecutive bytes (elements of 1 and 2 bytes stand in a word each); the rows of a
// subgroup are contiguous.
#ifndef SLUICE_COMPACT_TILE_GLSL
#define SLUICE_COMPACT_TILE_GLSL

#include "layout.h"
#include "lanes.glsl"
#include "memory.glsl"
#include "scan.glsl"
#include "units.glsl"

layout(push_constant, std430) uniform Push {
    CompactParams p;
};
layout(constant_id = 2) const uint kBytes = 4; // of an element

const bool kSmall = kBytes < 4u;
const uint kWords = kSmall ? 1u : kBytes / 4u; // an element takes in a tile
const uint kRows = SLUICE_COMPACT_ROWS;
const uint kRowWords = SLUICE_COMPACT_BYTES_PER_INVOCATION / kRows / 4u;
const uint kPerRow = kRowWords / kWords; // elements of one invocation in a row
const uint kRowBits = (1u << kPerRow) - 1u;
const uint kTile = kRows * kPerRow * gl_WorkGroupSize.x;

bool hasMode(uint bits) { return (p.mode & bits) != 0u; }

uint elementCount() {
    return p.countBuffer == uvec2(0u) ? p.maxCount : min(p.maxCount, WordsIn(p.countBuffer).w[0]);
}

uint tileCount(uint count) { return count / kTile + (count % kTile != 0u ? 1u : 0u); }

// Base addresses are a tile's own: a byte offset may need more than 32 bits, and an index above 2^31 would count as
// negative.
struct Tile {
    uvec2 input_;
    uvec2 selectors;
    uint start; // of its elements
    uint size;
    bool wide; // whole, and aligned as loadWide needs it
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer RowsIn {
    uvec4 v[];
};

// Tiles past the end are empty.
Tile tileAt(uint index, uint count) {
    Tile tile;
    tile.start = index * kTile;
    tile.size = tile.start < count ? min(count - tile.start, kTile) : 0u;
    tile.input_ = add64(p.input_, mul64(tile.start, kBytes));
    bool mask = (p.mode & SLUICE_COMPACT_MODE_TEST) == SLUICE_COMPACT_TEST_MASK;
    tile.selectors = add64(p.selectors, mask ? tile.start / 8u : tile.start);
    tile.wide = tile.size == kTile && (p.input_.x & (kSmall ? 3u : 15u)) == 0u;
    return tile;
}

Tile wideTileAt(uint index) { return tileAt(index, ~0u); }

// Where this invocation's elements of a row start in the tile.
uint rowStart(uint row) { return ((sgIndex() * kRows + row) * kSubgroupSize + sgLane()) * kPerRow; }

// How many of them there are.
uint rowSize(Tile tile, uint row) {
    uint at = rowStart(row);
    return at < tile.size ? min(tile.size - at, kPerRow) : 0u;
}

struct Row {
    uint w[kRowWords];
};

uint smallElement(uvec2 address) {
    uint word = WordsIn(uvec2(address.x & ~3u, address.y)).w[0] >> 8u * (address.x & 3u);
    return word & (kBytes == 1u ? 0xffu : 0xffffu);
}

// Elements of 1 or 2 bytes, a word each.
Row unpackedRow(uint first, uint second) {
    Row row;
    [[unroll]] for (uint i = 0u; i < kPerRow; i++)
        row.w[i] = kBytes == 1u ? first >> 8u * i & 0xffu : (i < 2u ? first : second) >> 16u * (i & 1u) & 0xffffu;
    return row;
}

// `bytes` bytes of elements of 1 or 2 bytes at any address.
Row loadSmall(uvec2 source, uint bytes) {
    uint packed[2];
    [[unroll]] for (uint i = 0u; i < 2u; i++) {
        uvec2 address = add64(source, 4u * i);
        uint here = bytes > 4u * i ? min(bytes - 4u * i, 4u) : 0u;
        packed[i] = here != 0u ? endWord(address, here, beginWord(address, 0u)) : 0u;
    }
    return unpackedRow(packed[0], packed[1]);
}

// Of any tile that has elements. Words past the end are of no meaning.
Row loadRow(Tile tile, uint row) {
    uint at = rowStart(row);
    if (kSmall)
        return loadSmall(add64(tile.input_, at * kBytes), rowSize(tile, row) * kBytes);
    uint words = tile.size * kWords, first = at * kWords;
    Row result;
    [[unroll]] for (uint i = 0u; i < kRowWords; i++)
        result.w[i] = WordsIn(tile.input_).w[first + i < words ? first + i : 0u];
    return result;
}

// The same of a wide tile, from where the invocation's first row stands: a distance that is known to the compiler is part of
// the load.
Row loadWideRow(uvec2 first, uint row) {
    if (kSmall) {
        uint at = row * kSubgroupSize * kBytes;
        return unpackedRow(WordsIn(first).w[at], kBytes == 2u ? WordsIn(first).w[at + 1u] : 0u);
    }
    uvec4 v = RowsIn(first).v[row * kSubgroupSize];
    Row result;
    [[unroll]] for (uint i = 0u; i < kRowWords; i++)
        result.w[i] = v[i];
    return result;
}

// The order of f32 as that of unsigned numbers; -0 is taken for 0.
uint floatKey(uint bits) {
    bits = bits == 0x80000000u ? 0u : bits;
    return (bits >> 31) != 0u ? ~bits : bits | 0x80000000u;
}

// Element i of the row, compared with the constant.
bool isInRange(Row row, uint i) {
    if (kWords == 2u)
        return !less64(p.span, sub64(uvec2(row.w[i * kWords], row.w[i * kWords + 1u]), p.low));
    return row.w[i * kWords] - p.low.x <= p.span.x;
}
bool isFloatInRange(Row row, uint i) { return floatKey(row.w[i * kWords]) - p.low.x <= p.span.x; }

// Whether the row's first element differs from the one before it.
bool isNew(Tile tile, uint row, Row values) {
    uint at = rowStart(row);
    if (tile.start == 0u && at == 0u)
        return true;
    uvec2 address = add64(sub64(tile.input_, uvec2(kBytes, 0u)), at * kBytes);
    if (kSmall)
        return smallElement(address) != values.w[0];
    bool differs = false;
    [[unroll]] for (uint k = 0u; k < kWords; k++)
        differs = differs || WordsIn(address).w[k] != values.w[k];
    return differs;
}

uint testKind() { return p.mode & SLUICE_COMPACT_MODE_TEST; }

bool readsElements() { return p.output_ != uvec2(0u) || testKind() >= SLUICE_COMPACT_TEST_COMPARE; }

// What the test needs of a row beside its elements: BYTES: their bytes, from the lowest on; MASK: their bits.
uint loadSelector(Tile tile, uint row) {
    uint at = rowStart(row), perWord = testKind() == SLUICE_COMPACT_TEST_BYTES ? 4u : 32u;
    uint word = WordsIn(tile.selectors).w[rowSize(tile, row) != 0u ? at / perWord : 0u];
    return word >> (at % perWord) * (32u / perWord);
}

// The tests: a bit for each element of a row.

uint floatsInRange(Row row) {
    uint bits = 0u;
    [[unroll]] for (uint i = 0u; i < kPerRow; i++)
        bits |= uint(isFloatInRange(row, i)) << i;
    return bits;
}
uint inRange(Row row) {
    uint bits = 0u;
    [[unroll]] for (uint i = 0u; i < kPerRow; i++)
        bits |= uint(isInRange(row, i)) << i;
    return bits;
}
uint bytesSet(uint bytes) {
    uint bits = 0u;
    [[unroll]] for (uint i = 0u; i < kPerRow; i++)
        bits |= uint((bytes & 0xffu << 8u * i) != 0u) << i;
    return bits;
}
uint notZero(Row row) {
    uint bits = 0u;
    [[unroll]] for (uint i = 0u; i < kRowWords; i++)
        bits |= uint(row.w[i] != 0u) << i / kWords;
    return bits;
}
uint differing(Tile tile, uint row, Row values) {
    uint bits = rowSize(tile, row) != 0u && isNew(tile, row, values) ? 1u : 0u;
    [[unroll]] for (uint i = kWords; i < kRowWords; i++)
        bits |= uint(values.w[i] != values.w[i - kWords]) << i / kWords;
    return bits;
}

uint keptOfRow(Tile tile, uint row, Row values, uint selector) {
    uint test = testKind();
    uint bits = test == SLUICE_COMPACT_TEST_COMPARE
                    ? (hasMode(SLUICE_COMPACT_MODE_F32) ? floatsInRange(values) : inRange(values))
                : test == SLUICE_COMPACT_TEST_BYTES    ? bytesSet(selector)
                : test == SLUICE_COMPACT_TEST_MASK     ? selector
                : test == SLUICE_COMPACT_TEST_NON_ZERO ? notZero(values)
                                                       : differing(tile, row, values);
    if (hasMode(SLUICE_COMPACT_MODE_INVERT))
        bits = ~bits;
    return bits & (1u << rowSize(tile, row)) - 1u;
}

// The ranks of a subgroup's rows are summed together: a sum fits into a byte while there are at most 32 lanes of 4.
const uint kFields = kSubgroupSize <= 32u ? 4u : 2u;
const uint kFieldBits = 32u / kFields;
const uint kFieldMask = (1u << kFieldBits) - 1u;

// This invocation's elements of a tile, and where they belong.
struct Elements {
    Row rows[kRows];
    uint keep;      // kPerRow bits a row
    uint lanes[2];  // a field a row: how many the subgroup's lanes below keep in it
    uint totals[2]; // and all of its lanes
    uint before;    // how many the tile keeps before the subgroup
    uint kept;      // by the tile
};

// wide: the tile is known to be. Branches stand around the rows, so that the loads of all rows overlap and tests are few.
void loadElements(Tile tile, bool wide, inout Elements e) {
    uint selectors[kRows], test = testKind(), bits = 0u;
    if (readsElements() && tile.size != 0u) {
        if (wide) {
            uvec2 first = add64(tile.input_, rowStart(0u) * kBytes);
            [[unroll]] for (uint row = 0u; row < kRows; row++)
                e.rows[row] = loadWideRow(first, row);
        } else {
            [[unroll]] for (uint row = 0u; row < kRows; row++)
                e.rows[row] = loadRow(tile, row);
        }
    }
    if (test == SLUICE_COMPACT_TEST_COMPARE) {
        if (hasMode(SLUICE_COMPACT_MODE_F32)) {
            [[unroll]] for (uint row = 0u; row < kRows; row++)
                bits |= floatsInRange(e.rows[row]) << row * kPerRow;
        } else {
            [[unroll]] for (uint row = 0u; row < kRows; row++)
                bits |= inRange(e.rows[row]) << row * kPerRow;
        }
    } else if (test == SLUICE_COMPACT_TEST_NON_ZERO) {
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            bits |= notZero(e.rows[row]) << row * kPerRow;
    } else if (test == SLUICE_COMPACT_TEST_UNIQUE) {
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            bits |= differing(tile, row, e.rows[row]) << row * kPerRow;
    } else if (tile.size != 0u) {
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            selectors[row] = loadSelector(tile, row);
        if (test == SLUICE_COMPACT_TEST_BYTES) {
            [[unroll]] for (uint row = 0u; row < kRows; row++)
                bits |= bytesSet(selectors[row]) << row * kPerRow;
        } else {
            [[unroll]] for (uint row = 0u; row < kRows; row++)
                bits |= (selectors[row] & kRowBits) << row * kPerRow;
        }
    }
    if (hasMode(SLUICE_COMPACT_MODE_INVERT))
        bits = ~bits;
    uint valid = (1u << kRows * kPerRow) - 1u;
    if (!wide) {
        valid = 0u;
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            valid |= (1u << rowSize(tile, row)) - 1u << row * kPerRow;
    }
    e.keep = bits & valid;
}

uint keptInRow(uint keep, uint row) { return bitCount(keep >> row * kPerRow & kRowBits); }

// By the whole workgroup.
void rankElements(inout Elements e) {
    uint kept = 0u;
    [[unroll]] for (uint pack = 0u; pack < kRows / kFields; pack++) {
        uint counts = 0u;
        [[unroll]] for (uint i = 0u; i < kFields; i++)
            counts |= keptInRow(e.keep, pack * kFields + i) << i * kFieldBits;
        e.lanes[pack] = sgExclusiveAdd(counts, e.totals[pack]);
        [[unroll]] for (uint i = 0u; i < kFields; i++)
            kept += e.totals[pack] >> i * kFieldBits & kFieldMask;
    }
    e.before = wgSubgroupsBefore(kept, e.kept);
}

// How many of a row's elements the lanes below keep, and all lanes.
uint lanesBelow(Elements e, uint row) { return e.lanes[row / kFields] >> row % kFields * kFieldBits & kFieldMask; }
uint keptBySubgroup(Elements e, uint row) { return e.totals[row / kFields] >> row % kFields * kFieldBits & kFieldMask; }

// How many elements the tile keeps. By the whole workgroup. A loop, for this is rare and code is long.
uint tileKept(Tile tile) {
    uint kept = 0u, total;
    [[dont_unroll]] for (uint row = 0u; row < kRows; row++) {
        Row values;
        if (readsElements() && tile.size != 0u)
            values = loadRow(tile, row);
        bool selectors = testKind() <= SLUICE_COMPACT_TEST_MASK && tile.size != 0u;
        kept += bitCount(keptOfRow(tile, row, values, selectors ? loadSelector(tile, row) : 0u));
    }
    wgExclusiveAdd(kept, total);
    return total;
}

#endif // SLUICE_COMPACT_TILE_GLSL
