// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/cache_entries.h"

#include <algorithm>

namespace sluice {
namespace {

// The version of each kind of entry. Raise it when the layout changes, so that older entries are
// ignored.
constexpr uint32_t kTileLayout = 1, kAssetLayout = 1, kStampsLayout = 1;
constexpr size_t kSegmentBytes = 8 + 8 * 4, kTileBytes = 32 + 5 * 4, kStampBytes = 64,
                 kNoteBytes = 4 + 8; // a note's bytes without its text

class Writer {
public:
    void u32(uint32_t value)
    {
        uint8_t stored[4];
        storeLe32(stored, value);
        m_bytes.insert(m_bytes.end(), std::begin(stored), std::end(stored));
    }
    void u64(uint64_t value)
    {
        uint8_t stored[8];
        storeLe64(stored, value);
        m_bytes.insert(m_bytes.end(), std::begin(stored), std::end(stored));
    }
    template <class Bytes>
    void bytes(const Bytes& bytes)
    {
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
    }
    template <class Bytes>
    void counted(const Bytes& more)
    {
        u64(more.size());
        bytes(more);
    }
    Bytes take() { return std::move(m_bytes); }

private:
    Bytes m_bytes;
};

// Reads values one after the other. When a value does not fit into the bytes that are left, it and
// all later ones are zero or empty.
class Reader {
public:
    explicit Reader(const Bytes& bytes) : m_at(bytes.data()), m_left(bytes.size()) {}

    uint32_t u32()
    {
        const uint8_t* at = take(4);
        return at != nullptr ? loadLe32(at) : 0;
    }
    uint64_t u64()
    {
        const uint8_t* at = take(8);
        return at != nullptr ? loadLe64(at) : 0;
    }
    // Reads how many items of `size` bytes follow, and checks that there are enough bytes for them.
    size_t count(size_t size)
    {
        const uint64_t number = u64();
        if (number > m_left / size) m_isGood = false;
        return m_isGood ? size_t(number) : 0;
    }
    Bytes counted()
    {
        const size_t size = count(1);
        const uint8_t* at = take(size);
        return at != nullptr ? Bytes(at, at + size) : Bytes();
    }
    Digest digest()
    {
        Digest digest = {};
        if (const uint8_t* at = take(digest.size())) std::copy_n(at, digest.size(), digest.data());
        return digest;
    }
    Bytes rest()
    {
        const size_t size = m_left;
        const uint8_t* at = take(size);
        return at != nullptr ? Bytes(at, at + size) : Bytes();
    }
    bool isGood() const { return m_isGood; }
    bool isWhole() const { return m_isGood && m_left == 0; }

private:
    const uint8_t* take(size_t size)
    {
        m_isGood = m_isGood && size <= m_left;
        if (!m_isGood) return nullptr;
        const uint8_t* at = m_at;
        m_at += size;
        m_left -= size;
        return at;
    }

    const uint8_t* m_at;
    size_t m_left;
    bool m_isGood = true;
};

SluiceArchiveSegment readSegment(Reader& reader)
{
    SluiceArchiveSegment segment = {};
    segment.size = reader.u64();
    segment.codec = SluiceCodec(reader.u32() & 0xff);
    segment.tileSize = reader.u32();
    segment.level = reader.u32();
    segment.decodeSpeed = reader.u32();
    segment.filterOffset = reader.u32();
    segment.floatType = reader.u32();
    segment.copyDepth = reader.u32();
    segment.filterTrial = reader.u32();
    return segment;
}

} // namespace

Bytes writeTileEntry(const TileEntry& tile, uint32_t size)
{
    Writer writer;
    writer.u32(kTileLayout);
    writer.u32(size);
    writer.u32(tile.filtered ? 1 : 0);
    writer.bytes(tile.bytes);
    return writer.take();
}

std::optional<TileEntry> readTileEntry(const Bytes& content, uint32_t size)
{
    Reader reader(content);
    const bool isKnown = reader.u32() == kTileLayout && reader.u32() == size;
    TileEntry tile;
    tile.filtered = reader.u32() != 0;
    tile.bytes = reader.rest();
    if (!isKnown || !reader.isWhole() || tile.bytes.empty() || tile.bytes.size() > size) return {};
    return tile;
}

uint64_t AssetEntry::storedBytes() const
{
    uint64_t bytes = 0;
    for (const Tile& tile : tiles)
        bytes += tile.record.storedSize;
    return bytes;
}

Bytes writeAssetEntry(const AssetEntry& asset)
{
    Writer writer;
    writer.u32(kAssetLayout);
    writer.u64(asset.size);
    writer.u32(asset.converted ? 1 : 0);
    writer.u32(asset.type);
    writer.u32(asset.tileSizeLog2);
    writer.u64(asset.notes.size());
    for (const PackNote& note : asset.notes) {
        writer.u32(note.isDetail ? 1 : 0);
        writer.counted(note.text);
    }
    writer.counted(asset.parameters);
    writer.u64(asset.segments.size());
    for (const SluiceArchiveSegment& segment : asset.segments) {
        writer.u64(segment.size);
        for (const uint32_t number :
             {uint32_t(segment.codec), segment.tileSize, segment.level, segment.decodeSpeed,
              segment.filterOffset, segment.floatType, segment.copyDepth, segment.filterTrial})
            writer.u32(number);
    }
    writer.u64(asset.tiles.size());
    for (const AssetEntry::Tile& tile : asset.tiles) {
        writer.bytes(tile.key);
        const SluiceArchiveTile& record = tile.record;
        for (const uint32_t number :
             {record.storedSize, record.size, record.codec, record.checksum, record.filterOffset})
            writer.u32(number);
    }
    return writer.take();
}

std::optional<AssetEntry> readAssetEntry(const Bytes& content)
{
    Reader reader(content);
    if (reader.u32() != kAssetLayout) return {};
    AssetEntry asset;
    asset.size = reader.u64();
    asset.converted = reader.u32() != 0;
    asset.type = reader.u32();
    asset.tileSizeLog2 = reader.u32();
    for (size_t left = reader.count(kNoteBytes); left != 0 && reader.isGood(); --left) {
        const bool isDetail = reader.u32() != 0;
        const Bytes text = reader.counted();
        asset.notes.push_back({isDetail, {text.begin(), text.end()}});
    }
    asset.parameters = reader.counted();
    asset.segments.resize(reader.count(kSegmentBytes));
    for (SluiceArchiveSegment& segment : asset.segments)
        segment = readSegment(reader);
    asset.tiles.resize(reader.count(kTileBytes));
    for (AssetEntry::Tile& tile : asset.tiles) {
        tile.key = reader.digest();
        tile.record = {};
        tile.record.storedSize = reader.u32();
        tile.record.size = reader.u32();
        tile.record.codec = reader.u32();
        tile.record.checksum = reader.u32();
        tile.record.filterOffset = reader.u32();
    }
    const bool fits = asset.tiles.size() <= UINT32_MAX && asset.segments.size() <= UINT32_MAX &&
                      asset.parameters.size() <= SLUICE_ARCHIVE_MAX_BLOCK_BYTES;
    if (!reader.isWhole() || !fits) return {};
    return asset;
}

Bytes writeStamps(const std::vector<Stamp>& stamps)
{
    Writer writer;
    writer.u32(kStampsLayout);
    writer.u64(stamps.size());
    for (const Stamp& stamp : stamps) {
        writer.bytes(stamp.status);
        writer.bytes(stamp.content);
    }
    return writer.take();
}

std::optional<std::vector<Stamp>> readStamps(const Bytes& content)
{
    Reader reader(content);
    if (reader.u32() != kStampsLayout) return {};
    std::vector<Stamp> stamps(reader.count(kStampBytes));
    for (Stamp& stamp : stamps) {
        stamp.status = reader.digest();
        stamp.content = reader.digest();
    }
    if (!reader.isWhole()) return {};
    return stamps;
}

} // namespace sluice
