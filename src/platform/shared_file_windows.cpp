// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/shared_file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "platform/windows_path.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
// Another process that replaces the file, or a virus scanner, may have it open for a moment. So
// opening and renaming are tried up to kAttempts times, about 100 ms in all.
constexpr int kAttempts = 50;
constexpr DWORD kPause = 2; // milliseconds

HANDLE openShared(const std::wstring& path, DWORD access)
{
    for (int attempt = 0;; ++attempt) {
        const HANDLE file = CreateFileW(path.c_str(), access, kShareAll, nullptr, OPEN_EXISTING,
                                        FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
        const DWORD error = GetLastError();
        const bool isHeld = error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION;
        if (file != INVALID_HANDLE_VALUE || !isHeld || attempt == kAttempts) return file;
        Sleep(kPause);
    }
}

// Renames with POSIX semantics, which Windows 10 and later have and which can replace an open file.
bool renameOpen(const std::wstring& from, const std::wstring& to)
{
    constexpr DWORD kReplace = 1, kPosix = 2;
    constexpr auto kRenameEx = FILE_INFO_BY_HANDLE_CLASS(22); // FileRenameInfoEx of newer headers
    const HANDLE file = openShared(from, DELETE);
    if (file == INVALID_HANDLE_VALUE) return false;
    const size_t nameBytes = to.size() * sizeof(wchar_t);
    std::vector<uint64_t> memory((sizeof(FILE_RENAME_INFO) + nameBytes) / sizeof(uint64_t) + 1);
    FILE_RENAME_INFO* const info = reinterpret_cast<FILE_RENAME_INFO*>(memory.data());
    const DWORD flags = kReplace | kPosix;
    // The flags are the first member. Older headers declare a boolean there instead.
    std::memcpy(memory.data(), &flags, sizeof flags);
    info->FileNameLength = DWORD(nameBytes);
    std::memcpy(info->FileName, to.data(), nameBytes);
    const bool isDone = SetFileInformationByHandle(file, kRenameEx, info,
                                                   DWORD(sizeof(FILE_RENAME_INFO) + nameBytes));
    CloseHandle(file);
    return isDone;
}

} // namespace

std::vector<uint8_t> readSharedFile(const fs::path& path, uint64_t most)
{
    const HANDLE file = openShared(widePath(path.u8string()), GENERIC_READ);
    if (file == INVALID_HANDLE_VALUE) return {};
    LARGE_INTEGER size = {};
    std::vector<uint8_t> bytes;
    BY_HANDLE_FILE_INFORMATION about = {};
    constexpr DWORD kNoFile = FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DIRECTORY;
    if (GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &about) &&
        (about.dwFileAttributes & kNoFile) == 0 && GetFileSizeEx(file, &size) &&
        uint64_t(size.QuadPart) <= most) {
        bytes.resize(size_t(size.QuadPart));
        for (size_t done = 0; done < bytes.size();) {
            const DWORD wanted = DWORD(std::min<size_t>(bytes.size() - done, 1u << 30));
            DWORD got = 0;
            if (!ReadFile(file, bytes.data() + done, wanted, &got, nullptr) || got == 0) {
                bytes.clear();
                break;
            }
            done += got;
        }
    }
    CloseHandle(file);
    return bytes;
}

bool renameOver(const fs::path& from, const fs::path& to)
{
    const std::wstring source = widePath(from.u8string()), target = widePath(to.u8string());
    if (renameOpen(source, target)) return true;
    // Windows before version 10 can replace a file only while nobody has it open.
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        if (MoveFileExW(source.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING)) return true;
        const DWORD error = GetLastError();
        if (error != ERROR_ACCESS_DENIED && error != ERROR_SHARING_VIOLATION) return false;
        Sleep(kPause);
    }
    return false;
}

fs::path folderFromVariable(const char* name)
{
    const wchar_t* const value = _wgetenv(wideText(name).c_str());
    return value != nullptr ? fs::path(value) : fs::path();
}

} // namespace sluice
