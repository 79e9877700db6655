// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of the Gstd decoder (docs/format.md, section 7). A tile is a list of *parts*. The
// symbols of a part are read by 32 *lanes*. Each lane has a *state*, a number that is both the
// state of an rANS decoder and a buffer of bits. The symbols give literals and *sequences*. A
// sequence is a number of literals and then a match, which copies earlier bytes.
//
// The code is plain on purpose: GPU kernels are compared with it, statuses included.
#include <sluice/sluice_gstd.h>

#include "cpu/gstd.h"

#include "formulas/gstd.h"
#include "formats/little_endian.h"
#include "cpu/context.h"
#include "cpu/canonical_code.h"
#include "cpu/tile_lists.h"

#include <memory>
#include <vector>

namespace sluice::cpu {
namespace {

constexpr uint32_t kLanes = SLUICE_GS_LANES;

using Code = CanonicalCode<SLUICE_GS_MAX_CODE_LENGTH, 256>;

// Returns a 16-bit word of a tile.
uint32_t word(const uint8_t* bytes, size_t index) { return loadLe16(bytes + 2 * index); }

// A table for rANS. It has 2^log *slots*. Symbol i of `count` has frequency[i] slots, from slot
// start[i] on.
struct Frequencies {
    uint32_t count = 0, log = 0;
    uint32_t frequency[256] = {};
    uint32_t start[256] = {};

    // Computes `start`. Returns whether the frequencies add up to 2^log.
    bool build()
    {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < count; ++i) {
            start[i] = sum;
            sum += frequency[i];
        }
        return sum == 1u << log;
    }
    // Returns the symbol to which a slot belongs.
    uint32_t symbolAt(uint32_t slot) const
    {
        uint32_t symbol = 0;
        while (slot - start[symbol] >= frequency[symbol])
            ++symbol;
        return symbol;
    }
};

// The lanes of one part, and the words that they share. If a lane's state is below 2^16, it
// *refills*: it shifts in the next word.
class Lanes {
public:
    Lanes(const uint8_t* source, uint32_t firstWord, uint32_t endWord)
        : m_source(source), m_next(firstWord), m_end(endWord)
    {
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            refill(lane);
    }

    // Reads n bits from a lane. All functions that read refill the lane first, so lanes take words
    // in the order in which they read.
    uint32_t bits(uint32_t lane, uint32_t n)
    {
        if (n == 0) return 0;
        refill(lane);
        return take(lane, n);
    }
    // Reads a symbol of an rANS table from a lane.
    uint32_t symbol(uint32_t lane, const Frequencies& table)
    {
        refill(lane);
        const uint32_t slot = m_state[lane] & ((1u << table.log) - 1),
                       symbol = table.symbolAt(slot);
        m_state[lane] =
            table.frequency[symbol] * (m_state[lane] >> table.log) + slot - table.start[symbol];
        return symbol;
    }
    // Reads a symbol of a prefix code from a lane.
    uint32_t symbol(uint32_t lane, const Code& code)
    {
        refill(lane);
        uint32_t bits = 0;
        return code
            .find([&](uint32_t n) {
                return bits |= take(lane, 1) << (SLUICE_GS_MAX_CODE_LENGTH - n);
            })
            .symbol;
    }

    // Returns whether all words have been taken.
    bool finished() const { return m_next == m_end; }

private:
    void refill(uint32_t lane)
    {
        if (m_state[lane] < 0x10000 && m_next < m_end)
            m_state[lane] = m_state[lane] << 16 | word(m_source, m_next++);
    }
    // Takes the low n bits of a lane's state.
    uint32_t take(uint32_t lane, uint32_t n)
    {
        const uint32_t value = m_state[lane] & ((1u << n) - 1);
        m_state[lane] >>= n;
        return value;
    }

    const uint8_t* m_source;
    uint32_t m_next, m_end; // indices of 16-bit words from the start of the tile
    uint32_t m_state[kLanes] = {};
};

// A number of literals, then a match of `length` bytes from `offset` bytes before.
struct Sequence {
    uint32_t literals, length, offset;
};

// A part of the tile, as the tile's header and the part's own header describe it, and its decoded
// symbols. The members have the names of docs/format.md. The tables have 2^log slots.
struct Part {
    uint32_t firstWord, words; // its range of the tile's 16-bit words
    uint32_t begin, size;      // offset and bytes of the decoded part
    uint32_t kind, literalMode, literalLog, sequenceLog, literalCount, sequenceCount, modulus,
        oneLiteral;
    bool reusesLiterals, reusesSequences; // use the tables that were read last
    std::vector<uint8_t> literals;
    std::vector<Sequence> sequences;
};

// The table of literals that was read last, if any. The mode says whether it has frequencies or a
// prefix code.
struct LiteralTable {
    bool read = false;
    uint32_t mode = SLUICE_GS_LITERALS_PLAIN;
    Frequencies frequencies;
    Code code;
};

// The tables of sequences that were read last, if any. There is a table of remainders only if the
// modulus is above 1.
struct SequenceTables {
    bool read = false;
    uint32_t modulus = 1;
    Frequencies literalLength, matchLength, offset, remainder;
};

// Reads tables. Symbol i is read from lane i % 32. First come the *classes* of all symbols. For a
// prefix code the classes are the code lengths. For an rANS table a class says how many extra bits
// the symbol's frequency has; these bits follow.
class TableReader {
public:
    explicit TableReader(Lanes& lanes) : m_lanes(lanes) {}

    // Reads the table with which the symbols' classes are coded. Returns whether it is valid.
    bool readClasses()
    {
        m_classes.count = SLUICE_GS_CLASSES;
        m_classes.log = SLUICE_GS_CLASS_LOG;
        for (uint32_t lane = 0; lane < SLUICE_GS_CLASSES; ++lane)
            m_classes.frequency[lane] = m_lanes.bits(lane, 3);
        completeRows(m_classes.frequency, SLUICE_GS_CLASSES);
        return m_classes.build();
    }
    // Reads the classes of `count` symbols.
    void readRows(uint32_t* values, uint32_t count)
    {
        for (uint32_t symbol = 0; symbol < count; ++symbol)
            values[symbol] = m_lanes.symbol(symbol % kLanes, m_classes);
    }
    // Turns the classes in `values` into frequencies. Classes 0 and 1 stand for themselves. Class
    // c > 1 stands for 2^(c - 1) plus a number of c - 1 bits, which is read.
    void completeRows(uint32_t* values, uint32_t count)
    {
        for (uint32_t symbol = 0; symbol < count; ++symbol) {
            const uint32_t kind = values[symbol];
            if (kind >= 2)
                values[symbol] = 1u << (kind - 1) | m_lanes.bits(symbol % kLanes, kind - 1);
        }
    }

private:
    Lanes& m_lanes;
    Frequencies m_classes;
};

// Reads the table of literals, which comes next in the lanes. Returns whether it is valid.
bool readLiteralTable(Lanes& lanes, const Part& part, LiteralTable& table)
{
    TableReader reader(lanes);
    if (!reader.readClasses()) return false;
    table = {};
    table.read = true;
    table.mode = part.literalMode;
    Frequencies& frequencies = table.frequencies;
    reader.readRows(frequencies.frequency, 256);
    if (table.mode == SLUICE_GS_LITERALS_HUFFMAN)
        return table.code.build(frequencies.frequency, 256);
    reader.completeRows(frequencies.frequency, 256);
    frequencies.count = 256;
    frequencies.log = part.literalLog;
    return frequencies.build();
}

// Reads the tables of sequences, which come next in the lanes. Returns whether they are valid.
bool readSequenceTables(Lanes& lanes, const Part& part, SequenceTables& tables)
{
    TableReader reader(lanes);
    if (!reader.readClasses()) return false;
    tables = {};
    tables.read = true;
    tables.modulus = part.modulus;
    tables.literalLength.count = SLUICE_GS_LITERAL_LENGTHS;
    tables.matchLength.count = SLUICE_GS_MATCH_LENGTHS;
    tables.offset.count = SLUICE_GS_OFFSETS;
    tables.remainder.count = part.modulus;
    Frequencies* const all[] = {&tables.literalLength, &tables.matchLength, &tables.offset,
                                &tables.remainder};
    const uint32_t used = part.modulus > 1 ? 4 : 3;
    for (uint32_t i = 0; i < used; ++i)
        reader.readRows(all[i]->frequency, all[i]->count);
    for (uint32_t i = 0; i < used; ++i)
        reader.completeRows(all[i]->frequency, all[i]->count);
    bool good = true;
    for (uint32_t i = 0; i < used; ++i) {
        all[i]->log = part.sequenceLog;
        good = all[i]->build() && good;
    }
    return good;
}

// Decodes one tile. First the symbols of all parts are read, then all bytes are made. So an error
// in the symbols of any part takes precedence over a bad match, even of an earlier part. Functions
// that return a uint32_t return a status.
class TileDecoder {
public:
    TileDecoder(const uint8_t* source, size_t sourceSize, uint8_t* destination, size_t size)
        : m_source(source), m_sourceSize(sourceSize), m_destination(destination),
          m_size(uint32_t(size))
    {
    }

    uint32_t decode()
    {
        if (const uint32_t status = readHeader(); status != SLUICE_ST_OK) return status;
        for (uint32_t i = 0; i < m_partCount; ++i) {
            if (const uint32_t status = readPart(m_parts[i]); status != SLUICE_ST_OK) return status;
        }
        for (uint32_t i = 0; i < m_partCount; ++i) {
            if (!expandPart(m_parts[i])) return SLUICE_ST_BAD_OFFSET;
        }
        return m_tooDeep ? SLUICE_ST_LIMIT : SLUICE_ST_OK;
    }

private:
    // Reads the header and the sizes of the parts.
    uint32_t readHeader()
    {
        if (m_sourceSize < 8) return SLUICE_ST_TRUNCATED;
        const uint32_t header = loadLe32(m_source);
        m_partCount = (header & 15) + 1;
        m_depth = (header >> 4 & 7) + 1;
        if (header >> 7 != 0) return SLUICE_ST_BAD_CODE;
        if (m_sourceSize < 4 + 4 * m_partCount) return SLUICE_ST_TRUNCATED;
        uint32_t begin = 0, firstWord = 2 + 2 * m_partCount;
        for (uint32_t i = 0; i < m_partCount; ++i) {
            const uint32_t entry = loadLe32(m_source + 4 + 4 * i);
            Part& part = m_parts[i];
            part = {};
            part.begin = begin;
            part.size = (entry & 0xffff) + 1;
            part.firstWord = firstWord;
            part.words = (entry >> 16) + 1;
            begin += part.size;
            firstWord += part.words;
            if (i + 1 < m_partCount && part.size % SLUICE_GS_GROUP != 0) return SLUICE_ST_BAD_CODE;
        }
        if (begin != m_size) return begin > m_size ? SLUICE_ST_TOO_LONG : SLUICE_ST_TOO_SHORT;
        return uint64_t(firstWord) * 2 > m_sourceSize ? SLUICE_ST_TRUNCATED : SLUICE_ST_OK;
    }

    // Reads the header of a part.
    uint32_t readPartHeader(Part& part) const
    {
        const uint32_t w0 = word(m_source, part.firstWord);
        part.kind = w0 & 3;
        if (part.kind == SLUICE_GS_PLAIN)
            return w0 == SLUICE_GS_PLAIN && part.words == 1 + divideUp(part.size, 2u)
                       ? SLUICE_ST_OK
                       : SLUICE_ST_BAD_CODE;
        if (part.kind == SLUICE_GS_RUN) {
            part.oneLiteral = w0 >> 8;
            return (w0 & 0xfc) == 0 && part.words == 1 ? SLUICE_ST_OK : SLUICE_ST_BAD_CODE;
        }
        if (part.kind != SLUICE_GS_CODED || part.words < SLUICE_GS_PART_HEADER)
            return SLUICE_ST_BAD_CODE;
        part.literalMode = w0 >> 2 & 3;
        part.reusesLiterals = (w0 >> 4 & 1) != 0;
        part.reusesSequences = (w0 >> 5 & 1) != 0;
        part.literalLog = SLUICE_GS_MIN_LOG + (w0 >> 6 & 7);
        part.sequenceLog = SLUICE_GS_MIN_LOG + (w0 >> 9 & 7);
        part.literalCount = word(m_source, part.firstWord + 1) | (w0 >> 12 & 1) << 16;
        part.sequenceCount = word(m_source, part.firstWord + 2);
        const uint32_t w3 = word(m_source, part.firstWord + 3);
        part.modulus = (w3 & 63) + 1;
        part.oneLiteral = w3 >> 8;
        if (w0 >> 13 != 0 || (w3 >> 6 & 3) != 0 || part.literalLog > SLUICE_GS_MAX_LITERAL_LOG ||
            part.sequenceLog > SLUICE_GS_MAX_SEQUENCE_LOG)
            return SLUICE_ST_BAD_CODE;
        if (part.sequenceCount * SLUICE_GS_BYTES_PER_SEQUENCE > part.size) return SLUICE_ST_LIMIT;
        return part.literalCount > part.size ? SLUICE_ST_TOO_LONG : SLUICE_ST_OK;
    }

    // Reads all symbols of a part and checks their sums.
    uint32_t readPart(Part& part)
    {
        if (const uint32_t status = readPartHeader(part); status != SLUICE_ST_OK) return status;
        if (part.kind != SLUICE_GS_CODED) return SLUICE_ST_OK;
        if ((part.reusesLiterals && !m_literalTable.read) ||
            (part.reusesSequences && !m_sequenceTables.read))
            return SLUICE_ST_BAD_CODE;
        Lanes lanes(m_source, part.firstWord + SLUICE_GS_PART_HEADER, part.firstWord + part.words);
        if (!part.reusesLiterals && part.literalMode <= SLUICE_GS_LITERALS_HUFFMAN &&
            !readLiteralTable(lanes, part, m_literalTable))
            return SLUICE_ST_BAD_CODE;
        if (!part.reusesSequences && part.sequenceCount != 0 &&
            !readSequenceTables(lanes, part, m_sequenceTables))
            return SLUICE_ST_BAD_CODE;
        part.literals.resize(part.literalCount);
        readLiterals(lanes, part, part.literals);
        part.sequences.resize(part.sequenceCount);
        readSequences(lanes, part.sequences);
        uint64_t literalSum = 0, size = part.literalCount;
        for (const Sequence& sequence : part.sequences) {
            literalSum += sequence.literals;
            size += sequence.length;
        }
        if (size != part.size) return size > part.size ? SLUICE_ST_TOO_LONG : SLUICE_ST_TOO_SHORT;
        return literalSum <= part.literalCount && lanes.finished() ? SLUICE_ST_OK
                                                                   : SLUICE_ST_BAD_CODE;
    }

    // Reads the literals in groups of 128, four per lane. All lanes read a literal before any lane
    // reads its next one.
    void readLiterals(Lanes& lanes, const Part& part, std::vector<uint8_t>& literals) const
    {
        const uint32_t mode = part.reusesLiterals ? m_literalTable.mode : part.literalMode;
        if (mode == SLUICE_GS_LITERALS_ONE) {
            std::fill(literals.begin(), literals.end(), uint8_t(part.oneLiteral));
            return;
        }
        for (uint32_t first = 0; first < part.literalCount; first += 4 * kLanes) {
            for (uint32_t k = 0; k < 4; ++k) {
                for (uint32_t lane = 0; lane < kLanes; ++lane) {
                    const uint32_t at = first + 4 * lane + k;
                    if (at >= part.literalCount) continue;
                    literals[at] = uint8_t(mode == SLUICE_GS_LITERALS_RANS
                                               ? lanes.symbol(lane, m_literalTable.frequencies)
                                           : mode == SLUICE_GS_LITERALS_HUFFMAN
                                               ? lanes.symbol(lane, m_literalTable.code)
                                               : lanes.bits(lane, 8));
                }
            }
        }
    }

    // Reads the sequences 32 at a time, one per lane. All lanes read one kind of symbol before any
    // lane reads the next kind.
    void readSequences(Lanes& lanes, std::vector<Sequence>& sequences) const
    {
        const SequenceTables& t = m_sequenceTables;
        uint32_t repeats[SLUICE_GS_REPEATS]; // the last three offsets, the latest first
        for (uint32_t i = 0; i < SLUICE_GS_REPEATS; ++i)
            repeats[i] = SLUICE_GS_FIRST_REPEATS >> 8 * i & 0xff;
        for (size_t first = 0; first < sequences.size(); first += kLanes) {
            const uint32_t count = uint32_t(std::min<size_t>(kLanes, sequences.size() - first));
            uint32_t symbol[kLanes], literals[kLanes], length[kLanes], offset[kLanes] = {};
            for (uint32_t lane = 0; lane < count; ++lane)
                symbol[lane] = lanes.symbol(lane, t.offset);
            for (uint32_t lane = 0; lane < count; ++lane) {
                if (symbol[lane] < SLUICE_GS_REPEATS) continue;
                const uint32_t place = symbol[lane] - SLUICE_GS_REPEATS,
                               bits = gstdOffsetBits(place);
                offset[lane] =
                    (gstdOffsetBase(place, bits) + lanes.bits(lane, bits) - 1) * t.modulus;
            }
            for (uint32_t lane = 0; lane < count && t.modulus > 1; ++lane) {
                if (symbol[lane] >= SLUICE_GS_REPEATS)
                    offset[lane] += lanes.symbol(lane, t.remainder);
            }
            for (uint32_t lane = 0; lane < count; ++lane)
                literals[lane] = lanes.symbol(lane, t.literalLength);
            for (uint32_t lane = 0; lane < count; ++lane)
                length[lane] = lanes.symbol(lane, t.matchLength);
            for (uint32_t lane = 0; lane < count; ++lane) {
                const uint32_t bits = gstdExtraBits(literals[lane], SLUICE_GS_LITERAL_DIRECT_LOG);
                literals[lane] = gstdBase(literals[lane], SLUICE_GS_LITERAL_DIRECT_LOG, bits) +
                                 lanes.bits(lane, bits);
            }
            for (uint32_t lane = 0; lane < count; ++lane) {
                const uint32_t bits = gstdExtraBits(length[lane], SLUICE_GS_MATCH_DIRECT_LOG);
                length[lane] = gstdBase(length[lane], SLUICE_GS_MATCH_DIRECT_LOG, bits) +
                               lanes.bits(lane, bits) + SLUICE_GS_MIN_MATCH;
            }
            for (uint32_t lane = 0; lane < count; ++lane) {
                uint32_t place = SLUICE_GS_REPEATS - 1; // a new offset pushes out the oldest one
                if (symbol[lane] < SLUICE_GS_REPEATS) {
                    place = (symbol[lane] + (literals[lane] == 0 ? 1 : 0)) % SLUICE_GS_REPEATS;
                    offset[lane] = repeats[place];
                }
                for (; place > 0; --place)
                    repeats[place] = repeats[place - 1];
                repeats[0] = offset[lane];
                sequences[first + lane] = {literals[lane], length[lane], offset[lane]};
            }
        }
    }

    // Makes the bytes of a part, and computes their depths (m_depths). Returns false if the source
    // of a match begins before the tile, or if its offset is 0.
    bool expandPart(const Part& part)
    {
        uint8_t* const out = m_destination + part.begin;
        std::fill_n(m_depths + part.begin, part.size, uint8_t(0));
        if (part.kind == SLUICE_GS_RUN) {
            std::fill_n(out, part.size, uint8_t(part.oneLiteral));
            return true;
        }
        if (part.kind == SLUICE_GS_PLAIN) {
            std::copy_n(m_source + 2 * size_t(part.firstWord + 1), part.size, out);
            return true;
        }
        uint32_t position = part.begin, literal = 0;
        for (const Sequence& sequence : part.sequences) {
            std::copy_n(part.literals.begin() + literal, sequence.literals,
                        m_destination + position);
            literal += sequence.literals;
            position += sequence.literals;
            if (sequence.offset == 0 || sequence.offset > position) return false;
            for (uint32_t k = 0; k < sequence.length; ++k) {
                // A match that overlaps itself repeats the bytes before it.
                const uint32_t from = position - sequence.offset + k % sequence.offset;
                const uint32_t to = position + k;
                m_destination[to] = m_destination[from];
                if (from / SLUICE_GS_GROUP == to / SLUICE_GS_GROUP)
                    m_depths[to] = uint8_t(std::min(m_depths[from] + 1, 255));
                m_tooDeep = m_tooDeep || m_depths[to] > m_depth;
            }
            position += sequence.length;
        }
        std::copy(part.literals.begin() + literal, part.literals.end(), m_destination + position);
        return true;
    }

    const uint8_t* m_source;
    size_t m_sourceSize;
    uint8_t* m_destination;
    uint32_t m_size;
    uint32_t m_partCount = 0, m_depth = 0;
    // True if a byte has a depth above m_depth, the limit that the tile's header states.
    bool m_tooDeep = false;
    Part m_parts[SLUICE_GS_MAX_PARTS];
    LiteralTable m_literalTable;
    SequenceTables m_sequenceTables;
    // The depth of each byte. A byte that a match copies from its own group of 512 bytes is one
    // deeper than its source; all others have depth 0.
    uint8_t m_depths[SLUICE_GS_TILE_BYTES];
};

} // namespace

uint32_t decodeGstdTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                        size_t destinationSize)
{
    return std::make_unique<TileDecoder>(source, sourceSize, destination, destinationSize)
        ->decode();
}

SluiceStatus ReferenceBackend::cmdGstd(SluiceCommands, const SluiceGstdInfo& info)
{
    gstdList(info, decodeGstdTile);
    return SLUICE_OK;
}

} // namespace sluice::cpu
