// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes .sluice archives: assets in order of their names, tiles in order, so that the bytes depend
// on nothing else.
//
// Tiles are read ahead into the pool, across assets; whatever is the oldest is written next. An
// asset's place in the file is therefore known only when its first tile is written.
#include <sluice/sluice_archive.h>
#include <sluice/sluice_float.h>

#include <algorithm>
#include <string>

#include "../formats/archive_layout.h"
#include "../formats/errors.h"
#include "tile_pool.h"

namespace sluice {
namespace {

constexpr u64 kMaxAssetSize = u64(UINT32_MAX) * 65536;
constexpr size_t kRecordBatchBytes = 4096 * size_t(recordBytes); // kept before they are written

SluiceArchiveSegment defaultSegment(const SluiceArchiveWriterInfo& info, u64 size)
{
    const u32 tileSize = info.codec == SLUICE_CODEC_STORE ? SLUICE_GD_TILE_BYTES
                         : info.codec == SLUICE_CODEC_GSTD && info.tileSize != 0
                             ? info.tileSize
                             : maxTileBytes(info.codec);
    return {size, info.codec,         tileSize,       info.level, info.decodeSpeed,
            0,    SLUICE_FLOAT_BYTES, info.copyDepth, 0};
}

// An asset's segments, the caller's or a single one of ours.
struct Segments {
    const SluiceArchiveSegment* given;
    u32 count;
    SluiceArchiveSegment single;

    const SluiceArchiveSegment& operator[](u32 i) const
    {
        return given != nullptr ? given[i] : single;
    }
};

// What the index says of an asset, whoever encodes it.
struct AssetHead {
    std::string_view name;
    u32 type;
    u64 size;
    const u8* parameters;
    u32 parameterSize;
    bool triesFilters; // tiles may have lost their filter
};

bool triesFilters(const SluiceEncodedAssetInfo& info) { return info.filterTrial != 0; }
bool triesFilters(const SluiceArchiveAssetInfo& info)
{
    return info.segments != nullptr && std::any_of(info.segments, info.segments + info.segmentCount,
                                                   [](const SluiceArchiveSegment& segment) {
                                                       return segment.filterTrial != 0 &&
                                                              segment.filterOffset != 0;
                                                   });
}

template <class Info>
AssetHead headOf(const Info& info)
{
    return {{info.name, info.nameLength},
            info.type,
            info.size,
            static_cast<const u8*>(info.parameters),
            info.parameterSize,
            triesFilters(info)};
}

class ArchiveWriter {
public:
    explicit ArchiveWriter(const SluiceArchiveWriterInfo& info) : m_info(info) {}

    void start() { m_pool.start(m_info.threadCount, m_info.cache); }
    bool accepts(const SluiceArchiveAssetInfo& info) const;
    bool accepts(const SluiceEncodedAssetInfo& info) const;
    SluiceStatus add(const SluiceArchiveAssetInfo& info);
    SluiceStatus add(const SluiceEncodedAssetInfo& info);
    SluiceStatus finish(SluiceArchiveStats* stats);

    SluiceStatus failure = SLUICE_OK; // the first one is final
    bool finished = false;

private:
    u8* entry(u32 asset) { return m_entries.data() + size_t(asset) * assetBytes; }
    SluiceStatus write(u64 offset, const void* bytes, size_t size)
    {
        return m_info.write(m_info.writeUser, offset, bytes, size);
    }
    Segments segmentsOf(const SluiceArchiveAssetInfo& info) const;
    bool acceptsSegments(const SluiceArchiveAssetInfo& info) const;
    bool acceptsHead(const AssetHead& head) const;
    bool acceptsParameters(const AssetHead& head) const;
    void addEntry(const AssetHead& head, u64 tileCount, u32 tileSizeLog2);
    u32 addParameters(const AssetHead& head);
    void dropParameters();
    bool sortByName();
    SluiceStatus addTile(const SluiceArchiveAssetInfo& info, const SluiceArchiveSegment& segment,
                         u64 position, u64 left);
    SluiceStatus writeOldest();
    SluiceStatus writeTile(TilePool::Tile& tile);
    SluiceStatus flushRecords();
    void placeAssets(u32 end);

    SluiceArchiveWriterInfo m_info;
    TilePool m_pool;
    std::vector<u8> m_entries;    // the asset table
    std::vector<u8> m_successors; // where extents have an order of their own
    std::vector<u8> m_blocks;     // parameter blocks
    std::string m_names;
    // For each asset: its parameters are filters on trial that no tile has kept so far.
    std::vector<u8> m_mayDrop;
    u32 m_assetCount = 0;
    u32 m_lastBlock = kNoParameters; // offset in blocks_
    u64 m_parameterBytes = 0;        // as kMaxParameterBytes limits them
    SluiceArchiveStats m_stats = {};

    // The state of writing.
    u64 m_position = headerBytes; // end of the data, always 16-byte aligned
    u32 m_placedAssets = 0;       // assets that have their offset
    // Of the last placed asset:
    u32 m_tilesWritten = 0;
    std::vector<u8> m_records; // that are not written yet
    u64 m_recordsWritten = 0;  // bytes
    u64 m_outputOffset = 0;    // decoded bytes of its tiles so far
    Xxh32 m_recordHash = {};
};

// The asset's segments; one of the writer's default where it has none.
Segments ArchiveWriter::segmentsOf(const SluiceArchiveAssetInfo& info) const
{
    if (info.segmentCount != 0) return {info.segments, info.segmentCount, {}};
    return {nullptr, 1, defaultSegment(m_info, info.size)};
}

// The item that describes the segment's filter, NULL if there is none. The writer has accepted the
// asset.
const u8* filterItemOf(const SluiceArchiveAssetInfo& info, const SluiceArchiveSegment& segment)
{
    return segment.filterOffset == 0
               ? nullptr
               : static_cast<const u8*>(info.parameters) + segment.filterOffset - 4;
}

// Segments add up to the asset, and tiles to what an asset may have.
bool ArchiveWriter::acceptsSegments(const SluiceArchiveAssetInfo& info) const
{
    if (info.segmentCount != 0 && info.segments == nullptr) return false;
    const Segments segments = segmentsOf(info);
    u64 left = info.size, tileCount = 0;
    for (u32 i = 0; i < segments.count; ++i) {
        const SluiceArchiveSegment& segment = segments[i];
        if (segment.size > left || segment.filterTrial > 1 || !isEncodable(segment)) return false;
        left -= segment.size;
        tileCount += countTiles(segment);
        const u8* items = static_cast<const u8*>(info.parameters);
        const bool goodFilter =
            segment.filterOffset == 0 ||
            checkFilterItem(items, info.parameterSize, segment.filterOffset) == SLUICE_OK;
        if ((left != 0 && segment.size % 4 != 0) || tileCount > UINT32_MAX || !goodFilter)
            return false;
    }
    return left == 0;
}

// Are the items of a block that has been checked nothing but filters?
bool areFilters(const u8* items, u32 size)
{
    bool filters = size != 0;
    for (u32 at = 0; filters && at < size; at += kItemHead + u32(alignUp(itemSize(items + at), 4)))
        filters = loadLe16(items + at) == kFilterItem;
    return filters;
}

// Checks a block as strictly as a reader, except that kinds unknown here are accepted.
bool ArchiveWriter::acceptsParameters(const AssetHead& head) const
{
    if (head.parameterSize == 0) return true;
    const u64 room = SLUICE_ARCHIVE_MAX_BLOCK_BYTES - m_blocks.size();
    return head.parameters != nullptr && head.parameterSize % 4 == 0 &&
           u64(head.parameterSize) + 4 <= room &&
           head.parameterSize <= kMaxParameterBytes - m_parameterBytes &&
           checkParameters(head.parameters, head.parameterSize) != SLUICE_ERROR_FORMAT;
}

bool ArchiveWriter::acceptsHead(const AssetHead& head) const
{
    const auto nameAt = [&](u32 asset) {
        const u8* entry = m_entries.data() + size_t(asset) * assetBytes;
        return std::string_view(m_names).substr(loadLe32(entry + assetNameOffset),
                                                loadLe16(entry + assetNameLength));
    };
    return sluiceIsArchiveName(head.name.data(), head.name.size()) && head.size <= kMaxAssetSize &&
           m_assetCount < SLUICE_ARCHIVE_MAX_ASSETS &&
           m_names.size() + head.name.size() <= SLUICE_ARCHIVE_MAX_NAME_BYTES &&
           (m_info.anyOrder != 0 || nameMayFollow(nameAt, m_assetCount, head.name)) &&
           acceptsParameters(head);
}

bool ArchiveWriter::accepts(const SluiceArchiveAssetInfo& info) const
{
    return acceptsHead(headOf(info)) && (info.size == 0 || info.read != nullptr) &&
           acceptsSegments(info);
}

// The rules of docs/format.md, 4.3.
bool isEncodedTile(const SluiceEncodedAssetInfo& info, const SluiceArchiveTile& tile, bool last)
{
    const bool goodSize = tile.codec == SLUICE_CODEC_STORE ? tile.storedSize == tile.size
                                                           : tile.storedSize < tile.size;
    return tile.size != 0 && tile.size <= 1u << info.tileSizeLog2 && (last || tile.size % 4 == 0) &&
           tile.codec <= SLUICE_CODEC_GSTD && tile.size <= maxTileBytes(tile.codec) &&
           tile.storedSize != 0 && goodSize &&
           (tile.filterOffset == 0 ||
            checkFilterItem(static_cast<const u8*>(info.parameters), info.parameterSize,
                            tile.filterOffset) == SLUICE_OK);
}

bool ArchiveWriter::accepts(const SluiceEncodedAssetInfo& info) const
{
    if (!acceptsHead(headOf(info)) || info.tileSizeLog2 < SLUICE_ARCHIVE_MIN_TILE_LOG2 ||
        info.tileSizeLog2 > SLUICE_ARCHIVE_MAX_TILE_LOG2 ||
        (info.tileCount != 0 && (info.tiles == nullptr || info.readTile == nullptr)))
        return false;
    u64 size = 0;
    for (u32 i = 0; i < info.tileCount; ++i) {
        if (!isEncodedTile(info, info.tiles[i], i + 1 == info.tileCount)) return false;
        size += info.tiles[i].size;
    }
    return size == info.size;
}

// Returns where the asset's parameter block is; assets in a row with the same one share it.
u32 ArchiveWriter::addParameters(const AssetHead& head)
{
    if (head.parameterSize == 0) return kNoParameters;
    m_parameterBytes += head.parameterSize;
    if (m_lastBlock != kNoParameters && loadLe32(&m_blocks[m_lastBlock]) == head.parameterSize &&
        std::memcmp(&m_blocks[m_lastBlock + 4], head.parameters, head.parameterSize) == 0)
        return m_lastBlock;
    m_lastBlock = u32(m_blocks.size());
    m_blocks.resize(m_blocks.size() + 4);
    storeLe32(&m_blocks[m_lastBlock], head.parameterSize);
    m_blocks.insert(m_blocks.end(), head.parameters, head.parameters + head.parameterSize);
    return m_lastBlock;
}

// Leaves out the blocks of assets whose tiles have all lost the trial of their filters; assets in a
// row that keep the same block share it. Offsets of blocks ascend.
void ArchiveWriter::dropParameters()
{
    u32 kept = 0; // bytes of blocks
    // The old and the new place of the last block that was kept.
    u32 last = kNoParameters, lastKept = kNoParameters;
    for (u32 asset = 0; asset < m_assetCount; ++asset) {
        const u32 offset = loadLe32(entry(asset) + assetParameterOffset);
        const bool drop = offset == kNoParameters || m_mayDrop[asset] != 0;
        if (!drop && offset != last) {
            last = offset;
            const u32 size = 4 + loadLe32(&m_blocks[offset]);
            const bool same = lastKept != kNoParameters && size <= kept - lastKept &&
                              std::memcmp(&m_blocks[lastKept], &m_blocks[offset], size) == 0;
            if (!same) {
                lastKept = kept;
                std::memmove(&m_blocks[kept], &m_blocks[offset], size);
                kept += size;
            }
        }
        storeLe32(entry(asset) + assetParameterOffset, drop ? kNoParameters : lastKept);
    }
    m_blocks.resize(kept);
}

// Adds the entry of an asset to the table.
void ArchiveWriter::addEntry(const AssetHead& head, u64 tileCount, u32 tileSizeLog2)
{
    const u32 asset = m_assetCount;
    m_entries.resize(m_entries.size() + assetBytes);
    storeLe64(entry(asset) + assetSize, head.size);
    storeLe32(entry(asset) + assetTileCount, u32(tileCount));
    // This is right without records, and replaced if there are any.
    storeLe32(entry(asset) + assetTileChecksum, xxh32(nullptr, 0, 0));
    storeLe32(entry(asset) + assetNameOffset, u32(m_names.size()));
    storeLe16(entry(asset) + assetNameLength, u32(head.name.size()));
    entry(asset)[assetTileSizeLog2] = u8(tileSizeLog2);
    storeLe32(entry(asset) + assetType, head.type);
    storeLe32(entry(asset) + assetParameterOffset, addParameters(head));
    m_names.append(head.name);
    m_mayDrop.push_back(head.triesFilters && areFilters(head.parameters, head.parameterSize));
    ++m_assetCount;
    m_stats.bytesIn += head.size;
    m_stats.tileCount += tileCount;
}

SluiceStatus ArchiveWriter::add(const SluiceArchiveAssetInfo& info)
{
    const Segments segments = segmentsOf(info);
    u64 tileCount = 0;
    for (u32 i = 0; i < segments.count; ++i)
        tileCount += countTiles(segments[i]);
    const SluiceArchiveSegment* list =
        segments.given != nullptr ? segments.given : &segments.single;
    addEntry(headOf(info), tileCount, tileSizeLog2Of(list, segments.count));
    u64 position = 0;
    for (u32 i = 0; i < segments.count; ++i) {
        const u64 end = position + segments[i].size;
        while (position != end) {
            const SluiceStatus status = addTile(info, segments[i], position, end - position);
            if (status != SLUICE_OK) return status;
            position += nextTileSize(segments[i], end - position);
        }
    }
    return SLUICE_OK;
}

// Reads the next tile of the last asset, from `position` on, and hands it to the pool. `left` bytes
// of the segment follow from there on.
SluiceStatus ArchiveWriter::addTile(const SluiceArchiveAssetInfo& info,
                                    const SluiceArchiveSegment& segment, u64 position, u64 left)
{
    if (m_pool.full()) {
        const SluiceStatus status = writeOldest();
        if (status != SLUICE_OK) return status;
    }
    TilePool::Tile& tile = m_pool.next();
    u8* input = tile.resize(nextTileSize(segment, left));
    tile.asset = m_assetCount - 1;
    tile.segment = segment;
    tile.isEncoded = false;
    tile.filter.clear();
    if (const u8* item = filterItemOf(info, segment))
        tile.filter.assign(item + kItemHead, item + kItemHead + itemSize(item));
    SluiceStatus status = info.read(info.readUser, input, tile.size);
    tile.matchesKnown = info.readMatches != nullptr && segment.codec == SLUICE_CODEC_GSTD;
    if (status == SLUICE_OK && tile.matchesKnown) {
        u32 count = 0;
        tile.matches.resize(tile.size);
        status = info.readMatches(info.readUser, position, tile.size, tile.matches.data(), &count);
        tile.matches.resize(std::min(count, tile.size));
    }
    if (status == SLUICE_OK) m_pool.submit();
    return status;
}

SluiceStatus ArchiveWriter::add(const SluiceEncodedAssetInfo& info)
{
    addEntry(headOf(info), info.tileCount, info.tileSizeLog2);
    for (u32 i = 0; i < info.tileCount; ++i) {
        if (m_pool.full()) {
            const SluiceStatus status = writeOldest();
            if (status != SLUICE_OK) return status;
        }
        const SluiceArchiveTile& given = info.tiles[i];
        TilePool::Tile& tile = m_pool.next();
        const bool stored = given.codec == SLUICE_CODEC_STORE;
        if (stored) {
            tile.resize(given.size);
            tile.output.clear();
        } else {
            tile.size = given.size;
            tile.output.resize(given.storedSize);
        }
        tile.asset = m_assetCount - 1;
        tile.segment = {};
        tile.segment.codec = SluiceCodec(given.codec);
        tile.segment.filterOffset = given.filterOffset;
        tile.filter.assign(given.filterOffset == 0 ? 0 : 1,
                           0); // writeTile asks whether there is one
        tile.isEncoded = true;
        tile.checksum = given.checksum;
        const SluiceStatus status = info.readTile(
            info.readUser, i, stored ? tile.input.data() : tile.output.data(), given.storedSize);
        if (status != SLUICE_OK) return status;
        m_pool.submit();
    }
    return SLUICE_OK;
}

// Gives assets up to `end` that have no place the current position. All but the last are empty.
void ArchiveWriter::placeAssets(u32 end)
{
    for (; m_placedAssets < end; ++m_placedAssets)
        storeLe64(entry(m_placedAssets) + assetOffset, m_position);
}

SluiceStatus ArchiveWriter::writeOldest()
{
    TilePool::Tile& tile = m_pool.oldest();
    const SluiceStatus status = tile.status != SLUICE_OK ? tile.status : writeTile(tile);
    m_pool.release();
    return status;
}

SluiceStatus ArchiveWriter::writeTile(TilePool::Tile& tile)
{
    const u32 tileCount = loadLe32(entry(tile.asset) + assetTileCount);
    if (m_placedAssets <= tile.asset) { // before the asset's first tile come its records
        placeAssets(tile.asset + 1);
        m_position += alignArchive(u64(tileCount) * recordBytes);
        m_tilesWritten = 0;
        m_recordsWritten = 0;
        m_outputOffset = 0;
        m_recordHash.begin(0);
    }
    const bool stored = tile.isStored();
    std::vector<u8>& bytes = stored ? tile.input : tile.output;
    const u32 storedSize = stored ? tile.size : u32(tile.output.size());
    const size_t padded = size_t(alignArchive(storedSize));
    bytes.resize(std::max(bytes.size(), padded));
    std::memset(bytes.data() + storedSize, 0, padded - storedSize);
    SluiceStatus status = write(m_position, bytes.data(), padded);
    if (status != SLUICE_OK) return status;

    const size_t at = m_records.size();
    m_records.resize(at + recordBytes);
    u8* record = m_records.data() + at;
    const SluiceCodec codec = stored ? SLUICE_CODEC_STORE : tile.segment.codec;
    storeLe64(record + recordOffset, m_position - loadLe64(entry(tile.asset) + assetOffset));
    storeLe32(record + recordStoredSize, storedSize);
    storeLe32(record + recordSizeAndCodec, tile.size | u32(codec) << 24);
    storeLe32(record + recordChecksum, tile.checksum);
    storeLe32(record + recordFilterOffset,
              stored || tile.filter.empty() ? 0 : tile.segment.filterOffset);
    if (!stored && !tile.filter.empty()) m_mayDrop[tile.asset] = 0;
    if (m_info.cache != nullptr && m_info.cache->wrote != nullptr) {
        const SluiceArchiveTile written = {m_position - loadLe64(entry(tile.asset) + assetOffset),
                                           m_outputOffset,
                                           storedSize,
                                           tile.size,
                                           u32(codec),
                                           tile.checksum,
                                           loadLe32(record + recordFilterOffset)};
        m_info.cache->wrote(m_info.cache->user, tile.asset, &written,
                            tile.hasKey ? tile.key.data() : nullptr);
    }
    m_position += padded;
    m_stats.storedTiles += stored ? 1 : 0;
    ++m_tilesWritten;
    m_outputOffset += tile.size;

    const bool last = m_tilesWritten == tileCount;
    if (last || m_records.size() == kRecordBatchBytes) status = flushRecords();
    if (last) storeLe32(entry(tile.asset) + assetTileChecksum, m_recordHash.value());
    return status;
}

// Writes the collected records of the last placed asset to their place before its data, with the
// padding after them.
SluiceStatus ArchiveWriter::flushRecords()
{
    const u64 offset = loadLe64(entry(m_placedAssets - 1) + assetOffset) + m_recordsWritten;
    m_recordHash.add(m_records.data(), m_records.size());
    m_recordsWritten += m_records.size();
    // A full batch is aligned, so only the last one is padded.
    m_records.resize(size_t(alignArchive(m_records.size())));
    const SluiceStatus status = write(offset, m_records.data(), m_records.size());
    m_records.clear();
    return status;
}

// Brings the table and the names into the order of the names, and notes that of the extents if it
// is another one. False if two names are one, or a file is a folder.
bool ArchiveWriter::sortByName()
{
    const auto nameOf = [&](u32 asset) {
        return std::string_view(m_names).substr(loadLe32(entry(asset) + assetNameOffset),
                                                loadLe16(entry(asset) + assetNameLength));
    };
    std::vector<u32> order(m_assetCount), place(m_assetCount);
    for (u32 i = 0; i < m_assetCount; ++i)
        order[i] = i;
    std::sort(order.begin(), order.end(), [&](u32 a, u32 b) { return nameOf(a) < nameOf(b); });
    const auto sortedName = [&](u32 i) { return nameOf(order[i]); };
    std::vector<u8> entries(m_entries.size());
    std::string names;
    for (u32 i = 0; i < m_assetCount; ++i) {
        if (!nameMayFollow(sortedName, i, sortedName(i))) return false;
        u8* to = entries.data() + size_t(i) * assetBytes;
        std::memcpy(to, entry(order[i]), assetBytes);
        storeLe32(to + assetNameOffset, u32(names.size()));
        names.append(sortedName(i));
        place[order[i]] = i;
    }
    if (!std::is_sorted(order.begin(), order.end())) {
        m_successors.resize(size_t(m_assetCount) * successorBytes);
        for (u32 i = 0; i < m_assetCount; ++i)
            storeLe32(&m_successors[size_t(place[i]) * successorBytes],
                      i + 1 < m_assetCount ? place[i + 1] : kNoSuccessor);
    }
    m_entries.swap(entries);
    m_names.swap(names);
    return true;
}

SluiceStatus ArchiveWriter::finish(SluiceArchiveStats* stats)
{
    while (!m_pool.empty()) {
        const SluiceStatus status = writeOldest();
        if (status != SLUICE_OK) return status;
    }
    placeAssets(m_assetCount);
    dropParameters();
    if (m_info.anyOrder != 0 && !sortByName()) return SLUICE_ERROR_ARGUMENT;

    Xxh32 hash;
    hash.begin(0);
    hash.add(m_entries.data(), m_entries.size());
    hash.add(m_successors.data(), m_successors.size());
    hash.add(m_blocks.data(), m_blocks.size());
    hash.add(m_names.data(), m_names.size());
    const u64 blocksAt = m_position + m_entries.size() + m_successors.size(),
              namesAt = blocksAt + m_blocks.size(), fileSize = namesAt + m_names.size();
    u8 header[headerBytes] = {};
    std::memcpy(header + headerMagic, kArchiveMagic, sizeof kArchiveMagic);
    storeLe16(header + headerVersionMajor,
              m_successors.empty() ? kArchiveVersionMajor : kArchiveVersionOrdered);
    storeLe16(header + headerVersionMinor, kArchiveVersionMinor);
    storeLe32(header + headerAssetCount, m_assetCount);
    storeLe64(header + headerFileSize, fileSize);
    storeLe64(header + headerIndexOffset, m_position);
    storeLe64(header + headerTileCount, m_stats.tileCount);
    storeLe32(header + headerBlockBytes, u32(m_blocks.size()));
    storeLe32(header + headerNameBytes, u32(m_names.size()));
    storeLe32(header + headerIndexChecksum, hash.value());
    storeLe32(header + headerChecksum, xxh32(header, headerChecksum, 0));

    const struct {
        u64 offset;
        const void* bytes;
        size_t size;
    } writes[] = {{m_position, m_entries.data(), m_entries.size()},
                  {m_position + m_entries.size(), m_successors.data(), m_successors.size()},
                  {blocksAt, m_blocks.data(), m_blocks.size()},
                  {namesAt, m_names.data(), m_names.size()},
                  {0, header, headerBytes}}; // last, since it makes the archive valid
    SluiceStatus status = SLUICE_OK;
    for (const auto& [offset, bytes, size] : writes)
        if (status == SLUICE_OK && size != 0) status = write(offset, bytes, size);
    m_stats.assetCount = m_assetCount;
    m_stats.bytesOut = fileSize;
    if (stats != nullptr) *stats = m_stats;
    return status;
}

// Runs `call`. The first failure is final, since half an asset may have been written.
template <class Call>
SluiceStatus guarded(ArchiveWriter& writer, Call call)
{
    if (writer.failure == SLUICE_OK) writer.failure = withoutExceptions(call);
    return writer.failure;
}

} // namespace
} // namespace sluice

using namespace sluice;

struct SluiceArchiveWriter_T {
    ArchiveWriter writer;
};

SluiceStatus sluiceCreateArchiveWriter(const SluiceArchiveWriterInfo* info,
                                       SluiceArchiveWriter* writer)
{
    if (info == nullptr || writer == nullptr || info->write == nullptr ||
        !isEncodable(defaultSegment(*info, 0)))
        return SLUICE_ERROR_ARGUMENT;
    *writer = nullptr;
    return withoutExceptions([&] {
        std::unique_ptr<SluiceArchiveWriter_T> created(
            new SluiceArchiveWriter_T{ArchiveWriter(*info)});
        created->writer.start();
        *writer = created.release();
        return SLUICE_OK;
    });
}

void sluiceDestroyArchiveWriter(SluiceArchiveWriter writer) { delete writer; }

SluiceStatus sluiceAddArchiveAsset(SluiceArchiveWriter writer, const SluiceArchiveAssetInfo* info)
{
    if (writer == nullptr || info == nullptr || writer->writer.finished ||
        !writer->writer.accepts(*info))
        return SLUICE_ERROR_ARGUMENT;
    return guarded(writer->writer, [&] { return writer->writer.add(*info); });
}

SluiceStatus sluiceAddEncodedArchiveAsset(SluiceArchiveWriter writer,
                                          const SluiceEncodedAssetInfo* info)
{
    if (writer == nullptr || info == nullptr || writer->writer.finished ||
        !writer->writer.accepts(*info))
        return SLUICE_ERROR_ARGUMENT;
    return guarded(writer->writer, [&] { return writer->writer.add(*info); });
}

SluiceStatus sluiceFinishArchive(SluiceArchiveWriter writer, SluiceArchiveStats* stats)
{
    if (writer == nullptr || writer->writer.finished) return SLUICE_ERROR_ARGUMENT;
    const SluiceStatus status =
        guarded(writer->writer, [&] { return writer->writer.finish(stats); });
    writer->writer.finished = status == SLUICE_OK;
    return status;
}
