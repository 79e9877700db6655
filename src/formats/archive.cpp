// SPDX-License-Identifier: MIT OR Apache-2.0
// The .sluice archive: header, index and tile records, as docs/format.md lays them down.
#include <sluice/sluice_filter.h>
#include <sluice/sluice_formats.h>

#include <cstring>

#include "archive_layout.h"

using namespace sluice;

namespace {

static_assert(headerBytes == SLUICE_ARCHIVE_HEADER_SIZE &&
              recordBytes == SLUICE_ARCHIVE_RECORD_SIZE &&
              archiveAlignment == SLUICE_ARCHIVE_ALIGNMENT);

constexpr uint32_t noAsset = 0xffffffffu;
constexpr uint32_t gdeflateMaxTile = 65536, gstdMaxTile = 262144;
constexpr uint64_t maxParameterBytes = uint64_t(1) << 28;

// The parts of an index.
struct Index {
    const uint8_t* assets;
    const uint8_t* blocks;
    const char* names;

    Index(const SluiceArchive& archive, const void* bytes)
        : assets(static_cast<const uint8_t*>(bytes)),
          blocks(assets + size_t(archive.assetCount) * assetBytes),
          names(reinterpret_cast<const char*>(blocks) + archive.blockBytes)
    {
    }

    const uint8_t* entry(uint32_t asset) const { return assets + size_t(asset) * assetBytes; }
    std::string_view operator()(uint32_t asset) const // its name
    {
        return {names + loadLe32(entry(asset) + assetNameOffset),
                loadLe16(entry(asset) + assetNameLength)};
    }
};

// Finds the block's bytes: a u32 length, then that many bytes, a multiple of 4.
bool findBlock(const SluiceArchive& archive, const Index& index, uint32_t offset,
               const uint8_t*& block, uint32_t& size)
{
    if (offset % 4 != 0 || archive.blockBytes < 4 || offset > archive.blockBytes - 4) {
        return false;
    }
    size = loadLe32(index.blocks + offset);
    block = index.blocks + offset + 4;
    return size % 4 == 0 && size <= archive.blockBytes - 4 - offset;
}

// The end of an asset's extent is where the next one's starts.
uint64_t extentEnd(const SluiceArchive& archive, const Index& index, uint32_t asset)
{
    return asset + 1 < archive.assetCount ? loadLe64(index.entry(asset + 1) + assetOffset)
                                          : archive.indexOffset;
}

// parameterBytes counts the parameter blocks of all assets, so that many assets with one huge block
// cannot take forever.
SluiceStatus checkAsset(const SluiceArchive& archive, const Index& index, uint32_t asset,
                        uint64_t& parameterBytes)
{
    const uint8_t* entry = index.entry(asset);
    const uint64_t size = loadLe64(entry + assetSize);
    const uint64_t offset = loadLe64(entry + assetOffset);
    const uint64_t end = extentEnd(archive, index, asset);
    const uint64_t tiles = loadLe32(entry + assetTileCount);
    const uint32_t log2 = entry[assetTileSizeLog2];
    if (log2 < SLUICE_ARCHIVE_MIN_TILE_LOG2 || log2 > SLUICE_ARCHIVE_MAX_TILE_LOG2) {
        return SLUICE_ERROR_FORMAT;
    }
    if (entry[assetReserved] != 0 && archive.versionMinor <= archiveVersionMinor) {
        return SLUICE_ERROR_FORMAT;
    }
    if (offset % archiveAlignment != 0 || offset < headerBytes || end < offset ||
        end > archive.indexOffset || (end - offset) / recordBytes < tiles) {
        return SLUICE_ERROR_FORMAT;
    }
    // Every tile holds at least 4 bytes, the last one at least 1, and none more than 1 << log2.
    if (size > tiles << log2 || (tiles != 0 && size < (tiles - 1) * 4 + 1)) {
        return SLUICE_ERROR_FORMAT;
    }
    const uint32_t parameterOffset = loadLe32(entry + assetParameterOffset);
    if (parameterOffset == noParameters) {
        return SLUICE_OK;
    }
    const uint8_t* block = nullptr;
    uint32_t blockSize = 0;
    if (!findBlock(archive, index, parameterOffset, block, blockSize)) {
        return SLUICE_ERROR_FORMAT;
    }
    parameterBytes += blockSize;
    return parameterBytes <= maxParameterBytes ? checkParameters(block, blockSize)
                                               : SLUICE_ERROR_FORMAT;
}

// Names stand in order, without gaps. Assets before this one have been checked.
bool checkName(const SluiceArchive& archive, const Index& index, uint32_t asset, uint32_t& nameEnd)
{
    const uint32_t offset = loadLe32(index.entry(asset) + assetNameOffset);
    const uint32_t length = loadLe16(index.entry(asset) + assetNameLength);
    if (offset != nameEnd || length > archive.nameBytes - offset) {
        return false;
    }
    nameEnd += length;
    return sluiceIsArchiveName(index.names + offset, length) &&
           nameMayFollow(index, asset, index(asset));
}

// What SluiceArchiveTileReader holds.
struct TileReaderState {
    Xxh32 hash;
    uint64_t size; // of the asset
    uint64_t extentSize;
    uint64_t outputOffset; // sum of the sizes so far
    uint64_t dataEnd;      // end of the tile before, in the extent
    uint32_t tileCount;
    uint32_t tileSizeLog2;
    uint32_t tileChecksum;
    uint32_t parameterSize;
    uint32_t unknown;     // 1: some tile has a codec or a filter that is not known here
    uint32_t knownFilter; // the filterOffset that was found good last
    const uint8_t* parameters;
};
static_assert(sizeof(TileReaderState) <= sizeof(SluiceArchiveTileReader::state));

// The description of a filter at an offset with room for an item's head.
SluiceStatus checkFilterItem(const TileReaderState& state, uint32_t filterOffset)
{
    // offsets count from the block's length word
    const uint8_t* item = state.parameters + (filterOffset - 4);
    const uint32_t size = loadLe32(item + 4);
    if (size > state.parameterSize - (filterOffset - 4) - 8) {
        return SLUICE_ERROR_FORMAT;
    }
    return loadLe16(item) == filterItemKind ? sluiceCheckFilter(item + 8, size)
                                            : SLUICE_ERROR_VERSION;
}

bool parseRecord(TileReaderState& state, uint32_t number, const uint8_t* record,
                 SluiceArchiveTile& tile)
{
    const uint32_t sizeAndCodec = loadLe32(record + recordSizeAndCodec);
    tile.offset = loadLe64(record + recordOffset);
    tile.outputOffset = state.outputOffset;
    tile.storedSize = loadLe32(record + recordStoredSize);
    tile.size = sizeAndCodec & 0xffffff;
    tile.codec = sizeAndCodec >> 24;
    tile.checksum = loadLe32(record + recordChecksum);
    tile.filterOffset = loadLe32(record + recordFilterOffset);

    const bool last = number + 1 == state.tileCount;
    if (tile.size == 0 || tile.size > uint32_t(1) << state.tileSizeLog2 ||
        (!last && tile.size % 4 != 0) || tile.size > state.size - state.outputOffset) {
        return false;
    }
    if (tile.offset % archiveAlignment != 0 || tile.offset < state.dataEnd ||
        tile.offset > state.extentSize || tile.storedSize == 0 ||
        tile.storedSize > state.extentSize - tile.offset) {
        return false;
    }
    if (tile.codec == SLUICE_CODEC_STORE ? tile.storedSize != tile.size
                                         : tile.storedSize >= tile.size) {
        return false;
    }
    if ((tile.codec == SLUICE_CODEC_GDEFLATE && tile.size > gdeflateMaxTile) ||
        (tile.codec == SLUICE_CODEC_GSTD && tile.size > gstdMaxTile)) {
        return false;
    }
    if (tile.filterOffset != 0 && (tile.filterOffset % 4 != 0 || state.parameterSize < 8 ||
                                   tile.filterOffset > state.parameterSize - 4)) {
        return false; // no room for an item's head
    }
    if (tile.filterOffset != 0 && tile.filterOffset != state.knownFilter) {
        const SluiceStatus filter = checkFilterItem(state, tile.filterOffset);
        if (filter == SLUICE_ERROR_FORMAT) {
            return false;
        }
        state.unknown |= filter == SLUICE_OK ? 0 : 1;
        state.knownFilter = filter == SLUICE_OK ? tile.filterOffset : 0;
    }
    if (tile.codec > SLUICE_CODEC_GSTD) {
        state.unknown = 1;
    }
    state.outputOffset += tile.size;
    state.dataEnd = tile.offset + tile.storedSize;
    return true;
}

} // namespace

SluiceStatus sluiceParseArchiveHeader(const void* bytes, size_t size, uint64_t fileSize,
                                      SluiceArchive* archive)
{
    if ((bytes == nullptr && size != 0) || archive == nullptr || fileSize < size) {
        return SLUICE_ERROR_ARGUMENT;
    }
    const uint8_t* header = static_cast<const uint8_t*>(bytes);
    if (size < sizeof(archiveMagic) ||
        std::memcmp(header, archiveMagic, sizeof(archiveMagic)) != 0) {
        return SLUICE_ERROR_FORMAT;
    }
    if (size < headerBytes) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    if (loadLe32(header + headerChecksum) != xxh32(header, headerChecksum, 0)) {
        return SLUICE_ERROR_CHECKSUM;
    }
    archive->versionMajor = loadLe16(header + headerVersionMajor);
    archive->versionMinor = loadLe16(header + headerVersionMinor);
    if (archive->versionMajor != archiveVersionMajor) {
        return archive->versionMajor > archiveVersionMajor ? SLUICE_ERROR_VERSION
                                                           : SLUICE_ERROR_FORMAT;
    }
    archive->assetCount = loadLe32(header + headerAssetCount);
    archive->fileSize = loadLe64(header + headerFileSize);
    archive->indexOffset = loadLe64(header + headerIndexOffset);
    archive->tileCount = loadLe64(header + headerTileCount);
    archive->blockBytes = loadLe32(header + headerBlockBytes);
    archive->nameBytes = loadLe32(header + headerNameBytes);
    archive->indexChecksum = loadLe32(header + headerIndexChecksum);
    archive->indexSize =
        uint64_t(archive->assetCount) * assetBytes + archive->blockBytes + archive->nameBytes;

    const bool reservedUsed = loadLe64(header + headerReserved) != 0;
    if (reservedUsed && archive->versionMinor <= archiveVersionMinor) {
        return SLUICE_ERROR_FORMAT;
    }
    if (archive->assetCount > SLUICE_ARCHIVE_MAX_ASSETS ||
        archive->blockBytes > SLUICE_ARCHIVE_MAX_BLOCK_BYTES ||
        archive->nameBytes > SLUICE_ARCHIVE_MAX_NAME_BYTES || archive->blockBytes % 4 != 0) {
        return SLUICE_ERROR_FORMAT;
    }
    if (archive->indexOffset % archiveAlignment != 0 || archive->indexOffset < headerBytes ||
        archive->fileSize < archive->indexSize ||
        archive->indexOffset != archive->fileSize - archive->indexSize) {
        return SLUICE_ERROR_FORMAT;
    }
    if (fileSize != archive->fileSize) {
        return fileSize < archive->fileSize ? SLUICE_ERROR_BUFFER_SIZE : SLUICE_ERROR_FORMAT;
    }
    return SLUICE_OK;
}

SluiceStatus sluiceCheckArchiveIndex(const SluiceArchive* archive, const void* index,
                                     size_t indexSize, uint32_t* badAsset)
{
    if (badAsset != nullptr) {
        *badAsset = noAsset;
    }
    if (archive == nullptr || (index == nullptr && indexSize != 0)) {
        return SLUICE_ERROR_ARGUMENT;
    }
    if (indexSize < archive->indexSize) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    if (xxh32(index, size_t(archive->indexSize), 0) != archive->indexChecksum) {
        return SLUICE_ERROR_CHECKSUM;
    }
    const Index parts(*archive, index);
    SluiceStatus unknown = SLUICE_OK; // reported last: a damaged index is not a new version
    uint32_t unknownAsset = noAsset;
    uint64_t tileCount = 0, parameterBytes = 0;
    uint32_t nameEnd = 0;
    for (uint32_t asset = 0; asset < archive->assetCount; ++asset) {
        SluiceStatus status = checkAsset(*archive, parts, asset, parameterBytes);
        if (status == SLUICE_ERROR_VERSION) {
            unknown = status;
            unknownAsset = asset;
            status = SLUICE_OK;
        }
        if (status != SLUICE_OK || !checkName(*archive, parts, asset, nameEnd)) {
            if (badAsset != nullptr) {
                *badAsset = asset;
            }
            return SLUICE_ERROR_FORMAT;
        }
        tileCount += loadLe32(parts.entry(asset) + assetTileCount);
    }
    if (nameEnd != archive->nameBytes || tileCount != archive->tileCount) {
        return SLUICE_ERROR_FORMAT;
    }
    if (badAsset != nullptr) {
        *badAsset = unknownAsset;
    }
    return unknown;
}

SluiceStatus sluiceGetArchiveAsset(const SluiceArchive* archive, const void* index,
                                   size_t indexSize, uint32_t asset, SluiceArchiveAsset* info)
{
    if (archive == nullptr || index == nullptr || info == nullptr || asset >= archive->assetCount) {
        return SLUICE_ERROR_ARGUMENT;
    }
    if (indexSize < archive->indexSize) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    const Index parts(*archive, index);
    const uint8_t* entry = parts.entry(asset);
    info->name = parts(asset).data();
    info->nameLength = uint32_t(parts(asset).size());
    info->type = loadLe32(entry + assetType);
    info->size = loadLe64(entry + assetSize);
    info->offset = loadLe64(entry + assetOffset);
    info->extentSize = extentEnd(*archive, parts, asset) - info->offset;
    info->tileCount = loadLe32(entry + assetTileCount);
    info->tileSizeLog2 = entry[assetTileSizeLog2];
    info->tileChecksum = loadLe32(entry + assetTileChecksum);
    info->parameters = nullptr;
    info->parameterSize = 0;
    const uint32_t parameterOffset = loadLe32(entry + assetParameterOffset);
    const uint8_t* block = nullptr;
    uint32_t blockSize = 0;
    if (parameterOffset != noParameters &&
        findBlock(*archive, parts, parameterOffset, block, blockSize)) {
        info->parameters = block;
        info->parameterSize = blockSize;
    }
    return SLUICE_OK;
}

SluiceStatus sluiceFindArchiveAsset(const SluiceArchive* archive, const void* index,
                                    size_t indexSize, const char* name, size_t nameLength,
                                    uint32_t* asset)
{
    if (archive == nullptr || (index == nullptr && indexSize != 0) || name == nullptr ||
        asset == nullptr) {
        return SLUICE_ERROR_ARGUMENT;
    }
    if (indexSize < archive->indexSize) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    const Index parts(*archive, index);
    const std::string_view wanted(name, nameLength);
    const uint32_t found = lowerBoundName(parts, archive->assetCount, wanted);
    const bool same = found < archive->assetCount && parts(found) == wanted;
    *asset = same ? found : noAsset;
    return SLUICE_OK;
}

SluiceStatus sluiceBeginArchiveTiles(const SluiceArchiveAsset* asset,
                                     SluiceArchiveTileReader* reader)
{
    if (asset == nullptr || reader == nullptr ||
        asset->tileSizeLog2 < SLUICE_ARCHIVE_MIN_TILE_LOG2 ||
        asset->tileSizeLog2 > SLUICE_ARCHIVE_MAX_TILE_LOG2) {
        return SLUICE_ERROR_ARGUMENT;
    }
    TileReaderState state = {};
    state.hash.begin(0);
    state.size = asset->size;
    state.extentSize = asset->extentSize;
    state.dataEnd = uint64_t(asset->tileCount) * recordBytes;
    state.tileCount = asset->tileCount;
    state.tileSizeLog2 = asset->tileSizeLog2;
    state.tileChecksum = asset->tileChecksum;
    state.parameterSize = asset->parameterSize;
    state.parameters = static_cast<const uint8_t*>(asset->parameters);
    reader->next = 0;
    std::memcpy(reader->state, &state, sizeof(state));
    return SLUICE_OK;
}

SluiceStatus sluiceParseArchiveTiles(SluiceArchiveTileReader* reader, const void* records,
                                     size_t size, uint32_t count, SluiceArchiveTile* tiles)
{
    if (reader == nullptr || (count != 0 && (records == nullptr || tiles == nullptr))) {
        return SLUICE_ERROR_ARGUMENT;
    }
    TileReaderState state;
    std::memcpy(&state, reader->state, sizeof(state));
    if (reader->next > state.tileCount || count > state.tileCount - reader->next) {
        return SLUICE_ERROR_ARGUMENT;
    }
    if (size / recordBytes < count) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    if (count == 0) {
        return SLUICE_OK;
    }
    const uint8_t* record = static_cast<const uint8_t*>(records);
    for (uint32_t i = 0; i < count; ++i, record += recordBytes) {
        if (!parseRecord(state, reader->next, record, tiles[i])) {
            return SLUICE_ERROR_FORMAT;
        }
        ++reader->next;
    }
    state.hash.add(records, size_t(count) * recordBytes);
    std::memcpy(reader->state, &state, sizeof(state));
    if (reader->next < state.tileCount) {
        return SLUICE_OK;
    }
    if (state.hash.value() != state.tileChecksum) {
        return SLUICE_ERROR_CHECKSUM;
    }
    if (state.outputOffset != state.size) {
        return SLUICE_ERROR_FORMAT;
    }
    return state.unknown != 0 ? SLUICE_ERROR_VERSION : SLUICE_OK;
}
