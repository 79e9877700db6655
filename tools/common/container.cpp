// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/container.h"

#include <algorithm>
#include <utility>

#include <sluice/sluice_tiles.h>

#include "tools/common/shard.h"
#include "tools/common/zstd/zstd_file.h"

#include "formats/archive_layout.h"

namespace sluice {

namespace {

const Bytes kStreamStart = {0x04, 0xfb}, kArchiveStart = {0x8b, 'S', 'L', 'U', 'I', 'C', 'E', '\n'};

bool startsWith(const InputFile& file, const Bytes& start)
{
    return file.readStart(start.size()) == start;
}

[[noreturn]] void failParse(const std::string& place, SluiceStatus status)
{
    throw Failure{exitCodeOf(status),
                  place + ": " +
                      (status == SLUICE_ERROR_BUFFER_SIZE ? "the file is cut off"
                                                          : sluiceGetStatusText(status))};
}

} // namespace

bool Container::recognises(const InputFile& file)
{
    return startsWith(file, kStreamStart) || startsWith(file, kArchiveStart);
}

Container::Container(std::unique_ptr<InputFile> file) : m_file(std::move(file))
{
    if (m_file->size() == 0) throw Failure{exitFormat, m_file->name() + ": the file is empty"};
    m_isArchive = !startsWith(*m_file, kStreamStart);
    m_isArchive ? readArchive() : readStream();
}

void Container::readStream()
{
    const Bytes header = m_file->readStart(SLUICE_TILE_STREAM_HEADER_SIZE);
    SluiceStatus status = sluiceParseTileStreamHeader(header.data(), header.size(), &m_stream);
    if (status == SLUICE_OK) {
        Bytes table(std::min(m_file->size() - header.size(), uint64_t(m_stream.tileCount) * 4));
        m_file->read(header.size(), table.data(), table.size());
        table.reserve(1); // the parser wants a valid address even for an empty table
        m_tiles.resize(m_stream.tileCount);
        status = sluiceParseTileStreamTable(&m_stream, table.data(), table.size(), m_file->size(),
                                            m_tiles.data());
    }
    if (status == SLUICE_ERROR_VERSION)
        throw Failure{exitCodeOf(status),
                      m_file->name() + ": tile stream: its tile size index is " +
                          std::to_string(header[4] & 3) +
                          ", as in some other packages; only tile size index 1, tiles of 65,536 "
                          "bytes, can be decoded"};
    if (status != SLUICE_OK) failParse(m_file->name() + ": tile stream", status);
}

void Container::readArchive()
{
    const Bytes header = m_file->readStart(SLUICE_ARCHIVE_HEADER_SIZE);
    SluiceStatus status =
        sluiceParseArchiveHeader(header.data(), header.size(), m_file->size(), &m_archive);
    if (isShard(*m_file))
        throw Failure{exitFormat, m_file->name() +
                                      ": is a shard of pack --shard; sluice join makes "
                                      "an archive of all of them"};
    if (status == SLUICE_ERROR_FORMAT &&
        (header.size() < 8 || std::string(&header[1], &header[7]) != "SLUICE")) {
        throw Failure{exitFormat,
                      m_file->name() +
                          (ZstdFile::recognises(*m_file)
                               ? ": is a Zstandard file, and no .sluice archive or tile stream"
                               : ": neither a .sluice archive, a tile stream, a Zstandard file nor "
                                 "a .safetensors file")};
    }
    std::string place = m_file->name() + ": header, bytes 0 to 63";
    if (status == SLUICE_OK) {
        uint32_t badAsset = 0;
        place =
            m_file->name() + formatText(": index, from byte %llu on", wide(m_archive.indexOffset));
        Bytes stored(size_t(m_archive.storedIndexSize));
        m_file->read(m_archive.indexOffset, stored.data(), stored.size());
        m_index.resize(size_t(m_archive.indexSize));
        status = sluiceUnpackArchiveIndex(&m_archive, stored.data(), stored.size(), m_index.data(),
                                          m_index.size());
        if (status == SLUICE_OK)
            status = sluiceCheckArchiveIndex(&m_archive, m_index.data(), m_index.size(), &badAsset);
        else
            badAsset = 0xffffffffu;
        if (status != SLUICE_OK && badAsset != 0xffffffffu)
            place += formatText(", asset number %u, byte %llu", badAsset,
                                wide(m_archive.indexOffset + uint64_t(badAsset) * assetBytes));
    }
    if (status != SLUICE_OK) failParse(place, status);
}

uint64_t Container::decodedSize() const
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < assetCount(); ++i)
        size += asset(i).size;
    return size;
}

SluiceArchiveAsset Container::archiveAsset(uint32_t number) const
{
    SluiceArchiveAsset info = {};
    // This cannot fail: the index was checked.
    sluiceGetArchiveAsset(&m_archive, m_index.data(), m_index.size(), number, &info);
    return info;
}

ContainerAsset Container::asset(uint32_t number) const
{
    if (!m_isArchive) return {"", m_stream.size, m_stream.tileCount};
    const SluiceArchiveAsset info = archiveAsset(number);
    return {std::string(info.name, info.nameLength), info.size, info.tileCount};
}

uint32_t Container::kernelsOf(const std::vector<uint32_t>& assets) const
{
    constexpr uint32_t all = SLUICE_KERNELS_GDEFLATE_LINEAR | SLUICE_KERNELS_GSTD |
                             SLUICE_KERNELS_FLOAT | SLUICE_KERNELS_FILTER |
                             SLUICE_KERNELS_CHECKSUM | SLUICE_KERNELS_ZSTD;
    // Only the tile records say which kernels are needed, and the decoder reads them once more
    // later. For up to kMostAssets assets the additional reading takes no noticeable time.
    constexpr size_t kMostAssets = 10000;
    if (assets.size() > kMostAssets) return all;
    uint32_t needed = 0;
    try {
        for (const uint32_t asset : assets)
            forEachOwnTile(asset, [&](uint32_t, const ContainerTile& tile) {
                SluiceTileTotals totals = {};
                const SluiceTile one = {0,
                                        0,
                                        tile.storedSize,
                                        tile.size,
                                        tile.codec,
                                        tile.checksum,
                                        tile.filter,
                                        tile.filterSize};
                needed |= sluiceAddTile(&totals, &one) == SLUICE_OK ? sluiceGetTilesKernels(&totals)
                                                                    : all;
            });
    } catch (const Failure&) {
        return all; // the decoder will report what is wrong
    }
    return needed != 0 ? needed : +SLUICE_KERNELS_CHECKSUM;
}

std::string Container::place(uint32_t number) const
{
    return m_isArchive ? m_file->name() + ": asset '" + asset(number).name + "'" : m_file->name();
}

std::string Container::tilePlace(uint32_t number, const ContainerTile& tile)
{
    return formatText("tile %u, bytes %llu to %llu", number, wide(tile.offset),
                      wide(tile.offset + tile.storedSize - 1));
}

void Container::readRecords(
    uint32_t number, const std::function<void(uint32_t, const SluiceArchiveTile&)>& call) const
{
    constexpr uint32_t batch = 4096;
    const SluiceArchiveAsset info = archiveAsset(number);
    SluiceArchiveTileReader reader = {};
    sluiceBeginArchiveTiles(&info, &reader);
    sluiceTakeEqualArchiveTiles(&reader);
    if (info.tileParameterSize >= 4) { // the asset's tiles may have filters
        // `checked` notes which filter descriptions of a parameter block have been checked. Assets
        // with the same block use the same notes, so each description is checked only once.
        Bytes& checked = m_checkedFilters[info.tileParameters];
        checked.resize(info.tileParameterSize / 4);
        sluiceRememberArchiveFilters(&reader, checked.data(), checked.size());
    }
    Bytes records;
    std::vector<SluiceArchiveTile> tiles(std::min(info.tileCount, batch));
    for (uint32_t first = 0; first < info.tileCount; first += batch) {
        const uint32_t count = std::min(batch, info.tileCount - first);
        records.resize(size_t(count) * SLUICE_ARCHIVE_RECORD_SIZE);
        m_file->read(info.offset + uint64_t(first) * SLUICE_ARCHIVE_RECORD_SIZE, records.data(),
                     records.size());
        const SluiceStatus status =
            sluiceParseArchiveTiles(&reader, records.data(), records.size(), count, tiles.data());
        if (status != SLUICE_OK) {
            const uint32_t bad = status == SLUICE_ERROR_FORMAT ? reader.next : 0;
            const uint64_t at = info.offset + uint64_t(bad) * SLUICE_ARCHIVE_RECORD_SIZE;
            throw Failure{exitCodeOf(status),
                          place(number) +
                              (status == SLUICE_ERROR_FORMAT ? formatText(", tile %u", bad) : "") +
                              formatText(": tile records, from byte %llu on: ", wide(at)) +
                              sluiceGetStatusText(status)};
        }
        for (uint32_t i = 0; call && i < count; ++i)
            call(first + i, tiles[i]);
    }
}

uint64_t Container::storedSize(uint32_t number) const
{
    uint64_t begin = 0, end = UINT64_MAX;
    if (m_isArchive && archiveAsset(number).share != SLUICE_ARCHIVE_NO_SHARE) {
        const SluiceArchiveAsset info = archiveAsset(number);
        begin = info.tilesOffset;
        end = alignUp(begin + info.size, kPartAlignment);
    }
    uint64_t stored = 0;
    uint64_t storedEnd = m_isArchive ? archiveAsset(number).offset : 0;
    forEachOwnTile(number, [&](uint32_t, const ContainerTile& tile) {
        if (tile.offset < storedEnd) return; // stored for an earlier tile, and counted for that one
        storedEnd = tile.offset + tile.storedSize;
        // Converts an offset in the decoded output to stored bytes of this tile, rounded down. Two
        // assets that meet in a tile convert the same offset, so the stored bytes of all assets in
        // the tile add up to the tile's stored size.
        const auto storedTo = [&](uint64_t output) {
            const uint64_t inside = output <= tile.outputOffset
                                        ? 0
                                        : std::min<uint64_t>(output - tile.outputOffset, tile.size);
            return uint64_t(tile.storedSize) * inside / tile.size;
        };
        stored += storedTo(end) - storedTo(begin);
    });
    return stored;
}

std::optional<uint32_t> Container::find(const std::string& name) const
{
    uint32_t number = 0;
    // This cannot fail: the index was checked.
    sluiceFindArchiveAsset(&m_archive, m_index.data(), m_index.size(), name.data(), name.size(),
                           &number);
    return number < m_archive.assetCount ? std::optional(number) : std::nullopt;
}

std::vector<uint32_t> Container::order() const
{
    std::vector<uint32_t> assets(assetCount());
    // This cannot fail: the index was checked.
    sluiceGetArchiveOrder(&m_archive, m_index.data(), m_index.size(), assets.data());
    return assets;
}

std::vector<SluiceArchiveTile> Container::records(uint32_t number) const
{
    std::vector<SluiceArchiveTile> tiles;
    // A false tileCount cannot ask for much memory: the file really has this many records.
    tiles.reserve(archiveAsset(number).tileCount);
    readRecords(number, [&](uint32_t, const SluiceArchiveTile& tile) { tiles.push_back(tile); });
    return tiles;
}

void Container::forEachTile(uint32_t number,
                            const std::function<void(uint32_t, const ContainerTile&)>& call) const
{
    if (!m_isArchive) {
        for (uint32_t i = 0; i < m_stream.tileCount; ++i)
            call(i, {m_tiles[i].offset, m_tiles[i].compressedSize, m_tiles[i].size,
                     SLUICE_CODEC_GDEFLATE, 0, nullptr, 0, uint64_t(i) * SLUICE_GD_TILE_BYTES});
        return;
    }
    const SluiceArchiveAsset info = archiveAsset(number);
    if (info.share != SLUICE_ARCHIVE_NO_SHARE) {
        const std::vector<ContainerTile>& tiles = shareTiles(number);
        for (uint32_t i = 0; i < tiles.size(); ++i)
            call(i, tiles[i]);
        return;
    }
    readTiles(number, call);
}

void Container::forEachOwnTile(
    uint32_t number, const std::function<void(uint32_t, const ContainerTile&)>& call) const
{
    const SluiceArchiveAsset info = m_isArchive ? archiveAsset(number) : SluiceArchiveAsset{};
    if (!m_isArchive || info.share == SLUICE_ARCHIVE_NO_SHARE) return forEachTile(number, call);
    const std::vector<ContainerTile>& tiles = shareTiles(number);
    const auto isBefore = [&](const ContainerTile& tile) {
        return tile.outputOffset + tile.size <= info.tilesOffset;
    };
    auto tile = std::partition_point(tiles.begin(), tiles.end(), isBefore);
    for (; tile != tiles.end() && tile->outputOffset < info.tilesOffset + info.size; ++tile)
        call(uint32_t(tile - tiles.begin()), *tile);
}

// Asset `number` is in a share, a group of assets that are stored in the same tiles. Returns these
// tiles. They are cached, because the other assets of the share ask for them too.
const std::vector<ContainerTile>& Container::shareTiles(uint32_t number) const
{
    const auto [found, isNew] = m_shareTiles.try_emplace(archiveAsset(number).share);
    if (isNew) {
        std::vector<ContainerTile> tiles;
        try {
            readTiles(number, [&](uint32_t, const ContainerTile& tile) { tiles.push_back(tile); });
        } catch (...) {
            m_shareTiles.erase(found);
            throw;
        }
        found->second = std::move(tiles);
    }
    return found->second;
}

void Container::readTiles(uint32_t number,
                          const std::function<void(uint32_t, const ContainerTile&)>& call) const
{
    // The records are read twice. The caller may get no tile before the records' checksum is found
    // to be right, and the checksum is complete only after the last record.
    const SluiceArchiveAsset info = archiveAsset(number);
    readRecords(number, {});
    readRecords(number, [&](uint32_t i, const SluiceArchiveTile& tile) {
        ContainerTile found = {info.offset + tile.offset,
                               tile.storedSize,
                               tile.size,
                               tile.codec,
                               tile.checksum,
                               nullptr,
                               0,
                               tile.outputOffset};
        SluiceTile whole = {};
        // This cannot fail: the filter's offset was checked.
        sluiceGetArchiveTile(&info, &tile, 0, 0, &whole);
        found.filter = whole.filter;
        found.filterSize = whole.filterSize;
        call(i, found);
    });
}

} // namespace sluice
