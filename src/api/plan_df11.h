// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of a DF11 decode.
#pragma once

#include <sluice/sluice_df11.h>

#include "layout/df11.h"
#include "api/plan_regions.h"

namespace sluice {

struct Df11Tuning {
    // The number of workgroups that run at the same time; 0: not known. More workgroups would only
    // cost time, since each builds its own copy of the decoding table.
    uint32_t workgroups;
    // Used if only the GPU knows the number of units, so that maxBlockCount may be far too high, or
    // if `workgroups` is 0. The blocks are divided among countedWorkgroups workgroups, or among
    // more if each would otherwise get more than countedBlocks blocks.
    uint32_t countedWorkgroups = 2048;
    uint32_t countedBlocks = 8;
};

// Returns the kernel's parameters. addressOf(buffer) returns a device address, 0 for an empty
// range.
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
    // A workgroup builds one table for all its blocks, which takes as long as decoding a block. So
    // if the host knows the number of blocks, there are only as many workgroups as run at the same
    // time. If only the GPU knows the number, it may be far below maxBlockCount, and the last
    // workgroups find no blocks. Then there are more workgroups, so that those with blocks still
    // fill the GPU.
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
