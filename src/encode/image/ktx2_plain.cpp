// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes the supercompression of KTX2 files, in which each mip level is one Zstandard frame or one
// zlib stream. The result is a KTX2 file with the same levels in plain bytes.
#include <sluice/sluice_image_encode.h>

#include <zlib.h>

#include <algorithm>

#include "formats/errors.h"
#include "formats/image.h"
#include "encode/gstd/zstd_reader.h"

namespace sluice {
namespace {

SluiceStatus decodeZstd(const void* packed, size_t packedSize, void* bytes, size_t size)
{
    cpu::ZstdRegion region = {};
    region.source = static_cast<const uint8_t*>(packed);
    region.sourceSize = packedSize;
    region.destination = static_cast<uint8_t*>(bytes);
    region.size = size;
    return withoutExceptions([&] { return statusOfZstd(cpu::fast::decodeZstd(region).status); });
}

SluiceStatus decodeZlib(const uint8_t* packed, size_t packedSize, uint8_t* bytes, size_t size)
{
    z_stream stream = {};
    if (inflateInit(&stream) != Z_OK) return SLUICE_ERROR_OUT_OF_MEMORY;
    // zlib's counters have 32 bits, so larger buffers are handed over in pieces of at most 1 GiB.
    constexpr size_t most = size_t(1) << 30;
    int result = Z_OK;
    while (result == Z_OK) {
        if (stream.avail_in == 0) {
            stream.next_in = const_cast<Bytef*>(packed);
            stream.avail_in = uInt(std::min(packedSize, most));
            packed += stream.avail_in;
            packedSize -= stream.avail_in;
        }
        if (stream.avail_out == 0) {
            stream.next_out = bytes;
            stream.avail_out = uInt(std::min(size, most));
            bytes += stream.avail_out;
            size -= stream.avail_out;
        }
        // If no progress is possible, this returns Z_BUF_ERROR, which ends the loop.
        result = inflate(&stream, Z_NO_FLUSH);
    }
    const bool whole =
        stream.avail_in == 0 && packedSize == 0 && stream.avail_out == 0 && size == 0;
    (void)inflateEnd(&stream);
    switch (result) {
    case Z_STREAM_END: return whole ? SLUICE_OK : SLUICE_ERROR_FORMAT;
    case Z_MEM_ERROR: return SLUICE_ERROR_OUT_OF_MEMORY;
    case Z_NEED_DICT: return SLUICE_ERROR_UNSUPPORTED;
    default: return SLUICE_ERROR_FORMAT;
    }
}

// Writes the new file's bytes before its first level: header, index of the levels, descriptor and
// metadata. The first `metadata` bytes are copied from the old file `from`. `levels` are those of
// the new file, and `start` has room for startSize bytes.
void writeStart(const uint8_t* from, const SluiceImageInfo& info, const SluiceImageLevel* levels,
                uint64_t metadata, uint64_t startSize, uint8_t* start)
{
    std::memcpy(start, from, size_t(metadata));
    std::memset(start + metadata, 0, size_t(startSize - metadata));
    storeLe32(start + ktx2Scheme, SLUICE_IMAGE_SCHEME_NONE);
    for (uint32_t level = 0; level < info.levels; ++level) {
        uint8_t* entry = start + ktx2HeaderBytes + size_t(level) * ktx2LevelBytes;
        storeLe64(entry, levels[level].offset);
        storeLe64(entry + 8, levels[level].size);
        storeLe64(entry + 16, levels[level].decodedSize);
    }
    uint8_t* planes = start + loadLe32(from + ktx2DfdOffset) + dfdPlanes;
    if (loadLe64(planes) == 0) planes[0] = uint8_t(info.blockBytes);
}

} // namespace
} // namespace sluice

using namespace sluice;

SluiceStatus sluiceKtx2DecodeLevel(uint32_t scheme, const void* packed, size_t packedSize,
                                   void* bytes, size_t size)
{
    if (packed == nullptr || bytes == nullptr || size == 0) return SLUICE_ERROR_ARGUMENT;
    switch (scheme) {
    case SLUICE_IMAGE_SCHEME_NONE:
        if (packedSize != size) return SLUICE_ERROR_FORMAT;
        std::memcpy(bytes, packed, size);
        return SLUICE_OK;
    case SLUICE_IMAGE_SCHEME_ZSTD: return decodeZstd(packed, packedSize, bytes, size);
    case SLUICE_IMAGE_SCHEME_ZLIB:
        return decodeZlib(static_cast<const uint8_t*>(packed), packedSize,
                          static_cast<uint8_t*>(bytes), size);
    default: return SLUICE_ERROR_ARGUMENT;
    }
}

SluiceStatus sluiceKtx2PlanPlain(const void* bytes, size_t size, uint64_t fileSize, void* start,
                                 size_t capacity, uint64_t* startSize, SluiceImageLevel* levels,
                                 uint64_t* plainSize)
{
    if (startSize == nullptr || levels == nullptr || plainSize == nullptr ||
        (start == nullptr && capacity != 0))
        return SLUICE_ERROR_ARGUMENT;
    const uint8_t* from = static_cast<const uint8_t*>(bytes);
    SluiceImageInfo info;
    const SluiceStatus status = sluiceParseImage(bytes, size, fileSize, &info, levels, nullptr);
    if (status != SLUICE_OK) return status;
    if (info.container != SLUICE_IMAGE_KTX2) return SLUICE_ERROR_FORMAT;
    const uint64_t metadata = ktx2MetadataEnd(from, info);
    if (metadata > size) return SLUICE_ERROR_BUFFER_SIZE;
    uint64_t end = 0;
    const SluiceStatus placed = placePlainLevels(info, metadata, levels, end);
    if (placed != SLUICE_OK) return placed;
    *startSize = levels[info.levels - 1].offset;
    *plainSize = end;
    if (start == nullptr) return SLUICE_OK;
    if (capacity < *startSize) return SLUICE_ERROR_BUFFER_SIZE;
    writeStart(from, info, levels, metadata, *startSize, static_cast<uint8_t*>(start));
    return SLUICE_OK;
}
