// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Intervals are runs of consecutive elements, of any length. One command expands, moves, gathers or
// scatters all intervals of a list, and divides the work evenly whatever their lengths. The
// load-balancing search that does this is also available on its own, and so are bulk remove and
// insert. Part of sluice.h, whose rules (ownership, barriers, threads, errors) apply here too.
//
// Method: the load-balancing search of Baxter, moderngpu (2013), which is based on the merge path
// of Odeh, Green, Mwassi, Shmueli, Birk (2012). The total work, which is the elements plus a
// constant cost per interval, is divided into equal shares, one per group of 32 lanes. Each group
// finds its first interval by a search over the prefix sums of every 128th count. It scans the
// counts from there, 32 intervals at a time, marks in shared memory where intervals begin, and
// counts marks to find the interval of each piece of its output. So no distribution of lengths is
// slow, neither one huge interval among millions of tiny ones nor only empty ones.
#ifndef SLUICE_INTERVAL_H
#define SLUICE_INTERVAL_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Every command below writes two words to its `result`, which is 4-byte aligned. If `result` is
// empty (size 0), they are not written.
//   word 0   total number of elements of the intervals, or for the bulk operations of the finished
//            array; at most 2^32 - 1
//   word 1   SluiceIntervalFlags, or-ed
typedef enum SluiceIntervalFlags {
    // The counts add up to 2^32 - 1 or more. Elements with index 2^32 - 1 or more are dropped.
    SLUICE_INTERVAL_SATURATED = 1,
    // The destination is too small for all elements. Those past its end, in the order of the
    // intervals, are dropped. For moves and scatters these are the elements with index i where i >=
    // destination.size / elementSize.
    SLUICE_INTERVAL_TRUNCATED = 2,
    // At least one interval that is not empty lies partly outside the source or the destination.
    // The whole interval was skipped.
    SLUICE_INTERVAL_SKIPPED = 4,
    SLUICE_INTERVAL_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceIntervalFlags;

// A list of intervals; lengths are in elements. Exactly one of counts and offsets must have a size.
// If maxCount is 0, neither needs a size. The lengths may add up to 2^32 - 1 elements (up to 80 GiB
// in moves).
typedef struct SluiceIntervals {
    uint32_t maxCount; // upper limit of the number of intervals, 0 .. 2^32 - 1
    // 4 bytes in GPU memory, 4-byte aligned: the number of intervals, clamped to maxCount. If this
    // range is empty (size 0), there are maxCount intervals.
    SluiceBuffer count;
    // maxCount * 4 bytes, 4-byte aligned: u32 lengths, 0 for an empty interval.
    SluiceBuffer counts;
    // (maxCount + 1) * 4 bytes, 4-byte aligned, used instead of counts: interval i holds the
    // elements [offsets[i], offsets[i + 1]) (CSR row offsets), so no scan is needed. The offsets
    // must not decrease; otherwise it is undefined which elements are moved.
    SluiceBuffer offsets;
} SluiceIntervals;

// Returns the scratch of the three commands on intervals, 4-byte aligned: at most (maxCount / 128 +
// 1,100) * 4 bytes with counts, none with offsets. Reads only maxCount and the sizes of counts and
// offsets. Errors: ARGUMENT (a NULL; both counts and offsets, or neither, unless maxCount is 0).
SLUICE_API SluiceStatus sluiceGetIntervalRequirements(SluiceContext context,
                                                      const SluiceIntervals* intervals,
                                                      SluiceRequirements* requirements);

// -----------------------------------------------------------------------------------------------
// Expand

// Writes values[i] counts[i] times, for each interval in order: {7, 8, 9} with the counts {2, 0, 3}
// gives {7, 7, 9, 9, 9}. destination must not overlap anything that the command reads, otherwise
// its contents are undefined.
typedef struct SluiceIntervalExpandInfo {
    uint32_t elementSize;      // bytes, 1 .. 20; the sizes 1, 2, 4, 8 and 16 are fast
    SluiceIntervals intervals; // the list
    // intervals.maxCount * elementSize bytes, aligned to elementSize if that is a power of two,
    // otherwise unaligned.
    SluiceBuffer values;
    // Aligned like values. Bytes past the last whole element (destination.size / elementSize) are
    // left alone.
    SluiceBuffer destination;
    SluiceBuffer result;  // 8 bytes, or empty (see SluiceIntervalFlags)
    SluiceBuffer scratch; // size and alignment as in sluiceGetIntervalRequirements
} SluiceIntervalExpandInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdIntervalExpand(SluiceContext context, SluiceCommands commands,
                                                const SluiceIntervalExpandInfo* info);

// -----------------------------------------------------------------------------------------------
// Move, gather, scatter

typedef enum SluiceIntervalMoveKind {
    SLUICE_INTERVAL_MOVE = 0,    // interval i: source[gather[i] ..] to destination[scatter[i] ..]
    SLUICE_INTERVAL_GATHER = 1,  // source[gather[i] ..] to interval i's position in the contiguous
                                 // sequence of intervals
    SLUICE_INTERVAL_SCATTER = 2, // interval i's position in the contiguous sequence of intervals to
                                 // destination[scatter[i] ..]
    SLUICE_INTERVAL_MOVE_KIND_MAX_ENUM = 0x7fffffff
} SluiceIntervalMoveKind;

// Copies the elements of every interval: many memory copies in one command. destination must not
// overlap anything that the command reads, otherwise its contents are undefined. Tiers without
// 8-bit stores (see SluiceContextInfo::byteStores) write the words at the ends of intervals
// atomically. Nothing else may then write the words around an interval's destination at the same
// time, and the handle must reach to the boundaries of those words.
typedef struct SluiceIntervalMoveInfo {
    SluiceIntervalMoveKind kind; // selects the positions that are given
    // Bytes, 1 .. 20. All sizes are equally fast. Elements need no alignment, so an elementSize of
    // 1 copies any bytes to any place.
    uint32_t elementSize;
    // Bytes per entry of gather and scatter: 4 (u32) or 8 (u64). Entries are in elements.
    uint32_t positionSize;
    SluiceIntervals intervals; // the list
    // intervals.maxCount * positionSize bytes, aligned to positionSize: the start of each interval
    // in source. Not read for SCATTER.
    SluiceBuffer gather;
    // intervals.maxCount * positionSize bytes, aligned to positionSize: the start of each interval
    // in destination. Not read for GATHER.
    SluiceBuffer scatter;
    // Any alignment. An interval that is not completely inside source is skipped (SKIPPED). On
    // Vulkan reads are whole words, so the handle must reach to the word boundaries around the
    // range.
    SluiceBuffer source;
    // Any alignment. An interval that is not completely inside destination is skipped (SKIPPED).
    // For GATHER the elements past the end are dropped instead (TRUNCATED). Where the destinations
    // of intervals overlap, the bytes are undefined.
    SluiceBuffer destination;
    SluiceBuffer result;  // 8 bytes, or empty (see SluiceIntervalFlags)
    SluiceBuffer scratch; // size and alignment as in sluiceGetIntervalRequirements
} SluiceIntervalMoveInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdIntervalMove(SluiceContext context, SluiceCommands commands,
                                              const SluiceIntervalMoveInfo* info);

// -----------------------------------------------------------------------------------------------
// Load-balancing search

// Writes for each element, in the order of the intervals, the index of its interval and its rank in
// that interval: the counts {2, 0, 3} give the sources {0, 0, 2, 2, 2} and the ranks {0, 1, 0, 1,
// 2}. At least one of sources and ranks must have a size. If both have one, the smaller bounds both
// (TRUNCATED).
typedef struct SluiceIntervalSearchInfo {
    SluiceIntervals intervals; // the list
    SluiceBuffer sources;      // receives u32 interval indices, 4-byte aligned; size 0: not written
    SluiceBuffer ranks;        // receives u32 ranks, 4-byte aligned; size 0: not written
    SluiceBuffer result;       // 8 bytes, or empty (see SluiceIntervalFlags)
    SluiceBuffer scratch;      // size and alignment as in sluiceGetIntervalRequirements
} SluiceIntervalSearchInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdIntervalSearch(SluiceContext context, SluiceCommands commands,
                                                const SluiceIntervalSearchInfo* info);

// -----------------------------------------------------------------------------------------------
// Bulk remove and insert

// Remove deletes the items at `indices` and closes the gaps. Insert inserts an item before each
// item that `indices` names. destination must not overlap anything that the command reads,
// otherwise its contents are undefined. No scratch is needed.
typedef struct SluiceBulkInfo {
    uint32_t elementSize;  // bytes, 1 .. 20; items need no alignment
    uint32_t maxItemCount; // upper limit of the number of items in source, 0 .. 2^32 - 1
    // Upper limit of the number of indices, 0 .. 2^32 - 2. For an insert maxItemCount +
    // maxIndexCount is at most 2^32 - 1.
    uint32_t maxIndexCount;
    // 4 bytes in GPU memory, 4-byte aligned: the number of items, clamped to maxItemCount. If this
    // range is empty (size 0), there are maxItemCount items.
    SluiceBuffer itemCount;
    // 4 bytes in GPU memory, 4-byte aligned: the number of indices, clamped to maxIndexCount. If
    // this range is empty (size 0), there are maxIndexCount indices.
    SluiceBuffer indexCount;
    // maxIndexCount * 4 bytes, 4-byte aligned. Remove: strictly ascending and less than the item
    // count. Insert: ascending, where equal ones are allowed, and at most the item count (which
    // appends). Otherwise the destination's contents are undefined.
    SluiceBuffer indices;
    // maxItemCount * elementSize bytes. On Vulkan reads are whole words, so the handle must reach
    // to the word boundaries around the range.
    SluiceBuffer source;
    // Insert: maxIndexCount * elementSize bytes; inserted[j] goes before source[indices[j]].
    // Remove: ignored.
    SluiceBuffer inserted;
    // Items that do not fit are dropped (TRUNCATED). Tiers without 8-bit stores write the words at
    // the ends atomically: nothing else may write them at the same time, and the handle must reach
    // to their boundaries.
    SluiceBuffer destination;
    SluiceBuffer result; // 8 bytes, or empty (see SluiceIntervalFlags)
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
