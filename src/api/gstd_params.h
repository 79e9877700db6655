// SPDX-License-Identifier: MIT OR Apache-2.0
// The Gstd decode as its kernels see it: so many tiles at a time, each with a slot of scratch.
#pragma once

#include <sluice/sluice.h>

#include "region_params.h"

#include <algorithm>

namespace sluice {

// A flag that the public entry refuses: no bytes are made. For the benchmark, which times the symbols by themselves.
constexpr u32 kGstdSymbolsOnly = 1u << 31;

inline u32 gstdSlots(const SluiceGstdInfo& info)
{
    return std::min(info.maxRegionCount, info.tilesAtOnce == 0 ? SLUICE_GS_SLOTS : info.tilesAtOnce);
}

inline SluiceRequirements gstdScratch(const SluiceGstdInfo& info)
{
    return {uint64_t(gstdSlots(info)) * SLUICE_GSTD_SLOT_SIZE, 16, 0};
}

// addressOf as in region_params.h.
template <typename AddressOf>
GstdParams gstdParams(const SluiceGstdInfo& info, const AddressOf& addressOf)
{
    GstdParams params = {};
    setRegionList(params, info, addressOf);
    params.scratch = pair(addressOf(info.scratch));
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
