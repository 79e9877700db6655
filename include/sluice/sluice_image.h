// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reads KTX2 and DDS files, knows a table of formats, and says where each mip level, layer, face
// and slice stands. Part of library `sluice`; needs no Vulkan header, since formats are the numbers
// of VkFormat. The functions allocate nothing, keep no pointers, read nothing outside the ranges
// that they are given, and need no alignment. All of them are thread-safe.
//
// A reader only needs the start of a file, never its levels: an engine can make its image and plan
// its reads from some hundred bytes.
#ifndef SLUICE_IMAGE_H
#define SLUICE_IMAGE_H

#include <sluice/sluice_formats.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_IMAGE_MAX_LEVELS 32u
#define SLUICE_IMAGE_START_SIZE 1024u // this many bytes of a file's start are always enough

// -----------------------------------------------------------------------------------------------
// Formats

// A VkFormat whose texels or blocks stand in rows without gaps. Depth and stencil, formats of
// several planes, of subsampled pairs and of PVRTC are not in the table. VkFormat 0 stands for
// UASTC, the blocks of Basis Universal that KTX2 files hold: a caller turns them into blocks that
// its GPU knows before it uploads them.
typedef struct SluiceImageFormat {
    const char* name; // as Vulkan has it, without VK_FORMAT_: "BC7_SRGB_BLOCK"; never freed
    uint32_t format;  // VkFormat
    uint32_t blockWidth, blockHeight; // texels of a block; 1 and 1 for plain texels
    uint32_t blockBytes;              // of a block or texel
    uint32_t unitBytes;  // of the numbers that a texel consists of, KTX2's typeSize; 1 for blocks
    uint32_t compressed; // 1: blocks
    uint32_t srgb;       // 1: the colours are sRGB-encoded
    uint32_t twin;       // the VkFormat of the same bits with sRGB, or without it; 0: there is none
    uint32_t dxgi;       // the DXGI_FORMAT of the same bits; 0: there is none
} SluiceImageFormat;

// Looks a VkFormat up. Errors: ARGUMENT, VERSION (not in the table).
SLUICE_API SluiceStatus sluiceGetImageFormat(uint32_t format, SluiceImageFormat* info);

// Returns the VkFormat of a DXGI_FORMAT that can be in the table, typeless ones as their unorm kind
// (BC6H: ufloat; without a unorm kind: float); 0 if there is none.
SLUICE_API uint32_t sluiceImageFormatOfDxgi(uint32_t dxgi);

// -----------------------------------------------------------------------------------------------
// Images

typedef enum SluiceImageContainer {
    SLUICE_IMAGE_NONE = 0,
    SLUICE_IMAGE_KTX2 = 1,
    SLUICE_IMAGE_DDS = 2,
    SLUICE_IMAGE_CONTAINER_MAX_ENUM = 0x7fffffff
} SluiceImageContainer;

// Says how the levels are packed in the file: KTX2's supercompression. DDS has none.
typedef enum SluiceImageScheme {
    SLUICE_IMAGE_SCHEME_NONE = 0,
    SLUICE_IMAGE_SCHEME_ZSTD = 2,
    SLUICE_IMAGE_SCHEME_ZLIB = 3,
    SLUICE_IMAGE_SCHEME_MAX_ENUM = 0x7fffffff
} SluiceImageScheme;

// These flags are or-ed.
typedef enum SluiceImageFlags {
    SLUICE_IMAGE_ARRAY = 1,            // an array, even if it has one layer
    SLUICE_IMAGE_CUBE = 2,             // six faces: +X -X +Y -Y +Z -Z
    SLUICE_IMAGE_1D = 4,               // neither this nor 3D: two dimensions
    SLUICE_IMAGE_3D = 8,               // also with a depth of 1
    SLUICE_IMAGE_SRGB = 16,            // the format is one of sRGB; UASTC: its colours are
    SLUICE_IMAGE_PREMULTIPLIED = 32,   // the file says that colours are multiplied by alpha
    SLUICE_IMAGE_OPAQUE = 64,          // the file says that the format's alpha means nothing
    SLUICE_IMAGE_COLOUR_UNKNOWN = 128, // DDS: the file does not say whether colours are sRGB; the
                                       // format is the one without
    SLUICE_IMAGE_MAKE_LEVELS = 256,    // KTX2: the levels below the only one are to be made
    SLUICE_IMAGE_TRANSCODE = 512,      // KTX2: UASTC, format 0, which no GPU can sample
    SLUICE_IMAGE_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceImageFlags;

typedef struct SluiceImageInfo {
    uint32_t container;                           // SluiceImageContainer
    uint32_t scheme;                              // SluiceImageScheme
    uint32_t flags;                               // SluiceImageFlags, or-ed
    uint32_t format;                              // VkFormat, one of the table; 0: UASTC
    uint32_t width, height, depth;                // texels of level 0, at least 1
    uint32_t layers;                              // at least 1; of cubes: how many cubes
    uint32_t faces;                               // 1 or 6
    uint32_t levels;                              // 1 .. SLUICE_IMAGE_MAX_LEVELS
    uint32_t blockWidth, blockHeight, blockBytes; // of the format
    // KTX2: transferFunction of the descriptor, a number of the Khronos Data Format (1 linear, 2
    // sRGB); else 0.
    uint32_t transfer;
    // KTX2: where the key/value data are, from the start of the file; they are not checked. 0 and
    // 0: there are none.
    uint64_t keyValueOffset, keyValueSize;
} SluiceImageInfo;

// A mip level. Its images, layers * faces of them, stand in the order layer, face; an image is its
// slices, a slice its rows of blocks, all of them without gaps.
typedef struct SluiceImageLevel {
    uint64_t offset;      // of its first byte, from the start of the file
    uint64_t size;        // bytes in the file, all images; with a scheme: packed
    uint64_t decodedSize; // bytes of all images; without a scheme the same as size
    // Bytes from an image to the next, once it is decoded: imageSize in KTX2; in DDS the bytes of
    // all levels, as each image has its levels together.
    uint64_t imageStride;
    uint64_t imageSize;            // bytes of one image, all slices
    uint64_t sliceSize;            // bytes of a slice
    uint64_t rowSize;              // bytes of a row of blocks
    uint32_t width, height, depth; // texels
} SluiceImageLevel;

// Computes a level of an image whose levels stand as KTX2 has them, without a scheme, offset 0.
//   info    format, width, height, depth, layers and faces are read
//   level   0 .. SLUICE_IMAGE_MAX_LEVELS - 1
// Errors: ARGUMENT (extents, layers or faces 0), VERSION (the format), FORMAT (it has 2^64 bytes or
// more).
SLUICE_API SluiceStatus sluiceGetImageLevel(const SluiceImageInfo* info, uint32_t level,
                                            SluiceImageLevel* result);

// Says where a slice of an image begins, in bytes from level->offset; with a scheme: from the start
// of the decoded level. layer, face and slice are below info->layers, info->faces and level->depth.
// Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetImageOffset(const SluiceImageInfo* info,
                                             const SluiceImageLevel* level, uint32_t layer,
                                             uint32_t face, uint32_t slice, uint64_t* offset);

// -----------------------------------------------------------------------------------------------
// Files

// Parses the start of a KTX2 or DDS file and says where its levels are.
//   bytes, size   the first bytes of the file: all of it, or as many as are at hand
//   fileSize      bytes in the whole file
//   levels        receives info->levels entries, level 0 (the largest) first; room for
//                 SLUICE_IMAGE_MAX_LEVELS of them
//   needed        with BUFFER_SIZE receives how many bytes of the start are wanted: more than size,
//                 at most fileSize and SLUICE_IMAGE_START_SIZE. May be NULL
// A result with OK is consistent: every range lies inside the file and behind the headers, no two
// of them overlap, and sizes without a scheme are those of sluiceGetImageLevel. Strictness is
// described in docs/format.md, section 9. Errors: ARGUMENT; BUFFER_SIZE (see needed); FORMAT (it is
// neither KTX2 nor DDS, breaks a rule, or ends too early); VERSION (well-formed as far as can be
// told, but with a format or scheme that is not supported here: BasisLZ, a vendor's scheme,
// VkFormat 0 that is not UASTC, depth and stencil, DDS with palettes or incomplete cubes).
SLUICE_API SluiceStatus sluiceParseImage(const void* bytes, size_t size, uint64_t fileSize,
                                         SluiceImageInfo* info, SluiceImageLevel* levels,
                                         uint64_t* needed);

// Finds a value in the key/value data of a KTX2 file: "KTXorientation" ("rd": right, down),
// "KTXswizzle" (four letters of rgba01), "KTXwriter" and others.
//   keyValues, size   info.keyValueSize bytes from info.keyValueOffset of the file
//   value             receives where its bytes are, inside keyValues; NULL if there is no such key
//                     (then too the call returns OK). Text mostly ends with a 0, which counts
//   valueSize         receives how many bytes it has
// Errors: ARGUMENT, FORMAT (pairs that do not fit, or a key that is empty or does not end).
SLUICE_API SluiceStatus sluiceFindImageValue(const void* keyValues, size_t size, const char* key,
                                             const void** value, uint32_t* valueSize);

// -----------------------------------------------------------------------------------------------
// Archives: the index says what an image asset is, so that an engine can make its image and choose
// the tiles of some levels before it has read any of the asset.

// Reads the description of an image.
//   asset    of sluiceGetArchiveAsset; parameters and size are read
//   info     scheme is NONE, key/value data are left out. container is SLUICE_IMAGE_NONE if the
//            asset has no such description (then too the call returns OK)
//   levels   as for sluiceParseImage; offsets count from the start of the decoded asset
// What it returns as OK is as consistent as what sluiceParseImage returns, with the asset's size
// for the file's; whether the bytes of the asset agree depends on the archive's writer. Errors:
// ARGUMENT, FORMAT, VERSION (of the description, a format or a container).
SLUICE_API SluiceStatus sluiceGetArchiveImage(const SluiceArchiveAsset* asset,
                                              SluiceImageInfo* info, SluiceImageLevel* levels);

// Makes the item of a parameter block that describes an image; library sluice_encode takes it in
// SluiceArchiveAssetInfo::parameters, with other items before or behind it.
//   info, levels   of sluiceParseImage, without a scheme
//   item           receives *size bytes, a multiple of 4, at most SLUICE_IMAGE_ITEM_SIZE
// Errors: ARGUMENT.
#define SLUICE_IMAGE_ITEM_SIZE 568u
SLUICE_API SluiceStatus sluiceMakeArchiveImageItem(const SluiceImageInfo* info,
                                                   const SluiceImageLevel* levels,
                                                   uint8_t item[SLUICE_IMAGE_ITEM_SIZE],
                                                   uint32_t* size);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_IMAGE_H
