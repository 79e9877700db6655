// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/file.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <string_view>

using namespace sluice::stream;
using sluice::alignUp;

namespace {

// Returns whether an error means that direct reads do not work with the file, the memory or the
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

// Reads past the page cache until at least `needed` bytes have come. The offset, the address and
// the count must be multiples of directAlignment. Returns false if the range has to be read in
// another way.
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

// Finds the part [begin, end) of a read, as file offsets, that can bypass the page cache. before,
// after: bytes on each side of the destination that may be overwritten. If they suffice for
// alignment, it is the whole read; otherwise it excludes the unaligned edges. Returns false if it
// is empty.
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
    // If no bytes beside the destination may be overwritten, the direct read has left out the
    // unaligned edges of the destination. They are read through the page cache.
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

// Opens the file a second time, for direct reads. If this fails, the file can still be read through
// the page cache.
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
            status = openIndexed();
        } catch (const std::bad_alloc&) {
            status = SLUICE_ERROR_OUT_OF_MEMORY;
        }
    }
    state.store(status == SLUICE_OK ? isOpen : failed, std::memory_order_release);
}

SluiceStatus SluiceStreamFile_T::load(uint64_t offset, void* bytes, uint64_t count)
{
    const ReadError error = read(offset, bytes, count);
    osError = error.osError;
    return error.status;
}

// Opens an archive or a KTX2 file. One read suffices for the header of either, and for the level
// index.
SluiceStatus SluiceStreamFile_T::openIndexed()
{
    static_assert(SLUICE_IMAGE_START_SIZE >= SLUICE_ARCHIVE_HEADER_SIZE);
    uint8_t start[SLUICE_IMAGE_START_SIZE] = {};
    const uint64_t startSize = std::min<uint64_t>(size, sizeof start);
    const SluiceStatus result = load(0, start, startSize);
    if (result != SLUICE_OK) return result;
    return Ktx2Levels::isKtx2(start, startSize) ? openKtx2(start, startSize)
                                                : openArchive(start, startSize);
}

SluiceStatus SluiceStreamFile_T::openKtx2(const uint8_t* start, uint64_t startSize)
{
    auto levels = std::make_unique<Ktx2Levels>();
    const SluiceStatus result = levels->parse(start, startSize, size);
    if (result != SLUICE_OK) return result;
    archive = levels->archive();
    levels->fillRecords(tileRecords.beginKnown(levels->asset()));
    const bool isDecodable =
        levels->isPlain() || (tileRecords.kernels() & SLUICE_KERNELS_ZSTD) != 0;
    ktx2 = std::move(levels);
    return isDecodable ? SLUICE_OK : SLUICE_ERROR_UNSUPPORTED; // the build lacks the codec
}

SluiceStatus SluiceStreamFile_T::openArchive(const uint8_t* start, uint64_t startSize)
{
    SluiceStatus result = sluiceParseArchiveHeader(start, size_t(startSize), size, &archive);
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
    return result == SLUICE_OK ? tileRecords.begin(archive, index) : result;
}

SluiceStatus SluiceStreamFile_T::findAsset(const char* name, size_t nameLength,
                                           uint32_t& number) const
{
    if (ktx2 == nullptr)
        return sluiceFindArchiveAsset(&archive, index.data(), index.size(), name, nameLength,
                                      &number);
    number = std::string_view(name, nameLength) == SLUICE_STREAM_KTX2_NAME ? 0 : kNone;
    return SLUICE_OK;
}

SluiceStatus SluiceStreamFile_T::getAsset(uint32_t number, SluiceArchiveAsset& info) const
{
    if (ktx2 == nullptr)
        return sluiceGetArchiveAsset(&archive, index.data(), index.size(), number, &info);
    info = ktx2->asset();
    return SLUICE_OK;
}

void SluiceStreamFile_T::readRecords(uint32_t number)
{
    tileRecords.read(number, [this](uint64_t offset, void* bytes, uint64_t count) {
        return read(offset, bytes, count);
    });
}
