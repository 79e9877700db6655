// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the GDeflate decode of a list of regions.
#include <sluice/sluice_gdeflate.h>

#include "api/plan_regions.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceStatus CudaBackend::cmdGdeflate(SluiceCommands commands, const SluiceGdeflateInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    RegionParams params = regionParams(checksumOf(info), addressOf);
    params.source = pair(addressOf(info.source));
    params.sourceSize = pair(info.source.size);
    params.flags = info.flags;
    cudaError_t error = launchStatus(stream, params);
    if (error == cudaSuccess && info.maxRegionCount != 0) error = launchGdeflate(stream, params);
    if (error == cudaSuccess && info.expected.size != 0) error = launchChecksum(stream, params);
    return statusFrom(error);
}

} // namespace sluice
