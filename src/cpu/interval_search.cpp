// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_interval.h>

#include "cpu/context.h"
#include "cpu/intervals.h"

namespace sluice::cpu {

SluiceStatus ReferenceBackend::cmdIntervalSearch(SluiceCommands,
                                                 const SluiceIntervalSearchInfo& info)
{
    u64 capacity = UINT32_MAX;
    if (info.sources.size != 0) capacity = std::min(capacity, info.sources.size / 4);
    if (info.ranks.size != 0) capacity = std::min(capacity, info.ranks.size / 4);
    u32* sources = info.sources.size != 0 ? pointer<u32>(info.sources) : nullptr;
    u32* ranks = info.ranks.size != 0 ? pointer<u32>(info.ranks) : nullptr;
    forEachInterval(info.intervals, capacity, info.result, [&](const Interval& interval) {
        for (u32 i = 0; i < interval.kept; ++i) {
            if (sources != nullptr) sources[interval.begin + i] = interval.index;
            if (ranks != nullptr) ranks[interval.begin + i] = i;
        }
        return true;
    });
    return SLUICE_OK;
}

} // namespace sluice::cpu
