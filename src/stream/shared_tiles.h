// SPDX-License-Identifier: MIT OR Apache-2.0
// Remembers where a batch decodes the tiles that units want only a part of. Small assets lie
// together in one tile, which is then decoded once for all of the batch's units that want it.
#pragma once

#include <cstdint>
#include <vector>

#include "stream/file.h"

namespace sluice::stream {

class SharedTiles {
public:
    // maxUnits: the most units of a batch. A tile for which there is no place is not remembered. It
    // is decoded once more for the next unit that wants it.
    explicit SharedTiles(uint32_t maxUnits)
    {
        uint32_t size = 16;
        while (size < 2 * maxUnits)
            size *= 2;
        m_places.resize(size);
    }

    struct Place {
        const TileRecord* tile = nullptr;
        uint64_t batch = 0;  // number of the batch that the place is in
        uint64_t output = 0; // in the output ring
        uint32_t target = 0; // of the batch
        uint32_t index = 0;  // among the target's tiles
    };
    // Returns the place of a tile in a batch; NULL if none is known.
    const Place* find(const TileRecord* tile, uint64_t batch) const
    {
        const Place& place = m_places[slotOf(tile, batch)];
        return place.tile == tile && place.batch == batch ? &place : nullptr;
    }
    void add(const Place& place)
    {
        Place& slot = m_places[slotOf(place.tile, place.batch)];
        if (slot.batch != place.batch) slot = place;
    }

private:
    static constexpr uint32_t kProbes = 8;
    // Returns the slot of the tile, or one that is free for it. If neither is among the slots that
    // are tried, it returns the last slot tried.
    size_t slotOf(const TileRecord* tile, uint64_t batch) const
    {
        const uint64_t key = uint64_t(reinterpret_cast<uintptr_t>(tile)) / sizeof(TileRecord);
        size_t slot = size_t(key * 0x9E3779B97F4A7C15u >> 20) & (m_places.size() - 1);
        for (uint32_t i = 1;
             i < kProbes && m_places[slot].batch == batch && m_places[slot].tile != tile; ++i)
            slot = (slot + 1) & (m_places.size() - 1);
        return slot;
    }

    std::vector<Place> m_places; // a power of two of them
};

} // namespace sluice::stream
