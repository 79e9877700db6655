// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the UASTC transcoder.
#include <sluice/sluice_uastc.h>

#include "api/plan_uastc.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceRequirements CudaBackend::uastcRequirements(const SluiceUastcInfo& info) const
{
    return uastcScratch(info);
}

SluiceStatus CudaBackend::cmdUastc(SluiceCommands commands, const SluiceUastcInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    cudaError_t error = enqueueStatus(stream, info.status, info.maxRegionCount);
    if (error != cudaSuccess || info.maxRegionCount == 0) return statusFrom(error);
    error = enqueueStatus(stream, info.scratch, uastcScratchWords(info));
    if (error != cudaSuccess) return statusFrom(error);
    return statusFrom(launchUastc(stream, uastcParams(info, kUastcThreads, true, addressOf),
                                  uastcGroup(uastcTarget(info.format, info.flags))));
}

} // namespace sluice
