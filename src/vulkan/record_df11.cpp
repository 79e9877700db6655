// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the decode of DFloat11 and ECF8 units.
#include <sluice/sluice_df11.h>

#include "api/plan_df11.h"
#include "vulkan/context.h"

namespace sluice {

SluiceStatus VulkanBackend::cmdDf11(SluiceCommands commands, const SluiceDf11Info& info)
{
    const Recording cmd = recordingOf(commands);
    m_recorder.status(cmd, info.status, info.maxBlockCount);
    if (info.maxBlockCount == 0 || info.maxUnitCount == 0) return SLUICE_OK;
    m_recorder.computeBarrier(cmd);
    const Df11Params params = df11Params(info, addressOf(), m_machine.tuning.df11);
    m_recorder.dispatch(cmd, Pipeline::df11, params, df11Workgroups(params),
                        {reads(info.units), reads(info.unitCount), reads(info.source),
                         writes(info.destination), writes(info.status)});
    return SLUICE_OK;
}

} // namespace sluice
