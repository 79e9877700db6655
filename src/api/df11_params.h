// SPDX-License-Identifier: MIT OR Apache-2.0
// The DF11 decoder as its kernels see it.
#pragma once

#include "region_params.h"

namespace sluice {

// addressOf as in region_params.h.
template <typename AddressOf>
Df11Params df11Params(const SluiceDf11Info& info, const AddressOf& addressOf)
{
    Df11Params params = {};
    setRanges(params, info, addressOf);
    params.units = pair(addressOf(info.units));
    params.unitCount = pair(addressOf(info.unitCount));
    params.maxUnitCount = info.maxUnitCount;
    params.maxBlockCount = info.maxBlockCount;
    // A workgroup makes its table once for so many blocks: many where there are many.
    params.blocksPerWorkgroup = std::clamp(info.maxBlockCount / 2048, 1u, 8u);
    return params;
}

inline u32 df11Workgroups(const Df11Params& params)
{
    return (params.maxBlockCount + params.blocksPerWorkgroup - 1) / params.blocksPerWorkgroup;
}

} // namespace sluice
