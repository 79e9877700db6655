// SPDX-License-Identifier: MIT OR Apache-2.0
// Anonymous memory for rings.
#include <sluice/sluice_stream.h>

#include <sys/mman.h>

namespace {

constexpr uint64_t kHugePage = uint64_t(2) << 20;

} // namespace

SluiceStatus sluiceStreamAllocateHost(uint64_t size, void** memory)
{
    if (memory == nullptr || size == 0 || size > (uint64_t(1) << 46)) return SLUICE_ERROR_ARGUMENT;
    *memory = nullptr;
    const uint64_t rounded = (size + kHugePage - 1) / kHugePage * kHugePage;
    // A page more than is wanted, of which the ends are given back.
    void* mapped = mmap(nullptr, size_t(rounded + kHugePage), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return SLUICE_ERROR_OUT_OF_MEMORY;
    uint8_t* start = static_cast<uint8_t*>(mapped);
    const uint64_t before =
        (kHugePage - reinterpret_cast<uintptr_t>(start) % kHugePage) % kHugePage;
    if (before != 0) munmap(start, size_t(before));
    if (before != kHugePage) munmap(start + before + rounded, size_t(kHugePage - before));
#ifdef MADV_HUGEPAGE
    madvise(start + before, size_t(rounded), MADV_HUGEPAGE); // if the system has any
#endif
    *memory = start + before;
    return SLUICE_OK;
}

void sluiceStreamFreeHost(void* memory, uint64_t size)
{
    if (memory != nullptr) munmap(memory, size_t((size + kHugePage - 1) / kHugePage * kHugePage));
}
