// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_cache.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

#include "encode/encoder_version.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

constexpr size_t kReadBytes = 1 << 20;
// A file that has changed within the last kRacySeconds may change once more and keep its time of
// change, since file systems count time coarsely, some in steps of two seconds. Such a file's
// digest is not kept.
constexpr int64_t kRacySeconds = 3;

Digest digestFrom(const uint8_t* bytes)
{
    Digest digest;
    std::copy_n(bytes, digest.size(), digest.begin());
    return digest;
}

Digest hashContent(const InputFile& file)
{
    Blake2b hash;
    Bytes buffer(size_t(std::min<uint64_t>(file.size(), kReadBytes)));
    for (uint64_t at = 0; at < file.size(); at += buffer.size()) {
        const size_t size = size_t(std::min<uint64_t>(file.size() - at, buffer.size()));
        file.read(at, buffer.data(), size);
        hash.add(buffer.data(), size);
    }
    return hash.finish();
}

// Returns a digest that identifies this machine: inode numbers and times mean nothing on another.
Digest machineDigest()
{
    Blake2b hash;
    for (const std::string& text : machineIdentity())
        hash.addText(text);
    return hash.finish();
}

Digest statusDigest(const Digest& machine, const std::string& path, const FileFacts& facts)
{
    std::error_code error;
    Blake2b hash;
    hash.addText(std::string_view("sluice stamp"));
    hash.add(machine.data(), machine.size());
    hash.addText(fs::absolute(fs::u8path(path), error).lexically_normal().u8string());
    for (const uint64_t number :
         {facts.device, facts.number, facts.size, uint64_t(facts.modified.seconds),
          uint64_t(facts.modified.nanoseconds), uint64_t(facts.changed.seconds),
          uint64_t(facts.changed.nanoseconds)})
        hash.addU64(number);
    return hash.finish();
}

} // namespace

PackCache::PackCache(const std::string& folder, const std::string& scope, bool quiet)
    : m_folder(folder, true), m_quiet(quiet), m_callbacks({this, find, keep, wrote}),
      m_machine(machineDigest())
{
    std::error_code error;
    Blake2b hash;
    hash.addText(std::string_view("sluice stamps"));
    hash.add(m_machine.data(), m_machine.size());
    hash.addText(fs::current_path(error).u8string());
    hash.addText(scope);
    m_scope = hash.finish();
    const std::optional<Bytes> content = m_folder.find(EntryKind::stamps, m_scope);
    const auto stamps = content ? readStamps(*content) : std::nullopt;
    if (!stamps) return;
    for (const Stamp& stamp : *stamps)
        m_stamps.emplace(stamp.status, stamp.content);
}

bool PackCache::isOld(const FileFacts& facts) const
{
    return std::time(nullptr) - std::max(facts.modified.seconds, facts.changed.seconds) >=
           kRacySeconds;
}

Digest PackCache::contentOf(const InputFile& file, const std::string& path)
{
    FileFacts before, after;
    if (!file.facts(before)) return hashContent(file);
    const Digest status = statusDigest(m_machine, path, before);
    const auto found = m_stamps.find(status);
    if (found != m_stamps.end()) {
        m_used.push_back({status, found->second});
        return found->second;
    }
    const bool wasOld = isOld(before);
    const Digest content = hashContent(file);
    if (wasOld && file.facts(after) && statusDigest(m_machine, path, after) == status)
        m_used.push_back({status, content});
    return content;
}

bool PackCache::isStill(const InputFile& file, const Digest& content) const
{
    return hashContent(file) == content;
}

Digest PackCache::keyOf(const Digest& content, const std::string& name, const std::string& encoding)
{
    Blake2b hash;
    hash.addText(std::string_view("sluice asset"));
    hash.addU64(encoderId());
    hash.addText(encoding);
    hash.addText(name.substr(name.rfind('/') + 1));
    hash.add(content.data(), content.size());
    return hash.finish();
}

std::optional<AssetEntry> PackCache::findAsset(const Digest& key) const
{
    const std::optional<Bytes> content = m_folder.find(EntryKind::asset, key);
    return content ? readAssetEntry(*content) : std::nullopt;
}

std::optional<std::vector<Bytes>> PackCache::loadTiles(const AssetEntry& entry,
                                                       uint64_t limit) const
{
    if (entry.storedBytes() > limit) return {};
    std::vector<Bytes> tiles;
    for (const AssetEntry::Tile& tile : entry.tiles) {
        const std::optional<Bytes> content = m_folder.find(EntryKind::tile, tile.key);
        std::optional<TileEntry> found =
            content ? readTileEntry(*content, tile.record.size) : std::nullopt;
        const bool isSame = found && found->bytes.size() == tile.record.storedSize &&
                            found->filtered == (tile.record.filterOffset != 0);
        if (!isSame) return {};
        tiles.push_back(std::move(found->bytes));
    }
    return tiles;
}

uint32_t PackCache::find(void* user, const uint8_t* key, uint32_t size, void* bytes,
                         uint32_t* filtered)
{
    PackCache& cache = *static_cast<PackCache*>(user);
    ++cache.m_tiles;
    try {
        const std::optional<Bytes> content = cache.m_folder.find(EntryKind::tile, digestFrom(key));
        const auto tile = content ? readTileEntry(*content, size) : std::nullopt;
        if (!tile) return 0;
        ++cache.m_tilesFound;
        std::memcpy(bytes, tile->bytes.data(), tile->bytes.size());
        *filtered = tile->filtered ? 1 : 0;
        return uint32_t(tile->bytes.size());
    } catch (const std::exception&) { // out of memory, which the encoder will report
        return 0;
    }
}

void PackCache::keep(void* user, const uint8_t* key, uint32_t size, const void* bytes,
                     uint32_t storedSize, uint32_t filtered)
{
    PackCache& cache = *static_cast<PackCache*>(user);
    const uint8_t* from = static_cast<const uint8_t*>(bytes);
    try {
        const TileEntry tile = {filtered != 0, Bytes(from, from + storedSize)};
        cache.m_folder.keep(EntryKind::tile, digestFrom(key), writeTileEntry(tile, size),
                            cache.m_quiet);
    } catch (const std::exception&) { // out of memory: the tile is just not kept
    }
}

void PackCache::wrote(void* user, uint32_t asset, const SluiceArchiveTile* tile, const uint8_t* key)
{
    PackCache& cache = *static_cast<PackCache*>(user);
    const auto found = cache.m_pending.find(asset);
    if (found == cache.m_pending.end()) return;
    Pending& pending = found->second;
    AssetEntry::Tile written = {{}, *tile};
    written.record.offset = written.record.outputOffset = 0;
    if (key != nullptr) {
        written.key = digestFrom(key);
    } else {
        pending.isUsable = false;
    }
    pending.entry.tiles.push_back(written);
    pending.written += tile->size;
    cache.storeIfComplete(asset);
}

void PackCache::begin(uint32_t asset, const Digest& key, AssetEntry entry)
{
    m_pending[asset] = {key, std::move(entry)};
}

void PackCache::confirm(uint32_t asset, bool keep)
{
    const auto found = m_pending.find(asset);
    if (found == m_pending.end()) return;
    found->second.isConfirmed = true;
    found->second.isUsable = found->second.isUsable && keep;
    storeIfComplete(asset);
}

void PackCache::storeIfComplete(uint32_t asset)
{
    const Pending& pending = m_pending.at(asset);
    if (!pending.isConfirmed || pending.written != pending.entry.size) return;
    if (pending.isUsable)
        m_folder.keep(EntryKind::asset, pending.key, writeAssetEntry(pending.entry), m_quiet);
    m_pending.erase(asset);
}

void PackCache::finish(uint64_t limit)
{
    counts.tiles = m_tiles;
    counts.tilesFound = m_tilesFound;
    m_folder.keep(EntryKind::stamps, m_scope, writeStamps(m_used), m_quiet);
    if (limit != 0) m_folder.trim(limit);
}

std::string PackCache::summary() const
{
    return formatText("cache      %llu of %llu files found; of the others %llu of %llu tiles\n",
                      wide(counts.filesFound), wide(counts.files), wide(counts.tilesFound),
                      wide(counts.tiles));
}

} // namespace sluice
