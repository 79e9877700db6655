// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the worst tiles that are allowed: with the most rounds, the most matches, the most blocks,
// the longest chains of dependencies and the most compressed bytes.
#include "tests/support/gdeflate_bit_writer.h"
#include "tests/support/gdeflate_tiles.h"

#include <algorithm>

using namespace sluice::test;

namespace {

constexpr uint32_t kTileSize = 65536;

Tile makeTile(const char* name, const std::vector<Token>& tokens)
{
    GdeflateBitWriter writer;
    writer.fixed(true, tokens);
    return {name, writer.bytes(), uint32_t(expand(tokens).size())};
}

// Returns code lengths where every literal has 15 bits, the longest code there is. Seven other
// symbols have the shorter codes.
CodeLengths longestLiteralLengths()
{
    CodeLengths lengths(263, 15);
    for (uint32_t i = 0; i < 7; ++i)
        lengths[256 + i] = uint8_t(1 + i);
    return lengths;
}

std::vector<Token> randomLiterals(uint32_t count, std::mt19937& random)
{
    std::vector<Token> tokens(count);
    std::generate(tokens.begin(), tokens.end(),
                  [&random] { return literal(uint32_t(random()) % 256); });
    return tokens;
}

Tile longestLiterals(std::mt19937& random)
{
    GdeflateBitWriter writer;
    writer.dynamic(true, longestLiteralLengths(), {0}, randomLiterals(kTileSize, random));
    return {"65,536 literals of 15 bits", writer.bytes(), kTileSize};
}

Tile shortMatches(const char* name, uint32_t distance)
{
    std::vector<Token> tokens;
    uint32_t size = 0;
    while (size < distance || (kTileSize - size) % 3 != 0) {
        tokens.push_back(literal(size % 251));
        ++size;
    }
    for (; size < kTileSize; size += 3)
        tokens.push_back(match(3, distance));
    return makeTile(name, tokens);
}

// Returns a tile with as many blocks as there may be. Each has its own code tables.
Tile manyBlocks(std::mt19937& random)
{
    GdeflateBitWriter writer;
    for (uint32_t block = 0; block < 256; ++block) {
        CodeLengths lengths(288, 0);
        for (uint32_t i = 0; i < 15; ++i)
            lengths[(block + 16 * i) % 256] = uint8_t(i + 1);
        lengths[256] = 15;
        std::vector<Token> tokens;
        for (uint32_t i = 0; i < 256; ++i)
            tokens.push_back(literal((block + 16 * (random() % 15)) % 256));
        CodeLengths distances(32, 5);
        writer.dynamic(block == 255, lengths, distances, tokens);
    }
    return {"256 dynamic blocks", writer.bytes(), kTileSize};
}

Tile manyStoredBlocks(std::mt19937& random)
{
    GdeflateBitWriter writer;
    for (uint32_t block = 0; block < 256; ++block) {
        Bytes bytes(block % 2 == 0 ? 255 : 257);
        std::generate(bytes.begin(), bytes.end(), [&random] { return uint8_t(random()); });
        writer.stored(block == 255, bytes);
    }
    return {"256 stored blocks", writer.bytes(), kTileSize};
}

// Returns a tile of matches of all lengths at distance 1.
Tile offsetOne()
{
    std::vector<Token> tokens = {literal('r')};
    uint32_t size = 1;
    for (uint32_t length = 3; size + length + 3 <= kTileSize;
         length = length < 300 ? length + 1 : 3) {
        tokens.push_back(match(length, 1));
        size += length;
    }
    tokens.push_back(match(kTileSize - size, 1));
    return makeTile("all offsets 1", tokens);
}

// Returns a tile of literals, then matches from as far back as possible.
Tile farOffsets(std::mt19937& random)
{
    std::vector<Token> tokens = randomLiterals(57344, random);
    uint32_t size = 57344;
    for (; size + 3 <= kTileSize; size += 3)
        tokens.push_back(match(3, size - size % 7));
    while (size < kTileSize) {
        tokens.push_back(literal('e'));
        ++size;
    }
    return makeTile("all offsets near 64 KiB", tokens);
}

// Returns a tile where each lane always has a match of what the lanes before it have just written.
// The distances are small and change.
Tile chains()
{
    std::vector<Token> tokens;
    for (uint32_t i = 0; i < 40; ++i)
        tokens.push_back(literal(i * 5));
    uint32_t size = 40;
    for (uint32_t i = 0; size + 10 < kTileSize; ++i) {
        tokens.push_back(match(3 + i % 5, 1 + i * 7 % 39));
        size += 3 + i % 5;
    }
    while (size++ < kTileSize)
        tokens.push_back(literal('e'));
    return makeTile("chains of short matches", tokens);
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("gdeflate: the worst legal tiles")
{
    std::mt19937 random = makeRandom(51);
    const std::vector<Tile> tiles = {
        longestLiterals(random),
        makeTile("65,536 literals", randomLiterals(kTileSize, random)),
        shortMatches("21,845 matches of 3 at offset 1", 1),
        shortMatches("21,844 matches of 3 at offset 3", 3),
        shortMatches("matches of 3 at offset 32", 32),
        manyBlocks(random),
        manyStoredBlocks(random),
        offsetOne(),
        farOffsets(random),
        chains(),
        makeTile("one match of 65,535", {literal('m'), match(65535, 1)}),
        makeTile("a match of 65,500 at offset 36",
                 [&random] {
                     std::vector<Token> tokens = randomLiterals(36, random);
                     tokens.push_back(match(65500, 36));
                     return tokens;
                 }()),
    };
    const std::vector<DecodedTile> results = decodeAndCompare(device(), tiles);
    for (size_t i = 0; i < tiles.size(); ++i) {
        CAPTURE(tiles[i].name);
        CHECK(tiles[i].size == kTileSize);
        CHECK(tiles[i].compressed.size() <= 131072);
        CHECK(results[i].status == SLUICE_TILE_OK);
    }
}

TEST_SUITE_END();

TEST_CASE("the bit writer and the CPU decoder agree with a plain expansion")
{
    std::mt19937 random = makeRandom(52);
    for (uint32_t round = 0; round < 200; ++round) {
        std::vector<Token> tokens = {literal(1)};
        uint32_t size = 1;
        while (size < 5000) {
            const uint32_t length = 3 + uint32_t(random()) % (random() % 50 == 0 ? 2000 : 20);
            const bool isMatch = random() % 3 == 0;
            tokens.push_back(isMatch ? match(length, 1 + uint32_t(random()) % size)
                                     : literal(uint32_t(random()) % 256));
            size += isMatch ? length : 1;
        }
        const Bytes expected = expand(tokens);
        const DecodedTile result = decodeOnHost({makeTile("random tokens", tokens)})[0];
        CHECK(result.status == SLUICE_TILE_OK);
        CHECK((result.bytes == expected));
    }
}
