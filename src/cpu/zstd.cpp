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
        return block.sequences == 0 || zstd::readSequences(m_tables.sequences, m_bits, m_bitBytes,
                                                           m_sequences.data(), m_sequences.size());
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
