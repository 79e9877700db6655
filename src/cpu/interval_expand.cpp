// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of interval expand, which fills each interval with a value.
#include <sluice/sluice_interval.h>

#include <cstring>

#include "cpu/context.h"
#include "cpu/intervals.h"

namespace sluice::cpu {

SluiceStatus ReferenceBackend::cmdIntervalExpand(SluiceCommands,
                                                 const SluiceIntervalExpandInfo& info)
{
    const size_t size = info.elementSize;
    const uint8_t* values = pointer<const uint8_t>(info.values);
    uint8_t* destination = pointer<uint8_t>(info.destination);
    forEachInterval(info.intervals, info.destination.size / size, info.result,
                    [&](const Interval& interval) {
                        for (uint64_t i = 0; i < interval.kept; ++i)
                            std::memcpy(destination + (interval.begin + i) * size,
                                        values + interval.index * size, size);
                        return true;
                    });
    return SLUICE_OK;
}

} // namespace sluice::cpu
