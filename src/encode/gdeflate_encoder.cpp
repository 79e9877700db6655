// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles to GDeflate streams: parse, split into blocks, refine each block, write.
#include <sluice/sluice_encode.h>

#include "gdeflate_parse.h"
#include "gdeflate_split.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace sluice::gdeflate {

namespace {

struct Level {
    Effort effort;
    uint32_t lookahead; // lazy parsing
    uint32_t chunks;    // granularity of block splitting
    uint32_t passes;    // optimal parsing: passes over each block; 0: lazy parsing
};

constexpr uint32_t kMaxLevel = 12;
constexpr Level kLevels[kMaxLevel + 1] = {
    {},
    {{3, 16}, 0, 8, 0},
    {{6, 24}, 0, 12, 0},
    {{12, 32}, 0, 16, 0},
    {{24, 48}, 0, 16, 0},
    {{20, 48}, 1, 16, 0},
    {{40, 80}, 1, 24, 0},
    {{100, 140}, 2, 24, 0},
    {{12, 24}, 0, 24, 1},
    {{20, 40}, 0, 32, 2},
    {{40, 64}, 0, 48, 2},
    {{70, 100}, 0, 64, 3},
    {{120, 160}, 0, 64, 3},
};

// Words of a tile of `size` bytes as stored blocks: what LaneWriter takes for them.
uint32_t storedWords(uint32_t size)
{
    uint32_t words = kLanes;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        uint32_t bits = 0;
        for (uint32_t left = size; left != 0;) {
            const uint32_t length = std::min(left, kMaxStoredBytes);
            bits += 8 * ((length + kLanes - 1 - lane) / kLanes) + (lane == 0 ? 19 : 0);
            left -= length;
        }
        words += (bits + 31) / 32;
    }
    return words;
}

} // namespace

class TileEncoder {
public:
    explicit TileEncoder(const Level& level) : level_(level), tokens_(new Token[kTileBytes]), words_(new uint32_t[kMaxWords])
    {
        if (level.passes != 0) {
            optimal_.reset(new OptimalParser);
            other_.reset(new Token[kTileBytes]);
        } else {
            chains_.reset(new HashChains);
        }
    }

    // Returns the words of the stream.
    uint32_t encode(const uint8_t* tile, uint32_t size);

    const uint32_t* words() const { return words_.get(); }

private:
    // Blocks are never written in a dearer form than stored, so this is more than the worst case.
    static constexpr uint32_t kMaxWords = kTileBytes / 4 + 1024;

    uint32_t parse(const uint8_t* tile, uint32_t size);
    uint32_t refine(uint32_t begin, uint32_t end, Token* tokens, uint32_t count);

    Level level_;
    EntropyTable entropy_;
    std::unique_ptr<HashChains> chains_;
    std::unique_ptr<OptimalParser> optimal_;
    std::unique_ptr<Token[]> tokens_;
    std::unique_ptr<Token[]> other_;
    std::unique_ptr<uint32_t[]> words_;
    DynamicCodes codes_;
};

// The first parse of the whole tile.
uint32_t TileEncoder::parse(const uint8_t* tile, uint32_t size)
{
    if (level_.passes == 0) {
        return parseLazily(*chains_, tile, size, level_.effort, level_.lookahead, tokens_.get());
    }
    optimal_->findMatches(tile, size, level_.effort);
    Costs costs;
    costs.setDefault();
    uint32_t count = optimal_->parse(0, size, costs, tokens_.get());
    Histogram histogram;
    histogram.count(tokens_.get(), count);
    costs.setFromHistogram(histogram);
    return optimal_->parse(0, size, costs, tokens_.get());
}

// Parses the bytes [begin, end) again with the costs that the last parse leads to, as often as the level says, and keeps
// the best. tokens: the parse so far, replaced; room for end - begin tokens. Returns the new count.
uint32_t TileEncoder::refine(uint32_t begin, uint32_t end, Token* tokens, uint32_t count)
{
    Histogram histogram;
    histogram.count(tokens, count);
    codes_.build(histogram);
    uint32_t best = codes_.blockBits(histogram);
    for (uint32_t pass = 0; pass < level_.passes; ++pass) {
        Costs costs;
        costs.setFromHistogram(histogram);
        const uint32_t otherCount = optimal_->parse(begin, end, costs, other_.get());
        histogram.count(other_.get(), otherCount);
        codes_.build(histogram);
        const uint32_t bits = codes_.blockBits(histogram);
        if (bits < best) {
            best = bits;
            count = otherCount;
            std::copy(other_.get(), other_.get() + count, tokens);
        }
    }
    return count;
}

uint32_t TileEncoder::encode(const uint8_t* tile, uint32_t size)
{
    const uint32_t count = parse(tile, size);
    uint32_t blockTokens[kMaxChunks];
    const uint32_t blocks = splitIntoBlocks(entropy_, tokens_.get(), count, level_.chunks, blockTokens);

    LaneWriter writer(words_.get(), kMaxWords);
    std::unique_ptr<Token[]> scratch; // a block's tokens may outgrow their place, so refine works in a copy
    if (level_.passes != 0) {
        scratch.reset(new (std::nothrow) Token[kTileBytes]);
    }
    const Token* next = tokens_.get();
    uint32_t begin = 0;
    for (uint32_t block = 0; block < blocks; ++block) {
        uint32_t used = blockTokens[block];
        uint32_t end = begin;
        for (uint32_t i = 0; i < used; ++i) {
            end += next[i].bytes();
        }
        const Token* tokens = next;
        next += used;
        if (level_.passes != 0) {
            std::copy(tokens, tokens + used, scratch.get());
            tokens = scratch.get();
            used = refine(begin, end, scratch.get(), used);
        }
        Histogram histogram;
        histogram.count(tokens, used);
        codes_.build(histogram);
        const uint32_t dynamicBits = codes_.blockBits(histogram);
        const uint32_t staticBits = staticBlockBits(histogram);
        const bool final = end == size;
        if (storedBlockBits(end - begin) <= std::min(dynamicBits, staticBits)) {
            writeStoredBlocks(writer, tile + begin, end - begin, final);
        } else if (dynamicBits < staticBits) {
            writeDynamicBlock(writer, codes_, tokens, used, final);
        } else {
            writeStaticBlock(writer, tokens, used, final);
        }
        begin = end;
    }
    const uint32_t words = static_cast<uint32_t>(writer.finish());
    if (words != 0 && words <= storedWords(size)) {
        return words;
    }
    LaneWriter stored(words_.get(), kMaxWords);
    writeStoredBlocks(stored, tile, size, true);
    return static_cast<uint32_t>(stored.finish());
}

} // namespace sluice::gdeflate

// ---------------------------------------------------------------------------------------------------------------
// The C interface

using namespace sluice::gdeflate;

struct SluiceGdeflateEncoder_T {
    TileEncoder encoder;
};

SluiceStatus sluiceCreateGdeflateEncoder(const SluiceGdeflateEncoderInfo* info, SluiceGdeflateEncoder* encoder)
{
    if (encoder == nullptr) {
        return SLUICE_ERROR_ARGUMENT;
    }
    *encoder = nullptr;
    if (info == nullptr || info->level < 1 || info->level > kMaxLevel || info->flags != 0) {
        return SLUICE_ERROR_ARGUMENT;
    }
    try {
        *encoder = new SluiceGdeflateEncoder_T{TileEncoder(kLevels[info->level])};
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    return SLUICE_OK;
}

void sluiceDestroyGdeflateEncoder(SluiceGdeflateEncoder encoder)
{
    delete encoder;
}

size_t sluiceGdeflateTileBound(size_t size)
{
    return size == 0 || size > kTileBytes ? 0 : size_t{4} * storedWords(static_cast<uint32_t>(size));
}

SluiceStatus sluiceEncodeGdeflateTile(SluiceGdeflateEncoder encoder, const void* bytes, size_t size, void* out, size_t capacity,
                                      size_t* outSize)
{
    if (encoder == nullptr || bytes == nullptr || out == nullptr || outSize == nullptr || size == 0 || size > kTileBytes) {
        return SLUICE_ERROR_ARGUMENT;
    }
    *outSize = 0;
    const uint32_t words = encoder->encoder.encode(static_cast<const uint8_t*>(bytes), static_cast<uint32_t>(size));
    if (capacity < size_t{4} * words) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    uint8_t* to = static_cast<uint8_t*>(out);
    for (uint32_t i = 0; i < words; ++i, to += 4) {
        const uint32_t word = encoder->encoder.words()[i];
        const uint8_t little[4] = {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8), static_cast<uint8_t>(word >> 16),
                                   static_cast<uint8_t>(word >> 24)};
        std::memcpy(to, little, sizeof(little));
    }
    *outSize = size_t{4} * words;
    return SLUICE_OK;
}
