// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of the FSE table builder: the parameters of its kernels.
#pragma once

#include <sluice/sluice_fse.h>

#include "layout/fse.h"
#include "api/plan_regions.h"

namespace sluice {

// Returns the kernel's parameters. addressOf(buffer) returns a device address, 0 for an empty
// range. laneGroups: the number of lane groups that fill a large GPU. A lane reads one description,
// so a lane group builds up to 32 tables. It builds fewer if the tables would otherwise not give
// work to laneGroups lane groups.
template <typename AddressOf>
FseTablesParams fseTablesParams(const SluiceFseTablesInfo& info, const AddressOf& addressOf,
                                uint32_t laneGroups)
{
    FseTablesParams params = {};
    setRegionList(params, info, addressOf);
    params.maxSymbols = info.maxSymbols;
    params.maxLog = info.maxLog;
    const uint32_t tables =
        info.maxRegionCount / laneGroups + (info.maxRegionCount % laneGroups != 0 ? 1 : 0);
    params.tablesPerGroup =
        (info.flags & SLUICE_FSE_COUNTS) != 0 ? 1 : std::clamp(tables, 1u, SLUICE_FSE_LANES);
    return params;
}

inline uint32_t fseTablesGroups(const FseTablesParams& params)
{
    return (params.maxRegionCount + params.tablesPerGroup - 1) / params.tablesPerGroup;
}

} // namespace sluice
