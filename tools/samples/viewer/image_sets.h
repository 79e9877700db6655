// SPDX-License-Identifier: MIT OR Apache-2.0
// Descriptor sets with images and one sampler, for fragment shaders.
#pragma once

#include <vector>

#include "tools/samples/viewer/device.h"

namespace viewer {

class ImageSets {
public:
    // Makes `count` descriptor sets with `images` images each. A set with one image may be written
    // only while no frame in flight uses the set. In a set with several images, an element may be
    // written while frames use others, if no frame in flight uses that element.
    ImageSets(Device& device, const VkSamplerCreateInfo& sampler, uint32_t count, uint32_t images);
    ~ImageSets();
    ImageSets(const ImageSets&) = delete;
    ImageSets& operator=(const ImageSets&) = delete;

    VkDescriptorSetLayout layout() const { return m_layout; }
    VkDescriptorSet operator[](uint32_t set) const { return m_sets[set]; }
    void write(VkDescriptorSet set, uint32_t element, VkImageView view) const;

private:
    Device& m_device;
    VkSampler m_sampler = VK_NULL_HANDLE;
    VkDescriptorSetLayout m_layout = VK_NULL_HANDLE;
    VkDescriptorPool m_pool = VK_NULL_HANDLE;
    std::vector<VkDescriptorSet> m_sets;
};

} // namespace viewer
