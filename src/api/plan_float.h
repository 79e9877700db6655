// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of the float codec for all backends.
#pragma once

#include <sluice/sluice_float.h>

#include "layout/float.h"
#include "api/plan_regions.h"

namespace sluice {

// Returns how many tiles a workgroup takes. A workgroup builds its decoding tables once for all its
// tiles, so the tiles are divided among only as many workgroups as fill the GPU.
//   laneGroups  lane groups of one workgroup
//   most        the most tiles of one lane group
//   workgroups  workgroups that run at the same time
inline uint32_t floatTilesPerWorkgroup(uint32_t tileCount, uint32_t laneGroups, uint32_t most,
                                       uint32_t workgroups)
{
    return std::clamp((tileCount + workgroups - 1) / workgroups, 1u, most * laneGroups);
}

// Returns the kernel's parameters. laneGroups, most and workgroups: see floatTilesPerWorkgroup.
// addressOf(buffer) returns a device address, 0 for an empty range.
template <typename AddressOf>
FloatDecodeParams floatDecodeParams(const SluiceFloatDecodeInfo& info, uint32_t laneGroups,
                                    uint32_t most, uint32_t workgroups, const AddressOf& addressOf)
{
    FloatDecodeParams params = {};
    setRanges(params, info, addressOf);
    params.tensors = pair(addressOf(info.tensors));
    params.tensorCount = info.tensorCount;
    params.tileCount = info.tileCount;
    params.tilesPerWorkgroup = floatTilesPerWorkgroup(info.tileCount, laneGroups, most, workgroups);
    return params;
}

} // namespace sluice
