// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/system.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>

#include "formats/integers.h"
#include "platform/windows_path.h"

namespace sluice::stream {
namespace {

constexpr uint64_t kLargestRead = uint64_t(1) << 30;

HANDLE handleOf(int descriptor) { return reinterpret_cast<HANDLE>(intptr_t(descriptor)); }

// Returns the result of a read that has ended, or that could not begin.
int64_t resultOf(bool isGood, DWORD got)
{
    if (isGood) return got;
    const DWORD error = GetLastError();
    return error == ERROR_HANDLE_EOF ? 0 : -errnoOf(error);
}

void setPlace(OVERLAPPED& request, uint64_t offset)
{
    request.Offset = DWORD(offset);
    request.OffsetHigh = DWORD(offset >> 32);
}

// One port serves all files, because a thread may have reads of several files under way. One of the
// waiting threads watches the port for all of them.
class CompletionPort {
public:
    CompletionPort() : m_port(CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 0)) {}
    CompletionPort(const CompletionPort&) = delete;
    CompletionPort& operator=(const CompletionPort&) = delete;

    // Binds a file to the port. With the mode that is set here, a read that completes at once, for
    // example from the cache, queues no completion packet.
    bool bind(HANDLE file)
    {
        return m_port != nullptr &&
               SetFileCompletionNotificationModes(file, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS) &&
               CreateIoCompletionPort(file, m_port, 0, 0) != nullptr;
    }
    void readAll(Read* reads, uint32_t count);

private:
    struct Request : OVERLAPPED {
        Request() : OVERLAPPED() {}
        Read* read = nullptr;
        uint32_t* pending = nullptr; // number of reads under way of the same readAll
    };

    static bool begin(Request& request);
    void waitFor(const uint32_t& pending, std::unique_lock<std::mutex>& lock);

    HANDLE m_port; // never closed
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_isWatched = false; // a thread waits on the port
};

// Begins a read. Returns false if it has completed already.
bool CompletionPort::begin(Request& request)
{
    Read& read = *request.read;
    setPlace(request, read.offset);
    DWORD got = 0;
    const bool isGood = ReadFile(handleOf(read.descriptor), read.bytes,
                                 DWORD(std::min(read.size, kLargestRead)), &got, &request) != 0;
    if (!isGood && GetLastError() == ERROR_IO_PENDING) return true;
    read.got = resultOf(isGood, got);
    return false;
}

void CompletionPort::readAll(Read* reads, uint32_t count)
{
    Request requests[kReadsAtOnce];
    uint32_t pending = count, ended = 0;
    for (uint32_t i = 0; i < count; ++i) {
        requests[i].read = &reads[i];
        requests[i].pending = &pending;
        if (!begin(requests[i])) ++ended;
    }
    if (ended == count) return;
    std::unique_lock<std::mutex> lock(m_mutex); // m_mutex guards `pending`
    pending -= ended;
    waitFor(pending, lock);
}

void CompletionPort::waitFor(const uint32_t& pending, std::unique_lock<std::mutex>& lock)
{
    while (pending != 0) {
        if (m_isWatched) {
            m_changed.wait(lock);
            continue;
        }
        m_isWatched = true;
        lock.unlock();
        OVERLAPPED_ENTRY entries[kReadsAtOnce];
        ULONG count = 0;
        if (!GetQueuedCompletionStatusEx(m_port, entries, kReadsAtOnce, &count, INFINITE, FALSE))
            count = 0;
        lock.lock();
        m_isWatched = false;
        for (ULONG i = 0; i < count; ++i) {
            Request& request = *static_cast<Request*>(entries[i].lpOverlapped);
            DWORD got = 0;
            const bool isGood =
                GetOverlappedResult(handleOf(request.read->descriptor), &request, &got, FALSE) != 0;
            request.read->got = resultOf(isGood, got);
            --*request.pending;
        }
        // Wakes all: some reads have ended, and another thread must watch the port next.
        m_changed.notify_all();
    }
}

CompletionPort& completionPort()
{
    static CompletionPort one;
    return one;
}

// The files that are not bound to the port. There are none unless the system refuses to bind one.
class Unbound {
public:
    void add(int descriptor)
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_files.insert(descriptor);
        m_count = m_files.size();
    }
    void remove(int descriptor)
    {
        if (m_count == 0) return;
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_files.erase(descriptor);
        m_count = m_files.size();
    }
    bool has(int descriptor)
    {
        if (m_count == 0) return false;
        const std::lock_guard<std::mutex> lock(m_mutex);
        return m_files.count(descriptor) != 0;
    }

private:
    std::mutex m_mutex;
    std::set<int> m_files;
    std::atomic<size_t> m_count{0};
};
Unbound& unbound()
{
    static Unbound one;
    return one;
}

// The event on which a thread waits for its own reads where there is no completion port. Files are
// opened for overlapped reads anyway, because otherwise reads of one file by several threads would
// not run at the same time.
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

int64_t readByEvent(HANDLE handle, void* bytes, uint64_t size, uint64_t offset)
{
    thread_local const ThreadEvent event;
    if (event.handle() == nullptr) return -ENOMEM;
    OVERLAPPED request = {};
    setPlace(request, offset);
    request.hEvent = event.handle();
    DWORD got = 0;
    if (!ReadFile(handle, bytes, DWORD(std::min(size, kLargestRead)), nullptr, &request) &&
        GetLastError() != ERROR_IO_PENDING)
        return resultOf(false, 0);
    const bool isGood = GetOverlappedResult(handle, &request, &got, TRUE) != 0;
    return resultOf(isGood, got);
}

} // namespace

const int kOtherFileError = ENOENT; // Windows has no ESTALE

const System& operatingSystem()
{
    static const System one;
    return one;
}

int System::open(const char* path, bool isDirect) const
{
    const std::wstring wide = widePath(path);
    if (wide.empty()) return -ENOENT;
    // With backup semantics folders can be opened too. `status` tells them from files.
    const DWORD flags =
        FILE_FLAG_OVERLAPPED | FILE_FLAG_BACKUP_SEMANTICS | (isDirect ? FILE_FLAG_NO_BUFFERING : 0);
    const HANDLE handle = CreateFileW(wide.c_str(), GENERIC_READ,
                                      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                      nullptr, OPEN_EXISTING, flags, nullptr);
    if (handle == INVALID_HANDLE_VALUE) return -errnoOf(GetLastError());
    const int descriptor = int(reinterpret_cast<intptr_t>(handle));
    if (!usesCompletionPort() || !completionPort().bind(handle)) unbound().add(descriptor);
    return descriptor;
}

void System::close(int descriptor) const
{
    unbound().remove(descriptor); // before the handle's value can be reused
    CloseHandle(handleOf(descriptor));
}

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
    if (unbound().has(descriptor)) return readByEvent(handleOf(descriptor), bytes, size, offset);
    Read one = {descriptor, bytes, size, offset, 0};
    completionPort().readAll(&one, 1);
    return one.got;
}

void System::readMany(Read* reads, uint32_t count) const
{
    if (std::none_of(reads, reads + count,
                     [](const Read& one) { return unbound().has(one.descriptor); }))
        return completionPort().readAll(reads, count);
    for (Read* one = reads; one != reads + count; ++one)
        one->got = System::read(one->descriptor, one->bytes, one->size, one->offset);
}

bool System::readsTogether() const { return usesCompletionPort(); }

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

// A Windows message loop cannot wait for descriptors, so programs call Poll once per frame.
int openEvent() { return -1; }
bool setEvent(int) { return false; }
bool resetEvent(int) { return false; }
void closeEvent(int) {}

void* mapMemory(uint64_t size, uint64_t alignment)
{
    if (size > SIZE_MAX - alignment) return nullptr;
    // Another thread may take the address range between its release and its new reservation. If so,
    // a new range is tried.
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
