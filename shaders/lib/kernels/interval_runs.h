// SPDX-License-Identifier: MIT OR Apache-2.0
// Moves of intervals. This file computes where an interval's bytes are, where it is split between
// lane groups, and the run of bytes that a lane group copies.
#ifndef SLUICE_KERNELS_INTERVAL_RUNS_H
#define SLUICE_KERNELS_INTERVAL_RUNS_H

#include "../compat.h"

SLUICE_KERNEL_BEGIN

SLUICE_CONSTANT u32 kSector = 32u; // bytes

// Computes the byte offset of element `position`. Returns false if the `bytes` bytes that start
// there are not inside a buffer of `size` bytes.
SLUICE_DEVICE bool offsetWithin(u64 position, u32 elementSize, u64 bytes, u64 size,
                                SLUICE_OUT(u64, offset)) {
    offset = scale64(position, elementSize); // cannot overflow below the limit
    return highWord(position) < 1u << 27 && !less64(size, bytes) &&
           !less64(sub64(size, bytes), offset);
}

// Returns where to split an interval of `bytes` bytes, given the ideal split after `place` bytes.
// The split is moved to the target's next sector, so that one lane group writes a whole sector.
SLUICE_DEVICE u64 cutAt(u64 target, u64 place, u64 bytes) {
    if (place == kNull) return place;
    place = add64(place, (0u - (lowWord(target) + lowWord(place))) & (kSector - 1u));
    return less64(place, bytes) ? place : bytes;
}

// Bytes to copy; 0: none.
struct Piece {
    u64 source, target;
    u32 bytes;
};

// A run is a piece of an interval, relative to the start of the destination's sector in which the
// piece begins.
struct Run {
    u64 source, target; // addresses of that start: target is a multiple of kSector, source of 16
    u32 shift;          // what to add to source
    u32 lead, end;      // its bytes are [lead, end) from there
    u32 start;          // index of its first sector among the sectors of all runs
};

SLUICE_DEVICE Run runOf(SLUICE_IN(Piece) piece) {
    Run run;
    run.lead = lowWord(piece.target) & (kSector - 1u);
    run.end = run.lead + piece.bytes;
    run.target = sub64(piece.target, wide(run.lead));
    run.source = sub64(piece.source, wide(run.lead));
    run.shift = lowWord(run.source) & 15u;
    run.source = sub64(run.source, wide(run.shift));
    return run;
}

// A run's whole sectors are [bodyBegin, bodyEnd).
SLUICE_DEVICE u32 bodyBegin(SLUICE_IN(Run) run) {
    return min((run.lead + kSector - 1u) & ~(kSector - 1u), run.end);
}
SLUICE_DEVICE u32 bodyEnd(SLUICE_IN(Run) run) {
    return max(run.end & ~(kSector - 1u), bodyBegin(run));
}

SLUICE_KERNEL_END
#endif
