// SPDX-License-Identifier: MIT OR Apache-2.0
#include "system.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/io_uring.h>
#include <sys/syscall.h>
#endif

namespace sluice::stream {
namespace {

#ifdef __linux__
// What direct reads want where the kernel does not say: a page is enough everywhere.
constexpr uint32_t kUsualAlignment = 4096, kMaxAlignment = 65536;
#endif

} // namespace

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

int64_t System::read(int descriptor, void* bytes, uint64_t size, uint64_t offset) const
{
    const ssize_t got = pread(descriptor, bytes, size_t(size), off_t(offset));
    return got >= 0 ? int64_t(got) : -int64_t(errno);
}

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

int System::ringSetup(uint32_t entries, void* parameters) const
{
    const long result = syscall(__NR_io_uring_setup, entries, parameters);
    return result >= 0 ? int(result) : -errno;
}

int System::ringEnter(int ring, uint32_t submits, uint32_t wait) const
{
    const long result = syscall(__NR_io_uring_enter, ring, submits, wait,
                                wait != 0 ? IORING_ENTER_GETEVENTS : 0u, nullptr, size_t(0));
    return result >= 0 ? int(result) : -errno;
}

#else

uint32_t System::directAlignment(int) const { return 0; }
int System::ringSetup(uint32_t, void*) const { return -ENOSYS; }
int System::ringEnter(int, uint32_t, uint32_t) const { return -ENOSYS; }

#endif

} // namespace sluice::stream
