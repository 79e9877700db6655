// SPDX-License-Identifier: MIT OR Apache-2.0
// A folder that keeps results of packing by the digest of their input. Processes may share it, on
// one machine or on several, and may be killed at any time: each entry is a file of its own that
// appears only when it is complete, is checked when it is read, and counts as absent when it is
// damaged. Nobody without access to the folder can make it return a wrong result (see blake2b.h);
// anybody who can write to it can. Other programs may have put files there. Only files with the
// names below are read, replaced or removed, never through a link, and never if they are larger
// than an entry may be.
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

// Says what an entry holds; its letter is the last one of the file's name.
enum class EntryKind : char {
    tile = 't',
    asset = 'a',
    stamps = 's',
};

// An entry as a file:
//    0  u8[8]   magic
//    8  u8[32]  digest, then u8 kind, u8[7] zeros
//   48  u64     bytes of the content
//   56  content
//       u8[16]  XXH3-128 of all before it, as two u64, the low one first
Bytes makeCacheEntry(EntryKind kind, const Digest& digest, const Bytes& content);
// Returns the content. Returns none unless the bytes are the complete, undamaged entry of this
// digest.
std::optional<Bytes> readCacheEntry(EntryKind kind, const Digest& digest, const Bytes& file);

std::string hexText(const Digest& digest);

// Owns an open file or folder, and closes it.
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

private:
    void close() const
    {
        if (m_file != kNoFile) closeFile(m_file);
    }

    SystemFile m_file;
};

class CacheFolder {
public:
    // Opens a cache. A missing folder is made if `create` says so; an existing one must be a cache
    // or empty. Throws a Failure.
    CacheFolder(std::string path, bool create);

    const std::string& path() const { return m_path; }

    // Thread-safe. An entry that cannot be read counts as absent. A hit updates the entry's time of
    // last use.
    std::optional<Bytes> find(EntryKind kind, const Digest& digest) const;
    // Reports only the first failure on stderr, none if `quiet`; the caller can ignore failures.
    void keep(EntryKind kind, const Digest& digest, const Bytes& content, bool quiet);

    struct Usage {
        uint64_t entries[3] = {}, bytes[3] = {}; // by kind: tile, asset, stamps
        uint64_t leftovers = 0;                  // files of processes that were killed
        int64_t oldest = 0, youngest = 0;        // times of last use in seconds since 1970
        uint64_t allEntries() const { return entries[0] + entries[1] + entries[2]; }
        uint64_t allBytes() const { return bytes[0] + bytes[1] + bytes[2]; }
    };
    Usage usage() const;

    struct Trimmed {
        uint64_t entries = 0, bytes = 0;
    };
    // Removes the least recently used entries until the rest has at most `limit` bytes, and files
    // that killed processes left behind at least a day ago.
    Trimmed trim(uint64_t limit) const;

private:
    OpenFile partOf(const std::string& digits) const;

    std::string m_path;
    OpenFile m_folder;
    std::atomic<bool> m_hasFailed = false;
};

// sluice cache info|trim DIR
int runCacheInfo(const std::string& folder);
int runCacheTrim(const std::string& folder, uint64_t limit, const CommonOptions& common);

// Reads "10G", "500M", "64K" or a plain number of bytes, where K is 1024. Throws a Failure that
// names the option.
uint64_t sizeFromText(const std::string& option, const std::string& text);

} // namespace sluice
