// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the building of FSE tables.
#include <sluice/sluice_fse.h>

#include "api/plan_fse.h"
#include "vulkan/record.h"

namespace sluice {

SluiceStatus VulkanBackend::cmdFseTables(SluiceCommands commands, const SluiceFseTablesInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    recordStatus(cmd, info.status, info.maxRegionCount);
    if (info.maxRegionCount == 0) return SLUICE_OK;
    computeBarrier(cmd);
    const FseTablesParams params =
        fseTablesParams(info, addressOf(), m_tuning.fseTables.laneGroups);
    const uint32_t groups = workgroup(Pipeline::fse_tables) / SLUICE_FSE_LANES;
    dispatch(cmd, Pipeline::fse_tables, params, (fseTablesGroups(params) + groups - 1) / groups,
             {access(info.regions, false), access(info.regionCount, false),
              access(info.source, false), access(info.destination, true),
              access(info.status, true)});
    return SLUICE_OK;
}

} // namespace sluice
