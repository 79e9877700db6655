// SPDX-License-Identifier: MIT OR Apache-2.0
// Requests for the levels of an image asset.
#include <sluice/sluice_image.h>
#include <sluice/sluice_stream.h>

#include <algorithm>

#include "stream/streamer.h"
#include "stream/transcodes.h"

using namespace sluice;
using namespace sluice::stream;

namespace {

// Returns a request for `images` layers or faces of a level, from index `first` on. Their bytes are
// contiguous in the asset.
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

// Returns whether a UASTC image may be transcoded to this format (SluiceUastcInfo), which must suit
// the image's channels. If the channels are not known, as in archives that an older version has
// packed, all formats are allowed.
bool isUastcTarget(const SluiceImageInfo& info, uint32_t format, uint32_t flags)
{
#if SLUICE_HAVE_UASTC
    constexpr uint32_t kFeatures =
        SLUICE_UASTC_HAS_BC | SLUICE_UASTC_HAS_ASTC | SLUICE_UASTC_HAS_ETC2;
    const uint32_t target = uastcTarget(format, flags);
    const uint32_t choice = (info.flags & SLUICE_IMAGE_SRGB) != 0 ? SLUICE_UASTC_SRGB : 0;
    SluiceUastcFormat formats[SLUICE_UASTC_MAX_FORMATS];
    uint32_t count = 0;
    if (target == kNoUastcTarget) return false;
    if (info.colourModel == 0 ||
        sluiceGetUastcFormats(info.channel, kFeatures, choice, formats, &count) != SLUICE_OK)
        return true;
    return std::any_of(formats, formats + count, [&](const SluiceUastcFormat& one) {
        return uastcTarget(one.format, one.flags) == target && one.flags == flags;
    });
#else
    (void)info, (void)format, (void)flags;
    return false;
#endif
}

// Returns whether the levels of an image may be delivered in the format that `wanted` has. If they
// are UASTC, sets in `box` the format that they are transcoded to.
bool chooseFormat(const SluiceImageInfo& info, const SluiceStreamImage& wanted,
                  SluiceStreamImage& box)
{
    if (info.format != 0) {
        SluiceImageFormat format = {};
        return wanted.format == 0 || wanted.format == info.format ||
               (sluiceGetImageFormat(info.format, &format) == SLUICE_OK &&
                wanted.format == format.twin);
    }
    box.format = wanted.format;
    box.formatFlags = wanted.formatFlags;
    return wanted.format != 0 && isUastcTarget(info, wanted.format, wanted.formatFlags);
}

} // namespace

SluiceStatus sluiceStreamFindImage(SluiceStreamFile file, const char* name, size_t nameLength,
                                   uint32_t* asset, SluiceImageInfo* info)
{
    ArgumentChecker check(file != nullptr ? file->owner->reporter() : Reporter{}, __func__);
    if (!check.given(SLUICE_NAMED(file)) || !check.given(SLUICE_NAMED(info))) return check.status();
    SluiceArchiveAsset about = {};
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    SluiceStatus status = sluiceStreamFindAsset(file, name, nameLength, asset);
    if (status != SLUICE_OK) return status;
    check.require(SLUICE_NAMED(name), *asset != UINT32_MAX, "is the name of an asset");
    if (!check.isOk()) return check.status();
    status = sluiceStreamGetAsset(file, *asset, &about);
    if (status == SLUICE_OK) status = sluiceGetArchiveImage(&about, info, levels);
    if (status != SLUICE_OK) return status;
    if (file->ktx2 != nullptr) *info = file->ktx2->info();
    check.require(SLUICE_NAMED(name), info->container != SLUICE_IMAGE_NONE,
                  "is the name of an image");
    return check.status();
}

SluiceStatus sluiceStreamGetImageRequests(SluiceStreamFile file, uint32_t asset,
                                          uint32_t firstLevel, uint32_t levelCount,
                                          const SluiceStreamImage* image,
                                          SluiceStreamRequest* requests, uint32_t* count)
{
    ArgumentChecker check(file != nullptr ? file->owner->reporter() : Reporter{}, __func__);
    if (!check.given(SLUICE_NAMED(file)) || !check.given(SLUICE_NAMED(image)) ||
        !check.given(SLUICE_NAMED(count)))
        return check.status();
    check.require(SLUICE_NAMED(requests), *count == 0 || requests != nullptr, "is not NULL");
    if (!check.isOk()) return check.status();
    SluiceArchiveAsset about = {};
    SluiceImageInfo info = {};
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    SluiceStatus status = sluiceStreamGetAsset(file, asset, &about);
    if (status == SLUICE_OK) status = sluiceGetArchiveImage(&about, &info, levels);
    if (status != SLUICE_OK) return status;
    check.require(SLUICE_NAMED(asset), info.container != SLUICE_IMAGE_NONE, "is an image");
    check.require(SLUICE_NAMED(firstLevel), firstLevel < info.levels, "is less than the limit",
                  SLUICE_ERROR_ARGUMENT, info.levels);
    check.atLeast(SLUICE_NAMED(levelCount), 1);
    check.require(SLUICE_NAMED(levelCount), uint64_t(firstLevel) + levelCount <= info.levels,
                  "is at most the limit, what the image has from firstLevel on",
                  SLUICE_ERROR_ARGUMENT, info.levels - firstLevel);
    SluiceStreamImage made = {};
    check.require(SLUICE_NAMED(image->format), chooseFormat(info, *image, made),
                  "is a format that the asset has or, of UASTC, becomes", SLUICE_ERROR_UNSUPPORTED);
    if (!check.isOk()) return check.status();
    // An archive may claim any number of layers, so the total is computed, and the loop below ends
    // where the room does.
    const uint32_t room = *count, images = info.layers * info.faces;
    const auto togetherIn = [&](const SluiceImageLevel& level) {
        return level.imageStride == level.imageSize ? images : 1;
    };
    uint64_t total = 0;
    for (uint32_t i = 0; i < levelCount; ++i)
        total += images / togetherIn(levels[firstLevel + i]);
    *count = 0;
    for (uint32_t i = 0; i < levelCount; ++i) {
        const SluiceImageLevel& level = levels[firstLevel + i];
        const uint32_t together = togetherIn(level);
        for (uint32_t first = 0; first < images && *count < room; first += together, ++*count) {
            SluiceStreamRequest& request = requests[*count];
            request = requestOf(file, asset, info, level, first, together);
            SluiceStreamImage& box = request.image;
            box.format = made.format;
            box.formatFlags = made.formatFlags;
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
    *count = uint32_t(std::min<uint64_t>(total, UINT32_MAX));
    return total <= room ? SLUICE_OK : SLUICE_ERROR_BUFFER_SIZE;
}
