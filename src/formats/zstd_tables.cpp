// SPDX-License-Identifier: MIT OR Apache-2.0
#include "formats/zstd_tables.h"

#include "formats/little_endian.h"

#include <algorithm>

namespace sluice::zstd {
namespace {

struct TableKind {
    uint32_t symbols, maxLog, predefinedLog, predefinedSymbols;
    int8_t predefined[SLUICE_ZS_MATCH_LENGTH_SYMBOLS];
};
constexpr TableKind kTableKinds[SLUICE_ZS_TABLES] = {
    {SLUICE_ZS_LITERAL_LENGTH_SYMBOLS, SLUICE_ZS_LENGTH_LOG, 6, 36, {4,  3,  2,  2, 2, 2, 2, 2,
                                                                     2,  2,  2,  2, 2, 1, 1, 1,
                                                                     2,  2,  2,  2, 2, 2, 2, 2,
                                                                     2,  3,  2,  1, 1, 1, 1, 1,
                                                                     -1, -1, -1, -1}},
    {SLUICE_ZS_OFFSET_SYMBOLS, SLUICE_ZS_OFFSET_LOG, 5, 29, {1, 1, 1, 1, 1,  1,  2,  2,  2, 1,
                                                             1, 1, 1, 1, 1,  1,  1,  1,  1, 1,
                                                             1, 1, 1, 1, -1, -1, -1, -1, -1}},
    {SLUICE_ZS_MATCH_LENGTH_SYMBOLS,
     SLUICE_ZS_LENGTH_LOG,
     6,
     53,
     {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}}};

constexpr ValueCode kLiteralLengths[SLUICE_ZS_LITERAL_LENGTH_SYMBOLS] = {
    {0, 0},     {1, 0},      {2, 0},      {3, 0},     {4, 0},   {5, 0},     {6, 0},     {7, 0},
    {8, 0},     {9, 0},      {10, 0},     {11, 0},    {12, 0},  {13, 0},    {14, 0},    {15, 0},
    {16, 1},    {18, 1},     {20, 1},     {22, 1},    {24, 2},  {28, 2},    {32, 3},    {40, 3},
    {48, 4},    {64, 6},     {128, 7},    {256, 8},   {512, 9}, {1024, 10}, {2048, 11}, {4096, 12},
    {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};
constexpr ValueCode kMatchLengths[SLUICE_ZS_MATCH_LENGTH_SYMBOLS] = {
    {3, 0},     {4, 0},     {5, 0},      {6, 0},      {7, 0},     {8, 0},   {9, 0},     {10, 0},
    {11, 0},    {12, 0},    {13, 0},     {14, 0},     {15, 0},    {16, 0},  {17, 0},    {18, 0},
    {19, 0},    {20, 0},    {21, 0},     {22, 0},     {23, 0},    {24, 0},  {25, 0},    {26, 0},
    {27, 0},    {28, 0},    {29, 0},     {30, 0},     {31, 0},    {32, 0},  {33, 0},    {34, 0},
    {35, 1},    {37, 1},    {39, 1},     {41, 1},     {43, 2},    {47, 2},  {51, 3},    {59, 3},
    {67, 4},    {83, 4},    {99, 5},     {131, 7},    {259, 8},   {515, 9}, {1027, 10}, {2051, 11},
    {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}};

using Weights = uint8_t[SLUICE_ZS_MAX_WEIGHTS + 1];

// Reads the weights of a Huffman code, which are coded with FSE. Two decoder states take turns.
// Each gives a symbol and then reads the bits for its next state. If too few bits are left for
// that, the symbol of the other state is the last weight.
uint32_t readFseWeights(const uint8_t* bytes, size_t size, uint32_t maxWeight, Weights weights,
                        uint32_t& count)
{
    fse::Distribution distribution;
    const uint32_t status =
        fse::readDistribution(bytes, size, maxWeight + 1, SLUICE_ZS_WEIGHT_LOG, distribution);
    if (status != SLUICE_ST_OK) return status;
    fse::State states[1 << SLUICE_ZS_WEIGHT_LOG];
    fse::buildStates(distribution, states);
    BackwardBits bits(bytes + distribution.bytes, size - distribution.bytes);
    if (!bits.valid() || bits.left() < 2 * distribution.log) return SLUICE_ST_BAD_CODE;
    uint32_t state[2] = {};
    for (uint32_t& one : state)
        one = bits.take(distribution.log);
    for (count = 0; bits.left() >= 0; ++count) {
        if (count == SLUICE_ZS_MAX_WEIGHTS) return SLUICE_ST_BAD_CODE;
        uint32_t& one = state[count % 2];
        weights[count] = states[one].symbol;
        one = states[one].base + bits.take(states[one].bits);
    }
    if (count == SLUICE_ZS_MAX_WEIGHTS) return SLUICE_ST_BAD_CODE;
    weights[count] = states[state[count % 2]].symbol;
    ++count;
    return SLUICE_ST_OK;
}

// Adds the weight of the last symbol, which is not stored: it follows from the rule that the sum of
// 2^(weight - 1) over all symbols is a power of two.
uint32_t completeWeights(Weights weights, uint32_t maxLog, uint32_t& count, uint32_t& log)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (weights[i] > maxLog) return SLUICE_ST_BAD_CODE;
        if (weights[i] != 0) sum += 1u << (weights[i] - 1);
    }
    if (sum == 0) return SLUICE_ST_BAD_CODE;
    log = floorLog2(sum) + 1;
    const uint32_t rest = (1u << log) - sum;
    if (log > maxLog || (rest & (rest - 1)) != 0) return SLUICE_ST_BAD_CODE;
    weights[count++] = uint8_t(floorLog2(rest) + 1);
    // Weight 1 belongs to the longest codewords. A complete code has such codewords, so some weight
    // must be 1.
    return std::find(weights, weights + count, 1) != weights + count ? SLUICE_ST_OK
                                                                     : SLUICE_ST_BAD_CODE;
}

} // namespace

BackwardBits::BackwardBits(const uint8_t* bytes, size_t size) : m_bytes(bytes), m_size(size)
{
    if (size == 0 || bytes[size - 1] == 0) return;
    m_valid = true;
    m_left = int64_t(8 * (size - 1) + floorLog2(bytes[size - 1]));
}

uint32_t BackwardBits::peek(uint32_t n) const
{
    if (m_left <= 0) return 0;
    const uint64_t mask = (uint64_t(1) << n) - 1;
    if (m_left < n)
        return uint32_t(loadLe(m_bytes, std::min<size_t>(m_size, 4)) << (n - m_left) & mask);
    const uint64_t low = uint64_t(m_left) - n;
    return uint32_t(loadLe(m_bytes + low / 8, std::min<size_t>(m_size - low / 8, 5)) >> low % 8 &
                    mask);
}

uint32_t readTree(const uint8_t* bytes, size_t size, uint32_t maxLog, Tree& tree)
{
    if (size == 0) return SLUICE_ST_TRUNCATED;
    const uint32_t header = bytes[0];
    Weights weights = {};
    uint32_t count = 0;
    tree.bytes = 1 + (header < 128 ? header : (header - 127 + 1) / 2);
    if (tree.bytes > size) return SLUICE_ST_TRUNCATED;
    if (header < 128) {
        const uint32_t status = readFseWeights(bytes + 1, header, maxLog, weights, count);
        if (status != SLUICE_ST_OK) return status;
    } else {
        count = header - 127;
        for (uint32_t i = 0; i < count; ++i)
            weights[i] = uint8_t(bytes[1 + i / 2] >> (i % 2 == 0 ? 4 : 0) & 15);
    }
    const uint32_t status = completeWeights(weights, maxLog, count, tree.log);
    if (status != SLUICE_ST_OK) return status;
    // The longest codewords come first. Codewords of one length are in the order of their symbols.
    uint32_t at = 0;
    for (uint32_t weight = 1; weight <= tree.log; ++weight) {
        for (uint32_t symbol = 0; symbol < count; ++symbol) {
            if (weights[symbol] != weight) continue;
            std::fill_n(tree.entries + at, 1u << (weight - 1),
                        Tree::Entry{uint8_t(symbol), uint8_t(tree.log + 1 - weight)});
            at += 1u << (weight - 1);
        }
    }
    return SLUICE_ST_OK;
}

fse::Distribution predefinedStates(uint32_t kind)
{
    const TableKind& k = kTableKinds[kind];
    fse::Distribution states;
    states.log = k.predefinedLog;
    states.symbols = k.predefinedSymbols;
    std::copy_n(k.predefined, k.predefinedSymbols, states.count);
    return states;
}

uint32_t readSequenceTable(uint32_t kind, uint32_t mode, const uint8_t* bytes, size_t size,
                           SequenceTable& table, uint32_t& used)
{
    const TableKind& k = kTableKinds[kind];
    used = 0;
    if (mode == SLUICE_ZS_REPEAT) return SLUICE_ST_OK;
    if (mode == SLUICE_ZS_ONE_SYMBOL) {
        if (size == 0) return SLUICE_ST_TRUNCATED;
        if (bytes[0] >= k.symbols) return SLUICE_ST_BAD_CODE;
        used = 1;
        table.log = 0;
        table.states[0] = {0, bytes[0], 0};
        return SLUICE_ST_OK;
    }
    fse::Distribution distribution;
    if (mode == SLUICE_ZS_FSE) {
        const uint32_t status =
            fse::readDistribution(bytes, size, k.symbols, k.maxLog, distribution);
        if (status != SLUICE_ST_OK) return status;
    } else {
        distribution = predefinedStates(kind);
    }
    used = distribution.bytes;
    table.log = distribution.log;
    fse::buildStates(distribution, table.states);
    return SLUICE_ST_OK;
}

bool readSequences(const SequenceTable (&tables)[SLUICE_ZS_TABLES], const uint8_t* bytes,
                   size_t size, Sequence* sequences, size_t count)
{
    BackwardBits bits(bytes, size);
    if (!bits.valid()) return false;
    uint32_t state[SLUICE_ZS_TABLES];
    for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
        state[kind] = bits.take(tables[kind].log);
    for (size_t i = 0; i < count; ++i) {
        fse::State s[SLUICE_ZS_TABLES];
        for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
            s[kind] = tables[kind].states[state[kind]];
        const uint32_t offsetBits = s[SLUICE_ZS_OFFSETS].symbol;
        const ValueCode literals = kLiteralLengths[s[SLUICE_ZS_LITERAL_LENGTHS].symbol],
                        match = kMatchLengths[s[SLUICE_ZS_MATCH_LENGTHS].symbol];
        sequences[i].offsetValue = (1u << offsetBits) + bits.take(offsetBits);
        sequences[i].length = match.base + bits.take(match.bits);
        sequences[i].literals = literals.base + bits.take(literals.bits);
        if (i + 1 == count) break;
        for (const uint32_t kind :
             {SLUICE_ZS_LITERAL_LENGTHS, SLUICE_ZS_MATCH_LENGTHS, SLUICE_ZS_OFFSETS})
            state[kind] = s[kind].base + bits.take(s[kind].bits);
    }
    return bits.left() == 0;
}

ValueCode valueCode(uint32_t kind, uint32_t symbol)
{
    if (kind == SLUICE_ZS_OFFSETS) return {1u << symbol, symbol};
    return kind == SLUICE_ZS_LITERAL_LENGTHS ? kLiteralLengths[symbol] : kMatchLengths[symbol];
}

Dictionary::Dictionary()
{
    for (uint32_t i = 0; i < SLUICE_ZS_REPEATS; ++i)
        repeats[i] = SLUICE_ZS_FIRST_REPEATS >> 8 * i & 0xff;
}

uint32_t readDictionary(const uint8_t* bytes, size_t size, Dictionary& dictionary)
{
    dictionary = {};
    const uint8_t *at = bytes, *const end = bytes + size;
    if (size >= 8 && loadLe32(bytes) == SLUICE_ZS_DICTIONARY_MAGIC) {
        dictionary.info.id = loadLe32(bytes + 4);
        at += 8;
        uint32_t status = readTree(at, size_t(end - at), SLUICE_ZS_DICTIONARY_CODE_LENGTH,
                                   dictionary.tables.tree);
        if (status != SLUICE_ST_OK) return status;
        at += dictionary.tables.tree.bytes;
        for (const uint32_t kind :
             {SLUICE_ZS_OFFSETS, SLUICE_ZS_MATCH_LENGTHS, SLUICE_ZS_LITERAL_LENGTHS}) {
            uint32_t used;
            status = readSequenceTable(kind, SLUICE_ZS_FSE, at, size_t(end - at),
                                       dictionary.tables.sequences[kind], used);
            if (status != SLUICE_ST_OK) return status;
            at += used;
        }
        if (end - at < 4 * ptrdiff_t(SLUICE_ZS_REPEATS)) return SLUICE_ST_TRUNCATED;
        const uint8_t* const repeats = at;
        at += 4 * SLUICE_ZS_REPEATS;
        for (uint32_t i = 0; i < SLUICE_ZS_REPEATS; ++i) {
            dictionary.repeats[i] = loadLe32(repeats + 4 * i);
            if (dictionary.repeats[i] == 0 || dictionary.repeats[i] > size_t(end - at))
                return SLUICE_ST_BAD_OFFSET;
        }
        dictionary.info.hasTables = true;
    }
    dictionary.content = at;
    dictionary.info.contentSize = size_t(end - at);
    return SLUICE_ST_OK;
}

} // namespace sluice::zstd
