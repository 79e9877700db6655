// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Scans and reductions. A scan computes prefix sums, minima or maxima of an array, of the whole
// array or per segment; a reduction computes one value for the whole array. Part of sluice.h, whose
// rules (ownership, barriers, threads, errors) apply here too.
//
// Method: single-pass scan with decoupled look-back (Merrill, Garland 2016). Each tile publishes
// its own value, then looks back at the values that the tiles before it have published. On Vulkan
// an atomic ticket assigns tiles to workgroups, and a workgroup that has waited too long computes
// the missing tile itself (decoupled fallback: Smith, Levien, Owens, SPAA 2025). So no kernel
// depends on the progress of another workgroup. A command needs one dispatch. Sums of f32 need two,
// a reduction and a scan, so that the order of their additions is fixed.
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

// The operation that combines elements. Its identity is the result for no elements. MIN and MAX of
// f32 ignore NaN (it counts as the identity) and order -0 before 0. They give the same bits
// everywhere.
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
    SluiceScanKind kind;       // inclusive or exclusive
    SluiceOperation operation; // combines the elements
    SluiceValueType type;      // U32, I32, U64 or F32
    uint32_t maxCount;         // upper limit of the number of elements, 0 .. 2^32 - 1
    // 4 bytes in GPU memory, 4-byte aligned: the number of elements, clamped to maxCount. If this
    // range is empty (size 0), there are maxCount elements.
    SluiceBuffer count;
    // maxCount elements of 4 bytes (u64: 8), aligned to their size. The scan is faster if input and
    // output are 16-byte aligned.
    SluiceBuffer input;
    // maxCount elements, aligned to their size. It may start where input starts; with any other
    // overlap the values inside output are undefined. Elements past the count are left alone.
    SluiceBuffer output;
    // Segmented scan: (maxCount + 31) / 32 words of 4 bytes, 4-byte aligned; bit i % 32 of word i /
    // 32 is set if a segment begins at element i. Each segment is scanned separately. Element 0
    // always begins a segment. Bits past the count are ignored. If this range is empty (size 0),
    // there is one segment.
    SluiceBuffer heads;
    // One element, aligned to its size: receives the combination of all elements (of the last
    // segment), or the identity if there are none. If this range is empty (size 0), total is not
    // written. It must not overlap the other buffers.
    SluiceBuffer total;
    // The size and alignment that sluiceGetScanRequirements returns. It must be zeroed
    // (SluiceRequirements::zeroedScratch).
    SluiceBuffer scratch;
} SluiceScanInfo;

// Scratch is 16-byte aligned and has at most 16 bytes plus 8 (u64: 16) per 2,048 elements. Reads
// only operation, type and maxCount. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetScanRequirements(SluiceContext context, const SluiceScanInfo* info,
                                                  SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdScan(SluiceContext context, SluiceCommands commands,
                                      const SluiceScanInfo* info);

// Combines all elements of an array into one value, in one dispatch. Each workgroup combines its
// share of the elements. The last workgroup to finish combines the results of all workgroups,
// always in the same order.
typedef struct SluiceReduceInfo {
    SluiceOperation operation; // combines the elements
    SluiceValueType type;      // U32, I32, U64 or F32
    uint32_t maxCount;         // upper limit of the number of elements, 0 .. 2^32 - 1
    // 4 bytes in GPU memory, 4-byte aligned: the number of elements, clamped to maxCount. If this
    // range is empty (size 0), there are maxCount elements.
    SluiceBuffer count;
    // maxCount elements of 4 bytes (u64: 8), aligned to their size.
    SluiceBuffer input;
    // One element, aligned to its size: receives the value, or the identity if there are no
    // elements. It must not overlap the other buffers.
    SluiceBuffer result;
    // The size and alignment that sluiceGetReduceRequirements returns. It must be zeroed
    // (SluiceRequirements::zeroedScratch).
    SluiceBuffer scratch;
} SluiceReduceInfo;

// Scratch is at most 33 KiB. Reads only operation, type and maxCount. Errors: ARGUMENT.
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
