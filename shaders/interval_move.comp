// SPDX-License-Identifier: MIT OR Apache-2.0
// Interval move, gather and scatter, bulk remove and insert: copies of runs of bytes, shared out evenly. A workgroup of 128
// invocations reads 128 intervals at a time, cuts its part of them into units of 16 bytes aligned at the destination, and
// its invocations take one unit after the other.
#version 460
#extension GL_GOOGLE_include_directive : require
// An interval adds up to two units to those that its bytes fill.
#define SLUICE_MAX_MARKS (SLUICE_INTERVAL_TILE_BYTES / 16u + 2u * SLUICE_INTERVAL_BATCH)
#include "lib/intervals.glsl"
#include "lib/units.glsl"

// Part of an interval, in units. Addresses are multiples of 16; what is left in their low bits:
struct Run {
    uvec2 source; // of the block in which the first unit's byte 0 would be | shift: that byte's place in the block
    uvec2 target; // of the first unit | from: its first byte that is written
    uint start;   // number of the first unit | 1 << 31: all loads are within the source
    uint end;     // from + bytes
};
shared uvec4 sPlaces[SLUICE_INTERVAL_BATCH];
shared uvec2 sSpans[SLUICE_INTERVAL_BATCH];

const uint kAtOnce = 4u; // units that an invocation has in flight

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

// Bytes to copy; 0: none.
struct Piece {
    uvec2 source, target;
    uint bytes;
};

// This workgroup's part of an interval.
Piece pieceOf(Interval own, out bool skipped) {
    uint kind = intervalKind();
    uvec2 from = uvec2(own.before, 0u), to = from;
    if (own.from < own.to) {
        if (kind <= SLUICE_INTERVAL_KIND_GATHER)
            from = positionOf(p.gather, own.index);
        if (kind == SLUICE_INTERVAL_KIND_MOVE || kind == SLUICE_INTERVAL_KIND_SCATTER)
            to = positionOf(p.scatter, own.index);
    }
    if (kind == SLUICE_INTERVAL_KIND_REMOVE)
        from = add64(from, own.index);
    if (kind == SLUICE_INTERVAL_KIND_INSERT)
        to = add64(to, own.index);

    // What is dropped: past the destination, by number or, where places follow from the order, by place.
    bool placed = kind == SLUICE_INTERVAL_KIND_MOVE || kind == SLUICE_INTERVAL_KIND_SCATTER;
    uint last = min(own.to, subSaturated64(uvec2(p.capacity, 0u), placed ? uvec2(own.before, 0u) : to));
    uint first = min(own.from, last);
    Piece piece;
    piece.bytes = (last - first) * p.elementSize;

    uvec2 whole = mul64(own.count, p.elementSize), source, target;
    bool inside = offsetWithin(from, whole, p.sourceSize, source);
    inside = offsetWithin(to, placed ? whole : uvec2(0u), p.destinationSize, target) && inside;
    skipped = !inside && piece.bytes != 0u;
    if (!inside)
        piece.bytes = 0u;
    piece.source = add64(add64(p.source, source), mul64(first, p.elementSize));
    piece.target = add64(add64(p.destination, target), mul64(first, p.elementSize));
    return piece;
}

Run runOf(Piece piece, uint start) {
    Run run;
    uint from = piece.target.x & 15u;
    run.target = piece.target;
    run.end = from + piece.bytes;
    run.source = sub64(piece.source, uvec2(from, 0u)); // of byte 0 of the first unit
    uvec2 lowest = uvec2(run.source.x & ~15u, run.source.y);
    uvec2 size = uvec2((run.end + 15u & ~15u) + 16u, 0u);
    run.start = start | (inside64(lowest, size, p.source, p.sourceSize) ? 1u << 31 : 0u);
    return run;
}

uvec4 loadUnitOf(Run run, uint unit) {
    uint number = unit - (run.start & 0x7fffffffu);
    uvec2 block = add64(uvec2(run.source.x & ~15u, run.source.y), 16u * number);
    return loadUnit(block, run.source.x & 15u, number == 0u ? run.target.x & 15u : 0u, min(run.end - 16u * number, 16u),
                    run.start >> 31 != 0u, p.source, add64(p.source, p.sourceSize));
}

void storeUnitOf(Run run, uint unit, uvec4 value) {
    uint number = unit - (run.start & 0x7fffffffu);
    storeUnit(add64(uvec2(run.target.x & ~15u, run.target.y), 16u * number), value,
              number == 0u ? run.target.x & 15u : 0u, min(run.end - 16u * number, 16u));
}

Run runOfUnit(uint unit) {
    uint rank = rankOfPiece(unit);
    uvec4 places = sPlaces[rank];
    uvec2 span = sSpans[rank];
    return Run(places.xy, places.zw, span.x, span.y);
}

void copyUnits(uint units) {
    for (uint first = wgInvocation(); first < units; first += kAtOnce * gl_WorkGroupSize.x) {
        uvec4 value[kAtOnce];
        [[unroll]] for (uint i = 0u; i < kAtOnce; ++i) {
            uint unit = first + i * gl_WorkGroupSize.x;
            if (unit < units)
                value[i] = loadUnitOf(runOfUnit(unit), unit);
        }
        [[unroll]] for (uint i = 0u; i < kAtOnce; ++i) {
            uint unit = first + i * gl_WorkGroupSize.x;
            if (unit < units)
                storeUnitOf(runOfUnit(unit), unit, value[i]);
        }
    }
}

// Insert: the item that goes behind run own.index.
void insertItem(Interval own) {
    uvec2 place = add64(uvec2(own.before, 0u), own.count);
    place = add64(place, own.index);
    if (!less64(place, uvec2(p.capacity, 0u)))
        return;
    uvec2 itemsSize = mul64(p.maxCount, p.elementSize);
    Run run = Run(add64(p.gather, mul64(own.index, p.elementSize)), add64(p.destination, mul64(place.x, p.elementSize)), 0u, 0u);
    uint from = run.target.x & 15u;
    run.end = from + p.elementSize;
    run.source = sub64(run.source, uvec2(from, 0u));
    [[unroll]] for (uint i = 0u; i < 2u; ++i)
        if (16u * i < run.end) {
            uvec2 block = add64(uvec2(run.source.x & ~15u, run.source.y), 16u * i);
            uint to = min(run.end - 16u * i, 16u);
            uvec4 value = loadUnit(block, run.source.x & 15u, i == 0u ? from : 0u, to, false, p.gather,
                                   add64(p.gather, itemsSize));
            storeUnitOf(run, i, value);
        }
}

void main() {
    Share share = openShare();
    bool anySkipped = false;
    while (moreBatches(share)) {
        clearMarks();
        Interval own = nextBatch(share);
        bool skipped;
        Piece piece = pieceOf(own, skipped);
        anySkipped = anySkipped || skipped;

        uint units = piece.bytes == 0u ? 0u : (piece.target.x & 15u) + piece.bytes + 15u >> 4;
        uint total;
        uint before = wgExclusiveAdd(units | (units != 0u ? 1u << 16 : 0u), total);
        if (units != 0u) {
            Run run = runOf(piece, before & 0xffffu);
            sPlaces[before >> 16] = uvec4(run.source, run.target);
            sSpans[before >> 16] = uvec2(run.start, run.end);
            setMark(before & 0xffffu);
        }
        countMarks();
        copyUnits(total & 0xffffu);
        if (intervalKind() == SLUICE_INTERVAL_KIND_INSERT && own.owned && own.index + 1u < share.intervals)
            insertItem(own);
        wgBarrierShared();
    }
    if (anySkipped && p.result_ != uvec2(0u))
        atomicOr(WordsOut(p.result_).w[1], SLUICE_INTERVAL_FLAG_SKIPPED);
}
