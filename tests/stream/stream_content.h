// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes what tests stream to Vulkan: an archive with an asset of small tiles of every codec, and
// with images of several formats.
#pragma once

#include "tests/stream/stream_engine.h"
#include "tests/support/streams.h"

namespace sluice::test {

struct ImageCase {
    VkFormat format;
    uint32_t blockWidth, blockHeight, blockSize;
    uint32_t width, height, depth, levels, layers;
};
constexpr ImageCase kImages[] = {
    {VK_FORMAT_R8G8B8A8_UNORM, 1, 1, 4, 60, 33, 1, 6, 1},
    {VK_FORMAT_R8_UNORM, 1, 1, 1, 33, 17, 1, 3, 1},
    {VK_FORMAT_BC1_RGBA_UNORM_BLOCK, 4, 4, 8, 68, 50, 1, 7, 1},
    {VK_FORMAT_BC3_UNORM_BLOCK, 4, 4, 16, 36, 20, 1, 2, 3},
    {VK_FORMAT_R8G8B8A8_UNORM, 1, 1, 4, 12, 10, 7, 2, 1},
};

struct ImageAsset {
    PackedAsset packed;
    std::vector<uint64_t> offsets, sizes; // those of the levels
};

SluiceStreamRequest imageRequest(SluiceStreamFile file, uint32_t asset, const ImageCase& image,
                                 const ImageAsset& about, uint32_t level, VkImage handle);
VkImageCreateInfo createInfoOf(const ImageCase& image);
SluiceStreamRequest bufferRequest(SluiceStreamFile file, uint64_t offset, uint64_t size,
                                  const SluiceStreamMemory& to, uint64_t place);

struct VulkanContent {
    PackedAsset small; // small tiles of every codec, which software devices decode quickly
    std::vector<ImageAsset> images;
    Bytes file;

    VulkanContent();
    static constexpr uint32_t kSmall = std::size(kImages); // the asset's number in the archive
};

const VulkanContent& vulkanContent();

// Returns whether the device under test is Vulkan's, which then can decode tiles of every codec; if
// not, the test case is skipped.
bool isVulkan();

} // namespace sluice::test
