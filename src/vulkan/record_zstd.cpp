// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the Zstandard decode: the steps of plan_zstd.h.
#include <sluice/sluice_zstd.h>

#include "api/plan_zstd.h"
#include "vulkan/context.h"

namespace sluice {

SluiceRequirements VulkanBackend::zstdRequirements(const SluiceZstdInfo& info) const
{
    return zstdScratch(info, m_machine.tuning.zstd);
}

SluiceStatus VulkanBackend::cmdZstd(SluiceCommands commands, const SluiceZstdInfo& info)
{
    const Recording cmd = recordingOf(commands);
    const ZstdTuning& tuning = m_machine.tuning.zstd;
    const uint32_t group = SLUICE_ZS_EXPAND_BYTES * m_pipelines.workgroup(Pipeline::zstd_expand);
    m_recorder.status(cmd, info.status, info.maxRegionCount);
    const auto run = [&](ZstdStep step, const ZstdParams& params) {
        constexpr Pipeline pipelines[] = {Pipeline::zstd_walk,      Pipeline::zstd_place,
                                          Pipeline::zstd_sequences, Pipeline::zstd_literals,
                                          Pipeline::zstd_place,     Pipeline::zstd_expand,
                                          Pipeline::zstd_bytes,     Pipeline::zstd_hash};
        const Pipeline pipeline = pipelines[size_t(step)];
        const uint32_t lanes = m_pipelines.workgroup(pipeline);
        const uint32_t groups = uint32_t(zstdLaneGroups(params));
        uint64_t wanted = params.slots;
        if (step == ZstdStep::walk) wanted = zstdWalkThreads(params);
        if (step == ZstdStep::literals) wanted = uint64_t(32) * groups;
        if (step == ZstdStep::bytes) wanted = zstdThreads(params);
        if (step == ZstdStep::expand) wanted = uint64_t(lanes) * params.slots;
        if (pipeline == Pipeline::zstd_place) wanted = zstdPlaceThreads(params);
        if (step == ZstdStep::sequences) {
            const uint32_t each = m_machine.traits.zstdTeamsPerWorkgroup(),
                           teams = SLUICE_ZS_TEAMS(groups, m_machine.tuning.zstdChains);
            wanted = uint64_t(lanes) * ((teams + each - 1) / each);
        }
        // The literals' dispatch writes parts of scratch that the sequences' dispatch does not use,
        // so no barrier is needed between the two. Its writes are not declared, because the barrier
        // check would report them as conflicts.
        const bool beside = step == ZstdStep::literals && params.pass != SLUICE_ZS_READ_DICTIONARY;
        if (!beside) m_recorder.computeBarrier(cmd);
        m_recorder.dispatch(
            cmd, pipeline, params, (wanted + lanes - 1) / lanes,
            {reads(info.regions), reads(info.regionCount), reads(info.source),
             reads(info.dictionary),
             step >= ZstdStep::expand ? writes(info.destination) : reads(info.destination),
             beside ? reads(info.source) : writes(info.status),
             beside ? reads(info.source) : writes(info.scratch)});
    };
    forEachZstdStep(info, tuning, group, zstdParams(info, tuning, addressOf()), run);
    return SLUICE_OK;
}

} // namespace sluice
