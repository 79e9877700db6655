// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Scans and reductions: prefix sums, minima and maxima of an array, in segments or as a whole, and
// one value for all of it. Part of sluice.h, whose rules (ownership, barriers, threads, errors)
// hold here too.
//
// Method: single-pass scan with decoupled look-back (Merrill, Garland 2016): each tile publishes
// its own value, then looks back at what the tiles before it have published. On Vulkan tiles are
// handed out by an atomic ticket, and a workgroup that has waited too long computes the missing
// tile itself (decoupled fallback: Smith, Levien, Owens, SPAA 2025); no kernel depends on the
// progress of another workgroup. One dispatch a command. Sums of f32 are reduced, then scanned, in
// two dispatches, so that the order of their additions is fixed.
#ifndef SLUICE_SCAN_H
#define SLUICE_SCAN_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// The types of elements that primitives calculate with.
typedef enum SluiceValueType {
    SLUICE_VALUE_U32 = 0,
    SLUICE_VALUE_I32 = 1,
    SLUICE_VALUE_U64 = 2,
    SLUICE_VALUE_F32 = 3,
    SLUICE_VALUE_U8 = 4,  // comparisons only
    SLUICE_VALUE_U16 = 5, // comparisons only
    SLUICE_VALUE_TYPE_MAX_ENUM = 0x7fffffff
} SluiceValueType;

// Elements are combined by one of these. Its identity is the value of no elements. MIN and MAX of
// f32 leave NaN out (it counts as the identity) and order -0 before 0; they are bit for bit the
// same everywhere.
typedef enum SluiceOperation {
    // Its identity is 0. Integers wrap modulo 2^32 or 2^64. An f32 sum depends on the order of its
    // additions: it has the same bits from run to run on one device and tier, and differs from the
    // exact sum by at most 512 * 2^-24 times the sum of the absolute values.
    SLUICE_OPERATION_SUM = 0,
    SLUICE_OPERATION_MIN = 1, // its identity: the largest value of the type; infinity for f32
    SLUICE_OPERATION_MAX = 2, // its identity: the smallest value; minus infinity for f32
    SLUICE_OPERATION_MAX_ENUM = 0x7fffffff
} SluiceOperation;

typedef enum SluiceScanKind {
    SLUICE_SCAN_EXCLUSIVE = 0, // output[i] = input[0 .. i-1] combined; output[0] is the identity
    SLUICE_SCAN_INCLUSIVE = 1, // output[i] = input[0 .. i] combined
    SLUICE_SCAN_KIND_MAX_ENUM = 0x7fffffff
} SluiceScanKind;

// Scans an array.
typedef struct SluiceScanInfo {
    SluiceScanKind kind;       // says whether element i counts for its own output
    SluiceOperation operation; // what elements are combined by
    SluiceValueType type;      // U32, I32, U64 or F32
    uint32_t maxCount;         // the input has at most this many elements, 0 .. 2^32 - 1
    // 4 bytes in GPU memory, 4-byte aligned: how many elements there are, clamped to maxCount. If
    // its size is 0, there are maxCount.
    SluiceBuffer count;
    // maxCount elements of 4 bytes (u64: 8), aligned to their size. It is faster if it and output
    // are 16-byte aligned.
    SluiceBuffer input;
    // maxCount elements, aligned to their size. It may start where input starts; any other overlap
    // gives undefined values inside output. Elements past the count are left alone.
    SluiceBuffer output;
    // Segmented scan: (maxCount + 31) / 32 words of 4 bytes, 4-byte aligned; bit i % 32 of word
    // i / 32 is set where a segment begins. Each segment is scanned on its own; element 0 begins
    // one in any case. Bits past the count are ignored. If its size is 0, there is one segment.
    SluiceBuffer heads;
    // One element, aligned to its size: receives all elements (of the last segment) combined, the
    // identity if there are none. If its size is 0, it is not written. It must not overlap the
    // other buffers.
    SluiceBuffer total;
    // As sluiceGetScanRequirements says; zeroed (see SluiceRequirements).
    SluiceBuffer scratch;
} SluiceScanInfo;

// Scratch is 16 bytes and 8 (u64: 16) for every 2,048 elements at most, and 16-byte aligned. Reads
// operation, type and maxCount only. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetScanRequirements(SluiceContext context, const SluiceScanInfo* info,
                                                  SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdScan(SluiceContext context, SluiceCommands commands,
                                      const SluiceScanInfo* info);

// Combines all elements of an array into one value. One dispatch: each workgroup combines its
// share, the last one to finish combines theirs, always in the same order.
typedef struct SluiceReduceInfo {
    SluiceOperation operation; // what elements are combined by
    SluiceValueType type;      // U32, I32, U64 or F32
    uint32_t maxCount;         // the input has at most this many elements, 0 .. 2^32 - 1
    // 4 bytes in GPU memory, 4-byte aligned: how many elements there are, clamped to maxCount. If
    // its size is 0, there are maxCount.
    SluiceBuffer count;
    // maxCount elements of 4 bytes (u64: 8), aligned to their size.
    SluiceBuffer input;
    // One element, aligned to its size; the identity if there are no elements. It must not overlap
    // the others.
    SluiceBuffer result;
    // As sluiceGetReduceRequirements says; zeroed (see SluiceRequirements).
    SluiceBuffer scratch;
} SluiceReduceInfo;

// Scratch is 33 KiB at most. Reads operation, type and maxCount only. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetReduceRequirements(SluiceContext context,
                                                    const SluiceReduceInfo* info,
                                                    SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdReduce(SluiceContext context, SluiceCommands commands,
                                        const SluiceReduceInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_SCAN_H
