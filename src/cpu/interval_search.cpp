// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of interval search, which finds for each element its interval and its index there.
#include <sluice/sluice_interval.h>

#include "cpu/context.h"
#include "cpu/intervals.h"

namespace sluice::cpu {

SluiceStatus ReferenceBackend::cmdIntervalSearch(SluiceCommands,
                                                 const SluiceIntervalSearchInfo& info)
{
    uint64_t capacity = UINT32_MAX;
    if (info.sources.size != 0) capacity = std::min(capacity, info.sources.size / 4);
    if (info.ranks.size != 0) capacity = std::min(capacity, info.ranks.size / 4);
    uint32_t* sources = info.sources.size != 0 ? pointer<uint32_t>(info.sources) : nullptr;
    uint32_t* ranks = info.ranks.size != 0 ? pointer<uint32_t>(info.ranks) : nullptr;
    forEachInterval(info.intervals, capacity, info.result, [&](const Interval& interval) {
        for (uint32_t i = 0; i < interval.kept; ++i) {
            if (sources != nullptr) sources[interval.begin + i] = interval.index;
            if (ranks != nullptr) ranks[interval.begin + i] = i;
        }
        return true;
    });
    return SLUICE_OK;
}

} // namespace sluice::cpu
