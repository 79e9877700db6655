// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/file.h"

#include <algorithm>
#include <cerrno>
#include <new>

using namespace sluice::stream;
using sluice::alignUp;

namespace {

constexpr uint32_t kRecordsAtOnce = 4096;
constexpr uint32_t kSizeMask = 0xffffff; // a record's size has 24 bits
constexpr uint64_t kMostRecords = uint64_t(1) << 32;

// Returns whether an error means that this way of reading does not suit the file, the memory or the
// system.
bool isUnfit(int error)
{
    return error == EINVAL || error == EFAULT || error == EPERM || error == ENOSYS ||
           error == EOPNOTSUPP;
}

} // namespace

SluiceStreamFile_T::SluiceStreamFile_T(SluiceStreamer streamer, const SluiceStreamOpenInfo& info,
                                       const System& withSystem, SluiceStreamIo withIo)
    : owner(streamer), system(withSystem), io(withIo), path(info.path != nullptr ? info.path : ""),
      isArchive(info.isArchive != 0), user(info.user)
{
    if (info.path != nullptr) return;
    hasInterface = true;
    functions = *info.functions;
}

SluiceStreamFile_T::~SluiceStreamFile_T()
{
    if (descriptor >= 0) system.close(descriptor);
    if (directDescriptor >= 0) system.close(directDescriptor);
    if (hasInterface && functions.close != nullptr) functions.close(functions.user);
}

ReadError SluiceStreamFile_T::read(uint64_t offset, void* bytes, uint64_t count) const
{
    uint8_t* to = static_cast<uint8_t*>(bytes);
    bool isRepeated = false;
    while (count != 0) {
        const int64_t got = hasInterface ? functions.read(functions.user, offset, to, count)
                                         : system.read(descriptor, to, count, offset);
        const int error = got >= 0 ? 0 : int(-got);
        if (error == EINTR) continue;
        if (error == EIO && !isRepeated) { // a disk error may be transient
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

// Reads past the page cache until at least `needed` bytes have come. The other arguments are
// multiples of the alignment. Returns false if the range has to be read in another way.
bool SluiceStreamFile_T::readDirect(uint64_t offset, uint8_t* bytes, uint64_t count,
                                    uint64_t needed) const
{
    uint64_t done = 0;
    while (done < needed) {
        const int64_t got =
            system.read(directDescriptor, bytes + done, count - done, offset + done);
        if (got == -EINTR) continue;
        if (got < 0 && isUnfit(int(-got))) {
            directError = int(-got);
            isDirect = false;
        }
        if (got <= 0 || uint64_t(got) > count - done) return false;
        if (done + uint64_t(got) >= needed) return true;
        // The next read must start at a multiple of the alignment too.
        const uint64_t resumed = (done + uint64_t(got)) / directAlignment * directAlignment;
        if (resumed == done) return false;
        done = resumed;
    }
    return true;
}

// Finds the part of a read that can bypass the page cache. It is the whole read if enough bytes on
// both sides of the destination may be overwritten. Otherwise it excludes the unaligned edges.
bool SluiceStreamFile_T::directPart(uint64_t offset, const uint8_t* bytes, uint64_t count,
                                    uint64_t before, uint64_t after, uint64_t& begin,
                                    uint64_t& end) const
{
    const uint64_t step = directAlignment;
    if (!isDirect || (uint64_t(reinterpret_cast<uintptr_t>(bytes)) - offset) % step != 0)
        return false;
    begin = offset / step * step;
    end = alignUp(offset + count, step);
    if (offset - begin > before) begin += step;
    if (end - (offset + count) > after) end -= step;
    return begin < end;
}

ReadError SluiceStreamFile_T::readInto(uint64_t offset, uint8_t* bytes, uint64_t count,
                                       uint64_t before, uint64_t after) const
{
    uint64_t begin = 0, end = 0;
    if (!directPart(offset, bytes, count, before, after, begin, end))
        return read(offset, bytes, count);
    uint8_t* const to = begin >= offset ? bytes + (begin - offset) : bytes - (offset - begin);
    if (!readDirect(begin, to, end - begin, std::min(end, offset + count) - begin))
        return read(offset, bytes, count);
    // Reads the edges through the page cache, where no bytes beside the destination may be
    // overwritten.
    ReadError error;
    if (begin > offset) error = read(offset, bytes, begin - offset);
    if (error.status == SLUICE_OK && end < offset + count)
        error = read(end, bytes + (end - offset), offset + count - end);
    return error;
}

bool SluiceStreamFile_T::asOneRead(uint64_t offset, uint8_t* bytes, uint64_t count, uint64_t before,
                                   uint64_t after, Read& one, uint64_t& needed) const
{
    if (hasInterface || count == 0) return false;
    uint64_t begin = 0, end = 0;
    if (!directPart(offset, bytes, count, before, after, begin, end)) {
        one = {descriptor, bytes, count, offset, 0};
        needed = count;
        return true;
    }
    one = {directDescriptor, bytes - (offset - begin), end - begin, begin, 0};
    needed = offset + count - begin;
    return begin <= offset && end >= offset + count;
}

// If this fails, the file can still be read through the page cache.
void SluiceStreamFile_T::openDirect()
{
    directDescriptor = system.open(path.c_str(), true);
    FileStatus one, other;
    if (directDescriptor < 0) {
        directError = -directDescriptor;
        return;
    }
    // The path may refer to another file by now.
    if (system.status(descriptor, one) != 0 || system.status(directDescriptor, other) != 0 ||
        one.device != other.device || one.number != other.number) {
        directError = kOtherFileError;
        return;
    }
    directAlignment = system.directAlignment(directDescriptor);
    if (directAlignment == 0)
        directError = EINVAL;
    else
        isDirect = true;
}

SluiceStreamIoReport SluiceStreamFile_T::ioReport() const
{
    if (hasInterface) return {SLUICE_STREAM_IO_AUTO, 0, 0, "the engine's own file"};
    if (isDirect) return {SLUICE_STREAM_IO_DIRECT, directAlignment, 0, ""};
    SluiceStreamIoReport report = {SLUICE_STREAM_IO_PREAD, 0, directError, ""};
    if (io == SLUICE_STREAM_IO_AUTO)
        report.reason = "the page cache is not clearly slower than direct reads";
    else if (io == SLUICE_STREAM_IO_PREAD)
        report.reason = "the streamer was created so";
    else if (directAlignment == 0)
        report.reason = "the file cannot be opened for direct reads";
    else
        report.reason = "a direct read failed";
    return report;
}

void SluiceStreamFile_T::open()
{
    status = SLUICE_OK;
    if (hasInterface) {
        size = functions.size;
    } else {
        FileStatus about;
        descriptor = system.open(path.c_str(), false);
        osError = descriptor < 0 ? -descriptor : -system.status(descriptor, about);
        if (osError == 0 && !about.isRegular) osError = EINVAL;
        if (osError != 0) status = SLUICE_ERROR_IO;
        size = about.size;
        if (osError == 0 && io == SLUICE_STREAM_IO_DIRECT) openDirect();
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
    if (result == SLUICE_OK)
        result = sluiceParseArchiveHeader(header, size_t(start), size, &archive);
    if (result != SLUICE_OK) return result;
    {
        std::vector<uint8_t> stored(size_t(archive.storedIndexSize));
        index.resize(size_t(archive.indexSize));
        result = load(archive.indexOffset, stored.data(), stored.size());
        if (result == SLUICE_OK)
            result = sluiceUnpackArchiveIndex(&archive, stored.data(), stored.size(), index.data(),
                                              index.size());
    }
    if (result == SLUICE_OK)
        result = sluiceCheckArchiveIndex(&archive, index.data(), index.size(), nullptr);
    if (result != SLUICE_OK) return result;
    // The check of the index has ensured that the file has room for the records of all tiles. Only
    // these limits remain.
    if (archive.tileCount >= std::min<uint64_t>(kMostRecords, allRecords.max_size()))
        return SLUICE_ERROR_OUT_OF_MEMORY;
    assetTiles.resize(archive.assetCount);
    std::vector<uint64_t> shares(archive.shareCount); // first record of each share
    uint64_t known = 0;
    for (uint32_t number = 0; number < archive.assetCount; ++number) {
        const SluiceArchiveAsset info = asset(number);
        const bool isFirst = info.tilesOffset == 0; // the first asset of its share, by name
        const uint64_t first = isFirst ? known : shares[info.share];
        assetTiles[number] = {first,
                              info.size,
                              info.tilesOffset,
                              info.tileParameters,
                              uint32_t(info.tileParameterSize),
                              info.tileCount};
        if (isFirst) known += info.tileCount;
        if (info.share != SLUICE_ARCHIVE_NO_SHARE) shares[info.share] = first;
    }
    allRecords.resize(size_t(known));
    std::vector<uint8_t> checkedFilters(index.size() / 4 + 1); // one per word of the index
    for (uint32_t number = 0; number < archive.assetCount && result == SLUICE_OK; ++number)
        if (asset(number).tilesOffset == 0) result = readRecords(number, checkedFilters);
    return result;
}

SluiceStatus SluiceStreamFile_T::readRecords(uint32_t number, std::vector<uint8_t>& checkedFilters)
{
    const SluiceArchiveAsset info = asset(number);
    TileRecord* to = allRecords.data() + assetTiles[number].firstRecord;
    SluiceArchiveTileReader reader = {};
    SluiceStatus result = sluiceBeginArchiveTiles(&info, &reader);
    if (result == SLUICE_OK && info.tileParameterSize != 0) {
        const auto* parameters = static_cast<const uint8_t*>(info.tileParameters);
        const size_t word = size_t(parameters - index.data()) / 4;
        result = sluiceRememberArchiveFilters(&reader, checkedFilters.data() + word,
                                              checkedFilters.size() - word);
    }
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
    // This cannot fail, because the index was checked, and callers check the number.
    sluiceGetArchiveAsset(&archive, index.data(), index.size(), number, &info);
    return info;
}
