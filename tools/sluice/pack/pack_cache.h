// SPDX-License-Identifier: MIT OR Apache-2.0
// Does sluice pack --cache: finds files that an earlier run packed with the same options, by their
// content, and tiles that it encoded. The archive is the same with and without a cache.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/sluice/pack/cache_entries.h"
#include "tools/common/files.h"

namespace sluice {

class PackCache {
public:
    // `scope` identifies the inputs of this run; the digests of its files are stored under it.
    PackCache(const std::string& folder, const std::string& scope, bool quiet);

    // Returns the cache for the archive's writer. It lives as long as this object.
    const SluiceTileCache* callbacks() const { return &m_callbacks; }

    // Returns the digest of a file's content. It comes from an earlier run if the file system says
    // that the file has not changed; otherwise the whole file is read.
    Digest contentOf(const InputFile& file, const std::string& path);
    // Returns whether the file still has the content whose digest contentOf gave.
    bool isStill(const InputFile& file, const Digest& content) const;
    // Returns what identifies a file's entry: its content, its name (plans look at the suffix) and
    // how it is encoded.
    static Digest keyOf(const Digest& content, const std::string& name,
                        const std::string& encoding);

    std::optional<AssetEntry> findAsset(const Digest& key) const;
    // Returns the stored bytes of all tiles of an entry. Returns none if a tile is missing or the
    // bytes exceed `limit`.
    std::optional<std::vector<Bytes>> loadTiles(const AssetEntry& entry, uint64_t limit) const;

    // These keep the result for the asset that is added to the writer next. Its tiles are written
    // later, so call begin before the writer and confirm after it. `keep` says whether the file was
    // still unchanged after it had been read.
    void begin(uint32_t asset, const Digest& key, AssetEntry entry);
    void confirm(uint32_t asset, bool keep);

    // Call this when the archive is finished. It keeps the digests of the files, and removes the
    // oldest entries if the cache exceeds `limit` bytes (0: no limit).
    void finish(uint64_t limit);

    struct Counts {
        uint64_t files = 0, filesFound = 0, tiles = 0, tilesFound = 0;
    };
    Counts counts; // `tiles` are those of files not found
    std::string summary() const;

private:
    struct Pending {
        Digest key;
        AssetEntry entry;
        uint64_t written = 0; // decoded bytes of its tiles so far
        bool isConfirmed = false;
        bool isUsable = true; // every tile is in the cache
    };

    static uint32_t find(void* user, const uint8_t* key, uint32_t size, void* bytes,
                         uint32_t* filtered);
    static void keep(void* user, const uint8_t* key, uint32_t size, const void* bytes,
                     uint32_t storedSize, uint32_t filtered);
    static void wrote(void* user, uint32_t asset, const SluiceArchiveTile* tile,
                      const uint8_t* key);
    void storeIfComplete(uint32_t asset);
    bool isOld(const FileFacts& facts) const;

    struct DigestHash {
        size_t operator()(const Digest& digest) const { return size_t(loadLe64(digest.data())); }
    };

    CacheFolder m_folder;
    bool m_quiet;
    SluiceTileCache m_callbacks;
    Digest m_scope, m_machine;
    std::unordered_map<Digest, Digest, DigestHash> m_stamps; // stamps of earlier runs
    std::vector<Stamp> m_used;                               // stamps of this run
    std::map<uint32_t, Pending> m_pending;
    std::atomic<uint64_t> m_tiles = 0, m_tilesFound = 0;
};

} // namespace sluice
