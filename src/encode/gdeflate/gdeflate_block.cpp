// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes GDeflate blocks. In a round each of the decoder's 32 lanes, one after the other, reads a
// literal, a length, or the distance of the match whose length it read in the round before. A step
// is what a lane reads in one round. The precode is Deflate's code for code lengths.
#include "encode/gdeflate/gdeflate_block.h"

#include <algorithm>
#include <iterator>
#include <cstring>

namespace sluice::gdeflate {

namespace {

constexpr uint32_t kBlockTypeBits = 3; // two bits of type, and one that marks the last block
enum BlockType : uint32_t {
    kStored = 0,
    kStatic = 1,
    kDynamic = 2
};

constexpr CodeLengths makeStaticLengths()
{
    CodeLengths lengths = {};
    for (uint32_t symbol = 0; symbol < kMaxSymbols; ++symbol)
        lengths.litLen[symbol] = uint8_t(staticLength(symbol));
    for (uint8_t& length : lengths.distance)
        length = kStaticDistanceLength;
    return lengths;
}

constexpr CodeLengths kStaticLengths = makeStaticLengths();

uint32_t bodyBits(const Histogram& histogram, const CodeLengths& lengths)
{
    uint32_t bits = 0;
    for (uint32_t symbol = 0; symbol < kLitLenSymbols; ++symbol)
        bits += histogram.litLen[symbol] * lengths.litLen[symbol];
    for (uint32_t slot = 0; slot < kLengthSlots; ++slot)
        bits += histogram.litLen[kFirstLength + slot] * lengthExtraBits(slot);
    for (uint32_t slot = 0; slot < kDistanceSymbols; ++slot)
        bits += histogram.distance[slot] * (lengths.distance[slot] + distanceExtraBits(slot));
    return bits;
}

void writeBlockType(LaneWriter& writer, BlockType type, bool final)
{
    writer.put(0, (final ? 1u : 0u) | type << 1, kBlockTypeBits);
}

// The bits that a lane reads in one round.
struct Step {
    uint32_t bits;
    uint32_t count;
};

void writeBody(LaneWriter& writer, const CodeLengths& lengths, const Token* tokens, uint32_t count)
{
    uint16_t codes[kMaxSymbols];
    Step litLen[kMaxSymbols];
    assignCodes(lengths.litLen, kMaxSymbols, codes);
    for (uint32_t symbol = 0; symbol < kMaxSymbols; ++symbol)
        litLen[symbol] = {codes[symbol], lengths.litLen[symbol]};
    Step distance[kDistanceSymbols];
    assignCodes(lengths.distance, kDistanceSymbols, codes);
    for (uint32_t slot = 0; slot < kDistanceSymbols; ++slot)
        distance[slot] = {codes[slot], lengths.distance[slot]};

    // For each lane, the distance that it must read next. A lane that read a match's length in one
    // round reads the match's distance in the next round. `count` is 0 if the lane has no distance
    // to read.
    Step pending[kLanes] = {};
    uint32_t lane = 0;
    const auto advance = [&lane] { lane = (lane + 1) % kLanes; };
    const auto putPending = [&] {
        writer.put(lane, pending[lane].bits, pending[lane].count);
        pending[lane] = {0, 0};
    };
    const auto skipPending = [&] {
        for (; pending[lane].count != 0; advance())
            putPending();
    };
    for (uint32_t i = 0; i < count; ++i) {
        skipPending();
        const Token token = tokens[i];
        if (token.length == 0) {
            writer.put(lane, litLen[token.value].bits, litLen[token.value].count);
        } else {
            const uint32_t slot = lengthSlot(token.length);
            const Step step = litLen[kFirstLength + slot];
            const uint32_t extra = token.length - lengthBase(slot);
            writer.put(lane, step.bits | extra << step.count, step.count + lengthExtraBits(slot));
            const uint32_t far = distanceSlot(token.value);
            const Step farStep = distance[far];
            pending[lane] = {farStep.bits | (token.value - distanceBase(far)) << farStep.count,
                             farStep.count + distanceExtraBits(far)};
        }
        advance();
    }
    skipPending();
    writer.put(lane, litLen[kEndOfBlock].bits, litLen[kEndOfBlock].count);
    // Some lanes still have a distance to read. They read it in the same round if they come after
    // the lane that read the end of block, otherwise in the next round.
    for (uint32_t i = 1; i < kLanes; ++i) {
        advance();
        putPending();
    }
}

// Sets the code lengths of a Huffman code so that none exceeds `limit` bits. First runs the fast
// algorithm, with the format's own limit. Most codes then have no length above `limit` either. For
// the others, runs the slower algorithm, which is optimal.
void buildWithLimit(const uint32_t* frequencies, uint32_t count, uint32_t limit, uint8_t* lengths)
{
    buildCodeLengths(frequencies, count, kMaxCodeLength, lengths);
    if (*std::max_element(lengths, lengths + count) > limit)
        buildLimitedCodeLengths(frequencies, count, limit, lengths);
}

} // namespace

uint32_t bytesOf(const Token* tokens, uint32_t count)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < count; ++i)
        bytes += tokens[i].bytes();
    return bytes;
}

void Histogram::count(const Token* tokens, uint32_t tokenCount)
{
    std::memset(this, 0, sizeof(*this));
    for (uint32_t i = 0; i < tokenCount; ++i) {
        if (tokens[i].length == 0) {
            ++litLen[tokens[i].value];
        } else {
            ++litLen[kFirstLength + lengthSlot(tokens[i].length)];
            ++distance[distanceSlot(tokens[i].value)];
        }
    }
    ++litLen[kEndOfBlock];
}

void DynamicCodes::build(const Histogram& histogram, const CodeLimits& limits)
{
    buildWithLimit(histogram.litLen, kLitLenSymbols, limits.litLen, m_lengths.litLen);
    std::fill(m_lengths.litLen + kLitLenSymbols, std::end(m_lengths.litLen), uint8_t(0));
    buildWithLimit(histogram.distance, kDistanceSymbols, limits.distance, m_lengths.distance);

    m_litLenCount = kLitLenSymbols;
    while (m_litLenCount > 257 && m_lengths.litLen[m_litLenCount - 1] == 0)
        --m_litLenCount;
    m_distanceCount = kDistanceSymbols;
    while (m_distanceCount > 1 && m_lengths.distance[m_distanceCount - 1] == 0)
        --m_distanceCount;
    uint8_t all[kLitLenSymbols + kDistanceSymbols];
    std::memcpy(all, m_lengths.litLen, m_litLenCount);
    std::memcpy(all + m_litLenCount, m_lengths.distance, m_distanceCount);

    // Runs of equal code lengths can be written in several ways. Which way is cheapest depends on
    // the precode, and the best precode depends on the ways chosen. So begin with typical costs,
    // and repeat with the costs of the precode found, as long as the header gets shorter.
    uint8_t costs[kPrecodeSymbols] = {3, 5, 5, 5, 5, 4, 4, 4, 4, 4, 5, 5, 6, 7, 7, 7, 3, 4, 4};
    m_headerBits = UINT32_MAX;
    for (int pass = 0; pass < 3; ++pass) {
        Item items[kLitLenSymbols + kDistanceSymbols];
        const uint32_t count = makeItems(all, m_litLenCount + m_distanceCount, costs, items);
        const uint32_t lastBits = m_headerBits;
        setHeader(items, count);
        if (m_headerBits >= lastBits) break;
        for (uint32_t symbol = 0; symbol < kPrecodeSymbols; ++symbol) {
            costs[symbol] = m_precodeLengths[symbol] != 0 ? m_precodeLengths[symbol]
                                                          : uint8_t(kMaxPrecodeLength);
        }
    }
}

// Turns the `count` code lengths at `all` into items of the precode. An item is one length, or a
// repeat of the last length or of 0. A run of equal lengths is cut in the cheapest way; costs: the
// bits of each precode symbol. Returns the number of items.
uint32_t DynamicCodes::makeItems(const uint8_t* all, uint32_t count, const uint8_t* costs,
                                 Item* items) const
{
    uint32_t made = 0;
    for (uint32_t start = 0; start < count;) {
        const uint8_t value = all[start];
        uint32_t end = start + 1;
        while (end < count && all[end] == value)
            ++end;
        uint32_t left = end - start;
        start = end;
        if (value == 0) {
            while (left >= 11 && costs[18] + 7u < left * costs[0]) {
                const uint32_t run = std::min(left, 138u);
                items[made++] = {18, uint8_t(run - 11)};
                left -= run;
            }
            while (left >= 3 && costs[17] + 3u < std::min(left, 10u) * costs[0]) {
                const uint32_t run = std::min(left, 10u);
                items[made++] = {17, uint8_t(run - 3)};
                left -= run;
            }
        } else if (left >= 4) {
            items[made++] = {value, 0};
            --left;
            while (left >= 3 && costs[16] + 2u < std::min(left, 6u) * costs[value]) {
                // Cut a rest of 7 into 4 + 3, and of 8 into 4 + 4. A repeat of 6 would leave 1 or 2
                // lengths, too few for another repeat.
                const uint32_t run = left == 7 || left == 8 ? 4 : std::min(left, 6u);
                items[made++] = {16, uint8_t(run - 3)};
                left -= run;
            }
        }
        for (; left > 0; --left)
            items[made++] = {value, 0};
    }
    return made;
}

// Builds the best precode for these items. Keeps items and precode as the block's header if this
// header is shorter than the best one so far.
void DynamicCodes::setHeader(const Item* items, uint32_t count)
{
    uint32_t frequencies[kPrecodeSymbols] = {};
    for (uint32_t i = 0; i < count; ++i)
        ++frequencies[items[i].symbol];
    uint8_t lengths[kPrecodeSymbols];
    buildCodeLengths(frequencies, kPrecodeSymbols, kMaxPrecodeLength, lengths);
    uint32_t listed = kPrecodeSymbols;
    while (listed > 4 && lengths[kPrecodeOrder[listed - 1]] == 0)
        --listed;
    uint32_t bits = 5 + 5 + 4 + 3 * listed;
    for (uint32_t symbol = 0; symbol < kPrecodeSymbols; ++symbol)
        bits += frequencies[symbol] * (lengths[symbol] + runExtraBits(symbol));
    if (bits < m_headerBits) {
        m_headerBits = bits;
        std::copy(items, items + count, m_items);
        m_itemCount = count;
        std::memcpy(m_precodeLengths, lengths, sizeof(lengths));
        m_precodeCount = listed;
    }
}

uint32_t DynamicCodes::blockBits(const Histogram& histogram) const
{
    return kBlockTypeBits + m_headerBits + bodyBits(histogram, m_lengths);
}

void DynamicCodes::writeHeader(LaneWriter& writer) const
{
    writer.put(0, (m_litLenCount - 257) | (m_distanceCount - 1) << 5 | (m_precodeCount - 4) << 10,
               14);
    for (uint32_t i = 0; i < m_precodeCount; ++i)
        writer.put(i, m_precodeLengths[kPrecodeOrder[i]], 3);
    uint16_t codes[kPrecodeSymbols];
    assignCodes(m_precodeLengths, kPrecodeSymbols, codes);
    for (uint32_t i = 0; i < m_itemCount; ++i) {
        const Item item = m_items[i];
        const uint32_t length = m_precodeLengths[item.symbol];
        writer.put(i % kLanes, codes[item.symbol] | uint32_t(item.extra) << length,
                   length + runExtraBits(item.symbol));
    }
}

uint32_t staticBlockBits(const Histogram& histogram)
{
    return kBlockTypeBits + bodyBits(histogram, kStaticLengths);
}

uint32_t storedBlockBits(uint32_t size)
{
    return divideUp(size, kMaxStoredBytes) * kStoredBlockBits + 8 * size;
}

void writeDynamicBlock(LaneWriter& writer, const DynamicCodes& codes, const Token* tokens,
                       uint32_t count, bool final)
{
    writeBlockType(writer, kDynamic, final);
    codes.writeHeader(writer);
    writeBody(writer, codes.lengths(), tokens, count);
}

void writeStaticBlock(LaneWriter& writer, const Token* tokens, uint32_t count, bool final)
{
    writeBlockType(writer, kStatic, final);
    writeBody(writer, kStaticLengths, tokens, count);
}

void writeStoredBlocks(LaneWriter& writer, const uint8_t* bytes, uint32_t size, bool final)
{
    do {
        const uint32_t length = std::min(size, kMaxStoredBytes);
        writeBlockType(writer, kStored, final && length == size);
        // Lane 0 reads the block's length together with its first byte.
        writer.put(0, length | uint32_t(bytes[0]) << 16, 24);
        for (uint32_t i = 1; i < length; ++i)
            writer.put(i % kLanes, bytes[i], 8);
        bytes += length;
        size -= length;
    } while (size != 0);
}

} // namespace sluice::gdeflate
