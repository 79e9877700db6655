// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the decode of DFloat11 and ECF8 units.
#include <sluice/sluice_df11.h>

#include "api/plan_df11.h"
#include "vulkan/record.h"

namespace sluice {

SluiceStatus VulkanBackend::cmdDf11(SluiceCommands commands, const SluiceDf11Info& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    recordStatus(cmd, info.status, info.maxBlockCount);
    if (info.maxBlockCount == 0 || info.maxUnitCount == 0) return SLUICE_OK;
    computeBarrier(cmd);
    const Df11Params params = df11Params(info, addressOf(), m_tuning.df11);
    dispatch(cmd, Pipeline::df11, params, df11Workgroups(params),
             {access(info.units, false), access(info.unitCount, false), access(info.source, false),
              access(info.destination, true), access(info.status, true)});
    return SLUICE_OK;
}

} // namespace sluice
