// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes GDeflate tiles fast, in the rounds of the format: each of 32 *lanes* has a bit stream,
// and in a round every lane decodes one symbol. A lane with fewer than 32 bits *refills*: it takes
// the next word of the tile. The reference (../gdeflate.cpp) refills after all lanes have decoded;
// here each lane refills right after its look-up, which takes almost no branches that depend on the
// data.
//
// A match takes two rounds: a lane decodes its length in one round and its distance in the next. So
// the bytes of a round with lengths are written after the next round has been decoded.
#include "cpu/fast/gdeflate.h"

#include "layout/base.h"
#include "formats/little_endian.h"
#include "cpu/canonical_code.h"
#include "cpu/tile_lists.h"
#include "cpu/fast/gdeflate_round.h"
#include "cpu/fast/simd.h"

namespace sluice::cpu::fast {
namespace {

using namespace gdeflate;

// Functions return this while the tile is neither finished nor bad.
constexpr uint32_t kContinue = SLUICE_ST_PENDING;
constexpr uint32_t kRoundBytes = 4 * kLanes; // the most that a round reads: one word per lane

// masks[n] has the low n bits set. A load from this table is faster than a shift by a variable
// number of bits.
struct LowBits {
    uint32_t masks[kTotalMask + 1] = {};

    constexpr LowBits()
    {
        for (uint32_t i = 0; i <= kTotalMask; ++i)
            masks[i] = (1u << i) - 1;
    }
};
constexpr LowBits kLowBits;

using Round = GdeflateRound;

// Decodes one tile. Functions that return a uint32_t return a status, an error or kContinue, unless
// their comment says otherwise.
class TileDecoder {
public:
    TileDecoder(const uint8_t* source, size_t sourceSize, uint8_t* destination, size_t size,
                bool usesAvx2)
        : m_next(source), m_end(source + sourceSize), m_limit(m_end), m_out(destination),
          m_size(uint32_t(size)), m_usesAvx2(usesAvx2)
    {
        m_lanes = {};
    }

    uint32_t decode()
    {
        // All lanes are empty, so lane i takes word i.
        uint32_t status = refill();
        for (uint32_t block = 0; status == kContinue; ++block) {
            if (block == kMaxBlocks) return SLUICE_ST_LIMIT;
            const uint32_t header = take(0, 3);
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

    // Makes sure that a round, which reads up to kRoundBytes at m_next, stays inside the memory.
    // Call this before each round. If fewer bytes are left, it copies them to m_tail, followed by
    // zeros. After the round, isTruncated() returns whether lanes took words behind the end.
    void provideRound()
    {
        if (size_t(m_limit - m_next) >= kRoundBytes) return;
        const size_t left = size_t(m_end - m_next);
        std::memset(m_tail, 0, sizeof m_tail);
        if (left != 0) std::memcpy(m_tail, m_next, left);
        m_next = m_tail;
        m_end = m_tail + alignUp(left, 4);
        m_limit = m_tail + sizeof m_tail;
    }
    bool isTruncated() const { return m_next > m_end; }

    // Takes the next n bits of a lane, at most 31.
    uint32_t take(uint32_t lane, uint32_t n)
    {
        const uint32_t value = uint32_t(m_lanes.bits[lane] & ((uint64_t(1) << n) - 1));
        m_lanes.bits[lane] >>= n;
        m_lanes.counts[lane] -= n;
        return value;
    }
    void refillLane(uint32_t lane)
    {
        if (m_lanes.counts[lane] >= 32) return;
        m_lanes.bits[lane] |= uint64_t(loadLe32(m_next)) << m_lanes.counts[lane];
        m_lanes.counts[lane] += 32;
        m_next += 4;
    }
    // Lets every lane with fewer than 32 bits take a word, in the order of the lanes.
    uint32_t refill()
    {
        provideRound();
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            refillLane(lane);
        return isTruncated() ? SLUICE_ST_TRUNCATED : kContinue;
    }

    // Copies a stored block, which begins with its size in lane 0. Byte i comes from lane i % 32.
    uint32_t storedBlock()
    {
        uint32_t left = take(0, 16);
        do {
            const uint32_t count = std::min(kLanes, left);
            uint8_t bytes[kLanes];
            for (uint32_t lane = 0; lane < count; ++lane)
                bytes[lane] = uint8_t(take(lane, 8));
            if (const uint32_t status = refill(); status != kContinue) return status;
            if (count > m_size - m_position) return SLUICE_ST_TOO_LONG;
            std::memcpy(m_out + m_position, bytes, count);
            m_position += count;
            left -= count;
        } while (left != 0);
        return kContinue;
    }

    // Makes the tables of the static codes, whose lengths the format fixes.
    void setStaticCodes()
    {
        uint8_t lengths[kMaxSymbols];
        for (uint32_t i = 0; i < kMaxSymbols; ++i)
            lengths[i] = uint8_t(staticLength(i));
        buildTable(lengths, kMaxSymbols, m_tables.entries, m_tables.longEntries, 0, literalEntry);
        std::fill_n(lengths, kDistanceSymbols, uint8_t(kStaticDistanceLength));
        buildTable(lengths, kDistanceSymbols, m_tables.entries + kIsMatch, m_tables.longEntries,
                   kLongLiterals, distanceEntry);
    }

    // Reads the codes of a dynamic block and makes their tables. Each step refills before it checks
    // the bits that it took, so TRUNCATED takes precedence over BAD_CODE.
    uint32_t readCodes()
    {
        const uint32_t literalCount = take(0, 5) + 257, distanceCount = take(0, 5) + 1;
        const uint32_t precodeCount = take(0, 4) + 4;
        if (const uint32_t status = refill(); status != kContinue) return status;
        uint8_t precodeLengths[kPrecodeSymbols] = {};
        for (uint32_t i = 0; i < precodeCount; ++i)
            precodeLengths[kPrecodeOrder[i]] = uint8_t(take(i, 3));
        if (const uint32_t status = refill(); status != kContinue) return status;
        CanonicalCode<kMaxPrecodeLength, kPrecodeSymbols> precode;
        if (!precode.build(precodeLengths, kPrecodeSymbols) && !precode.completeSingle() &&
            !precode.completeEmpty())
            return SLUICE_ST_BAD_CODE;

        uint8_t lengths[kMaxSymbols + kDistanceSymbols] = {};
        const uint32_t total = literalCount + distanceCount;
        // `covered` counts the symbols whose code lengths are known. Each of the precode's symbols
        // gives a run of lengths.
        for (uint32_t covered = 0; covered < total;) {
            bool bad = false;
            for (uint32_t lane = 0; lane < kLanes && covered < total; ++lane) {
                uint32_t window = 0;
                const uint32_t symbol = precode
                                            .find([&](uint32_t n) {
                                                return window |= take(lane, 1)
                                                                 << (kMaxPrecodeLength - n);
                                            })
                                            .symbol;
                uint32_t run = runBase(symbol) + take(lane, runExtraBits(symbol));
                bad = bad || (symbol == 16 && covered == 0) || run > total - covered;
                run = std::min(run, total - covered);
                const uint8_t length = symbol < 16                    ? uint8_t(symbol)
                                       : symbol == 16 && covered != 0 ? lengths[covered - 1]
                                                                      : uint8_t(0);
                std::memset(lengths + covered, length, run);
                covered += run;
            }
            if (const uint32_t status = refill(); status != kContinue) return status;
            if (bad) return SLUICE_ST_BAD_CODE;
        }
        return buildTable(lengths, literalCount, m_tables.entries, m_tables.longEntries, 0,
                          literalEntry) &&
                       buildTable(lengths + literalCount, distanceCount,
                                  m_tables.entries + kIsMatch, m_tables.longEntries, kLongLiterals,
                                  distanceEntry)
                   ? kContinue
                   : SLUICE_ST_BAD_CODE;
    }

    // Returns the table entry (gdeflate_table.h) of a lane's next symbol. A code of more than
    // kTableLog bits takes a second look-up.
    uint32_t lookUp(uint32_t lane) const
    {
        const uint32_t entry =
            m_tables.entries[m_lanes.places[lane] | (m_lanes.bits[lane] & (kTableSize - 1))];
        if ((entry & kIsLong) == 0) return entry;
        return m_tables.longEntries[(entry >> kValueShift) * kLongSize +
                                    (m_lanes.bits[lane] >> kTableLog & (kLongSize - 1))];
    }

    // The progress of a round: the next word, the number of literals so far, and the lanes that
    // have read a length, one bit per lane. decodeRound() keeps it in a local variable, which can
    // stay in registers. Class members could not, because the compiler must assume that each store
    // of a byte changes them.
    struct Progress {
        const uint8_t* next;
        uint32_t literals, matches;
    };

    // Does one lane of a round. Consumes the bits of the entry's code and its extra bits, stores
    // the symbol in `round`, and refills the lane. With an entry of 0 it consumes no bits and
    // stores nothing.
    void apply(uint32_t lane, uint32_t entry, Progress& at, Round& round)
    {
        const uint64_t bits = m_lanes.bits[lane];
        const uint32_t total = entry & kTotalMask, code = entry >> kCodeShift & kCodeMask;
        const uint32_t value =
            (entry >> kValueShift) + ((uint32_t(bits) & kLowBits.masks[total]) >> code);
        // `wants` is all ones if the lane must refill, otherwise 0; a mask needs no branch.
        const uint32_t left = uint32_t(m_lanes.counts[lane]) - total, wants = left < 32 ? ~0u : 0;
        m_lanes.bits[lane] = bits >> total | uint64_t(loadLe32(at.next) & wants) << left;
        m_lanes.counts[lane] = left + (wants & 32);
        at.next += wants & 4;
        m_lanes.places[lane] = entry & kIsMatch;
        round.bytes[at.literals] = uint8_t(value);
        at.literals += entry >> kLiteralBit & 1;
        round.literalsBefore[lane] = at.literals;
        round.values[lane] = value;
        // Each lane shifts its bit in at the top, so after 32 lanes the bit of lane 0 is the
        // lowest.
        at.matches = at.matches >> 1 | (entry >> kTableLog & 1) << (kLanes - 1);
    }

    // Decodes a round. Sets hasEnded if a lane reads the end of the block. If hasEnded is already
    // set, lanes decode only the distances of matches whose lengths they read in the round before.
    // Returns BAD_CODE or kContinue. The caller also checks isTruncated().
    uint32_t decodeRound(Round& round, bool& hasEnded)
    {
        provideRound();
        if (m_usesAvx2 && !hasEnded && gdeflateRoundAvx2(m_lanes, m_tables, m_next, round))
            return kContinue;
        Progress at = {m_next, 0, 0};
        uint32_t lane = 0;
        // The fast loop. It stops at the first lane whose symbol is no literal, length or distance.
        for (; lane < kLanes && !hasEnded; ++lane) {
            uint32_t entry =
                m_tables.entries[m_lanes.places[lane] | (m_lanes.bits[lane] & (kTableSize - 1))];
            if ((entry & kIsSpecial) != 0) {
                entry = lookUp(lane);
                if ((entry & kIsSpecial) != 0) break;
            }
            apply(lane, entry, at, round);
        }
        // The loop with checks. It decodes the remaining lanes of a round in which the block ends
        // or a symbol is bad. In the round after the end of the block it decodes all lanes.
        for (; lane < kLanes; ++lane) {
            const uint32_t entry = m_lanes.places[lane] != 0 || !hasEnded ? lookUp(lane) : 0;
            if ((entry & kIsBad) != 0) return SLUICE_ST_BAD_CODE;
            hasEnded = hasEnded || (entry & kIsEnd) != 0;
            apply(lane, entry, at, round);
        }
        m_next = at.next;
        round.literals = at.literals;
        round.matches = at.matches;
        return kContinue;
    }

    // Decodes rounds up to the end of the block. After each round, the bytes of the round before it
    // are written, since the distances of its matches are now known.
    uint32_t huffmanBlock()
    {
        Round rounds[2];
        bool hasEnded = false;
        for (uint32_t now = 0;; now ^= 1) {
            Round& round = rounds[now];
            const bool isLast = hasEnded;
            uint32_t status = decodeRound(round, hasEnded);
            if (status == kContinue && isTruncated()) status = SLUICE_ST_TRUNCATED;
            if (status == kContinue) status = expand(rounds[now ^ 1], round.values);
            // A round without a match need not wait for distances, so its bytes are written now.
            if (status == kContinue && round.matches == 0) status = expand(round, nullptr);
            if (status != kContinue || isLast) return status;
        }
    }

    // Checks the literals and matches of a round, in order, and writes their bytes to the tile.
    // Leaves the round empty. distances: the distance of each match, by lane; may be nullptr if the
    // round has no match.
    uint32_t expand(Round& round, const uint32_t* distances)
    {
        const uint8_t* bytes = round.bytes;
        uint32_t done = 0; // literals that have been written
        uint8_t* out = m_out + m_position;
        for (uint32_t left = round.matches; left != 0; left &= left - 1) {
            const uint32_t lane = lowestBit(left), distance = distances[lane];
            const uint32_t literals = round.literalsBefore[lane] - done,
                           length = round.values[lane];
            // Wild copies write past their end, so near the end of the tile bytes are copied
            // exactly.
            const uint32_t room = m_size - uint32_t(out - m_out);
            if (length + kLanes + kWildBytes > room) {
                if (literals > room) return SLUICE_ST_TOO_LONG;
                std::memcpy(out, bytes + done, literals);
                if (distance > uint32_t(out - m_out) + literals) return SLUICE_ST_BAD_OFFSET;
                if (length > room - literals) return SLUICE_ST_TOO_LONG;
                repeatExactly(out + literals, distance, length);
            } else {
                copy32(out, bytes + done);
                if (distance > uint32_t(out - m_out) + literals) return SLUICE_ST_BAD_OFFSET;
                repeatWild(out + literals, distance, length);
            }
            out += literals + length;
            done += literals;
        }
        const uint32_t literals = round.literals - done, room = m_size - uint32_t(out - m_out);
        if (literals > room) return SLUICE_ST_TOO_LONG;
        if (room >= 32)
            copy32(out, bytes + done);
        else
            std::memcpy(out, bytes + done, literals);
        m_position = uint32_t(out - m_out) + literals;
        round.literals = round.matches = 0;
        return kContinue;
    }

    const uint8_t* m_next;  // the next word of the compressed tile
    const uint8_t* m_end;   // the end of the last word
    const uint8_t* m_limit; // the end of the memory that may be read at m_next
    uint8_t* const m_out;
    const uint32_t m_size;
    uint32_t m_position = 0; // bytes of the tile that have been written
    const bool m_usesAvx2;
    GdeflateLanes m_lanes;
    GdeflateTables m_tables;
    // The last bytes of the compressed tile, and zeros behind them (provideRound).
    uint8_t m_tail[2 * kRoundBytes];
};

} // namespace

uint32_t decodeGdeflateTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                            size_t destinationSize)
{
    TileDecoder decoder(source, sourceSize, destination, destinationSize, hasAvx2());
    return decoder.decode();
}

uint32_t decodeGdeflateTilePortably(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                                    size_t destinationSize)
{
    TileDecoder decoder(source, sourceSize, destination, destinationSize, false);
    return decoder.decode();
}

void gdeflate(const SluiceGdeflateInfo& info) { gdeflateList(info, decodeGdeflateTile); }

} // namespace sluice::cpu::fast
