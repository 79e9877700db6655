// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests Gstd: what the encoder writes comes back on every device; damaged tiles get the status of
// the reference.
#include "tests/support/gdeflate_tiles.h"
#include "tests/support/gstd_encoder.h"

#include <algorithm>
#include <memory>

using namespace sluice::test;

namespace {

struct Case {
    std::string name;
    Bytes bytes;
};

// Returns bytes with repeats: they have `symbols` different values, copies come from up to `far`
// bytes back, and pieces have up to `run` bytes.
Bytes repetitive(size_t size, uint32_t symbols, uint32_t far, uint32_t run, std::mt19937& random)
{
    Bytes bytes;
    while (bytes.size() < size) {
        const uint32_t length = 1 + uint32_t(random()) % run;
        const bool copies = bytes.size() > 4 && random() % 3 != 0;
        const size_t offset = copies ? 1 + random() % std::min<size_t>(far, bytes.size()) : 0;
        for (uint32_t i = 0; i < length && bytes.size() < size; ++i) {
            const uint32_t draw = uint32_t(random()) % symbols,
                           other = uint32_t(random()) % symbols;
            bytes.push_back(copies ? bytes[bytes.size() - offset]
                                   : uint8_t(std::min(draw, other) * 7));
        }
    }
    return bytes;
}

// Returns records of 12 bytes, such as vertices.
Bytes records(size_t size, std::mt19937& random)
{
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) {
        const size_t record = i / 12, column = i % 12;
        bytes[i] = column < 4   ? uint8_t(record >> column)
                   : column < 8 ? uint8_t(random() % 3)
                                : uint8_t(column * 9);
    }
    return bytes;
}

// Returns words of a small dictionary in random order, so that nearly every four bytes are a match.
Bytes wordsOnly(size_t size, std::mt19937& random)
{
    Bytes dictionary(64 * 4), bytes;
    std::generate(dictionary.begin(), dictionary.end(), [&] { return uint8_t(random()); });
    while (bytes.size() < size) {
        const auto word = dictionary.begin() + random() % 64 * 4;
        bytes.insert(bytes.end(), word, word + 4);
    }
    bytes.resize(size);
    return bytes;
}

struct PartHeader {
    uint32_t size, kind, sequences;
};

std::vector<PartHeader> partsOf(const Bytes& tile)
{
    const auto word = [&](size_t i) { return uint32_t(tile[2 * i] | tile[2 * i + 1] << 8); };
    const uint32_t count = (word(0) & 15) + 1;
    std::vector<PartHeader> parts;
    size_t first = 2 + 2 * count;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t kind = word(first) & 3;
        parts.push_back({word(2 + 2 * i) + 1, kind, kind == 2 ? word(first + 2) : 0});
        first += word(3 + 2 * i) + 1;
    }
    return parts;
}

std::vector<Case> cases(std::mt19937& random)
{
    std::vector<Case> all;
    for (const uint32_t size : {1u, 2u, 3u, 4u, 31u, 33u, 127u, 129u, 511u, 512u, 513u, 1023u,
                                1025u, 2047u, 2048u, 2049u, 9001u})
        all.push_back({"repeats " + std::to_string(size), repetitive(size, 30, 1000, 20, random)});
    all.push_back({"zeros", Bytes(66000, 0)});
    all.push_back({"one other byte", Bytes(3000, 0)});
    all.back().bytes[2999] = 1;
    Bytes noise(65601);
    std::generate(noise.begin(), noise.end(), [&] { return uint8_t(random()); });
    all.push_back({"noise", noise});
    Bytes skewed(9000);
    std::generate(skewed.begin(), skewed.end(),
                  [&] { return uint8_t(random() % 50 == 0 ? random() : 0); });
    all.push_back({"skewed", skewed});
    all.push_back({"records", records(20000, random)});
    all.push_back({"runs", repetitive(8000, 4, 3, 300, random)});
    all.push_back({"two parts", repetitive(65536 + 1001, 60, 65535, 40, random)});
    all.push_back({"short copies", repetitive(7000, 200, 400, 4, random)});
    // There are more matches in 2,048 bytes than decoders have invocations.
    all.push_back({"words", wordsOnly(6001, random)});
    Bytes mixed = repetitive(65536, 40, 3000, 30, random);
    mixed.insert(mixed.end(), noise.begin(), noise.begin() + 65536);
    const Bytes again = repetitive(5000, 40, 3000, 30, random);
    mixed.insert(mixed.end(), again.begin(), again.end());
    all.push_back({"noise in the middle", mixed});
    return all;
}

// Returns copies of copies, all within one group of 512 bytes.
Bytes nested(uint32_t links, std::mt19937& random)
{
    Bytes bytes;
    for (uint32_t group = 0; group < 4; ++group) {
        Bytes link(12);
        std::generate(link.begin(), link.end(), [&] { return uint8_t(random()); });
        for (uint32_t i = 0; i < links; ++i) {
            bytes.insert(bytes.end(), link.begin(), link.end());
            bytes.push_back(uint8_t(random()));
            link.push_back(uint8_t(random()));
        }
        bytes.resize(512 * (group + 1), uint8_t(group));
    }
    return bytes;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("gstd: what was encoded comes back")
{
    std::mt19937 random = makeRandom(71);
    std::vector<Tile> tiles;
    std::vector<Bytes> originals;
    for (const auto& [level, depth] : {std::pair{1u, 1u}, {12u, 0u}}) {
        GstdEncoder encoder(level, depth);
        for (const Case& one : cases(random)) {
            if (level == 1 && one.bytes.size() > 40000) continue; // software devices are slow
            tiles.push_back({one.name + ", level " + std::to_string(level),
                             encoder.encode(one.bytes), uint32_t(one.bytes.size())});
            originals.push_back(one.bytes);
        }
    }
    const std::unique_ptr<Buffer> scratch = gstdScratchForMany(device());
    const std::vector<DecodedTile> decoded =
        decodeAndCompare(device(), tiles, TileCodec::gstd, scratch.get());
    for (size_t i = 0; i < tiles.size(); ++i) {
        CAPTURE(tiles[i].name);
        CHECK(decoded[i].status == SLUICE_TILE_OK);
        CHECK(decoded[i].bytes == originals[i]);
    }
}

TEST_CASE("gstd: parts end where their symbols are work enough")
{
    std::mt19937 random = makeRandom(74);
    GstdEncoder encoder(12, 4);
    const Bytes few = encoder.encode(wordsOnly(6001, random));
    CHECK(partsOf(few).size() == 1);
    CHECK(partsOf(few)[0].sequences > 6001 / 7);
    for (const uint32_t size : {262144u, 262143u, 200000u}) {
        const std::vector<PartHeader> parts = partsOf(encoder.encode(wordsOnly(size, random)));
        CHECK(parts.size() > size / 32768);
        CHECK(parts.size() <= 16);
        uint32_t sum = 0;
        for (const PartHeader& part : parts) {
            CHECK(sum % 4096 == 0);
            CHECK(part.sequences <= part.size / 4);
            sum += part.size;
        }
        CHECK(sum == size);
    }
    Bytes noise(262144);
    std::generate(noise.begin(), noise.end(), [&] { return uint8_t(random()); });
    const Bytes plain = encoder.encode(noise);
    CHECK(partsOf(plain).size() == 8);
    CHECK(plain.size() <= sluiceGstdTileBound(noise.size()));
    CHECK(sluiceGstdTileBound(noise.size()) == noise.size() + 4 + 16 * 6);
    CHECK(sluiceGstdTileBound(513) == 514 + 4 + 2 * 6);
}

TEST_CASE("gstd: copies that are nested deeper than the tile says")
{
    std::mt19937 random = makeRandom(72);
    std::vector<Tile> tiles;
    uint32_t deeper = 0;
    for (uint32_t depth = 1; depth <= 8; ++depth) {
        GstdEncoder encoder(9, depth);
        Tile tile = {"depth " + std::to_string(depth), encoder.encode(nested(16, random)), 2048};
        tiles.push_back(tile);
        for (uint32_t claimed = 1; claimed < depth; ++claimed) {
            tile.name += ", said to be " + std::to_string(claimed);
            tile.compressed[0] = uint8_t((tile.compressed[0] & 15) | (claimed - 1) << 4);
            tiles.push_back(tile);
        }
    }
    const std::unique_ptr<Buffer> scratch = gstdScratchForMany(device());
    for (const DecodedTile& tile :
         decodeAndCompare(device(), tiles, TileCodec::gstd, scratch.get())) {
        CHECK((tile.status == SLUICE_TILE_OK || tile.status == SLUICE_TILE_LIMIT));
        deeper += tile.status == SLUICE_TILE_LIMIT ? 1 : 0;
    }
    CHECK(deeper >= 20);
}

TEST_CASE("gstd: tables of a part whose header is bad")
{
    std::mt19937 random = makeRandom(75);
    GstdEncoder encoder(12, 4);
    const Bytes bytes = wordsOnly(90000, random), good = encoder.encode(bytes);
    const uint32_t parts = (good[0] & 15u) + 1;
    REQUIRE(parts >= 2);
    const size_t first = 2 * (2 + 2 * parts),
                 second = first + 2 * (good[6] | size_t{good[7]} << 8) + 2;
    std::vector<Tile> tiles;
    // Fields of the first part's header: how many slots its tables of literals and of sequences
    // have.
    for (const uint32_t field : {6u, 9u}) {
        for (uint32_t value = 0; value < 8; ++value) {
            Tile tile = {"field " + std::to_string(field) + " is " + std::to_string(value), good,
                         uint32_t(bytes.size())};
            const uint32_t header = tile.compressed[first] | uint32_t(tile.compressed[first + 1])
                                                                 << 8;
            const uint32_t changed = (header & ~(7u << field)) | value << field;
            tile.compressed[first] = uint8_t(changed);
            tile.compressed[first + 1] = uint8_t(changed >> 8);
            // The second part uses the tables of the part before.
            tile.compressed[second] = uint8_t(tile.compressed[second] | 0x30);
            tiles.push_back(tile);
        }
    }
    for (const DecodedTile& tile : decodeAndCompare(device(), tiles, TileCodec::gstd))
        CHECK(tile.status != SLUICE_TILE_OK);
}

TEST_CASE("gstd: mutated streams")
{
    std::mt19937 random = makeRandom(73);
    std::vector<Tile> whole;
    for (const uint32_t level : {3u, 12u}) {
        GstdEncoder encoder(level, 4);
        for (const Case& one : cases(random)) {
            if (one.bytes.size() < 25000)
                whole.push_back({one.name, encoder.encode(one.bytes), uint32_t(one.bytes.size())});
        }
    }
    const auto below = [&](size_t limit) { return size_t(random()) % limit; };
    const uint32_t total = environmentNumber("SLUICE_MUTATIONS", 100);
    uint32_t okCount = 0;
    const std::unique_ptr<Buffer> scratch = gstdScratchForMany(device());
    for (uint32_t done = 0; done < total; done += 500) {
        std::vector<Tile> tiles;
        for (uint32_t i = done; i < std::min(total, done + 500); ++i) {
            Tile tile = whole[below(whole.size())];
            Bytes& bytes = tile.compressed;
            const uint32_t kind = uint32_t(below(5));
            if (kind == 0) {
                bytes.resize(1 + below(bytes.size()));
            } else if (kind == 1) {
                tile.size = 1 + uint32_t(below(tile.size + 8));
            } else {
                const size_t range = kind == 2   ? std::min<size_t>(bytes.size(), 16)
                                     : kind == 3 ? std::min<size_t>(bytes.size(), 200)
                                                 : bytes.size();
                for (size_t n = 1 + below(4); n > 0; --n)
                    bytes[below(range)] ^= uint8_t(1u << below(8));
            }
            tile.name += " mutation " + std::to_string(i);
            tiles.push_back(tile);
        }
        for (const DecodedTile& tile :
             decodeAndCompare(device(), tiles, TileCodec::gstd, scratch.get()))
            okCount += tile.status == SLUICE_TILE_OK ? 1 : 0;
    }
    CHECK(okCount > total / 100);
    CHECK(okCount < total / 2);
}

TEST_SUITE_END();
