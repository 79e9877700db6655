// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and decodes Zstandard frames of any size, in memory that their windows bound. A frame has
// the status of its first block with a fault, and there that of the first fault in the order of
// docs/format.md, 12.3. The limits of regions (12.2) do not hold. Offsets must not be larger than
// the window.
#pragma once

#include "cpu/fast/zstd.h"
#include "formats/xxh64.h"

#include <functional>
#include <memory>
#include <vector>

namespace sluice::cpu::fast {

// Goes from frame to frame and from block to block.
class ZstdFrames {
public:
    // Reads exactly `size` bytes at `offset`. May throw.
    using Read = std::function<void(uint64_t offset, void* bytes, size_t size)>;
    enum class Kind {
        end,             // there are no more frames
        frame,           // header() describes it
        otherDictionary, // as frame, but it needs another one; its structure can be read
        skippable,       // its content has skippableSize() bytes, from position() on
        damaged          // status() says how
    };

    static constexpr size_t kMostHeaderBytes = 18; // with the magic number

    // Frames lie in the bytes from `begin` to `end`. dictionary: null if any will do.
    ZstdFrames(Read read, uint64_t begin, uint64_t end, const zstd::DictionaryInfo* dictionary);

    // Goes to the next frame. All blocks of the one before must have been read.
    Kind next();
    uint64_t offset() const { return m_offset; }     // where the frame begins
    uint64_t position() const { return m_position; } // behind what was read of it
    const zstd::Frame& header() const { return m_header; }
    uint32_t magic() const { return m_magic; }
    uint64_t skippableSize() const { return m_skippableSize; }

    // Reads the next block of the frame. `block` is valid until the next call. Returns false at the
    // end and after an error.
    bool nextBlock(zstd::Block& block);
    uint32_t status() const { return m_status; }
    bool isCutOff() const { return m_isCutOff; } // the error is that the bytes end too early
    uint32_t checksum() const { return m_reader.frame().checksum; } // after the last block

private:
    void fill(size_t size);
    Kind fail(uint32_t status);

    Read m_read;
    uint64_t m_end;
    const zstd::DictionaryInfo* m_dictionary;
    std::vector<uint8_t> m_buffer;
    size_t m_used = 0, m_filled = 0; // what m_buffer holds begins at kBefore
    uint64_t m_offset = 0, m_position;
    zstd::Frame m_header;
    uint32_t m_magic = 0, m_status = SLUICE_ST_OK;
    bool m_isCutOff = false;
    uint64_t m_skippableSize = 0;
    zstd::StructureReader m_reader;
};

// Counts what a frame decodes to, block by block. It needs no window.
class ZstdCounter {
public:
    // decodes: whether frames without a content size are counted. Otherwise their size is not
    // known, and only the structure is checked.
    ZstdCounter(const zstd::Dictionary& dictionary, bool decodes)
        : m_blocks(dictionary), m_decodes(decodes)
    {
    }

    // `frames` has just come to a frame, of which all blocks are read. Returns a status. Finds what
    // is wrong in the structure; in a frame whose sequences it has to decode also what is wrong in
    // them. Once such a frame has more than `most` bytes, the rest of it is not read, and size() is
    // more than `most`.
    uint32_t count(ZstdFrames& frames, uint64_t most);
    uint64_t size() const { return m_size; }           // of the content; UINT64_MAX: not known
    const uint64_t* blocks() const { return m_count; } // of each kind: SLUICE_ZS_RAW ...
    // After an error: how many blocks were right, and where the next one begins.
    uint64_t allBlocks() const { return m_count[0] + m_count[1] + m_count[2]; }
    uint64_t blockOffset() const { return m_blockOffset; }

private:
    ZstdBlocks m_blocks;
    bool m_decodes;
    uint64_t m_size = 0, m_count[3] = {}, m_blockOffset = 0;
};

// Decodes the blocks of frames and keeps as much of the content as matches may reach.
class ZstdWindow {
public:
    explicit ZstdWindow(const zstd::Dictionary& dictionary) : m_blocks(dictionary) {}

    // The bytes of memory that begin() allocates. most: the frame decodes to no more than this.
    // UINT64_MAX: more than can be.
    static uint64_t memoryFor(const zstd::Frame& frame, uint64_t most);

    // hashes: make hash() although the frame has no checksum. Throws std::bad_alloc.
    void begin(const zstd::Frame& frame, uint64_t most, bool hashes = false);
    // Decodes a block. Returns a status: that of the frame's size and checksum too, after its last
    // block, whose checksum is `checksum`.
    uint32_t decode(const zstd::Block& block, uint32_t checksum);
    const uint8_t* bytes() const { return m_memory.get() + m_at - m_size; } // of that block
    uint32_t size() const { return m_size; }
    uint64_t before() const { return m_done - m_size; } // bytes of the frame before that block
    uint32_t hash() const { return uint32_t(m_hash.value()); } // of the frame so far
    const ZstdBlocks& blocks() const { return m_blocks; }

    // How many bytes before a byte of the frame are kept.
    static uint64_t reachOf(const zstd::Frame& frame, uint64_t most);

private:
    ZstdBlocks m_blocks;
    zstd::Frame m_frame;
    std::unique_ptr<uint8_t[]> m_memory;
    size_t m_capacity = 0, m_allocated = 0, m_reach = 0;
    size_t m_at = 0; // end of the content in m_memory
    uint64_t m_done = 0, m_most = 0;
    uint32_t m_size = 0;
    bool m_hashes = false;
    Xxh64Stream m_hash;
};

} // namespace sluice::cpu::fast
