// SPDX-License-Identifier: MIT OR Apache-2.0
// Filter descriptions and filtered tiles for tests.
#pragma once

#include "tests/support/devices.h"

#include "formats/filter.h"

#include <sluice/sluice_filter_encode.h>

namespace sluice::test {

// A section in words: what the description says, so that broken ones can be written too.
struct SectionWords {
    uint32_t size = kFilterRest;
    bool rows = false, packets = false;
    uint32_t width = 0, first = 0;
    Words runs;
};
// repeat, log2 of bytes, flags (FilterColumnFlags), predictor, base
uint32_t columnRun(uint32_t repeat, uint32_t log2Bytes, uint32_t flags, FilterPredictor predictor,
                   uint32_t base = 0);
Words describe(const std::vector<SectionWords>& sections);

SectionWords rowsOf(uint32_t width, Words runs);
SectionWords records(Words runs, uint32_t size = kFilterRest);

// Sections with as many columns as there may be, and `more`: all but the last have 128 columns and
// `bytes` bytes.
std::vector<SectionWords> asManyColumns(uint32_t more,
                                        FilterPredictor predictor = FilterPredictor::none,
                                        uint32_t bytes = 128);
uint32_t sizeOf(const std::vector<SectionWords>& sections);

// A good description for tiles of `size` bytes at most, with sections of any kind but packets.
Words randomDescription(std::mt19937& random, uint32_t size);
Bytes randomBytes(std::mt19937& random, size_t size);
// Like data: small steps from byte to byte.
Bytes smoothBytes(std::mt19937& random, size_t size);
// Packets of a Targa image, whole ones, of about `size` bytes.
Bytes randomPackets(std::mt19937& random, size_t size, uint32_t pixelBytes);

Bytes applied(const Words& description, const Bytes& tile);

// Tiles for one command, each with a description, and what becomes of them on a device.
struct FilterBatch {
    struct Tile {
        Words description;
        Bytes filtered;
        SluiceFilterTile region = {}; // addresses: offsets in source and destination
    };
    std::vector<Tile> tiles;
    Bytes source, descriptions;
    uint64_t destinationSize = 0;
    uint32_t maxTileSize = 1u << 18;
    uint32_t statusCount = 0;
    uint32_t count = ~0u; // in GPU memory, unless ~0
    Words before;         // statuses; OK if there are none

    void add(const Words& description, const Bytes& filtered)
    {
        Tile tile;
        tile.description = description;
        tile.filtered = filtered;
        tile.region.srcAddress = source.size();
        tile.region.dstAddress = destinationSize;
        tile.region.size = uint32_t(filtered.size());
        tile.region.descriptionOffset = uint32_t(descriptions.size());
        tile.region.descriptionSize = uint32_t(4 * description.size());
        tile.region.statusIndex = uint32_t(tiles.size());
        source.insert(source.end(), filtered.begin(), filtered.end());
        source.resize((source.size() + 15) / 16 * 16 + 4 * (tiles.size() % 3), 0x5a);
        const uint8_t* words = reinterpret_cast<const uint8_t*>(description.data());
        descriptions.insert(descriptions.end(), words, words + 4 * description.size());
        destinationSize += (filtered.size() + 3) / 4 * 4 + 4 * (tiles.size() % 3);
        tiles.push_back(std::move(tile));
        statusCount = uint32_t(tiles.size());
    }
};

struct FilterOutcome {
    Words status;
    Bytes output;
};

// room: for how many more tiles the command is recorded, which may choose its kernel by it.
FilterOutcome undoFilters(Device& on, const FilterBatch& batch, uint32_t room = 0);

} // namespace sluice::test
