// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes descriptions of filters and filtered tiles for tests.
#pragma once

#include "tests/support/devices.h"

#include "formats/filter.h"

#include <sluice/sluice_filter_encode.h>

namespace sluice::test {

// A section as the description's words say it, so that tests can also write wrong ones.
struct SectionWords {
    uint32_t size = kFilterRest;
    bool rows = false, packets = false;
    uint32_t width = 0, first = 0;
    Words runs;
};
// Returns the word of a run of columns. log2Bytes: of a column; flags: of FilterColumnFlags; base:
// as the description has it.
uint32_t columnRun(uint32_t repeat, uint32_t log2Bytes, uint32_t flags, FilterPredictor predictor,
                   uint32_t base = 0);
Words describe(const std::vector<SectionWords>& sections);

SectionWords rowsOf(uint32_t width, Words runs);
SectionWords records(Words runs, uint32_t size = kFilterRest);

// Returns sections with the largest number of columns plus `more`. All sections except the last
// have 128 columns and `bytes` bytes.
std::vector<SectionWords> asManyColumns(uint32_t more,
                                        FilterPredictor predictor = FilterPredictor::none,
                                        uint32_t bytes = 128);
uint32_t sizeOf(const std::vector<SectionWords>& sections);

// Returns a good description for tiles of at most `size` bytes. Its sections are of any kind except
// packets.
Words randomDescription(std::mt19937& random, uint32_t size);
Bytes randomBytes(std::mt19937& random, size_t size);
// Returns bytes that resemble data: each differs little from the one before.
Bytes smoothBytes(std::mt19937& random, size_t size);
// Returns whole packets of a Targa image, in all about `size` bytes.
Bytes randomPackets(std::mt19937& random, size_t size, uint32_t pixelBytes);

Bytes applied(const Words& description, const Bytes& tile);

// Holds the tiles of one command, each with a description.
struct FilterBatch {
    struct Tile {
        Words description;
        Bytes filtered;
        SluiceFilterTile region = {}; // its addresses are offsets in source and destination
    };
    std::vector<Tile> tiles;
    Bytes source, descriptions;
    uint64_t destinationSize = 0;
    uint32_t maxTileSize = 1u << 18;
    uint32_t statusCount = 0;
    uint32_t count = ~0u; // a count in GPU memory; ~0: there is none
    Words before;         // the statuses before the command; empty: all are OK

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

// Undoes the filters in one command. room: the command has room for so many more tiles, which may
// choose another kernel.
FilterOutcome undoFilters(Device& on, const FilterBatch& batch, uint32_t room = 0);

} // namespace sluice::test
