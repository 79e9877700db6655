// SPDX-License-Identifier: MIT OR Apache-2.0
// GDeflate in rounds like the reference, but without branches that depend on the data: a round
// looks up 32 entries, refills each lane right after its look-up, and sorts the symbols into
// literals, lengths and distances. Matches are copied a round later, when their distances are
// known; until then literals behind them may be overwritten.
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

constexpr u32 kContinue = SLUICE_ST_PENDING; // the tile is neither finished nor bad
constexpr u32 kRoundBytes = 4 * kLanes;      // a refill takes at most a word a lane

// Masks of the low bits, because a shift by a variable costs more than a load.
struct LowBits {
    u32 masks[kTotalMask + 1] = {};

    constexpr LowBits()
    {
        for (u32 i = 0; i <= kTotalMask; ++i)
            masks[i] = (1u << i) - 1;
    }
};
constexpr LowBits kLowBits;

using Round = GdeflateRound;

class TileDecoder {
public:
    TileDecoder(const u8* source, size_t sourceSize, u8* destination, size_t size, bool usesAvx2)
        : m_next(source), m_end(source + sourceSize), m_limit(m_end), m_out(destination),
          m_size(u32(size)), m_usesAvx2(usesAvx2)
    {
        m_lanes = {};
    }

    u32 decode()
    {
        u32 status = refill();
        for (u32 block = 0; status == kContinue; ++block) {
            if (block == kMaxBlocks) return SLUICE_ST_LIMIT;
            const u32 header = take(0, 3);
            status = refill();
            if (status == kContinue) status = decodeBlock(header >> 1);
            if (status == kContinue && (header & 1) != 0)
                return m_position < m_size ? SLUICE_ST_TOO_SHORT : SLUICE_ST_OK;
        }
        return status;
    }

private:
    u32 decodeBlock(u32 type)
    {
        switch (type) {
        case 0: return storedBlock();
        case 1: setStaticCodes(); return huffmanBlock();
        case 2: {
            const u32 status = readCodes();
            return status == kContinue ? huffmanBlock() : status;
        }
        default: return SLUICE_ST_BAD_CODE;
        }
    }

    // Called before a round. If fewer bytes are left than the round may take, they continue in
    // m_tail, which ends in zeros. After the round it is checked what was taken from there.
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

    u32 take(u32 lane, u32 n)
    {
        const u32 value = u32(m_lanes.bits[lane] & ((u64(1) << n) - 1));
        m_lanes.bits[lane] >>= n;
        m_lanes.counts[lane] -= n;
        return value;
    }
    void refillLane(u32 lane)
    {
        if (m_lanes.counts[lane] >= 32) return;
        m_lanes.bits[lane] |= u64(loadLe32(m_next)) << m_lanes.counts[lane];
        m_lanes.counts[lane] += 32;
        m_next += 4;
    }
    u32 refill()
    {
        provideRound();
        for (u32 lane = 0; lane < kLanes; ++lane)
            refillLane(lane);
        return isTruncated() ? SLUICE_ST_TRUNCATED : kContinue;
    }

    u32 storedBlock()
    {
        u32 left = take(0, 16);
        do {
            const u32 count = std::min(kLanes, left);
            u8 bytes[kLanes];
            for (u32 lane = 0; lane < count; ++lane)
                bytes[lane] = u8(take(lane, 8));
            if (const u32 status = refill(); status != kContinue) return status;
            if (count > m_size - m_position) return SLUICE_ST_TOO_LONG;
            std::memcpy(m_out + m_position, bytes, count);
            m_position += count;
            left -= count;
        } while (left != 0);
        return kContinue;
    }

    void setStaticCodes()
    {
        u8 lengths[kMaxSymbols];
        for (u32 i = 0; i < kMaxSymbols; ++i)
            lengths[i] = u8(staticLength(i));
        buildTable(lengths, kMaxSymbols, m_tables.entries, m_tables.longEntries, 0, literalEntry);
        std::fill_n(lengths, kDistanceSymbols, u8(kStaticDistanceLength));
        buildTable(lengths, kDistanceSymbols, m_tables.entries + kIsMatch, m_tables.longEntries,
                   kLongLiterals, distanceEntry);
    }

    // As in the reference, each step refills before its bits are judged.
    u32 readCodes()
    {
        const u32 literalCount = take(0, 5) + 257, distanceCount = take(0, 5) + 1;
        const u32 precodeCount = take(0, 4) + 4;
        if (const u32 status = refill(); status != kContinue) return status;
        u8 precodeLengths[kPrecodeSymbols] = {};
        for (u32 i = 0; i < precodeCount; ++i)
            precodeLengths[kPrecodeOrder[i]] = u8(take(i, 3));
        if (const u32 status = refill(); status != kContinue) return status;
        CanonicalCode<kMaxPrecodeLength, kPrecodeSymbols> precode;
        if (!precode.build(precodeLengths, kPrecodeSymbols) && !precode.completeSingle() &&
            !precode.completeEmpty())
            return SLUICE_ST_BAD_CODE;

        u8 lengths[kMaxSymbols + kDistanceSymbols] = {};
        const u32 total = literalCount + distanceCount;
        for (u32 covered = 0; covered < total;) {
            bool bad = false;
            for (u32 lane = 0; lane < kLanes && covered < total; ++lane) {
                u32 window = 0;
                const u32 symbol = precode
                                       .find([&](u32 n) {
                                           return window |= take(lane, 1)
                                                            << (kMaxPrecodeLength - n);
                                       })
                                       .symbol;
                u32 run = runBase(symbol) + take(lane, runExtraBits(symbol));
                bad = bad || (symbol == 16 && covered == 0) || run > total - covered;
                run = std::min(run, total - covered);
                const u8 length = symbol < 16                    ? u8(symbol)
                                  : symbol == 16 && covered != 0 ? lengths[covered - 1]
                                                                 : u8(0);
                std::memset(lengths + covered, length, run);
                covered += run;
            }
            if (const u32 status = refill(); status != kContinue) return status;
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

    // Returns the entry of a lane's next symbol; a long code has its own.
    u32 lookUp(u32 lane) const
    {
        const u32 entry =
            m_tables.entries[m_lanes.places[lane] | (m_lanes.bits[lane] & (kTableSize - 1))];
        if ((entry & kIsLong) == 0) return entry;
        return m_tables.longEntries[(entry >> kValueShift) * kLongSize +
                                    (m_lanes.bits[lane] >> kTableLog & (kLongSize - 1))];
    }

    // The state of a round. As local variables these stay in registers; members could not, since
    // bytes are stored meanwhile.
    struct Progress {
        const u8* next;
        u32 literals, matches;
    };

    // Consumes an entry of a lane and refills it.
    void apply(u32 lane, u32 entry, Progress& at, Round& round)
    {
        const u64 bits = m_lanes.bits[lane];
        const u32 total = entry & kTotalMask, code = entry >> kCodeShift & kCodeMask;
        const u32 value = (entry >> kValueShift) + ((u32(bits) & kLowBits.masks[total]) >> code);
        const u32 left = u32(m_lanes.counts[lane]) - total, wants = left < 32 ? ~0u : 0;
        m_lanes.bits[lane] = bits >> total | u64(loadLe32(at.next) & wants) << left;
        m_lanes.counts[lane] = left + (wants & 32);
        at.next += wants & 4;
        m_lanes.places[lane] = entry & kIsMatch;
        round.bytes[at.literals] = u8(value);
        at.literals += entry >> kLiteralBit & 1;
        round.literalsBefore[lane] = at.literals;
        round.values[lane] = value;
        // After all lanes the first lane's bit is the lowest.
        at.matches = at.matches >> 1 | (entry >> kTableLog & 1) << (kLanes - 1);
    }

    // Does a round. hasEnded is true, or becomes true, if the block's end was read. Returns
    // BAD_CODE or kContinue; the caller checks that there were enough words.
    u32 decodeRound(Round& round, bool& hasEnded)
    {
        provideRound();
        if (m_usesAvx2 && !hasEnded && gdeflateRoundAvx2(m_lanes, m_tables, m_next, round))
            return kContinue;
        Progress at = {m_next, 0, 0};
        u32 lane = 0;
        for (; lane < kLanes && !hasEnded; ++lane) {
            u32 entry =
                m_tables.entries[m_lanes.places[lane] | (m_lanes.bits[lane] & (kTableSize - 1))];
            if ((entry & kIsSpecial) != 0) {
                entry = lookUp(lane);
                if ((entry & kIsSpecial) != 0) break;
            }
            apply(lane, entry, at, round);
        }
        // Does the round in which the block ends, and the one after it.
        for (; lane < kLanes; ++lane) {
            const u32 entry = m_lanes.places[lane] != 0 || !hasEnded ? lookUp(lane) : 0;
            if ((entry & kIsBad) != 0) return SLUICE_ST_BAD_CODE;
            hasEnded = hasEnded || (entry & kIsEnd) != 0;
            apply(lane, entry, at, round);
        }
        m_next = at.next;
        round.literals = at.literals;
        round.matches = at.matches;
        return kContinue;
    }

    u32 huffmanBlock()
    {
        Round rounds[2];
        bool hasEnded = false;
        for (u32 now = 0;; now ^= 1) {
            Round& round = rounds[now];
            const bool isLast = hasEnded;
            u32 status = decodeRound(round, hasEnded);
            if (status == kContinue && isTruncated()) status = SLUICE_ST_TRUNCATED;
            if (status == kContinue) status = expand(rounds[now ^ 1], round.values);
            if (status == kContinue && round.matches == 0) status = expand(round, nullptr);
            if (status != kContinue || isLast) return status;
        }
    }

    // Checks a round's tokens and makes their bytes; a match has the distance of its lane.
    u32 expand(Round& round, const u32* distances)
    {
        const u8* bytes = round.bytes;
        u32 done = 0; // literals
        u8* out = m_out + m_position;
        for (u32 left = round.matches; left != 0; left &= left - 1) {
            const u32 lane = lowestBit(left), distance = distances[lane];
            const u32 literals = round.literalsBefore[lane] - done, length = round.values[lane];
            const u32 room = m_size - u32(out - m_out);
            if (length + kLanes + kWildBytes > room) {
                if (literals > room) return SLUICE_ST_TOO_LONG;
                std::memcpy(out, bytes + done, literals);
                if (distance > u32(out - m_out) + literals) return SLUICE_ST_BAD_OFFSET;
                if (length > room - literals) return SLUICE_ST_TOO_LONG;
                repeatExactly(out + literals, distance, length);
            } else {
                copy32(out, bytes + done);
                if (distance > u32(out - m_out) + literals) return SLUICE_ST_BAD_OFFSET;
                repeatWild(out + literals, distance, length);
            }
            out += literals + length;
            done += literals;
        }
        const u32 literals = round.literals - done, room = m_size - u32(out - m_out);
        if (literals > room) return SLUICE_ST_TOO_LONG;
        if (room >= 32)
            copy32(out, bytes + done);
        else
            std::memcpy(out, bytes + done, literals);
        m_position = u32(out - m_out) + literals;
        round.literals = round.matches = 0;
        return kContinue;
    }

    const u8* m_next;
    const u8* m_end;   // the end of the words
    const u8* m_limit; // the end of what may be read
    u8* const m_out;
    const u32 m_size;
    u32 m_position = 0;
    const bool m_usesAvx2;
    GdeflateLanes m_lanes;
    GdeflateTables m_tables;
    u8 m_tail[2 * kRoundBytes];
};

} // namespace

u32 decodeGdeflateTile(const u8* source, size_t sourceSize, u8* destination, size_t destinationSize)
{
    TileDecoder decoder(source, sourceSize, destination, destinationSize, hasAvx2());
    return decoder.decode();
}

u32 decodeGdeflateTilePortably(const u8* source, size_t sourceSize, u8* destination,
                               size_t destinationSize)
{
    TileDecoder decoder(source, sourceSize, destination, destinationSize, false);
    return decoder.decode();
}

void gdeflate(const SluiceGdeflateInfo& info) { gdeflateList(info, decodeGdeflateTile); }

} // namespace sluice::cpu::fast
