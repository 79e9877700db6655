// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the blocks of Zstandard frames for given matches. Blocks have few sequences, because GPUs
// decode the sequences of a block one after the other. To keep the cost of many blocks low, tables
// are planned for runs of blocks: the first block of a run describes the table, and the other
// blocks repeat it.
#pragma once

#include <memory>
#include <vector>

#include "layout/zstd.h"
#include "formats/zstd_tables.h"

namespace sluice::zstd {

class FseCode;
class LiteralCode;

constexpr uint32_t kMostSequences = 2048; // the most sequences of a block

struct Match {
    uint32_t position, length, offset;
};

class BlockWriter {
public:
    BlockWriter();
    ~BlockWriter();

    // Begins a frame. blockMaximum: the most bytes that a block may decode to.
    void begin(uint32_t blockMaximum);
    // Appends blocks of the next bytes of the frame.
    //   ends        offsets at which a block must end, ascending; the last one is the end of the
    //               bytes
    //   matches     in ascending order, without overlaps, of 3 .. blockMaximum bytes each. No match
    //               crosses one of the ends
    //   last        whether the frame ends with these blocks
    //   longestRun  how many blocks may share a table
    void write(const uint8_t* bytes, const std::vector<uint32_t>& ends,
               const std::vector<Match>& matches, bool last, uint32_t longestRun,
               std::vector<uint8_t>& frame);

private:
    struct Block;
    using Code = std::shared_ptr<const FseCode>;
    using Literals = std::shared_ptr<const LiteralCode>;

    void openBlock(uint32_t begin);
    void closeBlock(const uint8_t* bytes, uint32_t end);
    void cut(const uint8_t* bytes, uint32_t begin, uint32_t end, const Match* matches,
             uint32_t count);
    void setOffsetValues(Block& block);
    void planLiterals(uint32_t longestRun);
    void planTable(uint32_t kind, uint32_t longestRun);
    void writeBlock(Block& block, const uint8_t* bytes, bool last, std::vector<uint8_t>& frame);
    void writeLiterals(const Block& block, std::vector<uint8_t>& to);
    void writeSequences(const Block& block, std::vector<uint8_t>& to);

    uint32_t m_blockMaximum = 0;
    uint32_t m_repeats[SLUICE_ZS_REPEATS] = {};
    // m_literals and m_codes are the tables that were written last, which later blocks may repeat.
    Literals m_literals;
    Code m_codes[SLUICE_ZS_TABLES];
    Code m_predefined[SLUICE_ZS_TABLES];
    std::vector<Block> m_blocks;
    std::vector<Sequence> m_sequences;
    std::vector<uint32_t> m_offsets; // the offset of each sequence
    std::vector<uint8_t> m_bytes;    // the literals of all blocks
};

} // namespace sluice::zstd
