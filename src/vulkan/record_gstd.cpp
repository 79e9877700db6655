// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the Gstd decode: for each turn (plan_gstd.h) a dispatch that decodes the symbols, then
// one that makes the bytes.
#include <sluice/sluice_gstd.h>

#include "api/plan_gstd.h"
#include "api/plan_regions.h"
#include "vulkan/context.h"

namespace sluice {

SluiceRequirements VulkanBackend::gstdRequirements(const SluiceGstdInfo& info) const
{
    return gstdScratch(info);
}

SluiceStatus VulkanBackend::cmdGstd(SluiceCommands commands, const SluiceGstdInfo& info)
{
    const Recording cmd = recordingOf(commands);
    const SluiceChecksumInfo checksum = checksumOf(info);
    const Access status = writes(info.status), destination = writes(info.destination),
                 second = writes(info.secondDestination);
    const uint32_t statusGroup = m_pipelines.workgroup(Pipeline::status);
    m_recorder.dispatch(cmd, Pipeline::status, regionParams(checksum, addressOf()),
                        (info.maxRegionCount + 3 + statusGroup - 1) / statusGroup, {status});
    const GstdTurns turns(gstdParams(info, addressOf()), gstdSlots(info));
    const auto scratchOf = [&](const GstdParams& turn) {
        return writesAt(fromPair(turn.scratch), turns.scratchSize());
    };
    const auto symbols = [&](const GstdParams& turn, const Access& literals,
                             const Access& secondLiterals) {
        const uint32_t lanes = m_pipelines.workgroup(Pipeline::gstd_symbols);
        const uint64_t wanted = uint64_t(turn.tileCount) * SLUICE_GS_LANES * SLUICE_GS_LANE_GROUPS;
        m_recorder.dispatch(cmd, Pipeline::gstd_symbols, turn, (wanted + lanes - 1) / lanes,
                            {reads(info.regions), reads(info.regionCount), reads(info.source),
                             literals, secondLiterals, scratchOf(turn)});
    };
    const bool expands = m_machine.tuning.gstd.symbolsOnly == 0;
    for (uint32_t i = 0; i < turns.count(); ++i) {
        const GstdParams turn = turns[i];
        // True if the iteration before has recorded this turn's symbols already, before this
        // barrier. They are then decoded while the bytes of the turn before are made.
        const bool decodedAhead = i != 0 && turns.overlapping() && expands;
        m_recorder.computeBarrier(cmd);
        if (!decodedAhead) symbols(turn, destination, second);
        if (!expands) continue;
        if (!decodedAhead) m_recorder.computeBarrier(cmd);
        m_recorder.dispatch(cmd,
                            m_pipelines.has(Pipeline::gstd_expand_few) &&
                                    turn.tileCount <= m_machine.tuning.gstd.fewTiles
                                ? Pipeline::gstd_expand_few
                                : Pipeline::gstd_expand,
                            turn, turn.tileCount,
                            {reads(info.regions), reads(info.regionCount), reads(info.source),
                             destination, second, status, scratchOf(turn)});
        // No barrier is needed before the symbols of the next turn. Their kernel uses the other
        // half of scratch, and writes literals only to tiles of the next turn. These writes are not
        // declared, because the barrier check would report them as conflicts.
        if (turns.overlapping() && i + 1 < turns.count())
            symbols(turns[i + 1], reads(info.source), reads(info.source));
    }
    if (info.expected.size == 0 || info.maxRegionCount == 0) {
        return SLUICE_OK;
    }
    m_recorder.computeBarrier(cmd);
    return cmdChecksum(commands, checksum);
}

} // namespace sluice
