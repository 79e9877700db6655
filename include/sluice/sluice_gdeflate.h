// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decodes GDeflate 1.0 on the device, with sluice's kernels or with the driver's decoder.
#ifndef SLUICE_GDEFLATE_H
#define SLUICE_GDEFLATE_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Decodes a list of GDeflate 1.0 tiles, with a group of 32 lanes per tile. docs/format.md describes
// the format. If a tile fails, the bytes of its own destination range are unspecified. Compressed
// tiles over 128 KiB give BAD_REGION, and tiles of more than 256 blocks give LIMIT.
//
// Pitched destination (rowBytes is not 0): the command decodes directly into the layout that
// vkCmdCopyBufferToImage (bufferRowLength) or a D3D12 footprint (a pitch that is a multiple of 256)
// reads. Regions still describe logical bytes, without padding. A region at dstAddress has the
// logical offset dstAddress - (address of destination), and byte b of the logical bytes is at this
// offset in destination:
//   (b / rowBytes) * rowPitch + b % rowBytes
// Tiles need not end at the end of a row. The last row may be cut short. destination therefore
// holds this many logical bytes, and a region past them gives BAD_REGION:
//   destination.size / rowPitch * rowBytes + min(destination.size % rowPitch, rowBytes)
// The padding at the end of rows is neither written nor read. Checksums are computed over the
// logical bytes.
//
// Decoding by the driver (SLUICE_DECODE_BY_DRIVER): one of sluice's own dispatches first checks
// every region as usual; a region that gets BAD_REGION is skipped and counted. The dispatch copies
// the other regions to scratch in the layout that the extension needs, whatever regionStride is.
// vkCmdDecompressMemoryIndirectCount then runs on that list. It reports nothing, so those regions
// get UNVERIFIED, which `expected` turns into OK or BAD_CHECKSUM. The promise about hostile data
// holds for regions and counts, but not for the compressed bytes, because only the driver reads
// them: the extensions leave the behaviour undefined for a tile that decodes to more bytes than its
// region says. STORED_IF_EQUAL and a pitched destination give ARGUMENT, because the extensions do
// not support them. More than SluiceContextInfo::driverRegionLimit regions give UNSUPPORTED. The
// VkBuffer of scratch needs VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT. For the EXT extension the
// VkBuffers of scratch, source and destination also need
// VK_BUFFER_USAGE_2_MEMORY_DECOMPRESSION_BIT_EXT. The call records barriers of all commands around
// the driver's work, so the caller needs the same barriers as without the driver.
typedef struct SluiceGdeflateInfo {
    // Upper limit of the number of regions in the list, 0 .. 2^24. Some devices have a separate
    // kernel for large batches, which this number selects, so a limit near the real number is
    // faster.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 32.
    uint32_t regionStride;
    // SluiceDecodeFlags, or-ed.
    uint32_t flags;
    // Bytes per row of a pitched destination: a multiple of 4, 4 .. 2^30. 0 means that the
    // destination is linear.
    uint32_t rowBytes;
    // Bytes from one row to the next: a multiple of 4, at least rowBytes. It is 0 if rowBytes is 0.
    uint32_t rowPitch;
    // (maxRegionCount - 1) * regionStride + 32 bytes or more, 8-byte aligned: SluiceRegions.
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
    // destination). A pitched destination must be 4-byte aligned.
    SluiceBuffer destination;
    // maxRegionCount * 4 bytes, 4-byte aligned: word i is the checksum that region i must have.
    // With it the command also does what sluiceCmdChecksum does, after the decode and with the
    // barrier between them; the status OK then says that the bytes are right. If this range is
    // empty (size 0), no checksums are compared.
    SluiceBuffer expected;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned. Word i is region i's SluiceTileStatus
    // (PENDING past the number of regions). Two summary words follow: the number of regions that
    // failed, and the index of the first failed region, or 0xffffffff if none failed.
    SluiceBuffer status;
    // The size and alignment that sluiceGetGdeflateRequirements returns.
    SluiceBuffer scratch;
} SluiceGdeflateInfo;

// Reads only maxRegionCount and flags. Errors: ARGUMENT, UNSUPPORTED (BY_DRIVER).
SLUICE_API SluiceStatus sluiceGetGdeflateRequirements(SluiceContext context,
                                                      const SluiceGdeflateInfo* info,
                                                      SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE, UNSUPPORTED (BY_DRIVER).
SLUICE_API SluiceStatus sluiceCmdGdeflate(SluiceContext context, SluiceCommands commands,
                                          const SluiceGdeflateInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_GDEFLATE_H
