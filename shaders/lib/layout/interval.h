// SPDX-License-Identifier: MIT OR Apache-2.0
// Intervals: expansion, moves, search and bulk operations.
#ifndef SLUICE_LAYOUT_INTERVAL_H
#define SLUICE_LAYOUT_INTERVAL_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Passes of interval_plan.comp.
#define SLUICE_PASS_REDUCE 0u
#define SLUICE_PASS_APPLY 1u

// A batch is this many counts. One prefix sum is stored per batch.
#define SLUICE_INTERVAL_BATCH 128u
// A workgroup of interval_plan.comp sums ROUND counts at a time, and there are at most MAX_GROUPS
// groups of counts.
#define SLUICE_INTERVAL_ROUND 2048u
#define SLUICE_INTERVAL_MAX_GROUPS 1024u
// Scratch consists of words: the sum of all counts, the prefix sum of each group, then the prefix
// sum of each batch within its group.
#define SLUICE_INTERVAL_GROUPS_AT 1u
#define SLUICE_INTERVAL_BATCHES_AT 1025u
// A share is the work of one lane group. Where lane groups are subgroups, a workgroup has this many
// shares.
#define SLUICE_INTERVAL_SHARES 4u
// When work is divided, each interval counts as additional elements of this many bytes together, at
// least one element.
#define SLUICE_INTERVAL_COST_BYTES 32u

// These say what IntervalParams::counts holds: lengths, offsets in CSR form, or the sorted indices
// of a bulk operation, which removes or inserts items.
#define SLUICE_INTERVAL_COUNTS 0u
#define SLUICE_INTERVAL_OFFSETS 1u
#define SLUICE_INTERVAL_REMOVED 2u
#define SLUICE_INTERVAL_INSERTED 3u

// These say what interval_move.comp does; the first three are those of SluiceIntervalMoveKind.
#define SLUICE_INTERVAL_KIND_MOVE 0u
#define SLUICE_INTERVAL_KIND_GATHER 1u
#define SLUICE_INTERVAL_KIND_SCATTER 2u
#define SLUICE_INTERVAL_KIND_REMOVE 3u
#define SLUICE_INTERVAL_KIND_INSERT 4u

// Flags have the values of SluiceIntervalFlags.
#define SLUICE_INTERVAL_FLAG_SATURATED 1u
#define SLUICE_INTERVAL_FLAG_TRUNCATED 2u
#define SLUICE_INTERVAL_FLAG_SKIPPED 4u

// Push constants of interval_*.comp, which take all of the 128 bytes that every device has.
struct IntervalParams {
    SLUICE_ADDRESS counts;      // or offsets, or indices (see form)
    SLUICE_ADDRESS countBuffer; // 0: maxCount counts
    SLUICE_ADDRESS prefixes;    // scratch
    SLUICE_ADDRESS gather;      // search: ranks; insert: the inserted items
    SLUICE_ADDRESS scatter;     // bulk: the item count in GPU memory, 0: itemCount counts
    SLUICE_ADDRESS source;      // expand: values
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination; // search: sources
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS result_; // 0: not written
    u32 maxCount;           // intervals; bulk: indices
    u32 itemCount;          // bulk
    u32 capacity;           // elements that fit in destination
    u32 form;               // SLUICE_INTERVAL_COUNTS to INSERTED
    u32 kind;               // SLUICE_INTERVAL_KIND_; interval_move.comp
    u32 pass;               // SLUICE_PASS_; interval_plan.comp
    u32 positionBytes;      // bytes of an entry of gather and scatter: 4 or 8
    u32 elementSize;
    u32 tile;   // elements of a small share, the intervals' own cost included
    u32 large;  // elements of a large share; those come first
    u32 tail;   // about this many elements at the end are divided into small shares
    u32 window; // the most elements of a round
};

SLUICE_LAYOUT_END
#endif
