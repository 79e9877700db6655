// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <type_traits>

#include "vulkan/record.h"

namespace sluice {
namespace {

constexpr uint32_t scanTile = SLUICE_PARTIALS_TILE;

uint32_t tilesOf(uint32_t count)
{
    return count / scanTile + (count % scanTile != 0 ? 1 : 0);
}

// Words of scratch for a scan of `count` elements: one a tile, level by level.
uint64_t scanScratchWords(uint32_t count)
{
    uint64_t words = 0;
    while (count > scanTile) {
        count = tilesOf(count);
        words += count;
    }
    return words;
}

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

constexpr VkAccessFlags shaderAccess = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;

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

void VulkanBackend::barrier(VkCommandBuffer commands, VkPipelineStageFlags stages, VkAccessFlags accesses)
{
    VkMemoryBarrier memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    memory.srcAccessMask = accesses;
    memory.dstAccessMask = accesses;
    m_vk.CmdPipelineBarrier(commands, stages, stages, 0, 1, &memory, 0, nullptr, 0, nullptr);
    if (m_recorder != nullptr) {
        m_recorder(m_recorderUser, commands, "barrier", nullptr, 0);
    }
}

// Between the dispatches of one command.
void VulkanBackend::computeBarrier(VkCommandBuffer commands)
{
    barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, shaderAccess);
}

SluiceStatus VulkanBackend::cmdBarrier(SluiceCommands commands)
{
    barrier(commandBuffer(commands),
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
            shaderAccess | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
    return SLUICE_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Compact

// One level: a single tile is scanned at once; more are summed tile by tile into scratch, the sums scanned in place (the
// same again, one level up), and each tile scanned from its sum on. 2^32 elements make three levels.
void VulkanBackend::recordPartials(VkCommandBuffer commands, uint32_t count, uint32_t kind, VkDeviceAddress input,
                               VkDeviceAddress output, VkDeviceAddress total, VkDeviceAddress scratch)
{
    const uint32_t tiles = std::max(tilesOf(count), 1u); // no elements: one empty tile, which writes the total
    const uint64_t bytes = uint64_t(count) * 4, partialBytes = uint64_t(tiles) * 4;
    CompactParams params{};
    params.input_ = pair(input);
    params.output_ = pair(output);
    params.total = pair(total);
    params.count = count;
    params.kind = kind;
    if (tiles > 1) {
        params.partials = pair(scratch);
        params.pass = SLUICE_PASS_REDUCE;
        dispatch(commands, Kernel::partials, params, tiles, {{input, bytes, false}, {scratch, partialBytes, true}});
        computeBarrier(commands);
        recordPartials(commands, tiles, SLUICE_SCAN_EXCLUSIVE, scratch, scratch, 0, scratch + partialBytes);
        computeBarrier(commands);
    }
    params.pass = SLUICE_PASS_APPLY;
    dispatch(commands, Kernel::partials, params, tiles,
             {{input, bytes, false},
              {output, bytes, true},
              {total, 4, true},
              {tiles > 1 ? scratch : 0, partialBytes, false}});
}

SluiceRequirements VulkanBackend::compactRequirements(const SluiceCompactInfo& info) const
{
    const uint32_t tiles = tilesOf(info.count);
    return {(tiles + scanScratchWords(tiles)) * 4, 4, 0};
}

// Count what each tile keeps, scan the counts in place, scatter.
SluiceStatus VulkanBackend::cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    const VkDeviceAddress resultCount = address(info.resultCount);
    if (info.count == 0) {
        recordPartials(cmd, 0, SLUICE_SCAN_EXCLUSIVE, 0, 0, resultCount, 0); // writes the 0
        return SLUICE_OK;
    }
    const uint32_t tiles = tilesOf(info.count);
    const uint64_t bytes = uint64_t(info.count) * 4, partialBytes = uint64_t(tiles) * 4;
    const VkDeviceAddress input = address(info.input), scratch = address(info.scratch);
    const VkDeviceAddress flags = info.flags.size != 0 ? address(info.flags) : input;
    CompactParams params{};
    params.input_ = pair(input);
    params.flags = pair(flags);
    params.output_ = pair(address(info.output));
    params.partials = pair(scratch);
    params.count = info.count;
    params.outputCount = static_cast<u32>(std::min<uint64_t>(info.output.size / 4, info.count));
    params.pass = SLUICE_PASS_REDUCE;
    dispatch(cmd, Kernel::compact, params, tiles, {{flags, bytes, false}, {scratch, partialBytes, true}});
    computeBarrier(cmd);
    recordPartials(cmd, tiles, SLUICE_SCAN_EXCLUSIVE, scratch, scratch, resultCount, scratch + partialBytes);
    computeBarrier(cmd);
    params.pass = SLUICE_PASS_APPLY;
    dispatch(cmd, Kernel::compact, params, tiles,
             {{input, bytes, false},
              {flags, bytes, false},
              {scratch, partialBytes, false},
              {address(info.output), uint64_t(params.outputCount) * 4, true}});
    return SLUICE_OK;
}

} // namespace sluice
