// SPDX-License-Identifier: MIT OR Apache-2.0
#include "container.h"

#include <algorithm>
#include <utility>

#include "formats/archive_layout.h"
#include "tool.h"

namespace sluice {

Container::Container(std::unique_ptr<InputFile> file) : file_(std::move(file))
{
    uint8_t start[2] = {};
    if (file_->size() == 0) {
        throw Failure{exitFormat, file_->name() + ": the file is empty"};
    }
    file_->read(0, start, std::min<uint64_t>(file_->size(), 2));
    if (start[0] == 0x04 && start[1] == 0xfb) {
        readStream();
    } else {
        readArchive();
    }
}

void Container::readStream()
{
    uint8_t header[SLUICE_TILE_STREAM_HEADER_SIZE];
    const size_t headerSize = std::min<uint64_t>(file_->size(), sizeof(header));
    file_->read(0, header, headerSize);
    SluiceStatus status = sluiceParseTileStreamHeader(header, headerSize, &stream_);
    if (status == SLUICE_OK) {
        std::vector<uint8_t> table(
            std::min<uint64_t>(file_->size() - headerSize, uint64_t(stream_.tileCount) * 4));
        file_->read(headerSize, table.data(), table.size());
        if (table.empty())
            table.reserve(1); // no table at all is for the parser to say, which
                              // wants an address
        tiles_.resize(stream_.tileCount);
        status = sluiceParseTileStreamTable(&stream_, table.data(), table.size(), file_->size(),
                                            tiles_.data());
    }
    if (status != SLUICE_OK) {
        const char* what = status == SLUICE_ERROR_BUFFER_SIZE ? "the file is cut off"
                                                              : sluiceGetStatusText(status);
        throw Failure{exitCodeOf(status), file_->name() + ": tile stream: " + what};
    }
}

void Container::readArchive()
{
    uint8_t header[SLUICE_ARCHIVE_HEADER_SIZE];
    const size_t headerSize = std::min<uint64_t>(file_->size(), sizeof(header));
    file_->read(0, header, headerSize);
    SluiceStatus status = sluiceParseArchiveHeader(header, headerSize, file_->size(), &archive_);
    if (status == SLUICE_ERROR_FORMAT &&
        (headerSize < 8 || std::string(header + 1, header + 7) != "SLUICE")) {
        throw Failure{exitFormat,
                      file_->name() +
                          ": neither a .sluice archive, a tile stream nor a .safetensors file"};
    }
    std::string place = "header";
    if (status == SLUICE_OK) {
        uint32_t badAsset = 0;
        place = "index";
        index_.resize(size_t(archive_.indexSize));
        file_->read(archive_.indexOffset, index_.data(), index_.size());
        status = sluiceCheckArchiveIndex(&archive_, index_.data(), index_.size(), &badAsset);
        if (status != SLUICE_OK && badAsset != 0xffffffffu) {
            place += formatText(", asset number %u", badAsset);
        }
    }
    if (status != SLUICE_OK) {
        const char* what = status == SLUICE_ERROR_BUFFER_SIZE ? "the file is cut off"
                                                              : sluiceGetStatusText(status);
        throw Failure{exitCodeOf(status), file_->name() + ": " + place + ": " + what};
    }
    isArchive_ = true;
}

uint64_t Container::decodedSize() const
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < assetCount(); ++i) {
        size += asset(i).size;
    }
    return size;
}

SluiceArchiveAsset Container::archiveAsset(uint32_t number) const
{
    SluiceArchiveAsset info = {};
    // cannot fail: the index was checked
    sluiceGetArchiveAsset(&archive_, index_.data(), index_.size(), number, &info);
    return info;
}

ContainerAsset Container::asset(uint32_t number) const
{
    if (!isArchive_) {
        return {"", stream_.size, stream_.tileCount};
    }
    const SluiceArchiveAsset info = archiveAsset(number);
    return {std::string(info.name, info.nameLength), info.size, info.tileCount};
}

std::string Container::place(uint32_t number) const
{
    return isArchive_ ? file_->name() + ": asset '" + asset(number).name + "'" : file_->name();
}

void Container::readRecords(
    uint32_t number, const std::function<void(uint32_t, const SluiceArchiveTile&)>& call) const
{
    constexpr uint32_t batch = 4096;
    const SluiceArchiveAsset info = archiveAsset(number);
    SluiceArchiveTileReader reader = {};
    sluiceBeginArchiveTiles(&info, &reader);
    std::vector<uint8_t> records;
    std::vector<SluiceArchiveTile> tiles(std::min(info.tileCount, batch));
    for (uint32_t first = 0; first < info.tileCount; first += batch) {
        const uint32_t count = std::min(batch, info.tileCount - first);
        records.resize(size_t(count) * SLUICE_ARCHIVE_RECORD_SIZE);
        file_->read(info.offset + uint64_t(first) * SLUICE_ARCHIVE_RECORD_SIZE, records.data(),
                    records.size());
        const SluiceStatus status =
            sluiceParseArchiveTiles(&reader, records.data(), records.size(), count, tiles.data());
        if (status != SLUICE_OK) {
            const std::string tile =
                status == SLUICE_ERROR_FORMAT ? formatText(", tile %u", reader.next) : "";
            throw Failure{exitCodeOf(status),
                          place(number) + tile + ": tile records: " + sluiceGetStatusText(status)};
        }
        for (uint32_t i = 0; call && i < count; ++i) {
            call(first + i, tiles[i]);
        }
    }
}

void Container::forEachTile(uint32_t number,
                            const std::function<void(uint32_t, const ContainerTile&)>& call) const
{
    if (!isArchive_) {
        for (uint32_t i = 0; i < stream_.tileCount; ++i) {
            call(i, {tiles_[i].offset, tiles_[i].compressedSize, tiles_[i].size,
                     SLUICE_CODEC_GDEFLATE, 0, nullptr, 0});
        }
        return;
    }
    // Twice: the checksum of the records is known to be right only after the last of them.
    const SluiceArchiveAsset info = archiveAsset(number);
    readRecords(number, {});
    readRecords(number, [&](uint32_t i, const SluiceArchiveTile& tile) {
        ContainerTile found = {info.offset + tile.offset,
                               tile.storedSize,
                               tile.size,
                               tile.codec,
                               tile.checksum,
                               nullptr,
                               0};
        if (tile.filterOffset != 0) { // which has been checked; the item's head is two u16 and the
                                      // size
            const uint8_t* item =
                static_cast<const uint8_t*>(info.parameters) + tile.filterOffset - 4;
            found.filter = item + 8;
            found.filterSize = loadLe32(item + 4);
        }
        call(i, found);
    });
}

} // namespace sluice
