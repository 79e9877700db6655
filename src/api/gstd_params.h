// SPDX-License-Identifier: MIT OR Apache-2.0
// The Gstd decode as its kernels see it: so many tiles at a time, each with a slot of scratch.
#pragma once

#include <sluice/sluice.h>

#include "../../shaders/lib/layout.h"

#include <algorithm>

namespace sluice {

inline u32 gstdSlots(const SluiceGstdInfo& info)
{
    return std::min(info.maxRegionCount, info.tilesAtOnce == 0 ? SLUICE_GS_SLOTS : info.tilesAtOnce);
}

inline SluiceRequirements gstdScratch(const SluiceGstdInfo& info)
{
    return {uint64_t(gstdSlots(info)) * SLUICE_GSTD_SLOT_SIZE, 16, 0};
}

// addressOf gives the u64pair of a buffer's address.
template <typename AddressOf>
GstdParams gstdParams(const SluiceGstdInfo& info, AddressOf addressOf)
{
    GstdParams params = {};
    params.regions = addressOf(info.regions);
    params.regionCount = addressOf(info.regionCount);
    params.source = addressOf(info.source);
    params.sourceSize = {u32(info.source.size), u32(info.source.size >> 32)};
    params.destination = addressOf(info.destination);
    params.destinationSize = {u32(info.destination.size), u32(info.destination.size >> 32)};
    params.status = addressOf(info.status);
    params.scratch = addressOf(info.scratch);
    params.maxRegionCount = info.maxRegionCount;
    params.regionStride = info.regionStride;
    params.flags = info.flags;
    return params;
}

template <typename Wave>
void forEachGstdWave(GstdParams params, u32 slots, Wave wave)
{
    for (u32 first = 0; first < params.maxRegionCount; first += slots) {
        params.firstTile = first;
        params.tileCount = std::min(slots, params.maxRegionCount - first);
        wave(params);
    }
}

} // namespace sluice
