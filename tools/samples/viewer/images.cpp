// SPDX-License-Identifier: MIT OR Apache-2.0
// Images and their memory. Drivers limit how many allocations there are (only 4,096 are
// guaranteed), so images share large blocks; an image takes the first free range that is large
// enough.
#include <algorithm>

#include "tools/samples/viewer/device.h"

namespace viewer {

namespace {

constexpr VkDeviceSize kBlockSize = VkDeviceSize{16} << 20;

} // namespace

bool Device::allocateFrom(uint32_t block, const VkMemoryRequirements& needs, ImageMemory& memory)
{
    auto& free = m_blocks[block].free;
    for (auto range = free.begin(); range != free.end(); ++range) {
        const auto [begin, size] = *range;
        const VkDeviceSize offset =
            (begin + needs.alignment - 1) / needs.alignment * needs.alignment;
        const VkDeviceSize skipped = offset - begin;
        if (skipped > size || size - skipped < needs.size) continue;
        free.erase(range);
        if (skipped != 0) free[begin] = skipped;
        const VkDeviceSize rest = size - skipped - needs.size;
        if (rest != 0) free[offset + needs.size] = rest;
        memory = {block, offset, needs.size};
        return true;
    }
    return false;
}

ImageMemory Device::allocateImage(const VkMemoryRequirements& needs)
{
    const uint32_t type = m_engine->typeFor(needs.memoryTypeBits, Memory::local);
    ImageMemory memory;
    uint32_t unused = uint32_t(m_blocks.size());
    for (uint32_t i = 0; i < m_blocks.size(); ++i) {
        if (m_blocks[i].memory == VK_NULL_HANDLE)
            unused = i;
        else if (m_blocks[i].type == type && allocateFrom(i, needs, memory))
            return memory;
    }
    if (unused == m_blocks.size()) m_blocks.emplace_back();
    Block& block = m_blocks[unused];
    block.size = std::max(kBlockSize, needs.size);
    block.memory = m_engine->allocateMemory({block.size, 0, 1u << type}, Memory::local);
    block.type = type;
    block.free = {{0, block.size}};
    allocateFrom(unused, needs, memory);
    return memory;
}

void Device::release(const ImageMemory& memory)
{
    Block& block = m_blocks[memory.block];
    auto range = block.free.emplace(memory.offset, memory.size).first;
    const auto next = std::next(range);
    if (next != block.free.end() && range->first + range->second == next->first) {
        range->second += next->second;
        block.free.erase(next);
    }
    if (range != block.free.begin()) {
        const auto before = std::prev(range);
        if (before->first + before->second == range->first) {
            before->second += range->second;
            block.free.erase(range);
        }
    }
    // One empty block stays, so that destroying and making an image does not allocate each time.
    const auto isEmpty = [](const Block& b) {
        return b.memory != VK_NULL_HANDLE && b.free.size() == 1 && b.free.begin()->second == b.size;
    };
    if (!isEmpty(block) || std::count_if(m_blocks.begin(), m_blocks.end(), isEmpty) < 2) return;
    m_engine->freeMemory(block.memory, block.size);
    block = {};
}

Image Device::makeImage(const VkImageCreateInfo& info, VkImageAspectFlags aspect,
                        VkImageViewType viewType, const VkComponentMapping& swizzle)
{
    Image made;
    VkImageCreateInfo create = info;
    const VkImageUsageFlags attachments =
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    // Both queue families use streamed images. Concurrent sharing saves transfers of ownership.
    if ((info.usage & attachments) == 0 && streamingFamily() != family()) {
        create.sharingMode = VK_SHARING_MODE_CONCURRENT;
        create.queueFamilyIndexCount = 2;
        create.pQueueFamilyIndices = m_families;
    }
    require(vkCreateImage(m_device, &create, nullptr, &made.image), "vkCreateImage");
    VkMemoryRequirements needs = {};
    vkGetImageMemoryRequirements(m_device, made.image, &needs);
    made.memory = allocateImage(needs);
    require(vkBindImageMemory(m_device, made.image, m_blocks[made.memory.block].memory,
                              made.memory.offset),
            "vkBindImageMemory");
    VkImageViewCreateInfo view = {};
    view.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
    view.image = made.image;
    view.viewType = viewType;
    view.format = info.format;
    view.components = swizzle;
    view.subresourceRange = {aspect, 0, info.mipLevels, 0, info.arrayLayers};
    require(vkCreateImageView(m_device, &view, nullptr, &made.view), "vkCreateImageView");
    return made;
}

void Device::destroy(Image& image)
{
    if (image.image == VK_NULL_HANDLE) return;
    vkDestroyImageView(m_device, image.view, nullptr);
    vkDestroyImage(m_device, image.image, nullptr);
    release(image.memory);
    image = {};
}

} // namespace viewer
