// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/ktx2_levels.h"

#include <algorithm>
#include <cstring>

#include "formats/image.h"

namespace sluice::stream {

namespace {

// Clamps a level's size to 32 bits. That is harmless: a level of 4 GiB or more is larger than any
// unit, so requests for it are refused.
uint32_t clamped(uint64_t size) { return uint32_t(std::min<uint64_t>(size, UINT32_MAX)); }

} // namespace

bool Ktx2Levels::isKtx2(const uint8_t* start, uint64_t size)
{
    return size >= kKtx2MagicSize && std::memcmp(start, kKtx2Magic, kKtx2MagicSize) == 0;
}

SluiceStatus Ktx2Levels::parse(const uint8_t* start, uint64_t size, uint64_t fileSize)
{
    SluiceStatus status =
        sluiceParseImage(start, size_t(size), fileSize, &m_info, m_stored, nullptr);
    if (status != SLUICE_OK) return status;
    if (!isPlain() && m_info.scheme != SLUICE_IMAGE_SCHEME_ZSTD) return SLUICE_ERROR_UNSUPPORTED;
    std::copy_n(m_stored, m_info.levels, m_levels);
    m_fileSize = m_assetSize = fileSize;
    if (!isPlain())
        status = placePlainLevels(m_info, ktx2MetadataEnd(start, m_info), m_levels, m_assetSize);
    if (status != SLUICE_OK) return status;
    SluiceImageInfo plain = m_info;
    plain.scheme = SLUICE_IMAGE_SCHEME_NONE;
    return sluiceMakeArchiveImageItem(&plain, m_levels, m_item, &m_itemSize);
}

SluiceArchive Ktx2Levels::archive() const
{
    SluiceArchive archive = {};
    archive.assetCount = 1;
    archive.fileSize = m_fileSize;
    archive.tileCount = isPlain() ? 0 : m_info.levels;
    return archive;
}

SluiceArchiveAsset Ktx2Levels::asset() const
{
    SluiceArchiveAsset asset = {};
    asset.name = SLUICE_STREAM_KTX2_NAME;
    asset.nameLength = uint32_t(std::strlen(SLUICE_STREAM_KTX2_NAME));
    asset.type = SLUICE_ASSET_IMAGE;
    asset.size = asset.tilesSize = m_assetSize;
    asset.extentSize = m_fileSize;
    asset.tileCount = isPlain() ? 0 : m_info.levels;
    asset.parameters = m_item;
    asset.parameterSize = m_itemSize;
    asset.share = SLUICE_ARCHIVE_NO_SHARE;
    return asset;
}

bool Ktx2Levels::isInOneLevel(uint64_t offset, uint64_t size) const
{
    for (uint32_t i = 0; i < m_info.levels; ++i) {
        const SluiceImageLevel& level = m_levels[i];
        if (offset >= level.offset && offset - level.offset <= level.decodedSize &&
            size <= level.decodedSize - (offset - level.offset))
            return true;
    }
    return size == 0;
}

void Ktx2Levels::fillRecords(TileRecord* records) const
{
    for (uint32_t level = m_info.levels; !isPlain() && level-- != 0;) {
        TileRecord& record = *records++;
        record = {};
        record.offset = m_stored[level].offset;
        record.outputOffset = m_levels[level].offset;
        record.storedSize = clamped(m_stored[level].size);
        record.size = clamped(m_levels[level].decodedSize);
        record.codec = SLUICE_CODEC_ZSTD;
    }
}

} // namespace sluice::stream
