// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Gstd: sluice's own LZ codec. A tile decodes to at most 256 KiB and stands alone. It is cut into
// parts whose symbols, rANS and Huffman codes over 32 lanes, are decoded all at once; then the
// copies follow, many bytes at once, in an order whose depth the format bounds. docs/format.md,
// section 7, specifies it bit by bit; the encoder is in sluice_encode.h.
#ifndef SLUICE_GSTD_H
#define SLUICE_GSTD_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Decodes a list of Gstd tiles. A tile that fails leaves unspecified bytes inside its own
// destination range; docs/format.md 7.7 has its statuses. Whatever the compressed bytes are, the
// work of a tile is bounded by its sizes, and nothing is read outside source nor written outside
// destination, status and scratch.
typedef struct SluiceGstdInfo {
    // The list has at most this many regions, 0 .. 2^24.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 32.
    uint32_t regionStride;
    // SLUICE_DECODE_STORED_IF_EQUAL or 0.
    uint32_t flags;
    // At most this many tiles are decoded at the same time: memory for speed. 0: SLUICE_GSTD_SLOTS.
    // If it is less than maxRegionCount, tiles go in turns of half as many, two dispatches a turn.
    // Large GPUs need more for long lists (docs/performance.md).
    uint32_t tilesAtOnce;
    // (maxRegionCount - 1) * regionStride + 32 bytes or more, 8-byte aligned: SluiceRegions with
    // compressedSize 1 .. 262,400 and decompressedSize 1 .. 262,144.
    SluiceBuffer regions;
    // 4 bytes in GPU memory, 4-byte aligned: how many regions are decoded, clamped to
    // maxRegionCount. If its size is 0, maxRegionCount regions are.
    SluiceBuffer regionCount;
    // Every region's compressed bytes must lie wholly inside it, else the region gets BAD_REGION.
    // Reads are whole words: the handle must reach to the next multiple of 4 after each region's
    // end.
    SluiceBuffer source;
    // Every region's output must lie wholly inside it, else the region gets BAD_REGION. Regions
    // must not overlap each other (values are undefined then, still inside destination). It must
    // not overlap source: if both are ranges of one handle this gives ARGUMENT; if they meet
    // through different handles nothing is promised.
    SluiceBuffer destination;
    // maxRegionCount * 4 bytes, 4-byte aligned, or of size 0: checksums, as in SluiceGdeflateInfo.
    SluiceBuffer expected;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned: statuses, as in SluiceGdeflateInfo.
    SluiceBuffer status;
    // As sluiceGetGstdRequirements says: min(maxRegionCount, tilesAtOnce) * SLUICE_GSTD_SLOT_SIZE
    // bytes; on the CPU some 100 KB whatever the list, and none with its tier "ref".
    SluiceBuffer scratch;
} SluiceGstdInfo;

// Bytes for the sequences of one tile and the statuses of its parts.
#define SLUICE_GSTD_SLOT_SIZE 524544u
#define SLUICE_GSTD_SLOTS 512u // tiles at once, if tilesAtOnce is 0

// Reads maxRegionCount, flags and tilesAtOnce only. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetGstdRequirements(SluiceContext context, const SluiceGstdInfo* info,
                                                  SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdGstd(SluiceContext context, SluiceCommands commands,
                                      const SluiceGstdInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_GSTD_H
