// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes Zstandard frames anew so that GPUs decode them sooner: with the same matches, in blocks
// that have few sequences.
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
    // 0: frames are kept. Otherwise each frame is cut into frames of this many bytes of content, at
    // most 2^30, with matches that are searched anew at the level, since those of the old ones may
    // reach too far.
    uint32_t frameSize = 0;
    uint32_t level = 0;     // 1 .. SLUICE_ZSTD_MAX_LEVEL, if frameSize is not 0
    uint64_t maxWindow = 0; // bytes; frames that need more are not decoded
};

class Reblocker {
public:
    // Throws std::bad_alloc.
    explicit Reblocker(const ReblockInfo& info);

    // Writes frames, skippable ones too, and a table of them at the end, in the seekable format. An
    // old table is left out. Returns a SluiceTileStatus: that of the first frame with a fault,
    // which is UNSUPPORTED if it needs a dictionary, or LIMIT if its window is too large. Throws
    // what read and write throw.
    uint32_t run();

    uint64_t offset() const { return m_frames.offset(); } // of the frame at fault
    // Returns whether there is a table. It cannot describe frames of 4 GiB and more, or more than
    // 2^27 frames.
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
    // Bytes that are not written yet, with their matches and the ends of their blocks.
    std::vector<uint8_t> m_piece, m_out;
    std::vector<Match> m_matches;
    std::vector<uint32_t> m_ends;
    std::vector<Entry> m_entries;
    bool m_hasTable = true;
    uint64_t m_bytesOut = 0, m_decoded = 0;
};

} // namespace sluice::zstd
