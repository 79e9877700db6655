// SPDX-License-Identifier: MIT OR Apache-2.0
// The .sluice archive: header, index and tile records, as docs/format.md lays them down.
#include "archive_layout.h"

using namespace sluice;

namespace {

constexpr u32 kNoAsset = 0xffffffffu;

struct Entry {
    u64 size, offset;
    u32 tileCount, tileChecksum, nameOffset, nameLength, tileSizeLog2, reserved, type;
    u32 parameterOffset;
};

bool isOrdered(const SluiceArchive& archive)
{
    return archive.versionMajor == kArchiveVersionOrdered;
}

// The parts of an index.
class Index {
public:
    Index(const SluiceArchive& archive, const void* bytes)
        : m_archive(archive), m_assets(static_cast<const u8*>(bytes)),
          m_successors(m_assets + size_t(archive.assetCount) * assetBytes),
          m_blocks(m_successors + successorSize(archive)),
          m_names(reinterpret_cast<const char*>(m_blocks) + archive.blockBytes)
    {
    }

    Entry entry(u32 asset) const
    {
        const u8* at = m_assets + size_t(asset) * assetBytes;
        return {loadLe64(at + assetSize),       loadLe64(at + assetOffset),
                loadLe32(at + assetTileCount),  loadLe32(at + assetTileChecksum),
                loadLe32(at + assetNameOffset), loadLe16(at + assetNameLength),
                at[assetTileSizeLog2],          at[assetReserved],
                loadLe32(at + assetType),       loadLe32(at + assetParameterOffset)};
    }

    // The name of an asset, as lowerBoundName calls it.
    std::string_view operator()(u32 asset) const
    {
        const Entry one = entry(asset);
        return {m_names + one.nameOffset, one.nameLength};
    }

    static size_t successorSize(const SluiceArchive& archive)
    {
        return isOrdered(archive) ? size_t(archive.assetCount) * successorBytes : 0;
    }

    // The asset whose extent follows, or kNoSuccessor.
    u32 successor(u32 asset) const
    {
        if (isOrdered(m_archive)) return loadLe32(m_successors + size_t(asset) * successorBytes);
        return asset + 1 < m_archive.assetCount ? asset + 1 : kNoSuccessor;
    }

    // The asset whose extent comes first, where successors are right: all numbers but it stand
    // among them.
    u32 first() const
    {
        u32 number = 0;
        for (u32 asset = 0; asset < m_archive.assetCount; ++asset) {
            const u32 next = successor(asset);
            number ^= asset ^ (next == kNoSuccessor ? 0 : next);
        }
        return number;
    }

    // Do the successors lead through all assets? From a first one that reaches the end after so
    // many steps no asset can have been passed twice.
    bool checkOrder() const
    {
        u32 asset = m_archive.assetCount == 0 ? kNoSuccessor : first();
        u32 left = m_archive.assetCount;
        for (; left != 0 && asset < m_archive.assetCount; --left)
            asset = successor(asset);
        return left == 0 && asset == kNoSuccessor;
    }

    // An asset's extent ends where the following one's starts. The order has been checked.
    u64 extentEnd(u32 asset) const
    {
        const u32 next = successor(asset);
        return next != kNoSuccessor ? entry(next).offset : m_archive.indexOffset;
    }

    // Finds a parameter block: a u32 with its size, a multiple of 4, then its bytes.
    bool findBlock(u32 offset, const u8*& block, u32& size) const
    {
        if (offset % 4 != 0 || m_archive.blockBytes < 4 || offset > m_archive.blockBytes - 4)
            return false;
        size = loadLe32(m_blocks + offset);
        block = m_blocks + offset + 4;
        return size % 4 == 0 && size <= m_archive.blockBytes - 4 - offset;
    }

private:
    const SluiceArchive& m_archive;
    const u8* m_assets;
    const u8* m_successors;
    const u8* m_blocks;
    const char* m_names;
};

// parameterBytes counts the parameter blocks of all assets.
SluiceStatus checkAsset(const SluiceArchive& archive, const Index& index, u32 asset,
                        u64& parameterBytes)
{
    const Entry entry = index.entry(asset);
    const u64 end = index.extentEnd(asset), tiles = entry.tileCount;
    if (entry.tileSizeLog2 < SLUICE_ARCHIVE_MIN_TILE_LOG2 ||
        entry.tileSizeLog2 > SLUICE_ARCHIVE_MAX_TILE_LOG2 ||
        (entry.reserved != 0 && archive.versionMinor <= kArchiveVersionMinor))
        return SLUICE_ERROR_FORMAT;
    if (entry.offset % SLUICE_ARCHIVE_ALIGNMENT != 0 || entry.offset < headerBytes ||
        end < entry.offset || end > archive.indexOffset ||
        (end - entry.offset) / recordBytes < tiles)
        return SLUICE_ERROR_FORMAT;
    // A tile has at most 1 << log2 bytes, the last one at least 1, and all others at least 4.
    if (entry.size > tiles << entry.tileSizeLog2 ||
        (tiles != 0 && entry.size < (tiles - 1) * 4 + 1))
        return SLUICE_ERROR_FORMAT;
    if (entry.parameterOffset == kNoParameters) return SLUICE_OK;
    const u8* block = nullptr;
    u32 blockSize = 0;
    if (!index.findBlock(entry.parameterOffset, block, blockSize)) return SLUICE_ERROR_FORMAT;
    parameterBytes += blockSize;
    return parameterBytes <= kMaxParameterBytes ? checkParameters(block, blockSize)
                                                : SLUICE_ERROR_FORMAT;
}

// Names stand in order and without gaps. The assets before this one have been checked.
bool checkName(const SluiceArchive& archive, const Index& index, u32 asset, u32& nameEnd)
{
    const Entry entry = index.entry(asset);
    if (entry.nameOffset != nameEnd || entry.nameLength > archive.nameBytes - nameEnd) return false;
    nameEnd += entry.nameLength;
    const std::string_view name = index(asset);
    return sluiceIsArchiveName(name.data(), name.size()) && nameMayFollow(index, asset, name);
}

// What stands in SluiceArchiveTileReader::state.
struct TileReaderState {
    Xxh32 hash;
    u64 size; // of the asset
    u64 extentSize;
    u64 outputOffset; // sum of the sizes so far
    u64 dataEnd;      // where the last tile ends in the extent
    u32 tileCount;
    u32 tileSizeLog2;
    u32 tileChecksum;
    u32 parameterSize;
    u32 unknown;    // 1: some tile has a codec or a filter that is not known here
    u32 goodFilter; // the last filterOffset that was found good: neighbours often share it
    const u8* parameters;
    u8* checked; // of each word of the parameters what checkFilterItem said of it, as FilterCheck
};
enum FilterCheck : u8 {
    kUnchecked,
    kGoodFilter,
    kUnknownFilter
};
static_assert(sizeof(TileReaderState) <= sizeof(SluiceArchiveTileReader::state));

// Errors: FORMAT, VERSION.
SluiceStatus checkFilterOnce(TileReaderState& state, u32 filterOffset)
{
    // A place outside the block is never noted, for it is FORMAT.
    const u32 word = filterOffset / 4 - 1;
    u8* noted = state.checked != nullptr && filterOffset % 4 == 0 && filterOffset != 0 &&
                        word < state.parameterSize / 4
                    ? state.checked + word
                    : nullptr;
    if (noted != nullptr && *noted != kUnchecked)
        return *noted == kGoodFilter ? SLUICE_OK : SLUICE_ERROR_VERSION;
    const SluiceStatus status =
        checkFilterItem(state.parameters, state.parameterSize, filterOffset);
    if (noted != nullptr && status != SLUICE_ERROR_FORMAT)
        *noted = status == SLUICE_OK ? kGoodFilter : kUnknownFilter;
    return status;
}

bool parseRecord(TileReaderState& state, bool last, const u8* record, SluiceArchiveTile& tile)
{
    const u32 sizeAndCodec = loadLe32(record + recordSizeAndCodec);
    tile.offset = loadLe64(record + recordOffset);
    tile.outputOffset = state.outputOffset;
    tile.storedSize = loadLe32(record + recordStoredSize);
    tile.size = sizeAndCodec & 0xffffff;
    tile.codec = sizeAndCodec >> 24;
    tile.checksum = loadLe32(record + recordChecksum);
    tile.filterOffset = loadLe32(record + recordFilterOffset);

    if (tile.size == 0 || tile.size > 1u << state.tileSizeLog2 || (!last && tile.size % 4 != 0) ||
        tile.size > state.size - state.outputOffset || tile.size > maxTileBytes(tile.codec))
        return false;
    if (tile.offset % SLUICE_ARCHIVE_ALIGNMENT != 0 || tile.offset < state.dataEnd ||
        tile.offset > state.extentSize || tile.storedSize == 0 ||
        tile.storedSize > state.extentSize - tile.offset)
        return false;
    if (tile.codec == SLUICE_CODEC_STORE ? tile.storedSize != tile.size
                                         : tile.storedSize >= tile.size)
        return false;
    if (tile.filterOffset != 0 && tile.filterOffset != state.goodFilter) {
        const SluiceStatus filter = checkFilterOnce(state, tile.filterOffset);
        if (filter == SLUICE_ERROR_FORMAT) return false;
        state.unknown |= filter == SLUICE_OK ? 0 : 1;
        state.goodFilter = filter == SLUICE_OK ? tile.filterOffset : 0;
    }
    if (tile.codec > SLUICE_CODEC_GSTD) state.unknown = 1;
    state.outputOffset += tile.size;
    state.dataEnd = tile.offset + tile.storedSize;
    return true;
}

} // namespace

SluiceStatus sluiceParseArchiveHeader(const void* bytes, size_t size, uint64_t fileSize,
                                      SluiceArchive* archive)
{
    if ((bytes == nullptr && size != 0) || archive == nullptr || fileSize < size)
        return SLUICE_ERROR_ARGUMENT;
    const u8* header = static_cast<const u8*>(bytes);
    if (size < sizeof kArchiveMagic ||
        std::memcmp(header, kArchiveMagic, sizeof kArchiveMagic) != 0)
        return SLUICE_ERROR_FORMAT;
    if (size < headerBytes) return SLUICE_ERROR_BUFFER_SIZE;
    if (loadLe32(header + headerChecksum) != xxh32(header, headerChecksum, 0))
        return SLUICE_ERROR_CHECKSUM;
    archive->versionMajor = loadLe16(header + headerVersionMajor);
    archive->versionMinor = loadLe16(header + headerVersionMinor);
    if (archive->versionMajor > kArchiveVersionOrdered) return SLUICE_ERROR_VERSION;
    if (archive->versionMajor < kArchiveVersionMajor) return SLUICE_ERROR_FORMAT;
    archive->assetCount = loadLe32(header + headerAssetCount);
    archive->fileSize = loadLe64(header + headerFileSize);
    archive->indexOffset = loadLe64(header + headerIndexOffset);
    archive->tileCount = loadLe64(header + headerTileCount);
    archive->blockBytes = loadLe32(header + headerBlockBytes);
    archive->nameBytes = loadLe32(header + headerNameBytes);
    archive->indexChecksum = loadLe32(header + headerIndexChecksum);
    archive->indexSize = u64(archive->assetCount) * assetBytes + archive->blockBytes +
                         archive->nameBytes +
                         (isOrdered(*archive) ? u64(archive->assetCount) * successorBytes : 0);

    if (loadLe64(header + headerReserved) != 0 && archive->versionMinor <= kArchiveVersionMinor)
        return SLUICE_ERROR_FORMAT;
    if (archive->assetCount > SLUICE_ARCHIVE_MAX_ASSETS ||
        archive->blockBytes > SLUICE_ARCHIVE_MAX_BLOCK_BYTES ||
        archive->nameBytes > SLUICE_ARCHIVE_MAX_NAME_BYTES || archive->blockBytes % 4 != 0)
        return SLUICE_ERROR_FORMAT;
    if (archive->indexOffset % SLUICE_ARCHIVE_ALIGNMENT != 0 ||
        archive->indexOffset < headerBytes || archive->fileSize < archive->indexSize ||
        archive->indexOffset != archive->fileSize - archive->indexSize)
        return SLUICE_ERROR_FORMAT;
    return fileSize == archive->fileSize  ? SLUICE_OK
           : fileSize < archive->fileSize ? SLUICE_ERROR_BUFFER_SIZE
                                          : SLUICE_ERROR_FORMAT;
}

SluiceStatus sluiceCheckArchiveIndex(const SluiceArchive* archive, const void* index,
                                     size_t indexSize, uint32_t* badAsset)
{
    u32 ignored = 0;
    u32& bad = badAsset != nullptr ? *badAsset : ignored;
    bad = kNoAsset;
    if (archive == nullptr || (index == nullptr && indexSize != 0)) return SLUICE_ERROR_ARGUMENT;
    if (indexSize < archive->indexSize) return SLUICE_ERROR_BUFFER_SIZE;
    if (xxh32(index, size_t(archive->indexSize), 0) != archive->indexChecksum)
        return SLUICE_ERROR_CHECKSUM;
    const Index parts(*archive, index);
    if (!parts.checkOrder()) return SLUICE_ERROR_FORMAT;
    u32 unknownAsset = kNoAsset; // reported last: a damaged index is not taken for a new version
    u64 tileCount = 0, parameterBytes = 0;
    u32 nameEnd = 0;
    for (u32 asset = 0; asset < archive->assetCount; ++asset) {
        const SluiceStatus status = checkAsset(*archive, parts, asset, parameterBytes);
        if (status == SLUICE_ERROR_FORMAT || !checkName(*archive, parts, asset, nameEnd)) {
            bad = asset;
            return SLUICE_ERROR_FORMAT;
        }
        if (status != SLUICE_OK) unknownAsset = asset;
        tileCount += parts.entry(asset).tileCount;
    }
    if (nameEnd != archive->nameBytes || tileCount != archive->tileCount)
        return SLUICE_ERROR_FORMAT;
    bad = unknownAsset;
    return unknownAsset == kNoAsset ? SLUICE_OK : SLUICE_ERROR_VERSION;
}

SluiceStatus sluiceGetArchiveAsset(const SluiceArchive* archive, const void* index,
                                   size_t indexSize, uint32_t asset, SluiceArchiveAsset* info)
{
    if (archive == nullptr || index == nullptr || info == nullptr || asset >= archive->assetCount)
        return SLUICE_ERROR_ARGUMENT;
    if (indexSize < archive->indexSize) return SLUICE_ERROR_BUFFER_SIZE;
    const Index parts(*archive, index);
    const Entry entry = parts.entry(asset);
    info->name = parts(asset).data();
    info->nameLength = entry.nameLength;
    info->type = entry.type;
    info->size = entry.size;
    info->offset = entry.offset;
    info->extentSize = parts.extentEnd(asset) - entry.offset;
    info->tileCount = entry.tileCount;
    info->tileSizeLog2 = entry.tileSizeLog2;
    info->tileChecksum = entry.tileChecksum;
    const u8* block = nullptr;
    u32 blockSize = 0;
    const bool found = entry.parameterOffset != kNoParameters &&
                       parts.findBlock(entry.parameterOffset, block, blockSize);
    info->parameters = found ? block : nullptr;
    info->parameterSize = found ? blockSize : 0;
    return SLUICE_OK;
}

SluiceStatus sluiceGetArchiveOrder(const SluiceArchive* archive, const void* index,
                                   size_t indexSize, uint32_t* assets)
{
    if (archive == nullptr || ((index == nullptr || assets == nullptr) && archive->assetCount != 0))
        return SLUICE_ERROR_ARGUMENT;
    if (indexSize < archive->indexSize) return SLUICE_ERROR_BUFFER_SIZE;
    const Index parts(*archive, index);
    u32 asset = archive->assetCount == 0 ? 0 : parts.first();
    for (u32 i = 0; i < archive->assetCount; ++i, asset = parts.successor(asset))
        assets[i] = asset;
    return SLUICE_OK;
}

SluiceStatus sluiceFindArchiveAsset(const SluiceArchive* archive, const void* index,
                                    size_t indexSize, const char* name, size_t nameLength,
                                    uint32_t* asset)
{
    if (archive == nullptr || (index == nullptr && indexSize != 0) || name == nullptr ||
        asset == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    if (indexSize < archive->indexSize) return SLUICE_ERROR_BUFFER_SIZE;
    const Index parts(*archive, index);
    const std::string_view wanted(name, nameLength);
    const u32 found = lowerBoundName(parts, archive->assetCount, wanted);
    const bool same = found < archive->assetCount && parts(found) == wanted;
    *asset = same ? found : kNoAsset;
    return SLUICE_OK;
}

SluiceStatus sluiceBeginArchiveTiles(const SluiceArchiveAsset* asset,
                                     SluiceArchiveTileReader* reader)
{
    if (asset == nullptr || reader == nullptr ||
        asset->tileSizeLog2 < SLUICE_ARCHIVE_MIN_TILE_LOG2 ||
        asset->tileSizeLog2 > SLUICE_ARCHIVE_MAX_TILE_LOG2)
        return SLUICE_ERROR_ARGUMENT;
    TileReaderState state = {};
    state.hash.begin(0);
    state.size = asset->size;
    state.extentSize = asset->extentSize;
    state.dataEnd = u64(asset->tileCount) * recordBytes;
    state.tileCount = asset->tileCount;
    state.tileSizeLog2 = asset->tileSizeLog2;
    state.tileChecksum = asset->tileChecksum;
    state.parameterSize = asset->parameterSize;
    state.parameters = static_cast<const u8*>(asset->parameters);
    reader->next = 0;
    std::memcpy(reader->state, &state, sizeof state);
    return SLUICE_OK;
}

SluiceStatus sluiceRememberArchiveFilters(SluiceArchiveTileReader* reader, void* memory,
                                          size_t size)
{
    if (reader == nullptr || memory == nullptr || reader->next != 0) return SLUICE_ERROR_ARGUMENT;
    TileReaderState state;
    std::memcpy(&state, reader->state, sizeof state);
    if (size < state.parameterSize / 4) return SLUICE_ERROR_ARGUMENT;
    state.checked = static_cast<u8*>(memory);
    std::memcpy(reader->state, &state, sizeof state);
    return SLUICE_OK;
}

SluiceStatus sluiceParseArchiveTiles(SluiceArchiveTileReader* reader, const void* records,
                                     size_t size, uint32_t count, SluiceArchiveTile* tiles)
{
    if (reader == nullptr || (count != 0 && (records == nullptr || tiles == nullptr)))
        return SLUICE_ERROR_ARGUMENT;
    TileReaderState state;
    std::memcpy(&state, reader->state, sizeof state);
    if (reader->next > state.tileCount || count > state.tileCount - reader->next)
        return SLUICE_ERROR_ARGUMENT;
    if (size / recordBytes < count) return SLUICE_ERROR_BUFFER_SIZE;
    if (count == 0) return SLUICE_OK;
    const u8* record = static_cast<const u8*>(records);
    for (u32 i = 0; i < count; ++i, record += recordBytes) {
        const bool last = reader->next + 1 == state.tileCount;
        if (!parseRecord(state, last, record, tiles[i])) return SLUICE_ERROR_FORMAT;
        ++reader->next;
    }
    state.hash.add(records, size_t(count) * recordBytes);
    std::memcpy(reader->state, &state, sizeof state);
    if (reader->next < state.tileCount) return SLUICE_OK;
    if (state.hash.value() != state.tileChecksum) return SLUICE_ERROR_CHECKSUM;
    if (state.outputOffset != state.size) return SLUICE_ERROR_FORMAT;
    return state.unknown != 0 ? SLUICE_ERROR_VERSION : SLUICE_OK;
}
