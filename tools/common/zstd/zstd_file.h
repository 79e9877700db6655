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

// The dictionary that --dictionary names. Throws a Failure if it is damaged.
class ZstdDictionary {
public:
    // Reads the dictionary in the file `path`; empty: there is none.
    explicit ZstdDictionary(const std::string& path);

    const zstd::Dictionary& get() const { return *m_dictionary; }
    const Bytes& bytes() const { return m_bytes; }
    bool isGiven() const { return !m_path.empty(); }
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
    Bytes m_bytes;
    std::unique_ptr<zstd::Dictionary> m_dictionary;
};

// Returns the name of what a file decodes to, in the file's own folder: the name without .zst or
// .zstd, and .tar for .tzst. Returns an empty name if the file's name does not end so.
std::string zstdContentName(const std::string& path);

constexpr uint64_t kZstdUnknown = UINT64_MAX;

struct ZstdFrame {
    uint64_t number, offset, storedSize;
    bool isSkippable;
    uint32_t magic;
    zstd::Frame header;           // this and the members below are not set for skippable frames
    uint64_t blocks[3];           // number of raw, RLE and compressed blocks
    uint64_t size = kZstdUnknown; // bytes that it decodes to
};

// An error in a frame.
struct ZstdDamage {
    uint64_t frame, offset; // the frame's number, and where it begins
    uint64_t block, blockOffset;
    uint32_t status;       // a SluiceTileStatus
    bool isCutOff = false; // the file ends inside the frame
    // Bytes of the window that the frame needs, and the limit, if it needs more than that.
    uint64_t window = 0, maxWindow = 0;

    int exitCode() const;
};

// Keeps the first damages, in the order of frames, and counts all of them. A file may have more
// damages than memory should be spent on.
class ZstdDamages {
public:
    static constexpr size_t kMostKept = 1000;

    void add(const ZstdDamage& damage);
    uint64_t count() const { return m_count; }
    bool isFull() const { return m_count >= kMostKept; } // later damages may be left out
    uint64_t firstFrame() const { return m_firstFrame; } // the first damaged frame
    int exitCode() const { return m_exitCode; }          // of all damages, kept or not
    std::vector<ZstdDamage> first() const;               // the damages that are kept

private:
    std::vector<ZstdDamage> m_kept; // a heap, the last frame on top
    uint64_t m_count = 0, m_firstFrame = UINT64_MAX;
    int m_exitCode = exitOk;
};

// The table at the end of a seekable file.
struct ZstdSeekTable {
    uint64_t offset = 0, entries = 0; // offset 0: there is no table
    uint32_t entrySize = 0;           // bytes: 8 or, with checksums, 12
    bool skipsSkippable = false;      // skippable frames have no entries
    bool fits = false;                // set by scan(): the entries agree with the frames

    bool exists() const { return offset != 0; } // a table of a file without frames has no entries
    bool hasChecksums() const { return fits && entrySize == 12; } // of the frames' contents
};

class ZstdFile {
public:
    static bool recognises(const InputFile& file);

    // `dictionary` must outlive this object. It may be null if no frame will be decoded.
    ZstdFile(std::unique_ptr<InputFile> file, const ZstdDictionary* dictionary);

    const InputFile& file() const { return *m_file; }
    const ZstdDictionary* dictionary() const { return m_dictionary; }
    const ZstdSeekTable& seekTable() const { return m_table; }
    uint64_t frames() const { return m_frames; } // of the last scan, without skippable ones
    uint64_t allFrames() const { return m_allFrames; }

    // Reads all frames and calls `call` for each, in order. With a dictionary, also finds the sizes
    // of frames that do not state them. Throws if all frames together have more than `most` bytes.
    // If `damaged` is null, damage is thrown as a Failure. Otherwise it is given to `damaged`, and
    // reading continues with the next frame if its offset is known.
    void scan(uint64_t most, const std::function<void(const ZstdFrame&)>& call,
              const std::function<void(const ZstdDamage&)>& damaged);

    // Returns a reader of the frames in a range of the file.
    cpu::fast::ZstdFrames reader(uint64_t begin, uint64_t end) const;
    // These return the size and the checksum of a frame's content from the frame's entry in the
    // seek table, which has the index `entry`. They need seekTable().hasChecksums().
    uint32_t tableSize(uint64_t entry) const { return tableWord(entry, 4); }
    uint32_t tableChecksum(uint64_t entry) const { return tableWord(entry, 8); }
    // Returns a message with the damage and its place.
    std::string text(const ZstdDamage& damage) const;

private:
    void findSeekTable();
    bool mayBeginAt(uint64_t offset) const;
    uint32_t tableWord(uint64_t entry, uint32_t offset) const;

    std::unique_ptr<InputFile> m_file;
    const ZstdDictionary* m_dictionary;
    ZstdSeekTable m_table;
    uint64_t m_frames = 0, m_allFrames = 0;
};

} // namespace sluice
