// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the building of FSE tables.
#include <sluice/sluice_fse.h>

#include "api/plan_fse.h"
#include "vulkan/context.h"

namespace sluice {

SluiceStatus VulkanBackend::cmdFseTables(SluiceCommands commands, const SluiceFseTablesInfo& info)
{
    const Recording cmd = recordingOf(commands);
    m_recorder.status(cmd, info.status, info.maxRegionCount);
    if (info.maxRegionCount == 0) return SLUICE_OK;
    m_recorder.computeBarrier(cmd);
    const FseTablesParams params =
        fseTablesParams(info, addressOf(), m_machine.tuning.fseTables.laneGroups);
    const uint32_t groups = m_pipelines.workgroup(Pipeline::fse_tables) / SLUICE_FSE_LANES;
    m_recorder.dispatch(cmd, Pipeline::fse_tables, params,
                        (fseTablesGroups(params) + groups - 1) / groups,
                        {reads(info.regions), reads(info.regionCount), reads(info.source),
                         writes(info.destination), writes(info.status)});
    return SLUICE_OK;
}

} // namespace sluice
