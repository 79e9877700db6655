// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the commands on intervals: launches that compute the prefix sums of the counts, and then
// one launch whose blocks have about equal shares of the work.
#include <sluice/sluice_interval.h>

#include "api/plan_interval.h"
#include "cuda/enqueue.h"

namespace sluice {
namespace {

using IntervalLaunch = cudaError_t (*)(cudaStream_t, const IntervalParams&, uint32_t);

SluiceStatus enqueueIntervals(SluiceCommands commands, IntervalLaunch launch,
                              const IntervalParams& params)
{
    const cudaError_t planned = launchIntervalPlan(streamFrom(commands), params);
    const uint64_t blocks = intervalDivideUp(intervalShares(params), SLUICE_INTERVAL_SHARES);
    if (planned != cudaSuccess || blocks == 0) return statusFrom(planned);
    return statusFrom(launch(streamFrom(commands), params, static_cast<uint32_t>(blocks)));
}

SluiceStatus enqueueBulk(SluiceCommands commands, const SluiceBulkInfo& info, bool insert,
                         const IntervalTuning& tuning)
{
    IntervalParams params = bulkParams(info, insert, tuning);
    setAddresses(params, info, insert, addressOf);
    return enqueueIntervals(commands, launchIntervalMove, params);
}

} // namespace

SluiceRequirements CudaBackend::intervalRequirements(const SluiceIntervals& intervals) const
{
    return {intervalScratchBytes(intervals), 4, 0};
}

SluiceStatus CudaBackend::cmdIntervalExpand(SluiceCommands commands,
                                            const SluiceIntervalExpandInfo& info)
{
    IntervalParams params = expandParams(info, m_tuning.interval);
    setAddresses(params, info, addressOf);
    return enqueueIntervals(commands, launchIntervalExpand, params);
}

SluiceStatus CudaBackend::cmdIntervalMove(SluiceCommands commands,
                                          const SluiceIntervalMoveInfo& info)
{
    IntervalParams params = moveParams(info, m_tuning.interval);
    setAddresses(params, info, addressOf);
    return enqueueIntervals(commands, launchIntervalMove, params);
}

SluiceStatus CudaBackend::cmdIntervalSearch(SluiceCommands commands,
                                            const SluiceIntervalSearchInfo& info)
{
    IntervalParams params = searchParams(info, m_tuning.interval);
    setAddresses(params, info, addressOf);
    return enqueueIntervals(commands, launchIntervalSearch, params);
}

SluiceStatus CudaBackend::cmdBulkRemove(SluiceCommands commands, const SluiceBulkInfo& info)
{
    return enqueueBulk(commands, info, false, m_tuning.interval);
}

SluiceStatus CudaBackend::cmdBulkInsert(SluiceCommands commands, const SluiceBulkInfo& info)
{
    return enqueueBulk(commands, info, true, m_tuning.interval);
}

} // namespace sluice
