// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts paths between UTF-8 and Windows' UTF-16, and Windows errors to errno values.
#pragma once

#include <cerrno>
#include <string>

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

namespace sluice {

// Converts UTF-8 to UTF-16. The result is empty if the text is empty or not valid UTF-8.
inline std::wstring wideText(const std::string& text)
{
    const int bytes = int(text.size());
    if (text.empty() || text.size() > (1u << 28)) return {};
    const int count =
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, nullptr, 0);
    std::wstring wide(size_t(count > 0 ? count : 0), L'\0');
    if (count > 0)
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, wide.data(), count);
    return wide;
}

// Converts UTF-16 to UTF-8. A lone surrogate, which a Windows file name may contain, becomes
// U+FFFD.
inline std::string utf8Text(const wchar_t* wide, size_t size)
{
    if (size == 0 || size > (1u << 28)) return {};
    const int count =
        WideCharToMultiByte(CP_UTF8, 0, wide, int(size), nullptr, 0, nullptr, nullptr);
    std::string text(size_t(count > 0 ? count : 0), '\0');
    if (count > 0)
        WideCharToMultiByte(CP_UTF8, 0, wide, int(size), text.data(), count, nullptr, nullptr);
    return text;
}
inline std::string utf8Text(const std::wstring& wide) { return utf8Text(wide.data(), wide.size()); }

// Returns the absolute path in the form that may exceed 260 characters: \\?\C:\folder\file. The
// name of a device becomes a device path: NUL becomes \\.\NUL. Returns an empty text if `path` is
// empty, not valid UTF-8, or refused by Windows.
inline std::wstring widePath(const std::string& path)
{
    if (path.find('\0') != std::string::npos) return {};
    const std::wstring given = wideText(path);
    if (given.empty()) return {};
    if (given.compare(0, 4, L"\\\\?\\") == 0 || given.compare(0, 4, L"\\\\.\\") == 0) return given;
    std::wstring whole;
    for (DWORD size = MAX_PATH, wanted = 0;; size = wanted) {
        whole.resize(size);
        wanted = GetFullPathNameW(given.c_str(), size, whole.data(), nullptr);
        if (wanted == 0) return {};
        if (wanted < size) {
            whole.resize(wanted);
            break;
        }
    }
    if (whole.compare(0, 4, L"\\\\.\\") == 0) return whole;
    if (whole.compare(0, 2, L"\\\\") == 0) return L"\\\\?\\UNC" + whole.substr(1);
    return L"\\\\?\\" + whole;
}

// Returns the errno value that corresponds to a Windows error; EIO if there is none.
inline int errnoOf(DWORD error)
{
    switch (error) {
    case ERROR_SUCCESS: return 0;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_INVALID_DRIVE: return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_DELETE_PENDING: return EACCES;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_DIR_NOT_EMPTY: return ENOTEMPTY;
    case ERROR_DIRECTORY: return ENOTDIR;
    case ERROR_INVALID_HANDLE: return EBADF;
    case ERROR_TOO_MANY_OPEN_FILES: return EMFILE;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY: return ENOMEM;
    case ERROR_HANDLE_DISK_FULL:
    case ERROR_DISK_FULL: return ENOSPC;
    case ERROR_WRITE_PROTECT: return EROFS;
    case ERROR_NOT_SAME_DEVICE: return EXDEV;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA: return EPIPE;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_INVALID_PARAMETER: return EINVAL;
    case ERROR_NOT_SUPPORTED:
    case ERROR_INVALID_FUNCTION: return ENOSYS;
    default: return EIO;
    }
}

} // namespace sluice
