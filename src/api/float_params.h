// SPDX-License-Identifier: MIT OR Apache-2.0
// What the backends share about the float codec.
#pragma once

#include <sluice/sluice_float.h>

#include "region_params.h"

namespace sluice {

// How many tiles share a workgroup of so many lane groups, which builds its tables once: up to `most` a lane group where
// there are many, fewer where there would not be workgroups for a whole GPU.
inline u32 floatTilesPerWorkgroup(u32 tileCount, u32 laneGroups, u32 most)
{
    const u32 workgroups = std::max(4096 / laneGroups, 1u);
    return std::clamp(tileCount / workgroups, 1u, most * laneGroups);
}

// laneGroups, most: see floatTilesPerWorkgroup; addressOf as in region_params.h.
template <typename AddressOf>
FloatDecodeParams floatDecodeParams(const SluiceFloatDecodeInfo& info, u32 laneGroups, u32 most, const AddressOf& addressOf)
{
    FloatDecodeParams params = {};
    setRanges(params, info, addressOf);
    params.tensors = pair(addressOf(info.tensors));
    params.tensorCount = info.tensorCount;
    params.tileCount = info.tileCount;
    params.tilesPerWorkgroup = floatTilesPerWorkgroup(info.tileCount, laneGroups, most);
    return params;
}

} // namespace sluice
