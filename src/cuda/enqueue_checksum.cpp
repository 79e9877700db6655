// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the checksums of a list of regions.
#include "api/plan_regions.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceStatus CudaBackend::cmdChecksum(SluiceCommands commands, const SluiceChecksumInfo& info)
{
    return statusFrom(launchChecksum(streamFrom(commands), regionParams(info, addressOf)));
}

} // namespace sluice
