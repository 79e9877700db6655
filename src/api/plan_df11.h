// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of a DF11 decode.
#pragma once

#include <sluice/sluice_df11.h>

#include "layout/df11.h"
#include "api/plan_regions.h"

namespace sluice {

struct Df11Tuning {
    uint32_t
        workgroups; // that run at once: one wave, for each makes a table; 0 where that is not known
    // Where only the GPU knows how many units there are, there are this many workgroups, each with
    // at most countedBlocks blocks.
    uint32_t countedWorkgroups = 2048;
    uint32_t countedBlocks = 8;
};

// addressOf is as in plan_regions.h.
template <typename AddressOf>
Df11Params df11Params(const SluiceDf11Info& info, const AddressOf& addressOf,
                      const Df11Tuning& tuning)
{
    Df11Params params = {};
    setRanges(params, info, addressOf);
    params.units = pair(addressOf(info.units));
    params.unitCount = pair(addressOf(info.unitCount));
    params.maxUnitCount = info.maxUnitCount;
    params.maxBlockCount = info.maxBlockCount;
    // A workgroup makes its table once for all of its blocks, and a table takes as long as a block.
    // If all of maxBlockCount are to be expected, as many workgroups are dispatched as run at once.
    // If only the GPU knows the count, the last ones may have nothing to do, so there are more of
    // them.
    if (tuning.workgroups != 0 && info.unitCount.size == 0)
        params.blocksPerWorkgroup = std::max(info.maxBlockCount / tuning.workgroups +
                                                 (info.maxBlockCount % tuning.workgroups != 0),
                                             1u);
    else
        params.blocksPerWorkgroup =
            std::clamp(info.maxBlockCount / tuning.countedWorkgroups, 1u, tuning.countedBlocks);
    return params;
}

inline uint32_t df11Workgroups(const Df11Params& params)
{
    return (params.maxBlockCount + params.blocksPerWorkgroup - 1) / params.blocksPerWorkgroup;
}

} // namespace sluice
