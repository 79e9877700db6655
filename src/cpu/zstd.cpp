// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of the decoder for Zstandard frames (docs/format.md, section 12). It decodes block
// by block. The code is plain on purpose: GPU kernels are compared with it, statuses included.
#include "cpu/zstd_region.h"

#include "formats/little_endian.h"

#include <algorithm>
#include <vector>

namespace sluice::cpu {
namespace {

using zstd::BackwardBits;
using zstd::Block;
using zstd::Frame;
using zstd::kJumps;
using zstd::Sequence;
using zstd::Tree;

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
    if (size < kJumps) return false;
    const uint32_t share = divideUp(count, 4u);
    const uint8_t* at = bytes + kJumps;
    size_t left = size - kJumps;
    for (uint32_t i = 0; i < 4; ++i) {
        // The first three streams have `share` literals each. The last stream has the remaining
        // ones, which are none if there are 6 or 9 literals.
        const uint32_t first = std::min(i * share, count), own = std::min(share, count - first);
        const size_t stored = i < 3 ? loadLe16(bytes + 2 * i) : left;
        if (stored > left || !decodeStream(tree, at, stored, literals + first, own)) return false;
        at += stored;
        left -= stored;
    }
    return true;
}

class ReferenceBlocks {
public:
    explicit ReferenceBlocks(const zstd::Dictionary& dictionary) : m_dictionary(dictionary) {}

    void beginFrame()
    {
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
        return block.sequences == 0 || zstd::readSequences(m_tables.sequences, m_bits, m_bitBytes,
                                                           m_sequences.data(), m_sequences.size());
    }

    uint32_t measure(const Frame& frame, const Block& block, uint32_t& size) const
    {
        size = block.size;
        if (block.kind != SLUICE_ZS_COMPRESSED) return SLUICE_ST_OK;
        // The sums cannot overflow: a block has at most 43,690 sequences (128 KiB / 3), each of at
        // most 131,074 bytes.
        uint64_t literals = 0, matches = 0;
        for (const Sequence& sequence : m_sequences) {
            literals += sequence.literals;
            matches += sequence.length;
        }
        if (literals > m_literals.size()) return SLUICE_ST_BAD_CODE;
        if (matches + m_literals.size() > frame.blockMaximum) return SLUICE_ST_LIMIT;
        size = uint32_t(matches + m_literals.size());
        return SLUICE_ST_OK;
    }

    // Writes the bytes of a block. Returns false if an offset is 0, or if the source of a match
    // begins before the dictionary, which precedes the frame.
    bool write(const Block& block, const ZstdPlace& place)
    {
        uint8_t* to = place.to;
        if (writeUncompressed(block, to)) return true;
        const uint8_t* literal = m_literals.data();
        uint64_t done = place.before; // bytes of the frame that precede `to`
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
        std::copy<const uint8_t*>(literal, m_literals.data() + m_literals.size(), to);
        return true;
    }

private:
    // Returns the offset of a sequence, or 0 if it is invalid. Moves it to the front of m_repeats,
    // the list of the last three offsets.
    uint32_t offsetOf(const Sequence& sequence)
    {
        uint32_t place = SLUICE_ZS_REPEATS - 1, offset; // a new offset pushes out the oldest one
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

    const zstd::Dictionary& m_dictionary;
    zstd::Tables m_tables; // the tables that were read last
    uint32_t m_repeats[SLUICE_ZS_REPEATS] = {};
    // The other members belong to the block that is being decoded.
    const uint8_t* m_streams = nullptr; // the streams of its literals
    const uint8_t* m_bits = nullptr;    // the bits of its sequences
    size_t m_streamBytes = 0, m_bitBytes = 0;
    std::vector<uint8_t> m_literals;
    std::vector<Sequence> m_sequences;
};

} // namespace

ZstdOutcome decodeZstd(const ZstdRegion& region)
{
    return decodeZstdRegion<ReferenceBlocks>(region);
}

} // namespace sluice::cpu
