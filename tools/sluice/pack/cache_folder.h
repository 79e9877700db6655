// SPDX-License-Identifier: MIT OR Apache-2.0
// A folder that keeps results of packing, each under the digest of its input.
//
// Several processes and machines may share a folder, and processes may be killed at any time. So an
// entry is a file that appears only when it is complete. It is checked when it is read, and a
// damaged entry counts as absent. Only someone who can write to the folder can make it return a
// wrong result (blake2b.h says why).
//
// Other programs may put files into the folder. Only files with the names below are read, replaced
// or removed, never through a link, and never if they are larger than an entry can be.
//
//   DIR/CACHEDIR.TAG     marks the folder, for backups and for `sluice cache`
//   DIR/ab/cdef...SUFFIX an entry whose digest is abcdef...
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "encode/archive/blake2b.h"
#include "tools/common/platform.h"
#include "tools/common/tool.h"

namespace sluice {

// Says what an entry holds. The letter is the last one of its file's name.
enum class EntryKind : char {
    tile = 't',
    asset = 'a',
    stamps = 's',
};

// Returns the file of an entry:
//    0  u8[8]   magic
//    8  u8[32]  digest, then u8 kind, u8[7] zeros
//   48  u64     bytes of the content
//   56  content
//       u8[16]  XXH3-128 of all before it, as two u64, the low one first
Bytes makeCacheEntry(EntryKind kind, const Digest& digest, const Bytes& content);
// Returns the content, if the bytes are the complete, undamaged entry of this digest.
std::optional<Bytes> readCacheEntry(EntryKind kind, const Digest& digest, const Bytes& file);

std::string hexText(const Digest& digest);

// An open file or folder, which is closed with this object.
class OpenFile {
public:
    explicit OpenFile(SystemFile file) : m_file(file) {}
    ~OpenFile() { close(); }
    OpenFile(OpenFile&& other) noexcept : m_file(std::exchange(other.m_file, kNoFile)) {}
    OpenFile& operator=(OpenFile&& other) noexcept
    {
        close();
        m_file = std::exchange(other.m_file, kNoFile);
        return *this;
    }
    operator SystemFile() const { return m_file; }
    SystemFile release() { return std::exchange(m_file, kNoFile); } // who calls it closes the file

private:
    void close() const
    {
        if (m_file != kNoFile) closeFile(m_file);
    }

    SystemFile m_file;
};

class CacheFolder {
public:
    // Opens a cache. If `create` is set, a missing folder is made, and an empty one becomes a
    // cache. Throws a Failure.
    CacheFolder(std::string path, bool create);

    const std::string& path() const { return m_path; }

    // find() and keep() are thread-safe. An entry that cannot be read counts as absent. Finding an
    // entry updates its time of last use.
    std::optional<Bytes> find(EntryKind kind, const Digest& digest) const;
    // Stores an entry. A failure only means that the entry is not stored. The object's first
    // failure is reported on stderr, unless `quiet`.
    void keep(EntryKind kind, const Digest& digest, const Bytes& content, bool quiet);

    struct Usage {
        uint64_t entries[3] = {}, bytes[3] = {}; // by kind: tile, asset, stamps
        uint64_t leftovers = 0;                  // temporary files of running or killed processes
        int64_t oldest = 0, youngest = 0;        // times of last use, in seconds since 1970
        uint64_t allEntries() const { return entries[0] + entries[1] + entries[2]; }
        uint64_t allBytes() const { return bytes[0] + bytes[1] + bytes[2]; }
    };
    Usage usage() const;

    struct Trimmed {
        uint64_t entries = 0, bytes = 0;
    };
    // Removes the entries that were not used for longest, until the rest has at most `limit` bytes.
    // Also removes temporary files that killed processes left at least a day ago.
    Trimmed trim(uint64_t limit) const;

private:
    OpenFile partOf(const std::string& digits) const;

    std::string m_path;
    OpenFile m_folder;
    std::atomic<bool> m_hasFailed = false;
};

// `sluice cache info DIR` and `sluice cache trim DIR`.
int runCacheInfo(const std::string& folder);
int runCacheTrim(const std::string& folder, uint64_t limit, const CommonOptions& common);

} // namespace sluice
