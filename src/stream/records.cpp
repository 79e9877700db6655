// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/records.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "formats/archive_layout.h"
#include "stream/transcodes.h"

namespace sluice::stream {

namespace {

constexpr uint32_t kParsedAtOnce = 64;
constexpr uint32_t kFilterMask = 0x3ffffff, kCodecMask = 0x3f; // masks of members of TileRecord
constexpr uint64_t kMostRecords = uint64_t(1) << 32;

// Returns the kernels that decode tiles of these codecs, as far as this build has them.
uint32_t kernelsOf(std::initializer_list<uint32_t> codecs)
{
    SluiceTileTotals totals = {};
    for (const uint32_t codec : codecs) {
        SluiceTile tile = {};
        tile.size = 2 * kFloatAlignment;
        tile.storedSize = codec == SLUICE_CODEC_STORE ? tile.size : tile.size / 2;
        tile.codec = codec;
        sluiceAddTile(&totals, &tile); // fails where the build lacks the codec's component
    }
    return sluiceGetTilesKernels(&totals);
}

// Returns the kernels (SluiceKernels) that an asset needs according to the items of its parameter
// block, which has been checked.
uint32_t kernelsOfItems(const void* parameters, size_t size)
{
    const auto* const block = static_cast<const uint8_t*>(parameters);
    uint32_t kernels = 0;
    for (size_t at = 0; at < size; at += kItemHead + size_t(alignUp(itemSize(block + at), 4))) {
        const uint32_t kind = loadLe16(block + at);
        if (kind == kFilterItem) kernels |= SLUICE_KERNELS_FILTER | SLUICE_KERNELS_CHECKSUM;
        if (kind == kCodecsItem && itemSize(block + at) >= 4 &&
            (loadLe32(block + at + kItemHead) >> SLUICE_CODEC_ZSTD & 1) != 0)
            kernels |= kernelsOf({SLUICE_CODEC_ZSTD});
    }
    return kernels;
}

// Returns the kernels that an image may need, if the parameter block describes an image. The block
// has been checked, but errors in the description are found only when it is used.
uint32_t kernelsOfImage(const void* parameters, size_t size)
{
    constexpr size_t kFlags = 4; // offset of the flags in the item (format.md, 4.10)
    const auto* const block = static_cast<const uint8_t*>(parameters);
    for (size_t at = 0; at < size; at += kItemHead + size_t(alignUp(itemSize(block + at), 4)))
        if (loadLe16(block + at) == kImageItem && itemSize(block + at) >= kFlags + 4 &&
            (loadLe32(block + at + kItemHead + kFlags) & SLUICE_IMAGE_TRANSCODE) != 0)
            return kHasTranscoder ? SLUICE_KERNELS_UASTC : 0;
    return 0;
}

} // namespace

SluiceStatus Records::begin(const SluiceArchive& archive, const std::vector<uint8_t>& index)
{
    m_archive = &archive;
    m_index = &index;
    // The check of the index has ensured that the file has room for the records of all tiles. Only
    // these limits remain.
    if (archive.tileCount >=
        std::min<uint64_t>(kMostRecords, std::numeric_limits<size_t>::max() / sizeof(TileRecord)))
        return SLUICE_ERROR_OUT_OF_MEMORY;
    // The records are not initialised, so that memory is only touched for assets in use.
    m_records.reset(new TileRecord[size_t(archive.tileCount)]);
    m_assets.resize(archive.assetCount);
    m_extents.reserve(archive.assetCount);
    std::vector<uint32_t> firstParts(archive.shareCount); // asset number of each share's first part
    const uint8_t* end = nullptr;                         // end of all parameters
    uint32_t kernels = 0;
    uint64_t known = 0;
    for (uint32_t number = 0; number < archive.assetCount; ++number) {
        const SluiceArchiveAsset info = assetOf(number);
        kernels |= kernelsOfImage(info.parameters, info.parameterSize);
        const bool isFirst = info.tilesOffset == 0; // no other asset with these tiles came before
        AssetTiles& tiles = m_assets[number];
        tiles.size = info.size;
        tiles.tilesOffset = info.tilesOffset;
        tiles.tileParameters = info.tileParameters;
        tiles.tileParameterSize = uint32_t(info.tileParameterSize);
        tiles.count = info.tileCount;
        if (!isFirst) {
            tiles.firstRecord = m_assets[firstParts[info.share]].firstRecord;
            tiles.extent = m_assets[firstParts[info.share]].extent;
            continue;
        }
        if (info.share != SLUICE_ARCHIVE_NO_SHARE) firstParts[info.share] = number;
        tiles.firstRecord = known;
        tiles.extent = uint32_t(m_extents.size());
        m_extents.emplace_back();
        known += info.tileCount;
        if (info.tileParameterSize == 0) continue;
        const auto* const parameters = static_cast<const uint8_t*>(info.tileParameters);
        m_parameters = m_parameters == nullptr ? parameters : std::min(m_parameters, parameters);
        end = std::max(end, parameters + info.tileParameterSize);
        kernels |= kernelsOfItems(info.tileParameters, info.tileParameterSize);
    }
    m_checkedFilters.resize(size_t(end - m_parameters) / 4);
    if (known != 0)
        kernels |= kernelsOf(
            {SLUICE_CODEC_STORE, SLUICE_CODEC_GDEFLATE, SLUICE_CODEC_FLOAT, SLUICE_CODEC_GSTD});
    m_kernels = kernels;
    return SLUICE_OK;
}

TileRecord* Records::beginKnown(const SluiceArchiveAsset& asset)
{
    m_records.reset(new TileRecord[asset.tileCount]);
    m_assets.resize(1);
    m_assets[0].size = asset.size;
    m_assets[0].count = asset.tileCount;
    m_extents.emplace_back().state = Extent::ready;
    if (asset.tileCount != 0) m_kernels = kernelsOf({SLUICE_CODEC_ZSTD});
    m_kernels |= kernelsOfImage(asset.parameters, asset.parameterSize);
    return m_records.get();
}

SluiceArchiveAsset Records::assetOf(uint32_t asset) const
{
    SluiceArchiveAsset info = {};
    // This cannot fail, because the index was checked, and callers check the number.
    sluiceGetArchiveAsset(m_archive, m_index->data(), m_index->size(), asset, &info);
    return info;
}

// Converts the records of an extent, which were read to rawRecords(to), to `to`. Errors: FORMAT,
// VERSION, and those of sluiceAddTile.
SluiceStatus Records::parse(const SluiceArchiveAsset& asset, TileRecord* to)
{
    const std::lock_guard<std::mutex> lock(m_parsing);
    SluiceArchiveTileReader reader = {};
    SluiceStatus status = sluiceBeginArchiveTiles(&asset, &reader);
    if (status == SLUICE_OK) status = sluiceTakeEqualArchiveTiles(&reader);
    if (status == SLUICE_OK && asset.tileParameterSize != 0) {
        const size_t word =
            size_t(static_cast<const uint8_t*>(asset.tileParameters) - m_parameters) / 4;
        status = sluiceRememberArchiveFilters(&reader, m_checkedFilters.data() + word,
                                              m_checkedFilters.size() - word);
    }
    const uint8_t* raw = rawRecords(to, asset.tileCount);
    SluiceArchiveTile tiles[kParsedAtOnce];
    for (uint32_t first = 0; first < asset.tileCount && status == SLUICE_OK;
         first += kParsedAtOnce) {
        const uint32_t count = std::min(asset.tileCount - first, kParsedAtOnce);
        const size_t size = size_t(count) * SLUICE_ARCHIVE_RECORD_SIZE;
        status = sluiceParseArchiveTiles(&reader, raw, size, count, tiles);
        raw += size;
        for (uint32_t i = 0; i < count && status == SLUICE_OK; ++i) {
            const SluiceArchiveTile& tile = tiles[i];
            *to++ = {asset.offset + tile.offset,
                     tile.outputOffset,
                     tile.storedSize,
                     tile.size,
                     tile.checksum,
                     tile.filterOffset & kFilterMask,
                     tile.codec & kCodecMask};
            SluiceTile one = {};
            SluiceTileTotals totals = {};
            status = sluiceGetArchiveTile(&asset, &tile, 0, 0, &one);
            if (status == SLUICE_OK) status = sluiceAddTile(&totals, &one);
        }
    }
    // To callers CHECKSUM would mean that a tile is damaged, but here the records are damaged.
    return status == SLUICE_ERROR_CHECKSUM ? SLUICE_ERROR_FORMAT : status;
}

} // namespace sluice::stream
