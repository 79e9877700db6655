// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decodes GDeflate 1.0 on the device, by sluice's kernels or by the driver's decoder.
#ifndef SLUICE_GDEFLATE_H
#define SLUICE_GDEFLATE_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Decodes a list of GDeflate 1.0 tiles, one lane group of 32 lanes a tile. docs/format.md describes
// the format. A tile that fails leaves unspecified bytes inside its own destination range;
// compressed tiles over 128 KiB give BAD_REGION, and tiles of more than 256 blocks give LIMIT.
//
// Pitched destination (rowBytes is not 0): the command decodes straight into what
// vkCmdCopyBufferToImage (bufferRowLength) or a D3D12 footprint (pitch a multiple of 256) reads.
// Regions stay logical: a region at dstAddress has the logical offset
// dstAddress - (address of destination), and byte b of the logical bytes lies at this offset of
// destination:
//   (b / rowBytes) * rowPitch + b % rowBytes
// Tiles do not end at rows. The last row may be cut short, so that destination holds this many
// logical bytes, and a region past those gives BAD_REGION:
//   destination.size / rowPitch * rowBytes + min(destination.size % rowPitch, rowBytes)
// The padding at the end of rows is never written nor read. Checksums are over the logical bytes.
//
// By the driver (SLUICE_DECODE_BY_DRIVER): a dispatch of our own checks every region as always
// (BAD_REGION is skipped and counted) and copies the others to scratch, in the form the extension
// wants, whatever regionStride is; then vkCmdDecompressMemoryIndirectCount runs on that list. It
// reports nothing: those regions get UNVERIFIED, which `expected` turns into OK or BAD_CHECKSUM.
// The promise about hostile data holds for regions and counts, but not for the compressed bytes,
// which only the driver reads: the extensions leave a tile with more bytes than its region says
// undefined. STORED_IF_EQUAL and a pitched destination give ARGUMENT, because the extensions do not
// know them; more than SluiceContextInfo::driverRegionLimit regions give UNSUPPORTED. The VkBuffer
// of scratch needs VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, and for the EXT extension those of scratch,
// source and destination VK_BUFFER_USAGE_2_MEMORY_DECOMPRESSION_BIT_EXT. The call records barriers
// of all commands around the driver's work, so that the barriers you need are the same as without.
typedef struct SluiceGdeflateInfo {
    // The list has at most this many regions, 0 .. 2^24. Some devices have a separate kernel for
    // large batches, and this number chooses it, so a bound near the count is faster.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 32.
    uint32_t regionStride;
    // SluiceDecodeFlags, or-ed.
    uint32_t flags;
    // Bytes of a row of a pitched destination: a multiple of 4, 4 .. 2^30. 0 means that the
    // destination is linear.
    uint32_t rowBytes;
    // Bytes from one row to the next: a multiple of 4, at least rowBytes. It is 0 if rowBytes is 0.
    uint32_t rowPitch;
    // (maxRegionCount - 1) * regionStride + 32 bytes or more, 8-byte aligned: SluiceRegions.
    SluiceBuffer regions;
    // 4 bytes in GPU memory, 4-byte aligned: how many regions are decoded, clamped to
    // maxRegionCount. If its size is 0, maxRegionCount regions are.
    SluiceBuffer regionCount;
    // Every region's compressed bytes must lie wholly inside it, else the region gets BAD_REGION.
    // Reads are whole words: the handle must reach to the next multiple of 4 after each region's
    // end.
    SluiceBuffer source;
    // Every region's output must lie wholly inside it, else the region gets BAD_REGION. Regions
    // must not overlap each other (values are undefined then, still inside destination). It is
    // 4-byte aligned if it is pitched.
    SluiceBuffer destination;
    // maxRegionCount * 4 bytes, 4-byte aligned: word i is the checksum that region i must have. If
    // its size is 0, no checksums are compared. With it the command does what sluiceCmdChecksum
    // does, after the decode and with the barrier between: a status OK then says that the bytes are
    // right.
    SluiceBuffer expected;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned. Word i is region i's SluiceTileStatus
    // (PENDING past the count); then come two summary words: how many regions failed, and the index
    // of the first that did, 0xffffffff if none did.
    SluiceBuffer status;
    // As sluiceGetGdeflateRequirements says.
    SluiceBuffer scratch;
} SluiceGdeflateInfo;

// Reads maxRegionCount and flags only. Errors: ARGUMENT, UNSUPPORTED (BY_DRIVER).
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
