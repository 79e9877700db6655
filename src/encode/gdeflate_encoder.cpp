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
    uint32_t lookahead;  // lazy parsing
    uint32_t chunks;     // granularity of block splitting
    uint32_t tilePasses; // optimal parsing: passes over the tile before it is split; 0: lazy
                         // parsing
    uint32_t passes;     // optimal parsing: passes over each block
};

constexpr uint32_t kMaxLevel = 12;
constexpr Level kLevels[kMaxLevel + 1] = {
    {},
    {{3, 16}, 0, 8, 0, 0},
    {{6, 24}, 0, 12, 0, 0},
    {{12, 32}, 0, 16, 0, 0},
    {{24, 48}, 0, 16, 0, 0},
    {{20, 48}, 1, 16, 0, 0},
    {{40, 80}, 1, 24, 0, 0},
    {{100, 140}, 2, 24, 0, 0},
    {{12, 24}, 0, 24, 1, 1},
    {{20, 40}, 0, 32, 1, 2},
    {{40, 64}, 0, 48, 2, 2},
    {{70, 100}, 0, 64, 2, 3},
    {{120, 160}, 0, 96, 2, 4},
};

// What a decoder's work counts for, by decodeSpeed, in proportions that were measured on a GPU: the
// tables of a block take as long as about 20 rounds of 32 symbols, to wait for a source as long as
// half a round. The limits are the sizes of the decoder's lookup tables: a longer code sends the
// whole round a slow way.
constexpr DecodeWork decodeWork(uint32_t symbol)
{
    return {symbol, 600 * symbol, 6 * symbol, 6 * symbol, {10, 8}};
}
constexpr DecodeWork kDecodeWork[SLUICE_GDEFLATE_MAX_DECODE_SPEED + 1] = {
    {},
    decodeWork(8),
    decodeWork(16),
    decodeWork(24),
    decodeWork(36),
    decodeWork(52),
    decodeWork(80),
};

// A full tile that is stored as one block takes two.
static_assert(kMaxChunks + 1 <= kMaxBlocks, "more blocks than a decoder accepts");
static_assert(kLevels[kMaxLevel].effort.depth <= kMaxDepth, "more matches than there is room for");

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

uint32_t bytesOf(const Token* tokens, uint32_t count)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < count; ++i) {
        bytes += tokens[i].bytes();
    }
    return bytes;
}

} // namespace

class TileEncoder {
public:
    TileEncoder(const Level& level, const DecodeWork& work)
        : level_(level), work_(work), tokens_(new Token[kTileBytes]),
          words_(new uint32_t[kMaxWords])
    {
        if (level.tilePasses != 0) {
            optimal_.reset(new OptimalParser);
            refined_.reset(new Token[kTileBytes]);
            candidate_.reset(new Token[kTileBytes]);
        } else {
            chains_.reset(new HashChains);
        }
    }

    // Returns the words of the stream.
    uint32_t encode(const uint8_t* tile, uint32_t size);

    const uint32_t* words() const { return words_.get(); }

private:
    // No block is written in a dearer form than stored: 8 bits a byte and 19 a stored block.
    static constexpr uint32_t kMaxWords =
        kTileBytes / 4 + 19 * (kMaxChunks + 1) / 32 + 1 + 2 * kLanes;

    void parse(const uint8_t* tile, uint32_t size);
    void refine(uint32_t passes);
    void setCosts(Costs& costs, const Histogram& histogram, const CodeLengths* lengths) const;
    uint32_t refineBlock(uint32_t begin, uint32_t end, const Token* tokens, uint32_t count,
                         uint32_t passes, Token* refined);
    uint32_t write(const uint8_t* tile, uint32_t size);

    Level level_;
    DecodeWork work_;
    BlockSplitter splitter_;
    std::unique_ptr<HashChains> chains_;
    std::unique_ptr<OptimalParser> optimal_;
    std::unique_ptr<Token[]> tokens_; // the parse of the tile
    uint32_t tokenCount_ = 0;
    uint32_t blocks_[kMaxChunks]; // tokens of each block
    uint32_t blockCount_ = 0;
    std::unique_ptr<Token[]> refined_;
    std::unique_ptr<Token[]> candidate_;
    DynamicCodes codes_;
    std::unique_ptr<uint32_t[]> words_;
};

// The first parse of the whole tile.
void TileEncoder::parse(const uint8_t* tile, uint32_t size)
{
    if (level_.tilePasses == 0) {
        tokenCount_ =
            parseLazily(*chains_, tile, size, level_.effort, level_.lookahead, tokens_.get());
        return;
    }
    optimal_->findMatches(tile, size, level_.effort);
    Costs costs;
    costs.setDefault();
    costs.add(work_);
    tokenCount_ = optimal_->parse(0, size, costs, tokens_.get());
    for (uint32_t pass = 1; pass < level_.tilePasses; ++pass) {
        Histogram histogram;
        histogram.count(tokens_.get(), tokenCount_);
        setCosts(costs, histogram, nullptr);
        tokenCount_ = optimal_->parse(0, size, costs, tokens_.get());
    }
}

void TileEncoder::setCosts(Costs& costs, const Histogram& histogram,
                           const CodeLengths* lengths) const
{
    costs.setFromHistogram(histogram, lengths);
    costs.add(work_);
}

// Parses each block again with costs of its own.
void TileEncoder::refine(uint32_t passes)
{
    const Token* tokens = tokens_.get();
    uint32_t begin = 0, made = 0;
    for (uint32_t block = 0; block < blockCount_; ++block) {
        const uint32_t end = begin + bytesOf(tokens, blocks_[block]);
        const uint32_t count =
            refineBlock(begin, end, tokens, blocks_[block], passes, refined_.get() + made);
        tokens += blocks_[block];
        blocks_[block] = count;
        made += count;
        begin = end;
    }
    tokens_.swap(refined_);
    tokenCount_ = made;
}

// Parses the bytes [begin, end) with the costs that the parse so far leads to, several times, and
// stores the best parse, which may be the given one. Returns its tokens.
uint32_t TileEncoder::refineBlock(uint32_t begin, uint32_t end, const Token* tokens, uint32_t count,
                                  uint32_t passes, Token* refined)
{
    std::copy(tokens, tokens + count, refined);
    Histogram histogram;
    histogram.count(tokens, count);
    const auto cost = [&] {
        codes_.build(histogram, work_.limits);
        return (codes_.blockBits(histogram) << kCostShift) + work_.ofSymbols(histogram);
    };
    uint32_t best = cost();
    for (uint32_t pass = 0; pass < passes; ++pass) {
        // Fractions of bits lead to a good parse, the code's real lengths to the last savings.
        const bool last = pass != 0 && pass + 1 == passes;
        Costs costs;
        setCosts(costs, histogram, last ? &codes_.lengths() : nullptr);
        const uint32_t candidates = optimal_->parse(begin, end, costs, candidate_.get());
        histogram.count(candidate_.get(), candidates);
        const uint32_t found = cost();
        if (found < best) {
            best = found;
            count = candidates;
            std::copy(candidate_.get(), candidate_.get() + count, refined);
        }
    }
    return count;
}

// Writes each block in its cheapest form. Returns the words of the stream.
uint32_t TileEncoder::write(const uint8_t* tile, uint32_t size)
{
    LaneWriter writer(words_.get());
    const Token* tokens = tokens_.get();
    uint32_t begin = 0;
    for (uint32_t block = 0; block < blockCount_; ++block) {
        const uint32_t count = blocks_[block];
        const uint32_t bytes = bytesOf(tokens, count);
        const bool final = block + 1 == blockCount_;
        Histogram histogram;
        histogram.count(tokens, count);
        codes_.build(histogram, work_.limits);
        const uint32_t dynamicBits = codes_.blockBits(histogram);
        const uint32_t staticBits = staticBlockBits(histogram);
        if (storedBlockBits(bytes) <= std::min(dynamicBits, staticBits)) {
            writeStoredBlocks(writer, tile + begin, bytes, final);
        } else if (dynamicBits < staticBits) {
            writeDynamicBlock(writer, codes_, tokens, count, final);
        } else {
            writeStaticBlock(writer, tokens, count, final);
        }
        tokens += count;
        begin += bytes;
    }
    const uint32_t words = writer.finish();
    if (words <= storedWords(size)) {
        return words;
    }
    LaneWriter stored(words_.get());
    writeStoredBlocks(stored, tile, size, true);
    return stored.finish();
}

uint32_t TileEncoder::encode(const uint8_t* tile, uint32_t size)
{
    parse(tile, size);
    blockCount_ = splitter_.split(tokens_.get(), tokenCount_, level_.chunks, work_.block, blocks_);
    if (level_.tilePasses != 0) {
        refine(level_.passes);
    }
    return write(tile, size);
}

} // namespace sluice::gdeflate

// -----------------------------------------------------------------------------------------------
// The C interface

using namespace sluice::gdeflate;

struct SluiceGdeflateEncoder_T {
    TileEncoder encoder;
};

SluiceStatus sluiceCreateGdeflateEncoder(const SluiceGdeflateEncoderInfo* info,
                                         SluiceGdeflateEncoder* encoder)
{
    if (encoder == nullptr) {
        return SLUICE_ERROR_ARGUMENT;
    }
    *encoder = nullptr;
    if (info == nullptr || info->level < 1 || info->level > kMaxLevel ||
        info->decodeSpeed > SLUICE_GDEFLATE_MAX_DECODE_SPEED) {
        return SLUICE_ERROR_ARGUMENT;
    }
    try {
        *encoder = new SluiceGdeflateEncoder_T{
            TileEncoder(kLevels[info->level], kDecodeWork[info->decodeSpeed])};
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    return SLUICE_OK;
}

void sluiceDestroyGdeflateEncoder(SluiceGdeflateEncoder encoder) { delete encoder; }

size_t sluiceGdeflateTileBound(size_t size)
{
    return size == 0 || size > kTileBytes ? 0
                                          : size_t{4} * storedWords(static_cast<uint32_t>(size));
}

SluiceStatus sluiceEncodeGdeflateTile(SluiceGdeflateEncoder encoder, const void* bytes, size_t size,
                                      void* out, size_t capacity, size_t* outSize)
{
    if (encoder == nullptr || bytes == nullptr || out == nullptr || outSize == nullptr ||
        size == 0 || size > kTileBytes) {
        return SLUICE_ERROR_ARGUMENT;
    }
    *outSize = 0;
    const uint32_t words =
        encoder->encoder.encode(static_cast<const uint8_t*>(bytes), static_cast<uint32_t>(size));
    if (capacity < size_t{4} * words) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    uint8_t* to = static_cast<uint8_t*>(out);
    for (uint32_t i = 0; i < words; ++i, to += 4) {
        const uint32_t word = encoder->encoder.words()[i];
        const uint8_t little[4] = {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
                                   static_cast<uint8_t>(word >> 16),
                                   static_cast<uint8_t>(word >> 24)};
        std::memcpy(to, little, sizeof(little));
    }
    *outSize = size_t{4} * words;
    return SLUICE_OK;
}
