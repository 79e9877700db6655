// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/asset_packer.h"

#include <algorithm>
#include <cstring>

#include "tools/sluice/info/asset_summary.h"
#include "encode/archive/tile_encoder.h"
#include "tools/common/file_mode.h"
#include "formats/archive_layout.h"
#include "tools/common/input_reader.h"
#include "tools/sluice/pack/pack_images.h"
#include "tools/sluice/pack/pack_sources.h"
#include "tools/sluice/pack/textures.h"
#include "tools/common/weights.h"

namespace sluice {
namespace {

// How many bytes of tiles from the cache may be in memory at once.
constexpr uint64_t kMaxHeldTiles = uint64_t(64) << 20;

bool isSame(const InputFile& a, const InputFile& b)
{
    if (a.size() != b.size()) return false;
    constexpr uint64_t part = 1 << 20;
    Bytes bytesOfA, bytesOfB;
    for (uint64_t at = 0; at < a.size(); at += part) {
        const size_t size = size_t(std::min(part, a.size() - at));
        bytesOfA.resize(size);
        bytesOfB.resize(size);
        a.read(at, bytesOfA.data(), size);
        b.read(at, bytesOfB.data(), size);
        if (bytesOfA != bytesOfB) return false;
    }
    return true;
}

// Gives the writer the tiles of an asset that was found in the cache.
struct HeldTiles {
    const std::vector<Bytes>& tiles;

    static SluiceStatus read(void* user, uint32_t tile, void* bytes, uint32_t storedSize)
    {
        std::memcpy(bytes, static_cast<HeldTiles*>(user)->tiles[tile].data(), storedSize);
        return SLUICE_OK;
    }
};

bool triesFilters(const std::vector<SluiceArchiveSegment>& segments)
{
    return std::any_of(segments.begin(), segments.end(), [](const SluiceArchiveSegment& segment) {
        return segment.filterTrial != 0 && segment.filterOffset != 0;
    });
}

} // namespace

PackPlan planAsset(const InputFile& file, const std::string& name, const AssetOptions& options,
                   const OldTiles* against, std::vector<PackNote>& notes)
{
    if (against != nullptr) {
        if (std::optional<PackPlan> plan = against->plan(name, file, options)) {
            notes.push_back({true, plan->note});
            return std::move(*plan);
        }
    }
    const Codec& codec = codecNamed(options.codec);
    const auto tell = [&](const PackPlan& plan, const std::string& how) {
        if (!plan.reason.empty()) notes.push_back({false, "packed " + how + ": " + plan.reason});
    };
    if (options.images) {
        PackPlan image;
        const bool isImage = planImage(file, name, options, codec, image);
        tell(image, isImage ? codec.fallback : "as no image");
        if (isImage && !image.warning.empty()) notes.push_back({false, image.warning});
        if (!image.note.empty()) notes.push_back({true, image.note});
        if (isImage) return image;
    }
    PackPlan plan = codec.plan(file, options);
    tell(plan, codec.fallback);
    if (plan.segments.empty() && file.size() != 0)
        plan.segments = {wholeSegment(codec, options, file.size())};
    return plan;
}

AssetPacker::AssetPacker(std::function<void(uint64_t, const void*, size_t)> write,
                         const PackOptions& options, PackCache* cache, const OldTiles* against,
                         Progress& progress, const CommonOptions& common)
    : m_transfer({{}, std::move(write), {}}), m_cache(cache), m_against(against),
      m_progress(progress), m_common(common)
{
    SluiceArchiveWriterInfo info = {};
    info.codec = SLUICE_CODEC_STORE; // only a default: every asset names its codecs
    info.anyOrder = 1;
    info.equalTilesOnce = options.share ? 1 : 0;
    info.threadCount = threadCount(options.threads);
    info.cache = cache != nullptr ? cache->callbacks() : nullptr;
    checkPacking(m_transfer, createArchive(info, m_transfer, m_writer), "packing");
}

void AssetPacker::say(const std::string& path, const std::vector<PackNote>& notes) const
{
    if (m_common.quiet) return;
    for (const PackNote& note : notes) {
        if (!note.isDetail)
            sayError(path + ": " + note.text);
        else if (m_common.verbosity > 0)
            printMessage("%s: %s\n", printable(path).c_str(), printable(note.text).c_str());
    }
}

void AssetPacker::add(const ArchiveSource& source, const AssetOptions& options)
{
    const InputFile file(source.path, kindOf(source));
    countUnsuited(file, source.name, options);
    addFile(source, file, options, {});
    file.checkUnchanged();
    ++m_added;
}

void AssetPacker::countUnsuited(const InputFile& file, const std::string& name,
                                const AssetOptions& options)
{
    packedImages += !options.images && isPackedKtx2(file) ? 1 : 0;
    pictures += !options.images && isPicture(file, name) ? 1 : 0;
    const bool isPlain = options.codec == "gstd" || options.codec == "gdeflate";
    models +=
        isPlain && typeOf(file.name()) == "safetensors" && WeightFile::recognises(file) ? 1 : 0;
}

void AssetPacker::addFile(const ArchiveSource& source, const InputFile& file,
                          const AssetOptions& options, const Parts& parts)
{
    if (m_cache == nullptr || file.size() == 0) {
        addAnew(source, file, options, parts, nullptr);
        return;
    }
    const Digest content = m_cache->contentOf(file, source.path);
    std::string encoding = encodingText(options);
    if (m_against != nullptr && parts.empty()) encoding += m_against->textFor(source.name, options);
    const Digest key = PackCache::keyOf(content, source.name, encoding);
    const std::optional<AssetEntry> entry = m_cache->findAsset(key);
    const bool found = entry && addFromCache(source, file, *entry, parts);
    const uint64_t count = std::max<size_t>(parts.size(), 1);
    m_cache->counts.files += count;
    m_cache->counts.filesFound += found ? count : 0;
    if (found) return;
    const CacheName name = {key, content};
    addAnew(source, file, options, parts, &name);
}

void AssetPacker::addShare(const ArchiveSource* sources, size_t count, const AssetOptions& options)
{
    Bytes content, executable;
    addExecutableItem(executable);
    Parts parts;
    for (const ArchiveSource* source = sources; source != sources + count; ++source) {
        const InputFile file(source->path, kindOf(*source));
        // The sizes decided which files share tiles, so a file must still have its size.
        if (file.size() != source->size)
            throw Failure{exitIo, source->path + ": has changed since its folder was read"};
        countUnsuited(file, source->name, options);
        content.resize(size_t(alignUp(content.size(), kPartAlignment)));
        const Bytes bytes = file.readAll();
        file.checkUnchanged();
        content.insert(content.end(), bytes.begin(), bytes.end());
        const bool hasItem = source->executable;
        parts.push_back({source->name.data(), source->name.size(), 0,
                         hasItem ? uint32_t(executable.size()) : 0,
                         hasItem ? executable.data() : nullptr, source->size});
    }
    ArchiveSource share;
    share.path = sources[0].path + formatText(" and %zu files more", count - 1);
    share.name = "share." + typeOf(sources[0].name); // part of the key in the cache
    addFile(share, InputFile(share.path, std::move(content)), options, parts);
    m_added += 1 + uint32_t(count);
}

// Adds a file by its entry in the cache. Returns false if the entry cannot be used; then nothing
// was added.
bool AssetPacker::addFromCache(const ArchiveSource& source, const InputFile& file,
                               const AssetEntry& entry, const Parts& parts)
{
    Bytes parameters = entry.parameters;
    if (source.executable) addExecutableItem(parameters);
    const std::optional<std::vector<Bytes>> tiles = m_cache->loadTiles(entry, kMaxHeldTiles);
    SluiceStatus status = SLUICE_ERROR_ARGUMENT;
    if (tiles) {
        std::vector<SluiceArchiveTile> records;
        for (const AssetEntry::Tile& tile : entry.tiles)
            records.push_back(tile.record);
        HeldTiles held = {*tiles};
        SluiceEncodedAssetInfo asset = {};
        asset.name = source.name.data();
        asset.nameLength = source.name.size();
        asset.type = entry.type;
        asset.tileSizeLog2 = entry.tileSizeLog2;
        asset.size = entry.size;
        asset.parameters = parameters.data();
        asset.parameterSize = uint32_t(parameters.size());
        asset.filterTrial = triesFilters(entry.segments) ? 1 : 0;
        asset.tileCount = uint32_t(records.size());
        asset.tiles = records.data();
        asset.readTile = HeldTiles::read;
        asset.readUser = &held;
        status = parts.empty() ? sluiceAddEncodedArchiveAsset(m_writer.get(), &asset)
                               : sluiceAddEncodedArchiveShare(m_writer.get(), parts.data(),
                                                              uint32_t(parts.size()), &asset);
        if (status == SLUICE_OK) m_progress.advance(file.size());
    } else if (!entry.converted && entry.size == file.size()) {
        status =
            addSegments(source, file, parts, file.size(), entry.type, entry.segments, parameters);
    }
    if (status == SLUICE_ERROR_ARGUMENT) return false;
    checkPacking(m_transfer, status, source.path);
    say(source.path, entry.notes);
    return true;
}

SluiceStatus AssetPacker::addSegments(const ArchiveSource& source, const InputFile& content,
                                      const Parts& parts, uint64_t counted, uint32_t type,
                                      const std::vector<SluiceArchiveSegment>& segments,
                                      const Bytes& parameters)
{
    m_transfer.onRead = InputReader(content, counted, m_progress);
    SluiceArchiveAssetInfo asset = {};
    asset.name = source.name.data();
    asset.nameLength = source.name.size();
    asset.type = type;
    asset.size = content.size();
    asset.read = Transfer::read;
    asset.readUser = &m_transfer;
    asset.segments = segments.data();
    asset.segmentCount = uint32_t(segments.size());
    asset.parameters = parameters.data();
    asset.parameterSize = uint32_t(parameters.size());
    return parts.empty() ? sluiceAddArchiveAsset(m_writer.get(), &asset)
                         : sluiceAddArchiveShare(m_writer.get(), parts.data(),
                                                 uint32_t(parts.size()), &asset);
}

void AssetPacker::addAnew(const ArchiveSource& source, const InputFile& file,
                          const AssetOptions& options, const Parts& parts, const CacheName* name)
{
    std::vector<PackNote> notes;
    const PackPlan plan =
        planAsset(file, source.name, options, parts.empty() ? m_against : nullptr, notes);
    say(source.path, notes);
    const InputFile& content = plan.content ? *plan.content : file;
    Bytes parameters = plan.items();
    if (name != nullptr) {
        AssetEntry entry;
        entry.size = content.size();
        entry.converted = plan.content != nullptr && !isSame(*plan.content, file);
        entry.type = plan.type;
        entry.tileSizeLog2 = tileSizeLog2Of(plan.segments.data(), uint32_t(plan.segments.size()));
        entry.notes = notes;
        entry.parameters = parameters;
        entry.segments = plan.segments;
        m_cache->begin(m_added, name->key, std::move(entry));
    }
    if (source.executable) addExecutableItem(parameters);
    checkPacking(
        m_transfer,
        addSegments(source, content, parts, file.size(), plan.type, plan.segments, parameters),
        source.path);
    if (name != nullptr) m_cache->confirm(m_added, m_cache->isStill(file, name->content));
}

SluiceArchiveStats AssetPacker::finish(const std::string& output)
{
    SluiceArchiveStats stats = {};
    checkPacking(m_transfer, sluiceFinishArchive(m_writer.get(), &stats), output);
    return stats;
}

} // namespace sluice
