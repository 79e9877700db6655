// SPDX-License-Identifier: MIT OR Apache-2.0
// A decoder for Zstandard frames that is made for speed. It gives the same statuses as the
// reference in ../zstd.h and, if the status is OK, the same bytes.
#pragma once

#include <sluice/sluice_zstd.h>

#include "cpu/zstd_region.h"

#include <vector>

namespace sluice::cpu::fast {

// Decodes the blocks of frames, one step per function; ZstdRegionDecoder calls the steps. At least
// 8 bytes before a block's bytes must be readable. This holds if a frame header precedes the block
// in memory.
class ZstdBlocks {
public:
    // A match and the number of literals before it. An invalid offset is stored as 0.
    struct Sequence {
        uint32_t literals, length, offset;
    };

    // `dictionary` must outlive this object.
    explicit ZstdBlocks(const zstd::Dictionary& dictionary);

    void beginFrame();
    uint32_t readTables(const zstd::Block& block);
    bool decodeSymbols(const zstd::Block& block);
    // Decodes only the sequences of a block. That is enough for measure(), but not for write().
    bool decodeSequences(const zstd::Block& block);
    uint32_t measure(const zstd::Frame& frame, const zstd::Block& block, uint32_t& size) const;
    bool write(const zstd::Block& block, const ZstdPlace& place) const;

    const std::vector<Sequence>& sequences() const { return m_sequences; } // of the last block

private:
    // A state of an FSE table, with its symbol decoded: the symbol stands for `base` plus a number
    // of extraBits bits. The next state is `next` plus a number of nextBits bits.
    struct Entry {
        uint32_t base;
        uint16_t next;
        uint8_t nextBits, extraBits;
    };
    struct Table {
        uint32_t log = 0;
        Entry entries[SLUICE_ZS_MAX_STATES];
    };

    static void expand(const zstd::SequenceTable& from, uint32_t kind, Table& to);
    bool decodeLiterals(const zstd::Block& block);
    uint32_t offsetOf(uint32_t value, bool hasLiterals);
    bool writeFromDictionary(uint8_t* to, uint64_t done, const Sequence& sequence) const;

    const zstd::Dictionary& m_dictionary;
    zstd::Tree m_tree; // the tree and the tables that were read last
    Table m_tables[SLUICE_ZS_TABLES], m_dictionaryTables[SLUICE_ZS_TABLES];
    uint32_t m_repeats[SLUICE_ZS_REPEATS] = {};
    // The other members belong to the block that is being decoded.
    const uint8_t* m_streams = nullptr; // the streams of its literals
    const uint8_t* m_bits = nullptr;    // the bits of its sequences
    size_t m_streamBytes = 0, m_bitBytes = 0;
    uint32_t m_literalCount = 0;
    uint64_t m_taken = 0, m_copied = 0; // literals and match bytes of all sequences
    std::vector<uint8_t> m_literals;    // followed by kWildBytes that wild copies may read
    std::vector<Sequence> m_sequences;
    zstd::SequenceTable m_described;
};

// Decodes one region of frames, with the same results as the reference, cpu::decodeZstd.
ZstdOutcome decodeZstd(const ZstdRegion& region);

// Runs the Zstandard command on a whole list of regions, with this decoder.
SluiceStatus zstd(const SluiceZstdInfo& info);

} // namespace sluice::cpu::fast
