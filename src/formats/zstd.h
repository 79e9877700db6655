// SPDX-License-Identifier: MIT OR Apache-2.0
// The structure of Zstandard frames (RFC 8878; docs/format.md, section 12): headers of frames,
// blocks, literals and sequences, and where everything stands. Nothing is decoded here.
#pragma once

#include "layout/zstd.h"
#include "formats/integers.h"

namespace sluice::zstd {

// Holds what the structure of a frame depends on in a dictionary (zstd_tables.h).
struct DictionaryInfo {
    uint32_t id = 0;
    uint64_t contentSize = 0;
    bool hasTables = false;
};

struct Frame {
    uint64_t contentSize = 0; // as the header has it
    bool hasContentSize = false, hasChecksum = false;
    uint32_t dictionaryId = 0; // 0: none is named
    uint32_t blockMaximum = 0; // bytes
    uint32_t checksum = 0;     // is known with the last block
};

struct Block {
    uint32_t kind = 0;                // SLUICE_ZS_RAW, RLE or COMPRESSED
    bool first = false, last = false; // of its frame
    const uint8_t* content = nullptr;
    uint32_t contentSize = 0; // of an RLE block 1
    uint32_t size = 0;        // what a raw or RLE block decodes to

    // The rest describes a compressed block.
    uint32_t literalKind = 0, streams = 0, literals = 0; // how many literals
    const uint8_t* literalContent = nullptr;
    uint32_t literalBytes = 0; // of literalContent
    uint32_t sequences = 0;
    uint32_t modes[SLUICE_ZS_TABLES] = {};
    const uint8_t* tables = nullptr; // descriptions of tables, then the bits of the sequences
    uint32_t tableBytes = 0;         // of both
};

// Reads a region's structure from front to back, a block at a time.
class StructureReader {
public:
    // decodedSize: of the whole region.
    StructureReader(const uint8_t* source, size_t size, uint64_t decodedSize,
                    const DictionaryInfo& dictionary);

    // Reads the next block, and what stands before it and, if it is the last of its frame, behind
    // it. False: there is none, or status() says what is wrong.
    bool next(Block& block);
    const Frame& frame() const { return m_frame; } // that of the block
    uint32_t status() const { return m_status; }
    uint32_t blocks() const { return m_blocks; } // read so far, of all frames

private:
    bool fail(uint32_t status);
    size_t left() const { return size_t(m_end - m_at); }
    bool beginFrame();
    bool readFrameHeader();
    bool readBlockHeader(Block& block);
    bool readLiteralsHeader(Block& block);
    bool readSequencesHeader(Block& block);

    const uint8_t* m_at;
    const uint8_t* m_end;
    uint64_t m_decodedSize, m_leastSize = 0; // what the blocks so far decode to at least
    DictionaryInfo m_dictionary;
    uint32_t m_status, m_frames = 0, m_blocks = 0;
    bool m_inFrame = false;
    Frame m_frame;
    uint32_t m_frameBlocks = 0, m_maxFrameBlocks = 0;
    bool m_hasTree = false, m_hasTables = false; // those that a block of the frame may take again
};

} // namespace sluice::zstd
