// SPDX-License-Identifier: MIT OR Apache-2.0
// What the backends share about the float codec.
#pragma once

#include <algorithm>

#include "../../shaders/lib/layout.h"

namespace sluice {

// How many tiles share a workgroup of so many lane groups, which builds its tables once: many where there are many.
inline u32 floatTilesPerWorkgroup(u32 tileCount, u32 laneGroups)
{
    return laneGroups * std::clamp(tileCount / (laneGroups * 2048), 1u, 4u);
}

} // namespace sluice
