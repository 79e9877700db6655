// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the decode of DFloat11 and ECF8 units.
#include <sluice/sluice_df11.h>

#include "api/plan_df11.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceStatus CudaBackend::cmdDf11(SluiceCommands commands, const SluiceDf11Info& info)
{
    const cudaStream_t stream = streamFrom(commands);
    const cudaError_t error = enqueueStatus(stream, info.status, info.maxBlockCount);
    if (error != cudaSuccess || info.maxBlockCount == 0 || info.maxUnitCount == 0)
        return statusFrom(error);
    const Df11Params params = df11Params(info, addressOf, m_tuning.df11);
    return statusFrom(launchDf11(stream, params, df11Workgroups(params)));
}

} // namespace sluice
