// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decodes standard Zstandard frames (RFC 8878) as they are in .zst files, KTX2 levels and asset
// packs. docs/format.md, section 12, describes the supported frames, the limits and the statuses.
// The pipelines are not part of SLUICE_KERNELS_ALL: ask for SLUICE_KERNELS_ZSTD.
#ifndef SLUICE_ZSTD_H
#define SLUICE_ZSTD_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Flag: if a frame has a checksum (XXH64), it is compared; a wrong one gives BAD_CHECKSUM.
// Checksums are computed serially, which takes long for large frames.
#define SLUICE_ZSTD_CHECKSUMS 1u

#define SLUICE_ZSTD_MAX_REGION_SIZE 1073479680u // 2^30 - 2^18 bytes
#define SLUICE_ZSTD_MAX_BLOCKS 1048576u

// Decodes a list of regions. A region holds one or more frames, and skippable ones between them;
// together they decode to exactly decompressedSize bytes. All regions have the same dictionary, or
// none: a frame that names another one gives UNSUPPORTED. If a region fails, the bytes of its own
// destination range are unspecified. For any compressed bytes the work of a region is bounded by
// its sizes, nothing outside source and dictionary is read, and nothing outside destination, status
// and scratch is written.
typedef struct SluiceZstdInfo {
    // Upper limit of the number of regions in the list, 0 .. 2^24.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 32.
    uint32_t regionStride;
    // SLUICE_ZSTD_CHECKSUMS or 0.
    uint32_t flags;
    // The number of regions for which scratch has room even if each needs the most that a region
    // can: a larger number needs more scratch and is faster. 0: as many as fit into 1 GiB of
    // scratch on large GPUs and 128 MiB on others, or into the size that the context's tuning
    // gives. If it is less than maxRegionCount, the regions are decoded in turns, one turn after
    // the other. Regions of up to 1 MiB (or what the tuning says) get only the scratch that they
    // really need, so a turn may have up to 8 times as many of them. Dispatches are recorded for
    // ceil(maxRegionCount / regionsAtOnce) turns; those that are not needed end at once.
    uint32_t regionsAtOnce;
    // The most bytes that a region decodes to, 1 .. SLUICE_ZSTD_MAX_REGION_SIZE. A region that
    // decodes to more gets BAD_REGION.
    uint32_t maxRegionSize;
    // The most blocks that a region may have in all its frames, 1 .. SLUICE_ZSTD_MAX_BLOCKS. A
    // region with more gets LIMIT. 0: min(65,536, 4,096 + maxRegionSize / 256), which no region of
    // a single frame exceeds. Encoders make a block for each 8 to 128 KiB; a smaller limit takes
    // less scratch.
    uint32_t maxBlocks;
    // (maxRegionCount - 1) * regionStride + 32 bytes or more, 8-byte aligned: SluiceRegions with
    //   srcAddress        any alignment
    //   dstAddress        a multiple of 4
    //   compressedSize    1 .. 2^31 - 1
    //   decompressedSize  0 .. maxRegionSize
    SluiceBuffer regions;
    // 4 bytes in GPU memory, 4-byte aligned: the number of regions to decode, clamped to
    // maxRegionCount. If this range is empty (size 0), maxRegionCount regions are decoded.
    SluiceBuffer regionCount;
    // 4-byte aligned. Every region's compressed bytes must lie completely inside this range,
    // otherwise the region gets BAD_REGION. Reads are whole words, so the handle must reach to the
    // next multiple of 4 after each region's end.
    SluiceBuffer source;
    // 4-byte aligned. Every region's output must lie completely inside this range, otherwise the
    // region gets BAD_REGION. Regions must not overlap each other (values are then undefined, but
    // still inside destination), and destination must not overlap source. With
    // SLUICE_ZSTD_CHECKSUMS whole words are read, so the handle must reach to the next multiple of
    // 4 after each region's end.
    SluiceBuffer destination;
    // A dictionary, either raw content or made by `zstd --train` (docs/format.md, 12.4); empty
    // (size 0) if there is none. It is 4-byte aligned, has at most SLUICE_ZSTD_MAX_REGION_SIZE
    // bytes, and does not overlap destination. Frames that name no dictionary use it too. Reads are
    // whole words, so the handle must reach to the next multiple of 4 after its end. A frame gives
    // LIMIT if it and the dictionary's content have more than SLUICE_ZSTD_MAX_REGION_SIZE bytes
    // together. If the dictionary itself is damaged, all regions that are not BAD_REGION get its
    // status: BAD_CODE, TRUNCATED or BAD_OFFSET.
    SluiceBuffer dictionary;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned: a SluiceTileStatus per region, then the
    // number of regions that failed, and the index of the first failed region or 0xffffffff.
    SluiceBuffer status;
    // The size that sluiceGetZstdRequirements returns. Let n be min(maxRegionCount, regionsAtOnce),
    // or less if n regions could decode to more than 1 GiB, or for more than 2^20 regions or 2^31
    // blocks. Then scratch has n * (3.7 * maxRegionSize + 116 * maxBlocks + up to 1,024) bytes (7.7
    // if maxRegionSize is above 1 MiB), 512 bytes for each of up to max(n, 2^15) lane groups that
    // work on a turn, and 256 bytes for each of max(n, min(maxRegionCount, 4,096)) regions. On the
    // CPU, or if maxRegionCount is 0, no scratch is needed.
    SluiceBuffer scratch;
} SluiceZstdInfo;

// Reads only maxRegionCount, flags, regionsAtOnce, maxRegionSize and maxBlocks. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetZstdRequirements(SluiceContext context, const SluiceZstdInfo* info,
                                                  SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE; OUT_OF_MEMORY, on the CPU only, after which the status words and
// all destinations are unspecified.
SLUICE_API SluiceStatus sluiceCmdZstd(SluiceContext context, SluiceCommands commands,
                                      const SluiceZstdInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_ZSTD_H
