// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Gstd: sluice's own LZ codec. A tile decodes to at most 256 KiB and stands alone. It is cut into
// parts whose symbols, rANS and Huffman codes over 32 lanes, are decoded all at once; then the
// copies follow, many bytes at once, in an order whose depth the format bounds. docs/format.md,
// section 7, has it bit by bit; the encoder is in sluice_encode.h.
#ifndef SLUICE_GSTD_H
#define SLUICE_GSTD_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Decodes a list of Gstd tiles.
//   maxRegionCount  regions in the list at most, 0 .. 2^24
//   regionStride    bytes from one region to the next, a multiple of 4, at least 32
//   flags           SLUICE_DECODE_STORED_IF_EQUAL or 0
//   regions         8-byte aligned, (maxRegionCount - 1) * regionStride + 32 bytes or more. Each
//                   region is a SluiceRegion with compressedSize 1 .. 262,400 and decompressedSize
//                   1 .. 262,144
//   regionCount     4 bytes in GPU memory, 4-byte aligned: how many regions to decode, clamped to
//                   maxRegionCount; size 0: maxRegionCount regions
//   source          every region's compressed bytes must lie wholly inside it, else BAD_REGION.
//                   Reads are whole words: the handle must reach to the next multiple of 4 after
//                   each region's end
//   destination     every region's output must lie wholly inside it, else BAD_REGION. Regions must
//                   not overlap each other (undefined values, still inside destination). Must not
//                   overlap source: ARGUMENT where both are ranges of one handle, and nothing is
//                   promised where they meet through different ones
//   expected        maxRegionCount * 4 bytes, 4-byte aligned: the checksum that each region must
//                   have; size 0: none. As in SluiceGdeflateInfo
//   status          (maxRegionCount + 2) * 4 bytes, 4-byte aligned. As in SluiceGdeflateInfo
//   tilesAtOnce     how many tiles are decoded at the same time, at most: memory for speed. 0:
//                   SLUICE_GSTD_SLOTS. If that is fewer than maxRegionCount they go in turns of
//                   half as many tiles, two dispatches a turn. Large GPUs want more for long lists
//                   (docs/performance.md)
//   scratch         as required: min(maxRegionCount, tilesAtOnce) * SLUICE_GSTD_SLOT_SIZE bytes;
//                   on the CPU some 100 KB whatever the list, with its tier "ref" none
// A tile that fails leaves unspecified bytes inside its own destination range. Statuses:
// docs/format.md 7.7. Whatever the compressed bytes are, the work of a tile is bounded by its
// sizes, and nothing is read outside source nor written outside destination, status and scratch.
// Barriers: as for every command; those between its passes are recorded by the call. Thread-safe
// like sluiceCmdGdeflate.
typedef struct SluiceGstdInfo {
    uint32_t maxRegionCount;
    uint32_t regionStride;
    uint32_t flags;
    uint32_t tilesAtOnce;
    SluiceBuffer regions;
    SluiceBuffer regionCount;
    SluiceBuffer source;
    SluiceBuffer destination;
    SluiceBuffer expected;
    SluiceBuffer status;
    SluiceBuffer scratch;
} SluiceGstdInfo;

// bytes: the sequences of one tile, and what became of its parts
#define SLUICE_GSTD_SLOT_SIZE 524544u
#define SLUICE_GSTD_SLOTS 512u

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
