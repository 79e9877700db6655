// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the decode of the float codec.
#include <sluice/sluice_float.h>

#include "api/plan_float.h"
#include "vulkan/context.h"

namespace sluice {

SluiceStatus VulkanBackend::cmdFloatDecode(SluiceCommands commands,
                                           const SluiceFloatDecodeInfo& info)
{
    const Recording cmd = recordingOf(commands);
    m_recorder.status(cmd, info.status, info.tileCount);
    if (info.tileCount == 0 || info.tensorCount == 0) return SLUICE_OK;
    m_recorder.computeBarrier(cmd);

    const uint32_t laneGroups = std::max(1u, m_pipelines.workgroup(Pipeline::float_decode) / 32);
    const FloatDecodeParams params = floatDecodeParams(
        info, laneGroups, m_machine.tuning.floatDecode.tilesPerLaneGroup,
        std::max(m_machine.tuning.floatDecode.laneGroups / laneGroups, 1u), addressOf());
    m_recorder.dispatch(
        cmd, Pipeline::float_decode, params,
        (uint64_t(info.tileCount) + params.tilesPerWorkgroup - 1) / params.tilesPerWorkgroup,
        {reads(info.tensors), reads(info.source), writes(info.destination), writes(info.status)});
    return SLUICE_OK;
}

} // namespace sluice
