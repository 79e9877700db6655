// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes GDeflate 1.0, one tile at a time, in the rounds of the format. In a round, every lane
// consumes bits, and then every lane with fewer than 32 bits refills, in the order of the lanes. A
// round adds tokens; tokens that are complete after it are expanded to bytes. The code is plain on
// purpose: GPU kernels are compared with it, statuses included.
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

// A literal byte, or a match.
struct Token {
    uint32_t length = 1;
    uint32_t distance = 0; // 0: a literal
    uint8_t literal = 0;
};

// A lane's bit stream, and the match whose distance it decodes next.
struct Lane {
    uint64_t bits = 0;
    uint32_t bitCount = 0;
    bool pending = false;
    uint32_t match = 0; // index of the pending match in the list of tokens

    uint32_t take(uint32_t n)
    {
        const uint32_t value = uint32_t(bits & ((uint64_t(1) << n) - 1));
        bits >>= n;
        bitCount -= n;
        return value;
    }
    uint32_t take(const Code& code)
    {
        uint32_t window = 0;
        return code.find([&](uint32_t n) { return window |= take(1) << (kMaxCodeLength - n); })
            .symbol;
    }
};

// Builds a code. Incomplete codes are refused with two exceptions: a single symbol with 1 bit, and
// no symbol at all.
bool buildCode(Code& code, const uint8_t* lengths, uint32_t symbolCount)
{
    return code.build(lengths, symbolCount) || code.completeSingle() || code.completeEmpty();
}

class TileDecoder {
public:
    TileDecoder(const uint8_t* source, size_t sourceSize, uint8_t* destination, size_t size)
        : m_source(source), m_sourceSize(sourceSize), m_destination(destination),
          m_size(uint32_t(size))
    {
    }

    uint32_t decode()
    {
        uint32_t status = refill(); // all lanes are empty, so lane i takes word i
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

    // Every lane with fewer than 32 bits takes the next word.
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

    // Reads a stored block. Byte i comes from lane i % 32; lane 0 takes LEN and the first byte in
    // one step.
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

    void setStaticCodes()
    {
        uint8_t lengths[kMaxSymbols];
        for (uint32_t i = 0; i < kMaxSymbols; ++i)
            lengths[i] = uint8_t(staticLength(i));
        m_literalCode.build(lengths, kMaxSymbols);
        std::fill_n(lengths, kDistanceSymbols, uint8_t(kStaticDistanceLength));
        m_distanceCode.build(lengths, kDistanceSymbols);
    }

    // Reads the header of a dynamic block. Each step refills before it checks the bits that it
    // took, so TRUNCATED takes precedence over BAD_CODE.
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

    // Decodes rounds until the end-of-block symbol, and then a last round for the distances that
    // are still pending.
    uint32_t huffmanBlock()
    {
        bool ended = false;
        while (!ended) {
            if (const uint32_t status = huffmanRound(ended); status != kContinue) return status;
        }
        return huffmanRound(ended);
    }

    // Decodes a round. A lane with a pending match decodes its distance. Any other lane decodes one
    // literal/length symbol, unless a lower lane or an earlier round has ended the block. A round
    // that fails completes no token.
    uint32_t huffmanRound(bool& ended)
    {
        const uint32_t complete = m_tokenCount; // at least these are complete after the round
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

    // Checks the first n tokens in order and writes their bytes, up to the first bad token.
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
        // The remaining tokens, some of which wait for their distances, move to the front.
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
    uint32_t m_position = 0; // in the output
    // At most kLanes tokens remain after a round, and the next one adds at most kLanes.
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
