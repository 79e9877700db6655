// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes a part of a Gstd tile. A length or an offset is split into a symbol, which has a table of
// frequencies, and extra bits. An offset is first divided by a modulus, and quotient and remainder
// are coded separately. An offset that equals one of the last three is coded as its index among
// them instead.
#include "encode/gstd/gstd_part.h"

#include <algorithm>
#include <cstring>

namespace sluice::gstd {
namespace {

constexpr uint32_t kNoRepeat = SLUICE_GS_REPEATS;

// Splits a value above 1 into a symbol, which stands for its two highest bits, and all lower bits,
// which are extra bits. Each power of 2 has two symbols, to whose numbers `first` is added.
Symbol splitSymbol(uint32_t value, uint32_t first)
{
    const uint32_t exponent = floorLog2(value), bits = exponent - 1;
    return {first + 2 * exponent + (value >> bits & 1), value & ((1u << bits) - 1), bits};
}

Symbol lengthSymbol(uint32_t value, uint32_t direct)
{
    if (value < direct) return {value, 0, 0};
    return splitSymbol(value, direct - 2 * floorLog2(direct));
}

// Offsets are divided by a modulus of the part. Splits the quotient into a symbol and extra bits.
Symbol quotientSymbol(uint32_t quotient)
{
    if (quotient == 0) return {kNoRepeat, 0, 0};
    return splitSymbol(quotient + 1, kNoRepeat + 1 - 2);
}

// The last three offsets, the latest first.
class Repeats {
public:
    // Moves the offset to the front. Returns its symbol: the index that it had among the last three
    // offsets, or kNoRepeat if it is none of them. If there are no `literals` before the match, the
    // symbols 0, 1 and 2 stand for the indices 1, 2 and 0, as in Zstandard.
    uint32_t use(uint32_t offset, bool literals)
    {
        uint32_t place = 0;
        while (place < kNoRepeat && m_offsets[place] != offset)
            ++place;
        const uint32_t symbol =
            place == kNoRepeat ? place : (place + kNoRepeat - (literals ? 0 : 1)) % kNoRepeat;
        for (uint32_t i = std::min(place, kNoRepeat - 1); i > 0; --i)
            m_offsets[i] = m_offsets[i - 1];
        m_offsets[0] = offset;
        return symbol;
    }

private:
    uint32_t m_offsets[kNoRepeat] = {SLUICE_GS_FIRST_REPEATS & 0xff,
                                     SLUICE_GS_FIRST_REPEATS >> 8 & 0xff,
                                     SLUICE_GS_FIRST_REPEATS >> 16 & 0xff};
};

} // namespace

void SequenceTables::fitLengths(const Counts* counts, uint32_t newLog)
{
    log = newLog;
    tables[kLiteralLengths].fit(counts[kLiteralLengths], SLUICE_GS_LITERAL_LENGTHS, log);
    tables[kMatchLengths].fit(counts[kMatchLengths], SLUICE_GS_MATCH_LENGTHS, log);
}

void SequenceTables::fitOffsets(const Counts* counts, uint32_t newModulus)
{
    modulus = newModulus;
    tables[kOffsets].fit(counts[kOffsets], SLUICE_GS_OFFSETS, log);
    if (modulus > 1) tables[kRemainders].fit(counts[kRemainders], modulus, log);
}

Description SequenceTables::describe() const
{
    Description description;
    for (uint32_t i = 0; i < used(); ++i)
        description.add(tables[i]);
    return description;
}

uint64_t SequenceTables::cost(const Counts* counts) const
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < used(); ++i) {
        const uint64_t cost = tables[i].cost(counts[i]);
        if (cost == UINT64_MAX) return cost;
        sum += cost;
    }
    return sum;
}

// Splits the bytes of the part into literals and sequences (m_literals, m_sequences), and counts
// the symbols of both.
void PartEncoder::collect(const uint8_t* tile, const PartSequences& part)
{
    m_literals.clear();
    m_sequences.clear();
    m_literalCounts = m_counts[kLiteralLengths] = m_counts[kMatchLengths] = {};
    m_lengthBits = 0;
    m_newOffsets.clear();
    m_repeats = {};
    Repeats repeats;
    const uint8_t* position = tile + part.begin;
    for (const Sequence& sequence : part.sequences) {
        m_literals.insert(m_literals.end(), position, position + sequence.literals);
        position += sequence.literals + sequence.length;
        Coded coded = {};
        coded.literals = lengthSymbol(sequence.literals, 16);
        coded.length = lengthSymbol(sequence.length - SLUICE_GS_MIN_MATCH, 32);
        coded.offset = sequence.offset;
        coded.repeat = repeats.use(sequence.offset, sequence.literals != 0);
        m_sequences.push_back(coded);
        m_counts[kLiteralLengths].add(coded.literals.symbol);
        m_counts[kMatchLengths].add(coded.length.symbol);
        m_lengthBits += coded.literals.bits + coded.length.bits;
        if (coded.repeat == kNoRepeat) {
            m_newOffsets.push_back(coded.offset);
        } else {
            m_repeats.add(coded.repeat);
        }
    }
    m_literals.insert(m_literals.end(), position, tile + part.begin + part.size);
    for (const uint8_t literal : m_literals)
        m_literalCounts.add(literal);
}

// Chooses how literals are coded: plain, with rANS, with a Huffman code, or with the tables of an
// earlier part. Returns the cost of the literals and their table.
uint64_t PartEncoder::chooseLiterals()
{
    const Counts& counts = m_literalCounts;
    const uint32_t used = counts.used();
    m_reusesLiterals = false;
    m_literalDescription.clear();
    m_literalMode = SLUICE_GS_LITERALS_PLAIN;
    if (used <= 1) {
        if (used == 1) m_literalMode = SLUICE_GS_LITERALS_ONE;
        return 0;
    }
    uint64_t best = bitCost(8 * uint64_t(counts.total));
    LiteralTables tables;
    const auto consider = [&](uint32_t mode, const auto& table) {
        Description description;
        description.add(table);
        const uint64_t cost = table.cost(counts) + description.cost();
        if (cost >= best) return;
        best = cost;
        tables.mode = m_literalMode = mode;
        m_literalTables = tables;
        m_literalDescription = description;
    };
    tables.code.fit(counts);
    consider(SLUICE_GS_LITERALS_HUFFMAN, tables.code);
    for (uint32_t log = m_effort.firstLiteralLog; log <= m_effort.lastLiteralLog; ++log) {
        if (used > 1u << log) continue;
        tables.table.fit(counts, 256, log);
        consider(SLUICE_GS_LITERALS_RANS, tables.table);
    }
    if (m_haveLiterals && m_lastLiterals.cost(counts) <= best) {
        best = m_lastLiterals.cost(counts);
        m_literalMode = m_lastLiterals.mode;
        m_literalTables = m_lastLiterals;
        m_reusesLiterals = true;
    }
    return best;
}

// Counts the symbols of all new offsets, each of which is coded as quotient and remainder of a
// division by the modulus. Returns the number of extra bits of all offsets and lengths.
uint64_t PartEncoder::countOffsets(uint32_t modulus)
{
    Counts &offsets = m_counts[kOffsets], &remainders = m_counts[kRemainders];
    offsets = m_repeats;
    remainders = {};
    uint64_t bits = m_lengthBits;
    // Divide by multiplying with the inverse. Offsets are at most 2^18 and moduli at most 64, so
    // the upper half of the product is exactly the quotient.
    const uint64_t inverse = (uint64_t(1) << 32) / modulus + 1;
    static_assert(SLUICE_GS_TILE_BYTES <= 1 << 18 && SLUICE_GS_MAX_MODULUS <= 64);
    for (const uint32_t offset : m_newOffsets) {
        const uint32_t quotient = uint32_t(offset * inverse >> 32);
        const Symbol symbol = quotientSymbol(quotient);
        offsets.add(symbol.symbol);
        remainders.add(offset - quotient * modulus);
        bits += symbol.bits;
    }
    return bits;
}

// Fits the tables of offsets to this modulus, and adds them to `tables`, which has those of
// lengths. Copies all of them to `best` if they make the sequences cheaper than the tables there.
void PartEncoder::tryModulus(uint32_t modulus, SequenceTables& tables, FittedTables& best)
{
    const uint64_t extraCost = bitCost(countOffsets(modulus));
    tables.fitOffsets(m_counts, modulus);
    const uint64_t cost = extraCost + tables.cost(m_counts) + tables.describe().cost();
    if (cost < best.cost) best = {cost, tables};
}

// Chooses the tables of the sequences. Returns the cost of the sequences and their tables.
uint64_t PartEncoder::chooseSequences()
{
    m_reusesSequences = false;
    m_sequenceDescription.clear();
    if (m_sequences.empty()) return 0;
    // In arrays of records or pixels, offsets of matches are multiples of the record's size, or
    // nearly so. With this size as the modulus, few different remainders occur.
    static constexpr uint8_t moduli[] = {1,  4,  3,  2,  8,  12, 16, 6,  20, 24, 28, 32,
                                         36, 40, 44, 48, 52, 56, 60, 64, 9,  10, 14, 18};
    const size_t count = m_effort.allModuli ? std::size(moduli) : 6;
    // First choose the modulus, with tables of a middle size, then the size of the tables.
    const uint32_t firstLog = m_effort.firstSequenceLog, lastLog = m_effort.lastSequenceLog,
                   middleLog = (firstLog + lastLog) / 2;
    FittedTables best;
    SequenceTables tables;
    tables.fitLengths(m_counts, middleLog);
    for (size_t i = 0; i < (m_newOffsets.empty() ? 1 : count); ++i)
        tryModulus(moduli[i], tables, best);
    const uint32_t modulus = best.tables.modulus;
    for (uint32_t log = firstLog; log <= lastLog; ++log) {
        if (log == middleLog) continue;
        tables.fitLengths(m_counts, log);
        tryModulus(modulus, tables, best);
    }
    m_sequenceTables = best.tables;
    if (m_haveSequences) {
        const uint64_t extraCost = bitCost(countOffsets(m_lastSequences.modulus));
        const uint64_t cost = m_lastSequences.cost(m_counts);
        if (cost != UINT64_MAX && extraCost + cost <= best.cost) {
            m_reusesSequences = true;
            m_sequenceTables = m_lastSequences;
            return extraCost + cost;
        }
    }
    m_sequenceDescription = m_sequenceTables.describe();
    m_sequenceDescription.cost(); // called because it also fits the table of classes
    return best.cost;
}

// Calls write(lane, literal) for each literal, in the order in which the decoder's lanes read them.
template <typename Write>
void PartEncoder::forEachLiteral(Write write) const
{
    const size_t count = m_literals.size();
    const uint8_t* const literals = m_literals.data();
    size_t first = 0;
    for (; first + 4 * kLanes <= count; first += 4 * kLanes)
        for (uint32_t k = 0; k < 4; ++k)
            for (uint32_t lane = 0; lane < kLanes; ++lane)
                write(lane, literals[first + 4 * lane + k]);
    for (uint32_t k = 0; k < 4; ++k)
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            if (first + 4 * lane + k < count) write(lane, literals[first + 4 * lane + k]);
}

void PartEncoder::writeLiterals()
{
    switch (m_literalMode) {
    case SLUICE_GS_LITERALS_ONE: break;
    case SLUICE_GS_LITERALS_RANS:
        forEachLiteral([&](uint32_t lane, uint8_t literal) {
            m_literalTables.table.write(m_writer, lane, literal);
        });
        break;
    case SLUICE_GS_LITERALS_HUFFMAN:
        forEachLiteral([&](uint32_t lane, uint8_t literal) {
            m_literalTables.code.write(m_writer, lane, literal);
        });
        break;
    default:
        forEachLiteral([&](uint32_t lane, uint8_t literal) { m_writer.bits(lane, literal, 8); });
    }
}

void PartEncoder::writeSequences()
{
    const SequenceTables& t = m_sequenceTables;
    for (size_t first = 0; first < m_sequences.size(); first += kLanes) {
        const Coded* const batch = m_sequences.data() + first;
        const uint32_t count = uint32_t(std::min<size_t>(kLanes, m_sequences.size() - first));
        Symbol offsets[kLanes];
        for (uint32_t lane = 0; lane < count; ++lane) {
            offsets[lane] = batch[lane].repeat != kNoRepeat
                                ? Symbol{batch[lane].repeat, 0, 0}
                                : quotientSymbol(batch[lane].offset / t.modulus);
            t.tables[kOffsets].write(m_writer, lane, offsets[lane].symbol);
        }
        for (uint32_t lane = 0; lane < count; ++lane)
            m_writer.bits(lane, offsets[lane].value, offsets[lane].bits);
        for (uint32_t lane = 0; lane < count && t.modulus > 1; ++lane) {
            if (batch[lane].repeat == kNoRepeat)
                t.tables[kRemainders].write(m_writer, lane, batch[lane].offset % t.modulus);
        }
        for (uint32_t lane = 0; lane < count; ++lane)
            t.tables[kLiteralLengths].write(m_writer, lane, batch[lane].literals.symbol);
        for (uint32_t lane = 0; lane < count; ++lane)
            t.tables[kMatchLengths].write(m_writer, lane, batch[lane].length.symbol);
        for (uint32_t lane = 0; lane < count; ++lane)
            m_writer.bits(lane, batch[lane].literals.value, batch[lane].literals.bits);
        for (uint32_t lane = 0; lane < count; ++lane)
            m_writer.bits(lane, batch[lane].length.value, batch[lane].length.bits);
    }
}

// Returns whether all bytes are equal. Such a part is stored as a run, which has only this byte.
bool isRun(const uint8_t* bytes, uint32_t size)
{
    return std::memcmp(bytes, bytes + 1, size - 1) == 0;
}

// Returns how many 16-bit words a part takes that is stored uncompressed.
size_t plainWords(uint32_t size) { return 1 + divideUp(size, 2u); }

// Appends the part in coded form. If that would take `most` words or more, returns false and leaves
// `words` and the tables as they were.
bool PartEncoder::encodeCoded(const PartSequences& part, size_t most, std::vector<uint16_t>& words)
{
    const size_t begin = words.size();
    const uint64_t cost = chooseLiterals() + chooseSequences();
    if ((cost >> (kCostShift + 4)) >= most) return false;
    m_writer.clear();
    const bool literalTable = !m_reusesLiterals && m_literalMode <= SLUICE_GS_LITERALS_HUFFMAN;
    const bool sequenceTable = !m_reusesSequences && !m_sequences.empty();
    if (literalTable) m_literalDescription.write(m_writer);
    if (sequenceTable) m_sequenceDescription.write(m_writer);
    writeLiterals();
    writeSequences();

    const uint32_t literalCount = uint32_t(m_literals.size());
    const bool ownRans = literalTable && m_literalMode == SLUICE_GS_LITERALS_RANS;
    const uint32_t literalLog = ownRans ? m_literalTables.table.log - SLUICE_GS_MIN_LOG : 0;
    const uint32_t sequenceLog = sequenceTable ? m_sequenceTables.log - SLUICE_GS_MIN_LOG : 0;
    const uint32_t one = m_literalMode == SLUICE_GS_LITERALS_ONE ? m_literals[0] : 0;
    words.push_back(uint16_t(SLUICE_GS_CODED | (m_reusesLiterals ? 0 : m_literalMode) << 2 |
                             (m_reusesLiterals ? 1u : 0u) << 4 |
                             (m_reusesSequences ? 1u : 0u) << 5 | literalLog << 6 |
                             sequenceLog << 9 | literalCount >> 16 << 12));
    words.push_back(uint16_t(literalCount));
    words.push_back(uint16_t(m_sequences.size()));
    words.push_back(uint16_t((sequenceTable ? m_sequenceTables.modulus - 1 : 0) | one << 8));
    m_writer.finish(words);
    if (words.size() - begin >= most || part.size == 0) {
        words.resize(begin);
        return false;
    }
    if (literalTable) {
        m_haveLiterals = true;
        m_lastLiterals = m_literalTables;
    }
    if (sequenceTable) {
        m_haveSequences = true;
        m_lastSequences = m_sequenceTables;
    }
    return true;
}

size_t PartEncoder::estimate(const uint8_t* tile, const PartSequences& part)
{
    if (isRun(tile + part.begin, part.size)) return 1;
    collect(tile, part);
    const uint64_t bits = (chooseLiterals() + chooseSequences()) >> kCostShift;
    return std::min(plainWords(part.size), SLUICE_GS_PART_HEADER + kLanes + size_t(bits / 16));
}

void PartEncoder::encode(const uint8_t* tile, const PartSequences& part,
                         std::vector<uint16_t>& words)
{
    const uint8_t* const bytes = tile + part.begin;
    if (isRun(bytes, part.size)) {
        words.push_back(uint16_t(SLUICE_GS_RUN | uint32_t(bytes[0]) << 8));
        return;
    }
    const size_t most = plainWords(part.size);
    if (most > SLUICE_GS_PART_HEADER) {
        collect(tile, part);
        if (encodeCoded(part, most, words)) return;
    }
    words.push_back(SLUICE_GS_PLAIN);
    for (uint32_t i = 0; i < part.size; i += 2)
        words.push_back(uint16_t(bytes[i] | (i + 1 < part.size ? bytes[i + 1] << 8 : 0)));
}

} // namespace sluice::gstd
