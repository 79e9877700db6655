// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes Zstandard frames fast. Unlike the reference (../zstd.cpp), it reads bits from 64-bit
// words, decodes four streams of literals side by side, keeps the values of symbols in the tables,
// and makes wild copies (copy.h) where there is room.
#include "cpu/fast/zstd.h"

#include "cpu/fast/copy.h"
#include "cpu/zstd_list.h"
#include "formats/little_endian.h"

#include <algorithm>

namespace sluice::cpu::fast {
namespace {

using zstd::Block;
using zstd::Tree;

// Reads a bit stream backwards, from the end of its bytes to their beginning. The 8 bytes before
// the stream must be readable. Their values do not matter: if a caller takes any of them, left()
// becomes negative, which is an error.
class Bits {
public:
    static constexpr int32_t kLoaded = 57; // load() makes at least this many bits available

    bool begin(const uint8_t* bytes, size_t size)
    {
        if (size == 0 || bytes[size - 1] == 0) return false;
        m_bytes = bytes;
        m_left = int64_t(8 * (size - 1) + floorLog2(bytes[size - 1]));
        return true;
    }
    int64_t left() const { return m_left; } // negative if more bits were taken than there are
    // Makes the next bits available. Returns false if more bits were taken than there are.
    bool reload()
    {
        if (m_left < 0) return false;
        load();
        return true;
    }
    // Puts the next bits at the top of m_word. left() must not be negative.
    void load()
    {
        const int64_t end = (m_left + 7) >> 3;
        m_word = loadLe64(m_bytes + end - 8) << (8 * end - m_left);
    }
    uint32_t peek(uint32_t n) const { return uint32_t(m_word >> 1 >> (63 - n)); } // n: 0 .. 32 bits
    void skip(uint32_t n)
    {
        m_word <<= n;
        m_left -= n;
    }
    uint32_t take(uint32_t n)
    {
        const uint32_t value = peek(n);
        skip(n);
        return value;
    }

private:
    const uint8_t* m_bytes = nullptr;
    uint64_t m_word = 0;
    int64_t m_left = 0;
};

inline void takeSymbol(const Tree& tree, Bits& bits, uint8_t* to)
{
    const Tree::Entry entry = tree.entries[bits.peek(tree.log)];
    *to = entry.symbol;
    bits.skip(entry.bits);
}

// Decodes the last `count` symbols of a stream. Returns true if these symbols use up exactly the
// bits that the stream has left.
bool finishStream(const Tree& tree, Bits& bits, uint8_t* to, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (!bits.reload()) return false;
        takeSymbol(tree, bits, to + i);
    }
    return bits.left() == 0;
}

// The number of symbols that can be decoded after one load(). Codewords have up to 11 bits, or up
// to 12 if the code comes from a dictionary.
constexpr uint32_t kSymbolsALoad = 4;
static_assert(kSymbolsALoad * SLUICE_ZS_DICTIONARY_CODE_LENGTH <= Bits::kLoaded);

template <uint32_t kStreams>
bool decodeStreams(const Tree& tree, Bits (&bits)[kStreams], uint8_t* const (&to)[kStreams],
                   const uint32_t (&count)[kStreams])
{
    const uint32_t least = *std::min_element(count, count + kStreams);
    uint32_t done = 0;
    for (; done + kSymbolsALoad <= least; done += kSymbolsALoad) {
        int64_t signs = 0;
        for (uint32_t s = 0; s < kStreams; ++s)
            signs |= bits[s].left();
        if (signs < 0) return false;
        for (uint32_t s = 0; s < kStreams; ++s)
            bits[s].load();
        for (uint32_t k = 0; k < kSymbolsALoad; ++k) {
            for (uint32_t s = 0; s < kStreams; ++s)
                takeSymbol(tree, bits[s], to[s] + done + k);
        }
    }
    for (uint32_t s = 0; s < kStreams; ++s)
        if (!finishStream(tree, bits[s], to[s] + done, count[s] - done)) return false;
    return true;
}

bool decodeOneStream(const Tree& tree, const uint8_t* bytes, size_t size, uint8_t* literals,
                     uint32_t count)
{
    Bits bits[1];
    if (!bits[0].begin(bytes, size)) return false;
    return decodeStreams<1>(tree, bits, {literals}, {count});
}

bool decodeFourStreams(const Tree& tree, const uint8_t* bytes, size_t size, uint8_t* literals,
                       uint32_t count)
{
    if (size < zstd::kJumps) return false;
    const uint32_t share = divideUp(count, 4u), last = count - std::min(3 * share, count);
    const uint8_t* at = bytes + zstd::kJumps;
    size_t left = size - zstd::kJumps;
    Bits bits[4];
    for (uint32_t i = 0; i < 4; ++i) {
        const size_t stored = i < 3 ? loadLe16(bytes + 2 * i) : left;
        if (stored > left || !bits[i].begin(at, stored)) return false;
        at += stored;
        left -= stored;
    }
    // The first three streams have `share` literals each. The last stream has the remaining ones,
    // which are none if there are 6 or 9 literals.
    return decodeStreams<4>(
        tree, bits, {literals, literals + share, literals + 2 * share, literals + 3 * share},
        {share, share, count - 2 * share - last, last});
}

} // namespace

ZstdBlocks::ZstdBlocks(const zstd::Dictionary& dictionary) : m_dictionary(dictionary)
{
    for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
        expand(dictionary.tables.sequences[kind], kind, m_dictionaryTables[kind]);
}

void ZstdBlocks::expand(const zstd::SequenceTable& from, uint32_t kind, Table& to)
{
    to.log = from.log;
    for (uint32_t i = 0; i < 1u << from.log; ++i) {
        const fse::State state = from.states[i];
        const zstd::ValueCode code = zstd::valueCode(kind, state.symbol);
        to.entries[i] = {code.base, state.base, state.bits, uint8_t(code.bits)};
    }
}

void ZstdBlocks::beginFrame()
{
    // If the dictionary has no tables, nothing is reset: the frame must then describe each table
    // before it uses it.
    if (m_dictionary.info.hasTables) {
        m_tree = m_dictionary.tables.tree;
        std::copy_n(m_dictionaryTables, SLUICE_ZS_TABLES, m_tables);
    }
    std::copy_n(m_dictionary.repeats, SLUICE_ZS_REPEATS, m_repeats);
}

uint32_t ZstdBlocks::readTables(const Block& block)
{
    m_streams = block.literalContent;
    m_streamBytes = block.literalBytes;
    if (block.literalKind == SLUICE_ZS_LITERALS_HUFFMAN) {
        const uint32_t status =
            zstd::readTree(m_streams, m_streamBytes, SLUICE_ZS_MAX_CODE_LENGTH, m_tree);
        if (status != SLUICE_ST_OK) return status;
        m_streams += m_tree.bytes;
        m_streamBytes -= m_tree.bytes;
    }
    m_bits = block.tables;
    m_bitBytes = block.tableBytes;
    for (uint32_t kind = 0; block.sequences != 0 && kind < SLUICE_ZS_TABLES; ++kind) {
        uint32_t used;
        const uint32_t status =
            zstd::readSequenceTable(kind, block.modes[kind], m_bits, m_bitBytes, m_described, used);
        if (status != SLUICE_ST_OK) return status;
        if (block.modes[kind] != SLUICE_ZS_REPEAT) expand(m_described, kind, m_tables[kind]);
        m_bits += used;
        m_bitBytes -= used;
    }
    return SLUICE_ST_OK;
}

bool ZstdBlocks::decodeSymbols(const Block& block)
{
    return decodeLiterals(block) && decodeSequences(block);
}

bool ZstdBlocks::decodeLiterals(const Block& block)
{
    m_literalCount = block.literals;
    if (block.kind != SLUICE_ZS_COMPRESSED) return true;
    if (m_literals.size() < block.literals + kWildBytes)
        m_literals.resize(block.literals + kWildBytes);
    if (block.literalKind == SLUICE_ZS_LITERALS_RAW) {
        std::copy_n(m_streams, block.literals, m_literals.data());
        return true;
    }
    if (block.literalKind == SLUICE_ZS_LITERALS_RLE) {
        std::fill_n(m_literals.data(), block.literals, *m_streams);
        return true;
    }
    const auto decode = block.streams == 1 ? decodeOneStream : decodeFourStreams;
    return decode(m_tree, m_streams, m_streamBytes, m_literals.data(), block.literals);
}

// Returns the offset that `value` stands for, and moves it to the front of m_repeats, the list of
// the last three offsets. hasLiterals: whether the sequence has literals; this decides which offset
// a `value` of 1 to 3 repeats.
inline uint32_t ZstdBlocks::offsetOf(uint32_t value, bool hasLiterals)
{
    uint32_t offset;
    if (value > SLUICE_ZS_REPEATS) {
        offset = value - SLUICE_ZS_REPEATS;
        m_repeats[2] = m_repeats[1];
        m_repeats[1] = m_repeats[0];
    } else {
        const uint32_t place = value - (hasLiterals ? 1 : 0);
        if (place == 0) return m_repeats[0];
        offset = place == SLUICE_ZS_REPEATS ? m_repeats[0] - 1 : m_repeats[place];
        if (place != 1) m_repeats[2] = m_repeats[1];
        m_repeats[1] = m_repeats[0];
    }
    return m_repeats[0] = offset;
}

bool ZstdBlocks::decodeSequences(const Block& block)
{
    m_literalCount = block.literals;
    m_sequences.resize(block.sequences);
    m_taken = m_copied = 0;
    if (block.sequences == 0) return true;
    Bits bits;
    if (!bits.begin(m_bits, m_bitBytes)) return false;
    const Table &literalTable = m_tables[SLUICE_ZS_LITERAL_LENGTHS],
                &offsetTable = m_tables[SLUICE_ZS_OFFSETS],
                &matchTable = m_tables[SLUICE_ZS_MATCH_LENGTHS];
    bits.load();
    uint32_t literalState = bits.take(literalTable.log), offsetState = bits.take(offsetTable.log),
             matchState = bits.take(matchTable.log);
    constexpr uint32_t kStateBits = 2 * SLUICE_ZS_LENGTH_LOG + SLUICE_ZS_OFFSET_LOG;
    uint64_t taken = 0, copied = 0;
    const size_t count = block.sequences;
    Sequence* const sequences = m_sequences.data();
    for (size_t i = 0; i < count; ++i) {
        if (!bits.reload()) return false;
        const Entry literals = literalTable.entries[literalState],
                    offset = offsetTable.entries[offsetState],
                    match = matchTable.entries[matchState];
        const uint32_t value = offset.base + bits.take(offset.extraBits);
        // One load() may give fewer bits than a sequence takes. In that case reload twice more.
        const bool isLong = uint32_t(offset.extraBits) + match.extraBits + literals.extraBits >
                            uint32_t(Bits::kLoaded) - kStateBits;
        if (isLong && !bits.reload()) return false;
        const uint32_t length = match.base + bits.take(match.extraBits),
                       before = literals.base + bits.take(literals.extraBits);
        if (isLong && !bits.reload()) return false;
        sequences[i] = {before, length, offsetOf(value, before != 0)};
        taken += before;
        copied += length;
        if (i + 1 == count) break;
        literalState = literals.next + bits.take(literals.nextBits);
        matchState = match.next + bits.take(match.nextBits);
        offsetState = offset.next + bits.take(offset.nextBits);
    }
    m_taken = taken;
    m_copied = copied;
    return bits.left() == 0;
}

uint32_t ZstdBlocks::measure(const zstd::Frame& frame, const Block& block, uint32_t& size) const
{
    size = block.size;
    if (block.kind != SLUICE_ZS_COMPRESSED) return SLUICE_ST_OK;
    if (m_taken > m_literalCount) return SLUICE_ST_BAD_CODE;
    if (m_copied + m_literalCount > frame.blockMaximum) return SLUICE_ST_LIMIT;
    size = uint32_t(m_copied + m_literalCount);
    return SLUICE_ST_OK;
}

// Writes a match whose source begins in the dictionary, which precedes the frame. done: bytes of
// the frame before the match. Returns false if the source begins before the dictionary.
bool ZstdBlocks::writeFromDictionary(uint8_t* to, uint64_t done, const Sequence& sequence) const
{
    const uint64_t size = m_dictionary.info.contentSize, back = sequence.offset - done;
    if (back > size) return false;
    const uint32_t first = uint32_t(std::min<uint64_t>(back, sequence.length));
    std::copy_n(m_dictionary.content + (size - back), first, to);
    repeatExactly(to + first, sequence.offset, sequence.length - first);
    return true;
}

bool ZstdBlocks::write(const Block& block, const ZstdPlace& place) const
{
    uint8_t* to = place.to;
    if (writeUncompressed(block, to)) return true;
    const uint8_t* literal = m_literals.data();
    uint64_t done = place.before; // bytes of the frame that precede `to`
    size_t wild = place.room;     // wild copies may fill this many bytes from `to` on
    wild -= std::min<size_t>(wild, kWildBytes);
    for (const Sequence& sequence : m_sequences) {
        const size_t size = size_t(sequence.literals) + sequence.length;
        const bool isWild = size <= wild;
        wild -= isWild ? size : wild;
        if (isWild)
            copyWild(to, literal, sequence.literals);
        else
            std::copy_n(literal, sequence.literals, to);
        to += sequence.literals;
        literal += sequence.literals;
        done += sequence.literals;
        if (sequence.offset > done) {
            if (done > place.reach || !writeFromDictionary(to, done, sequence)) return false;
        } else if (sequence.offset == 0 || sequence.offset > place.reach) {
            return false;
        } else if (isWild) {
            repeatWild(to, sequence.offset, sequence.length);
        } else {
            repeatExactly(to, sequence.offset, sequence.length);
        }
        to += sequence.length;
        done += sequence.length;
    }
    std::copy_n(literal, size_t(m_literalCount - m_taken), to);
    return true;
}

ZstdOutcome decodeZstd(const ZstdRegion& region) { return decodeZstdRegion<ZstdBlocks>(region); }

SluiceStatus zstd(const SluiceZstdInfo& info) { return zstdList(info, decodeZstd); }

} // namespace sluice::cpu::fast
