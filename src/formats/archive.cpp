// SPDX-License-Identifier: MIT OR Apache-2.0
// Parses the .sluice archive: header, index and tile records, as docs/format.md specifies them.
#include "formats/archive_layout.h"

using namespace sluice;

namespace {

constexpr uint32_t kNoAsset = 0xffffffffu;

struct Entry {
    uint64_t size, offset;
    uint32_t tileCount, tileChecksum, nameOffset, nameLength, tileSizeLog2, reserved, type;
    uint32_t parameterOffset;
};

// Returns whether the archive has a version in which assets may share tiles. In these versions the
// index is stored in coded form, and sluiceUnpackArchiveIndex has unpacked it.
bool isShared(const SluiceArchive& archive)
{
    return archive.versionMajor >= kArchiveVersionShared;
}

// A view of the index: its entries, successors, parameter blocks and names.
class Index {
public:
    Index(const SluiceArchive& archive, const void* bytes)
        : m_archive(archive), m_assets(static_cast<const uint8_t*>(bytes)),
          m_successors(m_assets + size_t(entryCount()) * assetBytes),
          m_blocks(m_successors + size_t(successorSize(archive))),
          m_names(reinterpret_cast<const char*>(m_blocks) + archive.blockBytes)
    {
    }

    Entry entry(uint32_t asset) const
    {
        const uint8_t* at = m_assets + size_t(asset) * assetBytes;
        return {loadLe64(at + assetSize),       loadLe64(at + assetOffset),
                loadLe32(at + assetTileCount),  loadLe32(at + assetTileChecksum),
                loadLe32(at + assetNameOffset), loadLe16(at + assetNameLength),
                at[assetTileSizeLog2],          at[assetReserved],
                loadLe32(at + assetType),       loadLe32(at + assetParameterOffset)};
    }

    // Returns the name of an asset. It is the call operator, because lowerBoundName and
    // nameMayFollow take a function from an index to a name.
    std::string_view operator()(uint32_t asset) const
    {
        const Entry one = entry(asset);
        return {m_names + one.nameOffset, one.nameLength};
    }

    static uint64_t successorSize(const SluiceArchive& archive)
    {
        return archive.versionMajor == kArchiveVersionMajor
                   ? 0
                   : (uint64_t(archive.assetCount) + archive.shareCount) * kSuccessorBytes;
    }

    // In the table, the entries of assets come before the entries of shares.
    uint32_t entryCount() const { return m_archive.assetCount + m_archive.shareCount; }
    uint32_t kind(uint32_t number) const
    {
        return isShared(m_archive) ? m_assets[size_t(number) * assetBytes + assetReserved]
                                   : uint32_t(entryAsset);
    }
    // Returns the index of the entry whose extent (a range of the file) holds an asset's tiles. For
    // a part it is the entry of the share, otherwise the asset's own entry.
    uint32_t tilesEntry(uint32_t asset) const
    {
        return kind(asset) == entryPart ? m_archive.assetCount + entry(asset).tileChecksum : asset;
    }

    // Returns the index of the entry whose extent (the range of the file with its tiles) comes next
    // in the file, or kNoSuccessor. The successor of a part is the next part of its share.
    uint32_t successor(uint32_t number) const
    {
        if (m_archive.versionMajor != kArchiveVersionMajor)
            return loadLe32(m_successors + size_t(number) * kSuccessorBytes);
        return number + 1 < m_archive.assetCount ? number + 1 : kNoSuccessor;
    }

    // Returns the index of the entry whose extent comes first in the file. If the successors are
    // valid, every other entry with an extent is the successor of exactly one entry. So in the xor
    // of all entries with extents and of all successors, every entry but the first cancels out.
    uint32_t first() const
    {
        uint32_t first = 0;
        for (uint32_t number = 0; number < entryCount(); ++number) {
            if (kind(number) == entryPart) continue;
            const uint32_t next = successor(number);
            first ^= number ^ (next == kNoSuccessor ? 0 : next);
        }
        return first;
    }

    // Returns whether the chain of successors visits every extent exactly once. This is so if the
    // chain ends after as many steps as there are extents. A chain that visits an entry twice runs
    // in a circle and never ends.
    bool checkOrder() const
    {
        uint32_t left = 0;
        for (uint32_t number = 0; number < entryCount(); ++number)
            left += kind(number) != entryPart ? 1 : 0;
        uint32_t number = left == 0 ? kNoSuccessor : first();
        for (; left != 0 && number < entryCount() && kind(number) != entryPart; --left)
            number = successor(number);
        return left == 0 && number == kNoSuccessor;
    }

    // Returns whether the parts of a share (the small assets in its tiles) are linked in the order
    // of their names and cover all of it. Adds their number to `parts`. The entries have been
    // checked.
    bool checkShare(uint32_t share, uint32_t& parts) const
    {
        const Entry whole = entry(m_archive.assetCount + share);
        uint64_t end = 0;
        uint32_t least = 0; // the least index of the next part; it rises, so the loop ends
        for (uint32_t at = whole.nameOffset; at != kNoSuccessor; at = successor(at)) {
            if (at < least || at >= m_archive.assetCount || kind(at) != entryPart) return false;
            const Entry part = entry(at);
            if (part.tileChecksum != share || part.offset != alignUp(end, kPartAlignment) ||
                part.offset > whole.size || part.size > whole.size - part.offset)
                return false;
            end = part.offset + part.size;
            least = at + 1;
            ++parts;
        }
        return least != 0 && end == whole.size;
    }
    // Returns whether all shares are valid and every part belongs to one.
    bool checkShares() const
    {
        uint32_t parts = 0;
        for (uint32_t share = 0; share < m_archive.shareCount; ++share)
            if (!checkShare(share, parts)) return false;
        for (uint32_t asset = 0; asset < m_archive.assetCount; ++asset)
            parts -= kind(asset) == entryPart ? 1 : 0;
        return parts == 0;
    }

    // Returns where the extent of an entry ends (the range of the file with its tiles). That is
    // where the next extent starts. The caller has checked the order of the extents.
    uint64_t extentEnd(uint32_t asset) const
    {
        const uint32_t next = successor(asset);
        return next != kNoSuccessor ? entry(next).offset : m_archive.indexOffset;
    }

    // Finds the parameter block at an offset: a u32 size (a multiple of 4) and that many bytes.
    bool findBlock(uint32_t offset, const uint8_t*& block, uint32_t& size) const
    {
        if (offset % 4 != 0 || m_archive.blockBytes < 4 || offset > m_archive.blockBytes - 4)
            return false;
        size = loadLe32(m_blocks + offset);
        block = m_blocks + offset + 4;
        return size % 4 == 0 && size <= m_archive.blockBytes - 4 - offset;
    }

    // Gets an entry's parameter block, or NULL and 0 if the entry has none.
    void getParameters(const Entry& one, const void*& parameters, uint32_t& size) const
    {
        const uint8_t* block = nullptr;
        const bool found =
            one.parameterOffset != kNoParameters && findBlock(one.parameterOffset, block, size);
        parameters = found ? block : nullptr;
        if (!found) size = 0;
    }

private:
    const SluiceArchive& m_archive;
    const uint8_t* m_assets;
    const uint8_t* m_successors;
    const uint8_t* m_blocks;
    const char* m_names;
};

// Returns whether an entry's extent is valid. A part (an asset in a share) has no extent: its tile
// count and tile size must be 0. Instead it must name an existing share.
bool checkExtent(const SluiceArchive& archive, const Index& index, uint32_t number,
                 const Entry& entry)
{
    if (index.kind(number) == entryPart)
        return entry.size != 0 && entry.tileCount == 0 && entry.tileSizeLog2 == 0 &&
               entry.tileChecksum < archive.shareCount;
    const uint64_t end = index.extentEnd(number), tiles = entry.tileCount;
    if (entry.tileSizeLog2 < SLUICE_ARCHIVE_MIN_TILE_LOG2 ||
        entry.tileSizeLog2 > SLUICE_ARCHIVE_MAX_TILE_LOG2)
        return false;
    if (entry.offset % SLUICE_ARCHIVE_ALIGNMENT != 0 || entry.offset < headerBytes ||
        end < entry.offset || end > archive.indexOffset ||
        (end - entry.offset) / recordBytes < tiles)
        return false;
    // A tile has at most 1 << tileSizeLog2 bytes. The last tile has at least 1 byte, all others
    // have at least 4.
    return entry.size <= tiles << entry.tileSizeLog2 &&
           (tiles == 0 || entry.size >= (tiles - 1) * 4 + 1);
}

// Checks an entry, and adds the size of its parameter block to parameterBytes.
SluiceStatus checkEntry(const SluiceArchive& archive, const Index& index, uint32_t number,
                        uint64_t& parameterBytes)
{
    const Entry entry = index.entry(number);
    const bool isNamed = number < archive.assetCount;
    const bool goodKind =
        isShared(archive)
            ? (isNamed ? entry.reserved <= entryPart
                       : entry.reserved == entryShare && entry.nameLength == 0 && entry.type == 0)
            : entry.reserved == 0 || archive.versionMinor > kArchiveVersionMinor;
    if (!goodKind || !checkExtent(archive, index, number, entry)) return SLUICE_ERROR_FORMAT;
    if (entry.parameterOffset == kNoParameters) return SLUICE_OK;
    const uint8_t* block = nullptr;
    uint32_t blockSize = 0;
    if (!index.findBlock(entry.parameterOffset, block, blockSize)) return SLUICE_ERROR_FORMAT;
    parameterBytes += blockSize;
    return parameterBytes <= kMaxParameterBytes ? checkParameters(block, blockSize)
                                                : SLUICE_ERROR_FORMAT;
}

// Checks that an asset's name is greater than the name before it and follows it without a gap. The
// caller has checked all assets before this one. nameEnd: where the previous name ends; receives
// where this name ends.
bool checkName(const SluiceArchive& archive, const Index& index, uint32_t asset, uint32_t& nameEnd)
{
    const Entry entry = index.entry(asset);
    if (entry.nameOffset != nameEnd || entry.nameLength > archive.nameBytes - nameEnd) return false;
    nameEnd += entry.nameLength;
    const std::string_view name = index(asset);
    return sluiceIsArchiveName(name.data(), name.size()) && nameMayFollow(index, asset, name);
}

// The content of SluiceArchiveTileReader::state.
struct TileReaderState {
    Xxh32 hash;
    uint64_t size; // decoded bytes of all tiles
    uint64_t extentOffset, extentSize;
    uint64_t outputOffset; // sum of the decoded sizes of the tiles so far
    uint64_t dataEnd;      // end of the tiles so far, from the start of the extent
    uint64_t recordsSize;  // bytes of all tile records
    uint32_t tileCount;
    uint32_t tileSizeLog2;
    uint32_t tileChecksum;
    uint32_t parameterSize;
    uint32_t unknown;       // 1 if some tile has a codec or a filter that this reader does not know
    uint32_t goodFilter;    // the last valid filterOffset; neighbouring tiles often have the same
    uint32_t hasEqualTiles; // SluiceArchiveAsset::hasEqualTiles
    uint32_t takesEqualTiles; // sluiceTakeEqualArchiveTiles was called
    const uint8_t* parameters;
    // For each word of the parameters, a FilterCheck: what is known about a filter that begins
    // there.
    uint8_t* checked;
};
enum FilterCheck : uint8_t {
    kUnchecked,
    kGoodFilter,
    kUnknownFilter
};
static_assert(sizeof(TileReaderState) <= sizeof(SluiceArchiveTileReader::state));

// Checks the filter at filterOffset. If the caller has given memory for results
// (sluiceRememberArchiveFilters), checks it only once. Errors: FORMAT, VERSION.
SluiceStatus checkFilterOnce(TileReaderState& state, uint32_t filterOffset)
{
    // An offset outside the block has no entry in `checked`. It needs none, since checkFilterItem
    // refuses it at once.
    const uint32_t word = filterOffset / 4 - 1;
    uint8_t* noted = state.checked != nullptr && filterOffset % 4 == 0 && filterOffset != 0 &&
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

// Returns whether a tile's stored bytes may be those of an earlier tile. They must lie before the
// extent and behind the file's header, or inside the extent between its records and the end of the
// tiles so far. tile.offset counts from the start of the extent; if the bytes lie before the
// extent, it is negative (modulo 2^64).
bool isEarlier(const TileReaderState& state, const SluiceArchiveTile& tile)
{
    const uint64_t back = 0 - tile.offset;
    if (tile.offset > UINT64_MAX / 2)
        return state.extentOffset >= headerBytes && back <= state.extentOffset - headerBytes &&
               tile.storedSize <= back;
    return tile.offset >= state.recordsSize && tile.offset <= state.dataEnd &&
           tile.storedSize <= state.dataEnd - tile.offset;
}

// Parses and checks a tile record. last: the tile is the extent's last one. Errors: FORMAT,
// UNSUPPORTED (the stored bytes are those of an earlier tile, but the caller has not called
// sluiceTakeEqualArchiveTiles).
SluiceStatus parseRecord(TileReaderState& state, bool last, const uint8_t* record,
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

    if (tile.size == 0 || tile.size > 1u << state.tileSizeLog2 || (!last && tile.size % 4 != 0) ||
        tile.size > state.size - state.outputOffset || tile.size > maxTileBytes(tile.codec))
        return SLUICE_ERROR_FORMAT;
    const bool isOwn = tile.offset >= state.dataEnd && tile.offset <= state.extentSize &&
                       tile.storedSize <= state.extentSize - tile.offset;
    if (tile.offset % SLUICE_ARCHIVE_ALIGNMENT != 0 || tile.storedSize == 0 ||
        (!isOwn && (state.hasEqualTiles == 0 || !isEarlier(state, tile))))
        return SLUICE_ERROR_FORMAT;
    if (tile.codec == SLUICE_CODEC_STORE ? tile.storedSize != tile.size
                                         : tile.storedSize >= tile.size)
        return SLUICE_ERROR_FORMAT;
    if (tile.filterOffset != 0 && tile.filterOffset != state.goodFilter) {
        const SluiceStatus filter = checkFilterOnce(state, tile.filterOffset);
        if (filter == SLUICE_ERROR_FORMAT) return filter;
        state.unknown |= filter == SLUICE_OK ? 0 : 1;
        state.goodFilter = filter == SLUICE_OK ? tile.filterOffset : 0;
    }
    if (tile.codec > SLUICE_CODEC_ZSTD) state.unknown = 1;
    state.outputOffset += tile.size;
    if (isOwn) state.dataEnd = tile.offset + tile.storedSize;
    return isOwn || state.takesEqualTiles != 0 ? SLUICE_OK : SLUICE_ERROR_UNSUPPORTED;
}

// Checks the sizes in the header of an archive with a coded index, so that a small file cannot ask
// for much memory. The coded index contains all entries and blocks, so its size bounds theirs.
bool checkCodedSize(const SluiceArchive& archive)
{
    const uint64_t coded = archive.codedIndexSize;
    // Version 3 needs at least one share. Version 4 does not: there the difference of the versions
    // is 1, so the sum is not 0.
    return archive.shareCount + (archive.versionMajor - kArchiveVersionShared) != 0 &&
           archive.assetCount != 0 && archive.shareCount <= archive.assetCount &&
           coded <= kMaxCodedBytes && archive.blockBytes <= coded &&
           archive.nameBytes / SLUICE_ARCHIVE_MAX_NAME_LENGTH <= archive.assetCount &&
           (uint64_t(archive.assetCount) + archive.shareCount) <= coded / kMinCodedEntryBytes &&
           archive.storedIndexSize <= kMaxCodedBytes + kMaxCodedBytes / 2 &&
           coded <= archive.storedIndexSize * kMaxIndexRatio;
}

} // namespace

SluiceStatus sluiceParseArchiveHeader(const void* bytes, size_t size, uint64_t fileSize,
                                      SluiceArchive* archive)
{
    if ((bytes == nullptr && size != 0) || archive == nullptr || fileSize < size)
        return SLUICE_ERROR_ARGUMENT;
    const uint8_t* header = static_cast<const uint8_t*>(bytes);
    if (size < sizeof kArchiveMagic ||
        std::memcmp(header, kArchiveMagic, sizeof kArchiveMagic) != 0)
        return SLUICE_ERROR_FORMAT;
    if (size < headerBytes) return SLUICE_ERROR_BUFFER_SIZE;
    if (loadLe32(header + headerChecksum) != xxh32(header, headerChecksum, 0))
        return SLUICE_ERROR_CHECKSUM;
    archive->versionMajor = loadLe16(header + headerVersionMajor);
    archive->versionMinor = loadLe16(header + headerVersionMinor);
    if (archive->versionMajor > kArchiveVersionEqual) return SLUICE_ERROR_VERSION;
    if (archive->versionMajor < kArchiveVersionMajor) return SLUICE_ERROR_FORMAT;
    archive->assetCount = loadLe32(header + headerAssetCount);
    archive->fileSize = loadLe64(header + headerFileSize);
    archive->indexOffset = loadLe64(header + headerIndexOffset);
    archive->tileCount = loadLe64(header + headerTileCount);
    archive->blockBytes = loadLe32(header + headerBlockBytes);
    archive->nameBytes = loadLe32(header + headerNameBytes);
    archive->indexChecksum = loadLe32(header + headerIndexChecksum);
    archive->shareCount = isShared(*archive) ? loadLe32(header + headerShareCount) : 0;
    archive->codedIndexSize = isShared(*archive) ? loadLe32(header + headerCodedBytes) : 0;
    archive->indexSize = (uint64_t(archive->assetCount) + archive->shareCount) * assetBytes +
                         Index::successorSize(*archive) + archive->blockBytes + archive->nameBytes +
                         archive->codedIndexSize + (isShared(*archive) ? kIndexScratchBytes : 0);

    if (!isShared(*archive) && loadLe64(header + headerReserved) != 0 &&
        archive->versionMinor <= kArchiveVersionMinor)
        return SLUICE_ERROR_FORMAT;
    if (archive->assetCount > SLUICE_ARCHIVE_MAX_ASSETS ||
        archive->blockBytes > SLUICE_ARCHIVE_MAX_BLOCK_BYTES ||
        archive->nameBytes > SLUICE_ARCHIVE_MAX_NAME_BYTES || archive->blockBytes % 4 != 0)
        return SLUICE_ERROR_FORMAT;
    if (archive->indexOffset % SLUICE_ARCHIVE_ALIGNMENT != 0 ||
        archive->indexOffset < headerBytes || archive->fileSize < archive->indexOffset)
        return SLUICE_ERROR_FORMAT;
    archive->storedIndexSize = archive->fileSize - archive->indexOffset;
    if (isShared(*archive) ? !checkCodedSize(*archive)
                           : archive->storedIndexSize != archive->indexSize)
        return SLUICE_ERROR_FORMAT;
    return fileSize == archive->fileSize  ? SLUICE_OK
           : fileSize < archive->fileSize ? SLUICE_ERROR_BUFFER_SIZE
                                          : SLUICE_ERROR_FORMAT;
}

SluiceStatus sluiceCheckArchiveIndex(const SluiceArchive* archive, const void* index,
                                     size_t indexSize, uint32_t* badAsset)
{
    uint32_t ignored = 0;
    uint32_t& bad = badAsset != nullptr ? *badAsset : ignored;
    bad = kNoAsset;
    if (archive == nullptr || (index == nullptr && indexSize != 0)) return SLUICE_ERROR_ARGUMENT;
    if (indexSize < archive->indexSize) return SLUICE_ERROR_BUFFER_SIZE;
    // Since version 3 the checksum covers the stored form of the index, and
    // sluiceUnpackArchiveIndex has compared it.
    if (!isShared(*archive) &&
        xxh32(index, size_t(archive->indexSize), 0) != archive->indexChecksum)
        return SLUICE_ERROR_CHECKSUM;
    const Index parts(*archive, index);
    if (!parts.checkOrder()) return SLUICE_ERROR_FORMAT;
    // An asset that needs a newer reader. It is reported only after all checks, so that a damaged
    // index is not taken for a newer version.
    uint32_t unknownAsset = kNoAsset;
    uint64_t tileCount = 0, parameterBytes = 0;
    uint32_t nameEnd = 0;
    for (uint32_t number = 0; number < parts.entryCount(); ++number) {
        const bool isNamed = number < archive->assetCount;
        const SluiceStatus status = checkEntry(*archive, parts, number, parameterBytes);
        if (status == SLUICE_ERROR_FORMAT ||
            (isNamed && !checkName(*archive, parts, number, nameEnd))) {
            bad = isNamed ? number : kNoAsset;
            return SLUICE_ERROR_FORMAT;
        }
        if (status != SLUICE_OK) unknownAsset = isNamed ? number : parts.entry(number).nameOffset;
        tileCount += parts.entry(number).tileCount;
    }
    if (nameEnd != archive->nameBytes || tileCount != archive->tileCount || !parts.checkShares())
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
    parts.getParameters(entry, info->parameters, info->parameterSize);
    const uint32_t number = parts.tilesEntry(asset);
    const Entry tiles = parts.entry(number);
    info->share = number == asset ? SLUICE_ARCHIVE_NO_SHARE : number - archive->assetCount;
    info->tilesOffset = number == asset ? 0 : entry.offset;
    info->tilesSize = tiles.size;
    info->offset = tiles.offset;
    info->extentSize = parts.extentEnd(number) - tiles.offset;
    info->tileCount = tiles.tileCount;
    info->tileSizeLog2 = tiles.tileSizeLog2;
    info->tileChecksum = tiles.tileChecksum;
    info->hasEqualTiles = archive->versionMajor >= kArchiveVersionEqual ? 1 : 0;
    parts.getParameters(tiles, info->tileParameters, info->tileParameterSize);
    return SLUICE_OK;
}

SluiceStatus sluiceGetArchiveOrder(const SluiceArchive* archive, const void* index,
                                   size_t indexSize, uint32_t* assets)
{
    if (archive == nullptr || ((index == nullptr || assets == nullptr) && archive->assetCount != 0))
        return SLUICE_ERROR_ARGUMENT;
    if (indexSize < archive->indexSize) return SLUICE_ERROR_BUFFER_SIZE;
    const Index parts(*archive, index);
    uint32_t number = archive->assetCount == 0 ? kNoSuccessor : parts.first();
    uint32_t count = 0;
    for (; number != kNoSuccessor; number = parts.successor(number)) {
        if (parts.kind(number) == entryAsset) {
            assets[count++] = number;
            continue;
        }
        for (uint32_t part = parts.entry(number).nameOffset; part != kNoSuccessor;
             part = parts.successor(part))
            assets[count++] = part;
    }
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
    const uint32_t found = lowerBoundName(parts, archive->assetCount, wanted);
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
    state.size = asset->tilesSize;
    state.extentOffset = asset->offset;
    state.extentSize = asset->extentSize;
    state.recordsSize = state.dataEnd = uint64_t(asset->tileCount) * recordBytes;
    state.tileCount = asset->tileCount;
    state.tileSizeLog2 = asset->tileSizeLog2;
    state.tileChecksum = asset->tileChecksum;
    state.parameterSize = asset->tileParameterSize;
    state.parameters = static_cast<const uint8_t*>(asset->tileParameters);
    state.hasEqualTiles = asset->hasEqualTiles;
    reader->next = 0;
    std::memcpy(reader->state, &state, sizeof state);
    return SLUICE_OK;
}

SluiceStatus sluiceTakeEqualArchiveTiles(SluiceArchiveTileReader* reader)
{
    if (reader == nullptr || reader->next != 0) return SLUICE_ERROR_ARGUMENT;
    TileReaderState state;
    std::memcpy(&state, reader->state, sizeof state);
    state.takesEqualTiles = 1;
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
    state.checked = static_cast<uint8_t*>(memory);
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
    const uint8_t* record = static_cast<const uint8_t*>(records);
    for (uint32_t i = 0; i < count; ++i, record += recordBytes) {
        const bool last = reader->next + 1 == state.tileCount;
        const SluiceStatus status = parseRecord(state, last, record, tiles[i]);
        if (status != SLUICE_OK) return status;
        ++reader->next;
    }
    state.hash.add(records, size_t(count) * recordBytes);
    std::memcpy(reader->state, &state, sizeof state);
    if (reader->next < state.tileCount) return SLUICE_OK;
    if (state.hash.value() != state.tileChecksum) return SLUICE_ERROR_CHECKSUM;
    if (state.outputOffset != state.size) return SLUICE_ERROR_FORMAT;
    return state.unknown != 0 ? SLUICE_ERROR_VERSION : SLUICE_OK;
}
