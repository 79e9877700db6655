// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the decode of the float codec.
#include <sluice/sluice_float.h>

#include "api/plan_float.h"
#include "vulkan/record.h"

namespace sluice {

SluiceStatus VulkanBackend::cmdFloatDecode(SluiceCommands commands,
                                           const SluiceFloatDecodeInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    recordStatus(cmd, info.status, info.tileCount);
    if (info.tileCount == 0 || info.tensorCount == 0) return SLUICE_OK;
    computeBarrier(cmd);

    const u32 laneGroups = std::max(1u, workgroup(Pipeline::float_decode) / 32);
    const FloatDecodeParams params =
        floatDecodeParams(info, laneGroups, m_tuning.floatDecode.tilesPerLaneGroup,
                          std::max(m_tuning.floatDecode.laneGroups / laneGroups, 1u), addressOf());
    dispatch(cmd, Pipeline::float_decode, params,
             (uint64_t(info.tileCount) + params.tilesPerWorkgroup - 1) / params.tilesPerWorkgroup,
             {access(info.tensors, false), access(info.source, false),
              access(info.destination, true), access(info.status, true)});
    return SLUICE_OK;
}

} // namespace sluice
