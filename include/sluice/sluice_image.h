// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reads KTX2 and DDS files, describes the formats in a table, and says where each mip level, layer,
// face and slice is. Part of library `sluice`; it needs no Vulkan header, because formats are the
// numbers of VkFormat. The functions allocate nothing, keep no pointers, read nothing outside the
// ranges that they are given, and need no alignment. All of them are thread-safe.
//
// A reader only needs the start of a file, never its levels: an engine can create its image and
// plan its reads from a few hundred bytes.
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

// A VkFormat whose texels or blocks are stored contiguously, row after row. The table leaves out
// depth and stencil formats, formats with several planes, formats with subsampled pairs of texels
// and PVRTC. VkFormat 0 stands for UASTC, the Basis Universal blocks that KTX2 files may hold. The
// caller must transcode those to a format that its GPU supports before it uploads them.
typedef struct SluiceImageFormat {
    const char* name; // Vulkan's name without VK_FORMAT_: "BC7_SRGB_BLOCK"; never freed
    uint32_t format;  // VkFormat
    uint32_t blockWidth, blockHeight; // texels per block; 1 and 1 for plain texels
    uint32_t blockBytes;              // bytes per block or texel
    uint32_t unitBytes;  // bytes of each number in a texel (KTX2's typeSize); 1 for blocks
    uint32_t compressed; // 1: the format has compressed blocks
    uint32_t srgb;       // 1: the colours are sRGB-encoded
    uint32_t twin;       // the VkFormat of the same bits that differs in sRGB only; 0: there is
                         // none
    uint32_t dxgi;       // the DXGI_FORMAT of the same bits; 0: there is none
} SluiceImageFormat;

// Looks a VkFormat up. Errors: ARGUMENT, VERSION (not in the table).
SLUICE_API SluiceStatus sluiceGetImageFormat(uint32_t format, SluiceImageFormat* info);

// Returns the VkFormat in the table for a DXGI_FORMAT, or 0 if there is none. Typeless formats give
// their unorm variant (BC6H: ufloat; formats without a unorm variant: float).
SLUICE_API uint32_t sluiceImageFormatOfDxgi(uint32_t dxgi);

// -----------------------------------------------------------------------------------------------
// Images

typedef enum SluiceImageContainer {
    SLUICE_IMAGE_NONE = 0,
    SLUICE_IMAGE_KTX2 = 1,
    SLUICE_IMAGE_DDS = 2,
    SLUICE_IMAGE_CONTAINER_MAX_ENUM = 0x7fffffff
} SluiceImageContainer;

// KTX2's supercompression scheme, by which the levels are compressed in the file. DDS has none.
typedef enum SluiceImageScheme {
    SLUICE_IMAGE_SCHEME_NONE = 0,
    SLUICE_IMAGE_SCHEME_ZSTD = 2,
    SLUICE_IMAGE_SCHEME_ZLIB = 3,
    SLUICE_IMAGE_SCHEME_MAX_ENUM = 0x7fffffff
} SluiceImageScheme;

// Flags, which can be or-ed.
typedef enum SluiceImageFlags {
    SLUICE_IMAGE_ARRAY = 1,            // an array, even if it has one layer
    SLUICE_IMAGE_CUBE = 2,             // six faces: +X -X +Y -Y +Z -Z
    SLUICE_IMAGE_1D = 4,               // 1D; an image with neither this nor 3D is 2D
    SLUICE_IMAGE_3D = 8,               // 3D, even if the depth is 1
    SLUICE_IMAGE_SRGB = 16,            // the format, or for UASTC the content, is sRGB-encoded
    SLUICE_IMAGE_PREMULTIPLIED = 32,   // the file says that colours are multiplied by alpha
    SLUICE_IMAGE_OPAQUE = 64,          // the file says that the format's alpha has no meaning
    SLUICE_IMAGE_COLOUR_UNKNOWN = 128, // DDS: the file does not say whether colours are
                                       // sRGB-encoded; format is the variant without sRGB
    SLUICE_IMAGE_MAKE_LEVELS = 256,    // KTX2: the file has one level and asks the reader to
                                       // generate the others
    SLUICE_IMAGE_TRANSCODE = 512,      // KTX2: UASTC (format 0), which no GPU can sample
    SLUICE_IMAGE_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceImageFlags;

typedef struct SluiceImageInfo {
    uint32_t container;                           // SluiceImageContainer
    uint32_t scheme;                              // SluiceImageScheme
    uint32_t flags;                               // SluiceImageFlags, or-ed
    uint32_t format;                              // VkFormat in the table; 0: UASTC
    uint32_t width, height, depth;                // texels of level 0, at least 1
    uint32_t layers;                              // at least 1; for cubes the number of cubes
    uint32_t faces;                               // 1 or 6
    uint32_t levels;                              // 1 .. SLUICE_IMAGE_MAX_LEVELS
    uint32_t blockWidth, blockHeight, blockBytes; // of the format
    // KTX2: transferFunction of the descriptor, a value of the Khronos Data Format (1: linear, 2:
    // sRGB). Otherwise 0.
    uint32_t transfer;
    // KTX2: colorModel of the descriptor (166: UASTC), and channelType of its first sample. UASTC
    // has the channels RGB (0), RGBA (3), RRR (4), RRRG (5) or RG (6). For an archive's asset the
    // two are known only if it is UASTC and was not packed by an older version. Both are 0 if not
    // known.
    uint32_t colourModel, channel;
    // KTX2: offset from the start of the file, and size, of the key/value data, which are not
    // checked. 0 and 0: there are none.
    uint64_t keyValueOffset, keyValueSize;
} SluiceImageInfo;

// A mip level. It consists of layers * faces images, ordered by layer, then by face. An image
// consists of slices, and a slice of rows of blocks, without gaps.
typedef struct SluiceImageLevel {
    uint64_t offset;      // of the first byte, from the start of the file
    uint64_t size;        // bytes of all images in the file; compressed, if there is a scheme
    uint64_t decodedSize; // bytes of all images, decoded; the same as size without a scheme
    // Bytes from the start of one image to the next, in decoded form. In KTX2 this is imageSize. In
    // DDS it is the size of all levels of an image, because DDS stores the levels of each image
    // together.
    uint64_t imageStride;
    uint64_t imageSize;            // bytes per image, all slices
    uint64_t sliceSize;            // bytes per slice
    uint64_t rowSize;              // bytes per row of blocks
    uint32_t width, height, depth; // texels
} SluiceImageLevel;

// Computes a level of an image in KTX2's layout, without a scheme; offset is 0.
//   info    format, width, height, depth, layers and faces are read
//   level   0 .. SLUICE_IMAGE_MAX_LEVELS - 1
// Errors: ARGUMENT (an extent, layers or faces is 0), VERSION (the format), FORMAT (the level has
// 2^64 bytes or more).
SLUICE_API SluiceStatus sluiceGetImageLevel(const SluiceImageInfo* info, uint32_t level,
                                            SluiceImageLevel* result);

// Says where a slice of an image begins, in bytes from level->offset or, with a scheme, from the
// start of the decoded level. layer, face and slice must be less than info->layers, info->faces and
// level->depth. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetImageOffset(const SluiceImageInfo* info,
                                             const SluiceImageLevel* level, uint32_t layer,
                                             uint32_t face, uint32_t slice, uint64_t* offset);

// -----------------------------------------------------------------------------------------------
// Files

// Parses the start of a KTX2 or DDS file and says where its levels are.
//   bytes, size   the first bytes of the file: the whole file, or as many bytes as are available
//   fileSize      bytes in the whole file
//   levels        receives info->levels entries, level 0 (the largest) first; it has room for
//                 SLUICE_IMAGE_MAX_LEVELS entries
//   needed        with BUFFER_SIZE receives the number of bytes that are needed from the start of
//                 the file: more than size, at most fileSize and SLUICE_IMAGE_START_SIZE. May be
//                 NULL
// A result with OK is consistent: every range lies inside the file and after the headers, no ranges
// overlap, and without a scheme the sizes are those of sluiceGetImageLevel. docs/format.md, section
// 9, describes how strict the parser is. Errors: ARGUMENT; BUFFER_SIZE (see needed); FORMAT (the
// file is neither KTX2 nor DDS, breaks a rule, or ends too early); VERSION (well-formed as far as
// the parser can tell, but with an unsupported format or scheme: BasisLZ, a vendor's scheme,
// VkFormat 0 that is not UASTC, depth and stencil, DDS with palettes or incomplete cubes).
SLUICE_API SluiceStatus sluiceParseImage(const void* bytes, size_t size, uint64_t fileSize,
                                         SluiceImageInfo* info, SluiceImageLevel* levels,
                                         uint64_t* needed);

// Finds a value in the key/value data of a KTX2 file: "KTXorientation" ("rd": right, down),
// "KTXswizzle" (four letters of rgba01), "KTXwriter" and others.
//   keyValues, size   the info.keyValueSize bytes at offset info.keyValueOffset of the file
//   value             receives the address of the value's bytes, inside keyValues. NULL: there is
//                     no such key, and the call still returns OK. Text usually ends with a 0, which
//                     is part of the value
//   valueSize         receives the number of bytes of the value
// Errors: ARGUMENT, FORMAT (pairs that do not fit, or a key that is empty or has no end).
SLUICE_API SluiceStatus sluiceFindImageValue(const void* keyValues, size_t size, const char* key,
                                             const void** value, uint32_t* valueSize);

// -----------------------------------------------------------------------------------------------
// Archives: the index describes image assets. So an engine can create its image and choose the
// tiles of some levels before it has read any bytes of the asset.

// Reads the description of an image.
//   asset    from sluiceGetArchiveAsset; parameters and size are read
//   info     receives the description; scheme is NONE, and the key/value data are left out. If the
//            asset has no description, container is SLUICE_IMAGE_NONE, and the call still returns
//            OK
//   levels   as for sluiceParseImage; offsets count from the start of the decoded asset
// A result with OK is consistent: every range lies inside the asset, no ranges overlap, and the
// sizes are those of sluiceGetImageLevel. The archive's writer is responsible for a description
// that agrees with the asset's bytes. Errors: ARGUMENT, FORMAT, VERSION (of the description, a
// format or a container).
SLUICE_API SluiceStatus sluiceGetArchiveImage(const SluiceArchiveAsset* asset,
                                              SluiceImageInfo* info, SluiceImageLevel* levels);

// Makes the item of a parameter block that describes an image. Pass it to library sluice_encode in
// SluiceArchiveAssetInfo::parameters, where other items may come before or after it.
//   info, levels   from sluiceParseImage, without a scheme
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
