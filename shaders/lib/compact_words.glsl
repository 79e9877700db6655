// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles of a compaction of elements of 4 bytes, or of indices alone, with one kind of output and any test but that for changes:
// for subgroups of 32 lanes or fewer, as many as a workgroup has subgroups or more. A row is four consecutive elements of each
// lane; bits and counts of rows stand in a byte each.
//
// Specialization constant 3 = 1: the test is of selectors, bytes or a mask; 0: of elements.
#ifndef SLUICE_COMPACT_WORDS_GLSL
#define SLUICE_COMPACT_WORDS_GLSL

#include "compact_tile.glsl"
#include "lookback.glsl"

layout(constant_id = 3) const uint kSelects = 0u;

layout(buffer_reference, std430, buffer_reference_align = 16) buffer RowsAgain {
    volatile uvec4 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer WordsAgain {
    volatile uint w[];
};

#include "ring.glsl"

bool writesIndices() { return p.output_ == uvec2(0u); }
bool testsMask() { return testKind() == SLUICE_COMPACT_TEST_MASK; }

// ---------------------------------------------------------------------------------------------------------------
// From memory to bits

// The first element of the lane in a tile.
uint laneStart(uint tile) { return tile * kTile + (sgIndex() * kRows * kSubgroupSize + sgLane()) * 4u; }

// Those of whole tiles, without waiting. loadRowsAgain: after they have been lost; the compiler must not know that it has them
// already.
#define SLUICE_LOAD_ROWS(name, Rows, Words)                                                         \
    void name(uint tile, inout uvec4 rows[kRows], inout uint selectors[kRows]) {                    \
        uint at = laneStart(tile);                                                                  \
        if (kSelects == 0u || !writesIndices()) {                                                   \
            Rows first = Rows(add64(p.input_, mul64(at, 4u)));                                      \
            [[unroll]] for (uint row = 0u; row < kRows; row++)                                      \
                rows[row] = first.v[row * kSubgroupSize];                                           \
        }                                                                                           \
        if (kSelects != 0u) {                                                                       \
            uint step = testsMask() ? kSubgroupSize / 8u : kSubgroupSize;                           \
            Words first = Words(add64(p.selectors, testsMask() ? at >> 5 << 2 : at));               \
            [[unroll]] for (uint row = 0u; row < kRows; row++)                                      \
                selectors[row] = first.w[row * step];                                               \
        }                                                                                           \
    }
SLUICE_LOAD_ROWS(loadRows, RowsIn, WordsIn)
SLUICE_LOAD_ROWS(loadRowsAgain, RowsAgain, WordsAgain)
#undef SLUICE_LOAD_ROWS

// Those of any tile, of which `size` elements exist. Words past the end are of no meaning.
void loadSomeRows(uint tile, uint size, inout uvec4 rows[kRows], inout uint selectors[kRows]) {
    [[unroll]] for (uint row = 0u; row < kRows; row++) {
        uint at = laneStart(tile) + row * (4u * kSubgroupSize), end = tile * kTile + size;
        WordsIn words = WordsIn(add64(p.input_, mul64(at, 4u)));
        selectors[row] = 0u;
        if (kSelects == 0u || !writesIndices()) {
            [[unroll]] for (uint i = 0u; i < 4u; i++)
                if (at + i < end)
                    rows[row][i] = words.w[i];
        }
        if (kSelects != 0u && at < end)
            selectors[row] = WordsIn(add64(p.selectors, testsMask() ? at >> 5 << 2 : at)).w[0];
    }
}

uint inRange(uvec4 v) {
    uvec4 d = v - p.low.x;
    return uint(d.x <= p.span.x) | uint(d.y <= p.span.x) << 1 | uint(d.z <= p.span.x) << 2 | uint(d.w <= p.span.x) << 3;
}

uint keptRows(uvec4 rows[kRows], uint selectors[kRows]) {
    uint keep = 0u;
    if (kSelects != 0u) {
        if (testsMask()) {
            uint shift = 4u * sgLane() & 31u;
            [[unroll]] for (uint row = 0u; row < kRows; row++)
                keep |= (selectors[row] >> shift & 15u) << 8u * row;
        } else {
            [[unroll]] for (uint row = 0u; row < kRows; row++) {
                uint s = selectors[row], set = ((s & 0x7f7f7f7fu) + 0x7f7f7f7fu | s) >> 7 & 0x01010101u;
                keep |= (set * 0x10204080u >> 28) << 8u * row;
            }
        }
    } else if (hasMode(SLUICE_COMPACT_MODE_F32)) {
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            uvec4 v = rows[row];
            keep |= inRange(uvec4(floatKey(v.x), floatKey(v.y), floatKey(v.z), floatKey(v.w))) << 8u * row;
        }
    } else {
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            keep |= inRange(rows[row]) << 8u * row;
    }
    return keep ^ (hasMode(SLUICE_COMPACT_MODE_INVERT) ? 0x0f0f0f0fu >> 8u * (4u - kRows) : 0u);
}

// How many elements of a tile are kept. One by one, which needs few registers.
uint ringTile(uint tile) {
    uint kept = 0u, end = min((tile + 1u) * kTile, elementCount());
    [[dont_unroll]] for (uint i = tile * kTile; i < end; i++) {
        bool keep;
        if (kSelects == 0u) {
            uint v = WordsIn(add64(p.input_, mul64(i, 4u))).w[0];
            keep = (hasMode(SLUICE_COMPACT_MODE_F32) ? floatKey(v) : v) - p.low.x <= p.span.x;
        } else {
            uint word = WordsIn(add64(p.selectors, testsMask() ? i >> 5 << 2 : i & ~3u)).w[0];
            keep = (testsMask() ? word >> (i & 31u) & 1u : word >> 8u * (i & 3u) & 0xffu) != 0u;
        }
        kept += uint(keep != hasMode(SLUICE_COMPACT_MODE_INVERT));
    }
    return kept;
}

uint rowCounts(uint keep) {
    uint pairs = keep - (keep >> 1 & 0x05050505u);
    return (pairs & 0x03030303u) + (pairs >> 2 & 0x03030303u);
}

// ---------------------------------------------------------------------------------------------------------------
// From registers to shared memory, and from there to where it belongs

void putWord(uint keep, uint bit, uint value, inout uint place) {
    if ((keep >> bit & 1u) != 0u) {
        sRing[place] = value;
        place++;
    }
}
void putRow(uint keep, uint row, uvec4 values, uint place) {
    putWord(keep, 8u * row, values.x, place);
    putWord(keep, 8u * row + 1u, values.y, place);
    putWord(keep, 8u * row + 2u, values.z, place);
    putWord(keep, 8u * row + 3u, values.w, place);
}

// `count` words of the ring from `from` on, to position `to`, as far as they fit; the first lane starts a line.
void storeWords(uint from, uint count, uint to) {
    uint capacity = writesIndices() ? p.indexCapacity : p.capacity, fits = min(count, capacity - min(to, capacity));
    uvec2 target = add64(writesIndices() ? p.indices : p.output_, mul64(to, 4u));
    uint lead = target.x >> 2 & 31u, at = wgInvocation() - lead; // below 0: a large number
    target = add64(uvec2(target.x & ~127u, target.y), 4u * wgInvocation());
    from += at;
    if (at < fits)
        WordsStored(target).w[0] = sRing[from];
    if (at + gl_WorkGroupSize.x < fits)
        WordsStored(target).w[gl_WorkGroupSize.x] = sRing[from + gl_WorkGroupSize.x];
    if (fits + lead > 2u * gl_WorkGroupSize.x) {
        [[unroll]] for (uint i = 2u; i < kRows * 4u + 1u; i++) {
            const uint ahead = i * gl_WorkGroupSize.x;
            if (at + ahead < fits)
                WordsStored(target).w[ahead] = sRing[from + ahead];
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------

// By a subgroup: how many of the tiles before `tile` are kept.
uint lookBack(LookbackStates states, uint tile) {
    uint prefix = 0u, next = tile, idle = 0u;
    [[dont_unroll]] while (sgUniform(next != 0u)) {
        LookbackState words = lookbackPack(0u, kTileWhole); // before the first tile
        if (sgLane() < next)
            words = states.s[next - 1u - sgLane()];
        uint value, state = lookbackUnpack(words, value);
        uint missing = lookbackFirst(state == 0u), whole = lookbackFirst(state == kTileWhole);
        uint taken = min(missing, whole + 1u);
        prefix += subgroupAdd(sgLane() < taken ? value : 0u);
        next = whole < missing ? 0u : next - taken;
        idle = taken != 0u ? 0u : idle + 1u;
        if (sgUniform(idle > p.polls)) {
            prefix += ringTile(--next);
            idle = 0u;
        }
    }
    return prefix;
}

// One tile by itself, whole or not, which writes the result if it is the last. By the whole workgroup.
//   leaves  it is the workgroup's last: leaves the look-back
void compactTile(LookbackStates states, uint tile, uint tiles, bool leaves) {
    uint start = tile * kTile, size = min(p.maxCount - min(start, p.maxCount), kTile);
    uvec4 rows[kRows];
    uint selectors[kRows];
    [[unroll]] for (uint row = 0u; row < kRows; row++)
        rows[row] = uvec4(0u);
    if (size == kTile)
        loadRows(tile, rows, selectors);
    else
        loadSomeRows(tile, size, rows, selectors);
    uint keep = keptRows(rows, selectors), count = elementCount();
    if (start + kTile > count || start + kTile < start) {
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            uint at = laneStart(tile) + row * (4u * kSubgroupSize), here = at < count ? min(count - at, 4u) : 0u;
            keep &= ~((15u & ~0u << here) << 8u * row);
        }
    }
    uint totals, before = ringExclusive(rowCounts(keep), totals);
    if (sgLane() == 0u)
        sRingTotals[0][sgIndex()] = (totals & 0xffu) + (totals >> 8 & 0xffu) + (totals >> 16 & 0xffu) + (totals >> 24);
    wgBarrierShared();
    uint kept, place = ringBefore(0u, kept);
    if (wgInvocation() == 0u && tiles > 1u)
        states.s[tile] = lookbackPack(kept, tile == 0u ? kTileWhole : kTileOwn);
    [[unroll]] for (uint row = 0u; row < kRows; row++) {
        uvec4 places = laneStart(tile) + row * (4u * kSubgroupSize) + uvec4(0u, 1u, 2u, 3u);
        putRow(keep, row, writesIndices() ? places : rows[row], place + (before >> 8u * row & 0xffu));
        place += totals >> 8u * row & 0xffu;
    }
    uint prefix = lookBack(states, tile);
    if (leaves)
        lookbackLeave(p.scratch); // its latency passes behind the stores
    else
        wgBarrierShared();
    storeWords(0u, kept, prefix);
    if (tile == tiles - 1u && wgInvocation() == 0u)
        storeResult(prefix + kept);
}

#endif // SLUICE_COMPACT_WORDS_GLSL
