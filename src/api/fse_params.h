// SPDX-License-Identifier: MIT OR Apache-2.0
// The FSE table builder as its kernels see it.
#pragma once

#include "region_params.h"

namespace sluice {

// addressOf as in region_params.h.
template <typename AddressOf>
FseTablesParams fseTablesParams(const SluiceFseTablesInfo& info, const AddressOf& addressOf)
{
    FseTablesParams params = {};
    setRegionList(params, info, addressOf);
    params.maxSymbols = info.maxSymbols;
    params.maxLog = info.maxLog;
    // A lane reads a description: as many at once as still leave lane groups enough to fill a large
    // GPU.
    params.tablesPerGroup =
        (info.flags & SLUICE_FSE_COUNTS) != 0
            ? 1
            : std::clamp((info.maxRegionCount + 4095) / 4096, 1u, SLUICE_FSE_LANES);
    return params;
}

inline u32 fseTablesGroups(const FseTablesParams& params)
{
    return (params.maxRegionCount + params.tablesPerGroup - 1) / params.tablesPerGroup;
}

} // namespace sluice
