// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the Gstd decode: turn by turn symbols, then bytes.
#include <sluice/sluice_gstd.h>

#include "api/plan_gstd.h"
#include "api/plan_regions.h"
#include "vulkan/record.h"

namespace sluice {

SluiceRequirements VulkanBackend::gstdRequirements(const SluiceGstdInfo& info) const
{
    return gstdScratch(info);
}

SluiceStatus VulkanBackend::cmdGstd(SluiceCommands commands, const SluiceGstdInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    const SluiceChecksumInfo checksum = checksumOf(info);
    const Access status = access(info.status, true), destination = access(info.destination, true);
    const uint32_t statusGroup = workgroup(Pipeline::status);
    dispatch(cmd, Pipeline::status, paramsOf(checksum),
             (info.maxRegionCount + 3 + statusGroup - 1) / statusGroup, {status});
    const GstdTurns turns(gstdParams(info, addressOf()), gstdSlots(info));
    const auto scratchOf = [&](const GstdParams& turn) {
        return Access{fromPair(turn.scratch), turns.scratchSize(), true};
    };
    const auto symbols = [&](const GstdParams& turn, const Access& literals) {
        const uint32_t lanes = workgroup(Pipeline::gstd_symbols);
        const uint64_t wanted = uint64_t(turn.tileCount) * SLUICE_GS_LANES * SLUICE_GS_LANE_GROUPS;
        dispatch(cmd, Pipeline::gstd_symbols, turn, (wanted + lanes - 1) / lanes,
                 {access(info.regions, false), access(info.regionCount, false),
                  access(info.source, false), literals, scratchOf(turn)});
    };
    const bool expands = m_tuning.gstd.symbolsOnly == 0;
    for (uint32_t i = 0; i < turns.count(); ++i) {
        const GstdParams turn = turns[i];
        // Symbols of a turn are decoded while bytes of the turn before are made.
        const bool decodedAhead = i != 0 && turns.overlapping() && expands;
        computeBarrier(cmd);
        if (!decodedAhead) symbols(turn, destination);
        if (!expands) continue;
        if (!decodedAhead) computeBarrier(cmd);
        dispatch(cmd,
                 has(Pipeline::gstd_expand_few) && turn.tileCount <= m_tuning.gstd.fewTiles
                     ? Pipeline::gstd_expand_few
                     : Pipeline::gstd_expand,
                 turn, turn.tileCount,
                 {access(info.regions, false), access(info.regionCount, false),
                  access(info.source, false), destination, status, scratchOf(turn)});
        // No barrier, and the recorder is not told of the literals: tiles of other turns lie
        // elsewhere in the destination.
        if (turns.overlapping() && i + 1 < turns.count())
            symbols(turns[i + 1], access(info.source, false));
    }
    if (info.expected.size == 0 || info.maxRegionCount == 0) {
        return SLUICE_OK;
    }
    computeBarrier(cmd);
    return cmdChecksum(commands, checksum);
}

} // namespace sluice
