// SPDX-License-Identifier: MIT OR Apache-2.0
// What the backends share about the float codec.
#pragma once

#include <sluice/sluice_float.h>

#include "region_params.h"

namespace sluice {

// How many tiles share a workgroup of so many lane groups, which builds its tables once: two a lane group where there are
// many, so that there are still enough workgroups for all to end at about the same time.
inline u32 floatTilesPerWorkgroup(u32 tileCount, u32 laneGroups)
{
    return std::clamp(tileCount / 256, 1u, std::max(2 * laneGroups, 4u));
}

// laneGroups: of a workgroup; addressOf as in region_params.h.
template <typename AddressOf>
FloatDecodeParams floatDecodeParams(const SluiceFloatDecodeInfo& info, u32 laneGroups, const AddressOf& addressOf)
{
    FloatDecodeParams params = {};
    setRanges(params, info, addressOf);
    params.tensors = pair(addressOf(info.tensors));
    params.tensorCount = info.tensorCount;
    params.tileCount = info.tileCount;
    params.tilesPerWorkgroup = floatTilesPerWorkgroup(info.tileCount, laneGroups);
    return params;
}

} // namespace sluice
