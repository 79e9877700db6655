// SPDX-License-Identifier: MIT OR Apache-2.0
// Computes the levels of images, and recognises image files by their magic.
#include "formats/image.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

using namespace sluice;

namespace sluice {

SluiceStatus ImageStart::refuse(SluiceStatus status, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)std::vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return status;
}

void ImageStart::note(const char* format, ...)
{
    size_t used = std::strlen(reason);
    if (used != 0) used += size_t(std::snprintf(reason + used, sizeof reason - used, "; "));
    if (used >= sizeof reason) return;
    va_list arguments;
    va_start(arguments, format);
    (void)std::vsnprintf(reason + used, sizeof reason - used, format, arguments);
    va_end(arguments);
}

uint32_t maxImageLevels(uint32_t width, uint32_t height, uint32_t depth)
{
    return floorLog2(std::max({width, height, depth, 1u})) + 1;
}

SluiceStatus setImageFormat(uint32_t format, SluiceImageInfo& info)
{
    SluiceImageFormat row;
    const SluiceStatus status = sluiceGetImageFormat(format, &row);
    if (status != SLUICE_OK) return status;
    info.format = format;
    info.blockWidth = row.blockWidth;
    info.blockHeight = row.blockHeight;
    info.blockBytes = row.blockBytes;
    if (row.srgb != 0) info.flags |= SLUICE_IMAGE_SRGB;
    return SLUICE_OK;
}

SluiceStatus parseImageStart(ImageStart& start, SluiceImageInfo& info, SluiceImageLevel* levels)
{
    info = {};
    if (isDds(start.bytes, start.size)) return parseDds(start, info, levels);
    if (isKtx2(start.bytes, start.size)) return parseKtx2(start, info, levels);
    // The magic is unknown, or cut off.
    const SluiceStatus status =
        start.require(start.size < kDdsMagicSize ? kDdsMagicSize : kKtx2MagicSize);
    if (status != SLUICE_OK) return status;
    if (isKtx1(start.bytes, start.size))
        return start.refuse(SLUICE_ERROR_FORMAT, "it is KTX 1, which is not read; the tool "
                                                 "ktx2ktx2 of KTX-Software makes KTX2 of it");
    return start.refuse(SLUICE_ERROR_FORMAT, "it is neither KTX2 nor DDS");
}

} // namespace sluice

SluiceStatus sluiceGetImageLevel(const SluiceImageInfo* info, uint32_t level,
                                 SluiceImageLevel* result)
{
    if (info == nullptr || result == nullptr || level >= SLUICE_IMAGE_MAX_LEVELS ||
        info->width == 0 || info->height == 0 || info->depth == 0 || info->layers == 0 ||
        info->faces == 0)
        return SLUICE_ERROR_ARGUMENT;
    SluiceImageFormat format;
    const SluiceStatus status = sluiceGetImageFormat(info->format, &format);
    if (status != SLUICE_OK) return status;
    *result = {};
    result->width = std::max(1u, info->width >> level);
    result->height = std::max(1u, info->height >> level);
    result->depth = std::max(1u, info->depth >> level);
    // The product cannot wrap: 2^32 blocks of at most 32 bytes are less than 2^38 bytes.
    result->rowSize = uint64_t(divideUp(result->width, format.blockWidth)) * format.blockBytes;
    const bool fits =
        multiply(result->rowSize, divideUp(result->height, format.blockHeight),
                 result->sliceSize) &&
        multiply(result->sliceSize, result->depth, result->imageSize) &&
        multiply(result->imageSize, uint64_t(info->layers) * info->faces, result->decodedSize);
    if (!fits) return SLUICE_ERROR_FORMAT;
    result->size = result->decodedSize;
    result->imageStride = result->imageSize;
    return SLUICE_OK;
}

SluiceStatus sluiceGetImageOffset(const SluiceImageInfo* info, const SluiceImageLevel* level,
                                  uint32_t layer, uint32_t face, uint32_t slice, uint64_t* offset)
{
    if (info == nullptr || level == nullptr || offset == nullptr || layer >= info->layers ||
        face >= info->faces || slice >= level->depth)
        return SLUICE_ERROR_ARGUMENT;
    *offset =
        (uint64_t(layer) * info->faces + face) * level->imageStride + slice * level->sliceSize;
    return SLUICE_OK;
}

SluiceStatus sluiceParseImage(const void* bytes, size_t size, uint64_t fileSize,
                              SluiceImageInfo* info, SluiceImageLevel* levels, uint64_t* needed)
{
    if ((bytes == nullptr && size != 0) || info == nullptr || levels == nullptr || fileSize < size)
        return SLUICE_ERROR_ARGUMENT;
    ImageStart start = {static_cast<const uint8_t*>(bytes), size, fileSize, 0, "", false};
    const SluiceStatus status = parseImageStart(start, *info, levels);
    if (needed != nullptr) *needed = status == SLUICE_ERROR_BUFFER_SIZE ? start.needed : 0;
    return status;
}
