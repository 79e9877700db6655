// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice pack --cache`: reuses what an earlier run has made: files that were packed with the same
// options, which are found by their content, and encoded tiles. The archive is the same with and
// without a cache.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/sluice/pack/cache_entries.h"
#include "tools/common/files.h"

namespace sluice {

class PackCache {
public:
    // `scope` identifies the inputs of this run. The cache keeps the digests of their contents
    // under it, so that the next run with these inputs need not read unchanged files.
    PackCache(const std::string& folder, const std::string& scope, bool quiet);

    // Returns the callbacks for the archive's writer, which are valid as long as this object.
    const SluiceTileCache* callbacks() const { return &m_callbacks; }

    // Returns the digest of a file's content. If the file system says that the file has not changed
    // since an earlier run, the digest comes from that run; otherwise the whole file is read.
    Digest contentOf(const InputFile& file, const std::string& path);
    // Reads the file again, and returns whether it still has this content.
    bool isStill(const InputFile& file, const Digest& content) const;
    // Returns the key of a file's entry: a digest of its content, of its name (plans depend on its
    // suffix) and of how it is encoded.
    static Digest keyOf(const Digest& content, const std::string& name,
                        const std::string& encoding);

    std::optional<AssetEntry> findAsset(const Digest& key) const;
    // Returns the stored bytes of all tiles of an entry; nothing if a tile is missing, or if
    // together they exceed `limit` bytes.
    std::optional<std::vector<Bytes>> loadTiles(const AssetEntry& entry, uint64_t limit) const;

    // begin() and confirm() store the entry of an asset for later runs. The caller calls begin(),
    // then adds the asset to the archive's writer, which reports each tile by wrote(), and then
    // calls confirm(). `keep` says whether the file was still unchanged after it had been read;
    // otherwise no entry is stored.
    void begin(uint32_t asset, const Digest& key, AssetEntry entry);
    void confirm(uint32_t asset, bool keep);

    // Call this once the archive is complete. It keeps the digests of the files' contents. If the
    // cache exceeds `limit` bytes (0: no limit), it removes the entries not used for longest.
    void finish(uint64_t limit);

    struct Counts {
        uint64_t files = 0, filesFound = 0, tiles = 0, tilesFound = 0;
    };
    Counts counts; // `tiles` counts only tiles of files that were not found
    std::string summary() const;

private:
    struct Pending {
        Digest key;
        AssetEntry entry;
        uint64_t written = 0; // decoded bytes of its tiles that were written so far
        bool isConfirmed = false;
        bool isUsable = true; // every tile so far is in the cache
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
