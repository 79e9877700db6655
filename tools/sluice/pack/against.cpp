// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/against.h"

#include <algorithm>
#include <unordered_map>

#include <xxhash.h>

#include "tools/sluice/info/asset_summary.h"
#include "tools/common/decoder.h"
#include "encode/archive/blake2b.h"
#include "formats/archive_layout.h"
#include "tools/sluice/pack/textures.h"

namespace sluice {
namespace {

constexpr uint32_t kFirstBytes = 64;       // tiles are looked up by a hash of these first bytes
constexpr uint64_t kStep = 4;              // in the file, tiles begin at multiples of this
constexpr size_t kMostCandidates = 8;      // most tiles of equal first bytes to compare
constexpr uint64_t kWindowBytes = 8 << 20; // bytes of the file in memory at once
constexpr uint64_t kGapBytes = 64 << 20;   // most bytes between old tiles to plan at once
constexpr uint64_t kLeastKept = 8;         // old tiles must hold 1/8 of the file, or none is used

// A part of a file that is in memory and moves forward through the file.
class Window {
public:
    explicit Window(const InputFile& file) : m_file(file) {}

    uint64_t size() const { return m_file.size(); }
    // Returns the bytes at an offset. `size` is at most kWindowBytes, and the range lies inside the
    // file.
    const uint8_t* at(uint64_t offset, uint64_t size)
    {
        if (offset < m_begin || offset + size > m_begin + m_bytes.size()) {
            m_begin = offset;
            m_bytes.resize(size_t(std::min(kWindowBytes, m_file.size() - offset)));
            m_file.read(offset, m_bytes.data(), m_bytes.size());
        }
        return m_bytes.data() + (offset - m_begin);
    }

private:
    const InputFile& m_file;
    Bytes m_bytes;
    uint64_t m_begin = 0;
};

} // namespace

// A tile of the older archive's asset.
struct OldTiles::Tile {
    uint64_t first; // XXH3 of its first kFirstBytes bytes
    XXH128_hash_t content;
    uint32_t size;
    uint32_t filterSize;
    const void* filter; // filter description, owned by the archive; null: none
};

OldTiles::OldTiles(const std::string& path, uint32_t threads, const CommonOptions& common)
    : m_archive(path)
{
    if (!m_archive.isArchive()) throw Failure{exitFormat, path + ": is no .sluice archive"};
    m_device =
        std::make_unique<ToolDevice>(DeviceOptions{"cpu", "", threads}, common, Decoder::kernels());
}

std::optional<uint32_t> OldTiles::find(const std::string& name, const AssetOptions& options) const
{
    const std::string type = typeOf(name);
    const bool isImage =
        options.images && (hasPictureName(name) || type == "ktx2" || type == "dds");
    // Images and tensors are always cut where their levels or tensors begin, so the old tiles are
    // not used for them.
    if (isImage || options.codec == "float") return {};
    const std::optional<uint32_t> number = m_archive.find(name);
    if (!number || m_archive.archiveAsset(*number).share != SLUICE_ARCHIVE_NO_SHARE) return {};
    return number;
}

std::string OldTiles::textFor(const std::string& name, const AssetOptions& options) const
{
    const std::optional<uint32_t> number = find(name, options);
    if (!number) return "";
    const SluiceArchiveAsset asset = m_archive.archiveAsset(*number);
    Blake2b hash;
    hash.addText(std::string_view("sluice against"));
    for (const SluiceArchiveTile& tile : m_archive.records(*number)) {
        hash.addU32(tile.size);
        hash.addU32(tile.checksum);
        hash.addU32(tile.filterOffset);
    }
    hash.add(asset.parameters, asset.parameterSize);
    std::string text = " against=";
    for (const uint8_t byte : hash.finish())
        text += formatText("%02x", byte);
    return text;
}

// Returns the asset's tiles, but only those that this run could make itself with these options.
std::vector<OldTiles::Tile> OldTiles::tilesOf(uint32_t asset, const AssetOptions& options) const
{
    const uint32_t most = wholeSegment(codecNamed(options.codec), options, 0).tileSize;
    const bool filters = mayFilter(options);
    std::vector<Tile> tiles;
    Decoder decoder(*m_device, [&](const DecodeTile& tile, uint32_t status, const uint8_t* bytes) {
        if (status != SLUICE_TILE_OK)
            throw Failure{exitCodeOfTile(status), m_archive.place(asset) + ", " +
                                                      m_archive.tilePlace(tile.number, tile.tile) +
                                                      ": " + sluiceGetTileStatusText(status)};
        if (tile.tile.size < kFirstBytes || tile.tile.size > most) return;
        tiles.push_back({XXH3_64bits(bytes, kFirstBytes), XXH3_128bits(bytes, tile.tile.size),
                         tile.tile.size, filters ? tile.tile.filterSize : 0,
                         filters ? tile.tile.filter : nullptr});
    });
    m_archive.forEachTile(asset, [&](uint32_t number, const ContainerTile& tile) {
        m_archive.file().read(tile.offset, decoder.add({tile, true, asset, number}),
                              tile.storedSize);
    });
    decoder.flush();
    return tiles;
}

namespace {

// An old tile whose content was found in the file.
struct Kept {
    uint64_t begin;
    size_t tile;
};

// Finds old tiles in a file, from its beginning to its end.
template <class Tile>
class Matcher {
public:
    Matcher(const std::vector<Tile>& tiles, const InputFile& file)
        : m_tiles(tiles), m_file(file), m_budget(4 * file.size() + kWindowBytes)
    {
        for (size_t i = 0; i < tiles.size(); ++i) {
            std::vector<size_t>& alike = m_byFirst[tiles[i].first];
            if (alike.size() < kMostCandidates) alike.push_back(i);
            m_mayBe[tiles[i].first % kBits] = 1;
        }
    }

    std::vector<Kept> run()
    {
        std::vector<Kept> kept;
        for (uint64_t at = 0; at + kFirstBytes <= m_file.size();) {
            const size_t found = tileAt(at);
            if (found == kNone) {
                at += kStep;
                continue;
            }
            kept.push_back({at, found});
            m_next = found + 1;
            at += m_tiles[found].size;
        }
        return kept;
    }

private:
    static constexpr size_t kNone = SIZE_MAX, kBits = 1 << 18;

    // Returns true if the file has the content of tile `number` at offset `at`. A comparison that
    // fails takes the tile's size from m_budget, which bounds the time of all comparisons.
    bool isHere(size_t number, uint64_t at)
    {
        const Tile& tile = m_tiles[number];
        const uint64_t end = at + tile.size;
        if (end > m_file.size() || (end != m_file.size() && end % kStep != 0)) return false;
        const XXH128_hash_t content = XXH3_128bits(m_file.at(at, tile.size), tile.size);
        if (XXH128_isEqual(content, tile.content) != 0) return true;
        m_budget -= std::min<uint64_t>(m_budget, tile.size);
        return false;
    }

    // Returns a tile whose content the file has at offset `at`, or kNone. The tile after the one
    // that was found last is tried first.
    size_t tileAt(uint64_t at)
    {
        const uint64_t first = XXH3_64bits(m_file.at(at, kFirstBytes), kFirstBytes);
        if (m_mayBe[first % kBits] == 0) return kNone;
        const auto alike = m_byFirst.find(first);
        if (alike == m_byFirst.end()) return kNone;
        if (m_next < m_tiles.size() && m_tiles[m_next].first == first && isHere(m_next, at))
            return m_next;
        for (const size_t number : alike->second)
            if (m_budget != 0 && isHere(number, at)) return number;
        return kNone;
    }

    const std::vector<Tile>& m_tiles;
    Window m_file;
    uint64_t m_budget; // how many more bytes failing comparisons may read
    std::unordered_map<uint64_t, std::vector<size_t>> m_byFirst;
    std::vector<char> m_mayBe = std::vector<char>(kBits, 0);
    size_t m_next = 0;
};

// Makes segments of the old tiles that were found and of the bytes between them. Neighbouring old
// tiles with the same filter become one segment.
class SegmentMaker {
public:
    // A segment with one tile may have any tile size that is large enough. It gets loneTileSize,
    // the tile size of the old asset, so that an unchanged asset keeps the same index entry.
    SegmentMaker(PackPlan& plan, const InputFile& file, const AssetOptions& options,
                 uint32_t loneTileSize)
        : m_list(plan), m_file(file), m_options(options), m_codec(codecNamed(options.codec)),
          m_loneTileSize(loneTileSize)
    {
    }

    // Adds an old tile that was found at `begin`. `filter` is its filter description or null.
    void addKept(uint64_t begin, uint32_t size, const void* filter, uint32_t filterSize)
    {
        const bool joins = begin == m_end && m_run.size != 0 && m_run.size % m_run.tileSize == 0 &&
                           size <= m_run.tileSize && filter == m_filter;
        if (!joins) {
            flush();
            addGap(begin);
            m_run = wholeSegment(m_codec, m_options, 0);
            m_run.tileSize = uint32_t(alignUp(size, kStep));
            m_filter = filter;
            m_filterSize = filterSize;
        }
        m_run.size += size;
        m_end = begin + size;
    }
    void finish()
    {
        flush();
        addGap(m_file.size());
    }

private:
    void flush()
    {
        if (m_run.size == 0) return;
        Bytes item;
        if (m_filter != nullptr) {
            item.resize(kItemHead + m_filterSize);
            storeLe16(item.data(), kFilterItem);
            storeLe32(item.data() + 4, m_filterSize);
            std::memcpy(item.data() + kItemHead, m_filter, m_filterSize);
        }
        m_run.filterOffset = item.empty() ? 0 : 4;
        if (m_run.size <= m_run.tileSize) m_run.tileSize = std::max(m_run.tileSize, m_loneTileSize);
        m_list.add(m_run, item.data());
        m_run.size = 0;
    }
    // Plans the bytes up to `end` as if they were a file by themselves.
    void addGap(uint64_t end)
    {
        while (m_end < end) {
            Bytes bytes(size_t(std::min(end - m_end, kGapBytes)));
            m_file.read(m_end, bytes.data(), bytes.size());
            m_end += bytes.size();
            const uint64_t size = bytes.size();
            const InputFile gap(m_file.name(), std::move(bytes));
            const PackPlan plan = m_codec.plan(gap, m_options);
            const Bytes items = plan.items();
            if (plan.segments.empty()) m_list.add(wholeSegment(m_codec, m_options, size), nullptr);
            for (const SluiceArchiveSegment& segment : plan.segments)
                m_list.add(segment, items.data());
        }
    }

    SegmentList m_list;
    const InputFile& m_file;
    const AssetOptions& m_options;
    const Codec& m_codec;
    const uint32_t m_loneTileSize;
    SluiceArchiveSegment m_run = {};
    const void* m_filter = nullptr; // filter of m_run, the segment that grows
    uint32_t m_filterSize = 0;
    uint64_t m_end = 0;
};

} // namespace

std::optional<PackPlan> OldTiles::plan(const std::string& name, const InputFile& file,
                                       const AssetOptions& options) const
{
    const std::optional<uint32_t> number = find(name, options);
    if (!number) return {};
    const std::vector<Tile> tiles = tilesOf(*number, options);
    const std::vector<Kept> kept = Matcher<Tile>(tiles, file).run();
    uint64_t bytes = 0;
    for (const Kept& one : kept)
        bytes += tiles[one.tile].size;
    if (kept.empty() || bytes < file.size() / kLeastKept) return {};
    PackPlan plan;
    const uint32_t most = wholeSegment(codecNamed(options.codec), options, 0).tileSize;
    SegmentMaker maker(plan, file, options,
                       std::min(most, 1u << m_archive.archiveAsset(*number).tileSizeLog2));
    for (const Kept& one : kept)
        maker.addKept(one.begin, tiles[one.tile].size, tiles[one.tile].filter,
                      tiles[one.tile].filterSize);
    maker.finish();
    plan.note = formatText("%zu of %zu tiles of the old archive kept", kept.size(), tiles.size());
    return plan;
}

} // namespace sluice
