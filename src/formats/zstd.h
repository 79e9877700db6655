// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the structure of Zstandard frames (RFC 8878; docs/format.md, section 12): headers of
// frames, blocks, literals and sequences, and where each of them is. Nothing is decoded here.
#pragma once

#include "layout/zstd.h"
#include "formats/integers.h"

namespace sluice::zstd {

// The bytes of a frame's magic number, the most of its header with that number, and those of the
// sizes of three streams, which stand before four streams of literals.
constexpr size_t kMagicBytes = 4, kMostHeaderBytes = 18, kJumps = 6;

// The seekable format (github.com/facebook/zstd, contrib/seekable_format): a skippable frame of
// this magic number, in which a footer follows the entries of a table of frames. The footer ends
// with a magic number, too.
constexpr uint32_t kTableMagic = SLUICE_ZS_SKIPPABLE_MAGIC + 14, kTableFooterMagic = 0x8f92eab1;
constexpr size_t kTableFooterBytes = 9;

// The properties of a dictionary (zstd_tables.h) that decide whether a frame's structure is valid.
struct DictionaryInfo {
    uint32_t id = 0;
    uint64_t contentSize = 0;
    bool hasTables = false;
};

struct Frame {
    uint64_t contentSize = 0; // as the header says
    uint64_t window = 0;      // bytes that a match may reach back; in a single segment, contentSize
    bool hasContentSize = false, hasChecksum = false;
    uint32_t dictionaryId = 0; // 0: the frame names no dictionary
    uint32_t blockMaximum = 0; // the most bytes that a block may decode to
    uint32_t checksum = 0;     // set when the last block has been read
};

struct Block {
    uint32_t kind = 0;                // SLUICE_ZS_RAW, RLE or COMPRESSED
    bool first = false, last = false; // first or last block of its frame
    const uint8_t* content = nullptr;
    uint32_t contentSize = 0; // bytes of `content`; 1 for an RLE block
    uint32_t size = 0;        // bytes that a raw or RLE block decodes to

    // All members from here on describe a compressed block.
    uint32_t literalKind = 0, streams = 0, literals = 0; // literals: their number
    const uint8_t* literalContent = nullptr;
    uint32_t literalBytes = 0; // bytes of literalContent
    uint32_t sequences = 0;    // the number of sequences
    uint32_t modes[SLUICE_ZS_TABLES] = {};
    const uint8_t* tables = nullptr; // descriptions of tables, then the bits of the sequences
    uint32_t tableBytes = 0;         // bytes of descriptions and bits together
};

// Reads a frame header. `bytes` begins after the frame's magic number. Returns a SluiceTileStatus:
// OK, TRUNCATED or BAD_CODE. used: receives the bytes of the header.
uint32_t readFrameHeader(const uint8_t* bytes, size_t size, Frame& frame, uint32_t& used);

// The most bytes that StructureReader::next() reads of a stream for one block: a frame header, the
// block and a checksum.
constexpr size_t kMostBlockBytes = 18 + 3 + SLUICE_ZS_BLOCK_BYTES + 4;

// Reads the structure of a region from front to back, one block at a time. A region holds one or
// more frames.
class StructureReader {
public:
    // decodedSize: bytes that the whole region decodes to; maxBlocks: the most blocks that it may
    // have.
    StructureReader(const uint8_t* source, size_t size, uint64_t decodedSize,
                    const DictionaryInfo& dictionary, uint32_t maxBlocks = UINT32_MAX);
    // Reads a stream: frames of any size and number, not all of which need to be in memory. Before
    // each call of next(), the caller passes the bytes that follow those read so far, which begin
    // at rest(), to continueAt(): kMostBlockBytes or all that are left. A skippable frame must be
    // complete. decodedSize: UINT64_MAX if it is not known.
    StructureReader(uint64_t decodedSize, const DictionaryInfo& dictionary);
    void continueAt(const uint8_t* bytes, size_t size) { m_at = bytes, m_end = bytes + size; }
    const uint8_t* rest() const { return m_at; }
    bool inFrame() const { return m_inFrame; } // the current frame has more blocks

    // Reads the next block, with the frame header before a frame's first block and the checksum
    // after its last one. Returns false at the end, and after an error, which status() names.
    bool next(Block& block);
    const Frame& frame() const { return m_frame; } // the frame of the last block read
    uint32_t status() const { return m_status; }
    uint32_t blocks() const { return m_blocks; } // blocks read so far, in all frames
    // Returns whether the error is that the source ends too early. Returns false if a block is
    // complete, but too short for the headers in it.
    bool isCutOff() const { return m_isCutOff; }

private:
    bool fail(uint32_t status);
    bool failCutOff();
    size_t left() const { return size_t(m_end - m_at); }
    bool beginFrame();
    bool enterFrame();
    bool readBlockHeader(Block& block);
    bool readLiteralsHeader(Block& block);
    bool readSequencesHeader(Block& block);

    const uint8_t* m_at;
    const uint8_t* m_end;
    uint64_t m_decodedSize, m_leastSize = 0; // the blocks so far decode to at least m_leastSize
    DictionaryInfo m_dictionary;
    uint32_t m_maxBlocks, m_status, m_frames = 0, m_blocks = 0;
    bool m_inFrame = false, m_isCutOff = false;
    bool m_isStream = false; // a stream has none of the limits that a region has
    Frame m_frame;
    uint32_t m_frameBlocks = 0, m_maxFrameBlocks = 0;
    bool m_hasTree = false, m_hasTables = false; // read in this frame, so blocks may reuse them
};

} // namespace sluice::zstd
