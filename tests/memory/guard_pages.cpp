// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A library to load before a test program (LD_PRELOAD). A software driver of Vulkan takes device
// memory and the shared memory of workgroups from malloc, and its machine code is not checked by
// sanitizers: a kernel that stores behind a buffer damages some object of the heap, and the program
// fails much later or never. Here each allocation of 1,024 bytes or more ends at a page without
// access, so the kernel that reads or writes behind it stops the program at once. With
// SLUICE_GUARD_FRONT=1 the allocation begins at the start of its pages, behind a page without
// access, which finds accesses before it. Addresses are never used twice, which finds accesses to
// memory that was freed.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

// The functions that glibc has for those who replace malloc.
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);
extern "C" void __libc_free(void*);

namespace {

constexpr size_t kLeastGuarded = 1024;
constexpr size_t kPage = 4096;
constexpr size_t kAlignment = 16;
constexpr size_t kAddresses = size_t(16) << 40;
// The kernel gives a process 65,530 mappings; each guarded allocation takes two.
constexpr int64_t kMostGuarded = 25000;
// Fresh memory holds this value, at least at its beginning, because an accidental zero hides a read
// of what nobody wrote.
constexpr int kPoison = 0xA5;
constexpr size_t kMostPoisoned = size_t(1) << 20;

uintptr_t firstAddress;
std::atomic<uintptr_t> nextAddress;
std::atomic<int64_t> guardedCount;
// For each page of the addresses, the size of the allocation that begins in it, or 0.
size_t* sizes;
bool isFrontGuarded;

size_t roundUp(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

void* reserve(size_t size)
{
    void* const result =
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (result == MAP_FAILED) abort();
    return result;
}

// Until this has run, malloc is that of glibc.
__attribute__((constructor)) void start()
{
    const size_t tableSize = kAddresses / kPage * sizeof(size_t);
    sizes = static_cast<size_t*>(reserve(tableSize));
    if (mprotect(sizes, tableSize, PROT_READ | PROT_WRITE) != 0) abort();
    isFrontGuarded = getenv("SLUICE_GUARD_FRONT") != nullptr;
    firstAddress = reinterpret_cast<uintptr_t>(reserve(kAddresses));
    nextAddress = firstAddress + kPage;
}

bool isGuarded(const void* memory)
{
    const uintptr_t address = reinterpret_cast<uintptr_t>(memory);
    return firstAddress != 0 && address >= firstAddress && address - firstAddress < kAddresses;
}

size_t& sizeOf(const void* memory)
{
    return sizes[(reinterpret_cast<uintptr_t>(memory) - firstAddress) / kPage];
}

// Returns null if glibc shall allocate.
void* guardedAllocate(size_t alignment, size_t size)
{
    if (size < kLeastGuarded || size > kAddresses / 2 || firstAddress == 0) return nullptr;
    if (guardedCount >= kMostGuarded) return nullptr;
    if (alignment < kAlignment) alignment = kAlignment;
    const size_t bytes = roundUp(size, alignment < kPage ? alignment : kAlignment);
    const size_t pages = roundUp(bytes, kPage);
    // A large alignment moves the start; the pages that this leaves unused have no access either.
    const size_t taken = pages + kPage + (alignment > kPage ? alignment : 0);
    const uintptr_t free = nextAddress.fetch_add(taken);
    if (free + taken > firstAddress + kAddresses) abort();
    const uintptr_t start = alignment > kPage ? roundUp(free, alignment) : free;
    if (mprotect(reinterpret_cast<void*>(start), pages, PROT_READ | PROT_WRITE) != 0)
        return nullptr;
    ++guardedCount;
    const bool isAtStart = isFrontGuarded || alignment >= kPage;
    void* const memory = reinterpret_cast<void*>(start + (isAtStart ? 0 : pages - bytes));
    memset(memory, kPoison, size < kMostPoisoned ? size : kMostPoisoned);
    sizeOf(memory) = size;
    return memory;
}

void guardedFree(void* memory)
{
    const int error = errno;
    const size_t size = sizeOf(memory);
    if (size == 0) abort(); // freed twice, or never allocated
    sizeOf(memory) = 0;
    const uintptr_t start = reinterpret_cast<uintptr_t>(memory) / kPage * kPage;
    const uintptr_t end = roundUp(reinterpret_cast<uintptr_t>(memory) + size, kPage);
    if (mmap(reinterpret_cast<void*>(start), end - start, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        abort();
    --guardedCount;
    errno = error;
}

} // namespace

extern "C" {

void* malloc(size_t size)
{
    void* const memory = guardedAllocate(kAlignment, size);
    return memory != nullptr ? memory : __libc_malloc(size);
}

void* calloc(size_t count, size_t elementSize)
{
    size_t size = 0;
    if (__builtin_mul_overflow(count, elementSize, &size)) return nullptr;
    void* const memory = guardedAllocate(kAlignment, size);
    return memory != nullptr ? memset(memory, 0, size) : __libc_calloc(count, elementSize);
}

void* memalign(size_t alignment, size_t size)
{
    void* const memory = guardedAllocate(alignment, size);
    return memory != nullptr ? memory : __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** memory, size_t alignment, size_t size)
{
    *memory = memalign(alignment, size);
    return *memory != nullptr ? 0 : ENOMEM;
}

void free(void* memory)
{
    if (isGuarded(memory))
        guardedFree(memory);
    else
        __libc_free(memory);
}

// Memory of glibc stays there, because its size is not known here.
void* realloc(void* memory, size_t size)
{
    if (memory == nullptr) return malloc(size);
    if (!isGuarded(memory)) return __libc_realloc(memory, size);
    if (size == 0) {
        guardedFree(memory);
        return nullptr;
    }
    void* const moved = malloc(size);
    if (moved == nullptr) return nullptr;
    const size_t before = sizeOf(memory);
    memcpy(moved, memory, before < size ? before : size);
    guardedFree(memory);
    return moved;
}

// The size of glibc's own memory is not known here. 0 is safe, because callers ask for it only to
// use room that they did not ask for.
size_t malloc_usable_size(void* memory) { return isGuarded(memory) ? sizeOf(memory) : 0; }

} // extern "C"
