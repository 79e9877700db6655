// SPDX-License-Identifier: MIT OR Apache-2.0
// Records a UASTC transcode.
#include <sluice/sluice_uastc.h>

#include "api/plan_uastc.h"
#include "vulkan/context.h"

namespace sluice {

SluiceRequirements VulkanBackend::uastcRequirements(const SluiceUastcInfo& info) const
{
    return uastcScratch(info);
}

SluiceStatus VulkanBackend::cmdUastc(SluiceCommands commands, const SluiceUastcInfo& info)
{
    constexpr Pipeline pipelines[] = {Pipeline::uastc_bc7, Pipeline::uastc_astc,
                                      Pipeline::uastc_rgba8, Pipeline::uastc_bc,
                                      Pipeline::uastc_etc};
    const Recording cmd = recordingOf(commands);
    m_recorder.status(cmd, info.status, info.maxRegionCount);
    if (info.maxRegionCount == 0) return SLUICE_OK;
    m_recorder.status(cmd, info.scratch, uastcScratchWords(info));
    const Pipeline pipeline = pipelines[uastcGroup(uastcTarget(info.format, info.flags))];
    const UastcParams params =
        uastcParams(info, m_pipelines.workgroup(pipeline), traits().sortsUastc(), addressOf());
    m_recorder.computeBarrier(cmd);
    m_recorder.dispatch(cmd, pipeline, params, uastcWorkgroups(params),
                        {reads(info.regions), reads(info.regionCount), reads(info.source),
                         writes(info.destination), writes(info.status), writes(info.invalid),
                         writes(info.scratch)});
    return SLUICE_OK;
}

} // namespace sluice
