// SPDX-License-Identifier: MIT OR Apache-2.0
// The cases for filters and FSE tables.
#include "selftest/cases.h"

#include <algorithm>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_filter_encode.h>
#include <sluice/sluice_fse.h>

#include "formats/filter.h"

namespace sluice::selftest {

namespace {

// A section of a filter's description: an array of records (docs/format.md, 8.2).
struct Section {
    uint32_t size = kFilterRest;
    // Records per row (0: there are no rows), and the column of the first record in its row.
    uint32_t width = 0, first = 0;
    bool packets = false;
    Words runs; // the columns, as words that columns() returns
};

// Returns the word that describes `repeat` columns of 1 << log2Bytes bytes each.
//   flags  FilterColumnFlags
//   base   1 + the index of the column that is subtracted; 0: none
uint32_t columns(uint32_t repeat, uint32_t log2Bytes, uint32_t flags, FilterPredictor predictor,
                 uint32_t base = 0)
{
    return repeat | log2Bytes << 8 | flags << 10 | uint32_t(predictor) << 16 | base << 24;
}

// Returns the words of a description with these sections.
Words describe(const std::vector<Section>& sections)
{
    Words words = {kFilterVersion | uint32_t(sections.size()) << 16};
    for (const Section& section : sections) {
        words.push_back(section.size | uint32_t(section.runs.size()) << 21 |
                        (section.width != 0 ? 1u << 29 : 0) | (section.packets ? 1u << 30 : 0));
        if (section.width != 0) words.insert(words.end(), {section.width, section.first});
        words.insert(words.end(), section.runs.begin(), section.runs.end());
    }
    return words;
}

// Returns the columns of several kinds of records, all with this predictor. A record is a list of
// words, one for each run of equal columns. The kinds are bytes in planes, interleaved bytes minus
// those of another column (the base), wide values in planes and interleaved, values whose bits are
// rotated (floats), and compressed blocks.
std::vector<Words> recordKinds(FilterPredictor predictor)
{
    constexpr uint32_t split = filterSplit, joined = filterJoined, zigzag = filterZigzag;
    return {
        {columns(3, 0, split | zigzag, predictor)},
        {columns(1, 0, 0, predictor), columns(3, 0, joined | zigzag, predictor, 1)},
        {columns(1, 0, split, predictor), columns(1, 0, 0, FilterPredictor::none)},
        {columns(2, 1, split | zigzag, predictor), columns(1, 2, zigzag, predictor)},
        {columns(1, 2, split | filterRotated, predictor), columns(1, 1, 0, predictor, 0),
         columns(1, 1, joined, predictor, 2)},
        {columns(2, 1, filterBlock, predictor), columns(1, 2, filterBlock | split, predictor)},
    };
}

// Makes bytes that change in small steps, so that residuals are small; the last fifth is noise.
Bytes smoothBytes(uint32_t size, uint32_t seed)
{
    Random random(seed);
    Bytes bytes(size);
    uint8_t value = 0;
    for (uint32_t i = 0; i < size; ++i)
        bytes[i] = value = uint8_t(i > size / 5 * 4 ? random.next() : value + random.below(7) - 3);
    return bytes;
}

// Makes Targa packets, about `size` bytes; the last packet is complete.
Bytes packetsOf(uint32_t size, uint32_t pixelBytes, uint32_t seed)
{
    Random random(seed);
    Bytes packets;
    while (packets.size() < size) {
        const uint32_t header = random.below(256), pixels = (header & 128) != 0 ? 1 : header + 1;
        packets.push_back(uint8_t(header));
        for (uint32_t b = 0; b < pixels * pixelBytes; ++b)
            packets.push_back(uint8_t(random.below(4) * 60));
    }
    return packets;
}

// A list of filtered tiles with its buffers. The tiles' addresses are offsets in source and
// destination.
struct FilterTiles {
    Bytes source;
    Words descriptions, statuses;
    std::vector<SluiceFilterTile> tiles;
    uint64_t outputSize = 0;

    // Adds a tile whose source is `bytes` with the filter applied. If the description is broken, so
    // that the filter cannot be applied, the source is `bytes`.
    void add(const Words& description, const Bytes& bytes)
    {
        Bytes filtered(bytes.size());
        if (sluiceApplyFilter(description.data(), description.size() * 4, bytes.data(),
                              filtered.data(), bytes.size()) != SLUICE_OK)
            filtered = bytes;
        const auto index = uint32_t(tiles.size());
        // The last member is the index of the tile's status: not the tile's own index but its
        // neighbour's. So a kernel that takes one for the other gives wrong results.
        tiles.push_back({source.size(), outputSize, uint32_t(bytes.size()),
                         uint32_t(descriptions.size() * 4), uint32_t(description.size() * 4),
                         index ^ 1});
        descriptions.insert(descriptions.end(), description.begin(), description.end());
        source.insert(source.end(), filtered.begin(), filtered.end());
        source.resize((source.size() + 3) / 4 * 4);
        outputSize += (bytes.size() + 3) / 4 * 4 + 4;
    }
};

// Makes the list: all kinds of records with all predictors, Targa packets, and tiles that break
// rules.
FilterTiles filterTiles()
{
    FilterTiles list;
    uint32_t seed = 0;
    for (uint32_t p = 0; p < uint32_t(FilterPredictor::count); ++p) {
        const auto predictor = FilterPredictor(p);
        for (const Words& runs : recordKinds(predictor)) {
            ++seed;
            Section section;
            section.runs = runs;
            // Widths of rows: multiples of 4 and others, short and long, and one that exceeds the
            // tile.
            constexpr uint32_t widths[] = {64, 50, 301, 12, 1000, 20000, 33};
            if (needsRows(predictor)) {
                section.width = widths[seed % std::size(widths)];
                section.first = seed % 3 == 0 ? section.width / 3 : 0;
            }
            const uint32_t size = 9000 + 1001 * (seed % 7);
            // In some tiles put plain bytes before the section and other records behind it.
            if (seed % 4 == 1) {
                Section before, behind;
                before.size = 101 + seed;
                section.size = size - 3000;
                behind.runs = {columns(5, 0, filterSplit, FilterPredictor::left)};
                list.add(describe({before, section, behind}), smoothBytes(size, seed));
            } else {
                list.add(describe({section}), smoothBytes(size, seed));
            }
        }
    }
    for (uint32_t pixelBytes = 1; pixelBytes <= 4; ++pixelBytes) {
        Section packets;
        packets.packets = true;
        packets.runs = {columns(pixelBytes, 0, filterSplit, FilterPredictor::left)};
        const Bytes bytes = packetsOf(12000, pixelBytes, pixelBytes);
        Section head, rest = packets;
        head.size = 18;
        rest.size = uint32_t(bytes.size());
        Bytes image = smoothBytes(18, pixelBytes);
        image.insert(image.end(), bytes.begin(), bytes.end());
        const Bytes end = smoothBytes(500, pixelBytes);
        image.insert(image.end(), end.begin(), end.end());
        list.add(describe({head, rest, Section{}}), image);
    }
    // Add broken descriptions, one for each kind of rule, and a tile that is too large.
    Section bad;
    bad.runs = {columns(1, 0, 0, FilterPredictor::count)};
    list.add(describe({bad}), smoothBytes(5000, 1));
    bad.runs = {columns(2, 0, 0, FilterPredictor::left, 2)};
    list.add(describe({bad}), smoothBytes(5000, 2));
    bad.runs = {columns(1, 0, 0, FilterPredictor::up)}; // needs rows, but has none
    list.add(describe({bad}), smoothBytes(5000, 3));
    bad = Section();
    bad.size = 6000;
    list.add(describe({bad, Section{}}), smoothBytes(5000, 4));
    list.add({kFilterVersion + 1}, smoothBytes(5000, 5));
    list.add(describe({Section{}}), smoothBytes(20000, 6));
    return list;
}

} // namespace

// Undoes the filters of the list.
template <>
void SelfTestCases::test<SelfTestCase::filter>(CaseBuffers& on)
{
    FilterTiles list = filterTiles();
    const auto good = uint32_t(list.tiles.size());
    SluiceFilterInfo info = {};
    info.maxTileSize = 19000;
    // There are more statuses than tiles. Add tiles with a misaligned source, which must fail, for
    // some of the other statuses. Then add two tiles that must be left alone: the status of the
    // first says that its decode failed, and the status index of the second is past the end.
    info.statusCount = 3000;
    Words statuses(info.statusCount + 2, SLUICE_TILE_PENDING);
    for (uint32_t i = 0; i < good + 2; ++i)
        statuses[i] = i % 3 == 0 ? SLUICE_TILE_UNVERIFIED : SLUICE_TILE_OK;
    for (uint32_t i = 1200; i < 3000; i += 50) {
        statuses[i] = SLUICE_TILE_OK;
        list.tiles.push_back({2, 0, 100, 0, 8, i});
    }
    list.tiles.push_back(list.tiles[5]);
    list.tiles.back().dstAddress = list.outputSize;
    list.tiles.back().statusIndex = 1100;
    list.tiles.push_back(list.tiles.back());
    list.tiles.back().statusIndex = info.statusCount;
    statuses[1100] = SLUICE_TILE_BAD_CODE;
    list.outputSize += 20000;
    statuses[info.statusCount + 1] = 0xffffffffu;

    info.maxTileCount = uint32_t(list.tiles.size()) + 3;
    info.descriptions = on.input(list.descriptions);
    info.source = on.input(list.source);
    info.destination = on.output(list.outputSize);
    std::vector<SluiceFilterTile> tiles = list.tiles;
    for (SluiceFilterTile& tile : tiles) {
        tile.srcAddress += on.address(info.source);
        tile.dstAddress += on.address(info.destination);
    }
    tiles.resize(info.maxTileCount);
    info.tiles = on.input(tiles);
    info.tileCount = on.input(Words{info.maxTileCount - 3});
    info.status = on.guarded(bytesOf(statuses));
    on.addScratch(info, sluiceGetFilterRequirements);
    on.run(sluiceCmdFilter, info);
    on.take(info.status);
    const Bytes after = on.read(info.status);
    on.take(info.destination, [&](uint8_t* bytes) {
        for (uint32_t i = 0; i < good; ++i) {
            const SluiceFilterTile& tile = list.tiles[i];
            if (after[tile.statusIndex * size_t(4)] == SLUICE_TILE_BAD_FILTER)
                std::fill_n(bytes + tile.dstAddress, tile.size, CaseBuffers::kPoison);
        }
    });
}

// Builds FSE tables of every size (log) from random descriptions, most of which are valid, and from
// counts. The first list has enough tables for a lane group to build several; the second has few.
template <>
void SelfTestCases::test<SelfTestCase::fse_tables>(CaseBuffers& on)
{
    constexpr uint32_t sourceBytes = 64, room = SLUICE_FSE_TABLE_SIZE(SLUICE_FSE_MAX_LOG);
    for (const uint32_t flags : {0u, SLUICE_FSE_COUNTS}) {
        for (const uint32_t tables : {2300u, 37u}) {
            Bytes source = Random(flags + tables).bytes(size_t(tables) * sourceBytes);
            for (uint32_t i = 0; i < tables; ++i) {
                uint8_t* const own = source.data() + size_t(i) * sourceBytes;
                own[0] = uint8_t((own[0] & 0xf0) | (i + 2) % 6);
                if (flags == 0) continue;
                int16_t counts[sourceBytes / 2];
                std::fill_n(counts, std::size(counts), int16_t(i % 3 == 0 ? -1 : 1 << i % 5));
                if (i % 3 == 1) { // make two counts differ from the others
                    counts[3] = int16_t(counts[3] - 1 + (1 << i % 5));
                    counts[4] = 1;
                }
                std::memcpy(own, counts, sourceBytes);
            }
            SluiceFseTablesInfo info = {};
            info.maxRegionCount = tables;
            info.regionStride = sizeof(SluiceRegion);
            info.flags = flags;
            info.maxSymbols = 53;
            info.maxLog = SLUICE_FSE_MAX_LOG;
            info.source = on.input(source);
            info.destination = on.output(uint64_t(tables) * room);
            std::vector<SluiceRegion> regions(tables);
            for (uint32_t i = 0; i < tables; ++i) {
                regions[i] = {on.address(info.source) + i * sourceBytes,
                              on.address(info.destination) + uint64_t(i) * room,
                              i % 29 == 28 ? 7u : sourceBytes, i % 31 == 30 ? 600u : room};
                if (i % 37 == 36) regions[i].dstAddress += 2;
            }
            info.regions = on.input(regions);
            info.status = on.output((uint64_t(tables) + 2) * 4);
            on.run(sluiceCmdFseTables, info);
            on.take(info.status);
            // The bytes behind a table's states, and all bytes of a failed table, are unspecified.
            const Bytes statuses = on.read(info.status);
            on.take(info.destination, [&](uint8_t* bytes) {
                for (uint32_t i = 0; i < tables; ++i) {
                    uint8_t* const table = bytes + size_t(i) * room;
                    const bool built = statuses[i * size_t(4)] == SLUICE_TILE_OK;
                    const uint32_t used = built ? SLUICE_FSE_TABLE_SIZE(table[2] & 15) : 0;
                    if (used < room) std::fill(table + used, table + room, CaseBuffers::kPoison);
                }
            });
        }
    }
}

} // namespace sluice::selftest
