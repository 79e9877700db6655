// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Intervals: runs of elements of any length, expanded, moved, gathered or scattered by one command,
// load-balanced whatever their lengths; the load-balancing search on its own; bulk remove and
// insert. Part of sluice.h, whose rules (ownership, barriers, threads, errors) hold here too.
//
// Method: the load-balancing search of Baxter, moderngpu (2013), which goes back to the merge path
// of Odeh, Green, Mwassi, Shmueli, Birk (2012). The elements, and a constant cost for each
// interval, are cut into equal shares, one a lane group of 32; each finds its first interval by a
// search over the prefix sums of every 128th count, scans the counts from there on, 32 intervals at
// a time, marks in shared memory where they begin, and ranks the pieces of its output by counting
// marks. So no distribution of lengths is slow, neither one huge interval among millions of tiny
// ones nor only empty ones.
#ifndef SLUICE_INTERVAL_H
#define SLUICE_INTERVAL_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Every command below writes two words to its `result`, which is 4-byte aligned; if its size is 0,
// they are not written.
//   word 0   elements that the intervals have in all; those of the finished array for the bulk
//            operations; at most 2^32 - 1
//   word 1   SluiceIntervalFlags, or-ed
typedef enum SluiceIntervalFlags {
    // The counts add up to 2^32 - 1 or more. Elements from number 2^32 - 1 on are dropped.
    SLUICE_INTERVAL_SATURATED = 1,
    // There are more elements than fit in the destination. Those past its end, in the order of the
    // intervals, are dropped (for moves and scatters: element number i where
    // i >= destination.size / elementSize).
    SLUICE_INTERVAL_TRUNCATED = 2,
    // At least one interval that is not empty lies partly outside the source or the destination. It
    // was skipped whole.
    SLUICE_INTERVAL_SKIPPED = 4,
    SLUICE_INTERVAL_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceIntervalFlags;

// A list of intervals; lengths are in elements. Exactly one of counts and offsets has a size; if
// maxCount is 0 neither needs one. The lengths may add up to 2^32 - 1 elements (for moves that is
// up to 64 GiB).
typedef struct SluiceIntervals {
    uint32_t maxCount; // the list has at most this many intervals, 0 .. 2^32 - 1
    // 4 bytes in GPU memory, 4-byte aligned: how many intervals there are, clamped to maxCount. If
    // its size is 0, there are maxCount.
    SluiceBuffer count;
    // maxCount * 4 bytes, 4-byte aligned: u32 lengths, 0 for an empty interval.
    SluiceBuffer counts;
    // (maxCount + 1) * 4 bytes, 4-byte aligned, instead of counts: interval i is [offsets[i],
    // offsets[i + 1]) of the elements in order (CSR row offsets), and nothing is scanned. They must
    // not decrease; otherwise it is undefined which elements are moved.
    SluiceBuffer offsets;
} SluiceIntervals;

// Gives the scratch of the three commands on intervals: with counts (maxCount / 128 + 1,100) * 4
// bytes or less, with offsets none; 4-byte aligned. Reads maxCount and the sizes of counts and
// offsets only.
// Errors: ARGUMENT (a NULL; both counts and offsets, or neither, unless maxCount is 0).
SLUICE_API SluiceStatus sluiceGetIntervalRequirements(SluiceContext context,
                                                      const SluiceIntervals* intervals,
                                                      SluiceRequirements* requirements);

// -----------------------------------------------------------------------------------------------
// Expand

// Writes values[i] counts[i] times, interval after interval: {7, 8, 9} with the counts {2, 0, 3}
// gives {7, 7, 9, 9, 9}. destination must not overlap anything that is read, else its contents are
// undefined.
typedef struct SluiceIntervalExpandInfo {
    uint32_t elementSize;      // bytes, 1 .. 16; sizes 1, 2, 4, 8 and 16 are the fast ones
    SluiceIntervals intervals; // the list
    // intervals.maxCount * elementSize bytes, aligned to elementSize if that is a power of two,
    // else to 1.
    SluiceBuffer values;
    // It is aligned like values; bytes past destination.size / elementSize elements are left alone.
    SluiceBuffer destination;
    SluiceBuffer result;  // 8 bytes or none (see SluiceIntervalFlags)
    SluiceBuffer scratch; // as sluiceGetIntervalRequirements says
} SluiceIntervalExpandInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdIntervalExpand(SluiceContext context, SluiceCommands commands,
                                                const SluiceIntervalExpandInfo* info);

// -----------------------------------------------------------------------------------------------
// Move, gather, scatter

typedef enum SluiceIntervalMoveKind {
    SLUICE_INTERVAL_MOVE = 0,    // interval i: source[gather[i] ..] to destination[scatter[i] ..]
    SLUICE_INTERVAL_GATHER = 1,  // source[gather[i] ..] to where interval i stands in the order of
                                 // the intervals
    SLUICE_INTERVAL_SCATTER = 2, // from where interval i stands in the order of the intervals to
                                 // destination[scatter[i] ..]
    SLUICE_INTERVAL_MOVE_KIND_MAX_ENUM = 0x7fffffff
} SluiceIntervalMoveKind;

// Copies the elements of every interval: many memory copies in one command. destination must not
// overlap anything that is read, else its contents are undefined. On tiers without 8-bit stores
// (see SluiceContextInfo::byteStores) words at the ends of intervals are updated atomically: nobody
// else may write the words around an interval's destination meanwhile, and the handle must reach to
// their boundaries.
typedef struct SluiceIntervalMoveInfo {
    SluiceIntervalMoveKind kind; // which positions are given
    // Bytes, 1 .. 16. All sizes are equally fast; elements have no alignment of their own, so that
    // with an elementSize of 1 any bytes are copied to any place.
    uint32_t elementSize;
    // Bytes of one entry of gather and scatter: 4 (u32) or 8 (u64); entries count elements.
    uint32_t positionSize;
    SluiceIntervals intervals; // the list
    // intervals.maxCount * positionSize bytes, aligned to positionSize: where intervals begin in
    // source. It is not read for SCATTER.
    SluiceBuffer gather;
    // intervals.maxCount * positionSize bytes, aligned to positionSize: where intervals begin in
    // destination. It is not read for GATHER.
    SluiceBuffer scatter;
    // Any alignment. An interval that does not lie wholly inside it is skipped (SKIPPED). On Vulkan
    // reads are whole words: the handle must reach to the word boundaries around the range.
    SluiceBuffer source;
    // Any alignment. An interval that does not lie wholly inside it is skipped (SKIPPED); for
    // GATHER what lies past it is dropped (TRUNCATED). Intervals whose destinations overlap leave
    // undefined bytes there.
    SluiceBuffer destination;
    SluiceBuffer result;  // 8 bytes or none (see SluiceIntervalFlags)
    SluiceBuffer scratch; // as sluiceGetIntervalRequirements says
} SluiceIntervalMoveInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdIntervalMove(SluiceContext context, SluiceCommands commands,
                                              const SluiceIntervalMoveInfo* info);

// -----------------------------------------------------------------------------------------------
// Load-balancing search

// Writes for each element, in the order of the intervals, which interval it belongs to and its rank
// in there: the counts {2, 0, 3} give the sources {0, 0, 2, 2, 2} and the ranks {0, 1, 0, 1, 2}. At
// least one of sources and ranks has a size; the smaller of those given bounds both (TRUNCATED).
typedef struct SluiceIntervalSearchInfo {
    SluiceIntervals intervals; // the list
    SluiceBuffer sources; // receives u32 numbers of intervals, 4-byte aligned; size 0: not written
    SluiceBuffer ranks;   // receives u32 ranks, 4-byte aligned; size 0: not written
    SluiceBuffer result;  // 8 bytes or none (see SluiceIntervalFlags)
    SluiceBuffer scratch; // as sluiceGetIntervalRequirements says
} SluiceIntervalSearchInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdIntervalSearch(SluiceContext context, SluiceCommands commands,
                                                const SluiceIntervalSearchInfo* info);

// -----------------------------------------------------------------------------------------------
// Bulk remove and insert

// Removes the items at `indices` and closes the gaps; or inserts an item before each item named by
// `indices`. destination must not overlap anything that is read, else its contents are undefined.
// No scratch is needed.
typedef struct SluiceBulkInfo {
    uint32_t elementSize;  // bytes, 1 .. 16; items need no alignment
    uint32_t maxItemCount; // source has at most this many items, 0 .. 2^32 - 1
    // There are at most this many indices, 0 .. 2^32 - 2; for an insert
    // maxItemCount + maxIndexCount is at most 2^32 - 1.
    uint32_t maxIndexCount;
    // 4 bytes in GPU memory, 4-byte aligned: how many items there are, clamped to maxItemCount. If
    // its size is 0, there are maxItemCount.
    SluiceBuffer itemCount;
    // 4 bytes in GPU memory, 4-byte aligned: how many indices there are, clamped to maxIndexCount.
    // If its size is 0, there are maxIndexCount.
    SluiceBuffer indexCount;
    // maxIndexCount * 4 bytes, 4-byte aligned. Remove: strictly ascending, below the item count.
    // Insert: ascending, equal ones allowed, at most the item count (which appends). Else the
    // destination's contents are undefined.
    SluiceBuffer indices;
    // maxItemCount * elementSize bytes; word reads as for sluiceCmdIntervalMove.
    SluiceBuffer source;
    // Insert: maxIndexCount * elementSize bytes; inserted[j] goes before source[indices[j]].
    // Remove: ignored.
    SluiceBuffer inserted;
    // Items that do not fit are dropped (TRUNCATED); words at the ends as for
    // sluiceCmdIntervalMove.
    SluiceBuffer destination;
    SluiceBuffer result; // 8 bytes or none (see SluiceIntervalFlags)
} SluiceBulkInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdBulkRemove(SluiceContext context, SluiceCommands commands,
                                            const SluiceBulkInfo* info);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdBulkInsert(SluiceContext context, SluiceCommands commands,
                                            const SluiceBulkInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_INTERVAL_H
