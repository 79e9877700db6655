// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/system.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/eventfd.h>
#endif

namespace sluice::stream {

const int kOtherFileError = ESTALE;

const System& operatingSystem()
{
    static const System one;
    return one;
}

int System::open(const char* path, bool isDirect) const
{
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    if (isDirect) {
#ifdef O_DIRECT
        flags |= O_DIRECT;
#else
        return -EINVAL;
#endif
    }
    const int descriptor = ::open(path, flags);
    return descriptor >= 0 ? descriptor : -errno;
}

void System::close(int descriptor) const { ::close(descriptor); }

int System::status(int descriptor, FileStatus& status) const
{
    struct stat about = {};
    if (fstat(descriptor, &about) != 0) return -errno;
    status = {S_ISREG(about.st_mode), uint64_t(about.st_size), uint64_t(about.st_dev),
              uint64_t(about.st_ino)};
    return 0;
}

int64_t System::read(int descriptor, void* bytes, uint64_t size, uint64_t offset) const
{
    const ssize_t got = pread(descriptor, bytes, size_t(size), off_t(offset));
    return got >= 0 ? int64_t(got) : -int64_t(errno);
}

void System::readMany(Read* reads, uint32_t count) const
{
    for (Read* one = reads; one != reads + count; ++one)
        one->got = read(one->descriptor, one->bytes, one->size, one->offset);
}

bool System::readsTogether() const { return false; }

void* mapMemory(uint64_t size, uint64_t alignment)
{
    if (size > SIZE_MAX - alignment) return nullptr;
    // Maps more than is needed and unmaps both ends, so that the rest is aligned.
    void* mapped = mmap(nullptr, size_t(size + alignment), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    uint8_t* start = static_cast<uint8_t*>(mapped);
    const uint64_t before =
        (alignment - reinterpret_cast<uintptr_t>(start) % alignment) % alignment;
    if (before != 0) munmap(start, size_t(before));
    if (before != alignment) munmap(start + before + size, size_t(alignment - before));
#ifdef MADV_HUGEPAGE
    madvise(start + before, size_t(size), MADV_HUGEPAGE); // without effect if the system has none
#endif
    return start + before;
}

void unmapMemory(void* memory, uint64_t size) { munmap(memory, size_t(size)); }

#ifdef __linux__

uint32_t System::directAlignment(int descriptor) const
{
#ifdef STATX_DIOALIGN
    struct statx about = {};
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) == 0 &&
        (about.stx_mask & STATX_DIOALIGN) != 0) {
        uint32_t alignment = about.stx_dio_offset_align;
        if (alignment != 0 && about.stx_dio_mem_align > alignment)
            alignment = about.stx_dio_mem_align;
        const bool isPower = (alignment & (alignment - 1)) == 0;
        return isPower && alignment <= kMaxAlignment ? alignment : 0;
    }
#endif
    (void)descriptor;
    return kUsualAlignment;
}

int openEvent() { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

bool setEvent(int event)
{
    const uint64_t one = 1;
    return write(event, &one, sizeof one) == ssize_t(sizeof one);
}

bool resetEvent(int event)
{
    uint64_t told = 0;
    return read(event, &told, sizeof told) == ssize_t(sizeof told);
}

void closeEvent(int event) { close(event); }

#else

uint32_t System::directAlignment(int) const { return 0; }
int openEvent() { return -1; }
bool setEvent(int) { return false; }
bool resetEvent(int) { return false; }
void closeEvent(int) {}

#endif

} // namespace sluice::stream
