// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes Gstd tiles and undoes their filters in one command. The results must be those of the two
// commands on the CPU.
#include <sluice/sluice_filter.h>
#include <sluice/sluice_gstd.h>

#include "tests/support/filters.h"
#include "tests/support/gstd_encoder.h"

#include <algorithm>

using namespace sluice::test;

namespace {

struct FilteredTile {
    Bytes compressed;
    uint32_t size;
    Words description; // empty: no filter
};

struct List {
    std::vector<FilteredTile> tiles;
    uint32_t tilesAtOnce = 0;
    uint32_t room = 0;    // the list has room for this many more tiles
    uint32_t count = ~0u; // the count of regions in GPU memory; ~0: all of them
    Words expected;       // checksums of the decoded bytes, or empty
};

struct Outcome {
    Words status;
    Bytes decoded, output;
    std::vector<uint32_t> begins; // where tiles begin in both outputs
    bool isSplit = false;         // tiles without a filter were decoded into `output`
};

Outcome run(Device& on, const List& list, bool together)
{
    const uint32_t tileCount = uint32_t(list.tiles.size()), most = tileCount + list.room;
    Bytes from, descriptions;
    std::vector<SluiceRegion> regions;
    std::vector<SluiceFilterTile> filters;
    Outcome outcome;
    uint32_t outputSize = 0, largest = 4;
    for (const FilteredTile& tile : list.tiles) {
        if (!tile.description.empty()) {
            const uint8_t* words = reinterpret_cast<const uint8_t*>(tile.description.data());
            filters.push_back({outputSize, outputSize, tile.size, uint32_t(descriptions.size()),
                               uint32_t(4 * tile.description.size()), uint32_t(regions.size())});
            descriptions.insert(descriptions.end(), words, words + 4 * tile.description.size());
            largest = std::max(largest, (tile.size + 3) / 4 * 4);
        }
        regions.push_back({from.size(), outputSize, tile.compressed.size(), tile.size});
        outcome.begins.push_back(outputSize);
        from.insert(from.end(), tile.compressed.begin(), tile.compressed.end());
        from.resize((from.size() + 3) / 4 * 4);
        outputSize += (tile.size + 3) / 4 * 4;
    }
    Buffer source(on, from), decoded(on, outputSize), output(on, outputSize),
        descriptionList(on, descriptions);
    // One command for both can decode tiles without a filter to their final places. Checksums
    // allow only one destination.
    outcome.isSplit = together && list.expected.empty();
    for (size_t i = 0; i < regions.size(); ++i) {
        const bool isFinal = outcome.isSplit && list.tiles[i].description.empty();
        regions[i].srcAddress += source.address();
        regions[i].dstAddress += isFinal ? output.address() : decoded.address();
    }
    for (SluiceFilterTile& tile : filters) {
        tile.srcAddress += decoded.address();
        tile.dstAddress += output.address();
    }
    Bytes regionBytes = bytesOf(regions), filterBytes = bytesOf(filters);
    regionBytes.resize(most * sizeof(SluiceRegion), 0xFF);
    filterBytes.resize((filters.size() + list.room) * sizeof(SluiceFilterTile), 0xFF);
    Buffer regionList(on, regionBytes), filterList(on, filterBytes),
        status(on, (uint64_t{most} + 2) * 4);
    Buffer expected(on, list.expected);
    Buffer regionCount(on, Words{std::min(list.count, tileCount)}),
        filterCount(on, Words{uint32_t(filters.size())});

    SluiceGstdInfo decode = {};
    decode.maxRegionCount = most;
    decode.regionStride = sizeof(SluiceRegion);
    decode.tilesAtOnce = list.tilesAtOnce;
    if (list.tilesAtOnce != 0) { // slots of the size that these tiles need
        for (const FilteredTile& tile : list.tiles)
            decode.maxTileSize = std::max(decode.maxTileSize, (tile.size + 7) / 8 * 8);
    }
    decode.regions = regionList.range();
    if (list.room != 0 || list.count != ~0u) decode.regionCount = regionCount.range();
    decode.source = source.range();
    decode.destination = outcome.isSplit ? output.range() : decoded.range();
    if (outcome.isSplit) decode.secondDestination = decoded.range();
    if (!list.expected.empty()) decode.expected = expected.range();
    decode.status = status.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetGstdRequirements(on.context(), &decode, &requirements) == SLUICE_OK);
    Buffer decodeScratch = makeScratch(on, requirements);
    decode.scratch = decodeScratch.range();

    SluiceFilterInfo filter = {};
    filter.maxTileCount = uint32_t(filters.size()) + list.room;
    filter.maxTileSize = largest;
    filter.statusCount = most;
    filter.tiles = filterList.range();
    if (list.room != 0) filter.tileCount = filterCount.range();
    filter.descriptions = descriptionList.range();
    filter.source = decoded.range();
    filter.destination = output.range();
    filter.status = status.range();
    REQUIRE(sluiceGetFilterRequirements(on.context(), &filter, &requirements) == SLUICE_OK);
    Buffer filterScratch = makeScratch(on, requirements);
    filter.scratch = filterScratch.range();

    on.run([&](SluiceCommands commands) {
        if (together) {
            REQUIRE(sluiceCmdGstdFilter(on.context(), commands, &decode, &filter) == SLUICE_OK);
        } else {
            REQUIRE(sluiceCmdGstd(on.context(), commands, &decode) == SLUICE_OK);
            REQUIRE(sluiceCmdBarrier(on.context(), commands) == SLUICE_OK);
            REQUIRE(sluiceCmdFilter(on.context(), commands, &filter) == SLUICE_OK);
        }
    });
    outcome.status = status.words();
    outcome.decoded = decoded.bytes();
    outcome.output = output.bytes();
    return outcome;
}

// Checks the statuses, and the bytes of tiles that are OK. Returns how many tiles are OK.
uint32_t compare(const List& list, const Outcome& expected, const Outcome& found)
{
    CHECK((found.status == expected.status));
    uint32_t good = 0;
    for (size_t i = 0; i < list.tiles.size(); ++i) {
        const bool isFiltered = !list.tiles[i].description.empty();
        if (expected.status[i] != SLUICE_TILE_OK || found.status[i] != SLUICE_TILE_OK) continue;
        const Bytes &wanted = isFiltered ? expected.output : expected.decoded,
                    &all = isFiltered || found.isSplit ? found.output : found.decoded;
        const auto begin = std::ptrdiff_t(expected.begins[i]);
        CAPTURE(i);
        CHECK(std::equal(wanted.begin() + begin, wanted.begin() + begin + list.tiles[i].size,
                         all.begin() + begin));
        ++good;
    }
    return good;
}

// Decodes the list all at once, in several turns, with regions that stay PENDING, with checksums,
// and with room for more tiles. Returns how many tiles are OK.
uint32_t runAndCompare(List list)
{
    Device reference("cpu", "ref", 0);
    REQUIRE(reference.isOpen());
    const uint32_t tileCount = uint32_t(list.tiles.size());
    uint32_t good = 0;
    const auto check = [&] {
        CAPTURE(list.tilesAtOnce);
        CAPTURE(list.room);
        CAPTURE(list.count);
        CAPTURE(list.expected.size());
        const Outcome expected = run(reference, list, false);
        good = compare(list, expected, run(device(), list, true));
        return expected;
    };
    const Outcome plain = check();
    // The checksum is wrong for every third tile, and for tiles that cannot be decoded.
    for (uint32_t i = 0; i < tileCount; ++i)
        list.expected.push_back(
            i % 3 == 0
                ? 1
                : sluiceTileChecksum(plain.decoded.data() + plain.begins[i], list.tiles[i].size));
    check();
    list.expected.clear();
    list.tilesAtOnce = 6;
    list.count = 2 * tileCount / 3;
    check();
    list.count = 0;
    check();
    list.tilesAtOnce = 0;
    list.count = ~0u;
    // The list has room for more filters than there are blocks, so blocks take turns.
    if (hasKernelsByCount(device())) {
        list.room = 620;
        check();
        list.room = 0;
    }
    check();
    return good;
}

std::vector<FilteredTile> makeTiles(std::mt19937& random, uint32_t count, uint32_t mostBytes)
{
    GstdEncoder encoder(3, 4);
    std::vector<FilteredTile> tiles;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t size = 1 + uint32_t(random() % mostBytes);
        FilteredTile tile;
        tile.size = size;
        const Bytes bytes =
            random() % 4 == 0 ? randomBytes(random, size) : smoothBytes(random, size);
        if (random() % 5 != 0) tile.description = randomDescription(random, size);
        tile.compressed =
            encoder.encode(tile.description.empty() ? bytes : applied(tile.description, bytes));
        tiles.push_back(std::move(tile));
    }
    return tiles;
}

} // namespace

TEST_CASE("gstd and filters: arguments of the command for both")
{
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    alignas(16) uint32_t memory[64] = {};
    const SluiceBuffer all = {reinterpret_cast<uintptr_t>(memory), 0, sizeof memory};
    SluiceGstdInfo decode = {};
    decode.regionStride = sizeof(SluiceRegion);
    decode.status = all;
    SluiceFilterInfo filter = {};
    filter.maxTileSize = 4;
    filter.status = all;
    const auto status = [&] { return sluiceCmdGstdFilter(context, nullptr, &decode, &filter); };
    CHECK(status() == SLUICE_OK);
    CHECK(sluiceCmdGstdFilter(nullptr, nullptr, &decode, &filter) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdGstdFilter(context, nullptr, nullptr, &filter) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdGstdFilter(context, nullptr, &decode, nullptr) == SLUICE_ERROR_ARGUMENT);
    filter.statusCount = 1;
    CHECK(status() == SLUICE_ERROR_ARGUMENT); // the decode has another number of statuses
    filter.statusCount = 0;
    filter.status.offset = 4;
    CHECK(status() == SLUICE_ERROR_ARGUMENT);
    filter.status = all;
    filter.maxTileSize = 2;
    CHECK(status() == SLUICE_ERROR_ARGUMENT);
    filter.maxTileSize = 4;
    decode.flags = 1u << 31;
    CHECK(status() == SLUICE_ERROR_ARGUMENT);
    decode.flags = 0;
    decode.secondDestination = all;
    CHECK(status() == SLUICE_OK);
    decode.expected = all;
    CHECK(status() == SLUICE_ERROR_ARGUMENT); // checksums of two destinations
    decode.expected = {};
    decode.source = all;
    CHECK(status() == SLUICE_ERROR_ARGUMENT); // the second destination overlaps the source
    sluiceDestroyContext(context);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("gstd and filters: one command for both")
{
    std::mt19937 random = makeRandom(321);
    List list;
    list.tiles = makeTiles(random, 40, 6000);
    CHECK(runAndCompare(list) == 40);
}

TEST_CASE("gstd: a region lies in one of two destinations, or is refused")
{
    constexpr uint32_t kSize = 1024, kGap = 256;
    const Bytes data = GstdEncoder(3, 4).encode(Bytes(kSize, 7));
    Bytes expected(4 * kSize + kGap, 0xEE);
    Buffer source(device(), data), memory(device(), expected), status(device(), 11 * 4);
    const auto part = [&](uint64_t at, uint64_t size) {
        return SluiceBuffer{memory.range().handle, memory.range().offset + at, size};
    };
    struct Row {
        uint32_t place, status;
    };
    const Row rows[] = {{0, SLUICE_TILE_OK},
                        {4, SLUICE_TILE_BAD_REGION},     // into the gap
                        {kSize, SLUICE_TILE_BAD_REGION}, // begins in the gap
                        {kSize + kGap - 4, SLUICE_TILE_BAD_REGION},
                        {kSize + kGap, SLUICE_TILE_OK},
                        {2 * kSize + kGap, SLUICE_TILE_OK}, // to the second one's end
                        {2 * kSize + kGap + 4, SLUICE_TILE_BAD_REGION},
                        {3 * kSize + kGap, SLUICE_TILE_BAD_REGION}};
    std::vector<SluiceRegion> regions;
    for (const Row& row : rows) {
        regions.push_back({source.address(), memory.address() + row.place, data.size(), kSize});
        if (row.status == SLUICE_TILE_OK) std::fill_n(expected.begin() + row.place, kSize, 7);
    }
    // It would lie inside, but is larger than what slots of scratch have room for.
    regions.push_back(regions[4]);
    regions.back().decompressedSize = kSize + 4;
    Buffer list(device(), bytesOf(regions));
    SluiceGstdInfo info = {};
    info.maxRegionCount = uint32_t(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.regions = list.range();
    info.source = source.range();
    info.maxTileSize = kSize;
    info.destination = part(0, kSize);
    info.secondDestination = part(kSize + kGap, 2 * kSize);
    info.status = status.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetGstdRequirements(device().context(), &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements);
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdGstd(device().context(), commands, &info) == SLUICE_OK);
    });
    const Words statuses = status.words();
    for (size_t i = 0; i < regions.size(); ++i) {
        CAPTURE(i);
        const bool isLast = i + 1 == regions.size();
        CHECK(statuses[i] == (isLast ? uint32_t(SLUICE_TILE_BAD_REGION) : rows[i].status));
    }
    CHECK((memory.bytes() == expected));
}

TEST_CASE("gstd and filters: mutated tiles and descriptions in one command")
{
    std::mt19937 random = makeRandom(322);
    const std::vector<FilteredTile> whole = makeTiles(random, 60, 3000);
    const auto below = [&](size_t limit) { return size_t(random()) % limit; };
    const uint32_t total = environmentNumber("SLUICE_MUTATIONS", 60);
    uint32_t good = 0;
    for (uint32_t done = 0; done < total; done += 400) {
        List list;
        for (uint32_t i = done; i < std::min(total, done + 400); ++i) {
            FilteredTile tile = whole[below(whole.size())];
            const size_t kind = below(4);
            if (kind == 0) {
                tile.size = 1 + uint32_t(below(tile.size + 8));
            } else if (kind == 1) {
                for (size_t n = 1 + below(3); n > 0; --n)
                    tile.compressed[below(tile.compressed.size())] ^= uint8_t(1u << below(8));
            } else if (kind == 2 && !tile.description.empty()) {
                tile.description[below(tile.description.size())] ^= 1u << below(32);
            }
            list.tiles.push_back(std::move(tile));
        }
        good += runAndCompare(list);
    }
    CHECK(good > total / 10);
    CHECK(good < total);
}

TEST_SUITE_END();
