// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of the GDeflate 1.0 decoder (docs/format.md, section 1). A tile has 32 *lanes*,
// each with a bit stream, and is decoded in rounds. In a round every lane consumes bits; then, in
// the order of the lanes, every lane with fewer than 32 bits *refills*: it takes the next word of
// the tile. The rounds of a block yield *tokens*: literals and matches. The length of a match comes
// in one round and its distance in the next, which completes it. Complete tokens are expanded to
// bytes.
//
// The code is plain on purpose: GPU kernels are compared with it, statuses included.
#include <sluice/sluice_gdeflate.h>

#include "cpu/gdeflate.h"

#include "formats/gdeflate_symbols.h"
#include "formats/little_endian.h"
#include "cpu/context.h"
#include "cpu/canonical_code.h"
#include "cpu/tile_lists.h"

#include <iterator>

namespace sluice::cpu {
namespace {

using namespace gdeflate;

using Code = CanonicalCode<kMaxCodeLength, kMaxSymbols>;

// Functions return this status while the tile is neither finished nor bad.
constexpr uint32_t kContinue = SLUICE_ST_PENDING;

// A literal byte, or a match: `length` bytes that are copied from `distance` bytes before.
struct Token {
    uint32_t length = 1;
    uint32_t distance = 0; // 0 means a literal
    uint8_t literal = 0;
};

// A lane's unread bits, the next one lowest, and its pending match: one whose length it has decoded
// and whose distance it must decode next.
struct Lane {
    uint64_t bits = 0;
    uint32_t bitCount = 0;
    bool pending = false;
    uint32_t match = 0; // index of the pending match in the list of tokens

    // Takes the next n bits.
    uint32_t take(uint32_t n)
    {
        const uint32_t value = uint32_t(bits & ((uint64_t(1) << n) - 1));
        bits >>= n;
        bitCount -= n;
        return value;
    }
    // Takes the next symbol of a code.
    uint32_t take(const Code& code)
    {
        uint32_t window = 0;
        return code.find([&](uint32_t n) { return window |= take(1) << (kMaxCodeLength - n); })
            .symbol;
    }
};

// Builds a code. Returns false if the code is incomplete. Two incomplete codes are allowed: a
// single symbol with a code of 1 bit, and no symbol at all.
bool buildCode(Code& code, const uint8_t* lengths, uint32_t symbolCount)
{
    return code.build(lengths, symbolCount) || code.completeSingle() || code.completeEmpty();
}

// Decodes one tile. Functions that return a uint32_t return a status: an error, or kContinue.
class TileDecoder {
public:
    TileDecoder(const uint8_t* source, size_t sourceSize, uint8_t* destination, size_t size)
        : m_source(source), m_sourceSize(sourceSize), m_destination(destination),
          m_size(uint32_t(size))
    {
    }

    uint32_t decode()
    {
        // All lanes are empty, so lane i takes word i.
        uint32_t status = refill();
        for (uint32_t block = 0; status == kContinue; ++block) {
            if (block == kMaxBlocks) return SLUICE_ST_LIMIT;
            const uint32_t header = m_lanes[0].take(3);
            status = refill();
            if (status == kContinue) status = decodeBlock(header >> 1);
            if (status == kContinue && (header & 1) != 0)
                return m_position < m_size ? SLUICE_ST_TOO_SHORT : SLUICE_ST_OK;
        }
        return status;
    }

private:
    // Decodes a block of the given type: 0 stored, 1 static codes, 2 dynamic codes.
    uint32_t decodeBlock(uint32_t type)
    {
        switch (type) {
        case 0: return storedBlock();
        case 1: setStaticCodes(); return huffmanBlock();
        case 2: {
            const uint32_t status = readCodes();
            return status == kContinue ? huffmanBlock() : status;
        }
        default: return SLUICE_ST_BAD_CODE;
        }
    }

    // Gives every lane with fewer than 32 bits the next word, in the order of the lanes. If the
    // last word of the tile has fewer than four bytes, the others count as 0.
    uint32_t refill()
    {
        for (Lane& lane : m_lanes) {
            if (lane.bitCount >= 32) continue;
            if (m_nextByte >= m_sourceSize) return SLUICE_ST_TRUNCATED;
            const size_t bytes = std::min<size_t>(4, m_sourceSize - m_nextByte);
            lane.bits |= loadLe(m_source + m_nextByte, bytes) << lane.bitCount;
            lane.bitCount += 32;
            m_nextByte += 4;
        }
        return kContinue;
    }

    // Decodes a stored block. Byte i comes from lane i % 32. The block's size comes from lane 0,
    // together with the first byte, before the first refill.
    uint32_t storedBlock()
    {
        uint32_t left = m_lanes[0].take(16);
        do {
            const uint32_t bytes = std::min(kLanes, left);
            for (uint32_t i = 0; i < bytes; ++i)
                m_tokens[m_tokenCount++].literal = uint8_t(m_lanes[i].take(8));
            if (const uint32_t status = refill(); status != kContinue) return status;
            if (const uint32_t status = expandTokens(m_tokenCount); status != kContinue)
                return status;
            left -= bytes;
        } while (left != 0);
        return kContinue;
    }

    // Builds the static codes, whose lengths the format fixes.
    void setStaticCodes()
    {
        uint8_t lengths[kMaxSymbols];
        for (uint32_t i = 0; i < kMaxSymbols; ++i)
            lengths[i] = uint8_t(staticLength(i));
        m_literalCode.build(lengths, kMaxSymbols);
        std::fill_n(lengths, kDistanceSymbols, uint8_t(kStaticDistanceLength));
        m_distanceCode.build(lengths, kDistanceSymbols);
    }

    // Reads the codes of a dynamic block. Each step refills before it checks the bits that it took,
    // so TRUNCATED takes precedence over BAD_CODE.
    uint32_t readCodes()
    {
        const uint32_t literalCount = m_lanes[0].take(5) + 257;
        const uint32_t distanceCount = m_lanes[0].take(5) + 1;
        const uint32_t precodeCount = m_lanes[0].take(4) + 4;
        if (const uint32_t status = refill(); status != kContinue) return status;

        uint8_t precodeLengths[kPrecodeSymbols] = {};
        for (uint32_t i = 0; i < precodeCount; ++i)
            precodeLengths[kPrecodeOrder[i]] = uint8_t(m_lanes[i].take(3));
        if (const uint32_t status = refill(); status != kContinue) return status;
        Code precode;
        if (!buildCode(precode, precodeLengths, kPrecodeSymbols)) return SLUICE_ST_BAD_CODE;

        uint8_t lengths[kMaxSymbols + kDistanceSymbols] = {};
        const uint32_t total = literalCount + distanceCount;
        // `covered` counts the symbols whose code lengths are known. Each symbol of the precode
        // gives a run of lengths.
        for (uint32_t covered = 0; covered < total;) {
            bool bad = false;
            for (uint32_t i = 0; i < kLanes && covered < total; ++i) {
                const uint32_t symbol = m_lanes[i].take(precode);
                uint32_t run = runBase(symbol) + m_lanes[i].take(runExtraBits(symbol));
                bad = bad || (symbol == 16 && covered == 0) || run > total - covered;
                run = std::min(run, total - covered);
                const uint8_t length = symbol < 16                    ? uint8_t(symbol)
                                       : symbol == 16 && covered != 0 ? lengths[covered - 1]
                                                                      : uint8_t(0);
                std::fill_n(lengths + covered, run, length);
                covered += run;
            }
            if (const uint32_t status = refill(); status != kContinue) return status;
            if (bad) return SLUICE_ST_BAD_CODE;
        }
        return buildCode(m_literalCode, lengths, literalCount) &&
                       buildCode(m_distanceCode, lengths + literalCount, distanceCount)
                   ? kContinue
                   : SLUICE_ST_BAD_CODE;
    }

    // Decodes rounds up to the one in which the block ends, and then one more for distances that
    // are still pending.
    uint32_t huffmanBlock()
    {
        bool ended = false;
        while (!ended) {
            if (const uint32_t status = huffmanRound(ended); status != kContinue) return status;
        }
        return huffmanRound(ended);
    }

    // Decodes a round. A lane with a pending match decodes its distance. Any other lane decodes a
    // literal or a length, unless a lower lane or an earlier round has read the end of the block.
    // If the round has an error, no token of it is expanded.
    uint32_t huffmanRound(bool& ended)
    {
        // The number of tokens of earlier rounds, all of which this round completes.
        const uint32_t complete = m_tokenCount;
        bool badCode = false, pending = false;
        for (Lane& lane : m_lanes) {
            if (lane.pending) {
                const uint32_t slot = lane.take(m_distanceCode);
                m_tokens[lane.match].distance =
                    distanceBase(slot) + lane.take(distanceExtraBits(slot));
                lane.pending = false;
            } else if (!ended) {
                const uint32_t symbol = lane.take(m_literalCode);
                if (symbol < kEndOfBlock) {
                    m_tokens[m_tokenCount++].literal = uint8_t(symbol);
                } else if (symbol == kEndOfBlock) {
                    ended = true;
                } else if (symbol < kLitLenSymbols) {
                    const uint32_t slot = symbol - kFirstLength;
                    lane.pending = pending = true;
                    lane.match = m_tokenCount;
                    m_tokens[m_tokenCount++].length =
                        lengthBase(slot) + lane.take(lengthExtraBits(slot));
                } else {
                    badCode = true;
                }
            }
        }
        if (badCode) return SLUICE_ST_BAD_CODE;
        if (const uint32_t status = refill(); status != kContinue) return status;
        return expandTokens(pending ? complete : m_tokenCount);
    }

    // Checks the first n tokens in order, writes their bytes, and removes them from the list.
    // Returns an error at the first bad token.
    uint32_t expandTokens(uint32_t n)
    {
        for (uint32_t i = 0; i < n; ++i) {
            const Token& token = m_tokens[i];
            if (token.distance > m_position) return SLUICE_ST_BAD_OFFSET;
            if (token.length > m_size - m_position) return SLUICE_ST_TOO_LONG;
            // Bytes are copied one after the other, since a match may overlap itself.
            for (uint32_t k = 0; k < token.length; ++k, ++m_position)
                m_destination[m_position] = token.distance == 0
                                                ? token.literal
                                                : m_destination[m_position - token.distance];
        }
        // Move the remaining tokens, some of which wait for their distances, to the front.
        std::copy(m_tokens + n, m_tokens + m_tokenCount, m_tokens);
        std::fill(m_tokens + m_tokenCount - n, std::end(m_tokens), Token{});
        for (Lane& lane : m_lanes)
            lane.match -= lane.pending ? n : 0;
        m_tokenCount -= n;
        return kContinue;
    }

    const uint8_t* m_source;
    size_t m_sourceSize;
    size_t m_nextByte = 0;
    uint8_t* m_destination;
    uint32_t m_size;
    uint32_t m_position = 0; // bytes of the tile that have been written
    // At most kLanes tokens remain after a round, and the next round adds at most kLanes.
    Token m_tokens[2 * kLanes];
    uint32_t m_tokenCount = 0;
    Lane m_lanes[kLanes];
    Code m_literalCode, m_distanceCode;
};

} // namespace

uint32_t decodeGdeflateTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                            size_t destinationSize)
{
    return TileDecoder(source, sourceSize, destination, destinationSize).decode();
}

SluiceStatus ReferenceBackend::cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo& info)
{
    gdeflateList(info, decodeGdeflateTile);
    return SLUICE_OK;
}

} // namespace sluice::cpu
