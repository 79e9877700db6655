// SPDX-License-Identifier: MIT OR Apache-2.0
#include "system.h"

#include <algorithm>

#include "formats/integers.h"
#include "platform/windows_path.h"

namespace sluice::stream {
namespace {

constexpr uint32_t kUsualAlignment = 4096, kMaxAlignment = 65536;
constexpr uint64_t kLargestRead = uint64_t(1) << 30;

HANDLE handleOf(int descriptor) { return reinterpret_cast<HANDLE>(intptr_t(descriptor)); }

// Reads of one file by several threads go on at once only where it is open for overlapped reads;
// each thread then waits for its own.
class ThreadEvent {
public:
    ThreadEvent() : m_event(CreateEventW(nullptr, TRUE, FALSE, nullptr)) {}
    ~ThreadEvent()
    {
        if (m_event != nullptr) CloseHandle(m_event);
    }
    ThreadEvent(const ThreadEvent&) = delete;
    ThreadEvent& operator=(const ThreadEvent&) = delete;
    HANDLE handle() const { return m_event; }

private:
    HANDLE m_event;
};

} // namespace

const int kOtherFileError = ENOENT; // there is no ESTALE

const System& operatingSystem()
{
    static const System one;
    return one;
}

int System::open(const char* path, bool isDirect) const
{
    const std::wstring wide = widePath(path);
    if (wide.empty()) return -ENOENT;
    // With backup semantics a folder can be opened too, and is told from a file afterwards.
    const DWORD flags =
        FILE_FLAG_OVERLAPPED | FILE_FLAG_BACKUP_SEMANTICS | (isDirect ? FILE_FLAG_NO_BUFFERING : 0);
    const HANDLE handle = CreateFileW(wide.c_str(), GENERIC_READ,
                                      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                      nullptr, OPEN_EXISTING, flags, nullptr);
    if (handle == INVALID_HANDLE_VALUE) return -errnoOf(GetLastError());
    return int(reinterpret_cast<intptr_t>(handle));
}

void System::close(int descriptor) const { CloseHandle(handleOf(descriptor)); }

int System::status(int descriptor, FileStatus& status) const
{
    const HANDLE handle = handleOf(descriptor);
    BY_HANDLE_FILE_INFORMATION about = {};
    if (GetFileType(handle) != FILE_TYPE_DISK) {
        status = {};
        return 0;
    }
    if (!GetFileInformationByHandle(handle, &about)) return -errnoOf(GetLastError());
    status = {(about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0,
              uint64_t(about.nFileSizeHigh) << 32 | about.nFileSizeLow, about.dwVolumeSerialNumber,
              uint64_t(about.nFileIndexHigh) << 32 | about.nFileIndexLow};
    return 0;
}

int64_t System::read(int descriptor, void* bytes, uint64_t size, uint64_t offset) const
{
    thread_local const ThreadEvent event;
    if (event.handle() == nullptr) return -ENOMEM;
    OVERLAPPED place = {};
    place.Offset = DWORD(offset);
    place.OffsetHigh = DWORD(offset >> 32);
    place.hEvent = event.handle();
    const HANDLE handle = handleOf(descriptor);
    DWORD got = 0;
    if (!ReadFile(handle, bytes, DWORD(std::min(size, kLargestRead)), nullptr, &place)) {
        const DWORD error = GetLastError();
        if (error == ERROR_HANDLE_EOF) return 0;
        if (error != ERROR_IO_PENDING) return -errnoOf(error);
    }
    if (GetOverlappedResult(handle, &place, &got, TRUE)) return got;
    const DWORD error = GetLastError();
    return error == ERROR_HANDLE_EOF ? 0 : -errnoOf(error);
}

uint32_t System::directAlignment(int descriptor) const
{
    FILE_STORAGE_INFO about = {};
    if (!GetFileInformationByHandleEx(handleOf(descriptor), FileStorageInfo, &about, sizeof about))
        return kUsualAlignment;
    const uint32_t alignment = std::max(
        about.LogicalBytesPerSector, about.FileSystemEffectivePhysicalBytesPerSectorForAtomicity);
    const bool isPower = alignment != 0 && (alignment & (alignment - 1)) == 0;
    return isPower && alignment <= kMaxAlignment ? std::max(alignment, kUsualAlignment) : 0;
}

// A loop of messages waits for no descriptors: programs poll once a frame.
int openEvent() { return -1; }
bool setEvent(int) { return false; }
bool resetEvent(int) { return false; }
void closeEvent(int) {}

void* mapMemory(uint64_t size, uint64_t alignment)
{
    if (size > SIZE_MAX - alignment) return nullptr;
    // Another thread may take the place between it being found and being taken: it is sought anew.
    for (int attempt = 0; attempt < 16; ++attempt) {
        void* const found =
            VirtualAlloc(nullptr, size_t(size + alignment), MEM_RESERVE, PAGE_NOACCESS);
        if (found == nullptr) return nullptr;
        const uintptr_t place = uintptr_t(alignUp(reinterpret_cast<uintptr_t>(found), alignment));
        VirtualFree(found, 0, MEM_RELEASE);
        void* const memory = VirtualAlloc(reinterpret_cast<void*>(place), size_t(size),
                                          MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
        if (memory != nullptr) return memory;
        if (GetLastError() != ERROR_INVALID_ADDRESS) return nullptr;
    }
    return nullptr;
}

void unmapMemory(void* memory, uint64_t) { VirtualFree(memory, 0, MEM_RELEASE); }

} // namespace sluice::stream
