// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of undoing filters, for all backends: the layout of scratch and the kernel's parameters.
#pragma once

#include <sluice/sluice_filter.h>

#include "layout/filter.h"
#include "api/plan_regions.h"

namespace sluice {

inline uint32_t filterWorkgroups(const SluiceFilterInfo& info)
{
    return std::min(info.maxTileCount, SLUICE_FILTER_WORKGROUPS);
}

// Returns the bytes of scratch of one workgroup. It holds the values of a section's columns. In a
// section of Targa packets it also holds the decoded pixels, and two words for each 32 bytes of
// output: a bit for each byte that is a packet's header, and the number of headers before.
inline uint32_t filterScratchBytes(const SluiceFilterInfo& info)
{
    return (2 * info.maxTileSize + info.maxTileSize / 4 + SLUICE_FILTER_SLACK + 96) / 16 * 16;
}

inline SluiceRequirements filterScratch(const SluiceFilterInfo& info)
{
    return {uint64_t(filterWorkgroups(info)) * filterScratchBytes(info) +
                SLUICE_FILTER_TICKET_BYTES,
            16, 0};
}

// Returns the kernel's parameters. addressOf(buffer) returns a device address, 0 for an empty
// range.
template <typename AddressOf>
FilterParams filterParams(const SluiceFilterInfo& info, const AddressOf& addressOf)
{
    FilterParams params = {};
    setRanges(params, info, addressOf);
    params.tiles = pair(addressOf(info.tiles));
    params.tileCount = pair(addressOf(info.tileCount));
    params.descriptions = pair(addressOf(info.descriptions));
    params.descriptionsSize = pair(info.descriptions.size);
    params.scratch = pair(addressOf(info.scratch));
    params.maxTileCount = info.maxTileCount;
    params.statusCount = info.statusCount;
    params.maxTileBytes = info.maxTileSize;
    params.scratchBytes = filterScratchBytes(info);
    params.workgroups = filterWorkgroups(info);
    return params;
}

} // namespace sluice
