// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/zstd/zstd_blocks.h"

#include <algorithm>

#include "formats/little_endian.h"
#include "encode/zstd/zstd_fse.h"
#include "encode/zstd/zstd_literals.h"

namespace sluice::zstd {
namespace {

// The most literals for which the format allows a single stream. Four streams are used only above
// that: decoding one stream of so few literals takes no longer than the block's sequences.
constexpr uint32_t kOneStream = 1023;

struct Symbol {
    uint32_t symbol, bits, extra;
};

Symbol symbolOf(uint32_t kind, uint32_t value)
{
    uint32_t symbol = 0; // the largest symbol whose base is at most `value`
    if (kind == SLUICE_ZS_OFFSETS) {
        symbol = floorLog2(value);
    } else {
        uint32_t end = kind == SLUICE_ZS_LITERAL_LENGTHS ? SLUICE_ZS_LITERAL_LENGTH_SYMBOLS
                                                         : SLUICE_ZS_MATCH_LENGTH_SYMBOLS;
        while (end - symbol > 1) {
            const uint32_t middle = (symbol + end) / 2;
            (valueCode(kind, middle).base <= value ? symbol : end) = middle;
        }
    }
    const ValueCode code = valueCode(kind, symbol);
    return {symbol, code.bits, value - code.base};
}

uint32_t valueOf(const Sequence& sequence, uint32_t kind)
{
    return kind == SLUICE_ZS_OFFSETS           ? sequence.offsetValue
           : kind == SLUICE_ZS_LITERAL_LENGTHS ? sequence.literals
                                               : sequence.length;
}

// Returns the size in bytes of the smallest header for coded literals that can hold the number of
// literals and their stored size.
uint32_t literalsHeaderSize(uint32_t literals, uint32_t stored)
{
    const uint32_t most = std::max(literals, stored);
    return most < 1u << 10 ? 3 : most < 1u << 14 ? 4 : 5;
}

// Returns how many bytes literals take without a code, with their header.
uint32_t plainSize(uint32_t literals)
{
    return literals + (literals < 32 ? 1 : literals < 4096 ? 2 : 3);
}

void putPlainHeader(uint32_t kind, uint32_t literals, std::vector<uint8_t>& to)
{
    const uint32_t size = plainSize(literals) - literals,
                   header = size == 1 ? kind | literals << 3
                                      : kind | (size == 2 ? 1u : 3u) << 2 | literals << 4;
    for (uint32_t i = 0; i < size; ++i)
        to.push_back(uint8_t(header >> 8 * i));
}

// Divides `count` consecutive blocks into runs of up to longestRun blocks that share a code, so
// that the total cost is least. codeOf(first, last, cost) returns the best code for these blocks
// and sets its cost. If it returns no code, the cost is that of storing them without one.
// take(block, code) receives the code of each block.
template <class Code, class CodeOf, class Take>
void planRuns(uint32_t count, uint32_t longestRun, const CodeOf& codeOf, const Take& take)
{
    struct Best {
        uint64_t cost;
        uint32_t first;
        Code code;
    };
    std::vector<Best> best(count + 1);
    for (uint32_t last = 0; last < count; ++last) {
        Best& to = best[last + 1];
        to.cost = UINT64_MAX;
        for (uint32_t run = 1; run <= std::min(longestRun, last + 1); ++run) {
            const uint32_t first = last + 1 - run;
            uint64_t cost = 0;
            Code code = codeOf(first, last, cost);
            if (best[first].cost + cost >= to.cost) continue;
            to = {best[first].cost + cost, first, std::move(code)};
        }
    }
    for (uint32_t end = count; end > 0; end = best[end].first)
        for (uint32_t i = best[end].first; i < end; ++i)
            take(i, best[end].code);
}

} // namespace

struct BlockWriter::Block {
    uint32_t begin, size;            // offset and size of its content in bytes
    uint32_t firstSequence, count;   // its sequences in m_sequences
    uint32_t firstLiteral, literals; // its literals in m_bytes
    LiteralCounts bytes;
    Histogram symbols[SLUICE_ZS_TABLES];
    Literals code; // null: the literals are stored uncoded
    Code codes[SLUICE_ZS_TABLES];
};

BlockWriter::BlockWriter()
{
    for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
        m_predefined[kind] = predefinedFse(kind);
}
BlockWriter::~BlockWriter() = default;

void BlockWriter::begin(uint32_t blockMaximum)
{
    m_blockMaximum = blockMaximum;
    for (uint32_t i = 0; i < SLUICE_ZS_REPEATS; ++i)
        m_repeats[i] = SLUICE_ZS_FIRST_REPEATS >> 8 * i & 0xff;
    m_literals = nullptr;
    std::fill(std::begin(m_codes), std::end(m_codes), nullptr);
}

// Ends the last block of m_blocks at `end` and collects its literals. Bytes behind its last
// sequence are literals.
void BlockWriter::closeBlock(const uint8_t* bytes, uint32_t end)
{
    Block& block = m_blocks.back();
    block.size = end - block.begin;
    block.count = uint32_t(m_sequences.size()) - block.firstSequence;
    uint32_t at = block.begin;
    for (uint32_t i = block.firstSequence; i < m_sequences.size(); ++i) {
        m_bytes.insert(m_bytes.end(), bytes + at, bytes + at + m_sequences[i].literals);
        at += m_sequences[i].literals + m_sequences[i].length;
    }
    m_bytes.insert(m_bytes.end(), bytes + at, bytes + end);
    block.literals = uint32_t(m_bytes.size()) - block.firstLiteral;
    for (uint32_t i = block.firstLiteral; i < m_bytes.size(); ++i)
        ++block.bytes.count[m_bytes[i]];
}

void BlockWriter::openBlock(uint32_t begin)
{
    m_blocks.push_back({});
    Block& block = m_blocks.back();
    block.begin = begin;
    block.firstSequence = uint32_t(m_sequences.size());
    block.firstLiteral = uint32_t(m_bytes.size());
}

// Cuts the bytes from `begin` to `end` into blocks with about the same number of sequences each.
void BlockWriter::cut(const uint8_t* bytes, uint32_t begin, uint32_t end, const Match* matches,
                      uint32_t count)
{
    const uint32_t most = divideUp(count, std::max(divideUp(count, kMostSequences), 1u));
    uint32_t position = begin; // end of the last sequence, or start of the block
    const auto next = [&](uint32_t at) {
        closeBlock(bytes, at);
        openBlock(at);
        position = at;
    };
    // Ends blocks until the bytes before `to` fit into the current block. The bytes [whole, to)
    // must be in one block, so no block ends inside them.
    const auto makeRoom = [&](uint32_t whole, uint32_t to) {
        while (to - m_blocks.back().begin > m_blockMaximum)
            next(std::min(whole, m_blocks.back().begin + m_blockMaximum));
    };
    openBlock(begin);
    for (const Match* match = matches; match != matches + count; ++match) {
        if (m_sequences.size() - m_blocks.back().firstSequence == most) next(position);
        makeRoom(match->position, match->position + match->length);
        m_sequences.push_back({match->position - position, match->length, 0});
        m_offsets.push_back(match->offset);
        position = match->position + match->length;
    }
    makeRoom(end, end);
    closeBlock(bytes, end);
}

// Sets the sequences' offset values, which depend on the offsets before them, and counts symbols.
void BlockWriter::setOffsetValues(Block& block)
{
    for (Histogram& histogram : block.symbols)
        histogram = {};
    for (uint32_t i = block.firstSequence; i < block.firstSequence + block.count; ++i) {
        Sequence& sequence = m_sequences[i];
        const uint32_t offset = m_offsets[i];
        uint32_t place = sequence.literals == 0 ? 1 : 0;
        while (place < SLUICE_ZS_REPEATS && m_repeats[place] != offset)
            ++place;
        const bool isNearby =
            place == SLUICE_ZS_REPEATS && sequence.literals == 0 && offset == m_repeats[0] - 1;
        sequence.offsetValue = place < SLUICE_ZS_REPEATS ? place + (sequence.literals == 0 ? 0 : 1)
                               : isNearby                ? SLUICE_ZS_REPEATS
                                                         : offset + SLUICE_ZS_REPEATS;
        for (uint32_t k = std::min(place, SLUICE_ZS_REPEATS - 1); k > 0; --k)
            m_repeats[k] = m_repeats[k - 1];
        m_repeats[0] = offset;
        for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
            block.symbols[kind].add(symbolOf(kind, valueOf(sequence, kind)).symbol);
    }
}

void BlockWriter::planLiterals(uint32_t longestRun)
{
    std::vector<Block*> blocks; // blocks whose literals may be coded
    for (Block& block : m_blocks)
        if (block.bytes.used() > 1) blocks.push_back(&block);
    const auto costOf = [](const Block& block, const LiteralCode& code) {
        const uint64_t bits = code.bits(block.bytes);
        if (bits == UINT64_MAX) return uint64_t(plainSize(block.literals));
        const uint64_t streams = bits / 8 + (block.literals <= kOneStream ? 1 : 10);
        return std::min<uint64_t>(plainSize(block.literals),
                                  streams + literalsHeaderSize(block.literals, 0));
    };
    planRuns<Literals>(
        uint32_t(blocks.size()), longestRun,
        [&](uint32_t first, uint32_t last, uint64_t& cost) -> Literals {
            LiteralCounts counts;
            for (uint32_t i = first; i <= last; ++i)
                counts.add(blocks[i]->bytes);
            Literals code =
                first == 0 && m_literals != nullptr && m_literals->bits(counts) != UINT64_MAX
                    ? m_literals
                    : nullptr;
            uint64_t repeated = UINT64_MAX;
            if (code != nullptr) {
                repeated = 0;
                for (uint32_t i = first; i <= last; ++i)
                    repeated += costOf(*blocks[i], *code);
            }
            cost = 0;
            Literals made = fitLiterals(counts);
            if (made != nullptr) {
                cost = made->description.size();
                for (uint32_t i = first; i <= last; ++i)
                    cost += costOf(*blocks[i], *made);
            }
            if (code != nullptr && (made == nullptr || repeated <= cost)) {
                cost = repeated;
                return code;
            }
            if (made == nullptr)
                for (uint32_t i = first; i <= last; ++i)
                    cost += plainSize(blocks[i]->literals);
            return made;
        },
        [&](uint32_t i, const Literals& code) { blocks[i]->code = code; });
}

void BlockWriter::planTable(uint32_t kind, uint32_t longestRun)
{
    std::vector<Block*> blocks; // blocks with sequences
    for (Block& block : m_blocks)
        if (block.count != 0) blocks.push_back(&block);
    planRuns<Code>(
        uint32_t(blocks.size()), longestRun,
        [&](uint32_t first, uint32_t last, uint64_t& cost) {
            Histogram histogram;
            for (uint32_t i = first; i <= last; ++i)
                histogram.add(blocks[i]->symbols[kind]);
            Code best = bestFse(kind, histogram, cost);
            const auto consider = [&](const Code& code) {
                const uint64_t other = code->cost(histogram);
                if (other > cost) return;
                cost = other;
                best = code;
            };
            if (first == 0 && m_codes[kind] != nullptr) consider(m_codes[kind]);
            consider(m_predefined[kind]);
            // Each block stores its first state, but code->cost() has counted only one.
            cost += bitCost(uint64_t(best->states.log) * (last - first));
            return best;
        },
        [&](uint32_t i, const Code& code) { blocks[i]->codes[kind] = code; });
}

void BlockWriter::writeLiterals(const Block& block, std::vector<uint8_t>& to)
{
    const uint8_t* const literals = m_bytes.data() + block.firstLiteral;
    if (block.literals != 0 && block.bytes.used() == 1) {
        putPlainHeader(SLUICE_ZS_LITERALS_RLE, block.literals, to);
        to.push_back(literals[0]);
        return;
    }
    if (block.code != nullptr && block.code->bits(block.bytes) != UINT64_MAX) {
        const bool isRepeated = block.code == m_literals, isOne = block.literals <= kOneStream;
        std::vector<uint8_t> stored;
        if (!isRepeated) stored = block.code->description;
        if (isOne) {
            block.code->write(literals, block.literals, stored);
        } else {
            const uint32_t share = divideUp(block.literals, 4u);
            const size_t jumps = stored.size();
            stored.resize(jumps + 6);
            for (uint32_t i = 0; i < 4; ++i) {
                const size_t before = stored.size();
                block.code->write(literals + i * share, std::min(share, block.literals - i * share),
                                  stored);
                if (i < 3) storeLe16(&stored[jumps + 2 * i], uint32_t(stored.size() - before));
            }
        }
        const uint32_t size = uint32_t(stored.size()),
                       headerSize = literalsHeaderSize(block.literals, size);
        if (headerSize + size < plainSize(block.literals) && (headerSize == 3 || !isOne)) {
            const uint32_t kind = isRepeated ? SLUICE_ZS_LITERALS_TREELESS
                                             : SLUICE_ZS_LITERALS_HUFFMAN,
                           format = isOne ? 0 : headerSize - 2,
                           bits = headerSize == 3   ? 10
                                  : headerSize == 4 ? 14
                                                    : 18;
            const uint64_t header =
                kind | format << 2 | uint64_t(block.literals) << 4 | uint64_t(size) << (4 + bits);
            for (uint32_t i = 0; i < headerSize; ++i)
                to.push_back(uint8_t(header >> 8 * i));
            to.insert(to.end(), stored.begin(), stored.end());
            m_literals = block.code;
            return;
        }
    }
    putPlainHeader(SLUICE_ZS_LITERALS_RAW, block.literals, to);
    to.insert(to.end(), literals, literals + block.literals);
}

void BlockWriter::writeSequences(const Block& block, std::vector<uint8_t>& to)
{
    static_assert(kMostSequences < 0x7f00);
    if (block.count >= 128) to.push_back(uint8_t(128 + (block.count >> 8)));
    to.push_back(uint8_t(block.count));
    if (block.count == 0) return;
    const size_t modes = to.size();
    to.push_back(0);
    for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind) {
        Code code = block.codes[kind];
        // If a block before this one was stored plain, the repeated offsets differ from the planned
        // ones, so the planned table may lack a symbol.
        if (code->cost(block.symbols[kind]) == kNever) {
            uint64_t cost;
            code = bestFse(kind, block.symbols[kind], cost);
        }
        const bool isRepeated = code == m_codes[kind];
        to[modes] |= uint8_t((isRepeated ? SLUICE_ZS_REPEAT : code->mode) << (6 - 2 * kind));
        if (!isRepeated) to.insert(to.end(), code->description.begin(), code->description.end());
        m_codes[kind] = code;
    }
    BitWriter bits(to);
    uint32_t states[SLUICE_ZS_TABLES] = {};
    for (uint32_t i = block.count; i-- > 0;) {
        Symbol symbols[SLUICE_ZS_TABLES];
        for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
            symbols[kind] = symbolOf(kind, valueOf(m_sequences[block.firstSequence + i], kind));
        for (const uint32_t kind :
             {SLUICE_ZS_OFFSETS, SLUICE_ZS_MATCH_LENGTHS, SLUICE_ZS_LITERAL_LENGTHS}) {
            const FseCode& code = *m_codes[kind];
            if (code.states.log == 0) continue;
            states[kind] = i + 1 == block.count
                               ? code.first(symbols[kind].symbol)
                               : code.next(states[kind], symbols[kind].symbol, bits);
        }
        for (const uint32_t kind :
             {SLUICE_ZS_LITERAL_LENGTHS, SLUICE_ZS_MATCH_LENGTHS, SLUICE_ZS_OFFSETS})
            bits.put(symbols[kind].extra, symbols[kind].bits);
    }
    for (const uint32_t kind :
         {SLUICE_ZS_MATCH_LENGTHS, SLUICE_ZS_OFFSETS, SLUICE_ZS_LITERAL_LENGTHS})
        if (m_codes[kind]->states.log != 0) m_codes[kind]->flush(states[kind], bits);
    bits.finish();
}

void BlockWriter::writeBlock(Block& block, const uint8_t* bytes, bool last,
                             std::vector<uint8_t>& frame)
{
    const size_t header = frame.size();
    const auto finish = [&](uint32_t kind, uint32_t size) {
        const uint32_t value = (last ? 1u : 0u) | kind << 1 | size << 3;
        for (uint32_t i = 0; i < 3; ++i)
            frame[header + i] = uint8_t(value >> 8 * i);
    };
    frame.resize(header + 3);
    const uint8_t* const begin = bytes + block.begin;
    if (block.size > 1 &&
        std::all_of(begin, begin + block.size, [&](uint8_t byte) { return byte == begin[0]; })) {
        frame.push_back(begin[0]);
        return finish(SLUICE_ZS_RLE, block.size);
    }
    uint32_t repeats[SLUICE_ZS_REPEATS];
    std::copy(std::begin(m_repeats), std::end(m_repeats), repeats);
    const Literals literals = m_literals;
    const Code codes[] = {m_codes[0], m_codes[1], m_codes[2]};
    setOffsetValues(block);
    writeLiterals(block, frame);
    writeSequences(block, frame);
    const size_t size = frame.size() - header - 3;
    if (size < block.size) return finish(SLUICE_ZS_COMPRESSED, uint32_t(size));
    // Store the block uncompressed. It does not change the decoder's state, so restore the
    // encoder's state too.
    std::copy(std::begin(repeats), std::end(repeats), m_repeats);
    m_literals = literals;
    std::copy(std::begin(codes), std::end(codes), m_codes);
    frame.resize(header + 3);
    frame.insert(frame.end(), begin, begin + block.size);
    finish(SLUICE_ZS_RAW, block.size);
}

void BlockWriter::write(const uint8_t* bytes, const std::vector<uint32_t>& ends,
                        const std::vector<Match>& matches, bool last, uint32_t longestRun,
                        std::vector<uint8_t>& frame)
{
    m_blocks.clear();
    m_sequences.clear();
    m_offsets.clear();
    m_bytes.clear();
    uint32_t begin = 0;
    size_t first = 0;
    for (const uint32_t end : ends) {
        size_t behind = first;
        while (behind < matches.size() && matches[behind].position < end)
            ++behind;
        cut(bytes, begin, end, matches.data() + first, uint32_t(behind - first));
        first = behind;
        begin = end;
    }
    uint32_t repeats[SLUICE_ZS_REPEATS];
    std::copy(std::begin(m_repeats), std::end(m_repeats), repeats);
    for (Block& block : m_blocks)
        setOffsetValues(block);
    std::copy(std::begin(repeats), std::end(repeats), m_repeats);
    planLiterals(longestRun);
    for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
        planTable(kind, longestRun);
    for (Block& block : m_blocks)
        writeBlock(block, bytes, last && &block == &m_blocks.back(), frame);
}

} // namespace sluice::zstd
