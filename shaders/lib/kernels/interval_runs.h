// SPDX-License-Identifier: MIT OR Apache-2.0
// Says where an interval's bytes are and where the interval is split between lane groups, and makes
// the *run* of bytes that a lane group copies.
#ifndef SLUICE_KERNELS_INTERVAL_RUNS_H
#define SLUICE_KERNELS_INTERVAL_RUNS_H

#include "../compat.h"

SLUICE_KERNEL_BEGIN

SLUICE_CONSTANT u32 kSector = 32u; // bytes that memory writes at once

// Computes the byte offset of element number `position`. Returns false if the `bytes` bytes that
// start there are not inside a buffer of `size` bytes.
SLUICE_DEVICE bool offsetWithin(u64 position, u32 elementSize, u64 bytes, u64 size,
                                SLUICE_OUT(u64, offset)) {
    offset = scale64(position, elementSize); // no overflow: position < 2^59 (next line), size <= 20
    return highWord(position) < 1u << 27 && !less64(size, bytes) &&
           !less64(sub64(size, bytes), offset);
}

// Returns after how many bytes to split an interval of `bytes` bytes that goes to the address
// `target`. The caller would like to split it after `place` bytes; kNull: nowhere. The split is
// moved up to the next sector of the destination, so that one lane group writes all of a sector.
SLUICE_DEVICE u64 cutAt(u64 target, u64 place, u64 bytes) {
    if (place == kNull) return place;
    place = add64(place, (0u - (lowWord(target) + lowWord(place))) & (kSector - 1u));
    return less64(place, bytes) ? place : bytes;
}

// The bytes of an interval that a lane group copies in a round; none if `bytes` is 0.
struct Piece {
    u64 source, target;
    u32 bytes;
};

// A piece whose bytes are counted from the start of the sector in which it begins. Sectors are
// those of the destination.
struct Run {
    // The addresses of byte 0 of the run. `target` is a multiple of kSector; `source` is rounded
    // down to a multiple of 16.
    u64 source, target;
    u32 shift;     // bytes by which source was rounded down
    u32 lead, end; // the piece is bytes lead .. end - 1 of the run
    u32 start;     // the number of the run's first sector among the sectors of all runs
};

// Returns the run of a piece; the caller sets `start`.
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

// The whole sectors of a run are the bytes from bodyBegin to bodyEnd.
SLUICE_DEVICE u32 bodyBegin(SLUICE_IN(Run) run) {
    return min((run.lead + kSector - 1u) & ~(kSector - 1u), run.end);
}
SLUICE_DEVICE u32 bodyEnd(SLUICE_IN(Run) run) {
    return max(run.end & ~(kSector - 1u), bodyBegin(run));
}

SLUICE_KERNEL_END
#endif
