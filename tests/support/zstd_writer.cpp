// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/zstd_writer.h"

#include "formats/integers.h"

#include <doctest/doctest.h>
#include <xxhash.h>

#include <algorithm>

namespace sluice::test {
namespace {

struct LengthRow {
    uint32_t base, bits;
};
// Base and extra bits of the symbols from 16 on (literal lengths) and from 32 on (match lengths).
// Smaller symbols are the length itself, for matches minus 3.
constexpr LengthRow kLiteralRows[] = {
    {16, 1},    {18, 1},    {20, 1},    {22, 1},     {24, 2},     {28, 2},    {32, 3},
    {40, 3},    {48, 4},    {64, 6},    {128, 7},    {256, 8},    {512, 9},   {1024, 10},
    {2048, 11}, {4096, 12}, {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};
constexpr LengthRow kMatchRows[] = {
    {35, 1},    {37, 1},    {39, 1},    {41, 1},    {43, 2},     {47, 2},     {51, 3},
    {59, 3},    {67, 4},    {83, 4},    {99, 5},    {131, 7},    {259, 8},    {515, 9},
    {1027, 10}, {2051, 11}, {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}};

// Returns the state of this symbol from which `next` can be reached.
uint32_t stateBefore(const ZstdStates& table, uint32_t symbol, uint32_t next)
{
    for (uint32_t s = 0; s < table.states.size(); ++s) {
        const fse::State& state = table.states[s];
        if (state.symbol == symbol && next - state.base < 1u << state.bits) return s;
    }
    FAIL("a symbol that its table does not have: " << symbol);
    return 0;
}

// Returns the state of this symbol that takes the most bits.
uint32_t lastState(const ZstdStates& table, uint32_t symbol)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t s = 0; s < table.states.size(); ++s) {
        const fse::State& state = table.states[s];
        if (state.symbol == symbol && (best == UINT32_MAX || state.bits > table.states[best].bits))
            best = s;
    }
    REQUIRE_MESSAGE(best != UINT32_MAX, symbol);
    return best;
}

uint32_t logOf(const ZstdWeights& weights)
{
    uint32_t sum = 0;
    for (const uint8_t weight : weights)
        sum += weight == 0 ? 0 : 1u << (weight - 1);
    return floorLog2(sum);
}

Bytes fseWeights(const ZstdWeights& weights)
{
    const size_t count = weights.size() - 1;
    if (count < 2) return {};
    std::vector<uint32_t> frequencies(SLUICE_ZS_MAX_CODE_LENGTH + 1);
    for (size_t i = 0; i < count; ++i)
        ++frequencies[weights[i]];
    // If one symbol had all states, weights would never end. So another symbol gets one, too.
    if (std::count(frequencies.begin(), frequencies.end(), 0) == SLUICE_ZS_MAX_CODE_LENGTH)
        frequencies[frequencies[0] == 0 ? 0 : 1] = 1;
    ZstdTable table;
    table.mode = SLUICE_ZS_FSE;
    table.counts = zstdCounts(frequencies, count % 2 == 0 ? 6 : 5, count % 3 == 0);
    const ZstdStates states = zstdStates(0, table, {});
    Bytes bytes = zstdDescription(table.counts);
    // The last two symbols are those of states that are not left any more.
    uint32_t state[2];
    ZstdBits bits;
    for (size_t i = count; i-- > 0;) {
        uint32_t& one = state[i % 2];
        if (i + 2 >= count) {
            one = lastState(states, weights[i]);
            continue;
        }
        const uint32_t before = stateBefore(states, weights[i], one);
        bits.put(one - states.states[before].base, states.states[before].bits);
        one = before;
    }
    bits.put(state[1], states.log);
    bits.put(state[0], states.log);
    append(bytes, bits.finish());
    return bytes;
}

} // namespace

void append(Bytes& to, const Bytes& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }
void appendLe(Bytes& to, uint64_t value, uint32_t size)
{
    for (uint32_t i = 0; i < size; ++i)
        to.push_back(uint8_t(value >> 8 * i));
}

void ZstdBits::put(uint64_t value, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        if (m_used % 8 == 0) m_bytes.push_back(0);
        m_bytes.back() |= uint8_t((value >> i & 1) << m_used++ % 8);
    }
}
Bytes ZstdBits::finish()
{
    put(1, 1);
    return m_bytes;
}

fse::Distribution zstdCounts(const std::vector<uint32_t>& frequencies, uint32_t log, bool low)
{
    fse::Distribution counts;
    counts.log = log;
    uint64_t sum = 0;
    uint32_t largest = 0;
    for (uint32_t s = 0; s < frequencies.size(); ++s) {
        sum += frequencies[s];
        if (frequencies[s] == 0) continue;
        counts.symbols = s + 1;
        if (frequencies[s] > frequencies[largest]) largest = s;
    }
    int rest = 1 << log;
    for (uint32_t s = 0; s < counts.symbols; ++s) {
        if (frequencies[s] == 0) continue;
        const uint64_t share = (uint64_t(frequencies[s]) << log) / sum;
        counts.count[s] = int16_t(share > 0 ? int(share) : low ? -1 : 1);
        rest -= std::abs(int(counts.count[s]));
    }
    // The most frequent symbols give up what others need.
    for (; rest < 0; ++rest) {
        int16_t* const most = std::max_element(counts.count, counts.count + counts.symbols);
        REQUIRE(*most > 1);
        --*most;
    }
    counts.count[largest] = int16_t(std::abs(int(counts.count[largest])) + rest);
    return counts;
}

Bytes zstdDescription(const fse::Distribution& counts)
{
    ZstdBits bits;
    bits.put(counts.log - fse::kMinLog, 4);
    uint32_t left = 1u << counts.log;
    for (uint32_t s = 0; left != 0; ++s) {
        const uint32_t value = uint32_t(counts.count[s] + 1), n = floorLog2(left + 1) + 1,
                       shorter = (1u << n) - 2 - left;
        if (value < shorter)
            bits.put(value, n - 1);
        else
            bits.put(value < 1u << (n - 1) ? value : value + shorter, n);
        left -= uint32_t(std::abs(int(counts.count[s])));
        if (counts.count[s] != 0) continue;
        uint32_t zeros = 0;
        while (counts.count[s + 1 + zeros] == 0)
            ++zeros;
        s += zeros;
        for (; zeros >= 3; zeros -= 3)
            bits.put(3, 2);
        bits.put(zeros, 2);
    }
    return bits.bytes();
}

fse::Distribution zstdPredefined(uint32_t kind)
{
    fse::Distribution counts;
    const auto take = [&](uint32_t log, const std::vector<int>& values) {
        counts.log = log;
        counts.symbols = uint32_t(values.size());
        for (size_t i = 0; i < values.size(); ++i)
            counts.count[i] = int16_t(values[i]);
    };
    if (kind == SLUICE_ZS_LITERAL_LENGTHS)
        take(6, {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1});
    else if (kind == SLUICE_ZS_OFFSETS)
        take(5, {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1});
    else
        take(6,
             {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1});
    return counts;
}

ZstdStates zstdStates(uint32_t kind, const ZstdTable& table, const ZstdStates& before)
{
    if (table.mode == SLUICE_ZS_REPEAT) return before;
    ZstdStates result;
    if (table.mode == SLUICE_ZS_ONE_SYMBOL) {
        result.states = {{0, uint8_t(table.symbol), 0}};
        return result;
    }
    const fse::Distribution counts =
        table.mode == SLUICE_ZS_FSE ? table.counts : zstdPredefined(kind);
    result.log = counts.log;
    result.states.resize(size_t(1) << counts.log);
    fse::buildStates(counts, result.states.data());
    return result;
}

uint32_t zstdBase(uint32_t kind, uint32_t symbol)
{
    if (kind == SLUICE_ZS_OFFSETS) return 1u << symbol;
    if (kind == SLUICE_ZS_LITERAL_LENGTHS)
        return symbol < 16 ? symbol : kLiteralRows[symbol - 16].base;
    return symbol < 32 ? symbol + 3 : kMatchRows[symbol - 32].base;
}
uint32_t zstdExtraBits(uint32_t kind, uint32_t symbol)
{
    if (kind == SLUICE_ZS_OFFSETS) return symbol;
    if (kind == SLUICE_ZS_LITERAL_LENGTHS) return symbol < 16 ? 0 : kLiteralRows[symbol - 16].bits;
    return symbol < 32 ? 0 : kMatchRows[symbol - 32].bits;
}
ZstdSymbol zstdSymbol(uint32_t kind, uint32_t value)
{
    uint32_t symbol = kind == SLUICE_ZS_OFFSETS           ? floorLog2(value)
                      : kind == SLUICE_ZS_LITERAL_LENGTHS ? SLUICE_ZS_LITERAL_LENGTH_SYMBOLS - 1
                                                          : SLUICE_ZS_MATCH_LENGTH_SYMBOLS - 1;
    while (zstdBase(kind, symbol) > value)
        --symbol;
    return {symbol, zstdExtraBits(kind, symbol), value - zstdBase(kind, symbol)};
}

Bytes zstdSequenceBits(const ZstdSequences& sequences, const ZstdStates* tables)
{
    constexpr uint32_t kLl = SLUICE_ZS_LITERAL_LENGTHS, kOf = SLUICE_ZS_OFFSETS,
                       kMl = SLUICE_ZS_MATCH_LENGTHS;
    ZstdBits bits;
    uint32_t state[SLUICE_ZS_TABLES] = {};
    for (size_t i = sequences.size(); i-- > 0;) {
        const ZstdSequence& sequence = sequences[i];
        const uint32_t values[SLUICE_ZS_TABLES] = {sequence.literals, sequence.offsetValue,
                                                   sequence.length};
        ZstdSymbol symbols[SLUICE_ZS_TABLES];
        for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
            symbols[kind] = zstdSymbol(kind, values[kind]);
        for (const uint32_t kind : {kOf, kMl, kLl}) {
            const ZstdStates& table = tables[kind];
            const bool last = i + 1 == sequences.size();
            const uint32_t before = last ? lastState(table, symbols[kind].symbol)
                                         : stateBefore(table, symbols[kind].symbol, state[kind]);
            if (!last) bits.put(state[kind] - table.states[before].base, table.states[before].bits);
            state[kind] = before;
        }
        for (const uint32_t kind : {kLl, kMl, kOf})
            bits.put(symbols[kind].extra, symbols[kind].bits);
    }
    for (const uint32_t kind : {kMl, kOf, kLl})
        bits.put(state[kind], tables[kind].log);
    return bits.finish();
}

Bytes zstdTree(const ZstdWeights& weights, bool direct)
{
    const size_t count = weights.size() - 1;
    Bytes bytes;
    if (direct) {
        if (count > 128) return {};
        bytes.push_back(uint8_t(127 + count));
        for (size_t i = 0; i < count; i += 2)
            bytes.push_back(uint8_t(weights[i] << 4 | (i + 1 < count ? weights[i + 1] : 0)));
        return bytes;
    }
    const Bytes coded = fseWeights(weights);
    if (coded.empty() || coded.size() > 127) return {};
    bytes.push_back(uint8_t(coded.size()));
    append(bytes, coded);
    return bytes;
}

Bytes zstdStream(const ZstdWeights& weights, const uint8_t* literals, size_t count)
{
    const uint32_t log = logOf(weights);
    std::vector<uint32_t> codes(weights.size());
    uint32_t at = 0;
    for (uint32_t weight = 1; weight <= log; ++weight) {
        for (size_t s = 0; s < weights.size(); ++s) {
            if (weights[s] != weight) continue;
            codes[s] = at >> (weight - 1);
            at += 1u << (weight - 1);
        }
    }
    ZstdBits bits;
    while (count-- > 0)
        bits.put(codes.at(literals[count]), log + 1 - weights[literals[count]]);
    return bits.finish();
}

Bytes ZstdBlockParts::joined() const
{
    Bytes bytes;
    for (const Bytes* part :
         {&literalsHeader, &tree, &jumps, &streams, &sequencesHeader, &tables, &bits})
        append(bytes, *part);
    return bytes;
}

Bytes zstdLiteralsHeader(uint32_t kind, uint32_t format, size_t literals, size_t bytes)
{
    Bytes header;
    if (kind < SLUICE_ZS_LITERALS_HUFFMAN) {
        const bool small = (format & 1) == 0;
        appendLe(header, kind | (small ? literals << 3 : format << 2 | literals << 4),
                 small         ? 1
                 : format == 1 ? 2
                               : 3);
    } else {
        constexpr uint32_t kBits[4] = {10, 10, 14, 18};
        appendLe(header,
                 kind | format << 2 | uint64_t(literals) << 4 |
                     uint64_t(bytes) << (4 + kBits[format]),
                 format < 2 ? 3 : format + 2);
    }
    return header;
}

void zstdStreams(ZstdBlockParts& parts, const ZstdWeights& weights, const Bytes& literals,
                 uint32_t streams)
{
    parts.jumps.clear();
    parts.streams.clear();
    const size_t share = (literals.size() + streams - 1) / streams;
    for (uint32_t i = 0; i < streams; ++i) {
        const size_t first = std::min(i * share, literals.size()),
                     count = std::min(share, literals.size() - first);
        const Bytes stream = zstdStream(weights, literals.data() + first, count);
        if (i + 1 < streams) appendLe(parts.jumps, stream.size(), 2);
        append(parts.streams, stream);
    }
}

Bytes zstdSequenceCount(uint32_t count, uint32_t bytes)
{
    if (bytes == 1) return {uint8_t(count)};
    if (bytes == 2) return {uint8_t(128 + (count >> 8)), uint8_t(count)};
    Bytes header = {255};
    appendLe(header, count - 0x7f00, 2);
    return header;
}

Bytes zstdBlockHeader(uint32_t kind, size_t size, bool last)
{
    Bytes bytes;
    appendLe(bytes, uint32_t(last) | kind << 1 | size << 3, 3);
    return bytes;
}
Bytes zstdBlock(uint32_t kind, const Bytes& content, bool last)
{
    Bytes bytes = zstdBlockHeader(kind, content.size(), last);
    append(bytes, content);
    return bytes;
}
Bytes zstdRleBlock(uint8_t byte, size_t size, bool last)
{
    Bytes bytes = zstdBlockHeader(SLUICE_ZS_RLE, size, last);
    bytes.push_back(byte);
    return bytes;
}

Bytes zstdHeader(const ZstdHeader& header)
{
    const uint32_t idFlag = header.dictionaryIdBytes == 4 ? 3 : header.dictionaryIdBytes;
    const uint32_t sizeFlag = header.contentSizeBytes == 8   ? 3
                              : header.contentSizeBytes == 4 ? 2
                              : header.contentSizeBytes == 2 ? 1
                                                             : 0;
    Bytes bytes;
    appendLe(bytes, SLUICE_ZS_MAGIC, 4);
    bytes.push_back(uint8_t(idFlag | uint32_t(header.checksum) << 2 |
                            uint32_t(header.singleSegment) << 5 | sizeFlag << 6 |
                            header.otherBits));
    if (!header.singleSegment) bytes.push_back(uint8_t(header.window));
    appendLe(bytes, header.dictionaryId, header.dictionaryIdBytes);
    appendLe(bytes, header.contentSize.value_or(0) - (header.contentSizeBytes == 2 ? 256 : 0),
             header.contentSizeBytes);
    return bytes;
}

Bytes zstdChecksum(const Bytes& content)
{
    Bytes bytes;
    appendLe(bytes, XXH64(content.data(), content.size(), 0), 4);
    return bytes;
}

Bytes zstdSkippable(uint32_t number, const Bytes& content)
{
    Bytes bytes;
    appendLe(bytes, SLUICE_ZS_SKIPPABLE_MAGIC + number, 4);
    appendLe(bytes, content.size(), 4);
    append(bytes, content);
    return bytes;
}

} // namespace sluice::test
