// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes .sluice archives. The index is in the order of names, the data are in the order in which
// the assets were added, and the tiles of an asset are in the order of their bytes. So the same
// calls give the same archive with any number of threads.
//
// The writer reads tiles ahead into the pool, even tiles of later assets, and always writes the
// oldest tile next. So an asset's offset in the file is known only when its first tile is written.
#include <sluice/sluice_archive.h>
#include <sluice/sluice_float.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "formats/errors.h"
#include "encode/archive/archive_asset.h"
#include "encode/archive/archive_index.h"
#include "encode/archive/tile_pool.h"

namespace sluice {
namespace {

// The map needs a hash of a digest. Its first 8 bytes serve as one, because a digest looks random.
struct HashOfDigest {
    size_t operator()(const Digest& digest) const { return size_t(loadLe64(digest.data())); }
};

constexpr size_t kRecordBatchBytes = 4096 * size_t(recordBytes); // m_records is written when full

class ArchiveWriter {
public:
    explicit ArchiveWriter(const SluiceArchiveWriterInfo& info) : m_info(info) {}

    void start() { m_pool.start(m_info.threadCount, m_info.cache, m_info.equalTilesOnce != 0); }
    bool accepts(const SluiceArchiveAssetInfo& info, Parts parts) const;
    bool accepts(const SluiceEncodedAssetInfo& info, Parts parts) const;
    SluiceStatus add(const SluiceArchiveAssetInfo& info, Parts parts);
    SluiceStatus add(const SluiceEncodedAssetInfo& info, Parts parts);
    SluiceStatus finish(SluiceArchiveStats* stats);

    SluiceStatus failure = SLUICE_OK; // the first failure, which is final
    bool finished = false;

private:
    uint8_t* entry(uint32_t asset) { return m_entries.data() + size_t(asset) * assetBytes; }
    SluiceStatus write(uint64_t offset, const void* bytes, size_t size)
    {
        return m_info.write(m_info.writeUser, offset, bytes, size);
    }
    Segments segmentsOf(const SluiceArchiveAssetInfo& info) const;
    bool acceptsSegments(const SluiceArchiveAssetInfo& info) const;
    bool acceptsHead(const AssetHead& head, Parts parts) const;
    bool acceptsParts(const AssetHead& share, Parts parts) const;
    bool acceptsName(std::string_view name) const;
    bool acceptsParameters(const AssetHead& head, uint64_t& held, uint64_t& counted) const;
    void addEntry(const AssetHead& head, uint64_t tileCount, uint32_t tileSizeLog2, Parts parts);
    void addPart(const SluiceArchivePart& part, uint64_t offset, uint32_t share);
    uint8_t* newEntry(const AssetHead& head);
    uint32_t addParameters(const AssetHead& head);
    void dropParameters();
    std::vector<uint32_t> orderOfNames();
    void sortByName(const std::vector<uint32_t>& order);
    SluiceStatus addTile(const SluiceArchiveAssetInfo& info, uint32_t number,
                         const SluiceArchiveSegment& segment, uint64_t position, uint64_t left);
    SluiceStatus writeOldest();
    SluiceStatus writeTile(TilePool::Tile& tile);
    SluiceStatus placeTile(TilePool::Tile& tile, uint64_t& place);
    SluiceStatus flushRecords();
    void placeAssets(uint32_t end);

    SluiceArchiveWriterInfo m_info;
    TilePool m_pool;
    std::vector<uint8_t> m_entries;    // the asset table
    std::vector<uint8_t> m_successors; // order of the tiles in the file; empty: that of the names
    std::vector<uint8_t> m_blocks;     // parameter blocks
    std::string m_names;
    std::vector<uint8_t> m_coded; // the stored index, if it is packed
    uint32_t m_codedSize = 0;
    // For each entry, which of its parameters no tile has needed so far, as flags: filters that are
    // only tried, and the item that names codecs. Such parameters are left out at the end.
    static constexpr uint8_t kFilters = 1, kCodecs = 2;
    std::vector<uint8_t> m_unused;
    uint32_t m_entryCount = 0; // assets, shares, and the parts that follow each share
    uint32_t m_shareCount = 0;
    uint32_t m_lastBlock = kNoParameters; // offset of the last block in m_blocks
    uint64_t m_parameterBytes = 0;        // sum over all assets; at most kMaxParameterBytes
    SluiceArchiveStats m_stats = {};

    // How far the data are written.
    uint64_t m_position = headerBytes; // end of the data, always 16-byte aligned
    uint32_t m_placedAssets = 0;       // entries whose file offset is known
    // The file offset of each tile's stored bytes, by their digest; used if equal tiles are stored
    // only once. Nobody can construct two tiles with the same digest, so equal digests mean equal
    // tiles.
    std::unordered_map<Digest, uint64_t, HashOfDigest> m_tilePlaces;
    // The members below belong to the asset or share whose tiles are being written.
    uint32_t m_tilesWritten = 0;
    std::vector<uint8_t> m_records; // tile records that are not written yet
    uint64_t m_recordsWritten = 0;  // bytes of written records
    uint64_t m_outputOffset = 0;    // decoded bytes of the tiles so far
    Xxh32 m_recordHash = {};
};

// Returns the asset's segments, or a single one with the writer's defaults if the caller gave none.
Segments ArchiveWriter::segmentsOf(const SluiceArchiveAssetInfo& info) const
{
    if (info.segmentCount != 0) return {info.segments, info.segmentCount, {}};
    return {nullptr, 1, defaultSegment(m_info, info.size)};
}

// Checks that the segments add up to the asset's size and have no more tiles than an asset may
// have.
bool ArchiveWriter::acceptsSegments(const SluiceArchiveAssetInfo& info) const
{
    if (info.segmentCount != 0 && info.segments == nullptr) return false;
    const Segments segments = segmentsOf(info);
    uint64_t left = info.size, tileCount = 0;
    for (uint32_t i = 0; i < segments.count; ++i) {
        const SluiceArchiveSegment& segment = segments[i];
        if (segment.size > left || segment.filterTrial > 1 || !isEncodable(segment)) return false;
        left -= segment.size;
        tileCount += countTiles(segment);
        const uint8_t* items = static_cast<const uint8_t*>(info.parameters);
        const bool goodFilter =
            segment.filterOffset == 0 ||
            checkFilterItem(items, info.parameterSize, segment.filterOffset) == SLUICE_OK;
        if ((left != 0 && segment.size % 4 != 0) || tileCount > UINT32_MAX || !goodFilter)
            return false;
    }
    return left == 0;
}

// Checks an asset's parameter block and adds its size to two sums, which have limits. In `held`
// each block counts as often as the archive stores it, in `counted` once for each asset that uses
// it.
bool ArchiveWriter::acceptsParameters(const AssetHead& head, uint64_t& held,
                                      uint64_t& counted) const
{
    // Also count the item that names codecs, since the writer may add it to any asset.
    held += uint64_t(head.parameterSize) + kCodecsItemBytes + 4;
    counted += head.parameterSize + kCodecsItemBytes;
    if (held > SLUICE_ARCHIVE_MAX_BLOCK_BYTES || counted > kMaxParameterBytes) return false;
    return head.parameterSize == 0 ||
           (head.parameters != nullptr && head.parameterSize % 4 == 0 &&
            checkParameters(head.parameters, head.parameterSize) != SLUICE_ERROR_FORMAT);
}

bool ArchiveWriter::acceptsName(std::string_view name) const
{
    const auto nameAt = [&](uint32_t asset) {
        const uint8_t* entry = m_entries.data() + size_t(asset) * assetBytes;
        return std::string_view(m_names).substr(loadLe32(entry + assetNameOffset),
                                                loadLe16(entry + assetNameLength));
    };
    return sluiceIsArchiveName(name.data(), name.size()) &&
           (m_info.anyOrder != 0 || nameMayFollow(nameAt, m_entryCount, name));
}

// Checks the parts of a share. They must be in the order of their names. Placed one behind the
// other, each at the next multiple of kPartAlignment, they must fill the decoded bytes of the share
// exactly.
bool ArchiveWriter::acceptsParts(const AssetHead& share, Parts parts) const
{
    uint64_t end = 0, held = m_blocks.size(), counted = m_parameterBytes, names = m_names.size();
    bool isGood = m_info.anyOrder != 0 && parts.list != nullptr &&
                  acceptsParameters(share, held, counted) &&
                  areOfTiles(share.parameters, share.parameterSize);
    for (uint32_t i = 0; i < parts.count && isGood; ++i) {
        const AssetHead head = headOf(parts.list[i]);
        end = alignUp(end, kPartAlignment);
        isGood = acceptsName(head.name) && (i == 0 || headOf(parts.list[i - 1]).name < head.name) &&
                 head.size != 0 && end <= share.size && head.size <= share.size - end &&
                 acceptsParameters(head, held, counted);
        end += head.size;
        names += head.name.size();
    }
    return isGood && end == share.size && names <= SLUICE_ARCHIVE_MAX_NAME_BYTES;
}

bool ArchiveWriter::acceptsHead(const AssetHead& head, Parts parts) const
{
    uint64_t held = m_blocks.size(), counted = m_parameterBytes;
    const uint32_t assets = m_entryCount - m_shareCount, more = std::max(parts.count, 1u);
    if (head.size > kMaxAssetSize || more > SLUICE_ARCHIVE_MAX_ASSETS - assets) return false;
    return parts.isShare() ? acceptsParts(head, parts)
                           : m_names.size() + head.name.size() <= SLUICE_ARCHIVE_MAX_NAME_BYTES &&
                                 acceptsName(head.name) && acceptsParameters(head, held, counted);
}

bool ArchiveWriter::accepts(const SluiceArchiveAssetInfo& info, Parts parts) const
{
    return acceptsHead(headOf(info, parts), parts) && (info.size == 0 || info.read != nullptr) &&
           acceptsSegments(info);
}

bool ArchiveWriter::accepts(const SluiceEncodedAssetInfo& info, Parts parts) const
{
    if (!acceptsHead(headOf(info, parts), parts) ||
        info.tileSizeLog2 < SLUICE_ARCHIVE_MIN_TILE_LOG2 ||
        info.tileSizeLog2 > SLUICE_ARCHIVE_MAX_TILE_LOG2 ||
        (info.tileCount != 0 && (info.tiles == nullptr || info.readTile == nullptr)))
        return false;
    uint64_t size = 0;
    for (uint32_t i = 0; i < info.tileCount; ++i) {
        if (!isEncodedTile(info, info.tiles[i], i + 1 == info.tileCount)) return false;
        size += info.tiles[i].size;
    }
    return size == info.size;
}

// Returns the offset in m_blocks of the asset's parameter block. The block is added unless the
// block that was added last is equal to it.
uint32_t ArchiveWriter::addParameters(const AssetHead& head)
{
    const std::vector<uint8_t> items = itemsOf(head);
    const uint32_t size = uint32_t(items.size());
    if (size == 0) return kNoParameters;
    m_parameterBytes += size;
    if (m_lastBlock != kNoParameters && loadLe32(&m_blocks[m_lastBlock]) == size &&
        std::memcmp(&m_blocks[m_lastBlock + 4], items.data(), size) == 0)
        return m_lastBlock;
    m_lastBlock = uint32_t(m_blocks.size());
    m_blocks.resize(m_blocks.size() + 4);
    storeLe32(&m_blocks[m_lastBlock], size);
    m_blocks.insert(m_blocks.end(), items.begin(), items.end());
    return m_lastBlock;
}

// Rebuilds m_blocks without the parameters that no tile needs: the filters of an asset if no tile
// became smaller with them, and added items that name codecs which no tile uses. Consecutive assets
// with equal blocks use the same block. Offsets of blocks ascend.
void ArchiveWriter::dropParameters()
{
    std::vector<uint8_t> blocks;
    uint32_t last = kNoParameters;
    for (uint32_t asset = 0; asset < m_entryCount; ++asset) {
        const uint32_t offset = loadLe32(entry(asset) + assetParameterOffset);
        const bool drops = offset == kNoParameters || (m_unused[asset] & kFilters) != 0;
        uint32_t size = drops ? 0 : loadLe32(&m_blocks[offset]);
        if (!drops && (m_unused[asset] & kCodecs) != 0) size -= kCodecsItemBytes;
        if (size != 0) {
            const auto begin = m_blocks.begin() + offset + 4;
            const bool isSame = last != kNoParameters && loadLe32(&blocks[last]) == size &&
                                std::equal(begin, begin + size, blocks.begin() + last + 4);
            if (!isSame) {
                last = uint32_t(blocks.size());
                blocks.resize(blocks.size() + 4);
                storeLe32(&blocks[last], size);
                blocks.insert(blocks.end(), begin, begin + size);
            }
        }
        storeLe32(entry(asset) + assetParameterOffset, size != 0 ? last : kNoParameters);
    }
    m_blocks.swap(blocks);
}

// Adds an entry and fills in the fields that every kind of entry has.
uint8_t* ArchiveWriter::newEntry(const AssetHead& head)
{
    m_entries.resize(m_entries.size() + assetBytes);
    uint8_t* to = entry(m_entryCount++);
    storeLe64(to + assetSize, head.size);
    storeLe32(to + assetNameOffset, uint32_t(m_names.size()));
    storeLe16(to + assetNameLength, uint32_t(head.name.size()));
    storeLe32(to + assetType, head.type);
    storeLe32(to + assetParameterOffset, addParameters(head));
    m_names.append(head.name);
    const bool triesAll = head.triesFilters && areFilters(head.parameters, head.parameterSize);
    m_unused.push_back(uint8_t((triesAll ? kFilters : 0) | (head.newCodecs != 0 ? kCodecs : 0)));
    return to;
}

// Adds the entry of an asset to the table, or the entries of a share and its parts.
void ArchiveWriter::addEntry(const AssetHead& head, uint64_t tileCount, uint32_t tileSizeLog2,
                             Parts parts)
{
    const uint32_t number = m_entryCount;
    uint8_t* to = newEntry(head);
    storeLe32(to + assetTileCount, uint32_t(tileCount));
    // This is the checksum of an empty list of records. It is replaced if the asset has records.
    storeLe32(to + assetTileChecksum, xxh32(nullptr, 0, 0));
    to[assetTileSizeLog2] = uint8_t(tileSizeLog2);
    m_stats.tileCount += tileCount;
    if (!parts.isShare()) {
        m_stats.bytesIn += head.size;
        return;
    }
    to[assetReserved] = entryShare;
    ++m_shareCount;
    uint64_t offset = 0;
    for (uint32_t i = 0; i < parts.count; ++i) {
        offset = alignUp(offset, kPartAlignment);
        addPart(parts.list[i], offset, number);
        offset += parts.list[i].size;
    }
}

// Adds the entry of a part: an asset whose bytes begin at `offset` of a share's decoded bytes.
// `share` is the index of the share's entry before entries are sorted by name.
void ArchiveWriter::addPart(const SluiceArchivePart& part, uint64_t offset, uint32_t share)
{
    uint8_t* to = newEntry(headOf(part));
    to[assetReserved] = entryPart;
    storeLe64(to + assetOffset, offset);
    storeLe32(to + assetTileChecksum, share);
    m_stats.bytesIn += part.size;
}

SluiceStatus ArchiveWriter::add(const SluiceArchiveAssetInfo& info, Parts parts)
{
    const uint32_t number = m_entryCount;
    const Segments segments = segmentsOf(info);
    uint64_t tileCount = 0;
    for (uint32_t i = 0; i < segments.count; ++i)
        tileCount += countTiles(segments[i]);
    const SluiceArchiveSegment* list =
        segments.given != nullptr ? segments.given : &segments.single;
    addEntry(withCodecs(headOf(info, parts), codecsOf(list, segments.count)), tileCount,
             tileSizeLog2Of(list, segments.count), parts);
    uint64_t position = 0;
    for (uint32_t i = 0; i < segments.count; ++i) {
        const uint64_t end = position + segments[i].size;
        while (position != end) {
            const SluiceStatus status =
                addTile(info, number, segments[i], position, end - position);
            if (status != SLUICE_OK) return status;
            position += nextTileSize(segments[i], end - position);
        }
    }
    return SLUICE_OK;
}

// Reads the next tile of the asset or share, which starts at `position`, and hands it to the pool.
// `left` is the number of bytes from `position` to the end of the segment.
SluiceStatus ArchiveWriter::addTile(const SluiceArchiveAssetInfo& info, uint32_t number,
                                    const SluiceArchiveSegment& segment, uint64_t position,
                                    uint64_t left)
{
    if (m_pool.full()) {
        const SluiceStatus status = writeOldest();
        if (status != SLUICE_OK) return status;
    }
    TilePool::Tile& tile = m_pool.next();
    uint8_t* input = tile.resize(nextTileSize(segment, left));
    tile.asset = number;
    tile.segment = segment;
    tile.isEncoded = false;
    tile.filter.clear();
    if (const uint8_t* item = filterItemOf(info, segment))
        tile.filter.assign(item + kItemHead, item + kItemHead + itemSize(item));
    SluiceStatus status = info.read(info.readUser, input, tile.size);
    tile.matchesKnown = info.readMatches != nullptr && segment.codec == SLUICE_CODEC_GSTD;
    if (status == SLUICE_OK && tile.matchesKnown) {
        uint32_t count = 0;
        tile.matches.resize(tile.size);
        status = info.readMatches(info.readUser, position, tile.size, tile.matches.data(), &count);
        tile.matches.resize(std::min(count, tile.size));
    }
    if (status == SLUICE_OK) m_pool.submit();
    return status;
}

SluiceStatus ArchiveWriter::add(const SluiceEncodedAssetInfo& info, Parts parts)
{
    const uint32_t number = m_entryCount;
    addEntry(withCodecs(headOf(info, parts), codecsOf(info.tiles, info.tileCount)), info.tileCount,
             info.tileSizeLog2, parts);
    for (uint32_t i = 0; i < info.tileCount; ++i) {
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
        tile.asset = number;
        tile.segment = {};
        tile.segment.codec = SluiceCodec(given.codec);
        tile.segment.filterOffset = given.filterOffset;
        // writeTile only checks whether `filter` is empty, so one byte stands for a filter of any
        // kind.
        tile.filter.assign(given.filterOffset == 0 ? 0 : 1, 0);
        tile.isEncoded = true;
        tile.checksum = given.checksum;
        const SluiceStatus status = info.readTile(
            info.readUser, i, stored ? tile.input.data() : tile.output.data(), given.storedSize);
        if (status != SLUICE_OK) return status;
        m_pool.submit();
    }
    return SLUICE_OK;
}

// Sets the file offset of all entries before `end` that have none yet to the current end of the
// file. Only the last of them can have tiles: the others are empty assets, or parts. A part is
// skipped, because it already has an offset, which counts from the start of its share.
void ArchiveWriter::placeAssets(uint32_t end)
{
    for (; m_placedAssets < end; ++m_placedAssets)
        if (entry(m_placedAssets)[assetReserved] != entryPart)
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
    const uint32_t tileCount = loadLe32(entry(tile.asset) + assetTileCount);
    if (m_placedAssets <= tile.asset) { // the asset's records come before its first tile
        placeAssets(tile.asset + 1);
        m_position += alignArchive(uint64_t(tileCount) * recordBytes);
        m_tilesWritten = 0;
        m_recordsWritten = 0;
        m_outputOffset = 0;
        m_recordHash.begin(0);
    }
    const bool stored = tile.isStored();
    const uint32_t storedSize = tile.storedSize();
    uint64_t place = 0;
    SluiceStatus status = placeTile(tile, place);
    if (status != SLUICE_OK) return status;

    const size_t at = m_records.size();
    m_records.resize(at + recordBytes);
    uint8_t* record = m_records.data() + at;
    const SluiceCodec codec = stored ? SLUICE_CODEC_STORE : tile.segment.codec;
    storeLe64(record + recordOffset, place - loadLe64(entry(tile.asset) + assetOffset));
    storeLe32(record + recordStoredSize, storedSize);
    storeLe32(record + recordSizeAndCodec, tile.size | uint32_t(codec) << 24);
    storeLe32(record + recordChecksum, tile.checksum);
    storeLe32(record + recordFilterOffset,
              stored || tile.filter.empty() ? 0 : tile.segment.filterOffset);
    if (!stored) {
        uint8_t& unused = m_unused[tile.asset];
        if ((1u << tile.segment.codec & kNamedCodecs) != 0)
            unused = 0;
        else if (!tile.filter.empty())
            unused &= uint8_t(~kFilters);
    }
    if (m_info.cache != nullptr && m_info.cache->wrote != nullptr) {
        const SluiceArchiveTile written = {loadLe64(record + recordOffset),
                                           m_outputOffset,
                                           storedSize,
                                           tile.size,
                                           uint32_t(codec),
                                           tile.checksum,
                                           loadLe32(record + recordFilterOffset)};
        m_info.cache->wrote(m_info.cache->user, tile.asset, &written,
                            tile.hasKey ? tile.key.data() : nullptr);
    }
    m_stats.storedTiles += stored ? 1 : 0;
    ++m_tilesWritten;
    m_outputOffset += tile.size;

    const bool last = m_tilesWritten == tileCount;
    if (last || m_records.size() == kRecordBatchBytes) status = flushRecords();
    if (last) storeLe32(entry(tile.asset) + assetTileChecksum, m_recordHash.value());
    return status;
}

// Sets `place` to the file offset of the tile's stored bytes. Writes the bytes, unless an equal
// tile has been written before.
SluiceStatus ArchiveWriter::placeTile(TilePool::Tile& tile, uint64_t& place)
{
    const uint32_t storedSize = tile.storedSize();
    place = m_position;
    if (m_info.equalTilesOnce != 0 && storedSize >= SLUICE_ARCHIVE_LEAST_EQUAL) {
        const auto [found, isNew] = m_tilePlaces.emplace(tile.storedKey, m_position);
        if (!isNew) {
            place = found->second;
            ++m_stats.equalTiles;
            m_stats.equalBytes += storedSize;
            return SLUICE_OK;
        }
    }
    std::vector<uint8_t>& bytes = tile.isStored() ? tile.input : tile.output;
    const size_t padded = size_t(alignArchive(storedSize));
    bytes.resize(std::max(bytes.size(), padded));
    std::memset(bytes.data() + storedSize, 0, padded - storedSize);
    m_position += padded;
    return write(place, bytes.data(), padded);
}

// Writes the tile records that have been collected for the current asset, padded to the alignment.
// They go to the room that was reserved before the asset's tiles.
SluiceStatus ArchiveWriter::flushRecords()
{
    const uint64_t offset = loadLe64(entry(m_placedAssets - 1) + assetOffset) + m_recordsWritten;
    m_recordHash.add(m_records.data(), m_records.size());
    m_recordsWritten += m_records.size();
    // A full batch is a multiple of the alignment, so only the last batch is padded.
    m_records.resize(size_t(alignArchive(m_records.size())));
    const SluiceStatus status = write(offset, m_records.data(), m_records.size());
    m_records.clear();
    return status;
}

// Returns the indices of assets and parts in the order of their names, or nothing if two names are
// equal or the name of a file is also that of a folder.
std::vector<uint32_t> ArchiveWriter::orderOfNames()
{
    const auto nameOf = [&](uint32_t asset) {
        return std::string_view(m_names).substr(loadLe32(entry(asset) + assetNameOffset),
                                                loadLe16(entry(asset) + assetNameLength));
    };
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < m_entryCount; ++i)
        if (entry(i)[assetReserved] != entryShare) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return nameOf(a) < nameOf(b); });
    const auto sortedName = [&](uint32_t i) { return nameOf(order[i]); };
    for (uint32_t i = 0; i < order.size(); ++i)
        if (!nameMayFollow(sortedName, i, sortedName(i))) return {};
    return order;
}

// Sorts the table and the names. If the tiles are in another order in the file, stores that order
// in m_successors.
void ArchiveWriter::sortByName(const std::vector<uint32_t>& order)
{
    std::vector<uint32_t> place(m_entryCount);
    std::vector<uint8_t> entries(m_entries.size());
    std::string names;
    for (uint32_t i = 0; i < m_entryCount; ++i) {
        uint8_t* to = entries.data() + size_t(i) * assetBytes;
        std::memcpy(to, entry(order[i]), assetBytes);
        const uint32_t begin = loadLe32(to + assetNameOffset);
        storeLe32(to + assetNameOffset, uint32_t(names.size()));
        names.append(m_names, begin, loadLe16(to + assetNameLength));
        place[order[i]] = i;
    }
    if (!std::is_sorted(order.begin(), order.end())) {
        m_successors.resize(size_t(m_entryCount) * kSuccessorBytes);
        for (uint32_t i = 0; i < m_entryCount; ++i)
            storeLe32(&m_successors[size_t(place[i]) * kSuccessorBytes],
                      i + 1 < m_entryCount ? place[i + 1] : kNoSuccessor);
    }
    m_entries.swap(entries);
    m_names.swap(names);
}

SluiceStatus ArchiveWriter::finish(SluiceArchiveStats* stats)
{
    while (!m_pool.empty()) {
        const SluiceStatus status = writeOldest();
        if (status != SLUICE_OK) return status;
    }
    placeAssets(m_entryCount);
    dropParameters();
    const bool isPacked = m_shareCount != 0 || m_stats.equalTiles != 0;
    if ((m_info.anyOrder != 0 || isPacked) && m_entryCount != 0) {
        const std::vector<uint32_t> order = orderOfNames();
        if (order.empty()) return SLUICE_ERROR_ARGUMENT;
        if (isPacked)
            m_coded = packArchiveIndex(m_entries, m_names, m_blocks, order, m_codedSize);
        else
            sortByName(order);
    }
    const struct {
        const void* bytes;
        size_t size;
    } parts[] = {{m_entries.data(), isPacked ? 0 : m_entries.size()},
                 {m_successors.data(), m_successors.size()},
                 {m_blocks.data(), isPacked ? 0 : m_blocks.size()},
                 {m_names.data(), isPacked ? 0 : m_names.size()},
                 {m_coded.data(), m_coded.size()}};
    Xxh32 hash;
    hash.begin(0);
    uint64_t end = m_position;
    SluiceStatus status = SLUICE_OK;
    for (const auto& [bytes, size] : parts) {
        if (status == SLUICE_OK && size != 0) status = write(end, bytes, size);
        hash.add(bytes, size);
        end += size;
    }
    uint8_t header[headerBytes] = {};
    std::memcpy(header + headerMagic, kArchiveMagic, sizeof kArchiveMagic);
    storeLe16(header + headerVersionMajor, m_stats.equalTiles != 0 ? kArchiveVersionEqual
                                           : isPacked              ? kArchiveVersionShared
                                           : m_successors.empty()  ? kArchiveVersionMajor
                                                                   : kArchiveVersionOrdered);
    storeLe16(header + headerVersionMinor, kArchiveVersionMinor);
    storeLe32(header + headerAssetCount, m_entryCount - m_shareCount);
    storeLe64(header + headerFileSize, end);
    storeLe64(header + headerIndexOffset, m_position);
    storeLe64(header + headerTileCount, m_stats.tileCount);
    storeLe32(header + headerBlockBytes, uint32_t(m_blocks.size()));
    storeLe32(header + headerNameBytes, uint32_t(m_names.size()));
    storeLe32(header + headerIndexChecksum, hash.value());
    storeLe32(header + headerShareCount, m_shareCount);
    storeLe32(header + headerCodedBytes, m_codedSize);
    storeLe32(header + headerChecksum, xxh32(header, headerChecksum, 0));
    // The header comes last, since it makes the archive valid.
    if (status == SLUICE_OK) status = write(0, header, headerBytes);
    m_stats.assetCount = m_entryCount - m_shareCount;
    m_stats.bytesOut = end;
    if (stats != nullptr) *stats = m_stats;
    return status;
}

// Runs `call` unless an earlier call has failed. The first failure is final, since an asset may
// have been written in part.
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

namespace {

template <class Info>
SluiceStatus addTo(SluiceArchiveWriter writer, Parts parts, const Info* info)
{
    if (writer == nullptr || info == nullptr || writer->writer.finished ||
        !writer->writer.accepts(*info, parts))
        return SLUICE_ERROR_ARGUMENT;
    return guarded(writer->writer, [&] { return writer->writer.add(*info, parts); });
}

} // namespace

SluiceStatus sluiceAddArchiveAsset(SluiceArchiveWriter writer, const SluiceArchiveAssetInfo* info)
{
    return addTo(writer, {}, info);
}

SluiceStatus sluiceAddEncodedArchiveAsset(SluiceArchiveWriter writer,
                                          const SluiceEncodedAssetInfo* info)
{
    return addTo(writer, {}, info);
}

SluiceStatus sluiceAddArchiveShare(SluiceArchiveWriter writer, const SluiceArchivePart* parts,
                                   uint32_t partCount, const SluiceArchiveAssetInfo* info)
{
    return partCount == 0 ? SLUICE_ERROR_ARGUMENT : addTo(writer, {parts, partCount}, info);
}

SluiceStatus sluiceAddEncodedArchiveShare(SluiceArchiveWriter writer,
                                          const SluiceArchivePart* parts, uint32_t partCount,
                                          const SluiceEncodedAssetInfo* info)
{
    return partCount == 0 ? SLUICE_ERROR_ARGUMENT : addTo(writer, {parts, partCount}, info);
}

SluiceStatus sluiceFinishArchive(SluiceArchiveWriter writer, SluiceArchiveStats* stats)
{
    if (writer == nullptr || writer->writer.finished) return SLUICE_ERROR_ARGUMENT;
    const SluiceStatus status =
        guarded(writer->writer, [&] { return writer->writer.finish(stats); });
    writer->writer.finished = status == SLUICE_OK;
    return status;
}
