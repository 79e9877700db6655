// SPDX-License-Identifier: MIT OR Apache-2.0
// An input of the tool that holds Zstandard frames (docs/format.md, section 12). Frames are
// numbered from 0 in the order in which they lie in the file, skippable ones too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpu/fast/zstd_stream.h"
#include "tools/common/files.h"

namespace sluice {

// What --dictionary names. Throws a Failure if it is damaged.
class ZstdDictionary {
public:
    // path: a file; empty: none.
    explicit ZstdDictionary(const std::string& path);

    const zstd::Dictionary& get() const { return *m_dictionary; }
    bool isGiven() const { return !m_path.empty(); }
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
    Bytes m_bytes;
    std::unique_ptr<zstd::Dictionary> m_dictionary;
};

constexpr uint64_t kZstdUnknown = UINT64_MAX;

struct ZstdFrame {
    uint64_t number, offset, storedSize;
    bool isSkippable;
    uint32_t magic;
    zstd::Frame header;           // from here on not of a skippable frame
    uint64_t blocks[3];           // raw, RLE, compressed
    uint64_t size = kZstdUnknown; // what it decodes to
};

// Something that is wrong in a frame.
struct ZstdDamage {
    uint64_t frame, offset; // its number and where it begins
    uint64_t block, blockOffset;
    uint32_t status;       // SLUICE_TILE_...
    bool isCutOff = false; // the file ends too early

    int exitCode() const;
};

// The first of all damages, in the order of frames, and the number of all: a file may have more
// than memory should be spent on.
class ZstdDamages {
public:
    static constexpr size_t kMostKept = 1000;

    void add(const ZstdDamage& damage);
    uint64_t count() const { return m_count; }
    bool isFull() const { return m_count >= kMostKept; } // later ones may not be kept
    uint64_t firstFrame() const { return m_firstFrame; } // the first that is damaged
    int exitCode() const { return m_exitCode; }          // of all, kept or not
    std::vector<ZstdDamage> first() const;               // those that are kept

private:
    std::vector<ZstdDamage> m_kept; // a heap, the last frame on top
    uint64_t m_count = 0, m_firstFrame = UINT64_MAX;
    int m_exitCode = exitOk;
};

// The table at the end of a seekable file.
struct ZstdSeekTable {
    uint64_t offset = 0, entries = 0; // entries 0: there is none
    uint32_t entrySize = 0;           // 8 or, with checksums, 12
    bool skipsSkippable = false;      // it has no entries for skippable frames
    bool fits = false;                // set by scan(): it says what the frames are
};

class ZstdFile {
public:
    static bool recognises(const InputFile& file);

    // `dictionary` must outlive this object. Null: nothing will be decoded, so none is needed.
    ZstdFile(std::unique_ptr<InputFile> file, const ZstdDictionary* dictionary);

    const InputFile& file() const { return *m_file; }
    const ZstdDictionary* dictionary() const { return m_dictionary; }
    const ZstdSeekTable& seekTable() const { return m_table; }
    uint64_t frames() const { return m_frames; } // without skippable ones; of the last scan
    uint64_t allFrames() const { return m_allFrames; }

    // Reads all frames and calls `call` for each, in order. With a dictionary, frames without a
    // content size are counted, until all frames together have more than `most` bytes, when it
    // throws. If `damaged` is null, damage is thrown as a Failure. Otherwise it is given to
    // `damaged`, and reading goes on where the structure says where the next frame begins.
    void scan(uint64_t most, const std::function<void(const ZstdFrame&)>& call,
              const std::function<void(const ZstdDamage&)>& damaged);

    // A reader of the frames in a range of the file.
    cpu::fast::ZstdFrames reader(uint64_t begin, uint64_t end) const;
    // Returns the checksum of a frame's content that the seek table has; needs table().fits.
    uint32_t tableChecksum(uint64_t entry) const;
    // Returns a message with the damage and its place.
    std::string text(const ZstdDamage& damage) const;

private:
    void findSeekTable();

    std::unique_ptr<InputFile> m_file;
    const ZstdDictionary* m_dictionary;
    ZstdSeekTable m_table;
    uint64_t m_frames = 0, m_allFrames = 0;
};

} // namespace sluice
