// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Stream compaction keeps the elements that pass a test, in order. Part of sluice.h, whose rules
// (ownership, barriers, threads, errors) apply here too.
//
// Method: in each tile the elements get ranks from prefix sums of the keep bits over a subgroup.
// The kept elements are gathered in shared memory and written from there in whole cache lines
// (after Billeter, Olsson, Assarsson: Efficient Stream Compaction on Wide SIMD Many-Core
// Architectures, HPG 2009). In the same pass tiles get their output positions by decoupled
// look-back (Merrill, Garland 2016) with tickets and a fallback, as in sluice_scan.h. A command
// needs one dispatch. Partition needs two. Compaction in place needs several on a device that is
// not known to keep started workgroups running.
#ifndef SLUICE_COMPACT_H
#define SLUICE_COMPACT_H

#include <sluice/sluice.h>
#include <sluice/sluice_scan.h>

#ifdef __cplusplus
extern "C" {
#endif

// Selects elements for a compaction.
typedef enum SluiceCompactTest {
    SLUICE_COMPACT_BYTES = 0,    // selectors has a byte per element, which is not 0
    SLUICE_COMPACT_MASK = 1,     // selectors has a bit per element, which is set
    SLUICE_COMPACT_COMPARE = 2,  // `element comparison constant` is true
    SLUICE_COMPACT_NON_ZERO = 3, // any bit of the element is set
    SLUICE_COMPACT_UNIQUE = 4,   // the element differs from the previous one in any bit, or is the
                                 // first element
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
    // Keeps the elements that the test does not select: COMPARE then removes the matching elements.
    SLUICE_COMPACT_DROP = 4,
    // Also writes the elements that are not kept, after the kept ones, in order.
    SLUICE_COMPACT_PARTITION = 8,
    SLUICE_COMPACT_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceCompactFlags;

// Compacts an array: writes the kept elements, their indices, or both, contiguously and in order.
typedef struct SluiceCompactInfo {
    SluiceCompactTest test;      // selects elements
    SluiceComparison comparison; // COMPARE only
    SluiceValueType type;        // COMPARE only: the type of elements and constant
    // COMPARE only: the bits of a value of the type; the other bits are 0.
    uint64_t constant;
    // Bytes per element: 1, 2, 4, 8, 12, 16 or 20; COMPARE: the size of the type. 12 and 20 are the
    // sizes of VkDrawMeshTasksIndirectCommandEXT and VkDrawIndexedIndirectCommand. For BYTES and
    // MASK with an empty `output` the command ignores elementSize. sluiceGetCompactRequirements
    // treats any other value as 4.
    uint32_t elementSize;
    uint32_t flags;    // SluiceCompactFlags, or-ed
    uint32_t maxCount; // upper limit of the number of elements, 0 .. 2^32 - 1
    // 4 bytes in GPU memory, 4-byte aligned: the number of elements, clamped to maxCount. If this
    // range is empty (size 0), there are maxCount elements.
    SluiceBuffer count;
    // maxCount elements, aligned to their size (to 4 bytes if that is 12 or 20). Not read for BYTES
    // and MASK with an empty `output`. Elements of 1 and 2 bytes are read in whole words, so the
    // handle must reach to the next multiple of 4 after the end. Elements of 4 bytes and more are
    // read faster if input is 16-byte aligned.
    SluiceBuffer input;
    // 4-byte aligned. BYTES: maxCount bytes, rounded up to a multiple of 4. MASK: (maxCount + 31) /
    // 32 words of 4 bytes; the bit of element i is bit i % 32 of word i / 32. Everything past the
    // count is ignored.
    SluiceBuffer selectors;
    // Receives the kept elements, aligned like input; size 0: they are not written. Elements
    // past output.size / elementSize are counted but dropped. output may be the input (the same
    // handle and offset), except with PARTITION or indices: the elements that fit are then
    // compacted in place. With any other overlap the values inside output are undefined.
    SluiceBuffer output;
    // Receives the indices of the kept elements as 4-byte aligned words; size 0: they are not
    // written. Indices past indices.size / 4 are counted but dropped. It must not overlap the other
    // buffers.
    SluiceBuffer indices;
    // 4 bytes, 4-byte aligned: receives the number of kept elements, including those that did not
    // fit. If this range is empty (size 0), the number is not written.
    SluiceBuffer resultCount;
    // 4 bytes, 4-byte aligned: receives a workgroup or instance count for an indirect command,
    //   min(ceil(kept / argumentDivisor), argumentLimit)
    // `kept` includes elements that did not fit, so set argumentLimit to the largest count that
    // fits. If this range is empty (size 0), the count is not written.
    SluiceBuffer argument;
    uint32_t argumentDivisor; // 0 counts as 1
    uint32_t argumentLimit;   // 0: no limit
    // The size and alignment that sluiceGetCompactRequirements returns. It must be zeroed
    // (SluiceRequirements::zeroedScratch).
    SluiceBuffer scratch;
} SluiceCompactInfo;

// Scratch is 16-byte aligned and has at most 16 bytes plus 8 per 512 elements (elements of 1 to 4
// bytes: per 2,048; of 8 bytes: per 1,024). Reads only elementSize and maxCount. Errors: ARGUMENT.
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
