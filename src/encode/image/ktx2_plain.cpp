// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes the supercompression of KTX2 files.
#include <sluice/sluice_image_encode.h>

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "formats/image.h"
#include "encode/gstd/zstd_reader.h"

namespace sluice {
namespace {

SluiceStatus decodeZstd(const void* packed, size_t packedSize, void* bytes, size_t size)
{
    const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
    if (!context) return SLUICE_ERROR_OUT_OF_MEMORY;
    // The output is the window, so a frame that asks for a large one costs nothing.
    const size_t result = ZSTD_decompressDCtx(context.get(), bytes, size, packed, packedSize);
    if (ZSTD_isError(result) != 0) return statusOfZstd(result);
    return result == size ? SLUICE_OK : SLUICE_ERROR_FORMAT;
}

SluiceStatus decodeZlib(const uint8_t* packed, size_t packedSize, uint8_t* bytes, size_t size)
{
    z_stream stream = {};
    if (inflateInit(&stream) != Z_OK) return SLUICE_ERROR_OUT_OF_MEMORY;
    // zlib counts in 32 bits.
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
        result = inflate(&stream, Z_NO_FLUSH); // without progress: Z_BUF_ERROR
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

// Writes everything before the levels; `levels` are those of the new file.
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
    const uint64_t descriptorEnd =
                       uint64_t(loadLe32(from + ktx2DfdOffset)) + loadLe32(from + ktx2DfdSize),
                   metadata = info.keyValueSize != 0 ? info.keyValueOffset + info.keyValueSize
                                                     : descriptorEnd;
    if (metadata > size) return SLUICE_ERROR_BUFFER_SIZE;

    const uint64_t alignment = ktx2Alignment(info.blockBytes);
    uint64_t end = metadata;
    for (uint32_t level = info.levels; level-- != 0;) {
        // Offsets stay far below 2^64, but sizes that a file with a scheme merely claims need not.
        if (end > UINT64_MAX - alignment) return SLUICE_ERROR_FORMAT;
        levels[level].offset = divideUp(end, alignment) * alignment;
        levels[level].size = levels[level].decodedSize;
        if (level + 1 == info.levels) *startSize = levels[level].offset;
        if (!add(levels[level].offset, levels[level].size, end)) return SLUICE_ERROR_FORMAT;
    }
    *plainSize = end;
    if (start == nullptr) return SLUICE_OK;
    if (capacity < *startSize) return SLUICE_ERROR_BUFFER_SIZE;
    writeStart(from, info, levels, metadata, *startSize, static_cast<uint8_t*>(start));
    return SLUICE_OK;
}
