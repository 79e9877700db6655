// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the commands on region lists: decode and checksum.
#include "api/plan_regions.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceRequirements CudaBackend::gdeflateRequirements(const SluiceGdeflateInfo&) const
{
    return {0, 4, 0};
}

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

SluiceStatus CudaBackend::cmdChecksum(SluiceCommands commands, const SluiceChecksumInfo& info)
{
    return statusFrom(launchChecksum(streamFrom(commands), regionParams(info, addressOf)));
}

} // namespace sluice
