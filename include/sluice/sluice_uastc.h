// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Transcodes UASTC LDR 4x4, the GPU-independent format of KTX2 files, to formats that the GPU
// supports. docs/uastc.md describes the targets. Every backend makes the same blocks.
// The pipelines are not part of SLUICE_KERNELS_ALL: ask for SLUICE_KERNELS_UASTC.
#ifndef SLUICE_UASTC_H
#define SLUICE_UASTC_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// -----------------------------------------------------------------------------------------------
// Targets

// Says which channels an image has, and into which of R, G, B and A its encoder has put them. The
// values are those of the first sample of a KTX2 file's data format descriptor.
typedef enum SluiceUastcChannels {
    SLUICE_UASTC_RGB = 0,  // opaque
    SLUICE_UASTC_RGBA = 3, // colour and alpha
    SLUICE_UASTC_RRR = 4,  // one channel, in R, G and B
    SLUICE_UASTC_RRRG = 5, // two channels: one in R, G and B, one in A
    SLUICE_UASTC_RG = 6,   // two channels, in R and G
    SLUICE_UASTC_CHANNELS_MAX_ENUM = 0x7fffffff
} SluiceUastcChannels;

// Features of a device, named after members of VkPhysicalDeviceFeatures.
typedef enum SluiceUastcFeatures {
    SLUICE_UASTC_HAS_BC = 1,   // textureCompressionBC
    SLUICE_UASTC_HAS_ASTC = 2, // textureCompressionASTC_LDR, by hardware
    SLUICE_UASTC_HAS_ETC2 = 4, // textureCompressionETC2
    SLUICE_UASTC_FEATURES_MAX_ENUM = 0x7fffffff
} SluiceUastcFeatures;

typedef enum SluiceUastcChoice {
    SLUICE_UASTC_SRGB = 1,         // the image has the transfer function of sRGB
    SLUICE_UASTC_LEAST_MEMORY = 2, // the smallest formats come first, at the cost of quality
    SLUICE_UASTC_CHOICE_MAX_ENUM = 0x7fffffff
} SluiceUastcChoice;

// A flag of SluiceUastcInfo: the second channel of BC5 comes from A of the blocks instead of G.
#define SLUICE_UASTC_SECOND_IS_ALPHA 1u

// A format that an image may be transcoded to.
typedef struct SluiceUastcFormat {
    uint32_t format;     // a VkFormat, for SluiceUastcInfo
    uint32_t flags;      // for SluiceUastcInfo
    uint32_t blockBytes; // bytes per 4 x 4 texels; 64 for R8G8B8A8
    // VkComponentSwizzles for the image view's r, g, b and a. With them a shader sees the same
    // values in every format: (r, g, b, 1), (r, g, b, a), (r, r, r, 1), or (r, g, 0, 1) for two
    // channels.
    uint32_t swizzle[4];
} SluiceUastcFormat;

#define SLUICE_UASTC_MAX_FORMATS 8u

// Lists the formats that suit an image and a device. The best come first, unless LEAST_MEMORY is
// set: ASTC, which has exactly the same texels; BC4 or BC5; BC7; ETC2; BC1 or BC3; R8G8B8A8, which
// every device supports. Thread-safe.
//   channels   SluiceUastcChannels
//   features   SluiceUastcFeatures, or-ed; 0: none
//   choice     SluiceUastcChoice, or-ed; 0: none
//   formats    receives the formats; it has room for SLUICE_UASTC_MAX_FORMATS entries
//   count      receives the number of formats, at least 1
// Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetUastcFormats(uint32_t channels, uint32_t features, uint32_t choice,
                                              SluiceUastcFormat* formats, uint32_t* count);

// -----------------------------------------------------------------------------------------------
// Transcoding

#define SLUICE_UASTC_MAX_BLOCKS 16777216u // 2^24

// A region is a rectangle of blocks, stored row by row like a level of an image. It may be a level,
// or some whole rows of blocks of a level. For block-compressed targets it may also be any number
// of consecutive blocks, given as 4 * count x 4 texels.
typedef struct SluiceUastcRegion {
    uint64_t srcAddress; // of the UASTC blocks, a multiple of 16
    // Where the output goes: a multiple of 16; of 8 for formats with blocks of 8 bytes; of 4 for
    // R8G8B8A8.
    uint64_t dstAddress;
    // Texels, at least 1. There are ceil(width / 4) * ceil(height / 4) blocks, at most
    // maxRegionBlocks. R8G8B8A8 writes height rows of 4 * width bytes without gaps; the other
    // formats write whole blocks.
    uint32_t width, height;
} SluiceUastcRegion;

// The invalid blocks of a region.
typedef struct SluiceUastcInvalid {
    uint32_t blocks; // how many
    uint32_t first;  // the first of them, counted along rows of blocks; 0xffffffff: none
} SluiceUastcInvalid;

// Transcodes a list of regions. A block is invalid only if it has a reserved mode or a pattern that
// does not exist. An invalid block becomes opaque magenta, all other blocks of its region are
// transcoded, and the region's status is BAD_CODE. Statuses are OK, BAD_REGION, BAD_CODE and
// INTERNAL. Nothing outside source is read, and nothing outside destination, status, invalid and
// scratch is written, whatever the blocks and the list are.
typedef struct SluiceUastcInfo {
    // Upper limit of the number of regions in the list, 0 .. 2^24.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 24.
    uint32_t regionStride;
    // The most blocks of a region, 1 .. SLUICE_UASTC_MAX_BLOCKS. A region with more gets
    // BAD_REGION. maxRegionCount * maxRegionBlocks is at most 2^35. The dispatch has as many
    // workgroups as regions of this size need, so it wastes time if regions are much smaller.
    uint32_t maxRegionBlocks;
    // The target, a VkFormat. The formats in brackets, the sRGB variants, give the same bytes.
    //   37 (43)    R8G8B8A8_UNORM (_SRGB): the texels
    //   145 (146)  BC7
    //   157 (158)  ASTC_4x4, with the same texels
    //   131 (132)  BC1_RGB                 8 bytes a block
    //   137 (138)  BC3
    //   139        BC4, of R               8 bytes a block
    //   141        BC5, of R and G; with SLUICE_UASTC_SECOND_IS_ALPHA, of R and A
    //   147 (148)  ETC2_R8G8B8, as ETC1    8 bytes a block
    //   151 (152)  ETC2_R8G8B8A8
    uint32_t format;
    uint32_t flags; // SLUICE_UASTC_SECOND_IS_ALPHA, for BC5 alone, or 0
    // (maxRegionCount - 1) * regionStride + 24 bytes or more, 8-byte aligned: SluiceUastcRegions.
    SluiceBuffer regions;
    // 4 bytes in GPU memory, 4-byte aligned: the number of regions to transcode, clamped to
    // maxRegionCount. If this range is empty (size 0), maxRegionCount regions are transcoded.
    SluiceBuffer regionCount;
    // 16-byte aligned. Every region's blocks must lie completely inside this range, otherwise the
    // region gets BAD_REGION.
    SluiceBuffer source;
    // 16-byte aligned. Every region's output must lie completely inside this range, otherwise the
    // region gets BAD_REGION. Regions must not overlap each other (values are then undefined, but
    // still inside destination). The range must not overlap source, with one exception: a format
    // with blocks of 16 bytes can be written in place. Then destination is the same range as
    // source, and the two addresses of each region must be equal, otherwise the region gets
    // BAD_REGION.
    SluiceBuffer destination;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned: a SluiceTileStatus per region, then the
    // number of regions that failed, then the index of the first failed region or 0xffffffff.
    SluiceBuffer status;
    // maxRegionCount * 8 bytes, 4-byte aligned: a SluiceUastcInvalid per region that has a status
    // other than PENDING. If this range is empty (size 0), nothing is written.
    SluiceBuffer invalid;
    // The size that sluiceGetUastcRequirements returns: 16 bytes per region and 16 more, or 0 if
    // there are no regions. The command clears it first. The CPU needs no scratch.
    SluiceBuffer scratch;
} SluiceUastcInfo;

// Reads only maxRegionCount. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetUastcRequirements(SluiceContext context,
                                                   const SluiceUastcInfo* info,
                                                   SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdUastc(SluiceContext context, SluiceCommands commands,
                                       const SluiceUastcInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_UASTC_H
