// SPDX-License-Identifier: MIT OR Apache-2.0
#include "system.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

#else

uint32_t System::directAlignment(int) const { return 0; }

#endif

} // namespace sluice::stream
