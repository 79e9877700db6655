// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests undoing filters: descriptions and their rules, every predictor with filters from the
// encoder, and hostile descriptions compared with the CPU.
#include <sluice/sluice_filter.h>

#include "tests/support/filters.h"

#include <algorithm>
#include <cstring>

using namespace sluice::test;
using sluice::FilterPredictor;
using sluice::kFilterRest;

namespace {

SluiceStatus check(const Words& words) { return sluiceCheckFilter(words.data(), 4 * words.size()); }

constexpr auto kNone = FilterPredictor::none;
constexpr auto kMedian = FilterPredictor::median;
constexpr uint32_t kSplit = sluice::filterSplit, kJoined = sluice::filterJoined,
                   kZigzag = sluice::filterZigzag, kBlock = sluice::filterBlock;

// The statuses must be those of the CPU. So must all bytes, except in tiles that failed.
void compare(const FilterBatch& batch, FilterOutcome expected, FilterOutcome found)
{
    CHECK((found.status == expected.status));
    for (const FilterBatch::Tile& tile : batch.tiles) {
        const SluiceFilterTile& region = tile.region;
        if (region.statusIndex >= batch.statusCount ||
            expected.status[region.statusIndex] == SLUICE_TILE_OK)
            continue;
        if (region.dstAddress > found.output.size() ||
            region.size > found.output.size() - region.dstAddress)
            continue;
        for (Bytes* output : {&expected.output, &found.output})
            std::fill_n(output->begin() + std::ptrdiff_t(region.dstAddress), region.size,
                        uint8_t(0));
    }
    CHECK((found.output == expected.output));
}
FilterOutcome runAndCompare(const FilterBatch& batch)
{
    Device reference("cpu", "ref", 0);
    REQUIRE(reference.isOpen());
    const FilterOutcome expected = undoFilters(reference, batch),
                        found = undoFilters(device(), batch);
    compare(batch, expected, found);
    if (hasKernelsByCount(device())) {
        // With room for 620 more tiles, which GPUs of up to 155 SMs do not count as few, another
        // kernel may run.
        compare(batch, expected, undoFilters(device(), batch, 620));
    }
    return found;
}

// Checks that every tile comes out as it was before it was filtered.
void checkRoundTrips(const std::vector<std::pair<Words, Bytes>>& tiles)
{
    FilterBatch batch;
    for (const auto& [description, tile] : tiles)
        batch.add(description, applied(description, tile));
    const FilterOutcome outcome = runAndCompare(batch);
    for (size_t i = 0; i < tiles.size(); ++i) {
        CAPTURE(i);
        CHECK(outcome.status[i] == SLUICE_TILE_OK);
        CHECK(
            std::equal(tiles[i].second.begin(), tiles[i].second.end(),
                       outcome.output.begin() + std::ptrdiff_t(batch.tiles[i].region.dstAddress)));
    }
}

} // namespace

TEST_CASE("filter: every rule of a description")
{
    const uint32_t plain = columnRun(1, 0, 0, kNone), format = SLUICE_ERROR_FORMAT,
                   version = SLUICE_ERROR_VERSION;
    const auto with = [](SectionWords section, void (*change)(SectionWords&)) {
        change(section);
        return describe({section});
    };
    const Words good = describe({records({plain})});
    CHECK(check(good) == SLUICE_OK);
    CHECK(check(describe({records({})})) == SLUICE_OK);
    CHECK(check({2u | 1u << 16, kFilterRest}) == version);
    CHECK(check({0u | 1u << 16, kFilterRest}) == version);
    CHECK(check({1u}) == format); // no sections
    CHECK(check({1u | 256u << 16}) == format);
    CHECK(check({1u | 1u << 16}) == format); // too short
    CHECK(check({1u | 2u << 16, 5u}) == format);
    Words longer = good;
    longer.push_back(0);
    CHECK(check(longer) == format);
    longer.resize(5000);
    CHECK(check(longer) == format);
    CHECK(sluiceCheckFilter(good.data(), 4 * good.size() - 1) == format);
    CHECK(sluiceCheckFilter(good.data(), 0) == format);
    CHECK(sluiceCheckFilter(nullptr, 8) == SLUICE_ERROR_ARGUMENT);
    CHECK(check({1u | 1u << 16, 0x80000000u | kFilterRest}) == version); // reserved
    CHECK(check(describe({records({}, 1u << 20)})) == SLUICE_OK);
    CHECK(check(describe({records({}, (1u << 20) + 1)})) == format);
    // No section may follow the one that takes the rest of the records.
    CHECK(check(describe({records({}), records({})})) == format);
    CHECK(check(with(rowsOf(0, {plain}), [](SectionWords&) {})) == format);
    CHECK(check(with(rowsOf(7, {plain}), [](SectionWords& s) { s.first = 7; })) == format);
    CHECK(check(with(rowsOf(7, {plain}), [](SectionWords& s) { s.first = 6; })) == SLUICE_OK);
    CHECK(check(with(rowsOf((1u << 20) + 1, {plain}), [](SectionWords&) {})) == format);
    CHECK(check(with(rowsOf(1u << 20, {plain}), [](SectionWords&) {})) == SLUICE_OK);
    CHECK(check(with(rowsOf(7, {plain}), [](SectionWords& s) { s.packets = true; })) == format);
    CHECK(check(with(records({}), [](SectionWords& s) { s.packets = true; })) == format);
    CHECK(check(with(records({plain}), [](SectionWords& s) { s.packets = true; })) == SLUICE_OK);
    CHECK(check(describe({records({columnRun(0, 0, 0, kNone)})})) == format);
    CHECK(check(describe({records({columnRun(128, 0, 0, kNone)})})) == SLUICE_OK);
    CHECK(check(describe({records({columnRun(129, 0, 0, kNone)})})) == format);
    CHECK(check(describe({records({columnRun(33, 2, 0, kNone)})})) == format); // 132 bytes
    CHECK(check(describe({records({columnRun(1, 3, 0, kNone)})})) == version);
    for (uint32_t log2Bytes = 0; log2Bytes < 3; ++log2Bytes) { // block columns have 2 or 4 bytes
        const uint32_t both = kBlock | sluice::filterRotated,
                       expected = log2Bytes == 0 ? format : uint32_t(SLUICE_OK);
        CHECK(check(describe({records({columnRun(1, log2Bytes, kBlock, kNone)})})) == expected);
        CHECK(check(describe({records({columnRun(1, log2Bytes, both, kNone)})})) == format);
    }
    CHECK(check(describe({records({plain | 1u << 15})})) == version);
    CHECK(check(describe({records({columnRun(1, 0, 0, FilterPredictor::count)})})) == version);
    for (const sluice::FilterPredictorRow& row : sluice::kFilterPredictors) {
        const FilterPredictor one{uint8_t(row.number)};
        CHECK(check(describe({records({columnRun(1, 0, 0, one)})})) ==
              (needsRows(one) ? format : uint32_t(SLUICE_OK)));
        CHECK(check(describe({rowsOf(1, {columnRun(1, 0, 0, one)})})) == SLUICE_OK);
    }
    // A joined column needs a column before it.
    CHECK(check(describe({records({columnRun(1, 0, kJoined, kNone)})})) == format);
    CHECK(check(describe({records({plain, columnRun(1, 0, kJoined, kNone)})})) == SLUICE_OK);
    CHECK(check(describe({records({plain, columnRun(1, 0, kJoined | kSplit, kNone)})})) == format);
    CHECK(check(describe({records({plain, columnRun(1, 0, 0, kNone, 1)})})) == SLUICE_OK);
    CHECK(check(describe({records({columnRun(1, 0, 0, kNone, 2), plain})})) == SLUICE_OK);
    // A column cannot be its own base, nor have one that does not exist.
    CHECK(check(describe({records({plain, columnRun(1, 0, 0, kNone, 2)})})) == format);
    CHECK(check(describe({records({plain, columnRun(1, 0, 0, kNone, 3)})})) == format);
    // A base must have the same width.
    CHECK(check(describe({records({plain, columnRun(1, 1, 0, kNone, 1)})})) == format);
    CHECK(check(describe({records({plain, columnRun(1, 0, 0, kNone, 1),
                                   columnRun(1, 0, 0, kNone, 2)})})) == format); // a chain
}

TEST_CASE("filter: a text for people")
{
    const Words words = describe(
        {records({}, 18),
         rowsOf(128, {columnRun(1, 0, kSplit, kMedian, 2), columnRun(1, 0, kSplit, kMedian)})});
    char text[200];
    CHECK(sluiceGetFilterText(words.data(), 4 * words.size(), text, sizeof text) == SLUICE_OK);
    CHECK(std::string(text) == "18: plain | rest: width 128 u8 median -1, u8 median");
    CHECK(sluiceGetFilterText(words.data(), 4 * words.size(), text, 10) == SLUICE_OK);
    CHECK(std::string(text) == "18: plain");
    CHECK(sluiceGetFilterText(words.data(), 4, text, sizeof text) == SLUICE_ERROR_FORMAT);
    CHECK(text[0] == 0);
}

TEST_CASE("filter: an example by hand")
{
    // Three records of a byte and a 16-bit word: the bytes as differences, the words in planes.
    const Words words = describe({records(
        {columnRun(1, 0, kSplit, FilterPredictor::left), columnRun(1, 1, kSplit, kNone)})});
    const Bytes tile = {10, 0x34, 0x12, 11, 0x78, 0x56, 9, 0xbc, 0x9a, 77};
    const Bytes filtered = {10, 1, 0xfe, 0x34, 0x78, 0xbc, 0x12, 0x56, 0x9a, 77};
    CHECK((applied(words, tile) == filtered));
    Bytes out(tile.size());
    CHECK(sluiceUndoFilter(words.data(), 4 * words.size(), filtered.data(), out.data(),
                           out.size()) == SLUICE_OK);
    CHECK((out == tile));
    // This section is larger than what is left of the tile.
    const Words large = describe({records({}, 11), records({})});
    CHECK(sluiceUndoFilter(large.data(), 4 * large.size(), filtered.data(), out.data(),
                           out.size()) == SLUICE_ERROR_FORMAT);
    CHECK(sluiceApplyFilter(large.data(), 4 * large.size(), tile.data(), out.data(), out.size()) ==
          SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("filter: a block by hand")
{
    // The tile's end points are (20, 37, 14) and (31, 0, 0); each of its four rows has the indices
    // 0, 1, 2, 3.
    const Words words =
        describe({records({columnRun(2, 1, kBlock, kNone), columnRun(1, 2, kBlock, kNone)})});
    const Bytes tile = {0xae, 0xa4, 0x00, 0xf8, 0xe4, 0xe4, 0xe4, 0xe4};
    const Bytes filtered = {0xbc, 0xa7, 0x40, 0xf8, 0x00, 0x55, 0xaa, 0xff};
    CHECK((applied(words, tile) == filtered));
    Bytes out(tile.size());
    CHECK(sluiceUndoFilter(words.data(), 4 * words.size(), filtered.data(), out.data(),
                           out.size()) == SLUICE_OK);
    CHECK((out == tile));
    char text[64];
    CHECK(sluiceGetFilterText(words.data(), 4 * words.size(), text, sizeof text) == SLUICE_OK);
    CHECK(std::string(text) == "rest: 2x u16 block, u32 block");
    // Every end point comes back. So do indices with one bit set or clear, whose bits move as
    // given.
    sluice::FilterColumn colour = {}, indices = {};
    colour.bytes = 2;
    indices.bytes = 4;
    colour.flags = indices.flags = sluice::filterBlock;
    for (uint32_t value = 0; value < 0x10000; ++value)
        REQUIRE(sluice::unmapValue(colour, sluice::mapValue(colour, value)) == value);
    for (uint32_t bit = 0; bit < 32; ++bit) {
        const uint32_t pixel = bit / 2, mapped = (pixel % 4 * 4 + pixel / 4) * 2 + bit % 2;
        CHECK(sluice::mapValue(indices, 1u << bit) == 1u << mapped);
        CHECK(sluice::unmapValue(indices, ~(1u << mapped)) == ~(1u << bit));
    }
}

TEST_CASE("filter: random descriptions, there and back on the host")
{
    std::mt19937 random = makeRandom(301);
    for (uint32_t i = 0; i < environmentNumber("SLUICE_MUTATIONS", 3000); ++i) {
        const uint32_t size = 1 + uint32_t(random() % 5000);
        const Words words = randomDescription(random, size);
        CAPTURE(i);
        REQUIRE(check(words) == SLUICE_OK);
        const Bytes tile = i % 2 == 0 ? randomBytes(random, size) : smoothBytes(random, size),
                    filtered = applied(words, tile);
        Bytes out(size);
        REQUIRE(sluiceUndoFilter(words.data(), 4 * words.size(), filtered.data(), out.data(),
                                 size) == SLUICE_OK);
        REQUIRE((out == tile));
    }
}

TEST_CASE("filter: arguments of the command")
{
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    alignas(16) uint32_t memory[64] = {};
    const auto buffer = [&](uint64_t size) {
        return SluiceBuffer{reinterpret_cast<uintptr_t>(memory), 0, size};
    };
    const auto status = [&](void (*change)(SluiceFilterInfo&)) {
        SluiceFilterInfo info = {};
        info.maxTileCount = 1;
        info.maxTileSize = 64;
        info.statusCount = 1;
        info.tiles = buffer(32);
        info.status = buffer(12);
        change(info);
        return sluiceCmdFilter(context, nullptr, &info);
    };
    using Info = SluiceFilterInfo;
    const SluiceStatus argument = SLUICE_ERROR_ARGUMENT, size = SLUICE_ERROR_BUFFER_SIZE;
    CHECK(status([](Info&) {}) == SLUICE_OK); // its status word is PENDING
    CHECK(status([](Info& info) { info.maxTileCount = (1u << 24) + 1; }) == argument);
    CHECK(status([](Info& info) { info.statusCount = (1u << 24) + 1; }) == argument);
    CHECK(status([](Info& info) { info.maxTileSize = 0; }) == argument);
    CHECK(status([](Info& info) { info.maxTileSize = 66; }) == argument);
    CHECK(status([](Info& info) { info.maxTileSize = (1u << 20) + 4; }) == argument);
    CHECK(status([](Info& info) { info.tiles.size = 31; }) == size);
    CHECK(status([](Info& info) { info.status.size = 11; }) == size);
    CHECK(status([](Info& info) { info.tiles.offset = 4; }) == argument);
    CHECK(status([](Info& info) { info.status.offset = 2; }) == argument);
    CHECK(status([](Info& info) { info.tileCount = {info.tiles.handle, 2, 4}; }) == argument);
    CHECK(status([](Info& info) { info.tileCount = {info.tiles.handle, 0, 3}; }) == size);
    CHECK(status([](Info& info) { info.descriptions = {info.tiles.handle, 2, 8}; }) == argument);
    CHECK(status([](Info& info) { info.source = {info.tiles.handle, 2, 8}; }) == argument);
    CHECK(status([](Info& info) { info.destination = {0, 0, 8}; }) == argument);
    SluiceFilterInfo info = {};
    SluiceRequirements requirements = {};
    CHECK(sluiceCmdFilter(nullptr, nullptr, &info) == argument);
    CHECK(sluiceCmdFilter(context, nullptr, nullptr) == argument);
    CHECK(sluiceGetFilterRequirements(context, &info, &requirements) == argument); // maxTileSize 0
    info.maxTileSize = 4;
    CHECK(sluiceGetFilterRequirements(context, &info, nullptr) == argument);
    CHECK(sluiceGetFilterRequirements(context, &info, &requirements) == SLUICE_OK);
    sluiceDestroyContext(context);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("filter: every predictor, width and layout")
{
    std::mt19937 random = makeRandom(302);
    std::vector<std::pair<Words, Bytes>> tiles;
    for (uint32_t predictor = 0; predictor < uint32_t(FilterPredictor::count); ++predictor) {
        for (uint32_t log2Bytes = 0; log2Bytes < 3; ++log2Bytes) {
            for (const uint32_t flags :
                 {0u, kSplit, kSplit | kZigzag, uint32_t(sluice::filterRotated), kBlock,
                  kBlock | kSplit}) {
                if ((flags & kBlock) != 0 && log2Bytes == 0) continue;
                SectionWords section = rowsOf(1 + uint32_t(random() % 23), {});
                section.first = uint32_t(random() % section.width);
                section.runs = {columnRun(1, log2Bytes, flags, FilterPredictor(predictor)),
                                columnRun(1, log2Bytes, flags, FilterPredictor(predictor), 1)};
                tiles.emplace_back(describe({section}), smoothBytes(random, 1 + random() % 700));
            }
        }
    }
    checkRoundTrips(tiles);
}

TEST_CASE("filter: random descriptions and odd sizes")
{
    std::mt19937 random = makeRandom(303);
    std::vector<std::pair<Words, Bytes>> tiles;
    for (uint32_t i = 0; i < environmentNumber("SLUICE_MUTATIONS", 100); ++i) {
        const uint32_t size = 1 + uint32_t(random() % 900);
        tiles.emplace_back(randomDescription(random, size), randomBytes(random, size));
    }
    checkRoundTrips(tiles);
}

TEST_CASE("filter: images higher and wider than a workgroup, long differences")
{
    std::mt19937 random = makeRandom(304);
    std::vector<std::pair<Words, Bytes>> tiles;
    for (const uint32_t width : {3u, 40u, 300u}) {
        const Words pixels = {columnRun(1, 0, kSplit, kMedian, 2), columnRun(1, 0, kSplit, kMedian),
                              columnRun(1, 0, kSplit, kMedian, 2)};
        tiles.emplace_back(describe({records({}, 18), rowsOf(width, pixels)}),
                           smoothBytes(random, 18 + 3 * 1800 + 2));
        tiles.emplace_back(describe({rowsOf(width, {columnRun(5, 0, kSplit, kMedian)})}),
                           smoothBytes(random, 5 * 1000));
        tiles.emplace_back(
            describe({rowsOf(width, {columnRun(1, 0, 0, FilterPredictor::gradient)})}),
            smoothBytes(random, 3001));
    }
    for (const sluice::FilterPredictorRow& row : sluice::kFilterPredictors) {
        const FilterPredictor order{uint8_t(row.number)};
        if (order == kNone || needsRows(order)) continue;
        tiles.emplace_back(describe({records({columnRun(2, 1, kSplit | kZigzag, order)})}),
                           smoothBytes(random, 9002));
    }
    checkRoundTrips(tiles);
}

TEST_CASE("filter: pixels that begin anywhere in a row and in a word")
{
    // Pixels are undone in quads. Quads share words with the quads beside them, which may be stored
    // before or after.
    std::mt19937 random = makeRandom(313);
    std::vector<std::pair<Words, Bytes>> tiles;
    // Software devices try only some first pixels: the first ones, and those around multiples of
    // 16.
    std::vector<uint32_t> firsts;
    for (uint32_t first = 0; first < 48; ++first)
        if (!isSoftware() || first < 12 || (first + 1) % 16 < 3) firsts.push_back(first);
    for (const uint32_t stride : {3u, 4u, 8u}) {
        for (const uint32_t first : firsts) {
            for (uint32_t before = 0; before < 4; ++before) {
                const uint32_t size = stride * (1 + uint32_t(random() % 90));
                SectionWords section = rowsOf(first + 1 + uint32_t(random() % 40),
                                              {columnRun(stride, 0, kSplit, kMedian)});
                section.first = first;
                section.size = size;
                tiles.emplace_back(describe({records({}, before), section, records({})}),
                                   randomBytes(random, before + size + 3));
            }
        }
    }
    checkRoundTrips(tiles);
}

TEST_CASE("filter: rows that are wider than the section, and sections without bytes")
{
    std::mt19937 random = makeRandom(307);
    std::vector<std::pair<Words, Bytes>> tiles;
    for (const uint32_t width : {7u, 100u, 8192u, 1u << 20}) {
        for (const uint32_t first : {0u, 1u, width / 2, width - 1}) {
            for (const FilterPredictor predictor : {FilterPredictor::up, FilterPredictor::gradient,
                                                    kMedian, FilterPredictor::average}) {
                std::vector<SectionWords> sections;
                // The sections are narrower than a row, as wide, and a little wider.
                for (uint32_t i = 0; i < 9; ++i) {
                    SectionWords section =
                        rowsOf(width, {columnRun(2, i % 3 == 0 ? 1 : 0, kSplit, predictor)});
                    section.first = first;
                    section.size = (i % 3 == 0 ? 4u : 2u) * std::min(width + i % 3, 40u + i);
                    sections.push_back(section);
                }
                tiles.emplace_back(describe(sections), smoothBytes(random, 1100));
            }
        }
    }
    // Rows of 2^20 records cost nothing if there are few records: here 50 sections of two records
    // in 32 columns.
    SectionWords wide = rowsOf(1u << 20, {columnRun(32, 0, 0, kMedian)});
    wide.first = (1u << 20) - 1;
    wide.size = 64;
    tiles.emplace_back(describe(std::vector<SectionWords>(50, wide)), smoothBytes(random, 50 * 64));
    SectionWords empty = records({columnRun(4, 0, kSplit, FilterPredictor::left)}, 0);
    empty.packets = true;
    tiles.emplace_back(describe({records({}, 65), empty}), randomBytes(random, 65));
    checkRoundTrips(tiles);
}

TEST_CASE("filter: whole tiles of 256 KiB")
{
    std::mt19937 random = makeRandom(309);
    constexpr uint32_t size = 1u << 18;
    const Words pixels = {columnRun(1, 0, kSplit, kMedian, 2), columnRun(1, 0, kSplit, kMedian),
                          columnRun(1, 0, kSplit, kMedian, 2),
                          columnRun(1, 0, kSplit, FilterPredictor::average, 2)};
    checkRoundTrips(
        {{describe({rowsOf(256, pixels)}), smoothBytes(random, size)},
         {describe({rowsOf(500, {columnRun(2, 1, kSplit | kZigzag, FilterPredictor::up)})}),
          smoothBytes(random, size)},
         {describe({records({columnRun(4, 2, kSplit, FilterPredictor::left2)})}),
          smoothBytes(random, size)}});
}

TEST_CASE("filter: compressed blocks")
{
    std::mt19937 random = makeRandom(311);
    std::vector<std::pair<Words, Bytes>> tiles;
    const Words colours = {columnRun(1, 1, kBlock, kNone), columnRun(1, 1, kBlock | kJoined, kNone),
                           columnRun(1, 2, kBlock, kNone)};
    Words both = {columnRun(1, 0, 0, kNone), columnRun(1, 0, kJoined, kNone),
                  columnRun(1, 1, 0, kNone), columnRun(1, 2, kJoined, kNone)};
    both.insert(both.end(), colours.begin(), colours.end());
    const Words predicted = {columnRun(1, 1, kBlock | kSplit | kZigzag, kMedian),
                             columnRun(1, 1, kBlock, FilterPredictor::left, 1),
                             columnRun(1, 2, kBlock | kSplit, FilterPredictor::up)};
    for (const uint32_t size : {8u, 64u, 4100u, 70000u}) {
        for (const Words& runs : {colours, both, predicted}) {
            tiles.emplace_back(describe({rowsOf(37, runs)}), smoothBytes(random, size));
            tiles.emplace_back(describe({records({}, 5), rowsOf(16, runs)}),
                               randomBytes(random, size + 5 + size % 3));
        }
    }
    checkRoundTrips(tiles);
}

TEST_CASE("filter: packets of run-length coded images")
{
    std::mt19937 random = makeRandom(305);
    std::vector<std::pair<Words, Bytes>> tiles;
    for (uint32_t pixelBytes = 1; pixelBytes <= 4; ++pixelBytes) {
        for (const uint32_t size : {1u, 90u, 2500u}) {
            Bytes tile(18, 7);
            const Bytes packets = randomPackets(random, size, pixelBytes);
            tile.insert(tile.end(), packets.begin(), packets.end());
            SectionWords section =
                records({columnRun(pixelBytes, 0, kSplit, FilterPredictor::left)},
                        uint32_t(packets.size()));
            section.packets = true;
            tile.resize(tile.size() + size % 4, 9); // bytes after the section, such as a footer
            tiles.emplace_back(describe({records({}, 18), section}), tile);
            section.size = 0;
            tiles.emplace_back(describe({section}), tile);
        }
    }
    checkRoundTrips(tiles);
}

TEST_CASE("filter: mutated descriptions and bytes")
{
    std::mt19937 random = makeRandom(306);
    FilterBatch batch;
    for (uint32_t i = 0; i < environmentNumber("SLUICE_MUTATIONS", 100); ++i) {
        const uint32_t size = 1 + uint32_t(random() % 700);
        Words words = randomDescription(random, size);
        Bytes bytes = randomBytes(random, size);
        if (i % 3 == 0) {
            SectionWords section = records({columnRun(1 + i % 4, 0, kSplit, FilterPredictor::left)},
                                           uint32_t(random() % (size + 1)));
            section.packets = true;
            words = describe({section});
            std::fill_n(bytes.begin(), size / 3, uint8_t(random() % 256));
        } else {
            for (uint32_t k = 0; k < 1 + i % 3; ++k)
                words[random() % words.size()] ^= 1u << random() % 32;
        }
        if (i % 7 == 0) words.resize(random() % (words.size() + 1));
        batch.add(words, bytes);
    }
    runAndCompare(batch);
}

TEST_CASE("filter: regions, counts and statuses")
{
    std::mt19937 random = makeRandom(307);
    const Words words = describe({records({columnRun(2, 0, kSplit, FilterPredictor::left)})});
    FilterBatch batch;
    batch.maxTileSize = 128;
    const auto add = [&]() -> SluiceFilterTile& {
        batch.add(words, randomBytes(random, 100));
        return batch.tiles.back().region;
    };
    const uint64_t upper = uint64_t(1) << 32;
    add();
    add().srcAddress += 1;
    add().srcAddress += 2;
    add().dstAddress += 1;
    add().dstAddress += 2;
    add().size = 0;
    add().size = 132;
    add().size = 0xfffffffc;
    add().srcAddress += upper;
    add().dstAddress += upper;
    add().srcAddress -= upper;
    add().dstAddress -= upper;
    add().descriptionOffset += 1;
    add().descriptionOffset += 2;
    add().descriptionOffset = 0xfffffff0;
    add().descriptionSize = 0xfffffff0;
    add().descriptionSize += 1;
    add().descriptionSize -= 4; // this one gets BAD_FILTER
    add().descriptionSize = 0;
    const size_t bad = batch.tiles.size();
    add(); // failed before
    add(); // its status is PENDING, not OK
    add(); // UNVERIFIED: a driver decodes it
    add(); // a good one
    batch.statusCount += 3;
    batch.tiles.back().region.statusIndex += 2;
    add().statusIndex = 0xffffffff; // it has no status word
    batch.statusCount = uint32_t(batch.tiles.size()) + 1;
    batch.before.assign(batch.statusCount, SLUICE_TILE_OK);
    batch.before[bad] = SLUICE_TILE_BAD_CODE;
    batch.before[bad + 1] = SLUICE_TILE_PENDING;
    batch.before[bad + 2] = SLUICE_TILE_UNVERIFIED;
    const FilterOutcome outcome = runAndCompare(batch);
    CHECK(outcome.status[0] == SLUICE_TILE_OK);
    for (size_t i = 1; i < bad; ++i) {
        CAPTURE(i);
        CHECK(outcome.status[i] == (i < bad - 2 ? SLUICE_TILE_BAD_REGION : SLUICE_TILE_BAD_FILTER));
    }
    CHECK(outcome.status[bad] == SLUICE_TILE_BAD_CODE);
    CHECK(outcome.status[bad + 1] == SLUICE_TILE_PENDING);
    CHECK(outcome.status[bad + 2] == SLUICE_TILE_UNVERIFIED);
    CHECK(outcome.status[batch.statusCount] == bad - 1);
    CHECK(outcome.status[batch.statusCount + 1] == 1);

    for (const uint32_t count : {0u, 1u, 3u, 4000000000u}) {
        batch.count = count;
        const FilterOutcome counted = runAndCompare(batch);
        CHECK(counted.status[batch.statusCount] ==
              std::min<size_t>(count == 0 ? 0 : count - 1, bad - 1));
    }
    batch.tiles.clear();
    batch.count = ~0u;
    runAndCompare(batch);
}

TEST_CASE("filter: more tiles than workgroups")
{
    std::mt19937 random = makeRandom(308);
    std::vector<std::pair<Words, Bytes>> tiles;
    // On large GPUs these are more tiles than the kernel for few tiles takes, and more than
    // workgroups get before they take turns.
    const uint32_t count = isSoftware() ? 2 * SLUICE_FILTER_WORKGROUPS + 100 : 4000;
    for (uint32_t i = 0; i < count; ++i)
        tiles.emplace_back(describe({records({columnRun(1, 0, 0, FilterPredictor::left)})}),
                           randomBytes(random, 1 + i % 9));
    checkRoundTrips(tiles);
}

TEST_SUITE_END();
