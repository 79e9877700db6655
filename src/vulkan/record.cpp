// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <type_traits>

#include "vulkan/record.h"

namespace sluice {
namespace {

// A VkBuffer is a pointer on 64-bit machines and an integer elsewhere.
template <typename Handle>
Handle handleOf(uint64_t value)
{
    if constexpr (std::is_pointer_v<Handle>) {
        return reinterpret_cast<Handle>(static_cast<uintptr_t>(value));
    } else {
        return value;
    }
}

constexpr VkAccessFlags kShaderAccess = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;

} // namespace

VkDeviceAddress VulkanBackend::address(const SluiceBuffer& buffer) const
{
    if (buffer.size == 0) {
        return 0;
    }
    VkBufferDeviceAddressInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    info.buffer = handleOf<VkBuffer>(buffer.handle);
    return m_vk.GetBufferDeviceAddress(m_device, &info) + buffer.offset;
}

VulkanBackend::Access VulkanBackend::access(const SluiceBuffer& buffer, bool write) const
{
    return {address(buffer), buffer.size, write};
}

void VulkanBackend::barrier(VkCommandBuffer commands, VkPipelineStageFlags stages,
                            VkAccessFlags accesses, bool toHost)
{
    VkMemoryBarrier memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    memory.srcAccessMask = accesses;
    memory.dstAccessMask = accesses;
    VkPipelineStageFlags after = stages;
    if (toHost) {
        memory.dstAccessMask |= VK_ACCESS_HOST_READ_BIT;
        after |= VK_PIPELINE_STAGE_HOST_BIT;
    }
    m_vk.CmdPipelineBarrier(commands, stages, after, 0, 1, &memory, 0, nullptr, 0, nullptr);
    if (m_recorder != nullptr) {
        m_recorder(m_recorderUser, commands, "barrier", nullptr, 0);
    }
}

// Stands between the dispatches of one command.
void VulkanBackend::computeBarrier(VkCommandBuffer commands)
{
    barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kShaderAccess);
}

void VulkanBackend::recordStatus(VkCommandBuffer commands, const SluiceBuffer& status,
                                 uint32_t count)
{
    RegionParams params{};
    params.status = pair(address(status));
    params.maxRegionCount = count;
    const uint32_t group = workgroup(Pipeline::status);
    dispatch(commands, Pipeline::status, params, (uint64_t(count) + 2 + group - 1) / group,
             {access(status, true)});
}

SluiceStatus VulkanBackend::cmdBarrier(SluiceCommands commands)
{
    barrier(commandBuffer(commands),
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
                VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
            kShaderAccess | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                VK_ACCESS_INDIRECT_COMMAND_READ_BIT,
            true);
    return SLUICE_OK;
}

} // namespace sluice
