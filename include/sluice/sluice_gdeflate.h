// SPDX-License-Identifier: MIT OR Apache-2.0
//
// GDeflate 1.0 on the device, by sluice's kernels or by the driver's decoder.
#ifndef SLUICE_GDEFLATE_H
#define SLUICE_GDEFLATE_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Decodes a list of GDeflate 1.0 tiles, one lane group of 32 lanes a tile.
//   maxRegionCount  regions in the list at most, 0 .. 2^24 Large batches have a kernel of their own
//                   on some devices, chosen by it: a bound near the count is faster
//   regionStride    bytes from one region to the next, a multiple of 4, at least 32
//   flags           SluiceDecodeFlags, or-ed
//   rowBytes,       0 and 0: the destination is linear. Else it is a pitched view, see below:
//                   multiples of 4, rowBytes
//   rowPitch        4 .. 2^30, rowPitch at least rowBytes
//   regions         8-byte aligned, (maxRegionCount - 1) * regionStride + 32 bytes or more
//   regionCount     4 bytes in GPU memory, 4-byte aligned: how many regions to decode, clamped to
//                   maxRegionCount; size 0: maxRegionCount regions
//   source          every region's compressed bytes must lie wholly inside it, else BAD_REGION.
//                   Reads are whole words: the handle must reach to the next multiple of 4 after
//                   each region's end
//   destination     every region's output must lie wholly inside it, else BAD_REGION. Regions must
//                   not overlap each other (undefined values, still inside destination). 4-byte
//                   aligned if it is pitched
//   expected        maxRegionCount * 4 bytes, 4-byte aligned: word i is the checksum that region i
//                   must have; size 0: no checksums. With it the command does what
//                   sluiceCmdChecksum does, after the decode and with the barrier between: a status
//                   OK then says that the bytes are right
//   status          (maxRegionCount + 2) * 4 bytes, 4-byte aligned. Word i is region i's
//                   SluiceTileStatus (PENDING past the count); then come two summary words: how
//                   many regions failed, and the index of the first that did, 0xffffffff if none
//   scratch         as required
// A tile that fails leaves unspecified bytes inside its own destination range. Format: GDeflate 1.0
// as in docs/format.md; compressed tiles over 128 KiB give BAD_REGION and over 256 blocks LIMIT.
//
// Pitched destination: decode straight into what vkCmdCopyBufferToImage (bufferRowLength) or a
// D3D12 footprint (pitch a multiple of 256) reads. Regions stay logical: a region at dstAddress has
// the logical offset dstAddress - (address of destination), and byte b of the logical bytes lies (b
// / rowBytes) * rowPitch + b % rowBytes bytes into destination. Tiles do not end at rows. The last
// row may be cut short, so destination.size bytes hold destination.size / rowPitch * rowBytes +
// min(destination.size % rowPitch, rowBytes) logical ones; a region past those gives BAD_REGION.
// The padding at the end of rows is never written nor read. Checksums are over the logical bytes.
//
// By the driver (SLUICE_DECODE_BY_DRIVER): a dispatch of our own checks every region as always
// (BAD_REGION is skipped and counted) and copies the others to scratch, in the form the extension
// wants, whatever regionStride is; then vkCmdDecompressMemoryIndirectCount runs on that list. It
// reports nothing: those regions get UNVERIFIED, which `expected` turns into OK or BAD_CHECKSUM.
// The promise about hostile data holds for regions and counts, but what the compressed bytes can do
// is the driver's affair: the extensions leave a tile of more bytes than its region says undefined.
// ARGUMENT with STORED_IF_EQUAL or a pitched destination, which the extensions do not know;
// UNSUPPORTED for more than SluiceContextInfo::driverRegionLimit regions. The VkBuffer of scratch
// needs VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, and for the EXT extension those of scratch, source and
// destination VK_BUFFER_USAGE_2_MEMORY_DECOMPRESSION_BIT_EXT. The call records barriers of all
// commands around the driver's work, so that the barriers you need are the same as without.
typedef struct SluiceGdeflateInfo {
    uint32_t maxRegionCount;
    uint32_t regionStride;
    uint32_t flags;
    uint32_t rowBytes;
    uint32_t rowPitch;
    SluiceBuffer regions;
    SluiceBuffer regionCount;
    SluiceBuffer source;
    SluiceBuffer destination;
    SluiceBuffer expected;
    SluiceBuffer status;
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
