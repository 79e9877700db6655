// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the tiles that take longest to decode, as far as the formats allow, and typical tiles.
#include "tools/bench/worst_tiles.h"

#include <sluice/sluice_encode.h>
#include <sluice/sluice_filter.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "tools/bench/bench_device.h"
#include "encode/weights/float_tile_encoder.h"
#include "encode/gdeflate/gdeflate_block.h"
#include "formats/filter.h"

namespace sluice {
namespace {

constexpr uint32_t kGdeflateSize = 65536, kGstdSize = 262144;

// Returns the tile of median compressed size among the made-up tiles that other rows use.
WorstTile typicalTile(const char* kernel, uint32_t codec)
{
    const TileSet set =
        loadTileSet("", codecNamed(codec == SLUICE_CODEC_GSTD ? "gstd" : "gdeflate"), 2u << 20, 0);
    std::vector<TileSet::Tile> tiles;
    for (const TileSet::Tile& tile : set.tiles)
        if (tile.filterSize == 0) tiles.push_back(tile);
    if (tiles.empty()) throw Failure{exitFormat, "the made-up data gave no plain tile"};
    const auto middle = tiles.begin() + std::ptrdiff_t(tiles.size() / 2);
    std::nth_element(tiles.begin(), middle, tiles.end(), [](const auto& a, const auto& b) {
        return a.compressedSize < b.compressedSize;
    });
    const auto part = [](const Bytes& bytes, uint64_t at, uint64_t size) {
        const auto from = bytes.begin() + std::ptrdiff_t(at);
        return Bytes(from, from + std::ptrdiff_t(size));
    };
    WorstTile typical = {kernel, "typical", codec, {}, {}};
    typical.stored = part(set.source, middle->sourceOffset, middle->compressedSize);
    typical.decoded = part(set.expected, middle->outputOffset, middle->size);
    typical.isTypical = true;
    return typical;
}

// Writes a GDeflate tile, one block of tokens after the other.
class GdeflateTile {
public:
    using Tokens = std::vector<gdeflate::Token>;

    // Writes a block whose codes are built for `counts` instead of the real counts of the tokens,
    // so that codes may be as long as wanted. The count of a symbol that occurs must not be 0.
    void dynamic(const Tokens& tokens, const gdeflate::Histogram& counts, bool final)
    {
        gdeflate::DynamicCodes codes;
        codes.build(counts, {});
        gdeflate::writeDynamicBlock(m_writer, codes, tokens.data(), uint32_t(tokens.size()), final);
        expand(tokens);
    }
    void fixed(const Tokens& tokens)
    {
        gdeflate::writeStaticBlock(m_writer, tokens.data(), uint32_t(tokens.size()), true);
        expand(tokens);
    }
    WorstTile finish(const char* name)
    {
        const size_t words = m_writer.finish();
        const uint8_t* bytes = reinterpret_cast<const uint8_t*>(m_words.data());
        return {"worst gdeflate", name, SLUICE_CODEC_GDEFLATE, Bytes(bytes, bytes + 4 * words),
                m_decoded};
    }

private:
    void expand(const Tokens& tokens)
    {
        for (const gdeflate::Token& token : tokens) {
            if (token.length == 0) m_decoded.push_back(uint8_t(token.value));
            for (uint32_t k = 0; k < token.length; ++k)
                m_decoded.push_back(m_decoded[m_decoded.size() - token.value]);
        }
    }

    std::vector<uint32_t> m_words = std::vector<uint32_t>(2 * kGdeflateSize);
    gdeflate::LaneWriter m_writer{m_words.data()};
    Bytes m_decoded;
};

gdeflate::Token literal(uint32_t byte) { return {0, uint16_t(byte)}; }

WorstTile manyBlocks(std::mt19937& random)
{
    GdeflateTile tile;
    for (uint32_t block = 0; block < 256; ++block) {
        // Counts that double from one symbol to the next give the longest possible codes.
        GdeflateTile::Tokens tokens;
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t symbol = 0;
            while (symbol < 14 && random() % 2 != 0)
                ++symbol;
            tokens.push_back(literal((block + 17 * symbol) % 256));
        }
        gdeflate::Histogram counts = {};
        counts.count(tokens.data(), uint32_t(tokens.size()));
        for (uint32_t symbol = 0; symbol < 15; ++symbol)
            counts.litLen[(block + 17 * symbol) % 256] = 1u << (15 - symbol);
        tile.dynamic(tokens, counts, block == 255);
    }
    return tile.finish("256 blocks with codes of their own");
}

WorstTile longestCodes(std::mt19937& random)
{
    GdeflateTile tile;
    GdeflateTile::Tokens tokens;
    for (uint32_t i = 0; i < kGdeflateSize; ++i)
        tokens.push_back(literal(random() % 256));
    gdeflate::Histogram counts = {};
    counts.count(tokens.data(), 0);
    for (uint32_t symbol = 0; symbol < 256; ++symbol)
        counts.litLen[symbol] = 1;
    for (uint32_t k = 0; k < 7; ++k) // these symbols take the short codes and never occur
        counts.litLen[257 + k] = 1u << (9 + k);
    tile.dynamic(tokens, counts, true);
    return tile.finish("65,536 literals, the longest codes");
}

WorstTile shortMatches(const char* name, uint32_t distance)
{
    GdeflateTile tile;
    GdeflateTile::Tokens tokens;
    uint32_t size = 0;
    for (; size < distance || (kGdeflateSize - size) % 3 != 0; ++size)
        tokens.push_back(literal(size % 251));
    for (; size < kGdeflateSize; size += 3)
        tokens.push_back({3, uint16_t(distance)});
    tile.fixed(tokens);
    return tile.finish(name);
}

// Makes a tile in which each lane copies the bytes that the lane before it has just written.
WorstTile chainedMatches()
{
    GdeflateTile tile;
    GdeflateTile::Tokens tokens;
    uint32_t size = 0;
    for (; size < 40; ++size)
        tokens.push_back(literal(size * 5));
    for (uint32_t i = 0; size + 10 < kGdeflateSize; ++i) {
        const uint32_t length = 3 + i % 5;
        tokens.push_back({uint16_t(length), uint16_t(1 + i * 7 % 39)});
        size += length;
    }
    for (; size < kGdeflateSize; ++size)
        tokens.push_back(literal('e'));
    tile.fixed(tokens);
    return tile.finish("chained matches of 3 to 7");
}

class GstdEncoder {
public:
    GstdEncoder()
    {
        const SluiceGstdEncoderInfo info = {12, SLUICE_GSTD_MAX_DEPTH};
        require(sluiceCreateGstdEncoder(&info, &m_encoder), "gstd encoder");
    }
    ~GstdEncoder() { sluiceDestroyGstdEncoder(m_encoder); }
    GstdEncoder(const GstdEncoder&) = delete;
    GstdEncoder& operator=(const GstdEncoder&) = delete;

    WorstTile tile(const char* name, const Bytes& bytes,
                   const std::vector<SluiceGstdMatch>& matches = {})
    {
        WorstTile result = {"worst gstd", name, SLUICE_CODEC_GSTD,
                            Bytes(sluiceGstdTileBound(bytes.size())), bytes};
        size_t size = 0;
        require(sluiceEncodeGstdTileWithMatches(m_encoder, bytes.data(), bytes.size(),
                                                matches.data(), uint32_t(matches.size()),
                                                result.stored.data(), result.stored.size(), &size),
                "gstd tile");
        result.stored.resize(size);
        return result;
    }

private:
    SluiceGstdEncoder m_encoder = nullptr;
};

// Makes a tile of copies of `length` bytes each; with 4 bytes, it has as many as the format allows.
// In each group of 512 bytes, chains in which one copy needs another are as long as allowed.
WorstTile deepCopies(GstdEncoder& encoder, std::mt19937& random, const char* name, uint32_t length)
{
    const uint32_t ofGroup = 512 / length, ofLevel = ofGroup / SLUICE_GSTD_MAX_DEPTH;
    std::vector<SluiceGstdMatch> matches;
    Bytes bytes(kGstdSize);
    for (uint32_t at = 0; at < 512; ++at)
        bytes[at] = uint8_t(random());
    for (uint32_t at = 512; at + length <= kGstdSize; at += length) {
        const uint32_t k = at % 512 / length, level = std::min(k / ofLevel, 8u);
        const uint32_t group = ofGroup * (at / 512), place = uint32_t(random());
        const uint32_t source = level == 0 ? group - 1 - place % ofGroup
                                           : group + (level - 1) * ofLevel + place % ofLevel;
        matches.push_back({at, length, at - source * length});
        std::copy_n(bytes.begin() + std::ptrdiff_t(source * length), length,
                    bytes.begin() + std::ptrdiff_t(at));
    }
    return encoder.tile(name, bytes, matches);
}

// Makes a tile with 1 MiB of elements, 4 bytes from each call of `word`.
WorstTile floats(const char* name, uint32_t type, const std::function<uint32_t()>& word)
{
    WorstTile tile = {"worst float", name, SLUICE_CODEC_FLOAT, {}, Bytes(1u << 20)};
    for (size_t at = 0; at < tile.decoded.size(); at += 4) {
        const uint32_t value = word();
        std::memcpy(&tile.decoded[at], &value, 4);
    }
    SluiceArchiveSegment segment = {};
    segment.codec = SLUICE_CODEC_FLOAT;
    segment.floatType = type;
    FloatTileEncoder encoder;
    require(
        encoder.encode(segment, tile.decoded.data(), uint32_t(tile.decoded.size()), tile.stored),
        "float tile");
    if (tile.stored.empty()) throw Failure{exitFormat, "a float tile did not get smaller"};
    return tile;
}

uint32_t run(uint32_t columns, uint32_t log2Bytes, FilterPredictor predictor, uint32_t flags)
{
    return columns | log2Bytes << 8 | flags << SLUICE_FILTER_FLAGS_AT | uint32_t(predictor) << 16;
}

// Makes a tile that consists of noise and has filters: `sections` sections with `records` records
// each, `width` of them in a row (0: no rows). `columnRun` is the word of the filter description
// that describes all columns of a section.
WorstTile filtered(std::mt19937& random, const char* name, uint32_t sections, uint32_t records,
                   uint32_t width, uint32_t columnRun)
{
    const uint32_t bytes = records * ((columnRun & 0xff) << (columnRun >> 8 & 3));
    WorstTile tile = {"worst filters", name, SLUICE_CODEC_STORE, Bytes(sections * bytes),
                      Bytes(sections * bytes)};
    tile.filter = {SLUICE_FILTER_VERSION | sections << 16};
    for (uint32_t s = 0; s < sections; ++s) {
        tile.filter.push_back(bytes | 1u << 21 | (width != 0 ? 1u << 29 : 0));
        if (width != 0) tile.filter.insert(tile.filter.end(), {width, 0});
        tile.filter.push_back(columnRun);
    }
    for (uint8_t& byte : tile.stored)
        byte = uint8_t(random());
    require(sluiceUndoFilter(tile.filter.data(), 4 * tile.filter.size(), tile.stored.data(),
                             tile.decoded.data(), tile.decoded.size()),
            name);
    return tile;
}

} // namespace

std::vector<WorstTile> worstGdeflateTiles()
{
    std::mt19937 random(1);
    return {typicalTile("worst gdeflate", SLUICE_CODEC_GDEFLATE),
            manyBlocks(random),
            longestCodes(random),
            shortMatches("matches of 3 at distance 1", 1),
            shortMatches("matches of 3 at distance 3", 3),
            shortMatches("matches of 3 at distance 32", 32),
            chainedMatches()};
}

std::vector<WorstTile> worstGstdTiles()
{
    std::mt19937 random(2);
    GstdEncoder encoder;
    Bytes literals(kGstdSize);
    for (uint8_t& byte : literals) // too random for matches, but skewed enough for an entropy code
        byte = uint8_t(random() % 8 == 0 ? random() : random() % 64);
    return {typicalTile("worst gstd", SLUICE_CODEC_GSTD),
            deepCopies(encoder, random, "65,536 sequences of 4, deep copies", 4),
            deepCopies(encoder, random, "deep copies of 8", 8),
            encoder.tile("literals alone", literals),
            encoder.tile("one byte all over", Bytes(kGstdSize, 7))};
}

std::vector<WorstTile> worstFloatTiles()
{
    std::mt19937 random(4);
    std::normal_distribution<float> normal(0, 0.02f);
    const auto weights = [&] {
        const float low = normal(random), high = normal(random);
        uint32_t bits[2];
        std::memcpy(&bits[0], &low, 4);
        std::memcpy(&bits[1], &high, 4);
        return bits[0] >> 16 | (bits[1] & 0xffff0000u);
    };
    // Half of the bytes have one value, a quarter another, and so on, so that there are codes of
    // all lengths.
    const auto skewed = [&] {
        uint32_t word = 0;
        for (uint32_t b = 0; b < 4; ++b) {
            uint32_t symbol = 0;
            while (symbol < 200 && random() % 2 == 0)
                ++symbol;
            word = word << 8 | symbol;
        }
        return word;
    };
    std::vector<WorstTile> tiles = {floats("typical, bf16 weights", SLUICE_FLOAT_BF16, weights)};
    tiles.back().isTypical = true;
    tiles.push_back(floats("bf16, codes of all lengths", SLUICE_FLOAT_BF16,
                           [&] { return skewed() << 7 & 0x7f807f80u; }));
    tiles.push_back(floats("bf16, one value", SLUICE_FLOAT_BF16, [] { return 0u; }));
    tiles.push_back(floats("f32, one exponent", SLUICE_FLOAT_F32,
                           [&] { return uint32_t(random()) & 0x807fffffu; }));
    tiles.push_back(floats("bytes, codes of all lengths", SLUICE_FLOAT_BYTES, skewed));
    tiles.push_back(floats("bytes, one value", SLUICE_FLOAT_BYTES, [] { return 0u; }));
    return tiles;
}

std::vector<WorstTile> worstFilterTiles()
{
    constexpr uint32_t most = SLUICE_FILTER_MAX_STEPS, zigzag = SLUICE_FILTER_FLAG_ZIGZAG;
    const auto median = FilterPredictor::median, average = FilterPredictor::average;
    std::mt19937 random(3);
    std::vector<WorstTile> tiles;
    const auto add = [&](const char* name, uint32_t sections, uint32_t records, uint32_t width,
                         uint32_t columns) {
        tiles.push_back(filtered(random, name, sections, records, width, columns));
    };
    add("typical", 1, 65536, 256, run(4, 0, median, 0));
    tiles.back().isTypical = true;
    add("typical, of 1 MiB", 1, 262144, 512, run(4, 0, median, 0));
    // Filters that take as many steps as allowed, in many shapes.
    const auto up = FilterPredictor::up;
    add("one row, u8 median", 1, most - 4, 1u << 20, run(1, 0, median, 0));
    add("one row, u8 average", 1, most - 4, 1u << 20, run(1, 0, average, 0));
    add("one row, 2 columns of u32 average", 1, most - 4, 1u << 20, run(2, 2, average, zigzag));
    add("one row, 32 columns of u32 average", 1, most / 16 - 4, 1u << 20,
        run(32, 2, average, zigzag));
    add("rows of one, u8 average", 1, most / 4 - 1, 1, run(1, 0, average, 0));
    add("rows of two, 2 columns of u32 up", 1, most / 2, 2, run(2, 2, up, zigzag));
    add("rows of four, u8 median", 1, most - 4, 4, run(1, 0, median, 0));
    add("rows of four, u8 up", 1, most, 4, run(1, 0, up, 0));
    add("rows of 31, u8 median", 1, 31 * (most / 4 - 8), 31, run(1, 0, median, 0));
    add("rows of 60, u8 median", 1, 60 * (most / 4 - 15), 60, run(1, 0, median, 0));
    add("rows of 112, u32 median", 1, 112 * (most / 4 - 28), 112, run(1, 2, median, zigzag));
    add("rows of 450, u8 median", 1, 450 * (most / 4 - 113), 450, run(1, 0, median, 0));
    add("two rows of 9,208, 8 columns of u8", 1, 2 * (most - 8), most - 8, run(8, 0, median, 0));
    add("two rows of 9,208, 2 columns of u32", 1, 2 * (most - 8), most - 8,
        run(2, 2, median, zigzag));
    add("1 MiB in rows of 8,192, u8 average", 1, 1u << 20, 8192, run(1, 0, average, 0));
    add("1 MiB in rows of 8,190, u8 median", 1, 1u << 20, 8190, run(1, 0, median, 0));
    add("1 MiB in rows of 1,024, u8 median", 1, 1u << 20, 1024, run(1, 0, median, 0));
    add("1 MiB in rows of 1,021, u8 median", 1, 1u << 20, 1021, run(1, 0, median, 0));
    add("1 MiB in rows of 512, u32 median", 1, 1u << 18, 512, run(1, 2, median, zigzag));
    add("1 MiB in rows of 512, 4 columns of u8", 1, 1u << 18, 512, run(4, 0, median, 0));
    add("1 MiB in rows of 90, 128 columns", 1, 8192, 90, run(128, 0, median, 0));
    add("1 MiB of u8 left3", 1, 1u << 20, 0, run(1, 0, FilterPredictor::left3, zigzag));
    add("1 MiB of u32 left3", 1, 1u << 18, 0, run(1, 2, FilterPredictor::left3, zigzag));
    add("1 MiB in rows of 16,384, u16 up", 1, 1u << 19, 16384, run(1, 1, up, zigzag));
    // Filters with as many columns as allowed.
    constexpr uint32_t columns = SLUICE_FILTER_MAX_COLUMNS, own = SLUICE_FILTER_SECTION_COLUMNS;
    add("sections of 32 columns", columns / (32 + own), 32, 0,
        run(32, 2, FilterPredictor::left3, zigzag));
    add("sections of 128 columns", columns / (128 + own), 8, 0,
        run(128, 0, FilterPredictor::left3, zigzag));
    add("sections of 8 x 8, 4 columns", columns / (4 + own), 64, 8, run(4, 0, median, 0));
    add("sections of 4 x 4, u8", columns / (1 + own), 16, 4, run(1, 0, median, 0));
    return tiles;
}

} // namespace sluice
