// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the tables of a Gstd part (docs/format.md, 7.3). A table says how many slots each symbol
// has. First comes the *class* of each symbol, which says how many bits that number has; then come
// these bits. Symbol i is read from lane i % 32.
#include "cpu/fast/gstd_tables.h"

namespace sluice::cpu::fast {
namespace {

// Reads tables from the lanes of a part.
class TableReader {
public:
    explicit TableReader(Lanes& lanes) : m_lanes(lanes) {}

    // Reads the table with which classes are coded. A symbol's class says how many bits its number
    // of slots has. Returns whether the table is valid.
    bool readClasses()
    {
        uint32_t frequencies[SLUICE_GS_CLASSES];
        for (uint32_t lane = 0; lane < SLUICE_GS_CLASSES; ++lane)
            frequencies[lane] = m_lanes.bits(lane, 3);
        completeRows(frequencies, SLUICE_GS_CLASSES);
        return buildSlots(frequencies, SLUICE_GS_CLASSES, SLUICE_GS_CLASS_LOG, m_slots);
    }
    // Reads the classes of `count` symbols to `values`.
    void readRows(uint32_t* values, uint32_t count)
    {
        for (uint32_t symbol = 0; symbol < count; ++symbol)
            values[symbol] = m_lanes.symbol(symbol % SLUICE_GS_LANES, m_slots, SLUICE_GS_CLASS_LOG);
    }
    // Turns the classes in `values` into numbers of slots. Classes 0 and 1 stand for themselves.
    // Class c > 1 stands for 2^(c - 1) plus a number of c - 1 bits, which is read.
    void completeRows(uint32_t* values, uint32_t count)
    {
        for (uint32_t symbol = 0; symbol < count; ++symbol) {
            const uint32_t kind = values[symbol];
            if (kind >= 2)
                values[symbol] =
                    1u << (kind - 1) | m_lanes.bits(symbol % SLUICE_GS_LANES, kind - 1);
        }
    }

private:
    Lanes& m_lanes;
    uint32_t m_slots[1u << SLUICE_GS_CLASS_LOG];
};

// Makes the table of a prefix code from the code lengths of its 256 symbols. The table has an entry
// for each value of the next kMaxLog bits. The first (highest) bit of a code is the lowest of these
// bits, so codes are reversed. Returns whether the code is complete.
bool buildCodes(const uint32_t* lengths, uint16_t* codes)
{
    constexpr uint32_t kMaxLog = SLUICE_GS_MAX_CODE_LENGTH, kSymbols = 256;
    uint32_t count[kMaxLog + 1] = {}, next[kMaxLog + 1], space = 0;
    for (uint32_t i = 0; i < kSymbols; ++i) {
        if (lengths[i] > kMaxLog) return false;
        ++count[lengths[i]];
    }
    for (uint32_t length = 1; length <= kMaxLog; ++length) {
        next[length] = space; // the first code of this length, followed by zeros up to kMaxLog bits
        space += count[length] << (kMaxLog - length);
    }
    if (space != 1u << kMaxLog) return false;
    for (uint32_t i = 0; i < kSymbols; ++i) {
        const uint32_t length = lengths[i];
        if (length == 0) continue;
        uint32_t reversed = 0;
        for (uint32_t bit = 0; bit < kMaxLog; ++bit)
            reversed |= (next[length] >> bit & 1) << (kMaxLog - 1 - bit);
        next[length] += 1u << (kMaxLog - length);
        // The bits behind the code may have any value, so the entry repeats.
        for (uint32_t at = reversed; at < 1u << kMaxLog; at += 1u << length)
            codes[at] = uint16_t(length << 8 | i);
    }
    return true;
}

} // namespace

bool readLiteralTable(Lanes& lanes, uint32_t mode, uint32_t log, LiteralTable& table)
{
    TableReader reader(lanes);
    if (!reader.readClasses()) return false;
    table.isRead = true;
    table.mode = mode;
    table.log = log;
    uint32_t values[256];
    reader.readRows(values, 256);
    if (mode == SLUICE_GS_LITERALS_HUFFMAN) return buildCodes(values, table.codes);
    reader.completeRows(values, 256);
    return buildSlots(values, 256, log, table.slots);
}

bool readSequenceTables(Lanes& lanes, uint32_t modulus, uint32_t log, SequenceTables& tables)
{
    TableReader reader(lanes);
    if (!reader.readClasses()) return false;
    tables.isRead = true;
    tables.modulus = modulus;
    tables.log = log;
    struct Alphabet {
        uint32_t count;
        uint32_t* slots;
        uint32_t values[SLUICE_GS_MAX_MODULUS];
    } alphabets[] = {{SLUICE_GS_LITERAL_LENGTHS, tables.literalLength, {}},
                     {SLUICE_GS_MATCH_LENGTHS, tables.matchLength, {}},
                     {SLUICE_GS_OFFSETS, tables.offset, {}},
                     {modulus > 1 ? modulus : 0, tables.remainder, {}}};
    for (Alphabet& one : alphabets)
        reader.readRows(one.values, one.count);
    for (Alphabet& one : alphabets)
        reader.completeRows(one.values, one.count);
    for (const Alphabet& one : alphabets)
        if (one.count != 0 && !buildSlots(one.values, one.count, log, one.slots)) return false;
    return true;
}

} // namespace sluice::cpu::fast
