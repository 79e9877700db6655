// SPDX-License-Identifier: MIT OR Apache-2.0
// The parameters of the Gstd decode, which has two passes: the first decodes symbols, the second
// makes bytes of them. Between the two, a slot of scratch holds the sequences of a tile. A list
// with more tiles than slots is decoded in turns.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_gstd.h>

#include "layout/gstd.h"
#include "api/plan_regions.h"

#include <algorithm>

namespace sluice {

inline uint32_t gstdSlots(const SluiceGstdInfo& info)
{
    return std::min(info.maxRegionCount,
                    info.tilesAtOnce == 0 ? SLUICE_GS_SLOTS : info.tilesAtOnce);
}

// Returns the decoded size, in bytes, of the largest tile that fits into a slot, the scratch of a
// tile.
inline uint32_t gstdTileBytes(const SluiceGstdInfo& info)
{
    return info.maxTileSize == 0 ? SLUICE_GS_TILE_BYTES : info.maxTileSize;
}

inline SluiceRequirements gstdScratch(const SluiceGstdInfo& info)
{
    return {uint64_t(gstdSlots(info)) * SLUICE_GS_SLOT_BYTES(gstdTileBytes(info)), 16, 0};
}

// Returns the kernels' parameters. addressOf(buffer) returns a device address, 0 for an empty
// range.
template <typename AddressOf>
GstdParams gstdParams(const SluiceGstdInfo& info, const AddressOf& addressOf)
{
    GstdParams params = {};
    setRegionList(params, info, addressOf);
    params.secondDestination = pair(addressOf(info.secondDestination));
    params.secondDestinationSize = pair(info.secondDestination.size);
    params.scratch = pair(addressOf(info.scratch));
    params.maxTileBytes = gstdTileBytes(info);
    return params;
}

// Divides the tiles into turns. If there are several, even turns use the first half of the slots,
// and odd turns the second half. So the symbols of a turn can be decoded while the bytes of the
// turn before are still being written, and the GPU stays busy while the last tiles of a turn end.
class GstdTurns {
public:
    GstdTurns(const GstdParams& all, uint32_t slots)
        : m_params(all), m_overlap(all.maxRegionCount > slots && slots >= 2),
          m_each(std::max(m_overlap ? slots / 2 : slots, 1u))
    {
    }

    uint32_t count() const
    {
        return m_params.maxRegionCount / m_each + (m_params.maxRegionCount % m_each != 0 ? 1 : 0);
    }
    bool overlapping() const { return m_overlap; }
    uint64_t slotSize() const { return SLUICE_GS_SLOT_BYTES(m_params.maxTileBytes); }
    // Returns the bytes of scratch that one turn needs.
    uint64_t scratchSize() const { return m_each * slotSize(); }

    GstdParams operator[](uint32_t turn) const
    {
        GstdParams result = m_params;
        result.firstTile = turn * m_each;
        result.tileCount = std::min(m_each, m_params.maxRegionCount - result.firstTile);
        if (m_overlap && turn % 2 != 0)
            result.scratch = pair(fromPair(m_params.scratch) + scratchSize());
        return result;
    }

private:
    GstdParams m_params;
    bool m_overlap;
    uint32_t m_each;
};

} // namespace sluice
