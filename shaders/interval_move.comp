// SPDX-License-Identifier: MIT OR Apache-2.0
// Interval move, gather and scatter, bulk remove and insert: copies of runs of bytes, shared out evenly. A workgroup of 128
// invocations reads 128 intervals at a time and copies its part of them in one of three ways, by how long the runs are:
//   words   short runs: most stores are of edges, and a subgroup should write each sector of memory with one instruction
//   units   of 16 bytes, aligned at the destination; the edges, as words, on their own
//   rows    the same, but each run begins a row of 32 units, so that the lanes of a row read the same run
#version 460
#extension GL_GOOGLE_include_directive : require
// An interval adds up to two words to those that its bytes fill.
#define SLUICE_MAX_MARKS (SLUICE_INTERVAL_TILE_BYTES / 4u + 2u * SLUICE_INTERVAL_BATCH)
#include "lib/intervals.glsl"
#include "lib/units.glsl"

const uint kWords = 0u, kUnits = 1u, kRows = 2u;
const uint kShortRun = 160u, kLongRun = 512u; // bytes, on average
const uint kUnitsAtOnce = 4u, kWordsAtOnce = 4u, kEdgesAtOnce = 2u; // that an invocation has in flight

// Part of an interval. source and target stand in sIntervalData, the rest here.
struct Run {
    uvec2 source, target;
    uint bytes;
    uint start; // its first word, unit or row | 1 << 31: all loads of units are within the source
};
shared uvec2 sSpans[SLUICE_INTERVAL_BATCH];

Run runAt(uint index) {
    uvec4 places = sIntervalData[index];
    uvec2 span = sSpans[index];
    return Run(places.xy, places.zw, span.x, span.y);
}

uint numberIn(Run run, uint piece) { return piece - (run.start & 0x7fffffffu); }
// Bytes before the first unit, and whole units.
uint headOf(Run run) { return min((0u - run.target.x) & 15u, run.bytes); }
uint unitsOf(Run run) { return (run.bytes - headOf(run)) >> 4; }

uvec2 positionOf(uvec2 list, uint i) {
    if ((p.form >> 24 & 1u) == 0u)
        return uvec2(wordAt(list, i), 0u);
    uvec2 entry = add64(list, mul64(i, 8u));
    return uvec2(WordsIn(entry).w[0], WordsIn(entry).w[1]);
}

// The byte offset of element `position`. False: it, or `bytes` from there on, is not inside `size`.
bool offsetWithin(uvec2 position, uvec2 bytes, uvec2 size, out uvec2 offset) {
    offset = mul64(position.x, p.elementSize);
    offset.y += position.y * p.elementSize; // cannot overflow below the limit
    return position.y < 1u << 27 && !less64(size, bytes) && !less64(sub64(size, bytes), offset);
}

// This workgroup's part of an interval; no bytes: none. from, to: what the lists say about its place.
Run pieceOf(Interval own, uvec2 from, uvec2 to, out bool skipped) {
    uint kind = intervalKind();
    bool placed = kind == SLUICE_INTERVAL_KIND_MOVE || kind == SLUICE_INTERVAL_KIND_SCATTER;
    if (kind > SLUICE_INTERVAL_KIND_GATHER)
        from = uvec2(own.before, 0u);
    if (!placed)
        to = uvec2(own.before, 0u);
    if (kind == SLUICE_INTERVAL_KIND_REMOVE)
        from = add64(from, own.index);
    if (kind == SLUICE_INTERVAL_KIND_INSERT)
        to = add64(to, own.index);

    // What is dropped: past the destination, by number or, where places follow from the order, by place.
    uint last = min(own.to, subSaturated64(uvec2(p.capacity, 0u), placed ? uvec2(own.before, 0u) : to));
    uint first = min(own.from, last);
    uvec2 whole = mul64(own.count, p.elementSize), source, target;
    bool inside = offsetWithin(from, whole, p.sourceSize, source);
    inside = offsetWithin(to, placed ? whole : uvec2(0u), p.destinationSize, target) && inside;
    skipped = !inside && first != last;
    Run run;
    run.bytes = inside ? (last - first) * p.elementSize : 0u;
    run.source = add64(add64(p.source, source), mul64(first, p.elementSize));
    run.target = add64(add64(p.destination, target), mul64(first, p.elementSize));
    run.start = 0u;
    return run;
}

// The words, units or rows of a run.
uint piecesOf(Run run, uint mode) {
    uint pieces = 0u;
    if (run.bytes != 0u) {
        if (mode == kWords)
            pieces = (run.target.x & 3u) + run.bytes + 3u >> 2;
        else
            pieces = unitsOf(run);
        if (mode == kRows && pieces != 0u)
            pieces = (run.target.x + headOf(run) >> 4 & 7u) + pieces + 31u >> 5;
    }
    return pieces;
}

// A word or unit at the destination, where its bytes come from, and which of them are the run's; from >= to: none.
struct Place {
    uvec2 source, target;
    uint from, to;
};

Place placeIn(Run run, uint place, uint from, uint to) {
    return Place(add64(run.source, place), add64(run.target, place), from, to);
}

Place wordPlace(uint word) {
    Run run = runAt(rankOfPiece(word));
    uint head = run.target.x & 3u, place = 4u * numberIn(run, word);
    run.source = sub64(run.source, uvec2(head, 0u));
    run.target.x &= ~3u;
    return placeIn(run, place, place == 0u ? head : 0u, min(run.bytes + head - place, 4u));
}

void copyWords(uint words) {
    for (uint first = wgInvocation(); first < words; first += kWordsAtOnce * gl_WorkGroupSize.x) {
        uint value[kWordsAtOnce];
        [[unroll]] for (uint i = 0u; i < kWordsAtOnce; ++i) {
            Place word = wordPlace(min(first + i * gl_WorkGroupSize.x, words - 1u));
            value[i] = beginWord(word.source, word.from);
        }
        [[unroll]] for (uint i = 0u; i < kWordsAtOnce; ++i)
            if (first + i * gl_WorkGroupSize.x < words) {
                Place word = wordPlace(first + i * gl_WorkGroupSize.x);
                storeWord(word.target, endWord(word.source, word.to, value[i]), word.from, word.to);
            }
    }
}

// Unit `lane` of a row of 32.
Place unitPlace(uint row, uint lane, uint pieces, uint mode, out bool within) {
    uint piece = mode == kRows ? row : row * 32u + lane;
    Run run = runAt(rankOfPiece(min(piece, pieces - 1u)));
    uint head = headOf(run), unit = numberIn(run, piece);
    // A row begins at a cache line: the first one is perhaps not all the run's.
    if (mode == kRows)
        unit = unit * 32u + lane - (run.target.x + head >> 4 & 7u);
    within = run.start >> 31 != 0u;
    return placeIn(run, head + 16u * unit, 0u, piece < pieces && unit < unitsOf(run) ? 16u : 0u);
}

// Each 32 invocations take kUnitsAtOnce consecutive rows at a time.
void copyUnits(uint pieces, uint mode) {
    uint rows = mode == kRows ? pieces : pieces + 31u >> 5, lane = wgInvocation() & 31u;
    for (uint row = (wgInvocation() >> 5) * kUnitsAtOnce; row < rows; row += (gl_WorkGroupSize.x >> 5) * kUnitsAtOnce) {
        uvec4 value[kUnitsAtOnce];
        bool within;
        [[unroll]] for (uint i = 0u; i < kUnitsAtOnce; ++i) {
            Place unit = unitPlace(row + i, lane, pieces, mode, within);
            if (unit.to != 0u && within)
                value[i] = beginUnit(unit.source);
        }
        [[unroll]] for (uint i = 0u; i < kUnitsAtOnce; ++i) {
            Place unit = unitPlace(row + i, lane, pieces, mode, within);
            if (unit.to != 0u && within)
                UnitsOut(unit.target).v = endUnit(unit.source, value[i]);
            else if (unit.to != 0u)
                UnitsOut(unit.target).v = loadBytes(unit.source, 16u);
        }
    }
}

// Word `slot` % 8 of the edges of a run: the first four words stand before its first unit, the others after its last.
Place edgePlace(uint slot, uint withUnits) {
    uint index = slot >> 3;
    Run run = runAt(index < withUnits ? index : SLUICE_INTERVAL_BATCH - 1u - (index - withUnits));
    // Counted from the aligned unit that holds the run's beginning.
    uint lead = run.target.x & 15u, head = headOf(run);
    bool behind = (slot & 4u) != 0u;
    uint begin = behind ? lead + head + 16u * unitsOf(run) : lead, end = behind ? lead + run.bytes : lead + head;
    uint place = (begin & ~15u) + 4u * (slot & 3u);
    run.source = sub64(run.source, uvec2(lead, 0u));
    run.target.x &= ~15u;
    return placeIn(run, place, max(begin, place) - place, min(subSaturated(end, place), 4u));
}

void copyEdges(uint runs, uint withUnits) {
    for (uint first = wgInvocation(); first < 8u * runs; first += kEdgesAtOnce * gl_WorkGroupSize.x) {
        uint value[kEdgesAtOnce];
        [[unroll]] for (uint i = 0u; i < kEdgesAtOnce; ++i) {
            Place word = edgePlace(min(first + i * gl_WorkGroupSize.x, 8u * runs - 1u), withUnits);
            if (word.from < word.to)
                value[i] = beginWord(word.source, word.from);
        }
        [[unroll]] for (uint i = 0u; i < kEdgesAtOnce; ++i) {
            Place word = edgePlace(min(first + i * gl_WorkGroupSize.x, 8u * runs - 1u), withUnits);
            if (word.from < word.to && first + i * gl_WorkGroupSize.x < 8u * runs)
                storeWord(word.target, endWord(word.source, word.to, value[i]), word.from, word.to);
        }
    }
}

// Insert: the item that goes behind run own.index.
void insertItem(Interval own) {
    uvec2 place = add64(add64(uvec2(own.before, 0u), own.count), own.index);
    if (less64(place, uvec2(p.capacity, 0u))) {
        uvec2 target = add64(p.destination, mul64(place.x, p.elementSize));
        uvec2 source = add64(p.gather, mul64(own.index, p.elementSize));
        uint lead = target.x & 3u, end = lead + p.elementSize;
        source = sub64(source, uvec2(lead, 0u));
        target.x &= ~3u;
        for (uint at = 0u; at < end; at += 4u) {
            uint from = at == 0u ? lead : 0u, to = min(end - at, 4u);
            uvec2 word = add64(source, at);
            storeWord(add64(target, at), endWord(word, to, beginWord(word, from)), from, to);
        }
    }
}

void main() {
    openShare();
    bool anySkipped = false;
    while (moreBatches()) {
        clearMarks();
        // Loaded early, together with the count.
        uvec2 from = uvec2(0u), to = uvec2(0u);
        uint kind = intervalKind(), index = sBase + wgInvocation();
        if (wgInvocation() < sIntervals - sBase) {
            if (kind <= SLUICE_INTERVAL_KIND_GATHER)
                from = positionOf(p.gather, index);
            if (kind == SLUICE_INTERVAL_KIND_MOVE || kind == SLUICE_INTERVAL_KIND_SCATTER)
                to = positionOf(p.scatter, index);
        }
        Interval own = nextBatch();
        bool skipped;
        Run run = pieceOf(own, from, to, skipped);
        anySkipped = anySkipped || skipped;

        // Runs and those with edges; bytes.
        bool edged = run.bytes != 0u && (headOf(run) != 0u || (run.bytes & 15u) != 0u);
        uint sums, bytes;
        wgExclusiveAdd((run.bytes != 0u ? 1u : 0u) | (edged ? 1u << 16 : 0u), sums);
        wgExclusiveAdd(run.bytes, bytes);
        uint mode = bytes < (sums >> 16) * kShortRun ? kWords : bytes < (sums & 0xffffu) * kLongRun ? kUnits : kRows;

        uint pieces = piecesOf(run, mode), total;
        uint before = wgExclusiveAdd(run.bytes == 0u ? 0u : pieces | (pieces != 0u ? 1u << 16 : 1u << 24), total);
        if (run.bytes != 0u) {
            uvec2 lowest = uvec2(run.source.x & ~15u, run.source.y), last = add64(run.source, run.bytes);
            uvec2 span = sub64(add64(uvec2(last.x & ~15u, last.y), 16u), lowest);
            run.start = (before & 0xffffu) | (inside64(lowest, span, p.source, p.sourceSize) ? 1u << 31 : 0u);
            // Runs with pieces from the front on, by rank; runs that are nothing but edges from the back on.
            uint place = pieces != 0u ? before >> 16 & 0xffu : SLUICE_INTERVAL_BATCH - 1u - (before >> 24);
            sIntervalData[place] = uvec4(run.source, run.target);
            sSpans[place] = uvec2(run.bytes, run.start);
        }
        if (pieces != 0u)
            setMark(before & 0xffffu);
        countMarks();
        if (mode == kWords) {
            copyWords(total & 0xffffu);
        } else {
            copyUnits(total & 0xffffu, mode);
            if (sums >> 16 != 0u)
                copyEdges(sums & 0xffffu, total >> 16 & 0xffu);
        }
        if (kind == SLUICE_INTERVAL_KIND_INSERT && own.owned && own.index + 1u < sIntervals)
            insertItem(own);
        wgBarrierShared();
    }
    if (anySkipped && p.result_ != uvec2(0u))
        atomicOr(WordsOut(p.result_).w[1], SLUICE_INTERVAL_FLAG_SKIPPED);
}
