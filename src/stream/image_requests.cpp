// SPDX-License-Identifier: MIT OR Apache-2.0
// Requests for the levels of an image asset.
#include <sluice/sluice_image.h>
#include <sluice/sluice_stream.h>

namespace {

// Requests `images` layers or faces of a level, starting with index `first`. They are contiguous in
// the asset.
SluiceStreamRequest requestOf(SluiceStreamFile file, uint32_t asset, const SluiceImageInfo& info,
                              const SluiceImageLevel& level, uint32_t first, uint32_t images)
{
    SluiceStreamRequest request = {};
    request.source = SLUICE_STREAM_FROM_ARCHIVE;
    request.target = SLUICE_STREAM_TO_IMAGE;
    request.file = file;
    request.asset = asset;
    request.offset = level.offset + first * level.imageStride;
    request.size = images * level.imageSize;
    SluiceStreamImage& box = request.image;
    box.blockWidth = info.blockWidth;
    box.blockHeight = info.blockHeight;
    box.blockSize = info.blockBytes;
    box.layerCount = images;
    box.extent[0] = level.width;
    box.extent[1] = level.height;
    box.extent[2] = level.depth;
    return request;
}

} // namespace

SluiceStatus sluiceStreamGetImageRequests(SluiceStreamFile file, uint32_t asset,
                                          uint32_t firstLevel, uint32_t levelCount,
                                          const SluiceStreamImage* image,
                                          SluiceStreamRequest* requests, uint32_t* count)
{
    if (image == nullptr || count == nullptr || (*count != 0 && requests == nullptr))
        return SLUICE_ERROR_ARGUMENT;
    SluiceArchiveAsset about = {};
    SluiceImageInfo info = {};
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    SluiceStatus status = sluiceStreamGetAsset(file, asset, &about);
    if (status == SLUICE_OK) status = sluiceGetArchiveImage(&about, &info, levels);
    if (status != SLUICE_OK) return status;
    if (info.container == SLUICE_IMAGE_NONE || levelCount == 0 || firstLevel >= info.levels ||
        levelCount > info.levels - firstLevel)
        return SLUICE_ERROR_ARGUMENT;
    if (info.format == 0) return SLUICE_ERROR_UNSUPPORTED;
    const uint32_t room = *count, images = info.layers * info.faces;
    *count = 0;
    for (uint32_t i = 0; i < levelCount; ++i) {
        const SluiceImageLevel& level = levels[firstLevel + i];
        const uint32_t together = level.imageStride == level.imageSize ? images : 1;
        for (uint32_t first = 0; first < images; first += together, ++*count) {
            if (*count >= room) continue;
            SluiceStreamRequest& request = requests[*count];
            request = requestOf(file, asset, info, level, first, together);
            SluiceStreamImage& box = request.image;
            box.image = image->image;
            box.level = image->level + i;
            box.firstLayer = image->firstLayer + first;
            box.oldLayout = image->oldLayout;
            box.newLayout = image->newLayout;
            box.stages = image->stages;
            box.accesses = image->accesses;
            box.sourceFamily = image->sourceFamily;
            box.destinationFamily = image->destinationFamily;
        }
    }
    return *count <= room ? SLUICE_OK : SLUICE_ERROR_BUFFER_SIZE;
}
