// SPDX-License-Identifier: MIT OR Apache-2.0
#include "file.h"

#include <algorithm>
#include <cerrno>
#include <new>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sluice::stream;

namespace {

constexpr uint32_t kRecordsAtOnce = 4096;
constexpr uint32_t kSizeMask = 0xffffff; // a record holds no larger size
constexpr uint64_t kMostRecords = uint64_t(1) << 32;

} // namespace

SluiceStreamFile_T::SluiceStreamFile_T(SluiceStreamer owner_, const SluiceStreamOpenInfo& info)
    : owner(owner_), path(info.path != nullptr ? info.path : ""), isArchive(info.isArchive != 0),
      user(info.user)
{
    if (info.path != nullptr) return;
    hasInterface = true;
    interface_ = *info.interface_;
}

SluiceStreamFile_T::~SluiceStreamFile_T()
{
    if (descriptor >= 0) close(descriptor);
    if (hasInterface && interface_.close != nullptr) interface_.close(interface_.user);
}

ReadError SluiceStreamFile_T::read(uint64_t offset, void* bytes, uint64_t count) const
{
    uint8_t* to = static_cast<uint8_t*>(bytes);
    bool isRepeated = false;
    while (count != 0) {
        const int64_t got = hasInterface
                                ? interface_.read(interface_.user, offset, to, count)
                                : int64_t(pread(descriptor, to, size_t(count), off_t(offset)));
        const int error = got >= 0 ? 0 : hasInterface ? int(-got) : errno;
        if (error == EINTR) continue;
        if (error == EIO && !isRepeated) { // a disk may manage it the second time
            isRepeated = true;
            continue;
        }
        if (error != 0 || got == 0 || uint64_t(got) > count)
            return {SLUICE_ERROR_IO, error, offset};
        offset += uint64_t(got);
        to += got;
        count -= uint64_t(got);
    }
    return {};
}

void SluiceStreamFile_T::open()
{
    status = SLUICE_OK;
    if (hasInterface) {
        size = interface_.size;
    } else {
        struct stat about = {};
        descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor < 0 || fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
            osError = descriptor < 0 || errno != 0 ? errno : EINVAL;
            status = SLUICE_ERROR_IO;
        } else {
            size = uint64_t(about.st_size);
        }
    }
    if (status == SLUICE_OK && isArchive) {
        try {
            status = openArchive();
        } catch (const std::bad_alloc&) {
            status = SLUICE_ERROR_OUT_OF_MEMORY;
        }
    }
    state.store(status == SLUICE_OK ? isOpen : failed, std::memory_order_release);
}

SluiceStatus SluiceStreamFile_T::openArchive()
{
    uint8_t header[SLUICE_ARCHIVE_HEADER_SIZE] = {};
    const auto load = [this](uint64_t offset, void* bytes, uint64_t count) {
        const ReadError error = read(offset, bytes, count);
        osError = error.osError;
        return error.status;
    };
    const uint64_t start = std::min<uint64_t>(size, sizeof header);
    SluiceStatus result = load(0, header, start);
    if (result == SLUICE_OK) result = sluiceParseArchiveHeader(header, start, size, &archive);
    if (result != SLUICE_OK) return result;
    index.resize(size_t(archive.indexSize));
    result = load(archive.indexOffset, index.data(), index.size());
    if (result == SLUICE_OK)
        result = sluiceCheckArchiveIndex(&archive, index.data(), index.size(), nullptr);
    if (result != SLUICE_OK) return result;
    // The index says no more tiles than the file has room for records of.
    if (archive.tileCount >= kMostRecords) return SLUICE_ERROR_OUT_OF_MEMORY;
    firstRecords.resize(size_t(archive.assetCount) + 1);
    for (uint32_t number = 0; number < archive.assetCount; ++number)
        firstRecords[number + 1] = firstRecords[number] + asset(number).tileCount;
    allRecords.resize(size_t(firstRecords.back()));
    for (uint32_t number = 0; number < archive.assetCount && result == SLUICE_OK; ++number)
        result = readRecords(number);
    return result;
}

SluiceStatus SluiceStreamFile_T::readRecords(uint32_t number)
{
    const SluiceArchiveAsset info = asset(number);
    TileRecord* to = allRecords.data() + firstRecords[number];
    SluiceArchiveTileReader reader = {};
    SluiceStatus result = sluiceBeginArchiveTiles(&info, &reader);
    std::vector<uint8_t> bytes(size_t(std::min(info.tileCount, kRecordsAtOnce)) *
                               SLUICE_ARCHIVE_RECORD_SIZE);
    std::vector<SluiceArchiveTile> tiles(std::min(info.tileCount, kRecordsAtOnce));
    SluiceTileTotals totals = {};
    for (uint32_t first = 0; first < info.tileCount && result == SLUICE_OK;
         first += kRecordsAtOnce) {
        const uint32_t count = std::min(info.tileCount - first, kRecordsAtOnce);
        const size_t wanted = size_t(count) * SLUICE_ARCHIVE_RECORD_SIZE;
        const ReadError error =
            read(info.offset + uint64_t(first) * SLUICE_ARCHIVE_RECORD_SIZE, bytes.data(), wanted);
        osError = error.osError;
        result = error.status;
        if (result == SLUICE_OK)
            result = sluiceParseArchiveTiles(&reader, bytes.data(), wanted, count, tiles.data());
        for (uint32_t i = 0; i < count && result == SLUICE_OK; ++i) {
            const SluiceArchiveTile& tile = tiles[i];
            *to++ = {info.offset + tile.offset, tile.outputOffset,   tile.storedSize,
                     tile.size & kSizeMask,     uint8_t(tile.codec), tile.checksum,
                     tile.filterOffset};
            SluiceTile one = {};
            result = sluiceGetArchiveTile(&info, &tile, 0, 0, &one);
            totals = {};
            if (result == SLUICE_OK) result = sluiceAddTile(&totals, &one);
            kernels |= sluiceGetTilesKernels(&totals);
        }
    }
    return result;
}

SluiceArchiveAsset SluiceStreamFile_T::asset(uint32_t number) const
{
    SluiceArchiveAsset info = {};
    // This cannot fail: the index was checked, and callers check the number.
    sluiceGetArchiveAsset(&archive, index.data(), index.size(), number, &info);
    return info;
}
