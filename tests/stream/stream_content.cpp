// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/stream/stream_content.h"

#include "tests/support/zstd_regions.h"

#include <algorithm>

namespace sluice::test {
namespace {

// Returns an asset of small tiles of every codec, which software devices decode quickly.
PackedAsset smallAsset()
{
    std::mt19937 random = makeRandom(5);
    PackedAsset asset;
    asset.name = "small";
    Bytes few = randomBytes(random, 20000);
    for (uint8_t& byte : few)
        byte &= 7;
    asset.add(few, SLUICE_CODEC_GDEFLATE, 8192);
    asset.add(smoothBytes(random, 12000), SLUICE_CODEC_GSTD, 8192, true);
    asset.add(few, SLUICE_CODEC_GSTD, 16384);
    asset.add(randomBytes(random, 10000), SLUICE_CODEC_STORE, 4096);
    asset.add(few, SLUICE_CODEC_FLOAT, 16384);
    asset.add(smoothBytes(random, 8000), SLUICE_CODEC_GDEFLATE, 4096, true);
    asset.add(few, SLUICE_CODEC_ZSTD, 16384);
    asset.add(smoothBytes(random, 6000), SLUICE_CODEC_ZSTD, 4096, true);
    return asset;
}

uint32_t levelExtent(uint32_t extent, uint32_t level) { return std::max(extent >> level, 1u); }

// Returns an asset of an image's levels, one after the other. Its tiles do not end where levels do.
ImageAsset imageAsset(const ImageCase& image, uint32_t number)
{
    ImageAsset asset;
    asset.packed.name = "image" + std::to_string(number);
    std::mt19937 random = makeRandom(100 + number);
    uint64_t size = 0;
    for (uint32_t level = 0; level < image.levels; ++level) {
        const uint64_t across =
            (levelExtent(image.width, level) + image.blockWidth - 1) / image.blockWidth;
        const uint64_t down =
            (levelExtent(image.height, level) + image.blockHeight - 1) / image.blockHeight;
        size = (size + 15) / 16 * 16 + 16;
        asset.offsets.push_back(size);
        asset.sizes.push_back(across * down * image.blockSize * levelExtent(image.depth, level) *
                              image.layers);
        size += asset.sizes.back();
    }
    Bytes few = randomBytes(random, size_t(size + 3) / 4 * 4);
    for (uint8_t& byte : few)
        byte &= 63;
    asset.packed.add(few, number % 2 == 0 ? SLUICE_CODEC_GSTD : SLUICE_CODEC_GDEFLATE, 1000);
    return asset;
}

} // namespace

SluiceStreamRequest imageRequest(SluiceStreamFile file, uint32_t asset, const ImageCase& image,
                                 const ImageAsset& about, uint32_t level, VkImage handle)
{
    SluiceStreamRequest request = {};
    request.source = SLUICE_STREAM_FROM_ARCHIVE;
    request.target = SLUICE_STREAM_TO_IMAGE;
    request.file = file;
    request.asset = asset;
    request.offset = about.offsets[level];
    request.size = about.sizes[level];
    SluiceStreamImage& box = request.image;
    box.image = sluiceStreamImageHandle(handle);
    box.blockWidth = image.blockWidth;
    box.blockHeight = image.blockHeight;
    box.blockSize = image.blockSize;
    box.level = level;
    box.layerCount = image.layers;
    box.extent[0] = levelExtent(image.width, level);
    box.extent[1] = levelExtent(image.height, level);
    box.extent[2] = levelExtent(image.depth, level);
    box.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    box.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    box.stages = VK_PIPELINE_STAGE_TRANSFER_BIT;
    box.accesses = VK_ACCESS_TRANSFER_READ_BIT;
    return request;
}

VkImageCreateInfo createInfoOf(const ImageCase& image)
{
    VkImageCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.imageType = image.depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
    info.format = image.format;
    info.extent = {image.width, image.height, image.depth};
    info.mipLevels = image.levels;
    info.arrayLayers = image.layers;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT;
    return info;
}

SluiceStreamRequest bufferRequest(SluiceStreamFile file, uint64_t offset, uint64_t size,
                                  const SluiceStreamMemory& to, uint64_t place)
{
    SluiceStreamRequest request = fromArchive(file, 0, offset, size, nullptr);
    request.target = SLUICE_STREAM_TO_BUFFER;
    request.buffer = {to.buffer.handle, to.buffer.offset + place, size};
    return request;
}

VulkanContent::VulkanContent() : small(smallAsset())
{
    std::vector<PackedAsset> assets = {small};
    for (uint32_t i = 0; i < std::size(kImages); ++i) {
        images.push_back(imageAsset(kImages[i], i));
        assets.push_back(images.back().packed);
    }
    // The names of assets must ascend.
    std::rotate(assets.begin(), assets.begin() + 1, assets.end());
    file = packArchive(assets);
}

const VulkanContent& vulkanContent()
{
    static const VulkanContent one;
    return one;
}

bool isVulkan()
{
    if (device().backend() == SLUICE_BACKEND_VULKAN) {
        needZstd(device());
        return true;
    }
    skipCase("streams to Vulkan");
    return false;
}

} // namespace sluice::test
