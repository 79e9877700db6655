// SPDX-License-Identifier: MIT OR Apache-2.0
// Remembers where a batch decodes tiles that several units may need. Small assets lie together in
// one tile, which the batch decodes once for all of its units that need it.
#pragma once

#include <cstdint>
#include <vector>

#include "stream/file.h"

namespace sluice::stream {

class SharedTiles {
public:
    // maxUnits: the most units of a batch. If the table has no free place for a tile, the tile is
    // not remembered, and is decoded again for the next unit that needs it.
    explicit SharedTiles(uint32_t maxUnits)
    {
        uint32_t size = 16;
        while (size < 2 * maxUnits)
            size *= 2;
        m_places.resize(size);
    }

    struct Place {
        const TileRecord* tile = nullptr;
        uint64_t batch = 0;  // number of the batch that decodes the tile
        uint64_t output = 0; // offset in the output ring
        uint32_t target = 0; // index of the batch's target
        uint32_t index = 0;  // index among the target's tiles
    };
    // Returns where a batch decodes a tile; NULL if that is not known.
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
    // Returns a tile's slot in the hash table: the one that has the tile or, if none has, the first
    // free one. Looks at no more than kProbes slots; if other tiles take all of them, returns the
    // last.
    size_t slotOf(const TileRecord* tile, uint64_t batch) const
    {
        const uint64_t key = uint64_t(reinterpret_cast<uintptr_t>(tile)) / sizeof(TileRecord);
        size_t slot = size_t(key * 0x9E3779B97F4A7C15u >> 20) & (m_places.size() - 1);
        for (uint32_t i = 1;
             i < kProbes && m_places[slot].batch == batch && m_places[slot].tile != tile; ++i)
            slot = (slot + 1) & (m_places.size() - 1);
        return slot;
    }

    std::vector<Place> m_places; // a hash table, whose size is a power of two
};

} // namespace sluice::stream
