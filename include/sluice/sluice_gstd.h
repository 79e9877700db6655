// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Gstd: sluice's own LZ codec. A tile decodes to at most 256 KiB and does not depend on other
// tiles. It is divided into parts. The symbols of all parts, coded with rANS and Huffman codes over
// 32 lanes, are decoded at once. Then the copies follow, many bytes at once, in an order whose
// depth the format limits. docs/format.md, section 7, specifies the format bit by bit; the encoder
// is in sluice_encode.h.
#ifndef SLUICE_GSTD_H
#define SLUICE_GSTD_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Decodes a list of Gstd tiles. If a tile fails, the bytes of its own destination range are
// unspecified; docs/format.md 7.7 lists the statuses. For any compressed bytes the work of a tile
// is bounded by its sizes, nothing outside source is read, and nothing outside destination, status
// and scratch is written.
typedef struct SluiceGstdInfo {
    // Upper limit of the number of regions in the list, 0 .. 2^24.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 32.
    uint32_t regionStride;
    // SLUICE_DECODE_STORED_IF_EQUAL or 0.
    uint32_t flags;
    // Largest number of tiles decoded at the same time: more memory gives more speed. 0:
    // SLUICE_GSTD_SLOTS. If it is less than maxRegionCount, the tiles are decoded in turns of half
    // as many, with two dispatches per turn. Large GPUs need a larger number for long lists
    // (docs/performance.md).
    uint32_t tilesAtOnce;
    // (maxRegionCount - 1) * regionStride + 32 bytes or more, 8-byte aligned: SluiceRegions with
    // compressedSize 1 .. 262,400 and decompressedSize 1 .. 262,144.
    SluiceBuffer regions;
    // 4 bytes in GPU memory, 4-byte aligned: the number of regions to decode, clamped to
    // maxRegionCount. If this range is empty (size 0), maxRegionCount regions are decoded.
    SluiceBuffer regionCount;
    // Every region's compressed bytes must lie completely inside this range, otherwise the region
    // gets BAD_REGION. Reads are whole words, so the handle must reach to the next multiple of 4
    // after each region's end.
    SluiceBuffer source;
    // Every region's output must lie completely inside this range, otherwise the region gets
    // BAD_REGION. Regions must not overlap each other (values are then undefined, but still inside
    // destination). destination must not overlap source. If both are ranges of one handle, an
    // overlap gives ARGUMENT; if they overlap through different handles, nothing is promised.
    SluiceBuffer destination;
    // maxRegionCount * 4 bytes, 4-byte aligned, or empty: checksums, as in SluiceGdeflateInfo.
    SluiceBuffer expected;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned: statuses, as in SluiceGdeflateInfo.
    SluiceBuffer status;
    // The size is that of sluiceGetGstdRequirements: min(maxRegionCount, tilesAtOnce) *
    // SLUICE_GSTD_SLOT_SIZE bytes. On the CPU it is about 100 KB for any list, and 0 with the tier
    // "ref".
    SluiceBuffer scratch;
} SluiceGstdInfo;

// Bytes of scratch per tile, for its sequences and the statuses of its parts.
#define SLUICE_GSTD_SLOT_SIZE 524544u
#define SLUICE_GSTD_SLOTS 512u // default of tilesAtOnce

// Reads only maxRegionCount, flags and tilesAtOnce. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetGstdRequirements(SluiceContext context, const SluiceGstdInfo* info,
                                                  SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdGstd(SluiceContext context, SluiceCommands commands,
                                      const SluiceGstdInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_GSTD_H
