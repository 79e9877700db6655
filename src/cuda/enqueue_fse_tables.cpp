// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the building of FSE tables.
#include <sluice/sluice_fse.h>

#include "api/plan_fse.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceStatus CudaBackend::cmdFseTables(SluiceCommands commands, const SluiceFseTablesInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    const cudaError_t error = enqueueStatus(stream, info.status, info.maxRegionCount);
    if (error != cudaSuccess || info.maxRegionCount == 0) return statusFrom(error);
    const FseTablesParams params = fseTablesParams(info, addressOf, m_tuning.fseTables.warps);
    return statusFrom(launchFseTables(stream, params, fseTablesGroups(params)));
}

} // namespace sluice
