// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes Gstd tiles fast (docs/format.md, section 7). A tile consists of *parts*, which are
// decoded one after the other: first all literals of a part, then its *sequences*, 32 at a time. A
// sequence is a number of literals and a match, which copies earlier bytes. To *execute* a sequence
// means to copy its literals and its match to the tile; that is done as soon as it has been read.
//
// A bad match has the lowest precedence: if a later part has another error, that error is the
// status. So after a bad match the remaining parts are still read and checked, but nothing is
// executed.
#include "cpu/fast/gstd.h"

#include "formulas/gstd.h"
#include "layout/base.h"
#include "cpu/tile_lists.h"
#include "cpu/fast/copy.h"
#include "cpu/fast/gstd_depth.h"
#include "cpu/fast/gstd_steps.h"
#include "cpu/fast/gstd_tables.h"
#include "cpu/fast/simd.h"

#include <new>

namespace sluice::cpu::fast {
namespace {

constexpr uint32_t kLanes = SLUICE_GS_LANES;

// A part of the tile, as the tile's header and the part's own header describe it. The members have
// the names of docs/format.md. literalLog, sequenceLog: their tables have 2^log slots.
struct Part {
    uint32_t begin, size; // the part's bytes in the decoded tile
    uint32_t literalMode, literalLog, sequenceLog, literalCount, sequenceCount, modulus;
    uint8_t oneLiteral;
    bool reusesLiterals, reusesSequences;
    const uint8_t* words; // the first byte of the part in the compressed tile
    const uint8_t* end;   // the end of the part in the compressed tile
};

// The memory that a decoder needs. The tables are those that were read last, since later parts may
// use them again. `literals` has the literals of the current part, and room behind them, since wild
// copies (copy.h) read past their end.
struct Scratch {
    LiteralTable literalTable;
    SequenceTables sequenceTables;
    Depths depths;
    uint8_t literals[SLUICE_GS_PART_BYTES + 4 * kLanes + kWildBytes];
};

// Does a step of the format in which each of the first `count` lanes reads a symbol. slots: a table
// with 2^log slots. With kIsSafe the caller guarantees that enough words are left for all lanes, so
// that refilled() need not check it.
template <bool kIsSafe>
inline void readSymbols(Lanes& lanes, uint32_t count, const uint32_t* slots, uint32_t log,
                        uint32_t* symbols)
{
    Words words = lanes.words;
    const uint32_t mask = (1u << log) - 1;
    for (uint32_t lane = 0; lane < count; ++lane) {
        const uint32_t state = refilled<kIsSafe>(lanes.states[lane], words);
        const uint32_t entry = slots[state & mask];
        lanes.states[lane] = advanced(state, entry, log);
        symbols[lane] = entry & 0xff;
    }
    lanes.words = words;
}

// Does a step in which lanes read the extra bits of their symbols. Sets values[lane] to the
// symbol's smallest value plus these bits. table[symbol] has that value and the number of extra
// bits, as in LengthRows (gstd_steps.h). A lane whose symbol has no extra bits does not refill.
template <bool kIsSafe>
inline void readExtraBits(Lanes& lanes, uint32_t count, const uint32_t* table,
                          const uint32_t* symbols, uint32_t* values)
{
    Words words = lanes.words;
    for (uint32_t lane = 0; lane < count; ++lane) {
        const uint32_t row = table[symbols[lane]], bits = row & kBitsMask;
        uint32_t state = lanes.states[lane];
        if (kIsSafe) {
            const uint32_t wants = state < 0x10000 && bits != 0 ? ~0u : 0;
            const uint32_t word = loadLe16(words.next);
            words.next += wants & 2;
            state = wants != 0 ? state << 16 | word : state;
        } else if (bits != 0) {
            state = refilled<false>(state, words);
        }
        values[lane] = (row >> kBaseShift) + (state & ((1u << bits) - 1));
        lanes.states[lane] = state >> bits;
    }
    lanes.words = words;
}

// Reads a group of 128 literals, four per lane, without checking for the end of the words.
// symbolOf(state) returns the literal that comes next in a lane's state, and removes it there.
template <typename SymbolOf>
inline void readLiteralGroup(Lanes& lanes, uint8_t* to, SymbolOf symbolOf)
{
    Words words = lanes.words;
    for (uint32_t k = 0; k < 4; ++k) {
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
            uint32_t state = refilled<true>(lanes.states[lane], words);
            to[4 * lane + k] = symbolOf(state);
            lanes.states[lane] = state;
        }
    }
    lanes.words = words;
}

// Reads the literals first .. count - 1; `first` begins a group of 128. symbolOf(state) returns the
// literal that comes next in a lane's state, and removes it there.
template <typename SymbolOf>
void readLiterals(Lanes& lanes, uint32_t first, uint32_t count, uint8_t* literals,
                  SymbolOf symbolOf)
{
    constexpr uint32_t kGroup = 4 * kLanes;
    for (; first + kGroup <= count && lanes.words.have(kGroup); first += kGroup)
        readLiteralGroup(lanes, literals + first, symbolOf);
    // Near the end of the words or of the literals, check before each literal.
    for (; first < count; first += kGroup) {
        for (uint32_t k = 0; k < 4; ++k) {
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                const uint32_t at = first + 4 * lane + k;
                if (at >= count) continue;
                uint32_t state = refilled<false>(lanes.states[lane], lanes.words);
                literals[at] = symbolOf(state);
                lanes.states[lane] = state;
            }
        }
    }
}

// Reads literals that are coded with rANS, with a table of 2^kLog slots.
template <uint32_t kLog>
void readRansLiterals(Lanes& lanes, uint32_t first, uint32_t count, const uint32_t* slots,
                      uint8_t* literals)
{
    readLiterals(lanes, first, count, literals, [slots](uint32_t& state) {
        const uint32_t entry = slots[state & ((1u << kLog) - 1)];
        state = advanced(state, entry, kLog);
        return uint8_t(entry);
    });
}

// Up to 32 sequences, one per lane: the symbols that were read, and the values that they stand for.
// `literals` are numbers of literals; `offsets` and `lengths` belong to the matches.
struct Sequences {
    uint32_t offsetSymbols[kLanes], literalSymbols[kLanes], matchSymbols[kLanes];
    uint32_t offsets[kLanes], literals[kLanes], lengths[kLanes];
};

// Turns the quotients in to.offsets into offsets. An offset that does not repeat one of the last
// three is stored as a quotient and a remainder by the part's modulus. This function reads the
// remainder, which is a symbol.
void readRemainders(Lanes& lanes, uint32_t count, const SequenceTables& tables, Sequences& to)
{
    for (uint32_t lane = 0; lane < count; ++lane)
        if (to.offsetSymbols[lane] >= SLUICE_GS_REPEATS)
            to.offsets[lane] = to.offsets[lane] * tables.modulus +
                               lanes.symbol(lane, tables.remainder, tables.log);
}

// Reads the sequences of the first `count` lanes. With kIsSafe the caller guarantees that enough
// words are left for all steps. Offsets that repeat one of the last three are set later, by
// resolveRepeats().
template <bool kIsSafe>
void readSequences(Lanes& lanes, uint32_t count, const SequenceTables& tables, Sequences& to)
{
    const uint32_t log = tables.log;
    readSymbols<kIsSafe>(lanes, count, tables.offset, log, to.offsetSymbols);
    readExtraBits<kIsSafe>(lanes, count, kOffsets.rows, to.offsetSymbols, to.offsets);
    if (tables.modulus > 1) readRemainders(lanes, count, tables, to);
    readSymbols<kIsSafe>(lanes, count, tables.literalLength, log, to.literalSymbols);
    readSymbols<kIsSafe>(lanes, count, tables.matchLength, log, to.matchSymbols);
    readExtraBits<kIsSafe>(lanes, count, kLiteralLengths.rows, to.literalSymbols, to.literals);
    readExtraBits<kIsSafe>(lanes, count, kMatchLengths.rows, to.matchSymbols, to.lengths);
}

// Reads the sequences of all 32 lanes with AVX2; otherwise like readSequences<true>. Enough words
// must be left for all steps, plus kWordsLoaded words that may be loaded but not taken.
void readSequencesAvx2(Lanes& lanes, const SequenceTables& tables, Sequences& to)
{
    const uint32_t log = tables.log;
    readSymbolsAvx2(lanes, tables.offset, log, to.offsetSymbols);
    readExtraBitsAvx2(lanes, kOffsets.rows, to.offsetSymbols, to.offsets);
    if (tables.modulus > 1) readRemainders(lanes, kLanes, tables, to);
    readSymbolsAvx2(lanes, tables.literalLength, log, to.literalSymbols);
    readSymbolsAvx2(lanes, tables.matchLength, log, to.matchSymbols);
    readExtraBitsAvx2(lanes, kLiteralLengths.rows, to.literalSymbols, to.literals);
    readExtraBitsAvx2(lanes, kMatchLengths.rows, to.matchSymbols, to.lengths);
}

// Decodes one tile. Functions that return a uint32_t return a status.
class TileDecoder {
public:
    TileDecoder(const uint8_t* source, size_t sourceSize, uint8_t* destination, size_t size,
                Scratch& scratch, bool usesAvx2)
        : m_source(source), m_sourceSize(sourceSize), m_destination(destination),
          m_size(uint32_t(size)), m_scratch(scratch), m_usesAvx2(usesAvx2)
    {
        m_scratch.literalTable.isRead = m_scratch.sequenceTables.isRead = false;
    }

    uint32_t decode()
    {
        if (const uint32_t status = readHeader(); status != SLUICE_ST_OK) return status;
        m_scratch.depths.start(m_depth);
        // Byte offsets of the next part: `begin` in the decoded tile, `words` in the compressed
        // one.
        uint32_t begin = 0, words = 4 + 4 * m_partCount;
        for (uint32_t i = 0; i < m_partCount; ++i) {
            const uint32_t entry = loadLe32(m_source + 4 + 4 * i);
            Part part = {};
            part.begin = begin;
            part.size = (entry & 0xffff) + 1;
            part.words = m_source + words;
            words += 2 * ((entry >> 16) + 1);
            part.end = m_source + words;
            begin += part.size;
            if (const uint32_t status = decodePart(part); status != SLUICE_ST_OK) return status;
        }
        if (m_hasBadOffset) return SLUICE_ST_BAD_OFFSET;
        return m_scratch.depths.finish() ? SLUICE_ST_OK : SLUICE_ST_LIMIT;
    }

private:
    // Checks the header and the sizes of the parts.
    uint32_t readHeader()
    {
        if (m_sourceSize < 8) return SLUICE_ST_TRUNCATED;
        const uint32_t header = loadLe32(m_source);
        m_partCount = (header & 15) + 1;
        m_depth = (header >> 4 & 7) + 1;
        if (header >> 7 != 0) return SLUICE_ST_BAD_CODE;
        if (m_sourceSize < 4 + 4 * m_partCount) return SLUICE_ST_TRUNCATED;
        uint32_t size = 0, words = 2 + 2 * m_partCount;
        for (uint32_t i = 0; i < m_partCount; ++i) {
            const uint32_t entry = loadLe32(m_source + 4 + 4 * i), bytes = (entry & 0xffff) + 1;
            size += bytes;
            words += (entry >> 16) + 1;
            if (i + 1 < m_partCount && bytes % SLUICE_GS_GROUP != 0) return SLUICE_ST_BAD_CODE;
        }
        if (size != m_size) return size > m_size ? SLUICE_ST_TOO_LONG : SLUICE_ST_TOO_SHORT;
        return uint64_t(words) * 2 > m_sourceSize ? SLUICE_ST_TRUNCATED : SLUICE_ST_OK;
    }

    // Writes the bytes of a part that is stored uncompressed or is a run of one byte. If the part
    // is coded, reads the rest of its header and decodes it.
    uint32_t decodePart(Part& part)
    {
        const uint32_t head = loadLe16(part.words), kind = head & 3;
        const uint32_t wordCount = uint32_t(part.end - part.words) / 2;
        uint8_t* const out = m_destination + part.begin;
        if (kind == SLUICE_GS_PLAIN) {
            if (head != SLUICE_GS_PLAIN || wordCount != 1 + divideUp(part.size, 2u))
                return SLUICE_ST_BAD_CODE;
            std::memcpy(out, part.words + 2, part.size);
            return SLUICE_ST_OK;
        }
        if (kind == SLUICE_GS_RUN) {
            if ((head & 0xfc) != 0 || wordCount != 1) return SLUICE_ST_BAD_CODE;
            std::memset(out, int(head >> 8), part.size);
            return SLUICE_ST_OK;
        }
        if (kind != SLUICE_GS_CODED || wordCount < SLUICE_GS_PART_HEADER) return SLUICE_ST_BAD_CODE;
        if (const uint32_t status = readPartHeader(part, head); status != SLUICE_ST_OK)
            return status;
        return decodeCoded(part);
    }

    // Reads the header of a coded part; `head` is its first word.
    static uint32_t readPartHeader(Part& part, uint32_t head)
    {
        const uint32_t last = loadLe16(part.words + 6);
        part.literalMode = head >> 2 & 3;
        part.reusesLiterals = (head >> 4 & 1) != 0;
        part.reusesSequences = (head >> 5 & 1) != 0;
        part.literalLog = SLUICE_GS_MIN_LOG + (head >> 6 & 7);
        part.sequenceLog = SLUICE_GS_MIN_LOG + (head >> 9 & 7);
        part.literalCount = loadLe16(part.words + 2) | (head >> 12 & 1) << 16;
        part.sequenceCount = loadLe16(part.words + 4);
        part.modulus = (last & 63) + 1;
        part.oneLiteral = uint8_t(last >> 8);
        if (head >> 13 != 0 || (last >> 6 & 3) != 0 ||
            part.literalLog > SLUICE_GS_MAX_LITERAL_LOG ||
            part.sequenceLog > SLUICE_GS_MAX_SEQUENCE_LOG)
            return SLUICE_ST_BAD_CODE;
        if (part.sequenceCount * SLUICE_GS_BYTES_PER_SEQUENCE > part.size) return SLUICE_ST_LIMIT;
        return part.literalCount > part.size ? SLUICE_ST_TOO_LONG : SLUICE_ST_OK;
    }

    // Decodes a coded part whose header has been read.
    uint32_t decodeCoded(const Part& part)
    {
        LiteralTable& literalTable = m_scratch.literalTable;
        SequenceTables& sequenceTables = m_scratch.sequenceTables;
        if ((part.reusesLiterals && !literalTable.isRead) ||
            (part.reusesSequences && !sequenceTables.isRead))
            return SLUICE_ST_BAD_CODE;
        Lanes lanes;
        lanes.start(part.words + 2 * SLUICE_GS_PART_HEADER, part.end);
        if (!part.reusesLiterals && part.literalMode <= SLUICE_GS_LITERALS_HUFFMAN &&
            !readLiteralTable(lanes, part.literalMode, part.literalLog, literalTable))
            return SLUICE_ST_BAD_CODE;
        if (!part.reusesSequences && part.sequenceCount != 0 &&
            !readSequenceTables(lanes, part.modulus, part.sequenceLog, sequenceTables))
            return SLUICE_ST_BAD_CODE;
        readPartLiterals(lanes, part);

        Execution run(part, m_destination, m_size, m_scratch, m_hasBadOffset);
        uint32_t repeats[SLUICE_GS_REPEATS];
        for (uint32_t i = 0; i < SLUICE_GS_REPEATS; ++i)
            repeats[i] = SLUICE_GS_FIRST_REPEATS >> 8 * i & 0xff;
        // readSequences has seven steps, in each of which a lane takes at most one word.
        constexpr uint32_t kMostWords = 7 * kLanes;
        Sequences some;
        for (uint32_t left = part.sequenceCount; left != 0;) {
            const uint32_t count = std::min(left, kLanes);
            if (m_usesAvx2 && count == kLanes && lanes.words.have(kMostWords + kWordsLoaded))
                readSequencesAvx2(lanes, sequenceTables, some);
            else if (lanes.words.have(kMostWords))
                readSequences<true>(lanes, count, sequenceTables, some);
            else
                readSequences<false>(lanes, count, sequenceTables, some);
            resolveRepeats(some, count, repeats);
            run.add(some, count);
            left -= count;
        }
        // If sizes do not add up and words are left over, the sums of the sizes decide the status,
        // so they are checked first.
        const uint32_t size = part.literalCount + run.matchBytes();
        if (size != part.size) return size > part.size ? SLUICE_ST_TOO_LONG : SLUICE_ST_TOO_SHORT;
        if (run.literalBytes() > part.literalCount || lanes.words.next != lanes.words.end)
            return SLUICE_ST_BAD_CODE;
        run.finish();
        m_hasBadOffset = m_hasBadOffset || run.hasBadOffset();
        return SLUICE_ST_OK;
    }

    // Reads the literals of a part to m_scratch.literals.
    void readPartLiterals(Lanes& lanes, const Part& part)
    {
        const LiteralTable& table = m_scratch.literalTable;
        uint8_t* const to = m_scratch.literals;
        const uint32_t count = part.literalCount;
        uint32_t first = 0;
        switch (part.reusesLiterals ? table.mode : part.literalMode) {
        case SLUICE_GS_LITERALS_ONE: std::memset(to, part.oneLiteral, count); break;
        case SLUICE_GS_LITERALS_PLAIN:
            readLiterals(lanes, 0, count, to, [](uint32_t& state) {
                const uint8_t byte = uint8_t(state);
                state >>= 8;
                return byte;
            });
            break;
        case SLUICE_GS_LITERALS_HUFFMAN:
            if (m_usesAvx2) first = readCodedLiteralsAvx2(lanes, count, table.codes, to);
            readLiterals(lanes, first, count, to, [codes = table.codes](uint32_t& state) {
                const uint32_t code = codes[state & ((1u << SLUICE_GS_MAX_CODE_LENGTH) - 1)];
                state >>= code >> 8;
                return uint8_t(code);
            });
            break;
        default: {
            if (m_usesAvx2) first = readRansLiteralsAvx2(lanes, count, table.slots, table.log, to);
            // There is a function for each log, so that shifts are by constants, which are faster.
            using Read = void (*)(Lanes&, uint32_t, uint32_t, const uint32_t*, uint8_t*);
            constexpr Read kReads[] = {
                readRansLiterals<5>, readRansLiterals<6>,  readRansLiterals<7>, readRansLiterals<8>,
                readRansLiterals<9>, readRansLiterals<10>, readRansLiterals<11>};
            kReads[table.log - SLUICE_GS_MIN_LOG](lanes, first, count, table.slots, to);
        }
        }
    }

    // Sets the offsets of sequences whose symbol stands for one of the last three offsets. Updates
    // `repeats`, which has these three, the latest first. The code has no branches, since a
    // processor could not predict which of the three comes next.
    static void resolveRepeats(Sequences& some, uint32_t count, uint32_t* repeats)
    {
        uint32_t first = repeats[0], second = repeats[1], third = repeats[2];
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t symbol = some.offsetSymbols[i];
            // The index of the repeated offset. In a sequence without literals the symbols 0, 1 and
            // 2 stand for the indices 1, 2 and 0.
            uint32_t place = symbol + uint32_t(some.literals[i] == 0);
            place = symbol >= SLUICE_GS_REPEATS ? SLUICE_GS_REPEATS : place == 3 ? 0 : place;
            uint32_t offset = some.offsets[i];
            offset = place == 2 ? third : offset;
            offset = place == 1 ? second : offset;
            offset = place == 0 ? first : offset;
            third = place >= 2 ? second : third;
            second = place >= 1 ? first : second;
            first = offset;
            some.offsets[i] = offset;
        }
        repeats[0] = first;
        repeats[1] = second;
        repeats[2] = third;
    }

    // Executes the sequences of a part: copies their literals and matches to the tile. If sequences
    // do not fit the part, or an offset is bad, it copies nothing more, but still adds up the sizes
    // of all sequences.
    class Execution {
    public:
        // isOff: copy nothing, because an earlier part had a bad offset.
        Execution(const Part& part, uint8_t* destination, uint32_t size, Scratch& scratch,
                  bool isOff)
            : m_tile(destination), m_tileSize(size), m_partSize(part.size),
              m_literalCount(part.literalCount), m_literals(scratch.literals),
              m_depths(scratch.depths), m_at(part.begin), m_isOff(isOff)
        {
        }

        void add(const Sequences& some, uint32_t count)
        {
            for (uint32_t i = 0; i < count; ++i) {
                m_literalBytes += some.literals[i];
                m_matchBytes += some.lengths[i];
            }
            // If the sums fit the part, each of the sequences fits too.
            if (m_isOff || m_literalBytes > m_literalCount ||
                m_literalBytes + m_matchBytes > m_partSize) {
                m_isOff = true;
                return;
            }
            for (uint32_t i = 0; i < count; ++i) {
                if (!execute(some.literals[i], some.lengths[i], some.offsets[i])) {
                    m_isOff = m_hasBadOffset = true;
                    return;
                }
            }
        }
        // Copies the literals that are left after the last sequence.
        void finish()
        {
            if (!m_isOff) std::memcpy(m_tile + m_at, m_literals + m_done, m_literalCount - m_done);
        }

        uint32_t literalBytes() const { return m_literalBytes; } // sums over all sequences so far
        uint32_t matchBytes() const { return m_matchBytes; }
        bool hasBadOffset() const { return m_hasBadOffset; }

    private:
        // Copies a sequence's literals and its match. Returns false if the source of the match
        // begins before the tile, or if the offset is 0.
        bool execute(uint32_t literals, uint32_t length, uint32_t offset)
        {
            uint8_t* out = m_tile + m_at;
            const bool isWild = m_tileSize - m_at >= literals + length + kWildBytes;
            if (isWild)
                copyWild(out, m_literals + m_done, literals);
            else
                std::memcpy(out, m_literals + m_done, literals);
            m_done += literals;
            m_at += literals;
            out += literals;
            if (offset - 1 >= m_at) return false; // an offset of 0 wraps around and fails too
            if (isWild)
                repeatWild(out, offset, length);
            else
                repeatExactly(out, offset, length);
            m_depths.copy(m_at, offset, length);
            m_at += length;
            return true;
        }

        uint8_t* const m_tile;
        const uint32_t m_tileSize, m_partSize, m_literalCount;
        const uint8_t* const m_literals;
        Depths& m_depths;
        uint32_t m_at;       // position in the tile
        uint32_t m_done = 0; // literals that have been copied
        uint32_t m_literalBytes = 0, m_matchBytes = 0;
        // isOff: copy nothing more. hasBadOffset: this part had a bad offset.
        bool m_isOff, m_hasBadOffset = false;
    };

    const uint8_t* const m_source;
    const size_t m_sourceSize;
    uint8_t* const m_destination;
    const uint32_t m_size;
    Scratch& m_scratch;
    const bool m_usesAvx2;
    uint32_t m_partCount = 0, m_depth = 0;
    bool m_hasBadOffset = false;
};

} // namespace

const size_t kGstdScratchSize = sizeof(Scratch);
static_assert(alignof(Scratch) <= kGstdScratchAlignment);

uint32_t decodeGstdTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                        size_t destinationSize, void* scratch)
{
    TileDecoder decoder(source, sourceSize, destination, destinationSize, *new (scratch) Scratch,
                        hasAvx2());
    return decoder.decode();
}

uint32_t decodeGstdTilePortably(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                                size_t destinationSize, void* scratch)
{
    TileDecoder decoder(source, sourceSize, destination, destinationSize, *new (scratch) Scratch,
                        false);
    return decoder.decode();
}

void gstd(const SluiceGstdInfo& info)
{
    gstdList(info, [&](const uint8_t* source, size_t sourceSize, uint8_t* destination,
                       size_t size) {
        return decodeGstdTile(source, sourceSize, destination, size, pointer<void>(info.scratch));
    });
}

} // namespace sluice::cpu::fast
