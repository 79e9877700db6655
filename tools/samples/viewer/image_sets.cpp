// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/image_sets.h"

namespace viewer {

ImageSets::ImageSets(Device& device, const VkSamplerCreateInfo& sampler, uint32_t count,
                     uint32_t images)
    : m_device(device)
{
    const bool isMany = images > 1;
    require(vkCreateSampler(device.get(), &sampler, nullptr, &m_sampler), "vkCreateSampler");
    VkDescriptorSetLayoutBinding binding = {};
    binding.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    binding.descriptorCount = images;
    binding.stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT;
    const VkDescriptorBindingFlags flags = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT |
                                           VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT |
                                           VK_DESCRIPTOR_BINDING_UPDATE_UNUSED_WHILE_PENDING_BIT;
    VkDescriptorSetLayoutBindingFlagsCreateInfo bindingFlags = {};
    bindingFlags.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO;
    bindingFlags.bindingCount = 1;
    bindingFlags.pBindingFlags = &flags;
    VkDescriptorSetLayoutCreateInfo layout = {};
    layout.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    layout.bindingCount = 1;
    layout.pBindings = &binding;
    if (isMany) {
        layout.pNext = &bindingFlags;
        layout.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT;
    }
    require(vkCreateDescriptorSetLayout(device.get(), &layout, nullptr, &m_layout),
            "vkCreateDescriptorSetLayout");

    m_sets.resize(count);
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, count * images};
    VkDescriptorPoolCreateInfo pool = {};
    pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool.flags = isMany ? VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT : 0;
    pool.maxSets = count;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    require(vkCreateDescriptorPool(device.get(), &pool, nullptr, &m_pool),
            "vkCreateDescriptorPool");
    const std::vector<VkDescriptorSetLayout> layouts(m_sets.size(), m_layout);
    VkDescriptorSetAllocateInfo allocate = {};
    allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocate.descriptorPool = m_pool;
    allocate.descriptorSetCount = count;
    allocate.pSetLayouts = layouts.data();
    require(vkAllocateDescriptorSets(device.get(), &allocate, m_sets.data()),
            "vkAllocateDescriptorSets");
}

ImageSets::~ImageSets()
{
    vkDestroyDescriptorPool(m_device.get(), m_pool, nullptr);
    vkDestroyDescriptorSetLayout(m_device.get(), m_layout, nullptr);
    vkDestroySampler(m_device.get(), m_sampler, nullptr);
}

void ImageSets::write(VkDescriptorSet set, uint32_t element, VkImageView view) const
{
    const VkDescriptorImageInfo image = {m_sampler, view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    VkWriteDescriptorSet write = {};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set;
    write.dstArrayElement = element;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    write.pImageInfo = &image;
    vkUpdateDescriptorSets(m_device.get(), 1, &write, 0, nullptr);
}

} // namespace viewer
