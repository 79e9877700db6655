// SPDX-License-Identifier: MIT OR Apache-2.0
// The parameters of the Gstd decode. Tiles are decoded in turns: a turn has as many tiles as
// scratch has slots for.
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

inline SluiceRequirements gstdScratch(const SluiceGstdInfo& info)
{
    return {uint64_t(gstdSlots(info)) * SLUICE_GSTD_SLOT_SIZE, 16, 0};
}

// addressOf is as in plan_regions.h.
template <typename AddressOf>
GstdParams gstdParams(const SluiceGstdInfo& info, const AddressOf& addressOf)
{
    GstdParams params = {};
    setRegionList(params, info, addressOf);
    params.scratch = pair(addressOf(info.scratch));
    return params;
}

// Divides the tiles into turns. If there are several turns, they alternate between two halves of
// the slots, so that one turn's symbols may be decoded while the previous turn's bytes are still
// being expanded. That keeps the GPU busy while the previous turn runs out of work.
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
    uint64_t scratchSize() const { return uint64_t{m_each} * SLUICE_GSTD_SLOT_SIZE; } // of one turn

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
