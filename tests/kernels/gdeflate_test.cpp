// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests decoding of GDeflate: golden streams of the reference encoder, and lists of regions of
// every kind.
#include <sluice/sluice_gdeflate.h>

#include "tests/support/gdeflate_tiles.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

using namespace sluice::test;

namespace {

// The command's range of the source; the buffer has more bytes after it.
constexpr uint64_t kSourceRange = 400;
constexpr uint64_t kOutputRange = 1000;

// Holds a decode whose list of regions the test makes. The addresses in the regions are relative to
// source and destination.
struct Decode {
    Bytes source;
    uint64_t sourceSize = 0; // the size of the range given to the command, which starts at byte 4
    uint64_t destinationSize = 0;
    std::vector<SluiceRegion> regions;
    uint32_t stride = 32;
    uint32_t flags = 0;
    bool countOnDevice = false;
    uint32_t count = 0;

    Words status;
    Bytes output;

    void run(Device& device)
    {
        Buffer sourceBuffer(device, source), destination(device, destinationSize + 8);
        Bytes list(regions.size() * stride, 0xFF);
        for (size_t i = 0; i < regions.size(); ++i) {
            SluiceRegion region = regions[i];
            region.srcAddress += sourceBuffer.address();
            region.dstAddress += destination.address();
            std::memcpy(list.data() + i * stride, &region, sizeof region);
        }
        list.resize((regions.size() - 1) * stride + 32);
        Buffer regionList(device, list), countBuffer(device, Words{count});
        Buffer statusBuffer(device, (regions.size() + 2) * 4);
        SluiceGdeflateInfo info = {};
        info.maxRegionCount = uint32_t(regions.size());
        info.regionStride = stride;
        info.flags = flags;
        info.regions = regionList.range();
        if (countOnDevice) info.regionCount = countBuffer.range();
        info.source = sourceBuffer.range();
        info.source.offset += 4;
        info.source.size = sourceSize;
        info.destination = destination.range();
        info.destination.offset += 4;
        info.destination.size = destinationSize;
        info.status = statusBuffer.range();
        runWithScratch(device, info, sluiceGetGdeflateRequirements, sluiceCmdGdeflate);
        status = statusBuffer.words();
        output = destination.bytes();
    }

    bool outputIs(uint64_t at, const Bytes& expected) const
    {
        return std::equal(expected.begin(), expected.end(), output.begin() + std::ptrdiff_t(at));
    }
    bool untouched(uint64_t begin, uint64_t end) const
    {
        return std::all_of(output.begin() + std::ptrdiff_t(begin),
                           output.begin() + std::ptrdiff_t(end),
                           [](uint8_t byte) { return byte == Buffer::kPoison; });
    }
};

// Returns four bytes, the tile, and many more bytes.
Bytes sourceOf(const Tile& tile)
{
    Bytes source(1 << 18, 0x22);
    std::copy(tile.compressed.begin(), tile.compressed.end(), source.begin() + 4);
    return source;
}

} // namespace

TEST_CASE("golden streams have the documented hash on the host")
{
    for (const GoldenStream& stream : goldenStreams()) {
        CAPTURE(stream.name);
        Bytes all;
        for (const DecodedTile& tile : decodeOnHost(stream.tiles)) {
            CHECK(tile.status == SLUICE_TILE_OK);
            all.insert(all.end(), tile.bytes.begin(), tile.bytes.end());
        }
        CHECK(all.size() == stream.size);
        CHECK(XXH64(all.data(), all.size(), 0) == stream.xxh64);
    }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("gdeflate: golden streams")
{
    for (const GoldenStream& stream : goldenStreams()) {
        CAPTURE(stream.name);
        Bytes all;
        for (const DecodedTile& tile : decodeOnDevice(device(), stream.tiles)) {
            CHECK(tile.status == SLUICE_TILE_OK);
            all.insert(all.end(), tile.bytes.begin(), tile.bytes.end());
        }
        CHECK(all.size() == stream.size);
        CHECK(XXH64(all.data(), all.size(), 0) == stream.xxh64);
    }
}

TEST_CASE("gdeflate: partial tiles of every size modulo a word and a round")
{
    std::mt19937 random = makeRandom(31);
    std::vector<Tile> tiles;
    for (uint32_t size = 1; size <= 70; ++size)
        tiles.push_back(literalTile(size, random));
    for (const DecodedTile& tile : decodeAndCompare(device(), tiles))
        CHECK(tile.status == SLUICE_TILE_OK);
}

TEST_CASE("gdeflate: regions that are not allowed")
{
    std::mt19937 random = makeRandom(32);
    const Tile tile = literalTile(101, random);
    const Bytes expected = decodeOnHost({tile})[0].bytes;
    const uint64_t size = tile.compressed.size();
    REQUIRE(size <= kSourceRange);
    constexpr uint64_t huge = ~uint64_t(0);
    Decode decode;
    decode.source = sourceOf(tile);
    decode.sourceSize = kSourceRange;
    decode.destinationSize = kOutputRange;
    const uint32_t bad = SLUICE_TILE_BAD_REGION;
    Words statuses;
    const auto add = [&](uint32_t status, SluiceRegion region) {
        decode.regions.push_back(region);
        statuses.push_back(status);
    };
    add(SLUICE_TILE_OK, {4, 4, size, 101});
    add(bad, {5, 200, size, 101}); // unaligned
    add(bad, {6, 200, size, 101});
    add(bad, {4, 201, size, 101});
    add(bad, {4, 202, size, 101});
    add(bad, {0, 200, size, 101}); // starts before the source
    add(bad, {4, 0, size, 101});   // starts before the destination
    add(bad, {4, 200, 0, 101});    // empty
    add(bad, {4, 200, size, 0});
    add(bad, {4, 200, 131073, 101}); // larger than a tile may be
    add(bad, {4, 200, size, 65537});
    add(bad, {4, 200, huge, 101});
    add(bad, {4, 200, size, huge});
    add(bad, {4, 200, size + (uint64_t(1) << 32), 101});
    add(bad, {4, 200, size, 101 + (uint64_t(1) << 32)});
    // These are right except for the upper half of an address.
    add(bad, {4 + (uint64_t(1) << 32), 200, size, 101});
    add(bad, {4, 200 + (uint64_t(1) << 32), size, 101});
    add(bad, {4, 200, kSourceRange + 1, 101});        // it ends behind the source
    add(bad, {4, 4 + kOutputRange - 100, size, 101}); // it ends behind the destination
    add(bad, {huge - 3, 200, size, 101});             // address + size overflows
    add(bad, {4, huge - 3, size, 101});
    add(bad, {4 + kSourceRange, 200, size, 101}); // it starts at the end of the source
    add(bad, {4, 4 + kOutputRange, size, 101});
    // This one goes up to the last byte of source and destination.
    add(SLUICE_TILE_OK, {4, 4 + kOutputRange - 104, kSourceRange, 101});
    decode.run(device());

    const uint32_t failed = uint32_t(std::count(statuses.begin(), statuses.end(), bad));
    statuses.push_back(failed);
    statuses.push_back(1);
    CHECK((decode.status == statuses));
    CHECK(decode.outputIs(4, expected));
    CHECK(decode.outputIs(4 + kOutputRange - 104, expected));
    CHECK(decode.untouched(0, 4));
    CHECK(decode.untouched(4 + 101, 4 + kOutputRange - 104));
    CHECK(decode.untouched(4 + kOutputRange - 3, 8 + kOutputRange));
}

TEST_CASE("gdeflate: exactly at the end of source and destination")
{
    std::mt19937 random = makeRandom(33);
    for (const uint32_t size : {1u, 98u, 99u, 100u, 101u}) {
        const Tile tile = literalTile(size, random);
        Decode decode;
        decode.source = sourceOf(tile);
        decode.sourceSize = tile.compressed.size();
        decode.destinationSize = size;
        decode.regions = {{4, 4, tile.compressed.size(), size}};
        decode.run(device());
        CHECK((decode.status == Words{SLUICE_TILE_OK, 0, ~0u}));
        CHECK(decode.outputIs(4, decodeOnHost({tile})[0].bytes));
        CHECK(decode.untouched(0, 4));
        CHECK(decode.untouched(4 + size, 8 + size));
    }
}

TEST_CASE("gdeflate: the count comes from GPU memory; strides")
{
    std::mt19937 random = makeRandom(34);
    const Tile tile = literalTile(40, random);
    const Bytes expected = decodeOnHost({tile})[0].bytes;
    for (const uint32_t stride : {32u, 36u, 40u, 128u}) {
        for (const uint32_t count : {0u, 1u, 5u, 7u, 8u, 4000000000u}) {
            CAPTURE(stride);
            CAPTURE(count);
            Decode decode;
            decode.source = sourceOf(tile);
            decode.sourceSize = tile.compressed.size();
            decode.destinationSize = 7 * 64;
            decode.stride = stride;
            for (uint64_t i = 0; i < 7; ++i)
                decode.regions.push_back({4, 4 + 64 * i, tile.compressed.size(), 40});
            decode.countOnDevice = true;
            decode.count = count;
            decode.run(device());
            Words statuses(7, SLUICE_TILE_PENDING);
            std::fill_n(statuses.begin(), std::min(count, 7u), SLUICE_TILE_OK);
            statuses.insert(statuses.end(), {0u, ~0u});
            CHECK((decode.status == statuses));
            for (uint32_t i = 0; i < 7; ++i) {
                if (i < count) CHECK(decode.outputIs(4 + 64 * i, expected));
                CHECK(decode.untouched(4 + 64 * i + (i < count ? 40 : 0), 4 + 64 * i + 64));
            }
        }
    }
}

TEST_CASE("gdeflate: no regions")
{
    Buffer status(device(), 8);
    SluiceGdeflateInfo info = {};
    info.regionStride = 32;
    info.status = status.range();
    runWithScratch(device(), info, sluiceGetGdeflateRequirements, sluiceCmdGdeflate);
    CHECK((status.words() == Words{0, ~0u}));
}

TEST_CASE("gdeflate: stored tiles")
{
    std::mt19937 random = makeRandom(35);
    Decode decode;
    decode.source = Bytes(200000);
    for (uint8_t& byte : decode.source)
        byte = uint8_t(random());
    decode.sourceSize = decode.source.size() - 8;
    decode.destinationSize = 300000;
    decode.flags = SLUICE_DECODE_STORED_IF_EQUAL;
    std::vector<uint64_t> sizes = {1, 2, 3, 4, 5, 31, 127, 128, 129, 4095, 65535, 65536};
    uint64_t at = 4;
    for (const uint64_t size : sizes) {
        decode.regions.push_back({4 + size / 2 * 4, at, size, size});
        at += (size + 3) / 4 * 4 + 4;
    }
    decode.regions.push_back({4, at, 65537, 65537}); // more than a tile may have
    decode.run(device());
    for (size_t i = 0; i < sizes.size(); ++i) {
        const SluiceRegion& region = decode.regions[i];
        CAPTURE(sizes[i]);
        CHECK(decode.status[i] == SLUICE_TILE_OK);
        const auto begin = decode.source.begin() + std::ptrdiff_t(region.srcAddress);
        CHECK(decode.outputIs(region.dstAddress, Bytes(begin, begin + std::ptrdiff_t(sizes[i]))));
        CHECK(decode.untouched(region.dstAddress + sizes[i], decode.regions[i + 1].dstAddress));
    }
    CHECK(decode.status[sizes.size()] == SLUICE_TILE_BAD_REGION);
    CHECK(decode.status[sizes.size() + 1] == 1);
    CHECK(decode.status[sizes.size() + 2] == sizes.size());

    // Without the flag these tiles are decoded as GDeflate. They are too short: GDeflate needs 32
    // words.
    decode.flags = 0;
    decode.regions.resize(5);
    decode.run(device());
    CHECK((decode.status == Words{3, 3, 3, 3, 3, 5, 0}));
}

TEST_CASE("gdeflate then checksum, with a barrier between")
{
    const GoldenStream stream = goldenStreams()[0];
    const std::vector<DecodedTile> decoded = decodeOnHost(stream.tiles);
    Bytes source;
    std::vector<SluiceRegion> regions;
    Words expected;
    for (size_t i = 0; i < stream.tiles.size(); ++i) {
        const Tile& tile = stream.tiles[i];
        regions.push_back({source.size(), 65536 * i, tile.compressed.size(), tile.size});
        source.insert(source.end(), tile.compressed.begin(), tile.compressed.end());
        expected.push_back(sluiceTileChecksum(decoded[i].bytes.data(), decoded[i].bytes.size()));
    }
    const uint32_t count = uint32_t(regions.size());
    expected[count - 1] ^= 1;
    Buffer sourceBuffer(device(), source), destination(device(), 65536 * uint64_t(count)),
        expectedBuffer(device(), expected);
    for (SluiceRegion& region : regions) {
        region.srcAddress += sourceBuffer.address();
        region.dstAddress += destination.address();
    }
    Buffer regionList(device(), bytesOf(regions)), status(device(), (count + 2) * 4);
    SluiceGdeflateInfo decode = {};
    decode.maxRegionCount = count;
    decode.regionStride = 32;
    decode.regions = regionList.range();
    decode.source = sourceBuffer.range();
    decode.destination = destination.range();
    decode.status = status.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetGdeflateRequirements(device().context(), &decode, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements);
    decode.scratch = scratch.range();
    SluiceChecksumInfo check = {};
    check.maxRegionCount = count;
    check.regionStride = 32;
    check.regions = decode.regions;
    check.destination = decode.destination;
    check.expected = expectedBuffer.range();
    check.status = decode.status;
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdGdeflate(device().context(), commands, &decode) == SLUICE_OK);
        REQUIRE(sluiceCmdBarrier(device().context(), commands) == SLUICE_OK);
        REQUIRE(sluiceCmdChecksum(device().context(), commands, &check) == SLUICE_OK);
    });
    Words statuses(count, SLUICE_TILE_OK);
    statuses[count - 1] = SLUICE_TILE_BAD_CHECKSUM;
    statuses.insert(statuses.end(), {1u, count - 1});
    CHECK((status.words() == statuses));
}

TEST_SUITE_END();
