// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests many damaged streams: bits flipped, ends cut off, parts exchanged. The status must be that
// of the CPU reference, and so must the bytes of tiles that are still OK. Nothing may hang or write
// elsewhere. SLUICE_MUTATIONS: how many; SLUICE_SEED: the seed.
#include "tests/support/gdeflate_bit_writer.h"
#include "tests/support/gdeflate_tiles.h"

#include <algorithm>

using namespace sluice::test;

namespace {

// Tiles to damage: golden ones, and small ones with every kind of block. Small ones are chosen more
// often: most of what can be damaged is in the first bytes, and software devices are slow.
struct Corpus {
    std::vector<Tile> golden;
    std::vector<Tile> small;
};

Tile smallTile(std::mt19937& random)
{
    GdeflateBitWriter writer;
    uint32_t size = 0;
    const uint32_t blocks = 1 + uint32_t(random()) % 4;
    for (uint32_t block = 0; block < blocks; ++block) {
        const bool final = block + 1 == blocks;
        std::vector<Token> tokens;
        const uint32_t end = size + 20 + uint32_t(random()) % 700;
        const uint32_t kind = uint32_t(random()) % 3;
        if (kind == 0) {
            Bytes bytes(end - size);
            std::generate(bytes.begin(), bytes.end(), [&random] { return uint8_t(random()); });
            writer.stored(final, bytes);
            size = end;
            continue;
        }
        while (size < end) {
            const bool isMatch = size > 0 && random() % 2 == 0;
            const uint32_t length = isMatch ? 3 + uint32_t(random()) % 40 : 1;
            tokens.push_back(isMatch ? match(length, 1 + uint32_t(random()) % size)
                                     : literal(uint32_t(random()) % 256));
            size += length;
        }
        if (kind == 1) {
            writer.fixed(final, tokens);
        } else {
            writer.dynamic(final, fixedLiteralLengths(), fixedDistanceLengths(), tokens);
        }
    }
    return {"small", writer.bytes(), size};
}

Corpus makeCorpus(std::mt19937& random)
{
    Corpus corpus;
    // GPU-assisted validation adds loops, which count against lavapipe's limit (devices.h). So only
    // small tiles are decoded then.
    if (environmentNumber("SLUICE_TEST_VALIDATION", 1) < 2) {
        for (const GoldenStream& stream : goldenStreams())
            corpus.golden.insert(corpus.golden.end(), stream.tiles.begin(), stream.tiles.end());
    }
    for (uint32_t i = 0; i < 50; ++i)
        corpus.small.push_back(smallTile(random));
    return corpus;
}

Tile mutate(const Corpus& corpus, uint32_t number, std::mt19937& random)
{
    const auto below = [&random](size_t limit) { return size_t(random()) % limit; };
    const auto pick = [&]() -> const Tile& {
        const std::vector<Tile>& from =
            !corpus.golden.empty() && below(8) == 0 ? corpus.golden : corpus.small;
        return from[below(from.size())];
    };
    Tile tile = pick();
    Bytes& bytes = tile.compressed;
    const char* how = "";
    switch (below(6)) {
    case 0: {
        how = "bits flipped";
        for (size_t i = 1 + below(8); i > 0; --i) {
            const size_t bit = below(bytes.size() * 8);
            bytes[bit / 8] = uint8_t(bytes[bit / 8] ^ 1u << bit % 8);
        }
        break;
    }
    case 1: {
        how = "bits of the first words flipped";
        for (size_t i = 1 + below(8); i > 0; --i) {
            const size_t bit = below(std::min<size_t>(bytes.size() * 8, 2048));
            bytes[bit / 8] = uint8_t(bytes[bit / 8] ^ 1u << bit % 8);
        }
        break;
    }
    case 2:
        how = "truncated";
        bytes.resize(1 + below(bytes.size()));
        break;
    case 3: {
        how = "spliced";
        const Bytes& other = pick().compressed;
        bytes.resize(1 + below(bytes.size()));
        bytes.insert(bytes.end(), other.begin() + std::ptrdiff_t(below(other.size())), other.end());
        bytes.resize(std::min<size_t>(bytes.size(), 131072));
        break;
    }
    case 4: {
        how = "bytes overwritten";
        const size_t begin = below(bytes.size()),
                     end = std::min(bytes.size(), begin + 1 + below(64));
        std::generate(bytes.begin() + std::ptrdiff_t(begin), bytes.begin() + std::ptrdiff_t(end),
                      [&random] { return uint8_t(random()); });
        break;
    }
    default:
        how = "another size";
        tile.size =
            1 + uint32_t(below(below(4) == 0 ? 65536 : std::min<size_t>(65536, tile.size + 4)));
        break;
    }
    tile.name += " " + std::to_string(number) + ", " + how;
    return tile;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("gdeflate: mutated streams")
{
    std::mt19937 random = makeRandom(61);
    const Corpus corpus = makeCorpus(random);
    const uint32_t total = environmentNumber("SLUICE_MUTATIONS", 100);
    REQUIRE(total > 0);
    constexpr uint32_t batch = 500; // few, in case the kernel depends on the number of tiles
    uint32_t okCount = 0;
    for (uint32_t done = 0; done < total; done += batch) {
        std::vector<Tile> tiles;
        for (uint32_t i = done; i < std::min(total, done + batch); ++i)
            tiles.push_back(mutate(corpus, i, random));
        for (const DecodedTile& tile : decodeAndCompare(device(), tiles))
            okCount += tile.status == SLUICE_TILE_OK;
    }
    // Some mutations leave a tile valid. If all of them did, or none, the test would not test what
    // it should.
    CHECK(okCount < total);
    if (total >= 100) CHECK(okCount > 0);
}

TEST_SUITE_END();
