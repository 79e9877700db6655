// SPDX-License-Identifier: MIT OR Apache-2.0
// Watches folders with ReadDirectoryChangesW, using one completion port for all of them.
#include "reload/watcher.h"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <vector>

#include "platform/windows_path.h"

namespace sluice::dev {

namespace {

namespace fs = std::filesystem;

// If a file gets its name by renaming, Windows only reports a change of name. If a file is
// overwritten, it reports a change of size or time.
constexpr DWORD kEvents =
    FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_LAST_WRITE | FILE_NOTIFY_CHANGE_SIZE;
constexpr size_t kBufferWords = 16384; // 64 KiB, the limit of Windows for folders on a network

// Returns whether the file lies below a folder whose name begins with a dot, such as .git.
bool isInHiddenFolder(const fs::path& name)
{
    for (const fs::path& part : name.parent_path())
        if (part.native()[0] == L'.') return true;
    return false;
}

// A watched folder. It is also the OVERLAPPED of its request for changes, so the address that the
// completion port returns is that of the Folder. While the request is pending, the system may write
// to the OVERLAPPED and to the buffer.
struct Folder : OVERLAPPED {
    HANDLE handle = INVALID_HANDLE_VALUE;
    fs::path path;
    bool isDeep = false;
    std::vector<DWORD> buffer = std::vector<DWORD>(kBufferWords);

    Folder() : OVERLAPPED() {}
    bool ask()
    {
        static_cast<OVERLAPPED&>(*this) = {};
        return ReadDirectoryChangesW(handle, buffer.data(), DWORD(buffer.size() * sizeof(DWORD)),
                                     isDeep, kEvents, nullptr, this, nullptr) != 0;
    }
    void take(DWORD size, std::set<std::string>& changed) const;
    void takeAll(std::set<std::string>& changed) const;
};

void insertFile(const fs::path& path, std::set<std::string>& changed)
{
    std::error_code gone;
    if (fs::is_regular_file(path, gone)) changed.insert(path.string());
}

void Folder::take(DWORD size, std::set<std::string>& changed) const
{
    // Size 0 means that the buffer was too small for all changes. So any file may have changed.
    if (size == 0) return takeAll(changed);
    const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(buffer.data());
    for (DWORD at = 0;;) {
        const auto& one = *reinterpret_cast<const FILE_NOTIFY_INFORMATION*>(bytes + at);
        const fs::path name(std::wstring(one.FileName, one.FileNameLength / sizeof(wchar_t)));
        const bool isWritten = one.Action == FILE_ACTION_ADDED ||
                               one.Action == FILE_ACTION_MODIFIED ||
                               one.Action == FILE_ACTION_RENAMED_NEW_NAME;
        if (isWritten && !isInHiddenFolder(name)) insertFile(path / name, changed);
        if (one.NextEntryOffset == 0) return;
        at += one.NextEntryOffset;
    }
}

void Folder::takeAll(std::set<std::string>& changed) const
{
    std::error_code error;
    if (isDeep) {
        for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
             it.increment(error))
            if (!isInHiddenFolder(it->path().lexically_relative(path)))
                insertFile(it->path(), changed);
    } else {
        for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
            insertFile(it->path(), changed);
    }
}

// Returns whether the program runs under Wine. Wine 8.0 reports no changes in subfolders that
// existed before the request, so these are watched one by one (addBelow).
bool isWine()
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
}

} // namespace

struct Watcher::State {
    bool addOne(const fs::path& path, bool isDeep);
    bool addBelow(const fs::path& path);

    HANDLE port = nullptr;
    std::atomic<bool> isWoken{false};
    std::mutex mutex;
    std::vector<std::unique_ptr<Folder>> folders;
};

Watcher::Watcher() : m_state(std::make_unique<State>()) {}

Watcher::~Watcher()
{
    for (const auto& folder : m_state->folders) {
        // Wait until the request has ended, since the system may write to the buffer until then.
        DWORD size = 0;
        if (CancelIoEx(folder->handle, folder.get()) || GetLastError() != ERROR_NOT_FOUND)
            GetOverlappedResult(folder->handle, folder.get(), &size, TRUE);
        CloseHandle(folder->handle);
    }
    if (m_state->port != nullptr) CloseHandle(m_state->port);
}

bool Watcher::open()
{
    m_state->port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 0);
    return m_state->port != nullptr;
}

bool Watcher::add(const std::string& folder, bool deep)
{
    std::error_code error;
    fs::path path = fs::canonical(folder, error);
    if (error) return false;
    const std::lock_guard<std::mutex> lock(m_state->mutex);
    path.make_preferred();
    return m_state->addOne(path, deep) && (!deep || !isWine() || m_state->addBelow(path));
}

bool Watcher::State::addBelow(const fs::path& path)
{
    std::error_code error;
    bool isGood = true;
    for (fs::recursive_directory_iterator it(path, error), end; isGood && !error && it != end;
         it.increment(error)) {
        std::error_code gone;
        if (!it->is_directory(gone)) continue;
        if (it->path().filename().native()[0] == L'.')
            it.disable_recursion_pending();
        else
            isGood = addOne(it->path(), true);
    }
    return isGood && !error;
}

bool Watcher::State::addOne(const fs::path& path, bool isDeep)
{
    for (const auto& folder : folders)
        if (folder->path == path && folder->isDeep >= isDeep) return true;
    auto folder = std::make_unique<Folder>();
    folder->path = path;
    folder->isDeep = isDeep;
    folder->handle = CreateFileW(
        path.c_str(), FILE_LIST_DIRECTORY, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
        nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OVERLAPPED, nullptr);
    if (folder->handle == INVALID_HANDLE_VALUE) return false;
    // Reserve first, so that push_back cannot fail once the system has the buffer's address.
    folders.reserve(folders.size() + 1);
    if (CreateIoCompletionPort(folder->handle, port, 1, 0) == nullptr || !folder->ask()) {
        CloseHandle(folder->handle);
        return false;
    }
    folders.push_back(std::move(folder));
    return true;
}

std::set<std::string> Watcher::wait()
{
    std::set<std::string> changed;
    while (!m_state->isWoken) {
        DWORD size = 0;
        ULONG_PTR key = 0;
        OVERLAPPED* request = nullptr;
        const bool isGood =
            GetQueuedCompletionStatus(m_state->port, &size, &key, &request,
                                      changed.empty() ? INFINITE : DWORD(kQuietMilliseconds)) != 0;
        if (request == nullptr) { // wake() was called, or nothing has changed for a moment
            if (!isGood && !changed.empty()) return changed;
            continue;
        }
        Folder& folder = *static_cast<Folder*>(request);
        // The request of a folder that was removed fails. No new request is made for it.
        if (!isGood) continue;
        folder.take(size, changed);
        folder.ask();
    }
    return {};
}

void Watcher::wake()
{
    m_state->isWoken = true; // later calls of wait() return at once too
    PostQueuedCompletionStatus(m_state->port, 0, 0, nullptr);
}

} // namespace sluice::dev
