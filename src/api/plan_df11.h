// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of a DF11 decode.
#pragma once

#include <sluice/sluice_df11.h>

#include "layout/df11.h"
#include "api/plan_regions.h"

namespace sluice {

struct Df11Tuning {
    // The number that runs at the same time. There are no more, because each builds a table. 0: not
    // known.
    uint32_t workgroups;
    // Used if only the GPU knows the number of units: the number of workgroups, and the most blocks
    // of each.
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
    // A workgroup builds its table once for all of its blocks, and building it takes as long as a
    // block. If maxBlockCount is the expected number of blocks, there are as many workgroups as run
    // at the same time. If only the GPU knows the number, the last workgroups may have nothing to
    // do, so there are more of them.
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
