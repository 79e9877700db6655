// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/devices.h"

#include "formats/xxh32.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace sluice::test;

namespace {

Bytes randomBytes(size_t size, std::mt19937& random)
{
    Bytes bytes(size);
    std::generate(bytes.begin(), bytes.end(), [&random] { return uint8_t(random()); });
    return bytes;
}

// Computes a checksum as sluice.h defines it, word for word, with the hash of the xxHash library.
uint32_t tileChecksum(const Bytes& bytes)
{
    const size_t n = bytes.size(), words = (n + 3) / 4, piece = (words + 31) / 32;
    uint8_t hashes[128];
    for (size_t k = 0; k < 32; ++k) {
        const size_t begin = std::min(n, 4 * piece * k), end = std::min(n, 4 * piece * (k + 1));
        const uint32_t hash = XXH32(bytes.data() + begin, end - begin, 0);
        for (size_t i = 0; i < 4; ++i)
            hashes[4 * k + i] = uint8_t(hash >> 8 * i);
    }
    return XXH32(hashes, sizeof hashes, 0);
}

const size_t kSizes[] = {1,    2,    3,    4,     5,     31,     32,     33,   127,
                         128,  129,  131,  132,   511,   512,    513,    2047, 2048,
                         2049, 2051, 5000, 65535, 65536, 262143, 1 << 20};

} // namespace

TEST_CASE("xxh32 equals the xxHash library's")
{
    std::mt19937 random = makeRandom(21);
    for (size_t size = 0; size < 300; ++size) {
        const Bytes bytes = randomBytes(size, random);
        CHECK(sluice::xxh32(bytes.data(), size, uint32_t(size)) ==
              XXH32(bytes.data(), size, uint32_t(size)));
    }
}

TEST_CASE("sluiceTileChecksum is what the header says")
{
    std::mt19937 random = makeRandom(22);
    CHECK(sluiceTileChecksum(nullptr, 0) == tileChecksum({}));
    for (const size_t size : kSizes) {
        Bytes bytes = randomBytes(size + 1, random);
        const Bytes unaligned(bytes.begin() + 1, bytes.end());
        CHECK(sluiceTileChecksum(bytes.data() + 1, size) == tileChecksum(unaligned));
    }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("checksum: right and wrong tiles of every size")
{
    std::mt19937 random = makeRandom(23);
    // Two tiles of each size, of which the second has one wrong bit. Then a tile that has failed
    // before, one past the count, and three with a region that is not allowed (any more).
    Bytes content;
    std::vector<SluiceRegion> regions;
    Words expected, statuses, expectedStatuses;
    const auto add = [&](size_t size, uint32_t flip, uint32_t before, uint32_t after) {
        const Bytes bytes = randomBytes(size, random);
        regions.push_back({0, content.size(), size, size});
        expected.push_back(tileChecksum(bytes));
        content.insert(content.end(), bytes.begin(), bytes.end());
        content[regions.back().dstAddress + (size - 1) * (flip % 2)] ^= uint8_t(flip);
        content.resize((content.size() + 3) / 4 * 4 + 4);
        statuses.push_back(before);
        expectedStatuses.push_back(after);
    };
    for (const size_t size : kSizes) {
        add(size, 0, SLUICE_TILE_OK, SLUICE_TILE_OK);
        add(size, 1, SLUICE_TILE_OK, SLUICE_TILE_BAD_CHECKSUM);  // in the last byte
        add(size, 64, SLUICE_TILE_OK, SLUICE_TILE_BAD_CHECKSUM); // in the first
    }
    add(100, 1, SLUICE_TILE_TRUNCATED, SLUICE_TILE_TRUNCATED);
    add((1 << 20) + 4, 0, SLUICE_TILE_OK, SLUICE_TILE_BAD_CHECKSUM); // too large
    add(100, 0, SLUICE_TILE_OK, SLUICE_TILE_BAD_CHECKSUM);
    add(100, 0, SLUICE_TILE_OK, SLUICE_TILE_BAD_CHECKSUM);
    add(100, 1, SLUICE_TILE_OK, SLUICE_TILE_OK); // past the count
    const uint32_t count = uint32_t(regions.size());
    regions[count - 3].dstAddress += 1;
    regions[count - 2].decompressedSize = ~uint64_t(0);

    Buffer destination(device(), content), expectedBuffer(device(), expected),
        countBuffer(device(), Words{count - 1});
    for (SluiceRegion& region : regions)
        region.dstAddress += destination.address();
    statuses.push_back(1); // the summary so far
    statuses.push_back(count - 5);
    Buffer regionList(device(), bytesOf(regions)), status(device(), statuses);

    SluiceChecksumInfo info = {};
    info.maxRegionCount = count;
    info.regionStride = sizeof(SluiceRegion);
    info.regions = regionList.range();
    info.regionCount = countBuffer.range();
    info.destination = destination.range();
    info.expected = expectedBuffer.range();
    info.status = status.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdChecksum(device().context(), commands, &info) == SLUICE_OK);
    });

    const uint32_t bad = uint32_t(2 * std::size(kSizes)) + 3;
    expectedStatuses.push_back(1 + bad);
    expectedStatuses.push_back(1); // the first wrong tile
    const Words results = status.words();
    for (size_t i = 0; i < results.size(); ++i) {
        CAPTURE(i);
        CHECK(results[i] == expectedStatuses[i]);
    }
    CHECK((destination.bytes() == content));
}

TEST_SUITE_END();
