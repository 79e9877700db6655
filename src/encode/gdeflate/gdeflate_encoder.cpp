// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes tiles as GDeflate streams: it chooses literals and matches (parses), splits them into
// blocks, parses each block again with costs that suit it, and writes the blocks.
#include <sluice/sluice_encode.h>

#include "formats/little_endian.h"
#include "formats/errors.h"
#include "encode/gdeflate/gdeflate_parse.h"
#include "encode/gdeflate/gdeflate_split.h"

namespace sluice::gdeflate {

namespace {

// The settings of a compression level.
struct Level {
    Effort effort;
    uint32_t lookahead; // positions that lazy parsing looks ahead
    uint32_t chunks;    // pieces of a tile at whose borders blocks may begin
    // Passes of optimal parsing over the tile, before it is split into blocks. 0: parse lazily.
    uint32_t tilePasses;
    uint32_t passes; // passes of optimal parsing over each block
};

// Optimal parsing considers fewer candidates and shorter matches than lazy parsing, so tiles that
// consist of long matches become larger. A tile that shrinks to less than 1/kParsedAgain of its
// size is therefore parsed lazily too, and the smaller stream is kept.
constexpr uint32_t kParsedAgain = 6;

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

// From this level on, tiles may be parsed lazily as well, once with a lookahead of 1 and once with
// 2, with the other settings of this level. Texts become smaller with 2, everything else with 1.
constexpr uint32_t kLazyLevel = 7;

// How much a decoder's time counts beside the size, for each decodeSpeed; `symbol` is the time of
// one symbol, in 1/64 bit. The proportions were measured on a GPU: a block's tables took as long as
// about 20 rounds of 32 symbols, and the wait for a match's source took half a round. Codes have at
// most 10 bits (distances 8): a longer code does not fit the decoder's look-up tables and slows
// down the whole round.
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

// There is at most one block for each chunk. A block becomes two stored blocks only if it is too
// long for one, which means that it is a whole tile of 65,536 bytes. So there are at most
// kMaxChunks + 1 blocks.
static_assert(kMaxChunks + 1 <= kMaxBlocks, "more blocks than a decoder accepts");
static_assert(kLevels[kMaxLevel].effort.depth <= kMaxDepth, "more matches than there is room for");

// Returns how many words LaneWriter writes for a tile of `size` bytes in stored blocks.
uint32_t storedWords(uint32_t size)
{
    uint32_t words = kLanes;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        uint32_t bits = 0;
        for (uint32_t left = size; left != 0;) {
            const uint32_t length = std::min(left, kMaxStoredBytes);
            bits +=
                8 * ((length + kLanes - 1 - lane) / kLanes) + (lane == 0 ? kStoredBlockBits : 0);
            left -= length;
        }
        words += divideUp(bits, 32u);
    }
    return words;
}

} // namespace

class TileEncoder {
public:
    TileEncoder(uint32_t level, const DecodeWork& work)
        : m_level(kLevels[level]), m_mayParseAgain(level >= kLazyLevel && work.symbol == 0),
          m_work(work), m_tokens(new Token[kTileBytes]), m_words(new uint32_t[kMaxWords])
    {
        if (m_level.tilePasses != 0) {
            m_optimal.reset(new OptimalParser);
            m_refined.reset(new Token[kTileBytes]);
            m_candidate.reset(new Token[kTileBytes]);
        }
        if (m_level.tilePasses == 0 || m_mayParseAgain) m_chains.reset(new HashChains);
        if (m_mayParseAgain) m_first.reset(new uint32_t[kMaxWords]);
    }

    // Encodes a tile; the stream is at words(). Returns its number of 32-bit words.
    uint32_t encode(const uint8_t* tile, uint32_t size);

    const uint32_t* words() const { return m_words.get(); }

private:
    // Room for the words of any tile: a block's cheapest form is at most as large as stored blocks.
    static constexpr uint32_t kMaxWords =
        kTileBytes / 4 + kStoredBlockBits * (kMaxChunks + 1) / 32 + 1 + 2 * kLanes;

    uint32_t encodeTokens(const uint8_t* tile, uint32_t size, uint32_t chunks, bool isOptimal);
    void parse(const uint8_t* tile, uint32_t size);
    void refine(uint32_t passes);
    void setCosts(Costs& costs, const Histogram& histogram, const CodeLengths* lengths) const;
    uint32_t refineBlock(uint32_t begin, uint32_t end, const Token* tokens, uint32_t count,
                         uint32_t passes, Token* refined);
    uint32_t write(const uint8_t* tile, uint32_t size);

    Level m_level;
    bool m_mayParseAgain;
    DecodeWork m_work;
    BlockSplitter m_splitter;
    std::unique_ptr<HashChains> m_chains;
    std::unique_ptr<OptimalParser> m_optimal;
    std::unique_ptr<Token[]> m_tokens; // what the parser chose for the tile
    uint32_t m_tokenCount = 0;
    uint32_t m_blocks[kMaxChunks]; // number of tokens in each block
    uint32_t m_blockCount = 0;
    std::unique_ptr<Token[]> m_refined;
    std::unique_ptr<Token[]> m_candidate;
    DynamicCodes m_codes;
    std::unique_ptr<uint32_t[]> m_words, m_first;
};

// Chooses tokens for the whole tile, before the tile is split into blocks.
void TileEncoder::parse(const uint8_t* tile, uint32_t size)
{
    if (m_level.tilePasses == 0) {
        m_tokenCount =
            parseLazily(*m_chains, tile, size, m_level.effort, m_level.lookahead, m_tokens.get());
        return;
    }
    m_optimal->findMatches(tile, size, m_level.effort);
    Costs costs;
    costs.setDefault();
    costs.add(m_work);
    m_tokenCount = m_optimal->parse(0, size, costs, m_tokens.get());
    for (uint32_t pass = 1; pass < m_level.tilePasses; ++pass) {
        Histogram histogram;
        histogram.count(m_tokens.get(), m_tokenCount);
        setCosts(costs, histogram, nullptr);
        m_tokenCount = m_optimal->parse(0, size, costs, m_tokens.get());
    }
}

void TileEncoder::setCosts(Costs& costs, const Histogram& histogram,
                           const CodeLengths* lengths) const
{
    costs.setFromHistogram(histogram, lengths);
    costs.add(m_work);
}

// Parses each block again, with costs that follow from the block's own symbols.
void TileEncoder::refine(uint32_t passes)
{
    const Token* tokens = m_tokens.get();
    uint32_t begin = 0, made = 0;
    for (uint32_t block = 0; block < m_blockCount; ++block) {
        const uint32_t end = begin + bytesOf(tokens, m_blocks[block]);
        const uint32_t count =
            refineBlock(begin, end, tokens, m_blocks[block], passes, m_refined.get() + made);
        tokens += m_blocks[block];
        m_blocks[block] = count;
        made += count;
        begin = end;
    }
    m_tokens.swap(m_refined);
    m_tokenCount = made;
}

// Parses the bytes [begin, end) of a block `passes` times, each time with costs that follow from
// the result of the parse before. The cheapest result goes to `refined`; it may be the first one,
// which the caller passes in `tokens`. Returns its number of tokens.
uint32_t TileEncoder::refineBlock(uint32_t begin, uint32_t end, const Token* tokens, uint32_t count,
                                  uint32_t passes, Token* refined)
{
    std::copy(tokens, tokens + count, refined);
    Histogram histogram;
    histogram.count(tokens, count);
    const auto cost = [&] {
        m_codes.build(histogram, m_work.limits);
        return (m_codes.blockBits(histogram) << kCostShift) + m_work.ofSymbols(histogram);
    };
    uint32_t best = cost();
    for (uint32_t pass = 0; pass < passes; ++pass) {
        // Costs in fractions of a bit let the passes converge. The last pass uses the code lengths
        // that will really be written, which saves a few bits more.
        const bool last = pass != 0 && pass + 1 == passes;
        Costs costs;
        setCosts(costs, histogram, last ? &m_codes.lengths() : nullptr);
        const uint32_t candidates = m_optimal->parse(begin, end, costs, m_candidate.get());
        histogram.count(m_candidate.get(), candidates);
        const uint32_t found = cost();
        if (found < best) {
            best = found;
            count = candidates;
            std::copy(m_candidate.get(), m_candidate.get() + count, refined);
        }
    }
    return count;
}

// Writes each block in its cheapest form. Returns the number of words of the stream.
uint32_t TileEncoder::write(const uint8_t* tile, uint32_t size)
{
    LaneWriter writer(m_words.get());
    const Token* tokens = m_tokens.get();
    uint32_t begin = 0;
    for (uint32_t block = 0; block < m_blockCount; ++block) {
        const uint32_t count = m_blocks[block];
        const uint32_t bytes = bytesOf(tokens, count);
        const bool final = block + 1 == m_blockCount;
        Histogram histogram;
        histogram.count(tokens, count);
        m_codes.build(histogram, m_work.limits);
        const uint32_t dynamicBits = m_codes.blockBits(histogram);
        const uint32_t staticBits = staticBlockBits(histogram);
        if (storedBlockBits(bytes) <= std::min(dynamicBits, staticBits)) {
            writeStoredBlocks(writer, tile + begin, bytes, final);
        } else if (dynamicBits < staticBits) {
            writeDynamicBlock(writer, m_codes, tokens, count, final);
        } else {
            writeStaticBlock(writer, tokens, count, final);
        }
        tokens += count;
        begin += bytes;
    }
    const uint32_t words = writer.finish();
    if (words <= storedWords(size)) return words;
    LaneWriter stored(m_words.get());
    writeStoredBlocks(stored, tile, size, true);
    return stored.finish();
}

// Splits the tile's tokens into blocks and writes them. Returns the number of words of the stream.
uint32_t TileEncoder::encodeTokens(const uint8_t* tile, uint32_t size, uint32_t chunks,
                                   bool isOptimal)
{
    m_blockCount = m_splitter.split(m_tokens.get(), m_tokenCount, chunks, m_work.block, m_blocks);
    if (isOptimal) refine(m_level.passes);
    return write(tile, size);
}

uint32_t TileEncoder::encode(const uint8_t* tile, uint32_t size)
{
    const bool isOptimal = m_level.tilePasses != 0;
    parse(tile, size);
    const uint32_t words = encodeTokens(tile, size, m_level.chunks, isOptimal);
    if (!m_mayParseAgain || (isOptimal && 4 * words >= size / kParsedAgain)) return words;
    const Level& lazy = kLevels[kLazyLevel];
    uint32_t best = words;
    for (uint32_t lookahead = 1; lookahead <= lazy.lookahead - (isOptimal ? 0 : 1); ++lookahead) {
        m_words.swap(m_first);
        m_tokenCount = parseLazily(*m_chains, tile, size, lazy.effort, lookahead, m_tokens.get());
        const uint32_t again = encodeTokens(tile, size, lazy.chunks, false);
        if (again < best) {
            best = again;
        } else {
            m_words.swap(m_first);
        }
    }
    return best;
}

} // namespace sluice::gdeflate

// --- The C interface

using namespace sluice;
using namespace sluice::gdeflate;

struct SluiceGdeflateEncoder_T {
    TileEncoder encoder;
};

SluiceStatus sluiceCreateGdeflateEncoder(const SluiceGdeflateEncoderInfo* info,
                                         SluiceGdeflateEncoder* encoder)
{
    if (encoder == nullptr) return SLUICE_ERROR_ARGUMENT;
    *encoder = nullptr;
    if (info == nullptr || info->level < 1 || info->level > kMaxLevel ||
        info->decodeSpeed > SLUICE_GDEFLATE_MAX_DECODE_SPEED)
        return SLUICE_ERROR_ARGUMENT;
    return withoutExceptions([&] {
        *encoder =
            new SluiceGdeflateEncoder_T{TileEncoder(info->level, kDecodeWork[info->decodeSpeed])};
        return SLUICE_OK;
    });
}

void sluiceDestroyGdeflateEncoder(SluiceGdeflateEncoder encoder) { delete encoder; }

size_t sluiceGdeflateTileBound(size_t size)
{
    return size == 0 || size > kTileBytes ? 0 : size_t(4) * storedWords(uint32_t(size));
}

SluiceStatus sluiceEncodeGdeflateTile(SluiceGdeflateEncoder encoder, const void* bytes, size_t size,
                                      void* out, size_t capacity, size_t* outSize)
{
    if (encoder == nullptr || bytes == nullptr || out == nullptr || outSize == nullptr ||
        size == 0 || size > kTileBytes)
        return SLUICE_ERROR_ARGUMENT;
    *outSize = 0;
    const uint32_t words =
        encoder->encoder.encode(static_cast<const uint8_t*>(bytes), uint32_t(size));
    if (capacity < size_t(4) * words) return SLUICE_ERROR_BUFFER_SIZE;
    for (uint32_t i = 0; i < words; ++i)
        storeLe32(static_cast<uint8_t*>(out) + 4 * i, encoder->encoder.words()[i]);
    *outSize = size_t(4) * words;
    return SLUICE_OK;
}
