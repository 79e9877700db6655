// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues a compaction: one launch; for a partition, an earlier launch counts the kept elements.
#include <sluice/sluice_compact.h>

#include "api/plan_compact.h"
#include "cuda/enqueue.h"

#include <algorithm>

namespace sluice {

SluiceRequirements CudaBackend::compactRequirements(const SluiceCompactInfo& info) const
{
    return compactScratch(
        info, std::min(compactTileElements(4), compactTileElements(requiredBytes(info))));
}

CompactMachine CudaBackend::compactMachine(const SluiceCompactInfo& info) const
{
    const CudaTuning::Compact& tuning = m_tuning.compact;
    CompactMachine machine = {};
    machine.lookback = m_tuning.lookback;
    machine.pollsInPlace = tuning.pollsInPlace;
    machine.forwardProgress = machine.scanners = true;
    machine.lookAhead = tuning.ring != 0;
    machine.tileElements = compactTileElements(compactedBytes(info));
    machine.workgroups = tuning.blocks;
    machine.serialTiles = UINT32_MAX;
    if (tuning.ring != 0 && tuning.wordBlocks != 0 && compactedBytes(info) == 4) {
        machine.ringElements = machine.tileElements;
        machine.ringTiles = tuning.blocks;
        machine.ringWorkgroups = tuning.wordBlocks + 1;
        machine.ringNeedsScanner = true;
    }
    return machine;
}

SluiceStatus CudaBackend::cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    const bool programmatic = m_tuning.compact.programmaticLaunch != 0;
    const uint32_t size = compactedBytes(info);
    CompactParams params = compactParams(info, m_tuning.lookback.polls);
    setAddresses(params, info, addressOf);
    CompactMachine machine = compactMachine(info);
    // The ring loads tiles by bulk copies, which must be 16-byte aligned. Its stages have no room
    // for elements of WIDE sizes (12 and 20 bytes).
    machine.lookAhead =
        machine.lookAhead && (params.input_.lo & 15) == 0 && !SLUICE_COMPACT_IS_WIDE(size);
    CompactPlan plan = planCompact(info, params, machine, compactsWords);
    // If possible, makes the test a comparison that is not inverted, because it takes the fewest
    // instructions in the ring kernel.
    if (size == 4 && (plan.params.mode & SLUICE_COMPACT_MODE_AHEAD) != 0)
        normalizeTest(plan.params);
    if (plan.countingWorkgroups != 0) {
        const cudaError_t error = launchCompact(stream, plan.counting, size, false);
        if (error != cudaSuccess) return statusFrom(error);
    }
    return statusFrom(plan.path == CompactPlan::Path::ring
                          ? launchCompactWords(stream, plan.params)
                          : launchCompact(stream, plan.params, size, programmatic));
}

} // namespace sluice
