// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the decode of the float codec.
#include <sluice/sluice_float.h>

#include "api/plan_float.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceStatus CudaBackend::cmdFloatDecode(SluiceCommands commands, const SluiceFloatDecodeInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    const cudaError_t error = enqueueStatus(stream, info.status, info.tileCount);
    if (error != cudaSuccess || info.tileCount == 0 || info.tensorCount == 0)
        return statusFrom(error);
    const CudaTuning::FloatDecode& tuning = m_tuning.floatDecode;
    FloatDecodeParams params =
        floatDecodeParams(info, floatDecodeWarps(), tuning.tilesPerWarp, tuning.blocks, addressOf);
    const uint32_t share = (info.tileCount + tuning.fewBlocks - 1) / tuning.fewBlocks;
    params.tilesPerWorkgroup = std::max(params.tilesPerWorkgroup, std::min(share, tuning.fewTiles));
    return statusFrom(launchFloatDecode(stream, params, tuning.programmaticLaunch != 0));
}

} // namespace sluice
