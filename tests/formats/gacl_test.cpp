// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that filters undo the transforms of GACL. The transforms are written here from the layout
// of the streams alone.
#include <sluice/sluice_filter.h>

#include "tests/support/filters.h"

#include <algorithm>

// tests/consumers/readme/decode.cpp, which tests/api/embedding_example_test.cpp includes.
namespace example {
SluiceStatus listGaclChunk(uint32_t transform, uint32_t size, uint64_t shuffled, uint64_t final,
                           uint32_t chunk, SluiceRegion& region, std::vector<uint8_t>& descriptions,
                           std::vector<SluiceFilterTile>& tiles);
}

using namespace sluice::test;

namespace {

struct Shuffle {
    uint32_t transform, together;
    std::vector<uint32_t> parts; // bytes of each part of a block
};
const Shuffle kShuffles[] = {
    {SLUICE_GACL_BC1, 2, {2, 2, 4}},
    {SLUICE_GACL_BC3, 4, {1, 1, 6, 2, 2, 4}},
    {SLUICE_GACL_BC4, 4, {1, 1, 6}},
    {SLUICE_GACL_BC5, 4, {1, 1, 6, 1, 1, 6}},
};

Bytes shuffled(const Shuffle& shuffle, const Bytes& chunk)
{
    size_t blockBytes = 0;
    for (const uint32_t part : shuffle.parts)
        blockBytes += part;
    const size_t blocks = chunk.size() / blockBytes / shuffle.together * shuffle.together;
    Bytes result;
    size_t place = 0;
    for (const uint32_t part : shuffle.parts) {
        for (size_t i = 0; i < blocks; ++i)
            for (size_t k = 0; k < part; ++k)
                result.push_back(chunk[i * blockBytes + place + k]);
        place += part;
    }
    result.insert(result.end(), chunk.begin() + std::ptrdiff_t(result.size()), chunk.end());
    return result;
}

std::vector<uint32_t> edgeSizes()
{
    std::vector<uint32_t> sizes;
    for (uint32_t size = 1; size <= 200; ++size)
        sizes.push_back(size);
    for (const uint32_t edge : {4096u, 65536u, 262144u, 1048576u})
        for (uint32_t less = 0; less <= 65; ++less)
            sizes.push_back(edge - less);
    return sizes;
}

Words descriptionOf(uint32_t transform, uint32_t size)
{
    Words words(SLUICE_GACL_DESCRIPTION_SIZE / 4);
    uint32_t bytes = ~0u;
    REQUIRE(sluiceDescribeGacl(transform, size, words.data(), &bytes) == SLUICE_OK);
    REQUIRE(bytes <= SLUICE_GACL_DESCRIPTION_SIZE);
    words.resize(bytes / 4);
    return words;
}

} // namespace

TEST_CASE("GACL: filters undo every transform, at every size near an edge")
{
    std::mt19937 random = makeRandom(91);
    for (const Shuffle& shuffle : kShuffles) {
        CAPTURE(shuffle.transform);
        for (const uint32_t size : edgeSizes()) {
            const Bytes chunk = randomBytes(random, size), moved = shuffled(shuffle, chunk);
            const Words words = descriptionOf(shuffle.transform, size);
            CAPTURE(size);
            if (words.empty()) {
                CHECK((moved == chunk));
                continue;
            }
            REQUIRE(sluiceCheckFilter(words.data(), 4 * words.size()) == SLUICE_OK);
            Bytes back(size);
            REQUIRE(sluiceUndoFilter(words.data(), 4 * words.size(), moved.data(), back.data(),
                                     size) == SLUICE_OK);
            CHECK((back == chunk));
            CHECK((applied(words, chunk) == moved));
        }
    }
}

TEST_CASE("GACL: chunks without whole groups, transforms that move nothing, and what is refused")
{
    CHECK(descriptionOf(SLUICE_GACL_BC1, 15).empty());
    CHECK(!descriptionOf(SLUICE_GACL_BC1, 16).empty());
    CHECK(descriptionOf(SLUICE_GACL_BC4, 31).empty());
    CHECK(!descriptionOf(SLUICE_GACL_BC4, 32).empty());
    for (const uint32_t transform : {uint32_t(SLUICE_GACL_BC3), uint32_t(SLUICE_GACL_BC5)}) {
        CHECK(descriptionOf(transform, 63).empty());
        CHECK(!descriptionOf(transform, 64).empty());
    }
    CHECK(SLUICE_GACL_NONE == 0);      // as DirectStorage's requests have it
    CHECK(SLUICE_GACL_ZSTD_ONLY == 7); // as GACL has it
    for (const uint32_t size : edgeSizes()) {
        CHECK(descriptionOf(SLUICE_GACL_NONE, size).empty());
        CHECK(descriptionOf(SLUICE_GACL_ZSTD_ONLY, size).empty());
    }
    Words words(SLUICE_GACL_DESCRIPTION_SIZE / 4);
    uint32_t size = 0;
    for (const uint32_t transform : {5u, 6u, 8u, 17u, 32u, 35u, 0xffffffffu}) {
        size = 1;
        CHECK(sluiceDescribeGacl(transform, 4096, words.data(), &size) == SLUICE_ERROR_UNSUPPORTED);
        CHECK(size == 0);
    }
    CHECK(sluiceDescribeGacl(1, 0, words.data(), &size) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceDescribeGacl(1, (1 << 20) + 1, words.data(), &size) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceDescribeGacl(1, 4096, nullptr, &size) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceDescribeGacl(1, 4096, words.data(), nullptr) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("embedding example: chunks that GACL has shuffled")
{
    // Four equal blocks of BC4: all first end points, all second ones, then all indices.
    const Bytes block = {1, 2, 3, 4, 5, 6, 7, 8};
    Bytes chunk, shuffled;
    for (int i = 0; i < 4; ++i)
        chunk.insert(chunk.end(), block.begin(), block.end());
    for (const auto& [begin, end] : {std::pair(0, 1), std::pair(1, 2), std::pair(2, 8)})
        for (int i = 0; i < 4; ++i)
            shuffled.insert(shuffled.end(), block.begin() + begin, block.begin() + end);
    Bytes descriptions;
    std::vector<SluiceFilterTile> tiles;
    SluiceRegion region = {};
    const auto list = [&](uint32_t transform, uint32_t size, uint32_t number) {
        return example::listGaclChunk(transform, size, 64, 128, number, region, descriptions,
                                      tiles);
    };
    // Nothing is moved: the region itself writes the final place.
    CHECK(list(SLUICE_GACL_NONE, 32, 0) == SLUICE_OK);
    CHECK(region.dstAddress == 128);
    region = {};
    CHECK(list(SLUICE_GACL_BC4, 31, 0) == SLUICE_OK);
    CHECK(region.dstAddress == 128);
    CHECK(tiles.empty());
    CHECK(list(SLUICE_GACL_BC4, 32, 1) == SLUICE_OK);
    CHECK(region.dstAddress == 64);
    CHECK(list(5, 32, 2) == SLUICE_ERROR_UNSUPPORTED);
    REQUIRE(tiles.size() == 1);
    CHECK(tiles[0].srcAddress == 64);
    CHECK(tiles[0].dstAddress == 128);
    CHECK(tiles[0].statusIndex == 1);
    REQUIRE(tiles[0].descriptionOffset + tiles[0].descriptionSize == descriptions.size());
    Bytes undone(32);
    CHECK(sluiceUndoFilter(descriptions.data() + tiles[0].descriptionOffset,
                           tiles[0].descriptionSize, shuffled.data(), undone.data(),
                           32) == SLUICE_OK);
    CHECK((undone == chunk));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("GACL: devices undo the transforms")
{
    std::mt19937 random = makeRandom(92);
    FilterBatch batch;
    std::vector<Bytes> chunks;
    for (const Shuffle& shuffle : kShuffles) {
        for (const uint32_t size : {64u, 100u, 4095u, 65536u, 262144u, 200001u}) {
            chunks.push_back(randomBytes(random, size));
            batch.add(descriptionOf(shuffle.transform, size), shuffled(shuffle, chunks.back()));
        }
    }
    const FilterOutcome outcome = undoFilters(device(), batch);
    for (size_t i = 0; i < chunks.size(); ++i) {
        CAPTURE(i);
        CHECK(outcome.status[i] == SLUICE_TILE_OK);
        CHECK(
            std::equal(chunks[i].begin(), chunks[i].end(),
                       outcome.output.begin() + std::ptrdiff_t(batch.tiles[i].region.dstAddress)));
    }
}

TEST_SUITE_END();
