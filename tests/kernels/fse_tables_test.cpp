// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests FSE tables on every device: they must be, bit for bit, those that libzstd reads and builds.
// Damaged descriptions must fail where they fail in libzstd.
#include <sluice/sluice_fse.h>

#include "tests/support/devices.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

using namespace sluice::test;

// These functions of libzstd are in its archive, but not in its headers.
extern "C" {
size_t FSE_normalizeCount(short* normalized, uint32_t log, const uint32_t* count, size_t sum,
                          uint32_t lastSymbol, uint32_t useLow);
size_t FSE_writeNCount(void* buffer, size_t size, const short* normalized, uint32_t lastSymbol,
                       uint32_t log);
size_t FSE_readNCount(short* normalized, uint32_t* lastSymbol, uint32_t* log, const void* bytes,
                      size_t size);
size_t FSE_buildDTable_wksp(uint32_t* table, const short* normalized, uint32_t lastSymbol,
                            uint32_t log, void* workspace, size_t size);
}

namespace {

using Counts = std::vector<int16_t>; // one for each symbol; the last one is not 0

struct Table {
    uint32_t status = 0;
    SluiceFseTableHeader header = {};
    Words states;
};

struct Request {
    Bytes source;
    uint64_t room = SLUICE_FSE_TABLE_SIZE(SLUICE_FSE_MAX_LOG);
};

struct Limits {
    uint32_t symbols = SLUICE_FSE_MAX_SYMBOLS, log = SLUICE_FSE_MAX_LOG;
};

// Builds a table for each request. Sources begin at unaligned addresses; outputs follow one
// another. listSize: how many entries the list has; a count in memory says that only the first ones
// are used. 0: as many as there are requests.
std::vector<Table> buildTables(Device& on, const std::vector<Request>& requests, uint32_t flags,
                               Limits limits, uint32_t listSize = 0)
{
    std::vector<SluiceRegion> regions;
    Bytes source;
    uint64_t output = 0;
    for (const Request& request : requests) {
        source.resize(source.size() + (flags != 0 ? source.size() % 2 + regions.size() % 2 * 2
                                                  : regions.size() % 4),
                      0xEE);
        regions.push_back({source.size(), output, request.source.size(), request.room});
        source.insert(source.end(), request.source.begin(), request.source.end());
        output += (request.room + 3) / 4 * 4;
    }
    source.resize((source.size() + 3) / 4 * 4, 0xEE);
    const uint32_t listed = std::max(listSize, uint32_t(regions.size()));
    Buffer from(on, source), to(on, output), status(on, (uint64_t(listed) + 2) * 4);
    for (SluiceRegion& region : regions) {
        region.srcAddress += from.address();
        region.dstAddress += to.address();
    }
    Bytes list(listed * sizeof(SluiceRegion), 0xEE);
    std::memcpy(list.data(), regions.data(), regions.size() * sizeof(SluiceRegion));
    Buffer listBuffer(on, list), count(on, Words{uint32_t(regions.size())});
    SluiceFseTablesInfo info = {};
    info.maxRegionCount = listed;
    if (listSize != 0) info.regionCount = count.range();
    info.regionStride = sizeof(SluiceRegion);
    info.flags = flags;
    info.maxSymbols = limits.symbols;
    info.maxLog = limits.log;
    info.regions = listBuffer.range();
    info.source = from.range();
    info.destination = to.range();
    info.status = status.range();
    on.run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdFseTables(on.context(), commands, &info) == SLUICE_OK);
    });
    const Bytes out = to.bytes();
    const Words statuses = status.words();
    std::vector<Table> tables(requests.size());
    uint32_t failed = 0, firstFailed = UINT32_MAX;
    for (size_t i = 0; i < tables.size(); ++i) {
        tables[i].status = statuses[i];
        if (statuses[i] != SLUICE_TILE_OK) {
            ++failed;
            firstFailed = std::min(firstFailed, uint32_t(i));
            continue;
        }
        const uint8_t* at = out.data() + (regions[i].dstAddress - to.address());
        std::memcpy(&tables[i].header, at, 4);
        REQUIRE(tables[i].header.log <= SLUICE_FSE_MAX_LOG);
        REQUIRE(SLUICE_FSE_TABLE_SIZE(tables[i].header.log) <= requests[i].room);
        tables[i].states.resize(size_t(1) << tables[i].header.log);
        std::memcpy(tables[i].states.data(), at + 4, tables[i].states.size() * 4);
    }
    CHECK(std::all_of(statuses.begin() + ptrdiff_t(tables.size()), statuses.end() - 2,
                      [](uint32_t word) { return word == SLUICE_TILE_PENDING; }));
    CHECK(statuses[listed] == failed);
    CHECK(statuses[listed + 1] == firstFailed);
    return tables;
}

uint32_t logOf(const Counts& counts)
{
    uint32_t sum = 0, log = 0;
    for (const int16_t count : counts)
        sum += uint32_t(std::abs(int(count)));
    while (1u << log < sum)
        ++log;
    return log;
}

// Returns the table's entries as libzstd builds them.
Words statesOf(const Counts& counts)
{
    std::array<uint32_t, 1 + (1 << SLUICE_FSE_MAX_LOG)> table = {};
    std::array<uint64_t, 1024> workspace = {};
    REQUIRE(
        ZSTD_isError(FSE_buildDTable_wksp(table.data(), counts.data(), uint32_t(counts.size() - 1),
                                          logOf(counts), workspace.data(), sizeof workspace)) == 0);
    return Words(table.begin() + 1, table.begin() + 1 + (1 << logOf(counts)));
}

Bytes description(const Counts& counts)
{
    Bytes bytes(2048);
    const size_t size = FSE_writeNCount(bytes.data(), bytes.size(), counts.data(),
                                        uint32_t(counts.size() - 1), logOf(counts));
    REQUIRE(ZSTD_isError(size) == 0);
    bytes.resize(size);
    return bytes;
}

// Holds what libzstd 1.5.4 reads. It does not always refuse a description that runs past the end of
// its bytes: it goes on with bits of the last four bytes. If zeros follow the bytes, it tells where
// the description really ends.
struct ReadCounts {
    bool good;
    Counts counts;
    size_t size;
    uint32_t log;
};
ReadCounts readCounts(const Bytes& bytes, Limits limits)
{
    Counts counts(256);
    uint32_t lastSymbol = limits.symbols - 1, log = 0;
    const size_t size =
        FSE_readNCount(counts.data(), &lastSymbol, &log, bytes.data(), bytes.size());
    counts.resize(lastSymbol + 1);
    return {ZSTD_isError(size) == 0 && log <= limits.log, counts, size, log};
}

// Returns random counts that add up to 2^log: large ones, ones, "less than one" (-1) and runs of
// zeros.
Counts shares(std::mt19937& random)
{
    const uint32_t log = SLUICE_FSE_MIN_LOG + uint32_t(random() % 5), low = uint32_t(random() % 4),
                   zero = uint32_t(random() % 4);
    const int most = 1 << random() % (log + 1);
    Counts counts;
    for (int left = 1 << log; left > 0;) {
        if (counts.size() < 200 && random() % 8 < zero)
            counts.resize(counts.size() + random() % 20, 0);
        const int share =
            counts.size() == 255 ? left : std::min(left, 1 + int(random() % uint32_t(most)));
        counts.push_back(int16_t(random() % 6 < low && counts.size() < 255 ? -1 : share));
        left -= std::abs(int(counts.back()));
    }
    return counts;
}

// Returns the counts that libzstd makes from a random histogram.
Counts normalized(std::mt19937& random)
{
    const uint32_t log = SLUICE_FSE_MIN_LOG + uint32_t(random() % 5);
    // libzstd requires room for all symbols in the table.
    const size_t symbols = 2 + random() % std::min(255u, (1u << log) - 4);
    std::vector<uint32_t> histogram(symbols);
    const uint32_t skew = uint32_t(random() % 12);
    for (uint32_t& count : histogram)
        count = random() % 5 == 0 ? 0 : 1 + uint32_t(random() % 65536 >> random() % (skew + 1));
    histogram.front() += 3;
    histogram.back() += 2; // so that at least two symbols occur
    Counts counts(symbols);
    const size_t sum = std::accumulate(histogram.begin(), histogram.end(), size_t(0));
    const size_t used = FSE_normalizeCount(counts.data(), log, histogram.data(), sum,
                                           uint32_t(symbols - 1), uint32_t(random() % 2));
    return used == log && logOf(counts) == log ? counts : shares(random);
}

std::vector<Counts> fixedCounts()
{
    std::vector<Counts> all = {
        // The predefined tables of literal lengths, match lengths and offsets (RFC 8878,
        // 3.1.1.3.2.2).
        {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
         2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1},
        {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1},
        {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
         1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1},
    };
    for (uint32_t log = SLUICE_FSE_MIN_LOG; log <= SLUICE_FSE_MAX_LOG; ++log) {
        const int16_t states = int16_t(1 << log), most = int16_t((1 << log) - 1);
        all.push_back({states});
        all.push_back({-1, most});
        all.push_back({most, -1});
        all.push_back({0, 0, 0, most, 0, 0, 0, 0, 1});
        all.push_back(Counts(size_t(255), 0));
        all.back().push_back(states);
        all.push_back(
            Counts(size_t(std::min<int>(states, 256)), states > 256 ? int16_t(2) : int16_t(1)));
        // All symbols are "less than one", so no state is spread. With 512 states, the last symbol
        // has half of the states.
        all.push_back(Counts(size_t(std::min<int>(states, 256)), -1));
        if (states > 256) all.back().back() = int16_t(states - 255);
    }
    return all;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("fse tables: as libzstd builds them")
{
    std::mt19937 random = makeRandom(81);
    std::vector<Counts> all = fixedCounts();
    // 100,000 tables, where that is quick.
    const bool software = device().backend() == SLUICE_BACKEND_VULKAN && isSoftware();
    const size_t wanted = software ? 20 * environmentNumber("SLUICE_MUTATIONS", 100) : 100000;
    while (all.size() < wanted)
        all.push_back(random() % 2 != 0 ? shares(random) : normalized(random));
    for (size_t first = 0; first < all.size(); first += 20000) {
        const std::vector<Counts> some(all.begin() + ptrdiff_t(first),
                                       all.begin() +
                                           ptrdiff_t(std::min(all.size(), first + 20000)));
        for (const uint32_t flags : {0u, SLUICE_FSE_COUNTS}) {
            CAPTURE(flags);
            std::vector<Request> requests;
            for (const Counts& counts : some)
                requests.push_back({flags != 0 ? bytesOf(counts) : description(counts),
                                    SLUICE_FSE_TABLE_SIZE(logOf(counts))});
            const std::vector<Table> tables = buildTables(device(), requests, flags, {});
            size_t wrong = 0;
            for (size_t i = 0; i < some.size(); ++i) {
                const SluiceFseTableHeader& header = tables[i].header;
                const bool good = tables[i].status == SLUICE_TILE_OK &&
                                  header.log == logOf(some[i]) &&
                                  header.lastSymbol == some[i].size() - 1 &&
                                  header.descriptionSize == requests[i].source.size() &&
                                  tables[i].states == statesOf(some[i]);
                if (good || ++wrong > 5) continue;
                CAPTURE(first + i);
                CHECK(tables[i].status == SLUICE_TILE_OK);
                CHECK(header.log == logOf(some[i]));
                CHECK(header.lastSymbol == some[i].size() - 1);
                CHECK(header.descriptionSize == requests[i].source.size());
                CHECK(tables[i].states == statesOf(some[i]));
            }
            CHECK(wrong == 0);
        }
    }
}

// Long lists are read by several lanes of a lane group; then their tables are built one after the
// other.
TEST_CASE("fse tables: lists for which a lane group has several tables")
{
    std::mt19937 random = makeRandom(83);
    for (const uint32_t listSize : {3u * 4096, 10u * 4096 + 5, 1u << 20}) {
        CAPTURE(listSize);
        std::vector<Request> requests;
        std::vector<Counts> all;
        for (uint32_t i = 0; i < 101; ++i) {
            all.push_back(random() % 2 != 0 ? shares(random) : normalized(random));
            requests.push_back({description(all.back()), SLUICE_FSE_TABLE_SIZE(logOf(all.back()))});
            if (i % 7 == 3) requests.back().source.pop_back();
        }
        const std::vector<Table> tables = buildTables(device(), requests, 0, {}, listSize);
        for (uint32_t i = 0; i < 101; ++i) {
            CAPTURE(i);
            CHECK(tables[i].status == (i % 7 == 3 ? SLUICE_TILE_TRUNCATED : SLUICE_TILE_OK));
            if (i % 7 != 3) CHECK(tables[i].states == statesOf(all[i]));
        }
    }
}

TEST_CASE("fse tables: damaged descriptions")
{
    std::mt19937 random = makeRandom(82);
    const size_t wanted = 3 * environmentNumber("SLUICE_MUTATIONS", 100);
    for (const Limits limits :
         {Limits(), Limits{53, 9}, Limits{36, 9}, Limits{32, 8}, Limits{13, 6}}) {
        CAPTURE(limits.symbols);
        std::vector<Request> requests;
        while (requests.size() < wanted) {
            Request request;
            if (random() % 8 == 0) {
                request.source.resize(1 + random() % 300);
                std::generate(request.source.begin(), request.source.end(),
                              [&] { return uint8_t(random()); });
                if (random() % 4 != 0)
                    request.source[0] = uint8_t((request.source[0] & 0xf0) | random() % 5);
            } else {
                request.source = description(shares(random));
                const size_t cut = random() % 4 == 0 ? 1 + random() % request.source.size()
                                                     : request.source.size();
                request.source.resize(cut);
                for (uint32_t flips = uint32_t(random() % 4); flips > 0; --flips)
                    request.source[random() % cut] ^= uint8_t(1u << random() % 8);
            }
            if (random() % 8 == 0) request.room = 1 + random() % 3000;
            requests.push_back(request);
        }
        const std::vector<Table> tables = buildTables(device(), requests, 0, limits);
        Device reference("cpu", "ref", 0);
        const std::vector<Table> expected = buildTables(reference, requests, 0, limits);
        uint32_t accepted = 0;
        for (size_t i = 0; i < requests.size(); ++i) {
            CAPTURE(i);
            CHECK(tables[i].status == expected[i].status);
            CHECK(tables[i].states == expected[i].states);
            const Bytes& source = requests[i].source;
            Bytes longer = source;
            longer.resize(source.size() + 1024);
            const ReadCounts strict = readCounts(longer, limits),
                             loose = readCounts(source, limits);
            if (strict.good && strict.size <= source.size() &&
                requests[i].room >= SLUICE_FSE_TABLE_SIZE(strict.log)) {
                ++accepted;
                CHECK(loose.good);
                CHECK(tables[i].status == SLUICE_TILE_OK);
                CHECK(tables[i].header.descriptionSize == strict.size);
                CHECK(tables[i].states == statesOf(strict.counts));
            } else {
                const bool fails = tables[i].status == SLUICE_TILE_BAD_CODE ||
                                   tables[i].status == SLUICE_TILE_TRUNCATED ||
                                   tables[i].status == SLUICE_TILE_TOO_LONG;
                CHECK(fails);
            }
        }
        CHECK(accepted > 0);
        CHECK(accepted < requests.size());
    }
}

TEST_CASE("fse tables: counts that are no distribution")
{
    const auto statusOf = [](const Counts& counts,
                             uint64_t room = SLUICE_FSE_TABLE_SIZE(SLUICE_FSE_MAX_LOG),
                             Limits limits = {}) {
        return buildTables(device(), {{bytesOf(counts), room}}, SLUICE_FSE_COUNTS, limits)[0]
            .status;
    };
    CHECK(statusOf({16, 15, -1}) == SLUICE_TILE_OK);
    CHECK(statusOf({16, 15, -1, 0, 0, 0}) == SLUICE_TILE_OK);
    CHECK(statusOf({16, 15, -2}) == SLUICE_TILE_BAD_CODE);
    CHECK(statusOf({16, 15}) == SLUICE_TILE_BAD_CODE);
    CHECK(statusOf({16, 17}) == SLUICE_TILE_BAD_CODE);
    CHECK(statusOf({8, 8}) == SLUICE_TILE_BAD_CODE);
    CHECK(statusOf({0}) == SLUICE_TILE_BAD_CODE);
    CHECK(statusOf({512, 512}) == SLUICE_TILE_BAD_CODE);
    CHECK(statusOf({32767, 32767, 2}) == SLUICE_TILE_BAD_CODE);
    CHECK(statusOf({64, 64}, SLUICE_FSE_TABLE_SIZE(7) - 1) == SLUICE_TILE_TOO_LONG);
    CHECK(statusOf({64, 64}, SLUICE_FSE_TABLE_SIZE(7)) == SLUICE_TILE_OK);
    CHECK(statusOf({64, 64}, 1) == SLUICE_TILE_TOO_LONG);
    CHECK(statusOf({64, 64}, 1000, {2, 7}) == SLUICE_TILE_OK);
    CHECK(statusOf({64, 64}, 1000, {2, 6}) == SLUICE_TILE_BAD_CODE);
    CHECK(statusOf({64, 64}, 1000, {1, 7}) == SLUICE_TILE_BAD_CODE);
}

TEST_CASE("fse tables: regions outside their buffers, and a count in memory")
{
    const Counts counts = {16, 15, -1};
    const Bytes one = description(counts);
    Bytes source = one;
    source.resize(16);
    constexpr uint32_t room = SLUICE_FSE_TABLE_SIZE(5);
    Buffer from(device(), source), to(device(), 4 * room), status(device(), (7 + 2) * 4);
    const uint64_t src = from.address(), dst = to.address(), size = one.size();
    const std::vector<SluiceRegion> regions = {
        {src, dst, size, room},
        {src + 17, dst + room, size, room},
        {src - 1, dst + room, size, room},
        {src, dst + 3 * room + 4, size, room},
        {src, dst + room + 2, size, room},
        {src, dst + room, 0, room},
        {src, dst + 2 * room, size, room}, // beyond the count
    };
    Buffer listBuffer(device(), bytesOf(regions)), count(device(), Words{6});
    SluiceFseTablesInfo info = {};
    info.maxRegionCount = uint32_t(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.maxSymbols = 3;
    info.maxLog = 5;
    info.regions = listBuffer.range();
    info.regionCount = count.range();
    info.source = from.range();
    info.destination = to.range();
    info.status = status.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdFseTables(device().context(), commands, &info) == SLUICE_OK);
    });
    const uint32_t bad = SLUICE_TILE_BAD_REGION;
    CHECK(status.words() ==
          Words{SLUICE_TILE_OK, bad, bad, bad, bad, bad, SLUICE_TILE_PENDING, 5, 1});
    const Bytes out = to.bytes();
    CHECK(std::all_of(out.begin() + room, out.end(),
                      [](uint8_t byte) { return byte == Buffer::kPoison; }));

    // With COUNTS, sources begin at even addresses and have whole counts.
    Bytes numbers = bytesOf(Counts{16, 15, -1, 0});
    Buffer countSource(device(), numbers);
    const uint64_t at = countSource.address();
    const std::vector<SluiceRegion> counted = {{at, dst, 6, room},
                                               {at + 1, dst + room, 6, room},
                                               {at, dst + room, 5, room},
                                               {at + 2, dst + room, 6, room}};
    Buffer countedList(device(), bytesOf(counted));
    info.flags = SLUICE_FSE_COUNTS;
    info.maxRegionCount = uint32_t(counted.size());
    info.regionCount = {};
    info.regions = countedList.range();
    info.source = countSource.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdFseTables(device().context(), commands, &info) == SLUICE_OK);
    });
    const Words counters = status.words();
    CHECK(Words(counters.begin(), counters.begin() + 6) ==
          Words{SLUICE_TILE_OK, bad, bad, SLUICE_TILE_BAD_CODE, 3, 1});
}

TEST_SUITE_END();

TEST_CASE("fse tables: arguments")
{
    Device cpu("cpu", "ref", 0);
    std::vector<uint64_t> memory(16);
    const SluiceBuffer buffer = {uint64_t(reinterpret_cast<uintptr_t>(memory.data())), 0,
                                 memory.size() * 8};
    SluiceFseTablesInfo good = {};
    good.maxRegionCount = 1;
    good.regionStride = 32;
    good.maxSymbols = 1;
    good.maxLog = 5;
    good.regions = good.source = good.destination = good.status = buffer;
    const auto error = [&](auto change) {
        SluiceFseTablesInfo info = good;
        info.regionCount = {};
        change(info);
        return sluiceCmdFseTables(cpu.context(), nullptr, &info);
    };
    CHECK(sluiceCmdFseTables(nullptr, nullptr, &good) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdFseTables(cpu.context(), nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(error([](auto& info) { info.maxSymbols = 0; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(error([](auto& info) { info.maxSymbols = 257; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(error([](auto& info) { info.maxLog = 4; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(error([](auto& info) { info.maxLog = 10; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(error([](auto& info) { info.flags = 2; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(error([](auto& info) { info.regionStride = 28; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(error([](auto& info) { info.regionStride = 34; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(error([](auto& info) { info.maxRegionCount = (1u << 24) + 1; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(error([](auto& info) { info.regions.size = 31; }) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(error([](auto& info) { info.status.size = 11; }) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(error([](auto& info) { ++info.source.offset; }) == SLUICE_ERROR_ARGUMENT);
}
