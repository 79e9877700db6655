// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Gstd: sluice's own LZ codec. A tile decodes to at most 256 KiB and does not depend on other
// tiles. It is divided into parts. First the symbols of all parts are decoded at the same time,
// each part by 32 lanes (rANS and Huffman codes). Then the copies (back-references) are done, many
// bytes at the same time; the format limits how many copies may depend on each other.
// docs/format.md, section 7, specifies the format bit by bit; the encoder is in sluice_encode.h.
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
    // Largest number of tiles decoded at the same time: a larger number needs more scratch and is
    // faster. 0: SLUICE_GSTD_SLOTS. If it is less than maxRegionCount, the tiles are decoded in
    // turns of tilesAtOnce / 2 tiles, with two dispatches per turn. Large GPUs need a larger number
    // for long lists (docs/performance.md).
    uint32_t tilesAtOnce;
    // The most bytes that a region decodes to: a multiple of 8 up to 262,144; 0 stands for 262,144.
    // A region that decodes to more gets BAD_REGION. With a smaller value a tile needs less
    // scratch.
    uint32_t maxTileSize;
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
    // A second range in which a region's output may lie instead, under the same rules as in
    // destination, or empty (size 0). A list of tiles with and without filters names two ranges:
    // filtered tiles are decoded into memory from which their filters are undone.
    SluiceBuffer secondDestination;
    // maxRegionCount * 4 bytes, 4-byte aligned: word i is the checksum that region i must have. If
    // this range is empty (size 0), no checksums are compared. Only bytes in destination are
    // compared, so secondDestination must be empty if this range is not.
    SluiceBuffer expected;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned: a SluiceTileStatus per region, then the
    // number of regions that failed, and the index of the first failed region or 0xffffffff.
    SluiceBuffer status;
    // The size that sluiceGetGstdRequirements returns: min(maxRegionCount, tilesAtOnce) *
    // SLUICE_GSTD_SLOT_SIZE(maxTileSize) bytes. On the CPU it is about 100 KB for any list, and 0
    // with the tier "ref".
    SluiceBuffer scratch;
} SluiceGstdInfo;

// Bytes of scratch for a tile that decodes to at most maxTileSize bytes: for its sequences and the
// statuses of its parts.
#define SLUICE_GSTD_SLOT_SIZE(maxTileSize) (256u + 2u * (maxTileSize))
#define SLUICE_GSTD_SLOTS 512u // default of tilesAtOnce

// Reads only maxRegionCount, flags, tilesAtOnce and maxTileSize. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetGstdRequirements(SluiceContext context, const SluiceGstdInfo* info,
                                                  SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdGstd(SluiceContext context, SluiceCommands commands,
                                      const SluiceGstdInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_GSTD_H
