// SPDX-License-Identifier: MIT OR Apache-2.0
// Rewrites Zstandard frames so that GPUs decode them faster: with the same matches, in blocks that
// have few sequences.
#pragma once

#include <functional>
#include <vector>

#include "cpu/fast/zstd_stream.h"
#include "encode/zstd/zstd_blocks.h"
#include "encode/zstd/zstd_encoder.h"

namespace sluice::zstd {

struct ReblockInfo {
    cpu::fast::ZstdFrames::Read read;
    uint64_t size = 0; // bytes that can be read
    std::function<void(const void* bytes, size_t size)> write;
    // 0: each frame remains one frame. Otherwise the content of each frame is cut into frames of
    // this many bytes, at most 2^30. Their matches are searched anew at `level`, because the old
    // matches may reach across the cuts.
    uint32_t frameSize = 0;
    uint32_t level = 0;     // 1 .. SLUICE_ZSTD_MAX_LEVEL, if frameSize is not 0
    uint64_t maxWindow = 0; // bytes; frames that need a larger one are refused
};

class Reblocker {
public:
    // Throws std::bad_alloc.
    explicit Reblocker(const ReblockInfo& info);

    // Writes all frames, including skippable ones, and then a table of them in the seekable format.
    // An old table is not copied. Returns a SluiceTileStatus, OK or that of the first faulty frame:
    // UNSUPPORTED if it needs a dictionary, LIMIT if its window is too large. Throws what the
    // functions in `info` throw.
    uint32_t run();

    uint64_t offset() const { return m_frames.offset(); } // where the faulty frame begins
    // Returns whether a table is written. A table cannot describe frames of 4 GiB and more, or more
    // than 2^27 frames.
    bool hasTable() const { return m_hasTable; }
    uint64_t bytesOut() const { return m_bytesOut; }
    uint64_t bytesDecoded() const { return m_decoded; }

private:
    struct Entry {
        uint32_t stored, decoded;
    };

    void put(const void* bytes, size_t size);
    void endFrame(uint64_t begin, uint64_t decoded);
    uint32_t keepFrame();
    uint32_t cutFrame();
    void writePiece(bool last);
    void writeTile(size_t size);
    void copySkippable();
    void writeTable();

    const ReblockInfo m_info;
    Dictionary m_none;
    cpu::fast::ZstdFrames m_frames;
    cpu::fast::ZstdWindow m_window;
    BlockWriter m_blocks;
    TileEncoder m_encoder;
    // m_piece holds content that is not written yet. m_matches are the matches in it, and m_ends
    // the offsets at which the blocks of the old frame end.
    std::vector<uint8_t> m_piece, m_out;
    std::vector<Match> m_matches;
    std::vector<uint32_t> m_ends;
    std::vector<Entry> m_entries;
    bool m_hasTable = true;
    uint64_t m_bytesOut = 0, m_decoded = 0;
};

} // namespace sluice::zstd
