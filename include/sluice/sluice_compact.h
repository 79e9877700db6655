// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Stream compaction keeps the elements that pass a test, in order. Part of sluice.h, whose rules
// (ownership, barriers, threads, errors) hold here too.
//
// Method: in each tile elements get ranks from prefix sums of the keep bits over a subgroup; kept
// ones are gathered in shared memory and written from there in whole lines (after Billeter, Olsson,
// Assarsson: Efficient Stream Compaction on Wide SIMD Many-Core Architectures, HPG 2009). Tiles are
// placed in the same pass by decoupled look-back (Merrill, Garland 2016) with tickets and a
// fallback, as in sluice_scan.h. One dispatch; partition needs two, and compaction in place several
// on a device that is not known to keep started workgroups going.
#ifndef SLUICE_COMPACT_H
#define SLUICE_COMPACT_H

#include <sluice/sluice.h>
#include <sluice/sluice_scan.h>

#ifdef __cplusplus
extern "C" {
#endif

// Says which elements a compaction selects.
typedef enum SluiceCompactTest {
    SLUICE_COMPACT_BYTES = 0,    // selectors holds a byte for each element: not 0
    SLUICE_COMPACT_MASK = 1,     // selectors holds a bit for each element: set
    SLUICE_COMPACT_COMPARE = 2,  // `element comparison constant` is true
    SLUICE_COMPACT_NON_ZERO = 3, // any bit of the element is set
    SLUICE_COMPACT_UNIQUE = 4,   // the element differs from the one before it in any bit; the first
                                 // element always does
    SLUICE_COMPACT_TEST_MAX_ENUM = 0x7fffffff
} SluiceCompactTest;

// f32 compares by IEEE 754: -0 equals 0, and a NaN on either side makes every comparison false
// except NOT_EQUAL.
typedef enum SluiceComparison {
    SLUICE_COMPARE_EQUAL = 0,
    SLUICE_COMPARE_NOT_EQUAL = 1,
    SLUICE_COMPARE_LESS = 2,
    SLUICE_COMPARE_LESS_EQUAL = 3,
    SLUICE_COMPARE_GREATER = 4,
    SLUICE_COMPARE_GREATER_EQUAL = 5,
    SLUICE_COMPARISON_MAX_ENUM = 0x7fffffff
} SluiceComparison;

typedef enum SluiceCompactFlags {
    // Keep what the test does not select: with COMPARE this removes.
    SLUICE_COMPACT_DROP = 4,
    // Write the elements that are not kept too, behind the kept ones, in order.
    SLUICE_COMPACT_PARTITION = 8,
    SLUICE_COMPACT_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceCompactFlags;

// Compacts an array: writes the kept elements, or their indices, or both, without gaps and in
// order.
typedef struct SluiceCompactInfo {
    SluiceCompactTest test;      // what selects an element
    SluiceComparison comparison; // COMPARE only
    SluiceValueType type;        // COMPARE only: the type of elements and constant
    // COMPARE only: the bits of a value of the type, the rest of it 0.
    uint64_t constant;
    // Bytes of an element: 1, 2, 4, 8 or 16; COMPARE: that of the type. BYTES and MASK without
    // output: ignored.
    uint32_t elementSize;
    uint32_t flags;    // SluiceCompactFlags, or-ed
    uint32_t maxCount; // the input has at most this many elements, 0 .. 2^32 - 1
    // 4 bytes in GPU memory, 4-byte aligned: how many elements there are, clamped to maxCount. If
    // its size is 0, there are maxCount.
    SluiceBuffer count;
    // maxCount elements, aligned to their size; BYTES and MASK without output: not read. Elements
    // of 1 and 2 bytes are read in whole words: the handle must reach to the next multiple of 4
    // after the end. From 4 bytes on 16-byte alignment is faster.
    SluiceBuffer input;
    // BYTES: maxCount bytes, rounded up to a multiple of 4. MASK: (maxCount + 31) / 32 words of 4
    // bytes; the bit of element i is bit i % 32 of word i / 32. 4-byte aligned. Everything past the
    // count is ignored.
    SluiceBuffer selectors;
    // Receives elements, aligned to their size; size 0: none. Elements past
    // output.size / elementSize are dropped, though counted. It may be the input (the same handle
    // and offset), except with PARTITION or indices: then those that fit are compacted in place.
    // With any other overlap the values inside output are undefined.
    SluiceBuffer output;
    // Receives the elements' indices, 4-byte aligned words; size 0: none. Indices past
    // indices.size / 4 are dropped, though counted. It must not overlap the other buffers.
    SluiceBuffer indices;
    // 4 bytes, 4-byte aligned: receives how many elements were kept, also those that did not fit.
    // If its size is 0, it is not written.
    SluiceBuffer resultCount;
    // 4 bytes, 4-byte aligned: receives a workgroup or instance count of an indirect command,
    //   min(ceil(kept / argumentDivisor), argumentLimit)
    // `kept` includes elements that did not fit, so set argumentLimit to what does. If its size is
    // 0, it is not written.
    SluiceBuffer argument;
    uint32_t argumentDivisor; // 0 counts as 1
    uint32_t argumentLimit;   // 0: there is none
    // As sluiceGetCompactRequirements says; zeroed (see SluiceRequirements).
    SluiceBuffer scratch;
} SluiceCompactInfo;

// Scratch is 16 bytes and 8 for every 512 elements at most (elements of 1 to 4 bytes: for every
// 2,048; of 8: for every 1,024), and 16-byte aligned. Reads elementSize and maxCount only. Errors:
// ARGUMENT.
SLUICE_API SluiceStatus sluiceGetCompactRequirements(SluiceContext context,
                                                     const SluiceCompactInfo* info,
                                                     SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdCompact(SluiceContext context, SluiceCommands commands,
                                         const SluiceCompactInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_COMPACT_H
