// SPDX-License-Identifier: MIT OR Apache-2.0
// The DF11 decoder as its kernels see it.
#pragma once

#include "region_params.h"

namespace sluice {

// addressOf as in region_params.h. atOnce: how many workgroups the device runs at once, 0 if that
// is not known.
template <typename AddressOf>
Df11Params df11Params(const SluiceDf11Info& info, const AddressOf& addressOf, u32 atOnce)
{
    Df11Params params = {};
    setRanges(params, info, addressOf);
    params.units = pair(addressOf(info.units));
    params.unitCount = pair(addressOf(info.unitCount));
    params.maxUnitCount = info.maxUnitCount;
    params.maxBlockCount = info.maxBlockCount;
    // A workgroup makes its table once for so many blocks, and a table takes as long as a block:
    // where all of maxBlockCount are to be expected, there are as many workgroups as run at once.
    // Where only the GPU knows how many units there are, most of the last ones may have nothing to
    // do, and there are more of them.
    if (atOnce != 0 && info.unitCount.size == 0)
        params.blocksPerWorkgroup =
            std::max(info.maxBlockCount / atOnce + (info.maxBlockCount % atOnce != 0), 1u);
    else
        params.blocksPerWorkgroup = std::clamp(info.maxBlockCount / 2048, 1u, 8u);
    return params;
}

inline u32 df11Workgroups(const Df11Params& params)
{
    return (params.maxBlockCount + params.blocksPerWorkgroup - 1) / params.blocksPerWorkgroup;
}

} // namespace sluice
