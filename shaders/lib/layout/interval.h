// SPDX-License-Identifier: MIT OR Apache-2.0
// The limits, flags and parameters of the commands that expand, move and search lists of intervals.
#ifndef SLUICE_LAYOUT_INTERVAL_H
#define SLUICE_LAYOUT_INTERVAL_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Passes of interval_plan.comp: REDUCE sums up groups of counts, APPLY scans the groups' sums.
#define SLUICE_PASS_REDUCE 0u
#define SLUICE_PASS_APPLY 1u

// Bytes of the largest element.
#define SLUICE_INTERVAL_MAX_ELEMENT 20u
// A batch is this many intervals. One prefix sum is stored for each batch.
#define SLUICE_INTERVAL_BATCH 128u
// A workgroup of interval_plan.comp sums up this many counts in a round, and takes as many rounds
// as its group of counts needs. The size of a group rises with the length of the list, so that
// there are at most MAX_GROUPS groups.
#define SLUICE_INTERVAL_ROUND 2048u
#define SLUICE_INTERVAL_MAX_GROUPS 1024u
// The scratch consists of words. Word 0 is the sum of all counts. From GROUPS_AT on, each group has
// a word with the sum of all groups before it. From BATCHES_AT on, each batch has a word with the
// sum of all batches before it in its group.
#define SLUICE_INTERVAL_GROUPS_AT 1u
#define SLUICE_INTERVAL_BATCHES_AT 1025u
// A share is the work of one lane group. If lane groups are subgroups, a workgroup has this many
// shares.
#define SLUICE_INTERVAL_SHARES 4u
// The size of a share is counted in elements. Each interval counts as some more elements, because
// finding it is work too: as many as fit into this many bytes, but at least one.
#define SLUICE_INTERVAL_COST_BYTES 32u

// The forms of the list in IntervalParams::counts: the lengths of intervals; offsets (interval i
// goes from offset i to offset i + 1); or ascending indices of items, at which a bulk operation
// removes or inserts items.
#define SLUICE_INTERVAL_COUNTS 0u
#define SLUICE_INTERVAL_OFFSETS 1u
#define SLUICE_INTERVAL_REMOVED 2u
#define SLUICE_INTERVAL_INSERTED 3u

// The kinds of work that interval_move.comp does. The first three have the values of
// SluiceIntervalMoveKind.
#define SLUICE_INTERVAL_KIND_MOVE 0u
#define SLUICE_INTERVAL_KIND_GATHER 1u
#define SLUICE_INTERVAL_KIND_SCATTER 2u
#define SLUICE_INTERVAL_KIND_REMOVE 3u
#define SLUICE_INTERVAL_KIND_INSERT 4u

// Flags of the result, with the values of SluiceIntervalFlags.
#define SLUICE_INTERVAL_FLAG_SATURATED 1u
#define SLUICE_INTERVAL_FLAG_TRUNCATED 2u
#define SLUICE_INTERVAL_FLAG_SKIPPED 4u

// Parameters of interval_*.comp. They take all of the 128 bytes of push constants that every device
// has, so some members serve several commands: a comment "search: ranks" says what a member is for
// the command that it names ("bulk" is a removal or insertion of items).
struct IntervalParams {
    SLUICE_ADDRESS counts;      // or offsets, or indices (see form)
    SLUICE_ADDRESS countBuffer; // 0: maxCount is the number of entries
    SLUICE_ADDRESS prefixes;    // scratch
    SLUICE_ADDRESS gather;      // search: ranks; insert: the inserted items
    SLUICE_ADDRESS scatter;     // bulk: address of the number of items; 0: itemCount is it
    SLUICE_ADDRESS source;      // expand: values
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination; // search: sources
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS result_; // 0: not written
    u32 maxCount;           // the most intervals; bulk: the most indices
    u32 itemCount;          // bulk: the most items
    u32 capacity;           // elements that fit into the destination
    u32 form;               // one of SLUICE_INTERVAL_COUNTS to INSERTED
    u32 kind;               // for interval_move.comp: one of SLUICE_INTERVAL_KIND_
    u32 pass;               // for interval_plan.comp: one of SLUICE_PASS_
    u32 positionBytes;      // bytes of an entry of gather and scatter: 4 or 8
    u32 elementSize;
    u32 tile;   // size of a small share in elements (see COST_BYTES)
    u32 large;  // size of a large share; large shares come before small ones
    u32 tail;   // how much work at the end of the list is cut into small shares
    u32 window; // the most work that a lane group does in one round
};

SLUICE_LAYOUT_END
#endif
