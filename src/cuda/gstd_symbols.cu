// SPDX-License-Identifier: MIT OR Apache-2.0
// The symbol stage of Gstd (docs/format.md, section 7): decodes the literals and sequences of
// tiles. A block is one warp and decodes one part. A tile has SLUICE_GS_LANE_GROUPS blocks, because
// it may have that many parts. The literals are written to the end of the part's output, the
// sequences to the tile's slot of scratch (layout/gstd.h).
//
// shaders/gstd_symbols.comp and shaders/lib/gstd_*.glsl use the same method. A lane group is always
// a warp of its own here, so this code can branch where the shaders switch lanes off.
#include "formulas/gstd.h"
#include "cuda/kernels.h"
#include "cuda/lib/gstd_tile.cuh"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/rans.cuh"
#include "cuda/lib/region.cuh"
#include "cuda/tuning.h"

namespace sluice {
namespace {

constexpr uint32_t kBlocksPerTile = SLUICE_GS_LANE_GROUPS, kThreads = kWarpSize;
constexpr uint32_t kNone = 0xffffffffu;
constexpr uint32_t kCodeBits = SLUICE_GS_MAX_CODE_LENGTH;

// The four tables of sequences, in the order of their descriptions. A table has at most 64 symbols,
// so table t takes two rows of 32 numbers: rows 2t and 2t + 1 of Rows.
enum : uint32_t {
    kLiteralLengths,
    kMatchLengths,
    kOffsets,
    kRemainders
};

__device__ uint32_t shuffle(uint32_t value, uint32_t lane)
{
    return __shfl_sync(kAllLanes, value, static_cast<int>(lane));
}

// The tile that a warp works on. Lane i holds four numbers of part i: the first byte of its output
// (partBegin), the bytes of its output (partSize), the first 16-bit word of its source (partFirst)
// and the words of its source (partWords). Bit i of literalOwners is set if part i has its own
// table of literals, bit i of sequenceOwners if it has its own tables of sequences.
struct Tile : GstdTile {
    uint32_t* slot;
    uint32_t sourceBytes, size, parts;
    uint32_t partBegin, partSize, partFirst, partWords;
    uint32_t literalOwners, sequenceOwners;

    // Reads the tile's header and the list of its parts. Returns a status.
    __device__ uint32_t loadParts()
    {
        parts = 0;
        if (sourceBytes < 8) return SLUICE_ST_TRUNCATED;
        const uint32_t header = uniform(source[0]), lane = laneIndex();
        parts = (header & 15) + 1;
        if (header >> 7 != 0) return SLUICE_ST_BAD_CODE;
        if (sourceBytes < 4 + 4 * parts) return SLUICE_ST_TRUNCATED;
        const bool mine = lane < parts;
        const uint32_t entry = mine ? source[1 + lane] : 0;
        partSize = mine ? (entry & 0xffff) + 1 : 0;
        partWords = mine ? (entry >> 16) + 1 : 0;
        const uint32_t sizes = warpInclusiveSum(partSize), words = warpInclusiveSum(partWords),
                       start = 2 + 2 * parts;
        partBegin = sizes - partSize;
        partFirst = start + words - partWords;
        const uint32_t total = __shfl_sync(kAllLanes, sizes, 31),
                       wordTotal = __shfl_sync(kAllLanes, words, 31);
        if (__any_sync(kAllLanes, mine && lane + 1 < parts && partSize % SLUICE_GS_GROUP != 0))
            return SLUICE_ST_BAD_CODE;
        if (total != size) return total > size ? SLUICE_ST_TOO_LONG : SLUICE_ST_TOO_SHORT;
        if (2 * (start + wordTotal) > sourceBytes) return SLUICE_ST_TRUNCATED;
        const bool good = mine && partWords >= SLUICE_GS_PART_HEADER;
        const uint32_t w0 = good ? word(partFirst) : 0;
        const bool coded = good && (w0 & 3) == SLUICE_GS_CODED;
        literalOwners = __ballot_sync(kAllLanes, coded && (w0 >> 4 & 1) == 0 &&
                                                     (w0 >> 2 & 3) <= SLUICE_GS_LITERALS_HUFFMAN);
        sequenceOwners =
            __ballot_sync(kAllLanes, coded && (w0 >> 5 & 1) == 0 && word(partFirst + 2) != 0);
        return SLUICE_ST_OK;
    }
};

// Returns the part whose table `part` uses if it has none of its own: the last one before it that
// is in the mask `owners`, or kNone.
__device__ uint32_t ownerBefore(uint32_t owners, uint32_t part)
{
    owners &= (1u << part) - 1;
    return owners == 0 ? kNone : highestBit(owners);
}

// The numbers that were read for the symbols of a table: how many slots each has (docs/format.md,
// 7.2), or its code length. In lane i, v[r] belongs to symbol 32 r + i.
struct Rows {
    uint32_t v[8];
};

// The four words at the beginning of a coded part.
struct Header {
    uint32_t w0, w3, literalCount, sequenceCount;

    __device__ Header(const Tile& tile, uint32_t first)
        : w0(uniform(tile.word(first))), w3(uniform(tile.word(first + 3))),
          literalCount(uniform(tile.word(first + 1)) | (w0 >> 12 & 1) << 16),
          sequenceCount(uniform(tile.word(first + 2)))
    {
    }
    __device__ uint32_t literalMode() const { return w0 >> 2 & 3; }
    __device__ bool oldLiterals() const { return (w0 >> 4 & 1) != 0; }
    __device__ bool oldSequences() const { return (w0 >> 5 & 1) != 0; }
    __device__ uint32_t literalLog() const { return SLUICE_GS_MIN_LOG + (w0 >> 6 & 7); }
    __device__ uint32_t sequenceLog() const { return SLUICE_GS_MIN_LOG + (w0 >> 9 & 7); }
    __device__ uint32_t modulus() const { return (w3 & 63) + 1; }
    // Checks the header and returns its status. `size` is the number of bytes of the part's output.
    __device__ uint32_t check(uint32_t size) const
    {
        if (w0 >> 13 != 0 || (w3 >> 6 & 3) != 0 || literalLog() > SLUICE_GS_MAX_LITERAL_LOG ||
            sequenceLog() > SLUICE_GS_MAX_SEQUENCE_LOG)
            return SLUICE_ST_BAD_CODE;
        if (sequenceCount * SLUICE_GS_BYTES_PER_SEQUENCE > size) return SLUICE_ST_LIMIT;
        return literalCount > size ? SLUICE_ST_TOO_LONG : SLUICE_ST_OK;
    }
};

// An offset may repeat one of the last three offsets, which form a list, the latest first. 32 lanes
// decode 32 sequences at once, so a lane does not know yet what the lanes below it have put into
// the list. Instead it finds the *origin* of its offset: the number of a lane below, whose offset
// it takes, or 32, 33 or 34 for the first, second or third offset that the list had before these 32
// sequences. latest, second and third return the origins of the list's three offsets after the
// lanes in the mask `changes` have changed the list. `swaps` has the lanes of `changes` that only
// exchanged the list's first two offsets.
__device__ inline uint32_t latest(uint32_t changes)
{
    return changes != 0 ? highestBit(changes) : 32;
}
__device__ inline uint32_t second(uint32_t changes)
{
    const uint32_t others = changes & ~(1u << (latest(changes) & 31));
    return others != 0 ? highestBit(others) : changes != 0 ? 32 : 33;
}
__device__ inline uint32_t third(uint32_t changes, uint32_t swaps)
{
    const uint32_t others = changes & ~swaps;
    return others != 0 ? second(changes & ((1u << highestBit(others)) - 1)) : 34;
}

class PartDecoder {
public:
    __device__ PartDecoder(const Tile& tile, RansShared& shared)
        : m_tile(tile), m_shared(shared), m_reader(shared)
    {
    }

    // Decodes part `part` of the tile and returns its status.
    __device__ uint32_t decode(uint32_t part)
    {
        const uint32_t first = ofPart(m_tile.partFirst, part),
                       words = ofPart(m_tile.partWords, part);
        const uint32_t begin = ofPart(m_tile.partBegin, part), size = ofPart(m_tile.partSize, part);
        const uint32_t w0 = uniform(m_tile.word(first)), kind = w0 & 3;
        if (kind == SLUICE_GS_PLAIN)
            return w0 == SLUICE_GS_PLAIN && words == 1 + (size + 1) / 2 ? SLUICE_ST_OK
                                                                        : SLUICE_ST_BAD_CODE;
        if (kind == SLUICE_GS_RUN)
            return (w0 & 0xfc) == 0 && words == 1 ? SLUICE_ST_OK : SLUICE_ST_BAD_CODE;
        if (kind != SLUICE_GS_CODED || words < SLUICE_GS_PART_HEADER) return SLUICE_ST_BAD_CODE;
        const Header header(m_tile, first);
        if (const uint32_t status = header.check(size); status != SLUICE_ST_OK) return status;

        // Reads the tables in three passes: the literals' table of an earlier part, the sequences'
        // tables of an earlier part, and finally this part's own. Its own tables come last, because
        // behind them the list of words goes on with the part's symbols. Passes 0 and 1 are left
        // out if this part owns those tables.
        const uint32_t literalOwner =
            header.oldLiterals() ? ownerBefore(m_tile.literalOwners, part) : part;
        const uint32_t sequenceOwner =
            header.oldSequences() ? ownerBefore(m_tile.sequenceOwners, part) : part;
        if (literalOwner == kNone || sequenceOwner == kNone) return SLUICE_ST_BAD_CODE;
        m_mode = header.literalMode();
        m_modulus = 1;
        bool good = true;
#pragma unroll 1
        for (uint32_t turn = 0; turn < 3; ++turn) {
            const uint32_t owner = turn == 0 ? literalOwner : turn == 1 ? sequenceOwner : part;
            if (turn < 2 && owner == part) continue;
            good = readTables(owner, turn == 0 || (turn == 2 && literalOwner == part),
                              turn == 1 || (turn == 2 && sequenceOwner == part)) &&
                   good;
        }
        if (!good || !buildLiterals()) return SLUICE_ST_BAD_CODE;
        decodeLiterals(header, begin + size);
        if (header.sequenceCount != 0 && !buildSequences()) return SLUICE_ST_BAD_CODE;
        decodeSequences(header.sequenceCount, begin / SLUICE_GS_BYTES_PER_SEQUENCE + part);
        const uint32_t total = header.literalCount + m_matchSum;
        if (total != size) return total > size ? SLUICE_ST_TOO_LONG : SLUICE_ST_TOO_SHORT;
        return m_literalSum <= header.literalCount && m_reader.finished() ? SLUICE_ST_OK
                                                                          : SLUICE_ST_BAD_CODE;
    }

private:
    // Returns the `value` of lane `part`. Lane i holds the value of part i.
    static __device__ uint32_t ofPart(uint32_t value, uint32_t part)
    {
        return uniform(shuffle(value, part));
    }
    // Returns how many symbols a table of sequences has. The table of remainders, which are those
    // of offsets divided by `modulus`, is empty unless the modulus is above 1.
    static __device__ uint32_t alphabet(uint32_t table, uint32_t modulus)
    {
        return table == kLiteralLengths ? SLUICE_GS_LITERAL_LENGTHS
               : table == kMatchLengths ? SLUICE_GS_MATCH_LENGTHS
               : table == kOffsets      ? SLUICE_GS_OFFSETS
               : modulus > 1            ? modulus
                                        : 0;
    }
    // Returns whether this lane has a symbol in row `row`. An alphabet of sequences may end inside
    // a row; literals have all 256 symbols.
    static __device__ bool hasSymbol(bool ofSequences, uint32_t row, uint32_t modulus)
    {
        return !ofSequences || row % 2 * 32 + laneIndex() < alphabet(row / 2, modulus);
    }

    // Reads the description of the literals' table or of the sequences' tables: first a class for
    // each symbol, then the extra bits that choose the symbol's number of slots from its class. If
    // `lengths` is set, the classes themselves are code lengths. Sets `good` to false if the table
    // with which classes are decoded is not valid.
    __device__ Rows readRows(bool ofSequences, bool lengths, uint32_t modulus, bool& good)
    {
        good = ransClasses(m_reader, m_shared) && good;
        Rows rows;
#pragma unroll
        for (uint32_t r = 0; r < 8; ++r) {
            const bool here = hasSymbol(ofSequences, r, modulus);
            const uint32_t value =
                m_reader.symbol(here, m_shared.slots, m_shared.symbols, SLUICE_GS_CLASS_LOG);
            rows.v[r] = here ? value : 0;
            if (r % 4 == 3) m_reader.advance();
        }
        if (lengths) return rows;
#pragma unroll
        for (uint32_t r = 0; r < 8; ++r) {
            rows.v[r] = m_reader.slotsOf(hasSymbol(ofSequences, r, modulus), rows.v[r]);
            if (r % 4 == 3) m_reader.advance();
        }
        return rows;
    }

    // Begins to read part `part` and reads all of its tables, since they stand one behind the
    // other, but keeps only those that are wanted. Returns false if a table is not valid.
    __device__ bool readTables(uint32_t part, bool wantLiterals, bool wantSequences)
    {
        const uint32_t first = ofPart(m_tile.partFirst, part),
                       words = ofPart(m_tile.partWords, part);
        const Header header(m_tile, first);
        m_reader.begin(m_tile.source, first + SLUICE_GS_PART_HEADER, first + words);
        bool good = true;
        if (m_tile.literalOwners >> part & 1) {
            const Rows rows =
                readRows(false, header.literalMode() == SLUICE_GS_LITERALS_HUFFMAN, 1, good);
            if (wantLiterals) {
                m_literals = rows;
                m_mode = header.literalMode();
                m_literalLog = min(header.literalLog(), SLUICE_GS_MAX_LITERAL_LOG);
            }
        }
        if (m_tile.sequenceOwners >> part & 1) {
            const Rows rows = readRows(true, false, header.modulus(), good);
            if (wantSequences) {
                m_sequences = rows;
                m_modulus = header.modulus();
                m_sequenceLog = min(header.sequenceLog(), SLUICE_GS_MAX_SEQUENCE_LOG);
            }
        }
        return good;
    }

    // Builds the table of a prefix code for the literals, with an entry for each value of the next
    // 11 bits. The entry holds the length of the code with which these bits begin and, from bit 8
    // on, its symbol. Returns false if the code is not complete.
    __device__ bool buildCode()
    {
        uint32_t counts[kCodeBits + 1] = {}, firsts[kCodeBits + 1], ends[kCodeBits + 1];
        bool tooLong = false;
        // The barrier waits until all lanes are done with the table that was in this memory before.
        __syncwarp();
#pragma unroll
        for (uint32_t r = 0; r < 8; ++r) {
            tooLong = tooLong || m_literals.v[r] > kCodeBits;
#pragma unroll
            for (uint32_t i = 1; i <= kCodeBits; ++i)
                counts[i] +=
                    static_cast<uint32_t>(__popc(__ballot_sync(kAllLanes, m_literals.v[r] == i)));
        }
        uint32_t code = 0, rank = 0;
#pragma unroll
        for (uint32_t i = 1; i <= kCodeBits; ++i) {
            firsts[i] = rank;
            code = (code << 1) + counts[i];
            rank += counts[i];
            ends[i] = code << (kCodeBits - i);
            counts[i] = firsts[i];
        }
        if (__any_sync(kAllLanes, tooLong) || code != 1u << kCodeBits) return false;
#pragma unroll
        for (uint32_t r = 0; r < 8; ++r) {
#pragma unroll
            for (uint32_t i = 1; i <= kCodeBits; ++i) {
                const uint32_t same = __ballot_sync(kAllLanes, m_literals.v[r] == i);
                if (m_literals.v[r] == i) {
                    const uint32_t place =
                        counts[i] + static_cast<uint32_t>(__popc(same & lanesBelow()));
                    m_shared.symbols[place & 255] = 32 * r + laneIndex();
                }
                counts[i] += static_cast<uint32_t>(__popc(same));
            }
        }
        __syncwarp();
        for (uint32_t entry = laneIndex(); entry < 1u << kCodeBits; entry += kWarpSize) {
            const uint32_t bits = __brev(entry) >> (32 - kCodeBits);
            uint32_t length = 1, before = 0, begin = 0;
#pragma unroll
            for (uint32_t n = 1; n < kCodeBits; ++n) {
                const bool longer = bits >= ends[n];
                length = longer ? n + 1 : length;
                before = longer ? firsts[n + 1] : before;
                begin = longer ? ends[n] : begin;
            }
            const uint32_t place = before + ((bits - begin) >> (kCodeBits - length));
            m_shared.codes[entry] =
                static_cast<uint16_t>(m_shared.symbols[place & 255] << 8 | length);
        }
        __syncwarp();
        return true;
    }

    // buildLiterals and buildSequences build the tables that m_literals and m_sequences describe.
    // They return false if a table is not valid.
    __device__ bool buildLiterals()
    {
        if (m_mode == SLUICE_GS_LITERALS_HUFFMAN) return buildCode();
        if (m_mode != SLUICE_GS_LITERALS_RANS) return true;
        RansTable table(m_shared.slots, m_shared.symbols, m_literalLog);
#pragma unroll
        for (uint32_t r = 0; r < 8; ++r)
            table.row(true, 32 * r + laneIndex(), m_literals.v[r]);
        return table.finish();
    }

    // slotsAt returns the symbol of each slot of a table of sequences, symbolsAt the slots of each
    // of its symbols (RansTable in rans.cuh).
    __device__ uint8_t* slotsAt(uint32_t table) const { return m_shared.slots + 1024 * table; }
    __device__ uint32_t* symbolsAt(uint32_t table) const { return m_shared.symbols + 64 * table; }

    __device__ bool buildSequences()
    {
        bool good = true;
#pragma unroll
        for (uint32_t t = 0; t < 4; ++t) {
            if (alphabet(t, m_modulus) == 0) continue;
            RansTable table(slotsAt(t), symbolsAt(t), m_sequenceLog);
#pragma unroll
            for (uint32_t r = 0; r < 2; ++r)
                table.row(hasSymbol(true, 2 * t + r, m_modulus), 32 * r + laneIndex(),
                          m_sequences.v[2 * t + r]);
            good = table.finish() && good;
        }
        return good;
    }

    // Returns which byte of literal()'s result is the literal: byte 1 if the result is an entry of
    // takeCode(), otherwise byte 0.
    static __device__ constexpr uint32_t placeOf(uint32_t literalMode)
    {
        return literalMode == SLUICE_GS_LITERALS_HUFFMAN ? 1 : 0;
    }
    // Decodes a literal in each lane that is `on`; byte placeOf(Mode) of the result is its value.
    // `Enough` means that all lanes are on and that enough words are left for all of them. `one` is
    // the value of all literals if Mode is LITERALS_ONE.
    template <uint32_t Mode, bool Enough>
    __device__ uint32_t literal(bool on, uint32_t one)
    {
        if (Mode == SLUICE_GS_LITERALS_ONE) return one;
        m_reader.refill<Enough>(on);
        if (Mode == SLUICE_GS_LITERALS_RANS)
            return m_reader.take(on, m_shared.slots, m_shared.symbols, m_literalLog);
        if (Mode == SLUICE_GS_LITERALS_HUFFMAN) return m_reader.takeCode(on, kCodeBits);
        const uint32_t value = m_reader.state & 255;
        if (on) m_reader.state >>= 8;
        return value;
    }
    // Returns `word` with byte k replaced by the literal that `value` holds in byte placeOf(Mode).
    template <uint32_t Mode>
    static __device__ uint32_t put(uint32_t word, uint32_t k, uint32_t value)
    {
        return __byte_perm(word, value, (0x3210 & ~(15u << 4 * k)) | (4 + placeOf(Mode)) << 4 * k);
    }
    // Decodes `count` literals into the bytes [end - count, end) of the tile; `end` is the end of
    // the part. gstd_expand.cu reads the literals there before it overwrites them. A lane decodes
    // four neighbouring literals to a word. The literals need not begin at a multiple of 4. They
    // are moved up by `skew` bytes, from each lane's word into the next lane's, so that aligned
    // words can be stored.
    template <uint32_t Mode>
    __device__ void decodeLiterals(uint32_t count, uint32_t end, uint32_t one)
    {
        const uint32_t start = end - count, skew = start % 4, own = 4 * laneIndex();
        uint32_t* const to =
            reinterpret_cast<uint32_t*>(m_tile.destination) + start / 4 + laneIndex();
        uint32_t carried = 0, first = 0;
        // Returns this lane's word after the move by `skew`. `carried` is lane 31's word of the 128
        // literals before.
        const auto shifted = [&](uint32_t word) {
            const uint32_t below = __shfl_up_sync(kAllLanes, word, 1);
            const uint32_t result =
                __funnelshift_l(laneIndex() == 0 ? carried : below, word, 8 * skew);
            carried = __shfl_sync(kAllLanes, word, 31);
            return result;
        };
        for (; first + 4 * kWarpSize <= count && m_reader.holds(4 * kWarpSize);
             first += 4 * kWarpSize) {
            uint32_t word = 0;
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k)
                word = put<Mode>(word, k, literal<Mode, true>(true, one));
            m_reader.advance();
            to[first / 4] = shifted(word);
        }
        for (; first < count + skew; first += 4 * kWarpSize) {
            uint32_t word = 0;
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k)
                word = put<Mode>(word, k, literal<Mode, false>(first + own + k < count, one));
            m_reader.advance();
            word = shifted(word);
            if (first + own < count + skew) m_tile.store(start - skew + first + own, word, end);
        }
    }
    __device__ void decodeLiterals(const Header& header, uint32_t end)
    {
        switch (m_mode) {
        case SLUICE_GS_LITERALS_RANS:
            return decodeLiterals<SLUICE_GS_LITERALS_RANS>(header.literalCount, end, 0);
        case SLUICE_GS_LITERALS_HUFFMAN:
            return decodeLiterals<SLUICE_GS_LITERALS_HUFFMAN>(header.literalCount, end, 0);
        case SLUICE_GS_LITERALS_PLAIN:
            return decodeLiterals<SLUICE_GS_LITERALS_PLAIN>(header.literalCount, end, 0);
        default:
            return decodeLiterals<SLUICE_GS_LITERALS_ONE>(header.literalCount, end, header.w3 >> 8);
        }
    }

    // Decodes `count` sequences and writes their records, of two words, to the tile's slot of
    // scratch, from record `firstRecord` on.
    __device__ void decodeSequences(uint32_t count, uint32_t firstRecord)
    {
        uint2* const records =
            reinterpret_cast<uint2*>(m_tile.slot + SLUICE_GS_SEQUENCES_AT) + firstRecord;
        uint32_t repeats[3] = {SLUICE_GS_FIRST_REPEATS & 255, SLUICE_GS_FIRST_REPEATS >> 8 & 255,
                               SLUICE_GS_FIRST_REPEATS >> 16 & 255};
        const auto read = [&](bool on, uint32_t table) {
            return m_reader.symbol(on, slotsAt(table), symbolsAt(table), m_sequenceLog);
        };
        m_literalSum = m_matchSum = 0;
        for (uint32_t first = 0; first < count; first += kWarpSize) {
            const bool here = first + laneIndex() < count;
            const uint32_t symbol = read(here, kOffsets), place = symbol - SLUICE_GS_REPEATS;
            const bool fresh = here && symbol >= SLUICE_GS_REPEATS;
            const uint32_t offsetBits = min(gstdOffsetBits(place), 16u);
            uint32_t offset = m_reader.bits(fresh, offsetBits);
            offset += gstdOffsetBase(place, offsetBits);
            offset = (offset - 1) * m_modulus;
            if (m_modulus > 1) offset += read(fresh, kRemainders);
            m_reader.advance();
            const uint32_t literalSymbol = read(here, kLiteralLengths),
                           matchSymbol = read(here, kMatchLengths);
            const uint32_t literalBits = gstdExtraBits(literalSymbol, SLUICE_GS_LITERAL_DIRECT_LOG);
            const uint32_t matchBits = gstdExtraBits(matchSymbol, SLUICE_GS_MATCH_DIRECT_LOG);
            uint32_t literalLength =
                gstdBase(literalSymbol, SLUICE_GS_LITERAL_DIRECT_LOG, literalBits);
            uint32_t length = gstdBase(matchSymbol, SLUICE_GS_MATCH_DIRECT_LOG, matchBits);
            if (__any_sync(kAllLanes, here && literalBits != 0))
                literalLength += m_reader.bits(here, literalBits);
            if (__any_sync(kAllLanes, here && matchBits != 0))
                length += m_reader.bits(here, matchBits);
            literalLength = here ? literalLength : 0;
            length = here ? length + SLUICE_GS_MIN_MATCH : 0;

            m_reader.advance();

            // Finds the origin (see latest()) of each offset. A sequence changes the list unless it
            // repeats the latest offset. The list's first offset comes from the last change, its
            // second from the change before. An exchange of the first two offsets does not affect
            // the third. So the third offset is the one that was second before the last change that
            // was not an exchange.
            const uint32_t used = (symbol + (literalLength == 0 ? 1 : 0)) % SLUICE_GS_REPEATS;
            const uint32_t freshLanes = __ballot_sync(kAllLanes, fresh);
            const uint32_t changes =
                freshLanes | __ballot_sync(kAllLanes, here && !fresh && used != 0);
            const uint32_t swaps = __ballot_sync(kAllLanes, here && !fresh && used == 1);
            const uint32_t below = changes & lanesBelow();
            uint32_t from = used == 0   ? latest(below)
                            : used == 1 ? second(below)
                                        : third(below, swaps);
            from = fresh || !here ? laneIndex() : from;
            // The origin may be a lane that takes its own offset from another lane. Pointer jumping
            // finds the lane or list entry that has the offset itself, in at most five steps.
            for (uint32_t step = 0; step < 5; ++step) {
                const bool known =
                    from >= kWarpSize || (freshLanes >> from & 1) || from == laneIndex();
                if (!__any_sync(kAllLanes, !known)) break;
                const uint32_t next = shuffle(from, from & 31);
                from = known ? from : next;
            }
            const uint32_t value = shuffle(offset, from & 31);
            const auto before = [&](uint32_t place) {
                return place == 32 ? repeats[0] : place == 33 ? repeats[1] : repeats[2];
            };
            const uint32_t actual = from < kWarpSize ? value : before(from);
            const auto after = [&](uint32_t place) {
                const uint32_t known = shuffle(actual, place & 31);
                return place < kWarpSize ? known : before(place);
            };
            const uint32_t next0 = after(latest(changes)), next1 = after(second(changes)),
                           next2 = after(third(changes, swaps));
            repeats[0] = next0;
            repeats[1] = next1;
            repeats[2] = next2;

            uint32_t literalsThrough, lengthThrough;
            // If the two lengths of each lane add up to less than 2^11, sums over 32 lanes are
            // below 2^16. Then one word has room for both sums.
            if (!__any_sync(kAllLanes, literalLength + length >= 2048)) {
                const uint32_t both = warpInclusiveSum(literalLength | length << 16);
                literalsThrough = both & 0xffff;
                lengthThrough = both >> 16;
            } else {
                literalsThrough = warpInclusiveSum(literalLength);
                lengthThrough = warpInclusiveSum(length);
            }
            if (here) {
                const uint32_t literal = m_literalSum + literalsThrough - literalLength;
                const uint32_t begin = literal + m_matchSum + lengthThrough - length;
                records[first + laneIndex()] = make_uint2((begin & 0xffff) | literal << 16, actual);
            }
            m_literalSum += __shfl_sync(kAllLanes, literalsThrough, 31);
            m_matchSum += __shfl_sync(kAllLanes, lengthThrough, 31);
        }
        if (laneIndex() == 0)
            records[count] =
                make_uint2(((m_literalSum + m_matchSum) & 0xffff) | m_literalSum << 16, 0);
    }

    const Tile& m_tile;
    RansShared& m_shared;
    RansReader m_reader;
    Rows m_literals, m_sequences;
    uint32_t m_mode = 0, m_literalLog = 0, m_sequenceLog = 0, m_modulus = 1;
    uint32_t m_literalSum = 0, m_matchSum = 0;
};

// Reads the header of the block's tile, publishes the tile's status and decodes the block's part.
__device__ void decodeParts(const GstdTurnParams& params, RansShared& shared)
{
    const uint32_t slot = blockIdx.x / kBlocksPerTile, warp = blockIdx.x % kBlocksPerTile,
                   index = params.firstTile + slot;
    if (index >= regionCount(params)) return;
    const Region region = loadRegion(params, index);
    Tile tile = {};
    tile.slot = globalPointer<uint32_t>(u64From(params.scratch)) +
                static_cast<uint64_t>(slot) * (SLUICE_GS_SLOT_BYTES(params.maxTileBytes) / 4);
    uint32_t status = SLUICE_ST_BAD_REGION;
    bool stored = false;
    const bool isInside = destinationAllowed(params, region, params.maxTileBytes) ||
                          outputInside(region, params.maxTileBytes, params.secondDestination,
                                       params.secondDestinationSize);
    if (sourceAllowed(params, region, SLUICE_GS_MAX_COMPRESSED) && isInside) {
        tile.source = globalPointer<const uint32_t>(region.source);
        tile.destination = globalPointer<uint8_t>(region.destination);
        tile.sourceBytes = static_cast<uint32_t>(region.sourceSize);
        tile.size = static_cast<uint32_t>(region.size);
        stored = (params.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0 && tile.sourceBytes == tile.size;
        status = uniform(stored) ? SLUICE_ST_OK : tile.loadParts();
    }
    const bool writes = uniform(status == SLUICE_ST_OK && !stored && warp < tile.parts);
    if (params.previousEpoch != 0 && (writes || warp == 0)) {
        // The slot may still be read by gstd_expand for the turn that used it before.
        if (!waitForEpoch(tile.slot + kDoneAt, params.previousEpoch)) status = SLUICE_ST_INTERNAL;
    }
    if (warp == 0 && laneIndex() == 0) publish(tile.slot, status | params.epoch);
    if (!writes || uniform(status != SLUICE_ST_OK)) return;
    PartDecoder decoder(tile, shared);
    for (uint32_t part = warp; part < tile.parts; part += kBlocksPerTile) {
        const uint32_t result = decoder.decode(part);
        __syncwarp();
        if (laneIndex() == 0) publish(tile.slot + SLUICE_GS_PARTS_AT + part, result | params.epoch);
    }
}

__global__ void __launch_bounds__(kThreads, kGstdSymbolBlocksPerProcessor)
    gstdSymbolsKernel(GstdTurnParams params)
{
    __shared__ RansShared shared;
    // The next launch is gstd_expand. It waits for the status of each part before it reads the
    // part.
    letNextLaunchBegin();
    decodeParts(params, shared);
    // A launch can only wait for the launch directly before it. This launch ends only after the
    // previous one has ended, so that whoever waits for this launch can rely on both.
    if (blockIdx.x == 0) waitForPreviousLaunch();
}

} // namespace

cudaError_t loadGstdSymbols(CudaTraits& traits)
{
    cudaFuncAttributes attributes = {};
    const cudaError_t error =
        cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(gstdSymbolsKernel));
    traits.sm90 = traits.sm90 && isSm90(attributes);
    return error;
}

cudaError_t launchGstdSymbols(cudaStream_t stream, const GstdTurnParams& turn, bool programmatic)
{
    return launch(stream, gstdSymbolsKernel, turn.tileCount * kBlocksPerTile, kThreads, turn, 0,
                  programmatic);
}

} // namespace sluice
