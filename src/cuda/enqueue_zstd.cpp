// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the Zstandard decode: the steps of plan_zstd.h.
#include <sluice/sluice_zstd.h>

#include "api/plan_zstd.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceRequirements CudaBackend::zstdRequirements(const SluiceZstdInfo& info) const
{
    return zstdScratch(info, m_tuning.zstd);
}

SluiceStatus CudaBackend::cmdZstd(SluiceCommands commands, const SluiceZstdInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    const ZstdTuning& tuning = m_tuning.zstd;
    cudaError_t error = enqueueStatus(stream, info.status, info.maxRegionCount);
    const auto run = [&](ZstdStep step, const ZstdParams& params) {
        constexpr cudaError_t (*launches[])(cudaStream_t, const ZstdParams&) = {
            launchZstdWalk,  launchZstdPlace,  launchZstdSequences, nullptr,
            launchZstdPlace, launchZstdExpand, launchZstdBytes,     launchZstdHash};
        if (error != cudaSuccess) return;
        error = step == ZstdStep::literals
                    ? launchZstdLiterals(stream, params,
                                         m_tuning.zstdLiteralsBeside != 0 &&
                                             params.pass != SLUICE_ZS_READ_DICTIONARY)
                    : launches[size_t(step)](stream, params);
    };
    forEachZstdStep(info, tuning, SLUICE_ZS_EXPAND_BYTES * kZstdExpandThreads,
                    zstdParams(info, tuning, addressOf), run);
    return statusFrom(error);
}

} // namespace sluice
