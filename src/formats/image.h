// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions that the readers of image files share.
#pragma once

#include <sluice/sluice_image.h>

#include "formats/little_endian.h"

namespace sluice {

// Both functions return false if the result does not fit into 64 bits.
inline bool multiply(uint64_t a, uint64_t b, uint64_t& result)
{
    result = a * b;
    return a == 0 || result / a == b;
}
inline bool add(uint64_t a, uint64_t b, uint64_t& result)
{
    result = a + b;
    return result >= a;
}

// The first bytes of a file, as many as the caller has read.
struct ImageStart {
    const uint8_t* bytes;
    uint64_t size, fileSize;
    uint64_t needed; // bytes that a reader that returned BUFFER_SIZE needs

    // Returns OK if the caller has `count` bytes, BUFFER_SIZE if only the file has them, and FORMAT
    // if the file is shorter.
    SluiceStatus require(uint64_t count)
    {
        if (count <= size) return SLUICE_OK;
        needed = count;
        return count <= fileSize ? SLUICE_ERROR_BUFFER_SIZE : SLUICE_ERROR_FORMAT;
    }
};

bool isKtx2(const uint8_t* bytes, uint64_t size); // by the magic
bool isDds(const uint8_t* bytes, uint64_t size);
void writeKtx2Magic(uint8_t* file);
constexpr uint64_t kKtx2MagicSize = 12, kDdsMagicSize = 4;
constexpr uint32_t kDdsHeaderBytes = 128; // without that of DX10

// sluiceParseImage for files whose magic was seen.
SluiceStatus parseKtx2(ImageStart& start, SluiceImageInfo& info, SluiceImageLevel* levels);
SluiceStatus parseDds(ImageStart& start, SluiceImageInfo& info, SluiceImageLevel* levels);

// Returns how many levels an image of these extents can have, at least 1.
uint32_t maxImageLevels(uint32_t width, uint32_t height, uint32_t depth);
// VkFormat has no number for UASTC, so a KTX2 file has 0.
constexpr uint32_t kUastcFormat = 0;

// Takes blocks and sRGB from the format. Errors: VERSION.
SluiceStatus setImageFormat(uint32_t format, SluiceImageInfo& info);

// The VkFormat of a DXGI_FORMAT, and flags for its properties that the VkFormat lacks. `format` is
// 0 if the table has no such format.
struct DxgiFormat {
    uint32_t format;
    uint32_t flags; // SluiceImageFlags
};
DxgiFormat formatOfDxgi(uint32_t dxgi);

// The layout of a KTX2 file.
enum Ktx2Field : uint32_t {
    ktx2Format = 12,
    ktx2TypeSize = 16,
    ktx2Width = 20,
    ktx2Height = 24,
    ktx2Depth = 28,
    ktx2Layers = 32,
    ktx2Faces = 36,
    ktx2Levels = 40,
    ktx2Scheme = 44,
    ktx2DfdOffset = 48,
    ktx2DfdSize = 52,
    ktx2KvdOffset = 56,
    ktx2KvdSize = 60,
    ktx2SgdOffset = 64, // u64
    ktx2SgdSize = 72,   // u64
    ktx2HeaderBytes = 80,
    ktx2LevelBytes = 24, // u64 offset, bytes and bytes without the scheme
};
// The layout of its data format descriptor with one basic block; offsets are from the descriptor's
// start.
enum DfdField : uint32_t {
    dfdVendorAndType = 4,
    dfdVersion = 8,    // u16
    dfdBlockSize = 10, // u16
    dfdModel = 12,     // u8
    dfdPrimaries = 13, // u8
    dfdTransfer = 14,  // u8
    dfdFlags = 15,     // u8
    dfdExtents = 16,   // u8[4], less 1 each
    dfdPlanes = 20,    // u8[8]: bytes of each
    dfdBasicBytes = 28,
    dfdSampleBytes = 16,
};

// Returns the alignment of level offsets in a KTX2 file without a scheme: the least common multiple
// of the block's bytes and 4.
constexpr uint32_t ktx2Alignment(uint32_t blockBytes)
{
    return blockBytes % 4 == 0 ? blockBytes : blockBytes % 2 == 0 ? 2 * blockBytes : 4 * blockBytes;
}

} // namespace sluice
