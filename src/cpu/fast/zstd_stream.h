// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and decodes Zstandard frames of any size, and keeps only their windows in memory. A frame's
// status is that of its first faulty block; if this block has several faults, the order in
// docs/format.md, 12.3, decides. The limits of regions (12.2) do not apply, but offsets must not be
// larger than the window.
#pragma once

#include "cpu/fast/zstd.h"
#include "formats/xxh64.h"

#include <functional>
#include <memory>
#include <vector>

namespace sluice::cpu::fast {

// Reads the Zstandard frames of an input: next() goes to the next frame, and nextBlock() to the
// next block of the frame.
class ZstdFrames {
public:
    // Reads exactly `size` bytes at `offset` of the input. May throw.
    using Read = std::function<void(uint64_t offset, void* bytes, size_t size)>;
    enum class Kind {
        end,             // there are no more frames
        frame,           // header() describes it
        otherDictionary, // like frame, but needs another dictionary to be decoded
        skippable,       // its content has skippableSize() bytes, from position() on
        damaged          // status() says what is wrong
    };

    // Reads the frames in the bytes [begin, end) of the input. dictionary: a frame that names
    // another dictionary is of Kind::otherDictionary; nullptr: frames may name any dictionary.
    ZstdFrames(Read read, uint64_t begin, uint64_t end, const zstd::DictionaryInfo* dictionary);

    // Goes to the next frame. All blocks of the previous frame must have been read.
    Kind next();
    uint64_t offset() const { return m_offset; }     // where the frame begins in the input
    uint64_t position() const { return m_position; } // end of what was read so far
    const zstd::Frame& header() const { return m_header; }
    uint32_t magic() const { return m_magic; }
    uint64_t skippableSize() const { return m_skippableSize; }

    // Reads the next block of the frame. `block` is valid until the next call. Returns false at the
    // end of the frame and after an error.
    bool nextBlock(zstd::Block& block);
    uint32_t status() const { return m_status; }
    bool isCutOff() const { return m_isCutOff; } // the error is that the input ends too early
    uint32_t checksum() const { return m_reader.frame().checksum; } // valid after the last block

private:
    void fill(size_t size);
    Kind fail(uint32_t status);

    Read m_read;
    uint64_t m_end;
    const zstd::DictionaryInfo* m_dictionary;
    std::vector<uint8_t> m_buffer;
    size_t m_used = 0, m_filled = 0; // m_filled unread bytes begin at kBefore + m_used
    uint64_t m_offset = 0, m_position;
    zstd::Frame m_header;
    uint32_t m_magic = 0, m_status = SLUICE_ST_OK;
    bool m_isCutOff = false;
    uint64_t m_skippableSize = 0;
    zstd::StructureReader m_reader;
};

// Computes the decoded size of a frame block by block. Needs no window: matches are not executed.
class ZstdCounter {
public:
    // decodes: if true, frames without a content size are measured by decoding their sequences. If
    // false, their size remains unknown and only their structure is checked.
    ZstdCounter(const zstd::Dictionary& dictionary, bool decodes)
        : m_blocks(dictionary), m_decodes(decodes)
    {
    }

    // Reads all blocks of the frame that frames.next() has just returned. Returns a status. It
    // finds faults in the structure and, in a frame whose sequences it decodes, also faults in
    // tables and sequences. If such a frame has more than `most` bytes, it stops early, and size()
    // is above `most`.
    uint32_t count(ZstdFrames& frames, uint64_t most);
    uint64_t size() const { return m_size; } // decoded size in bytes; UINT64_MAX: not known
    const uint64_t* blocks() const { return m_count; } // blocks of each kind (SLUICE_ZS_RAW ...)
    // After an error: the number of blocks before the faulty one, and where the faulty one begins.
    uint64_t allBlocks() const { return m_count[0] + m_count[1] + m_count[2]; }
    uint64_t blockOffset() const { return m_blockOffset; }

private:
    ZstdBlocks m_blocks;
    bool m_decodes;
    uint64_t m_size = 0, m_count[3] = {}, m_blockOffset = 0;
};

// Decodes the blocks of frames, and keeps the decoded bytes that later matches can reach.
class ZstdWindow {
public:
    explicit ZstdWindow(const zstd::Dictionary& dictionary) : m_blocks(dictionary) {}

    // Returns how many bytes begin() allocates, or UINT64_MAX if they do not fit into 64 bits.
    // most: an upper bound of the frame's decoded size.
    static uint64_t memoryFor(const zstd::Frame& frame, uint64_t most);

    // Begins a frame. hashes: compute hash() even if the frame has no checksum. Throws
    // std::bad_alloc.
    void begin(const zstd::Frame& frame, uint64_t most, bool hashes = false);
    // Decodes a block and returns a status. After a frame's last block, also checks the frame's
    // size and compares its hash with `checksum`.
    uint32_t decode(const zstd::Block& block, uint32_t checksum);
    const uint8_t* bytes() const { return m_memory.get() + m_at - m_size; } // of the last block
    uint32_t size() const { return m_size; }
    uint64_t before() const { return m_done - m_size; } // bytes of the frame before the last block
    uint32_t hash() const { return uint32_t(m_hash.value()); } // of the frame so far
    const ZstdBlocks& blocks() const { return m_blocks; }

    // Returns how many bytes back a match of the frame may reach, and so how many are kept.
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
