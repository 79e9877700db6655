// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/gstd_word_writer.h"

#include "tests/support/gdeflate_bit_writer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

namespace sluice::test {
namespace {

constexpr uint32_t kLanes = 32, kRepeats = 3;
constexpr uint32_t kLiteralLengths = 40, kMatchLengths = 54, kOffsets = 38;

// A symbol, and the extra bits that follow it.
struct Coded {
    uint32_t symbol, extra, extraBits;
};

// Returns the symbol of a length. Symbols below `direct` are the lengths themselves; after these,
// each power of 2 has two symbols.
Coded codeLength(uint32_t value, uint32_t direct)
{
    if (value < direct) return {value, 0, 0};
    uint32_t symbol = direct, bits = 0;
    const auto base = [&](uint32_t s) {
        bits = 0;
        for (uint32_t d = direct; d > 2; d >>= 1)
            ++bits;
        bits += (s - direct) / 2;
        return (2 + s % 2) << bits;
    };
    while (base(symbol + 1) <= value)
        ++symbol;
    const uint32_t least = base(symbol);
    return {symbol, value - least, bits};
}

Coded codeOffset(const GstdSequence& sequence, uint32_t modulus)
{
    if (sequence.repeats) return {sequence.offset, 0, 0};
    const uint32_t q = sequence.offset / modulus;
    if (q == 0) return {kRepeats, 0, 0};
    uint32_t code = 1;
    const auto least = [](uint32_t c) { return ((2 + (c - 1) % 2) << (c - 1) / 2) - 1; };
    while (least(code + 1) <= q)
        ++code;
    return {kRepeats + code, q - least(code), (code - 1) / 2};
}

// Returns a table where each symbol that occurs has one slot; the first symbol also gets the rest.
GstdCounts fitting(const std::vector<uint32_t>& symbols, uint32_t alphabet, uint32_t log)
{
    GstdCounts counts(alphabet);
    for (const uint32_t symbol : symbols)
        counts[symbol] = 1;
    const uint32_t used = std::accumulate(counts.begin(), counts.end(), 0u);
    counts[symbols.empty() ? 0 : symbols[0]] += (1u << log) - used;
    return counts;
}

// Returns the lengths of a complete prefix code for the bytes that occur: 1, 2, 3 ... bits.
GstdCounts fittingCode(const std::vector<uint8_t>& literals)
{
    std::vector<uint8_t> used(literals);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (uint32_t other = 0; used.size() < 2; ++other) {
        if (used.empty() || used[0] != other) used.push_back(uint8_t(other));
    }
    GstdCounts lengths(256);
    for (size_t i = 0; i < used.size(); ++i)
        lengths[used[i]] = uint32_t(std::min(i + 1, used.size() - 1));
    return lengths;
}

uint32_t classOf(uint32_t count)
{
    uint32_t result = 0;
    for (; count != 0; count >>= 1)
        ++result;
    return result;
}

void writeClasses(GstdLaneWriter& writer, const GstdCounts& classes)
{
    for (uint32_t lane = 0; lane < classes.size(); ++lane)
        writer.bits(lane, classOf(classes[lane]), 3);
    for (uint32_t lane = 0; lane < classes.size(); ++lane) {
        if (classes[lane] > 1) writer.bits(lane, classes[lane], classOf(classes[lane]) - 1);
    }
}

// isLengths: the values are code lengths, each of which is its own class.
void writeRows(GstdLaneWriter& writer, const GstdCounts& values, const GstdCounts& classes,
               bool isLengths)
{
    for (uint32_t s = 0; s < values.size(); ++s)
        writer.symbol(s % kLanes, isLengths ? values[s] : classOf(values[s]), classes, 6);
}
void writeRest(GstdLaneWriter& writer, const GstdCounts& values)
{
    for (uint32_t s = 0; s < values.size(); ++s) {
        if (values[s] > 1) writer.bits(s % kLanes, values[s], classOf(values[s]) - 1);
    }
}

void writeLiterals(GstdLaneWriter& writer, const GstdCoded& part, const GstdCoded& tables)
{
    if (tables.literalKind == 3) return;
    CodeLengths lengths(tables.literalTable.begin(), tables.literalTable.end());
    const std::vector<uint32_t> code = canonicalCode(lengths);
    for (size_t first = 0; first < part.literals.size(); first += 4 * kLanes) {
        for (uint32_t k = 0; k < 4; ++k) {
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                const size_t at = first + 4 * lane + k;
                if (at >= part.literals.size()) continue;
                const uint32_t literal = part.literals[at];
                if (tables.literalKind == 0)
                    writer.symbol(lane, literal, tables.literalTable, tables.literalLog);
                else if (tables.literalKind == 1)
                    writer.bits(lane, code[literal], lengths[literal]);
                else
                    writer.bits(lane, literal, 8);
            }
        }
    }
}

void writeSequences(GstdLaneWriter& writer, const GstdCoded& part, const GstdCoded& tables)
{
    const uint32_t log = tables.sequenceLog;
    for (size_t first = 0; first < part.sequences.size(); first += kLanes) {
        const uint32_t count = uint32_t(std::min<size_t>(kLanes, part.sequences.size() - first));
        const GstdSequence* const row = &part.sequences[first];
        const auto each = [&](const auto& step) {
            for (uint32_t lane = 0; lane < count; ++lane)
                step(lane, row[lane]);
        };
        each([&](uint32_t lane, const GstdSequence& s) {
            writer.symbol(lane, codeOffset(s, tables.modulus).symbol, tables.sequenceTables[2],
                          log);
        });
        each([&](uint32_t lane, const GstdSequence& s) {
            const Coded offset = codeOffset(s, tables.modulus);
            writer.bits(lane, offset.extra, offset.extraBits);
        });
        each([&](uint32_t lane, const GstdSequence& s) {
            if (!s.repeats && tables.modulus > 1)
                writer.symbol(lane, s.offset % tables.modulus, tables.sequenceTables[3], log);
        });
        each([&](uint32_t lane, const GstdSequence& s) {
            writer.symbol(lane, codeLength(s.literals, 16).symbol, tables.sequenceTables[0], log);
        });
        each([&](uint32_t lane, const GstdSequence& s) {
            writer.symbol(lane, codeLength(s.length - 3, 32).symbol, tables.sequenceTables[1], log);
        });
        each([&](uint32_t lane, const GstdSequence& s) {
            const Coded literals = codeLength(s.literals, 16);
            writer.bits(lane, literals.extra, literals.extraBits);
        });
        each([&](uint32_t lane, const GstdSequence& s) {
            const Coded length = codeLength(s.length - 3, 32);
            writer.bits(lane, length.extra, length.extraBits);
        });
    }
}

} // namespace

void GstdLaneWriter::bits(uint32_t lane, uint32_t value, uint32_t count)
{
    if (count == 0) return; // without bits there is no step for it
    // This is written like a symbol of a table where each symbol has one slot.
    m_reads.push_back({lane, value & ((1u << count) - 1), 1, count});
}

void GstdLaneWriter::symbol(uint32_t lane, uint32_t symbol, const GstdCounts& table, uint32_t log)
{
    const uint32_t start = std::accumulate(table.begin(), table.begin() + symbol, 0u);
    REQUIRE(table[symbol] != 0);
    m_reads.push_back({lane, start, table[symbol], log});
}

// Goes from a lane's last read to its first: what a read leaves is the state that the read before
// it must produce. A state in [2^16, 2^32) needs no word. If a state becomes too large, its lower
// half is taken away: that is the word which the decoder takes before the next read.
GstdWords GstdLaneWriter::words() const
{
    uint32_t state[kLanes];
    std::fill_n(state, kLanes, 0x10000u);
    std::vector<int> wordBefore(m_reads.size(), -1);
    std::vector<size_t> next(kLanes, m_reads.size()); // the next read of each lane
    for (size_t i = m_reads.size(); i-- > 0;) {
        const Read& read = m_reads[i];
        uint32_t& s = state[read.lane];
        if (uint64_t(s) >= uint64_t(read.count) << (32 - read.log)) {
            REQUIRE(next[read.lane] < m_reads.size());
            wordBefore[next[read.lane]] = int(s & 0xffff);
            s >>= 16;
        }
        s = (s / read.count << read.log) + read.start + s % read.count;
        next[read.lane] = i;
    }
    GstdWords words;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const bool reads = next[lane] < m_reads.size();
        words.push_back(uint16_t(reads ? state[lane] >> 16 : 0));
        if (reads) wordBefore[next[lane]] = int(state[lane] & 0xffff);
    }
    for (const int word : wordBefore) {
        if (word >= 0) words.push_back(uint16_t(word));
    }
    return words;
}

GstdPart plainPart(const std::vector<uint8_t>& bytes)
{
    GstdPart part = {uint32_t(bytes.size()), {0}};
    for (size_t i = 0; i < bytes.size(); i += 2)
        part.words.push_back(uint16_t(bytes[i] | (i + 1 < bytes.size() ? bytes[i + 1] : 0) << 8));
    return part;
}

GstdPart runPart(uint8_t byte, uint32_t size) { return {size, {uint16_t(1 | byte << 8)}}; }

GstdCoded complete(GstdCoded part)
{
    if (part.classes.empty()) part.classes = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4};
    if (part.literalTable.empty() && part.literalKind == 0)
        part.literalTable =
            fitting({part.literals.begin(), part.literals.end()}, 256, part.literalLog);
    if (part.literalTable.empty() && part.literalKind == 1)
        part.literalTable = fittingCode(part.literals);
    std::vector<uint32_t> used[4];
    for (const GstdSequence& sequence : part.sequences) {
        used[0].push_back(codeLength(sequence.literals, 16).symbol);
        used[1].push_back(codeLength(sequence.length - 3, 32).symbol);
        used[2].push_back(codeOffset(sequence, part.modulus).symbol);
        if (!sequence.repeats) used[3].push_back(sequence.offset % part.modulus);
    }
    const uint32_t alphabets[] = {kLiteralLengths, kMatchLengths, kOffsets, part.modulus};
    for (uint32_t i = 0; i < 4; ++i) {
        if (part.sequenceTables[i].empty())
            part.sequenceTables[i] = fitting(used[i], alphabets[i], part.sequenceLog);
    }
    return part;
}

GstdPart codedPart(const GstdCoded& sent)
{
    const GstdCoded part = complete(sent);
    GstdLaneWriter writer;
    if (!part.reusesLiterals && part.literalKind <= 1) {
        writeClasses(writer, part.classes);
        writeRows(writer, part.literalTable, part.classes, part.literalKind == 1);
        if (part.literalKind == 0) writeRest(writer, part.literalTable);
    }
    if (!part.reusesSequences && !part.sequences.empty()) {
        const uint32_t tables = part.modulus > 1 ? 4 : 3;
        writeClasses(writer, part.classes);
        for (uint32_t i = 0; i < tables; ++i)
            writeRows(writer, part.sequenceTables[i], part.classes, false);
        for (uint32_t i = 0; i < tables; ++i)
            writeRest(writer, part.sequenceTables[i]);
    }
    writeLiterals(writer, part, part.literalsOf != nullptr ? complete(*part.literalsOf) : part);
    writeSequences(writer, part, part.sequencesOf != nullptr ? complete(*part.sequencesOf) : part);

    const uint32_t literalCount = uint32_t(part.literals.size());
    const uint32_t first = 2 | part.literalKind << 2 | uint32_t(part.reusesLiterals) << 4 |
                           uint32_t(part.reusesSequences) << 5 | (part.literalLog - 5) << 6 |
                           (part.sequenceLog - 5) << 9 | literalCount >> 16 << 12;
    const uint32_t one = literalCount != 0 ? part.literals[0] : 0;
    GstdPart result = {part.size,
                       {uint16_t(first), uint16_t(literalCount), uint16_t(part.sequences.size()),
                        uint16_t((part.modulus - 1) | one << 8)}};
    const GstdWords words = writer.words();
    result.words.insert(result.words.end(), words.begin(), words.end());
    return result;
}

std::vector<uint8_t> gstdTile(uint32_t depth, const std::vector<GstdPart>& parts)
{
    GstdWords words = {uint16_t((parts.size() - 1) | (depth - 1) << 4), 0};
    for (const GstdPart& part : parts) {
        words.push_back(uint16_t(part.size - 1));
        words.push_back(uint16_t(part.words.size() - 1));
    }
    for (const GstdPart& part : parts)
        words.insert(words.end(), part.words.begin(), part.words.end());
    std::vector<uint8_t> bytes;
    for (const uint16_t word : words) {
        bytes.push_back(uint8_t(word));
        bytes.push_back(uint8_t(word >> 8));
    }
    return bytes;
}

} // namespace sluice::test
