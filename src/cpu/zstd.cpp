// SPDX-License-Identifier: MIT OR Apache-2.0
// Zstandard frames, block by block, as docs/format.md has them. The code is plain on purpose: GPU
// kernels are compared with it, statuses included.
#include "cpu/zstd.h"

#include "formats/little_endian.h"
#include "formats/xxh64.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace sluice::cpu {
namespace {

using zstd::BackwardBits;
using zstd::Block;
using zstd::Frame;
using zstd::SequenceTable;
using zstd::Tree;

// A length is base + the next `bits` bits.
struct LengthCode {
    uint32_t base, bits;
};
constexpr LengthCode kLiteralLengths[SLUICE_ZS_LITERAL_LENGTH_SYMBOLS] = {
    {0, 0},     {1, 0},      {2, 0},      {3, 0},     {4, 0},   {5, 0},     {6, 0},     {7, 0},
    {8, 0},     {9, 0},      {10, 0},     {11, 0},    {12, 0},  {13, 0},    {14, 0},    {15, 0},
    {16, 1},    {18, 1},     {20, 1},     {22, 1},    {24, 2},  {28, 2},    {32, 3},    {40, 3},
    {48, 4},    {64, 6},     {128, 7},    {256, 8},   {512, 9}, {1024, 10}, {2048, 11}, {4096, 12},
    {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};
constexpr LengthCode kMatchLengths[SLUICE_ZS_MATCH_LENGTH_SYMBOLS] = {
    {3, 0},     {4, 0},     {5, 0},      {6, 0},      {7, 0},     {8, 0},   {9, 0},     {10, 0},
    {11, 0},    {12, 0},    {13, 0},     {14, 0},     {15, 0},    {16, 0},  {17, 0},    {18, 0},
    {19, 0},    {20, 0},    {21, 0},     {22, 0},     {23, 0},    {24, 0},  {25, 0},    {26, 0},
    {27, 0},    {28, 0},    {29, 0},     {30, 0},     {31, 0},    {32, 0},  {33, 0},    {34, 0},
    {35, 1},    {37, 1},    {39, 1},     {41, 1},     {43, 2},    {47, 2},  {51, 3},    {59, 3},
    {67, 4},    {83, 4},    {99, 5},     {131, 7},    {259, 8},   {515, 9}, {1027, 10}, {2051, 11},
    {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}};

// offsetValue: 1 to 3 stand for the last offsets, others are the offset + 3.
struct Sequence {
    uint32_t literals, length, offsetValue;
};

bool decodeStream(const Tree& tree, const uint8_t* bytes, size_t size, uint8_t* literals,
                  uint32_t count)
{
    BackwardBits bits(bytes, size);
    if (!bits.valid()) return false;
    for (uint32_t i = 0; i < count; ++i) {
        const Tree::Entry entry = tree.entries[bits.peek(tree.log)];
        literals[i] = entry.symbol;
        bits.skip(entry.bits);
    }
    return bits.left() == 0;
}

bool decodeFourStreams(const Tree& tree, const uint8_t* bytes, size_t size, uint8_t* literals,
                       uint32_t count)
{
    constexpr size_t kJumps = 6;
    if (size < kJumps) return false;
    const uint32_t share = divideUp(count, 4u);
    const uint8_t* at = bytes + kJumps;
    size_t left = size - kJumps;
    for (uint32_t i = 0; i < 4; ++i) {
        // With 6 or 9 literals the first three streams have them all.
        const uint32_t first = std::min(i * share, count), own = std::min(share, count - first);
        const size_t stored = i < 3 ? loadLe16(bytes + 2 * i) : left;
        if (stored > left || !decodeStream(tree, at, stored, literals + first, own)) return false;
        at += stored;
        left -= stored;
    }
    return true;
}

class RegionDecoder {
public:
    RegionDecoder(const ZstdRegion& region, const zstd::Dictionary& dictionary)
        : m_region(region), m_dictionary(dictionary)
    {
    }

    ZstdOutcome decode()
    {
        ZstdOutcome outcome;
        Block block;
        zstd::StructureReader structure = reader();
        while (structure.next(block)) {
        }
        if (structure.status() != SLUICE_ST_OK)
            return {structure.status(), ZstdPhase::structure, structure.blocks(), 0};

        // A fault of an earlier phase takes precedence, even if it is in a later block. So after a
        // fault, later blocks are still read, as far as it takes to find faults of earlier phases.
        ZstdPhase wanted = ZstdPhase::output;
        for (zstd::StructureReader blocks = reader(); blocks.next(block);) {
            const uint32_t number = blocks.blocks() - 1;
            if (block.first) beginFrame();
            if (const uint32_t status = readTables(block); status != SLUICE_ST_OK)
                return {status, ZstdPhase::tables, number, outcome.bytes};
            if (wanted >= ZstdPhase::symbols && !decodeSymbols(block)) {
                outcome = {SLUICE_ST_BAD_CODE, ZstdPhase::symbols, number, outcome.bytes};
                wanted = ZstdPhase::tables;
            }
            if (wanted < ZstdPhase::output) continue;
            const uint32_t status = makeOutput(blocks.frame(), block, isLast(blocks, block));
            if (status != SLUICE_ST_OK) {
                outcome = {status, ZstdPhase::output, number, outcome.bytes};
                wanted = ZstdPhase::symbols;
            } else {
                outcome.bytes = m_position;
            }
        }
        if (outcome.status == SLUICE_ST_OK && m_position != m_region.size) // there are no blocks
            outcome = {SLUICE_ST_TOO_SHORT, ZstdPhase::output, structure.blocks(), outcome.bytes};
        return outcome;
    }

private:
    zstd::StructureReader reader() const
    {
        return {m_region.source, m_region.sourceSize, m_region.size, m_dictionary.info};
    }

    // Returns whether no block of the region follows; skippable frames may.
    static bool isLast(zstd::StructureReader reader, const Block& block)
    {
        Block following;
        return block.last && !reader.next(following);
    }

    void beginFrame()
    {
        m_frameBegin = m_position;
        m_tables = m_dictionary.tables;
        std::copy_n(m_dictionary.repeats, SLUICE_ZS_REPEATS, m_repeats);
    }

    uint32_t readTables(const Block& block)
    {
        m_streams = block.literalContent;
        m_streamBytes = block.literalBytes;
        if (block.literalKind == SLUICE_ZS_LITERALS_HUFFMAN) {
            const uint32_t status =
                zstd::readTree(m_streams, m_streamBytes, SLUICE_ZS_MAX_CODE_LENGTH, m_tables.tree);
            if (status != SLUICE_ST_OK) return status;
            m_streams += m_tables.tree.bytes;
            m_streamBytes -= m_tables.tree.bytes;
        }
        m_bits = block.tables;
        m_bitBytes = block.tableBytes;
        for (uint32_t kind = 0; block.sequences != 0 && kind < SLUICE_ZS_TABLES; ++kind) {
            uint32_t used;
            const uint32_t status = zstd::readSequenceTable(
                kind, block.modes[kind], m_bits, m_bitBytes, m_tables.sequences[kind], used);
            if (status != SLUICE_ST_OK) return status;
            m_bits += used;
            m_bitBytes -= used;
        }
        return SLUICE_ST_OK;
    }

    // Decodes the literals and sequences of a block. Returns false if their bits break a rule.
    bool decodeSymbols(const Block& block)
    {
        m_literals.resize(block.literals);
        m_sequences.resize(block.sequences);
        if (block.kind != SLUICE_ZS_COMPRESSED) return true;
        if (block.literalKind == SLUICE_ZS_LITERALS_RAW) {
            std::copy_n(m_streams, block.literals, m_literals.data());
        } else if (block.literalKind == SLUICE_ZS_LITERALS_RLE) {
            std::fill(m_literals.begin(), m_literals.end(), *m_streams);
        } else {
            const auto decode = block.streams == 1 ? decodeStream : decodeFourStreams;
            if (!decode(m_tables.tree, m_streams, m_streamBytes, m_literals.data(), block.literals))
                return false;
        }
        return block.sequences == 0 || decodeSequences();
    }

    bool decodeSequences()
    {
        BackwardBits bits(m_bits, m_bitBytes);
        if (!bits.valid()) return false;
        const SequenceTable* const tables = m_tables.sequences;
        uint32_t state[SLUICE_ZS_TABLES];
        for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
            state[kind] = bits.take(tables[kind].log);
        for (size_t i = 0; i < m_sequences.size(); ++i) {
            fse::State s[SLUICE_ZS_TABLES];
            for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind)
                s[kind] = tables[kind].states[state[kind]];
            const uint32_t offsetBits = s[SLUICE_ZS_OFFSETS].symbol;
            const LengthCode literals = kLiteralLengths[s[SLUICE_ZS_LITERAL_LENGTHS].symbol],
                             match = kMatchLengths[s[SLUICE_ZS_MATCH_LENGTHS].symbol];
            m_sequences[i].offsetValue = (1u << offsetBits) + bits.take(offsetBits);
            m_sequences[i].length = match.base + bits.take(match.bits);
            m_sequences[i].literals = literals.base + bits.take(literals.bits);
            if (i + 1 == m_sequences.size()) break;
            for (const uint32_t kind :
                 {SLUICE_ZS_LITERAL_LENGTHS, SLUICE_ZS_MATCH_LENGTHS, SLUICE_ZS_OFFSETS})
                state[kind] = s[kind].base + bits.take(s[kind].bits);
        }
        return bits.left() == 0;
    }

    // Checks the size of a block and then writes its bytes. After the last block of a frame, also
    // compares the frame's checksum.
    uint32_t makeOutput(const Frame& frame, const Block& block, bool last)
    {
        uint32_t size = block.size;
        if (const uint32_t status = measure(frame, block, size); status != SLUICE_ST_OK)
            return status;
        const uint64_t room = m_region.size - m_position,
                       inFrame = m_position - m_frameBegin + size;
        if (size > room || (frame.hasContentSize && inFrame > frame.contentSize))
            return SLUICE_ST_TOO_LONG;
        if ((last && size < room) ||
            (block.last && frame.hasContentSize && inFrame < frame.contentSize))
            return SLUICE_ST_TOO_SHORT;
        if (block.kind == SLUICE_ZS_COMPRESSED) {
            if (!executeSequences()) return SLUICE_ST_BAD_OFFSET;
        } else if (block.kind == SLUICE_ZS_RAW) {
            std::copy_n(block.content, size, m_region.destination + m_position);
            m_position += size;
        } else {
            std::fill_n(m_region.destination + m_position, size, block.content[0]);
            m_position += size;
        }
        if (!block.last || !frame.hasChecksum || !m_region.checksums) return SLUICE_ST_OK;
        const uint64_t hash =
            xxh64(m_region.destination + m_frameBegin, m_position - m_frameBegin, 0);
        return uint32_t(hash) == frame.checksum ? SLUICE_ST_OK : SLUICE_ST_BAD_CHECKSUM;
    }

    uint32_t measure(const Frame& frame, const Block& block, uint32_t& size) const
    {
        if (block.kind != SLUICE_ZS_COMPRESSED) return SLUICE_ST_OK;
        uint64_t literals = 0, matches = 0; // at most 43,690 times 131,074
        for (const Sequence& sequence : m_sequences) {
            literals += sequence.literals;
            matches += sequence.length;
        }
        if (literals > m_literals.size()) return SLUICE_ST_BAD_CODE;
        if (matches + m_literals.size() > frame.blockMaximum) return SLUICE_ST_LIMIT;
        size = uint32_t(matches + m_literals.size());
        return SLUICE_ST_OK;
    }

    // Returns the offset of a sequence, or 0 if it is invalid, and makes it the most recent one.
    uint32_t offsetOf(const Sequence& sequence)
    {
        uint32_t place = SLUICE_ZS_REPEATS - 1, offset; // a new offset pushes out the last one
        if (sequence.offsetValue > SLUICE_ZS_REPEATS) {
            offset = sequence.offsetValue - SLUICE_ZS_REPEATS;
        } else if (sequence.literals == 0 && sequence.offsetValue == SLUICE_ZS_REPEATS) {
            offset = m_repeats[0] - 1;
        } else {
            place = sequence.offsetValue - (sequence.literals == 0 ? 0 : 1);
            offset = m_repeats[place];
        }
        for (; place > 0; --place)
            m_repeats[place] = m_repeats[place - 1];
        return m_repeats[0] = offset;
    }

    // Writes the bytes of a block. Returns false if a match begins before the frame and the
    // dictionary.
    bool executeSequences()
    {
        const uint8_t* literal = m_literals.data();
        uint8_t* to = m_region.destination + m_position;
        size_t done = m_position - m_frameBegin; // bytes of the frame
        for (const Sequence& sequence : m_sequences) {
            to = std::copy_n(literal, sequence.literals, to);
            literal += sequence.literals;
            done += sequence.literals;
            const uint32_t offset = offsetOf(sequence);
            if (offset == 0 || offset > done + m_dictionary.info.contentSize) return false;
            for (uint32_t k = 0; k < sequence.length; ++k, ++to, ++done)
                *to = offset <= done
                          ? *(to - offset)
                          : m_dictionary.content[m_dictionary.info.contentSize + done - offset];
        }
        to = std::copy<const uint8_t*>(literal, m_literals.data() + m_literals.size(), to);
        m_position = size_t(to - m_region.destination);
        return true;
    }

    const ZstdRegion& m_region;
    const zstd::Dictionary& m_dictionary;
    size_t m_position = 0, m_frameBegin = 0; // in the output
    zstd::Tables m_tables;                   // those that were read last
    uint32_t m_repeats[SLUICE_ZS_REPEATS] = {};
    // The rest belongs to the block that is being decoded.
    const uint8_t* m_streams = nullptr; // of literals
    const uint8_t* m_bits = nullptr;    // of sequences
    size_t m_streamBytes = 0, m_bitBytes = 0;
    std::vector<uint8_t> m_literals;
    std::vector<Sequence> m_sequences;
};

} // namespace

ZstdOutcome decodeZstd(const ZstdRegion& region)
{
    const auto none = std::make_unique<zstd::Dictionary>();
    const zstd::Dictionary& dictionary = region.dictionary != nullptr ? *region.dictionary : *none;
    return std::make_unique<RegionDecoder>(region, dictionary)->decode();
}

} // namespace sluice::cpu
