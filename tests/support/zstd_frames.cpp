// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/zstd_frames.h"

#include "formats/integers.h"

#include <algorithm>
#include <numeric>

namespace sluice::test {

uint32_t zstdOffset(uint32_t* repeats, uint32_t offsetValue, uint32_t literals)
{
    if (offsetValue > 3) {
        repeats[2] = repeats[1];
        repeats[1] = repeats[0];
        return repeats[0] = offsetValue - 3;
    }
    const uint32_t place = offsetValue - (literals != 0 ? 1 : 0);
    const uint32_t offset = place == 3 ? repeats[0] - 1 : repeats[place];
    if (place >= 2) repeats[2] = repeats[1];
    if (place >= 1) repeats[1] = repeats[0];
    return repeats[0] = offset;
}

void zstdExpand(Bytes& history, uint32_t* repeats, const ZstdSequences& sequences,
                const Bytes& literals)
{
    size_t literal = 0;
    for (const ZstdSequence& sequence : sequences) {
        for (uint32_t i = 0; i < sequence.literals; ++i)
            history.push_back(literals.at(literal++));
        const uint32_t offset = zstdOffset(repeats, sequence.offsetValue, sequence.literals);
        for (uint32_t i = 0; i < sequence.length; ++i)
            history.push_back(history.at(history.size() - offset));
    }
    history.insert(history.end(), literals.begin() + ptrdiff_t(literal), literals.end());
}

// Returns a small size, sometimes a large one or one at the edges.
uint32_t ZstdGenerator::someSize(uint32_t most)
{
    switch (below(12)) {
    case 0: return 0;
    case 1: return std::min(1u, most);
    case 2: return oneIn(4) ? most : most / 7;
    case 3: return below(most + 1);
    default: return below(std::min(most, 2000u) + 1);
    }
}

Bytes ZstdGenerator::noise(size_t size)
{
    Bytes bytes(size);
    const uint32_t values = 1 + below(256);
    for (uint8_t& byte : bytes)
        byte = uint8_t(below(values));
    return bytes;
}

ZstdWeights ZstdGenerator::weights(uint32_t symbols, uint32_t longest)
{
    // Leaves of a tree are split until there are enough of them. The depth of a leaf is the length
    // of its code.
    std::vector<uint32_t> depths = {1, 1};
    const uint32_t deepest = std::max(1 + below(longest), floorLog2(symbols * 2 - 1));
    while (depths.size() < symbols) {
        const size_t leaf = below(4) == 0 ? depths.size() - 1 : below(uint32_t(depths.size()));
        if (depths[leaf] >= deepest) continue;
        depths.push_back(++depths[leaf]);
    }
    const uint32_t log = *std::max_element(depths.begin(), depths.end());
    const uint32_t alphabet = oneIn(2) ? 256 : std::max(symbols, 2 + below(128));
    std::vector<uint32_t> order(alphabet);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), m_random);
    ZstdWeights result(alphabet);
    for (size_t i = 0; i < depths.size(); ++i)
        result[order[i]] = uint8_t(log + 1 - depths[i]);
    while (result.back() == 0)
        result.pop_back();
    return result;
}

ZstdDictionaryParts ZstdGenerator::dictionary(bool trained)
{
    ZstdDictionaryParts parts;
    parts.content = noise(8 + someSize(20000));
    if (!trained) {
        parts.content[0] = 0;
        parts.bytes = parts.content;
        return parts;
    }
    parts.id = 1 + below(oneIn(2) ? 255 : 1u << 30);
    appendLe(parts.bytes, SLUICE_ZS_DICTIONARY_MAGIC, 4);
    appendLe(parts.bytes, parts.id, 4);
    Bytes tree;
    while (tree.empty()) {
        parts.state.weights = weights(2 + below(255), SLUICE_ZS_DICTIONARY_CODE_LENGTH);
        tree = zstdTree(parts.state.weights, oneIn(3));
    }
    append(parts.bytes, tree);
    for (const uint32_t kind :
         {SLUICE_ZS_OFFSETS, SLUICE_ZS_MATCH_LENGTHS, SLUICE_ZS_LITERAL_LENGTHS}) {
        constexpr uint32_t kSymbols[3] = {36, 32, 53};
        std::vector<uint32_t> frequencies(kSymbols[kind]);
        for (uint32_t& frequency : frequencies)
            frequency = 1 + below(50);
        ZstdTable table;
        table.mode = SLUICE_ZS_FSE;
        const uint32_t log = 7 + below(2);
        table.counts = zstdCounts(frequencies, log, oneIn(2));
        append(parts.bytes, zstdDescription(table.counts));
        parts.state.tables[kind] = zstdStates(kind, table, {});
    }
    parts.state.hasTables = true;
    for (uint32_t& repeat : parts.state.repeats) {
        repeat = 1 + below(uint32_t(parts.content.size()));
        appendLe(parts.bytes, repeat, 4);
    }
    append(parts.bytes, parts.content);
    return parts;
}

ZstdGenerator::Made ZstdGenerator::frame(const ZstdDictionaryParts* dictionary)
{
    ZstdHeader header;
    header.window = oneIn(3) ? below(8) : oneIn(2) ? 7 * 8 + below(8) : below(15 * 8);
    m_window = uint64_t(1) << (10 + (header.window >> 3));
    m_window += m_window / 8 * (header.window & 7);
    m_blockMaximum = uint32_t(std::min<uint64_t>(m_window, SLUICE_ZS_BLOCK_BYTES));
    m_largestBlock = 0;
    m_state = {};
    m_history.clear();
    if (dictionary != nullptr) {
        m_state = dictionary->state;
        m_history = dictionary->content;
        if (dictionary->id != 0 && oneIn(2)) {
            header.dictionaryId = dictionary->id;
            header.dictionaryIdBytes = dictionary->id < 256 && oneIn(2)     ? 1
                                       : dictionary->id < 65536 && oneIn(2) ? 2
                                                                            : 4;
        }
    }
    m_dictionarySize = m_history.size();
    const uint32_t count = oneIn(4) ? 1 : 1 + below(12);
    Bytes blocks;
    for (uint32_t i = 0; i < count; ++i)
        append(blocks, block(i + 1 == count));

    Made made;
    made.content.assign(m_history.begin() + ptrdiff_t(m_dictionarySize), m_history.end());
    const size_t size = made.content.size();
    header.contentSize = size;
    header.singleSegment =
        oneIn(3) && m_largestBlock <= std::max(size, size_t(SLUICE_ZS_MIN_WINDOW));
    const uint32_t widths[4] = {header.singleSegment ? 1u : 0u, 2, 4, 8};
    do
        header.contentSizeBytes = widths[below(4)];
    while ((header.contentSizeBytes == 1 && size > 255) ||
           (header.contentSizeBytes == 2 && (size < 256 || size > 65791)));
    header.checksum = oneIn(2);
    header.otherBits = oneIn(8) ? 1u << 4 : 0; // sets the unused bit
    m_kinds.insert("content size in " + std::to_string(header.contentSizeBytes) +
                   (header.singleSegment ? ", single segment" : ""));
    if (header.checksum) m_kinds.insert("checksum");
    made.frame = zstdHeader(header);
    append(made.frame, blocks);
    if (header.checksum) append(made.frame, zstdChecksum(made.content));
    return made;
}

Bytes ZstdGenerator::block(bool last)
{
    const uint32_t kind = below(8);
    if (kind >= 2) {
        const ZstdState before = m_state;
        const size_t size = m_history.size();
        const Bytes content = compressed();
        if (content.size() <= m_blockMaximum) {
            m_largestBlock = std::max(m_largestBlock, uint32_t(content.size()));
            if (m_history.size() == size) m_kinds.insert("compressed block of nothing");
            if (m_history.size() - size == SLUICE_ZS_BLOCK_BYTES)
                m_kinds.insert("compressed block of 128 KiB");
            return zstdBlock(SLUICE_ZS_COMPRESSED, content, last);
        }
        m_state = before;
        m_history.resize(size);
    }
    const uint32_t size = someSize(m_blockMaximum);
    const std::string name = kind == 0 ? "raw block" : "RLE block";
    m_kinds.insert(size == 0                       ? name + " of nothing"
                   : size == SLUICE_ZS_BLOCK_BYTES ? name + " of 128 KiB"
                                                   : name);
    if (kind != 0) {
        m_history.insert(m_history.end(), size, uint8_t(kind * 50));
        return zstdRleBlock(uint8_t(kind * 50), size, last);
    }
    m_largestBlock = std::max(m_largestBlock, size);
    const Bytes bytes = noise(size);
    append(m_history, bytes);
    return zstdBlock(SLUICE_ZS_RAW, bytes, last);
}

uint32_t ZstdGenerator::value(uint32_t kind, const Symbols& allowed, uint32_t most)
{
    const auto usable = std::partition_point(allowed.begin(), allowed.end(),
                                             [&](uint8_t s) { return zstdBase(kind, s) <= most; });
    const uint32_t count = uint32_t(usable - allowed.begin());
    if (count == 0) return UINT32_MAX;
    const uint32_t symbol = allowed[oneIn(4) ? below(count) : below(std::min(count, 12u))];
    const uint32_t base = zstdBase(kind, symbol),
                   extra = (uint32_t(1) << zstdExtraBits(kind, symbol)) - 1;
    const uint32_t highest = std::min(extra, most - base);
    return base + (oneIn(8) ? highest : highest == 0 ? 0 : uint32_t(m_random() % (highest + 1ull)));
}

bool ZstdGenerator::sequence(const Symbols* allowed, uint32_t room, size_t done,
                             const uint32_t* repeats, ZstdSequence& result)
{
    for (uint32_t tries = 0; tries < 4; ++tries) {
        if (room < SLUICE_ZS_MIN_MATCH) return false;
        result.literals =
            value(SLUICE_ZS_LITERAL_LENGTHS, allowed[SLUICE_ZS_LITERAL_LENGTHS],
                  oneIn(3) ? 0 : std::min(room - SLUICE_ZS_MIN_MATCH, oneIn(20) ? room : 400u));
        if (result.literals == UINT32_MAX) continue;
        result.length = value(SLUICE_ZS_MATCH_LENGTHS, allowed[SLUICE_ZS_MATCH_LENGTHS],
                              std::min(room - result.literals, oneIn(20) ? room : 700u));
        if (result.length == UINT32_MAX) continue;
        const size_t here = done + result.literals;
        const size_t furthest = here <= m_window ? here + m_dictionarySize : size_t(m_window);
        result.offsetValue =
            value(SLUICE_ZS_OFFSETS, allowed[SLUICE_ZS_OFFSETS],
                  oneIn(3) ? 3 : uint32_t(std::min<size_t>(furthest, 1u << 20)) + 3);
        if (result.offsetValue == UINT32_MAX) continue;
        uint32_t after[SLUICE_ZS_REPEATS];
        std::copy_n(repeats, SLUICE_ZS_REPEATS, after);
        const uint32_t offset = zstdOffset(after, result.offsetValue, result.literals);
        if (offset != 0 && offset <= furthest) return true;
    }
    return false;
}

ZstdSequences ZstdGenerator::sequences(const Symbols* allowed, uint32_t room)
{
    ZstdSequences result;
    const uint32_t wanted = oneIn(30) ? below(40000) : oneIn(3) ? 1 + below(3) : 1 + below(400);
    uint32_t repeats[SLUICE_ZS_REPEATS];
    std::copy_n(m_state.repeats, SLUICE_ZS_REPEATS, repeats);
    size_t done = m_history.size() - m_dictionarySize;
    ZstdSequence next;
    while (result.size() < wanted && sequence(allowed, room, done, repeats, next)) {
        zstdOffset(repeats, next.offsetValue, next.literals);
        if (next.offsetValue <= 3)
            m_kinds.insert("repeat " + std::to_string(next.offsetValue) +
                           (next.literals == 0 ? " without literals" : ""));
        result.push_back(next);
        room -= next.literals + next.length;
        done += next.literals + next.length;
    }
    return result;
}

Bytes ZstdGenerator::compressed()
{
    constexpr uint32_t kSymbols[3] = {36, 32, 53};
    ZstdTable wanted[SLUICE_ZS_TABLES];
    Symbols allowed[SLUICE_ZS_TABLES];
    for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind) {
        wanted[kind].mode = below(m_state.hasTables ? 4 : 3);
        if (oneIn(3)) wanted[kind].mode = SLUICE_ZS_FSE;
        wanted[kind].symbol = below(oneIn(3) ? kSymbols[kind] : 9);
        std::set<uint8_t> symbols;
        if (wanted[kind].mode == SLUICE_ZS_FSE) {
            for (uint32_t s = 0; s < kSymbols[kind]; ++s)
                symbols.insert(uint8_t(s));
        } else {
            for (const fse::State& state :
                 zstdStates(kind, wanted[kind], m_state.tables[kind]).states)
                symbols.insert(state.symbol);
        }
        allowed[kind].assign(symbols.begin(), symbols.end());
    }
    const uint32_t room = oneIn(5) ? m_blockMaximum : someSize(m_blockMaximum);
    ZstdSequences made;
    if (!oneIn(5)) made = sequences(allowed, room);
    uint32_t literalCount = 0, matches = 0;
    for (const ZstdSequence& sequence : made) {
        literalCount += sequence.literals;
        matches += sequence.length;
    }
    literalCount += oneIn(3)   ? 0
                    : oneIn(8) ? room - literalCount - matches
                               : someSize(room - literalCount - matches);
    ZstdBlockParts parts;
    Bytes bytes;
    literals(parts, literalCount, bytes);
    tables(parts, made, wanted);
    zstdExpand(m_history, m_state.repeats, made, bytes);
    return parts.joined();
}

// Makes literals that the last code, or a new one, can encode.
void ZstdGenerator::literals(ZstdBlockParts& parts, uint32_t count, Bytes& bytes)
{
    uint32_t kind = below(4);
    if (count == 0 || (kind == SLUICE_ZS_LITERALS_TREELESS && m_state.weights.empty())) kind &= 1;
    if (kind == SLUICE_ZS_LITERALS_HUFFMAN) {
        const ZstdWeights code = weights(oneIn(4) ? 2 : 2 + below(255));
        const bool direct = oneIn(2);
        parts.tree = zstdTree(code, direct);
        if (parts.tree.empty())
            kind = SLUICE_ZS_LITERALS_RAW;
        else {
            m_state.weights = code;
            m_kinds.insert(direct ? "direct weights" : "FSE weights");
        }
    }
    if (kind >= SLUICE_ZS_LITERALS_HUFFMAN) {
        const uint32_t streams = count < SLUICE_ZS_FOUR_STREAMS_LITERALS ? 1
                                 : count > 1023                          ? 4
                                                                         : 1 + 3 * below(2);
        Bytes symbols;
        for (size_t s = 0; s < m_state.weights.size(); ++s)
            if (m_state.weights[s] != 0) symbols.push_back(uint8_t(s));
        bytes.resize(count);
        for (uint8_t& byte : bytes)
            byte = symbols[below(uint32_t(symbols.size()))];
        zstdStreams(parts, m_state.weights, bytes, streams);
        const size_t size = parts.tree.size() + parts.jumps.size() + parts.streams.size();
        uint32_t format = streams == 1 ? 0 : 1 + below(3);
        if (format == 1 && std::max<size_t>(size, count) > 1023) format = 2;
        if (format == 2 && std::max<size_t>(size, count) > 16383) format = 3;
        const bool fits = size < (format == 0 ? 1024 : 1u << 18);
        m_kinds.insert(
            (kind == SLUICE_ZS_LITERALS_HUFFMAN ? "coded literals in " : "treeless literals in ") +
            std::to_string(streams));
        // If the literals do not fit into a header, the block becomes too long, so that it is not
        // used.
        parts.literalsHeader =
            fits ? zstdLiteralsHeader(kind, format, count, size) : Bytes(SLUICE_ZS_BLOCK_BYTES + 1);
        return;
    }
    bytes = kind == SLUICE_ZS_LITERALS_RAW ? noise(count) : Bytes(count, uint8_t(below(256)));
    m_kinds.insert(kind == SLUICE_ZS_LITERALS_RAW ? "raw literals" : "RLE literals");
    uint32_t format = below(4);
    if ((format & 1) == 0 && count > 31) format = 1;
    if (format == 1 && count > 4095) format = 3;
    parts.literalsHeader = zstdLiteralsHeader(kind, format, count, 0);
    parts.streams = kind == SLUICE_ZS_LITERALS_RAW ? bytes
                    : bytes.empty()                ? Bytes{7}
                                                   : Bytes{bytes[0]};
}

void ZstdGenerator::tables(ZstdBlockParts& parts, const ZstdSequences& made,
                           const ZstdTable* wanted)
{
    if (made.empty()) {
        parts.sequencesHeader = {0};
        return;
    }
    const uint32_t count = uint32_t(made.size());
    const uint32_t least = count < 128 ? 1 : count < 0x7f00 ? 2 : 3;
    parts.sequencesHeader = zstdSequenceCount(count, least == 1 && oneIn(3) ? 2 : least);
    uint32_t modes = 0;
    for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind) {
        ZstdTable table = wanted[kind];
        constexpr uint32_t kSymbols[3] = {36, 32, 53}, kLogs[3] = {9, 8, 9};
        if (table.mode == SLUICE_ZS_FSE) {
            std::vector<uint32_t> frequencies(kSymbols[kind]);
            for (const ZstdSequence& sequence : made) {
                const uint32_t values[3] = {sequence.literals, sequence.offsetValue,
                                            sequence.length};
                ++frequencies[zstdSymbol(kind, values[kind]).symbol];
            }
            if (oneIn(3)) ++frequencies[below(kSymbols[kind])];
            const uint32_t log = 6 + below(kLogs[kind] - 5);
            table.counts = zstdCounts(frequencies, log, oneIn(2));
            append(parts.tables, zstdDescription(table.counts));
        } else if (table.mode == SLUICE_ZS_ONE_SYMBOL) {
            parts.tables.push_back(uint8_t(table.symbol));
        }
        modes |= table.mode << (6 - 2 * kind);
        m_state.tables[kind] = zstdStates(kind, table, m_state.tables[kind]);
        m_kinds.insert("table " + std::to_string(kind) + " in mode " + std::to_string(table.mode));
    }
    m_state.hasTables = true;
    parts.sequencesHeader.push_back(uint8_t(modes));
    parts.bits = zstdSequenceBits(made, m_state.tables);
}

} // namespace sluice::test
