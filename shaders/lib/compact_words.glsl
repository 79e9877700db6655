// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles of a compaction of 4-byte elements, which outputs either elements or indices, with any test
// except UNIQUE. Subgroups have at most 32 lanes, and at least as many lanes as a workgroup has
// subgroups.
//
// A *row* is four consecutive elements of each lane of a subgroup; a lane has kRows rows. A word
// has a byte for each of a lane's rows. The byte has either four bits that say which of the row's
// elements are kept, or a count.
//
// The includer defines kRingRows, the number of rows, and the array sRing in shared memory, in
// which kept elements are gathered.
#ifndef SLUICE_COMPACT_WORDS_GLSL
#define SLUICE_COMPACT_WORDS_GLSL

#include "loops.glsl"
#include "compact_tile.glsl"
#include "lookback.glsl"

layout(constant_id = SLUICE_CONSTANT_COMPACT_KIND) const uint kKind = 0u;

#include "ring.glsl"

// kKind says which tests the shader is specialized for. 0: any comparison. 1: any test of bytes or
// a mask. 2: a comparison of integers that is not inverted. 3: a test of bytes. With 2 and 3 the
// code is shorter, and the output must be elements.
const bool kComparesWords = kKind == 2u;
const bool kSelects = kKind == 1u || kKind == 3u;
bool writesIndices() { return kKind < 2u && p.output_ == uvec2(0u); }
bool testsMask() { return kKind == 1u && testKind() == SLUICE_COMPACT_TEST_MASK; }
bool testsFloats() { return kKind == 0u && hasMode(SLUICE_COMPACT_MODE_F32); }
bool inverts() { return !kComparesWords && hasMode(SLUICE_COMPACT_MODE_INVERT); }

// -----------------------------------------------------------------------------------------------
// From memory to bits

// Returns the index in the input of the lane's first element of a tile.
uint laneStart(uint tile) {
    return tile * kTile + (sgIndex() * kRows * kSubgroupSize + sgLane()) * 4u;
}

// Loads what the test and the output need of the lane's part of a whole tile: its elements, and its
// selectors (bytes or bits of a mask). Nothing waits for the loads here.
void loadRows(uint tile, inout uvec4 rows[kRows], inout uint selectors[kRows]) {
    uint at = laneStart(tile);
    if (!kSelects || !writesIndices()) {
        RowsIn first = RowsIn(add64(p.input_, mul64(at, 4u)));
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++)
            rows[row] = first.v[row * kSubgroupSize];
    }
    if (kSelects) {
        uint step = testsMask() ? kSubgroupSize / 8u : kSubgroupSize;
        WordsIn first = WordsIn(add64(p.selectors, testsMask() ? at >> 5 << 2 : at));
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++)
            selectors[row] = first.w[row * step];
    }
}

// Does what loadRows does, for a tile that may be incomplete and has `size` elements. Words past
// its end are undefined.
void loadSomeRows(uint tile, uint size, inout uvec4 rows[kRows], inout uint selectors[kRows]) {
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        uint at = laneStart(tile) + row * (4u * kSubgroupSize), end = tile * kTile + size;
        WordsIn words = WordsIn(add64(p.input_, mul64(at, 4u)));
        selectors[row] = 0u;
        if (!kSelects || !writesIndices()) {
            SLUICE_UNROLL
            for (uint i = 0u; i < 4u; i++)
                if (at + i < end) rows[row][i] = words.w[i];
        }
        if (kSelects && at < end)
            selectors[row] = WordsIn(add64(p.selectors, testsMask() ? at >> 5 << 2 : at)).w[0];
    }
}

// Returns a bit for each of four elements, or keys of f32 elements: set if it passes the
// comparison.
uint inRange(uvec4 v) {
    uvec4 d = v - p.low.x;
    return uint(d.x <= p.span.x) | uint(d.y <= p.span.x) << 1 | uint(d.z <= p.span.x) << 2 |
           uint(d.w <= p.span.x) << 3;
}

// Returns a word with a byte for each row. The low four bits of a byte say which of the lane's four
// elements in that row are kept.
uint keptRows(uvec4 rows[kRows], uint selectors[kRows]) {
    uint keep = 0u;
    if (kSelects) {
        if (testsMask()) {
            uint shift = 4u * sgLane() & 31u;
            SLUICE_UNROLL
            for (uint row = 0u; row < kRows; row++)
                keep |= (selectors[row] >> shift & 15u) << 8u * row;
        } else {
            SLUICE_UNROLL
            for (uint row = 0u; row < kRows; row++) {
                uint s = selectors[row],
                     set = (((s & 0x7f7f7f7fu) + 0x7f7f7f7fu) | s) >> 7 & 0x01010101u;
                keep |= (set * 0x10204080u >> 28) << 8u * row;
            }
        }
    } else if (testsFloats()) {
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++) {
            uvec4 v = rows[row];
            keep |= inRange(uvec4(floatKey(v.x), floatKey(v.y), floatKey(v.z), floatKey(v.w)))
                    << 8u * row;
        }
    } else {
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++)
            keep |= inRange(rows[row]) << 8u * row;
    }
    return keep ^ (inverts() ? 0x0f0f0f0fu >> 8u * (4u - kRows) : 0u);
}

// Loads and tests the elements of any tile, and returns how many of them are kept. All lanes of a
// subgroup call this.
uint countTile(uint tile) {
    uint kept = 0u, start = tile * kTile, size = min(elementCount() - start, kTile);
    SLUICE_DONT_UNROLL
    for (uint at = sgLane(); at < size; at += kSubgroupSize) {
        uint i = start + at;
        bool keep;
        if (!kSelects) {
            uint v = WordsIn(add64(p.input_, mul64(i, 4u))).w[0];
            keep = (testsFloats() ? floatKey(v) : v) - p.low.x <= p.span.x;
        } else {
            uint word = WordsIn(add64(p.selectors, testsMask() ? i >> 5 << 2 : i & ~3u)).w[0];
            keep = (testsMask() ? word >> (i & 31u) & 1u : word >> 8u * (i & 3u) & 0xffu) != 0u;
        }
        kept += uint(keep != inverts());
    }
    return subgroupAdd(kept);
}

// Returns the number of set bits of each byte of `keep`, in that byte. Only the low four bits of a
// byte may be set.
uint rowCounts(uint keep) {
    uint pairs = keep - (keep >> 1 & 0x05050505u);
    return (pairs & 0x03030303u) + (pairs >> 2 & 0x03030303u);
}

// -----------------------------------------------------------------------------------------------
// From registers to shared memory, and from there to the output

// If bit `bit` of `keep` is set, stores `value` in the ring buffer sRing at `place`, and advances
// it.
void putWord(uint keep, uint bit, uint value, inout uint place) {
    if ((keep >> bit & 1u) != 0u) {
        sRing[place] = value;
        place++;
    }
}
// Puts those of a row's four `values` that are kept into the ring, from index `place` on.
void putRow(uint keep, uint row, uvec4 values, uint place) {
    putWord(keep, 8u * row, values.x, place);
    putWord(keep, 8u * row + 1u, values.y, place);
    putWord(keep, 8u * row + 2u, values.z, place);
    putWord(keep, 8u * row + 3u, values.w, place);
}

// Stores `count` words of the ring, from index `from` on, at index `to` of the output. Words that
// exceed the output's capacity are dropped. Invocations are counted from the start of the 128-byte
// cache line that contains the first word, so that the stores of a subgroup fill whole lines.
void storeWords(uint from, uint count, uint to) {
    uint capacity = writesIndices() ? p.indexCapacity : p.capacity,
         fits = min(count, capacity - min(to, capacity));
    uvec2 target = add64(writesIndices() ? p.indices : p.output_, mul64(to, 4u));
    uint lead = target.x >> 2 & 31u, at = wgInvocation() - lead; // wraps around if below 0
    target = add64(uvec2(target.x & ~127u, target.y), 4u * wgInvocation());
    from += at;
    if (at < fits) WordsStored(target).w[0] = sRing[from];
    if (at + gl_WorkGroupSize.x < fits)
        WordsStored(target).w[gl_WorkGroupSize.x] = sRing[from + gl_WorkGroupSize.x];
    if (fits + lead > 2u * gl_WorkGroupSize.x) {
        SLUICE_UNROLL
        for (uint i = 2u; i < kRows * 4u + 1u; i++) {
            const uint ahead = i * gl_WorkGroupSize.x;
            if (at + ahead < fits) WordsStored(target).w[ahead] = sRing[from + ahead];
        }
    }
}

// -----------------------------------------------------------------------------------------------

// Returns how many elements the tiles before `tile` keep, by looking back at their published states
// (lookback.glsl). All lanes of a subgroup call this together. If a tile has published nothing
// after p.polls polls, the lanes count that tile themselves.
uint lookBack(LookbackStates states, uint tile) {
    uint prefix = 0u, next = tile, idle = 0u;
    SLUICE_DONT_UNROLL
    while (sgUniform(next != 0u)) {
        LookbackState words = lookbackPack(0u, kTileWhole); // for lanes that look before tile 0
        if (sgLane() < next) words = states.s[next - 1u - sgLane()];
        uint value, state = lookbackUnpack(words, value);
        uint missing = lookbackFirst(state == 0u), whole = lookbackFirst(state == kTileWhole);
        uint taken = min(missing, whole + 1u);
        prefix += subgroupAdd(sgLane() < taken ? value : 0u);
        next = whole < missing ? 0u : next - taken;
        idle = taken != 0u ? 0u : idle + 1u;
        if (sgUniform(idle > p.polls)) {
            prefix += countTile(--next);
            idle = 0u;
        }
    }
    return prefix;
}

// Compacts tile `tile` of `tiles`, whole or not, with the whole workgroup. If it is the last one,
// writes the command's result. Returns how many elements are kept up to the tile's end.
//   publishes  true if the tile's count must still be published
//   leaves     true for the workgroup's last tile: it then counts itself as done (lookbackLeave)
uint compactTile(LookbackStates states, uint tile, uint tiles, bool publishes, bool leaves) {
    uint start = tile * kTile, size = min(p.maxCount - min(start, p.maxCount), kTile);
    uvec4 rows[kRows];
    uint selectors[kRows];
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++)
        rows[row] = uvec4(0u);
    if (size == kTile)
        loadRows(tile, rows, selectors);
    else
        loadSomeRows(tile, size, rows, selectors);
    uint keep = keptRows(rows, selectors), count = elementCount();
    if (start + kTile > count || start + kTile < start) {
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++) {
            uint at = laneStart(tile) + row * (4u * kSubgroupSize),
                 here = at < count ? min(count - at, 4u) : 0u;
            keep &= ~((15u & ~0u << here) << 8u * row);
        }
    }
    uint totals, before = ringExclusive(rowCounts(keep), kSubgroupSize, totals);
    if (sgLane() == 0u)
        sRingTotals[0][sgIndex()] =
            (totals & 0xffu) + (totals >> 8 & 0xffu) + (totals >> 16 & 0xffu) + (totals >> 24);
    wgBarrierShared();
    uint kept, place = ringBefore(0u, kept);
    if (wgInvocation() == 0u && publishes)
        states.s[tile] = lookbackPack(kept, tile == 0u ? kTileWhole : kTileOwn);
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        uvec4 places = laneStart(tile) + row * (4u * kSubgroupSize) + uvec4(0u, 1u, 2u, 3u);
        putRow(keep, row, writesIndices() ? places : rows[row],
               place + (before >> 8u * row & 0xffu));
        place += totals >> 8u * row & 0xffu;
    }
    uint prefix = lookBack(states, tile);
    if (leaves)
        lookbackLeave(p.scratch); // early, so that the stores hide the latency of its atomic
    else
        wgBarrierShared();
    storeWords(0u, kept, prefix);
    if (tile == tiles - 1u && wgInvocation() == 0u) storeResult(prefix + kept);
    return prefix + kept;
}

#endif // SLUICE_COMPACT_WORDS_GLSL
