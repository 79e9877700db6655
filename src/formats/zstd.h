// SPDX-License-Identifier: MIT OR Apache-2.0
// The structure of Zstandard frames (RFC 8878; docs/format.md, section 12): headers of frames,
// blocks, literals and sequences, and where everything stands. Nothing is decoded here.
#pragma once

#include "layout/zstd.h"
#include "formats/integers.h"

namespace sluice::zstd {

// What the structure of a frame depends on, of a dictionary (zstd_tables.h).
struct DictionaryInfo {
    u32 id = 0;
    u64 contentSize = 0;
    bool hasTables = false;
};

struct Frame {
    u64 contentSize = 0; // as the header has it
    bool hasContentSize = false, hasChecksum = false;
    u32 dictionaryId = 0; // 0: none is named
    u32 blockMaximum = 0; // bytes
    u32 checksum = 0;     // is known with the last block
};

struct Block {
    u32 kind = 0;                     // SLUICE_ZS_RAW, RLE or COMPRESSED
    bool first = false, last = false; // of its frame
    const u8* content = nullptr;
    u32 contentSize = 0; // of an RLE block 1
    u32 size = 0;        // what a raw or RLE block decodes to

    // Of a compressed block:
    u32 literalKind = 0, streams = 0, literals = 0; // how many literals
    const u8* literalContent = nullptr;
    u32 literalBytes = 0; // of literalContent
    u32 sequences = 0;
    u32 modes[SLUICE_ZS_TABLES] = {};
    const u8* tables = nullptr; // descriptions of tables, then the bits of the sequences
    u32 tableBytes = 0;         // of both
};

// Reads a region's structure from front to back, a block at a time.
class StructureReader {
public:
    // decodedSize: of the whole region.
    StructureReader(const u8* source, size_t size, u64 decodedSize,
                    const DictionaryInfo& dictionary);

    // Reads the next block, and what stands before it and, if it is the last of its frame, behind
    // it. False: there is none, or status() says what is wrong.
    bool next(Block& block);
    const Frame& frame() const { return m_frame; } // that of the block
    u32 status() const { return m_status; }
    u32 blocks() const { return m_blocks; } // read so far, of all frames

private:
    bool fail(u32 status);
    size_t left() const { return size_t(m_end - m_at); }
    bool beginFrame();
    bool readFrameHeader();
    bool readBlockHeader(Block& block);
    bool readLiteralsHeader(Block& block);
    bool readSequencesHeader(Block& block);

    const u8* m_at;
    const u8* m_end;
    u64 m_decodedSize, m_leastSize = 0; // what the blocks so far decode to at least
    DictionaryInfo m_dictionary;
    u32 m_status, m_frames = 0, m_blocks = 0;
    bool m_inFrame = false;
    Frame m_frame;
    u32 m_frameBlocks = 0, m_maxFrameBlocks = 0;
    bool m_hasTree = false, m_hasTables = false; // those that a block of the frame may take again
};

} // namespace sluice::zstd
