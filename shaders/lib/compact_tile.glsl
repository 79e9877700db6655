// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles of a compaction: loads a tile, tests its elements, and ranks those that are kept. An
// element's *rank* is how many elements of the tile are kept before it.
//
// Each invocation holds kRows rows. A row is 16 consecutive bytes, or one element of a WIDE size
// (layout/compact.h). Elements of 1 or 2 bytes are unpacked to words. A subgroup's rows are
// contiguous.
#ifndef SLUICE_COMPACT_TILE_GLSL
#define SLUICE_COMPACT_TILE_GLSL

#include "loops.glsl"
#include "layout/compact.h"
#include "lanes.glsl"
#include "memory.glsl"
#include "scan.glsl"
#include "units.glsl"

layout(push_constant, std430) uniform Push { CompactParams p; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer WordsStored {
    uint w[];
};
layout(constant_id = SLUICE_CONSTANT_ELEMENT_BYTES) const uint kBytes = 4;

const bool kSmall = kBytes == 1u || kBytes == 2u;
const bool kWide = kBytes == 0u; // a WIDE size (layout/compact.h)
// How many words an element takes in registers. The WIDE sizes, 12 and 20 bytes, share one
// pipeline, so for them this is the number for 20 bytes.
const uint kMostWords = kSmall ? 1u : kWide ? SLUICE_COMPACT_MAX_WORDS : kBytes / 4u;
uint elementWords() { return kWide ? p.mode >> SLUICE_COMPACT_MODE_WORDS : kMostWords; }
uint elementBytes() { return kSmall ? kBytes : 4u * elementWords(); }
#ifdef SLUICE_COMPACT_RING
const uint kRows = kRingRows; // defined by the shader that includes this file
#else
const uint kRows = SLUICE_COMPACT_ROWS;
#endif
const uint kRowWords = kWide ? kMostWords : 4u;
const uint kPerRow = kRowWords / kMostWords; // elements of one invocation in a row
const uint kRowBits = (1u << kPerRow) - 1u;
const uint kTile = kRows * kPerRow * gl_WorkGroupSize.x;

bool hasMode(uint bits) { return (p.mode & bits) != 0u; }

uint elementCount() { return countOf(p.countBuffer, p.maxCount); }

uint tileCount(uint count) { return count / kTile + (count % kTile != 0u ? 1u : 0u); }

// A tile of the input. It has addresses of its own, since byte offsets from the start of the input
// may need more than 32 bits, and an index above 2^31 would count as negative.
struct Tile {
    uvec2 input_;
    uvec2 selectors;
    uint start; // the index of its first element in the input
    uint size;
    bool wide; // true if loadWideRow can load it: the tile is whole and its address is aligned
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer RowsIn { uvec4 v[]; };

// Returns tile `index` of an input with `count` elements. A tile past the end is empty.
Tile tileAt(uint index, uint count) {
    Tile tile;
    tile.start = index * kTile;
    tile.size = tile.start < count ? min(count - tile.start, kTile) : 0u;
    tile.input_ = add64(p.input_, mul64(tile.start, elementBytes()));
    bool mask = (p.mode & SLUICE_COMPACT_MODE_TEST) == SLUICE_COMPACT_TEST_MASK;
    tile.selectors = add64(p.selectors, mask ? tile.start / 8u : tile.start);
    tile.wide = tile.size == kTile && (p.input_.x & (kSmall || kWide ? 3u : 15u)) == 0u;
    return tile;
}

// Returns the index in the tile of this invocation's first element of row `row`.
uint rowStart(uint row) { return ((sgIndex() * kRows + row) * kSubgroupSize + sgLane()) * kPerRow; }

// Returns how many elements this invocation has in a row.
uint rowSize(Tile tile, uint row) {
    uint at = rowStart(row);
    return at < tile.size ? min(tile.size - at, kPerRow) : 0u;
}

// An invocation's part of a row holds 16 bytes of elements; or 4 elements of 1 or 2 bytes, one in
// each word; or one element of a WIDE size (12 or 20 bytes).
struct Row {
    uint w[SLUICE_COMPACT_MAX_WORDS]; // the first kRowWords of these are used
};

// Returns an element of 1 or 2 bytes as a word.
uint smallElement(uvec2 address) {
    uint word = WordsIn(uvec2(address.x & ~3u, address.y)).w[0] >> 8u * (address.x & 3u);
    return word & (kBytes == 1u ? 0xffu : 0xffffu);
}

// Unpacks `first` and `second`, two words of memory with elements of 1 or 2 bytes, to a row.
Row unpackedRow(uint first, uint second) {
    Row row;
    SLUICE_UNROLL
    for (uint i = 0u; i < kPerRow; i++)
        row.w[i] = kBytes == 1u ? first >> 8u * i & 0xffu
                                : (i < 2u ? first : second) >> 16u * (i & 1u) & 0xffffu;
    return row;
}

// Loads a row of elements of 1 or 2 bytes: the `bytes` bytes at `source`, of any alignment.
Row loadSmall(uvec2 source, uint bytes) {
    uint packed[2];
    SLUICE_UNROLL
    for (uint i = 0u; i < 2u; i++) {
        uvec2 address = add64(source, 4u * i);
        uint here = bytes > 4u * i ? min(bytes - 4u * i, 4u) : 0u;
        packed[i] = here != 0u ? endWord(address, here, beginWord(address, 0u)) : 0u;
    }
    return unpackedRow(packed[0], packed[1]);
}

// Loads a row of any tile that is not empty. Words past the end of the tile are undefined.
Row loadRow(Tile tile, uint row) {
    uint at = rowStart(row);
    if (kSmall) return loadSmall(add64(tile.input_, at * kBytes), rowSize(tile, row) * kBytes);
    uint words = tile.size * elementWords(), first = at * elementWords();
    Row result;
    SLUICE_UNROLL
    for (uint i = 0u; i < kRowWords; i++)
        result.w[i] = WordsIn(tile.input_).w[first + i < words ? first + i : 0u];
    return result;
}

// Loads row `row` of a wide tile, which is whole and aligned (Tile::wide), by wider loads.
Row loadWideRow(Tile tile, uint row) {
    if (kSmall) {
        uint at = rowStart(row) / 4u * kBytes;
        return unpackedRow(WordsIn(tile.input_).w[at],
                           kBytes == 2u ? WordsIn(tile.input_).w[at + 1u] : 0u);
    }
    if (kWide) return loadRow(tile, row);
    uvec4 v = RowsIn(tile.input_).v[rowStart(row) / kPerRow];
    Row result;
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; i++)
        result.w[i] = v[i];
    return result;
}

// Returns a key for the f32 with these bits. Keys, compared as unsigned numbers, have the order of
// the floats. -0 has the key of 0.
uint floatKey(uint bits) {
    bits = bits == 0x80000000u ? 0u : bits;
    return (bits >> 31) != 0u ? ~bits : bits | 0x80000000u;
}

// Returns whether element i of the row is in the range [p.low, p.low + p.span], to which the host
// has reduced the comparison. isFloatInRange does so for the keys of f32 elements.
bool isInRange(Row row, uint i) {
    if (kMostWords == 2u)
        return !less64(p.span, sub64(uvec2(row.w[2u * i], row.w[2u * i + 1u]), p.low));
    return row.w[i * kMostWords] - p.low.x <= p.span.x;
}
bool isFloatInRange(Row row, uint i) {
    return floatKey(row.w[i * kMostWords]) - p.low.x <= p.span.x;
}

// For the test UNIQUE: returns whether the row's first element differs from the one before it.
bool isNew(Tile tile, uint row, Row values) {
    uint at = rowStart(row);
    if (tile.start == 0u && at == 0u) return true;
    uvec2 address = add64(sub64(tile.input_, uvec2(elementBytes(), 0u)), at * elementBytes());
    if (kSmall) return smallElement(address) != values.w[0];
    bool differs = false;
    SLUICE_UNROLL
    for (uint k = 0u; k < kMostWords; k++)
        if (k < elementWords()) differs = differs || WordsIn(address).w[k] != values.w[k];
    return differs;
}

uint testKind() { return p.mode & SLUICE_COMPACT_MODE_TEST; }

bool readsElements() { return p.output_ != uvec2(0u) || testKind() >= SLUICE_COMPACT_TEST_COMPARE; }

// For the tests BYTES and MASK, loads the selectors of a row, which say which elements are
// selected: a byte (BYTES) or a bit (MASK) for each element, the first element's lowest.
uint loadSelector(Tile tile, uint row) {
    uint at = rowStart(row), perWord = testKind() == SLUICE_COMPACT_TEST_BYTES ? 4u : 32u;
    uint word = WordsIn(tile.selectors).w[rowSize(tile, row) != 0u ? at / perWord : 0u];
    return word >> (at % perWord) * (32u / perWord);
}

// Returns a bit for each element of the row that is kept. `selector` is from loadSelector.
uint keptOfRow(Tile tile, uint row, Row values, uint selector) {
    uint size = rowSize(tile, row), test = testKind(), bits = 0u;
    if (test == SLUICE_COMPACT_TEST_COMPARE) {
        if (hasMode(SLUICE_COMPACT_MODE_F32)) {
            SLUICE_UNROLL
            for (uint i = 0u; i < kPerRow; i++)
                bits |= isFloatInRange(values, i) ? 1u << i : 0u;
        } else {
            SLUICE_UNROLL
            for (uint i = 0u; i < kPerRow; i++)
                bits |= isInRange(values, i) ? 1u << i : 0u;
        }
    } else if (test == SLUICE_COMPACT_TEST_BYTES) {
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerRow; i++)
            bits |= (selector & 0xffu << 8u * i) != 0u ? 1u << i : 0u;
    } else if (test == SLUICE_COMPACT_TEST_MASK) {
        bits = selector;
    } else if (test == SLUICE_COMPACT_TEST_NON_ZERO) {
        SLUICE_UNROLL
        for (uint i = 0u; i < kRowWords; i++)
            bits |= (!kWide || i < elementWords()) && values.w[i] != 0u ? 1u << i / kMostWords : 0u;
    } else {
        bits = size != 0u && isNew(tile, row, values) ? 1u : 0u;
        SLUICE_UNROLL
        for (uint i = kMostWords; i < kRowWords; i++)
            bits |= values.w[i] != values.w[i - kMostWords] ? 1u << i / kMostWords : 0u;
    }
    if (hasMode(SLUICE_COMPACT_MODE_INVERT)) bits = ~bits;
    return bits & ((1u << size) - 1u);
}

// This invocation's elements of a tile, and where the kept ones go.
struct Elements {
    Row rows[kRows];
    uint keep;         // kPerRow bits for each row, set for elements that are kept
    uint ranks[kRows]; // the rank of the first kept element of each row
    uint kept;         // how many elements the whole tile keeps
};

// Loads a tile's elements and tests them. `wide` is tile.wide. The branches are outside of the
// loops over rows, so that the loads of all rows are in flight together.
void loadElements(Tile tile, bool wide, out Elements e) {
    uint selectors[kRows];
    if (readsElements() && tile.size != 0u) {
        if (wide) {
            SLUICE_UNROLL
            for (uint row = 0u; row < kRows; row++)
                e.rows[row] = loadWideRow(tile, row);
        } else {
            SLUICE_UNROLL
            for (uint row = 0u; row < kRows; row++)
                e.rows[row] = loadRow(tile, row);
        }
    }
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++)
        selectors[row] = 0u;
    if (testKind() <= SLUICE_COMPACT_TEST_MASK && tile.size != 0u) {
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++)
            selectors[row] = loadSelector(tile, row);
    }
    e.keep = 0u;
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++)
        e.keep |= keptOfRow(tile, row, e.rows[row], selectors[row]) << row * kPerRow;
}

uint keptInRow(uint keep, uint row) { return bitCount(keep >> row * kPerRow & kRowBits); }

// Prefix sums of the counts of several rows are computed at once, each in a *field* of one word. A
// subgroup of at most 32 lanes keeps at most 128 elements of a row, and this count fits into a
// byte. So there are four fields; with larger subgroups there are two.
const uint kFields = kSubgroupSize <= 32u ? 4u : 2u;
const uint kFieldBits = 32u / kFields;
const uint kFieldMask = (1u << kFieldBits) - 1u;

// Sets e.ranks, not yet counting the elements that the subgroups before this one keep. Returns how
// many elements the subgroup keeps.
uint rankInSubgroup(inout Elements e) {
    uint kept = 0u;
    SLUICE_UNROLL
    for (uint first = 0u; first < kRows; first += kFields) {
        uint counts = 0u;
        SLUICE_UNROLL
        for (uint i = 0u; i < kFields; i++)
            counts |= keptInRow(e.keep, first + i) << i * kFieldBits;
        uint inclusive = sgInclusiveAdd(counts), totals = sgLast(inclusive),
             before = inclusive - counts;
        SLUICE_UNROLL
        for (uint i = 0u; i < kFields; i++) {
            e.ranks[first + i] = kept + (before >> i * kFieldBits & kFieldMask);
            kept += totals >> i * kFieldBits & kFieldMask;
        }
    }
    return kept;
}

// Does what rankInSubgroup does, by ballots, if an invocation has one element per row.
uint rankSingles(inout Elements e) {
    uint kept = 0u;
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        uint inRow;
        e.ranks[row] = kept + sgExclusiveAddBits(keptInRow(e.keep, row), 1u, inRow);
        kept += inRow;
    }
    return kept;
}

// Sets e.ranks and e.kept for the whole tile. The whole workgroup calls this.
void rankElements(inout Elements e) {
    uint subgroupKept = kPerRow == 1u ? rankSingles(e) : rankInSubgroup(e);
    uint before = wgSubgroupsBefore(subgroupKept, e.kept);
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++)
        e.ranks[row] += before;
}

// Loads and tests the elements of any tile, and returns how many of them are kept. The whole
// workgroup calls this. The loop is not unrolled, because this is rarely called and its code is
// long.
uint tileKept(Tile tile) {
    uint kept = 0u, total;
    SLUICE_DONT_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        Row values;
        if (readsElements() && tile.size != 0u) values = loadRow(tile, row);
        bool selectors = testKind() <= SLUICE_COMPACT_TEST_MASK && tile.size != 0u;
        kept += bitCount(keptOfRow(tile, row, values, selectors ? loadSelector(tile, row) : 0u));
    }
    wgExclusiveAdd(kept, total);
    return total;
}

// Stores the command's results: `kept`, the number of elements kept in all, and the argument of an
// indirect dispatch or draw that is computed from it. One invocation calls this.
void storeResult(uint kept) {
    if (p.resultCount != uvec2(0u)) WordsStored(p.resultCount).w[0] = kept;
    uint groups = kept / p.argumentDivisor + (kept % p.argumentDivisor != 0u ? 1u : 0u);
    if (p.argument != uvec2(0u)) WordsStored(p.argument).w[0] = min(groups, p.argumentLimit);
}

#endif // SLUICE_COMPACT_TILE_GLSL
