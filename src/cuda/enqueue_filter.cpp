// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues launches that undo filters, alone or behind the Gstd decode of their tiles.
#include <sluice/sluice_filter.h>
#include <sluice/sluice_gstd.h>

#include "api/plan_filter.h"
#include "cuda/enqueue.h"

namespace sluice {
namespace {

FilterLaunchParams filterLaunchParams(const SluiceFilterInfo& info)
{
    FilterLaunchParams params = {};
    static_cast<FilterParams&>(params) = filterParams(info, addressOf);
    params.tickets = params.maxTileCount > params.workgroups ? 1 : 0;
    return params;
}

} // namespace

SluiceRequirements CudaBackend::filterRequirements(const SluiceFilterInfo& info) const
{
    return filterScratch(info);
}

cudaError_t CudaBackend::undoFilters(cudaStream_t stream, const FilterLaunchParams& params) const
{
    return params.maxTileCount <= m_tuning.filter.fewTiles ? launchFilterFew(stream, params)
                                                           : launchFilter(stream, params);
}

SluiceStatus CudaBackend::cmdFilter(SluiceCommands commands, const SluiceFilterInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    const FilterLaunchParams params = filterLaunchParams(info);
    const cudaError_t error = clearFilterTicket(stream, params);
    return statusFrom(error == cudaSuccess ? undoFilters(stream, params) : error);
}

SluiceStatus CudaBackend::cmdGstdFilter(SluiceCommands commands, const SluiceGstdInfo& decode,
                                        const SluiceFilterInfo& filter)
{
    const cudaStream_t stream = streamFrom(commands);
    FilterLaunchParams params = filterLaunchParams(filter);
    bool byPart = false;
    cudaError_t error = clearFilterTicket(stream, params);
    if (error == cudaSuccess) error = decodeGstd(stream, decode, byPart);
    if (byPart && decode.maxRegionCount != 0 && decode.expected.size == 0) {
        params.decodeCount = pair(addressOf(decode.regionCount));
        params.decodeMaxCount = decode.maxRegionCount;
    }
    return statusFrom(error == cudaSuccess ? undoFilters(stream, params) : error);
}

} // namespace sluice
