// SPDX-License-Identifier: MIT OR Apache-2.0
// Computes the levels of images, and recognises image files by their magic.
#include "formats/image.h"

#include <algorithm>

using namespace sluice;

namespace sluice {

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
    // A row has less than 2^38 bytes.
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
    ImageStart start = {static_cast<const uint8_t*>(bytes), size, fileSize, 0};
    *info = {};
    SluiceStatus status;
    if (isDds(start.bytes, size)) {
        status = parseDds(start, *info, levels);
    } else if (isKtx2(start.bytes, size)) {
        status = parseKtx2(start, *info, levels);
    } else { // no known magic, or too few bytes of one
        status = start.require(size < kDdsMagicSize ? kDdsMagicSize : kKtx2MagicSize);
        if (status == SLUICE_OK) status = SLUICE_ERROR_FORMAT;
    }
    if (needed != nullptr) *needed = status == SLUICE_ERROR_BUFFER_SIZE ? start.needed : 0;
    return status;
}
