// SPDX-License-Identifier: MIT OR Apache-2.0
// Declarations for the readers of KTX2 and DDS files.
#pragma once

#include <sluice/sluice_image.h>

#include "formats/little_endian.h"

namespace sluice {

// multiply and add return false if the result does not fit into 64 bits.
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

// Converts a number for printf's %llu, which is not the format of uint64_t on every platform.
inline unsigned long long longOf(uint64_t value) { return value; }

// The beginning of a file, as much of it as the caller has read.
struct ImageStart {
    const uint8_t* bytes;
    uint64_t size, fileSize;
    uint64_t needed; // after BUFFER_SIZE: how many bytes a reader needs
    // A message that can follow "FILE: "; may be empty. After FORMAT and VERSION it says what is
    // wrong and what is allowed. After OK it says where the result deviates from the header, or
    // what the format does not say about the pixels.
    char reason[320];
    bool isWarning; // after OK: whoever ignores the reason may misinterpret the pixels

    // Returns OK if the caller has `count` bytes, BUFFER_SIZE if only the file has that many, and
    // FORMAT if the file is shorter.
    SluiceStatus require(uint64_t count)
    {
        if (count <= size) return SLUICE_OK;
        needed = count;
        if (count <= fileSize) return SLUICE_ERROR_BUFFER_SIZE;
        return refuse(SLUICE_ERROR_FORMAT, "the file ends at byte %llu, inside its header",
                      longOf(fileSize));
    }

    // Formats the reason as printf does, and returns `status`.
    SluiceStatus refuse(SluiceStatus status, const char* format, ...);
    void note(const char* format, ...); // adds to the reason of a file that is accepted
    template <typename... Arguments>
    void warn(const char* format, Arguments... arguments)
    {
        note(format, arguments...);
        isWarning = true;
    }
};
// Parses the start of a file like sluiceParseImage. Also sets start.reason.
SluiceStatus parseImageStart(ImageStart& start, SluiceImageInfo& info, SluiceImageLevel* levels);

bool isKtx2(const uint8_t* bytes, uint64_t size); // these look only at the magic
bool isDds(const uint8_t* bytes, uint64_t size);
bool isKtx1(const uint8_t* bytes, uint64_t size); // KTX1 files are recognised, but not read
constexpr uint64_t kKtx2MagicSize = 12, kDdsMagicSize = 4;
constexpr uint8_t kKtx2Magic[kKtx2MagicSize] = {0xab, 'K',  'T',  'X',  ' ',  '2',
                                                '0',  0xbb, 0x0d, 0x0a, 0x1a, 0x0a};
constexpr uint32_t kDdsHeaderBytes = 128; // without the DX10 header

// Parse a file whose magic was recognised, with the results of sluiceParseImage.
SluiceStatus parseKtx2(ImageStart& start, SluiceImageInfo& info, SluiceImageLevel* levels);
SluiceStatus parseDds(ImageStart& start, SluiceImageInfo& info, SluiceImageLevel* levels);

// Returns how many mip levels an image of these extents can have, at least 1.
uint32_t maxImageLevels(uint32_t width, uint32_t height, uint32_t depth);
// UASTC has no VkFormat, so KTX2 files give the number 0.
constexpr uint32_t kUastcFormat = 0;
constexpr uint32_t kModelUastc = 166;  // the colour model of UASTC in descriptors
constexpr uint32_t kKtx2Channels = 16; // the number of values of channelType, a field of 4 bits

// Sets format, block sizes and sRGB flag. Errors: VERSION.
SluiceStatus setImageFormat(uint32_t format, SluiceImageInfo& info);

// The VkFormat of a DXGI_FORMAT (0: the table has none), and flags for properties that the VkFormat
// does not express.
struct DxgiFormat {
    uint32_t format;
    uint32_t flags; // SluiceImageFlags
};
DxgiFormat formatOfDxgi(uint32_t dxgi);

// The layout of a KTX2 file: offsets in the header, and sizes.
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
    ktx2LevelBytes = 24, // an entry of the level index: u64 offset, size, decoded size
};
// Offsets in a KTX2 file's data format descriptor, from its start, if it has one basic block.
enum DfdField : uint32_t {
    dfdVendorAndType = 4,
    dfdVersion = 8,    // u16
    dfdBlockSize = 10, // u16
    dfdModel = 12,     // u8
    dfdPrimaries = 13, // u8
    dfdTransfer = 14,  // u8
    dfdFlags = 15,     // u8
    dfdExtents = 16,   // u8[4], each 1 less than the extent
    dfdPlanes = 20,    // u8[8]: bytes of each plane
    dfdBasicBytes = 28,
    // In the first sample: a u8 with the channelType in bits 0 to 3.
    dfdChannel = 31,
    dfdSampleBytes = 16,
};

// Returns the alignment of levels in a KTX2 file without supercompression: the least common
// multiple of the block's bytes and 4.
constexpr uint32_t ktx2Alignment(uint32_t blockBytes)
{
    return blockBytes % 4 == 0 ? blockBytes : blockBytes % 2 == 0 ? 2 * blockBytes : 4 * blockBytes;
}

// Returns where the metadata of a KTX2 file that has been parsed ends: header, level index,
// descriptor and key/value data.
inline uint64_t ktx2MetadataEnd(const uint8_t* start, const SluiceImageInfo& info)
{
    return info.keyValueSize != 0
               ? info.keyValueOffset + info.keyValueSize
               : uint64_t(loadLe32(start + ktx2DfdOffset)) + loadLe32(start + ktx2DfdSize);
}

// Computes the offsets and sizes that the levels have in a file without supercompression, in which
// they follow the metadata. end: receives the size of that file. Errors: FORMAT (a sum overflows,
// since a file may claim any decoded size for compressed levels).
inline SluiceStatus placePlainLevels(const SluiceImageInfo& info, uint64_t metadataEnd,
                                     SluiceImageLevel* levels, uint64_t& end)
{
    const uint64_t alignment = ktx2Alignment(info.blockBytes);
    end = metadataEnd;
    for (uint32_t level = info.levels; level-- != 0;) {
        if (end > UINT64_MAX - alignment) return SLUICE_ERROR_FORMAT;
        levels[level].offset = divideUp(end, alignment) * alignment;
        levels[level].size = levels[level].decodedSize;
        if (!add(levels[level].offset, levels[level].size, end)) return SLUICE_ERROR_FORMAT;
    }
    return SLUICE_OK;
}

} // namespace sluice
