// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/filters.h"

namespace sluice::test {

uint32_t columnRun(uint32_t repeat, uint32_t log2Bytes, uint32_t flags, FilterPredictor predictor,
                   uint32_t base)
{
    return repeat | log2Bytes << 8 | flags << 10 | uint32_t(predictor) << 16 | base << 24;
}

Words describe(const std::vector<SectionWords>& sections)
{
    Words words = {kFilterVersion | uint32_t(sections.size()) << 16};
    for (const SectionWords& section : sections) {
        words.push_back(section.size | uint32_t(section.runs.size()) << 21 |
                        uint32_t(section.rows) << 29 | uint32_t(section.packets) << 30);
        if (section.rows) words.insert(words.end(), {section.width, section.first});
        words.insert(words.end(), section.runs.begin(), section.runs.end());
    }
    return words;
}

namespace {

uint32_t below(std::mt19937& random, uint32_t end) { return uint32_t(random() % end); }

FilterPredictor randomPredictor(std::mt19937& random, bool haveRows)
{
    std::vector<FilterPredictor> allowed;
    for (const FilterPredictorRow& row : kFilterPredictors)
        if (haveRows || !needsRows(FilterPredictor(row.number)))
            allowed.push_back(FilterPredictor(row.number));
    return allowed[below(random, uint32_t(allowed.size()))];
}

SectionWords randomSection(std::mt19937& random)
{
    SectionWords section;
    section.rows = below(random, 2) != 0;
    if (section.rows) {
        section.width = 1 + below(random, below(random, 4) == 0 ? 300 : 40);
        section.first = below(random, section.width);
    }
    // bases: for each width, 1 + the number of a column without a base; 0: there is none.
    uint32_t columns = 0, stride = 0, bases[3] = {};
    const uint32_t runs = below(random, 6);
    uint32_t lastSplit = 0;
    for (uint32_t r = 0; r < runs; ++r) {
        const uint32_t log2Bytes = below(random, 3), repeat = 1 + below(random, 3);
        if (stride + (repeat << log2Bytes) > kFilterMaxStride) break;
        uint32_t flags = below(random, 32);
        if (log2Bytes == 0 || (flags & filterRotated) != 0) flags &= ~uint32_t(filterBlock);
        if ((flags & filterJoined) != 0)
            flags = columns == 0 ? flags & ~uint32_t(filterJoined)
                                 : (flags & ~uint32_t(filterSplit)) | lastSplit;
        lastSplit = flags & filterSplit;
        const FilterPredictor predictor = randomPredictor(random, section.rows);
        const uint32_t base = below(random, 3) == 0 ? bases[log2Bytes] : 0;
        if (base == 0) bases[log2Bytes] = columns + 1;
        section.runs.push_back(columnRun(repeat, log2Bytes, flags, predictor, base));
        columns += repeat;
        stride += repeat << log2Bytes;
    }
    return section;
}

} // namespace

Words randomDescription(std::mt19937& random, uint32_t size)
{
    std::vector<SectionWords> sections;
    for (uint32_t left = size; sections.size() < 3 && below(random, 4) != 0;) {
        sections.push_back(randomSection(random));
        sections.back().size = below(random, left + 1);
        left -= sections.back().size;
    }
    sections.push_back(randomSection(random));
    return describe(sections);
}

Bytes randomBytes(std::mt19937& random, size_t size)
{
    Bytes bytes(size);
    for (uint8_t& byte : bytes)
        byte = uint8_t(random());
    return bytes;
}

Bytes smoothBytes(std::mt19937& random, size_t size)
{
    Bytes bytes(size);
    uint8_t value = 0;
    for (uint8_t& byte : bytes)
        byte = value = uint8_t(value + random() % 7 - 3);
    return bytes;
}

Bytes randomPackets(std::mt19937& random, size_t size, uint32_t pixelBytes)
{
    Bytes packets;
    while (packets.size() < size) {
        const uint8_t header =
            uint8_t(below(random, 3) == 0 ? random() : below(random, 256) & 0x83);
        const uint32_t bytes = pixelBytes * ((header & 128) != 0 ? 1 : header + 1u);
        packets.push_back(header);
        for (uint32_t b = 0; b < bytes; ++b)
            packets.push_back(uint8_t(random() % 4 * 60));
    }
    return packets;
}

std::vector<SectionWords> asManyColumns(uint32_t more, FilterPredictor predictor, uint32_t bytes)
{
    constexpr uint32_t each = 128 + SLUICE_FILTER_SECTION_COLUMNS,
                       rest = SLUICE_FILTER_MAX_COLUMNS % each;
    static_assert(rest > SLUICE_FILTER_SECTION_COLUMNS && rest < each - 1, "");
    std::vector<SectionWords> sections(SLUICE_FILTER_MAX_COLUMNS / each,
                                       records({columnRun(128, 0, 0, predictor)}, bytes));
    const uint32_t last = rest - SLUICE_FILTER_SECTION_COLUMNS + more;
    sections.push_back(records({columnRun(last, 0, 0, FilterPredictor::left)}, last));
    return sections;
}

uint32_t sizeOf(const std::vector<SectionWords>& sections)
{
    uint32_t sum = 0;
    for (const SectionWords& section : sections)
        sum += section.size;
    return sum;
}

Bytes applied(const Words& description, const Bytes& tile)
{
    Bytes filtered(tile.size());
    REQUIRE(sluiceApplyFilter(description.data(), 4 * description.size(), tile.data(),
                              filtered.data(), tile.size()) == SLUICE_OK);
    return filtered;
}

SectionWords rowsOf(uint32_t width, Words runs)
{
    SectionWords section;
    section.rows = true;
    section.width = width;
    section.runs = std::move(runs);
    return section;
}

SectionWords records(Words runs, uint32_t size)
{
    SectionWords section;
    section.runs = std::move(runs);
    section.size = size;
    return section;
}

FilterOutcome undoFilters(Device& on, const FilterBatch& batch, uint32_t room)
{
    Buffer source(on, batch.source), descriptions(on, batch.descriptions),
        destination(on, batch.destinationSize);
    Words statuses = batch.before;
    statuses.resize(batch.statusCount, SLUICE_TILE_OK);
    statuses.insert(statuses.end(), {0, ~0u});
    const uint32_t tileCount = uint32_t(batch.tiles.size());
    Buffer status(on, statuses),
        count(on, Words{std::min(batch.count, room != 0 ? tileCount : ~0u)});
    Bytes list((size_t{tileCount} + room) * sizeof(SluiceFilterTile), 0xFF);
    for (size_t i = 0; i < batch.tiles.size(); ++i) {
        SluiceFilterTile tile = batch.tiles[i].region;
        tile.srcAddress += source.address();
        tile.dstAddress += destination.address();
        std::memcpy(list.data() + i * sizeof tile, &tile, sizeof tile);
    }
    Buffer tiles(on, list);
    SluiceFilterInfo info = {};
    info.maxTileCount = tileCount + room;
    info.maxTileSize = batch.maxTileSize;
    info.statusCount = batch.statusCount;
    info.tiles = tiles.range();
    if (batch.count != ~0u || room != 0) info.tileCount = count.range();
    info.descriptions = descriptions.range();
    info.source = source.range();
    info.destination = destination.range();
    info.status = status.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetFilterRequirements(on.context(), &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(on, requirements);
    info.scratch = scratch.range();
    on.run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdFilter(on.context(), commands, &info) == SLUICE_OK);
    });
    return {status.words(), destination.bytes()};
}

} // namespace sluice::test
