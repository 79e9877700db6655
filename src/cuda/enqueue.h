// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions that the enqueue_*.cpp files share.
#pragma once

#include "api/address.h"
#include "cuda/context.h"

namespace sluice {

SluiceStatus statusFrom(cudaError_t error);

inline cudaStream_t streamFrom(SluiceCommands commands)
{
    return reinterpret_cast<cudaStream_t>(commands);
}

// Returns the address of a range. An empty range has address 0, whatever its handle is.
inline uint64_t addressOf(const SluiceBuffer& buffer)
{
    return buffer.size == 0 ? 0 : buffer.handle + buffer.offset;
}

// Sets the statuses of `count` tiles to PENDING, and the summary behind them to "none failed".
inline cudaError_t enqueueStatus(cudaStream_t stream, const SluiceBuffer& status, uint32_t count)
{
    RegionParams params = {};
    params.status = pair(addressOf(status));
    params.maxRegionCount = count;
    return launchStatus(stream, params);
}

} // namespace sluice
