// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and makes the item of an archive's parameter block that describes an image (docs/format.md,
// 4.10).

#include "formats/archive_layout.h"
#include "formats/image.h"

namespace sluice {
namespace {

// Byte offsets of the item's members, from the end of its head (kItemHead).
enum ImageItemField : uint32_t {
    itemVersion = 0,   // u16
    itemContainer = 2, // u16
    itemFlags = 4,
    itemFormat = 8,
    itemWidth = 12,
    itemHeight = 16,
    itemDepth = 20,
    itemLayers = 24,
    itemFaces = 28,    // u16
    itemLevels = 30,   // u16
    itemTransfer = 32, // u32
    itemChannel = 36,  // u32: of UASTC, 1 + channelType of the descriptor; 0: not known
    itemStride = 40,   // u64
    itemLevelsBegin = 48,
    itemLevelBytes = 16, // u64 offset, u64 size
};
static_assert(kItemHead + itemLevelsBegin + SLUICE_IMAGE_MAX_LEVELS * itemLevelBytes ==
              SLUICE_IMAGE_ITEM_SIZE);
constexpr uint32_t kImageItemVersion = 1;

// Returns whether the flags agree with the other members.
bool flagsFit(const SluiceImageInfo& info)
{
    const auto has = [&](SluiceImageFlags flag) { return (info.flags & flag) != 0; };
    SluiceImageInfo format = {};
    (void)setImageFormat(info.format, format);
    const bool isUastc = info.format == kUastcFormat;
    return (info.layers == 1 || has(SLUICE_IMAGE_ARRAY)) &&
           (info.depth == 1 || has(SLUICE_IMAGE_3D)) &&
           (info.height == 1 || !has(SLUICE_IMAGE_1D)) && has(SLUICE_IMAGE_TRANSCODE) == isUastc &&
           (isUastc || has(SLUICE_IMAGE_SRGB) == (format.flags != 0));
}

// Returns whether the levels lie inside an asset of `size` bytes without overlap. If `stride` is
// not 0, sets imageStride of each level to it.
bool levelsFit(const SluiceImageInfo& info, uint64_t size, uint64_t stride,
               SluiceImageLevel* levels)
{
    const bool isKtx = info.container == SLUICE_IMAGE_KTX2;
    if ((stride == 0) != (isKtx || info.levels == 1)) return false;
    const uint64_t images = uint64_t(info.layers) * info.faces;
    // The first level in the file must not begin before the end of the file's header.
    uint64_t end =
                 isKtx ? ktx2HeaderBytes + uint64_t(info.levels) * ktx2LevelBytes : kDdsHeaderBytes,
             whole;
    for (uint32_t i = 0; i < info.levels; ++i) {
        // Check the levels in the order in which they lie in the file: KTX2 has the smallest first.
        SluiceImageLevel& level = levels[isKtx ? info.levels - 1 - i : i];
        const uint64_t bytes = stride != 0 ? level.imageSize : level.decodedSize;
        if (level.offset < end || level.offset > size || bytes > size - level.offset) return false;
        end = level.offset + bytes;
        if (stride != 0) level.imageStride = stride;
    }
    if (stride == 0) return true;
    const uint64_t begin = levels[0].offset;
    return stride >= end - begin && multiply(stride, images - 1, whole) && whole <= size - end;
}

SluiceStatus readItem(const uint8_t* item, uint32_t size, uint64_t assetSize, SluiceImageInfo& info,
                      SluiceImageLevel* levels)
{
    if (size < 2) return SLUICE_ERROR_FORMAT;
    if (loadLe16(item + itemVersion) != kImageItemVersion) return SLUICE_ERROR_VERSION;
    if (size < itemLevelsBegin) return SLUICE_ERROR_FORMAT;
    info.container = loadLe16(item + itemContainer);
    info.flags = loadLe32(item + itemFlags);
    info.width = loadLe32(item + itemWidth);
    info.height = loadLe32(item + itemHeight);
    info.depth = loadLe32(item + itemDepth);
    info.layers = loadLe32(item + itemLayers);
    info.faces = loadLe16(item + itemFaces);
    info.levels = loadLe16(item + itemLevels);
    info.transfer = loadLe32(item + itemTransfer);
    const bool cube = (info.flags & SLUICE_IMAGE_CUBE) != 0;
    if (info.width == 0 || info.height == 0 || info.depth == 0 || info.layers == 0 ||
        info.faces != (cube ? 6 : 1) || info.layers > UINT32_MAX / info.faces ||
        (cube && info.width != info.height) || info.levels == 0 ||
        info.levels > maxImageLevels(info.width, info.height, info.depth) ||
        size != itemLevelsBegin + info.levels * itemLevelBytes)
        return SLUICE_ERROR_FORMAT;
    const uint32_t flags = info.flags;
    if (setImageFormat(loadLe32(item + itemFormat), info) != SLUICE_OK ||
        (info.container != SLUICE_IMAGE_KTX2 && info.container != SLUICE_IMAGE_DDS))
        return SLUICE_ERROR_VERSION;
    info.flags = flags;
    if (!flagsFit(info)) return SLUICE_ERROR_FORMAT;
    const uint32_t channel = loadLe32(item + itemChannel);
    if (info.format == kUastcFormat && channel != 0 && channel <= kKtx2Channels) {
        info.colourModel = kModelUastc;
        info.channel = channel - 1;
    }
    for (uint32_t i = 0; i < info.levels; ++i) {
        const uint8_t* from = item + itemLevelsBegin + i * itemLevelBytes;
        const SluiceStatus status = sluiceGetImageLevel(&info, i, &levels[i]);
        if (status != SLUICE_OK) return status;
        levels[i].offset = loadLe64(from);
        if (loadLe64(from + 8) != levels[i].decodedSize) return SLUICE_ERROR_FORMAT;
    }
    return levelsFit(info, assetSize, loadLe64(item + itemStride), levels) ? SLUICE_OK
                                                                           : SLUICE_ERROR_FORMAT;
}

} // namespace
} // namespace sluice

using namespace sluice;

SluiceStatus sluiceGetArchiveImage(const SluiceArchiveAsset* asset, SluiceImageInfo* info,
                                   SluiceImageLevel* levels)
{
    if (asset == nullptr || info == nullptr || levels == nullptr) return SLUICE_ERROR_ARGUMENT;
    *info = {};
    const uint8_t* block = static_cast<const uint8_t*>(asset->parameters);
    const uint32_t size = block == nullptr ? 0 : asset->parameterSize;
    for (uint32_t at = 0; at < size;) {
        if (size - at < kItemHead || itemSize(block + at) > size - at - kItemHead)
            return SLUICE_ERROR_FORMAT;
        const uint32_t bytes = itemSize(block + at);
        if (loadLe16(block + at) == kImageItem)
            return readItem(block + at + kItemHead, bytes, asset->size, *info, levels);
        at += kItemHead + uint32_t(alignUp(bytes, 4));
    }
    return SLUICE_OK;
}

SluiceStatus sluiceMakeArchiveImageItem(const SluiceImageInfo* info, const SluiceImageLevel* levels,
                                        uint8_t item[SLUICE_IMAGE_ITEM_SIZE], uint32_t* size)
{
    if (info == nullptr || levels == nullptr || item == nullptr || size == nullptr ||
        info->scheme != SLUICE_IMAGE_SCHEME_NONE || info->levels == 0 ||
        info->levels > SLUICE_IMAGE_MAX_LEVELS || info->faces > 6)
        return SLUICE_ERROR_ARGUMENT;
    const uint32_t bytes = itemLevelsBegin + info->levels * itemLevelBytes;
    *size = kItemHead + bytes;
    std::memset(item, 0, *size);
    storeLe16(item, kImageItem);
    storeLe32(item + 4, bytes);
    uint8_t* to = item + kItemHead;
    storeLe16(to + itemVersion, kImageItemVersion);
    storeLe16(to + itemContainer, info->container);
    storeLe32(to + itemFlags, info->flags);
    storeLe32(to + itemFormat, info->format);
    storeLe32(to + itemWidth, info->width);
    storeLe32(to + itemHeight, info->height);
    storeLe32(to + itemDepth, info->depth);
    storeLe32(to + itemLayers, info->layers);
    storeLe16(to + itemFaces, info->faces);
    storeLe16(to + itemLevels, info->levels);
    storeLe32(to + itemTransfer, info->transfer);
    if (info->colourModel == kModelUastc) storeLe32(to + itemChannel, info->channel + 1);
    if (info->container == SLUICE_IMAGE_DDS && info->levels > 1)
        storeLe64(to + itemStride, levels[0].imageStride);
    for (uint32_t i = 0; i < info->levels; ++i) {
        storeLe64(to + itemLevelsBegin + i * itemLevelBytes, levels[i].offset);
        storeLe64(to + itemLevelsBegin + i * itemLevelBytes + 8, levels[i].decodedSize);
    }
    return SLUICE_OK;
}
