// SPDX-License-Identifier: MIT OR Apache-2.0
// The DF11 decoder as its kernels see it.
#pragma once

#include "plan_regions.h"

namespace sluice {

// addressOf as in plan_regions.h. workgroups: how many of them the device runs at once, 0 if that is
// not known; then, and where only the GPU knows how many units there are, a workgroup takes as many
// blocks as leave `countedWorkgroups` of them, `countedBlocks` at most.
template <typename AddressOf>
Df11Params df11Params(const SluiceDf11Info& info, const AddressOf& addressOf, u32 workgroups,
                      u32 countedWorkgroups = 2048, u32 countedBlocks = 8)
{
    Df11Params params = {};
    setRanges(params, info, addressOf);
    params.units = pair(addressOf(info.units));
    params.unitCount = pair(addressOf(info.unitCount));
    params.maxUnitCount = info.maxUnitCount;
    params.maxBlockCount = info.maxBlockCount;
    // A workgroup makes its table once for all of its blocks, and a table takes as long as a block:
    // where all of maxBlockCount are to be expected, there are as many workgroups as run at once.
    // Where only the GPU knows the count, most of the last ones may have nothing to do, and there
    // are more of them.
    if (workgroups != 0 && info.unitCount.size == 0)
        params.blocksPerWorkgroup =
            std::max(info.maxBlockCount / workgroups + (info.maxBlockCount % workgroups != 0), 1u);
    else
        params.blocksPerWorkgroup =
            std::clamp(info.maxBlockCount / countedWorkgroups, 1u, countedBlocks);
    return params;
}

inline u32 df11Workgroups(const Df11Params& params)
{
    return (params.maxBlockCount + params.blocksPerWorkgroup - 1) / params.blocksPerWorkgroup;
}

} // namespace sluice
