// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues compaction: one launch; a partition counts first.
#include "api/plan_compact.h"
#include "cuda/enqueue.h"

#include <algorithm>

namespace sluice {

SluiceRequirements CudaBackend::compactRequirements(const SluiceCompactInfo& info) const
{
    return compactScratch(
        info, std::min(compactTileElements(4), compactTileElements(requiredBytes(info))));
}

SluiceStatus CudaBackend::cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    const CudaTuning::Compact& tuning = m_tuning.compact;
    const bool programmatic = tuning.programmaticLaunch != 0;
    const uint32_t size = compactedBytes(info);
    const uint64_t tiles = scanTiles(info.maxCount, compactTileElements(size));
    const auto blocksUpTo = [tiles](uint32_t most) {
        return static_cast<uint32_t>(std::min<uint64_t>(tiles, most));
    };
    const bool inPlace = isInPlace(info);
    CompactParams params = compactParams(info, m_tuning.lookback.polls);
    setAddresses(params, info, addressOf);
    if (isSerial(params, inPlace, true)) {
        params.mode |= SLUICE_COMPACT_MODE_SERIAL;
        params.workgroups = 1;
        return statusFrom(launchCompact(stream, size, params, programmatic));
    }
    if (inPlace) {
        params.mode |= SLUICE_COMPACT_MODE_IN_PLACE;
        params.polls = tuning.pollsInPlace;
    }
    const bool partition = (info.flags & SLUICE_COMPACT_PARTITION) != 0;
    if (partition && tiles > 1) {
        CompactParams counting = params;
        counting.mode |= SLUICE_COMPACT_MODE_COUNT;
        counting.workgroups = blocksUpTo(tuning.blocks);
        const cudaError_t error = launchCompact(stream, size, counting, false);
        if (error != cudaSuccess) return statusFrom(error);
    }
    const bool oneOutput = (info.output.size == 0) != (info.indices.size == 0);
    const bool scanner = hasScanner(params.polls, tiles, m_tuning.lookback.scannerTiles);
    if (scanner) params.mode |= SLUICE_COMPACT_MODE_SCANNER;
    if (tiles + (scanner ? 1 : 0) <= tuning.blocks && !inPlace) {
        params.mode |= SLUICE_COMPACT_MODE_DIRECT;
    } else if (tuning.ring != 0 && scanner && oneOutput && !partition && !inPlace &&
               (params.input_.lo & 15) == 0) {
        if (size == 4) normalizeTest(params);
        if (size == 4 && tuning.wordBlocks != 0 && compactsWords(params)) {
            params.workgroups = blocksUpTo(tuning.wordBlocks) + 1;
            return statusFrom(launchCompactWords(stream, params));
        }
        params.mode |= SLUICE_COMPACT_MODE_AHEAD;
    }
    params.workgroups = blocksUpTo(tuning.blocks) + (scanner ? 1 : 0);
    return statusFrom(launchCompact(stream, size, params, programmatic));
}

} // namespace sluice
