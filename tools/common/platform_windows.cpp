// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/platform.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "platform/windows_path.h"

#include <winternl.h>

namespace sluice {
namespace {

constexpr size_t kLargestTransfer = size_t(1) << 30;
constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

HANDLE handleOf(SystemFile file) { return reinterpret_cast<HANDLE>(file); }
SystemFile fileOf(HANDLE handle) { return reinterpret_cast<SystemFile>(handle); }

// Sets errno. Returns false, so that callers can write `return failed()`.
bool failed(DWORD error = GetLastError())
{
    errno = errnoOf(error);
    return false;
}
bool failedNative(NTSTATUS status) { return failed(RtlNtStatusToDosError(status)); }

FileTime timeFrom(int64_t ticks) // of 100 ns, since 1601
{
    constexpr int64_t kSecond = 10000000, k1970 = 11644473600;
    return {ticks / kSecond - k1970, ticks % kSecond * 100};
}

bool isLink(DWORD attributes, DWORD tag)
{
    return (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 && IsReparseTagNameSurrogate(tag);
}

FileFacts::Kind kindOf(DWORD attributes, DWORD tag)
{
    return isLink(attributes, tag)                        ? FileFacts::Kind::link
           : (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? FileFacts::Kind::folder
           : (attributes & FILE_ATTRIBUTE_DEVICE) != 0    ? FileFacts::Kind::other
                                                          : FileFacts::Kind::file;
}

bool factsOfHandle(HANDLE handle, FileFacts& facts)
{
    facts = {};
    if (GetFileType(handle) != FILE_TYPE_DISK) return true; // a pipe, a console, NUL
    BY_HANDLE_FILE_INFORMATION about = {};
    FILE_ATTRIBUTE_TAG_INFO tag = {};
    FILE_BASIC_INFO basic = {};
    if (!GetFileInformationByHandle(handle, &about)) return failed();
    if ((about.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
        !GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &tag, sizeof tag))
        return failed();
    if (!GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof basic)) return failed();
    facts.kind = kindOf(about.dwFileAttributes, tag.ReparseTag);
    facts.size = uint64_t(about.nFileSizeHigh) << 32 | about.nFileSizeLow;
    facts.device = about.dwVolumeSerialNumber;
    facts.number = uint64_t(about.nFileIndexHigh) << 32 | about.nFileIndexLow;
    facts.modified = timeFrom(basic.LastWriteTime.QuadPart);
    facts.changed = timeFrom(basic.ChangeTime.QuadPart);
    return true;
}

SystemFile openPath(const std::string& path, DWORD access, DWORD share, DWORD disposition,
                    DWORD flags)
{
    const std::wstring wide = widePath(path);
    if (wide.empty()) {
        errno = ENOENT;
        return kNoFile;
    }
    const HANDLE handle =
        CreateFileW(wide.c_str(), access, share, nullptr, disposition, flags, nullptr);
    if (handle == INVALID_HANDLE_VALUE) failed();
    return fileOf(handle);
}

// Opens an entry of an open folder by its name. Links are not followed.
SystemFile openEntry(SystemFile folder, const std::string& name, ACCESS_MASK access, ULONG share,
                     ULONG disposition, ULONG options)
{
    std::wstring wide = wideText(name);
    if (wide.empty() || wide.size() > 255 || wide.find(L'\\') != std::wstring::npos) {
        errno = wide.size() > 255 ? ENAMETOOLONG : ENOENT;
        return kNoFile;
    }
    const USHORT bytes = USHORT(wide.size() * sizeof(wchar_t));
    UNICODE_STRING text = {bytes, bytes, wide.data()};
    OBJECT_ATTRIBUTES attributes = {};
    InitializeObjectAttributes(&attributes, &text, OBJ_CASE_INSENSITIVE, handleOf(folder), nullptr);
    IO_STATUS_BLOCK block = {};
    HANDLE handle = nullptr;
    const NTSTATUS status = NtCreateFile(
        &handle, access | SYNCHRONIZE, &attributes, &block, nullptr, FILE_ATTRIBUTE_NORMAL, share,
        disposition, options | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_REPARSE_POINT, nullptr, 0);
    if (status >= 0) return fileOf(handle);
    failedNative(status);
    return kNoFile;
}

// Returns this thread's own event, on which the thread waits for reads and writes at an offset.
HANDLE threadEvent()
{
    struct Event {
        HANDLE handle = CreateEventW(nullptr, TRUE, FALSE, nullptr);
        ~Event()
        {
            if (handle != nullptr) CloseHandle(handle);
        }
    };
    thread_local Event event;
    return event.handle;
}

OVERLAPPED placeOf(uint64_t offset)
{
    OVERLAPPED place = {};
    place.Offset = DWORD(offset);
    place.OffsetHigh = DWORD(offset >> 32);
    place.hEvent = threadEvent();
    return place;
}

// Waits for the end of a read or write at an offset. Returns its byte count. isDone is what
// ReadFile or WriteFile returned: whether the transfer is complete already.
int64_t finish(SystemFile file, OVERLAPPED& place, bool isDone)
{
    DWORD count = 0, error = isDone ? 0 : GetLastError();
    if (error == 0 || error == ERROR_IO_PENDING)
        error = GetOverlappedResult(handleOf(file), &place, &count, TRUE) ? 0 : GetLastError();
    if (error == 0) return count;
    if (error == ERROR_HANDLE_EOF) return 0;
    failed(error);
    return -1;
}

std::string randomName(const std::string& start)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::random_device random;
    std::string name = start;
    for (int i = 0; i < 8; ++i)
        name += letters[random() % (sizeof letters - 1)];
    return name;
}

} // namespace

// --- Files ---

SystemFile standardInput() { return fileOf(GetStdHandle(STD_INPUT_HANDLE)); }
SystemFile standardOutput() { return fileOf(GetStdHandle(STD_OUTPUT_HANDLE)); }

// FILE_FLAG_BACKUP_SEMANTICS lets folders be opened too. Callers tell them from files by factsOf.
SystemFile openForReading(const std::string& path)
{
    return openPath(path, GENERIC_READ, kShareAll, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
}

SystemFile openRegular(const std::string& path, bool followsLinks)
{
    const DWORD follow = followsLinks ? 0 : FILE_FLAG_OPEN_REPARSE_POINT;
    const SystemFile file =
        openPath(path, GENERIC_READ, kShareAll, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | follow);
    FileFacts facts;
    if (file == kNoFile || (factsOf(file, facts) && facts.kind == FileFacts::Kind::file))
        return file;
    closeFile(file);
    errno = EINVAL;
    return kNoFile;
}

// Opens the file for overlapped reads. Without that, reads of several threads would wait for each
// other.
SystemFile openForDirectReading(const std::string& path)
{
    return openPath(path, GENERIC_READ, kShareAll, OPEN_EXISTING,
                    FILE_FLAG_NO_BUFFERING | FILE_FLAG_OVERLAPPED);
}

SystemFile createFile(const std::string& path)
{
    return openPath(path, GENERIC_READ | GENERIC_WRITE, kShareAll, CREATE_NEW,
                    FILE_ATTRIBUTE_NORMAL);
}

SystemFile openUnnamed(std::string& path)
{
    for (int attempt = 0; attempt < 100; ++attempt) {
        path = temporaryFolder() + "/" + randomName("sluice-");
        const SystemFile file =
            openPath(path, GENERIC_READ | GENERIC_WRITE | DELETE, kShareAll, CREATE_NEW,
                     FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE);
        if (file != kNoFile || errno != EEXIST) return file;
    }
    return kNoFile;
}

bool closeFile(SystemFile file) { return CloseHandle(handleOf(file)) || failed(); }
bool syncFile(SystemFile file) { return FlushFileBuffers(handleOf(file)) || failed(); }

bool touchFile(SystemFile file)
{
    // `file` may be open for reading only, but setting a time needs a handle with other rights.
    const HANDLE handle =
        ReOpenFile(handleOf(file), FILE_WRITE_ATTRIBUTES, kShareAll, FILE_FLAG_BACKUP_SEMANTICS);
    if (handle == INVALID_HANDLE_VALUE) return failed();
    FILETIME now = {};
    GetSystemTimeAsFileTime(&now);
    const bool isDone = SetFileTime(handle, nullptr, nullptr, &now) || failed();
    CloseHandle(handle);
    return isDone;
}

bool makeFileExecutable(SystemFile) { return true; }
bool leadsToStream(const std::string&) { return false; }
SystemFile openStream(const std::string&) { return kNoFile; }
std::string followLinks(const std::string& path) { return path; }
void takeModeOf(SystemFile, const std::string&, SystemFile) {}

bool factsOf(SystemFile file, FileFacts& facts) { return factsOfHandle(handleOf(file), facts); }

bool factsOf(const std::string& path, bool followsLinks, FileFacts& facts)
{
    const SystemFile file =
        openPath(path, FILE_READ_ATTRIBUTES, kShareAll, OPEN_EXISTING,
                 FILE_FLAG_BACKUP_SEMANTICS | (followsLinks ? 0 : FILE_FLAG_OPEN_REPARSE_POINT));
    if (file == kNoFile) return false;
    const bool isDone = factsOf(file, facts);
    const int error = errno;
    closeFile(file);
    errno = error;
    return isDone;
}

int64_t readSome(SystemFile file, void* bytes, size_t size)
{
    DWORD got = 0;
    if (ReadFile(handleOf(file), bytes, DWORD(std::min(size, kLargestTransfer)), &got, nullptr))
        return got;
    const DWORD error = GetLastError();
    // The writer has closed the pipe.
    if (error == ERROR_BROKEN_PIPE || error == ERROR_HANDLE_EOF) return 0;
    failed(error);
    return -1;
}

int64_t readSomeAt(SystemFile file, uint64_t offset, void* bytes, size_t size)
{
    OVERLAPPED place = placeOf(offset);
    return finish(
        file, place,
        ReadFile(handleOf(file), bytes, DWORD(std::min(size, kLargestTransfer)), nullptr, &place));
}

int64_t writeSome(SystemFile file, const void* bytes, size_t size)
{
    DWORD put = 0;
    if (WriteFile(handleOf(file), bytes, DWORD(std::min(size, kLargestTransfer)), &put, nullptr))
        return put;
    failed();
    return -1;
}

int64_t writeSomeAt(SystemFile file, uint64_t offset, const void* bytes, size_t size)
{
    OVERLAPPED place = placeOf(offset);
    return finish(
        file, place,
        WriteFile(handleOf(file), bytes, DWORD(std::min(size, kLargestTransfer)), nullptr, &place));
}

bool removeFile(const std::string& path)
{
    const std::wstring wide = widePath(path);
    return DeleteFileW(wide.c_str()) || failed();
}

bool removeFolder(const std::string& path)
{
    const std::wstring wide = widePath(path);
    return RemoveDirectoryW(wide.c_str()) || failed();
}

// --- Folders ---

bool createFolder(const std::string& path)
{
    const std::wstring wide = widePath(path);
    return CreateDirectoryW(wide.c_str(), nullptr) || failed();
}

bool createFolders(const std::string& path)
{
    FileFacts facts;
    if (factsOf(path, true, facts)) {
        errno = ENOTDIR;
        return facts.kind == FileFacts::Kind::folder;
    }
    std::string above = path;
    while (!above.empty() && (above.back() == '/' || above.back() == '\\'))
        above.pop_back();
    const size_t slash = above.find_last_of("/\\");
    if (slash != std::string::npos && slash != 0 && !createFolders(above.substr(0, slash)))
        return false;
    return createFolder(path) ||
           (errno == EEXIST && factsOf(path, true, facts) && facts.kind == FileFacts::Kind::folder);
}

std::string temporaryFolder()
{
    wchar_t folder[MAX_PATH + 2] = {};
    const DWORD size = GetTempPathW(MAX_PATH + 1, folder);
    std::string text = utf8Text(folder, size);
    while (!text.empty() && text.back() == '\\')
        text.pop_back();
    return text.empty() ? "." : text;
}

std::string makeTemporaryFolder(const std::string& parent, const std::string& start)
{
    for (int attempt = 0; attempt < 100; ++attempt) {
        const std::string name = parent + "/" + randomName(start);
        if (createFolder(name)) return name;
        if (errno != EEXIST) break;
    }
    return "";
}

bool listFolder(const std::string& path, std::vector<FolderEntry>& entries)
{
    const SystemFile folder = openFolder(path);
    if (folder == kNoFile) return false;
    const bool isListed = listFolder(folder, entries);
    const int error = errno;
    closeFile(folder);
    errno = error;
    return isListed;
}

bool listFolder(SystemFile folder, std::vector<FolderEntry>& entries)
{
    alignas(8) char buffer[1 << 16];
    FILE_INFO_BY_HANDLE_CLASS way = FileIdBothDirectoryRestartInfo;
    DWORD error = 0;
    while (GetFileInformationByHandleEx(handleOf(folder), way, buffer, sizeof buffer)) {
        way = FileIdBothDirectoryInfo;
        for (size_t at = 0;;) {
            FILE_ID_BOTH_DIR_INFO found = {};
            std::memcpy(&found, buffer + at, offsetof(FILE_ID_BOTH_DIR_INFO, FileName));
            std::wstring name(found.FileNameLength / sizeof(wchar_t), L'\0');
            std::memcpy(name.data(), buffer + at + offsetof(FILE_ID_BOTH_DIR_INFO, FileName),
                        name.size() * sizeof(wchar_t));
            if (name != L"." && name != L"..") {
                FolderEntry entry = {utf8Text(name), {}};
                // For a link, EaSize is not the size of extended attributes, but the tag that says
                // which kind of link it is.
                entry.facts.kind = kindOf(found.FileAttributes, found.EaSize);
                entry.facts.size = uint64_t(found.EndOfFile.QuadPart);
                entry.facts.number = uint64_t(found.FileId.QuadPart);
                entry.facts.modified = timeFrom(found.LastWriteTime.QuadPart);
                entry.facts.changed = timeFrom(found.ChangeTime.QuadPart);
                entries.push_back(std::move(entry));
            }
            if (found.NextEntryOffset == 0) break;
            at += found.NextEntryOffset;
        }
    }
    error = GetLastError();
    FileFacts facts;
    const bool isDone =
        (error == ERROR_NO_MORE_FILES || error == ERROR_FILE_NOT_FOUND || failed(error)) &&
        factsOf(folder, facts);
    for (FolderEntry& entry : entries)
        entry.facts.device = facts.device;
    return isDone;
}

std::optional<uint64_t> freeSpace(const std::string& folder)
{
    ULARGE_INTEGER free = {};
    if (!GetDiskFreeSpaceExW(widePath(folder).c_str(), &free, nullptr, nullptr)) {
        failed();
        return {};
    }
    return free.QuadPart;
}

std::optional<bool> isFolderInMemory(const std::string& folder)
{
    FileFacts facts;
    if (!factsOf(folder, true, facts)) return {};
    return false; // Windows has no such file systems
}

// Windows drops a file's pages from its cache when the file is opened unbuffered and nobody else
// has it open.
bool dropFromMemory(const std::string& path)
{
    const SystemFile file = openForDirectReading(path);
    return file != kNoFile && closeFile(file);
}

// Returns the handle if it is that of a folder. Otherwise closes it and returns kNoFile, with errno
// ENOTDIR.
static SystemFile folderOrNone(SystemFile opened)
{
    FileFacts facts;
    if (opened == kNoFile || (factsOf(opened, facts) && facts.kind == FileFacts::Kind::folder))
        return opened;
    closeFile(opened);
    errno = ENOTDIR;
    return kNoFile;
}

SystemFile openFolder(const std::string& path)
{
    const SystemFile folder =
        openPath(path, FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES, kShareAll,
                 OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    return folderOrNone(folder);
}

SystemFile openFolderIn(SystemFile folder, const std::string& name)
{
    const SystemFile below =
        openEntry(folder, name, FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES,
                  kShareAll, FILE_OPEN, FILE_DIRECTORY_FILE);
    return folderOrNone(below);
}

bool createFolderIn(SystemFile folder, const std::string& name)
{
    const SystemFile made =
        openEntry(folder, name, FILE_READ_ATTRIBUTES, kShareAll, FILE_CREATE, FILE_DIRECTORY_FILE);
    return made != kNoFile && closeFile(made);
}

bool factsIn(SystemFile folder, const std::string& name, FileFacts& facts)
{
    const SystemFile file = openEntry(folder, name, FILE_READ_ATTRIBUTES, kShareAll, FILE_OPEN, 0);
    if (file == kNoFile) return false;
    const bool isDone = factsOf(file, facts);
    const int error = errno;
    closeFile(file);
    errno = error;
    return isDone;
}

SystemFile openIn(SystemFile folder, const std::string& name)
{
    return openEntry(folder, name, GENERIC_READ, kShareAll, FILE_OPEN, FILE_NON_DIRECTORY_FILE);
}

SystemFile createIn(SystemFile folder, const char* name)
{
    return openEntry(folder, name, GENERIC_READ | GENERIC_WRITE, kShareAll, FILE_CREATE,
                     FILE_NON_DIRECTORY_FILE);
}

bool renameIn(SystemFile folder, const char* name, const std::string& newName, bool replaces)
{
    const std::wstring wide = wideText(newName);
    if (wide.empty() || wide.size() > 255) {
        errno = ENAMETOOLONG;
        return false;
    }
    // This is FILE_RENAME_INFORMATION of ntifs.h. Its first member holds flags for kRenameEx, and
    // for kRename a boolean: whether to replace.
    struct Rename {
        ULONG flags;
        HANDLE folder;
        ULONG bytes;
        WCHAR name[256];
    } rename = {};
    constexpr ULONG kReplace = 1, kPosix = 2; // kPosix allows replacing a file that is open
    // FileRenameInformation and FileRenameInformationEx; winternl.h has only the first.
    constexpr int kRename = 10, kRenameEx = 65;
    using SetInformation = NTSTATUS(NTAPI*)(HANDLE, IO_STATUS_BLOCK*, void*, ULONG, int);
    static const SetInformation set = reinterpret_cast<SetInformation>(reinterpret_cast<void*>(
        GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtSetInformationFile")));
    const ULONG flags = replaces ? kReplace : 0;
    rename.flags = flags | kPosix;
    rename.folder = handleOf(folder);
    rename.bytes = ULONG(wide.size() * sizeof(wchar_t));
    std::memcpy(rename.name, wide.data(), rename.bytes);
    // A virus scanner may keep a new file open for a moment, so this tries several times.
    for (int attempt = 0;; ++attempt) {
        const SystemFile file = openEntry(folder, name, DELETE, kShareAll, FILE_OPEN, 0);
        NTSTATUS status = -1;
        if (file != kNoFile) {
            IO_STATUS_BLOCK block = {};
            status = set(handleOf(file), &block, &rename, sizeof rename, kRenameEx);
            if (status < 0) { // perhaps this Windows or this file system has no kRenameEx
                rename.flags = flags;
                status = set(handleOf(file), &block, &rename, sizeof rename, kRename);
                rename.flags = flags | kPosix;
            }
            if (status < 0) failedNative(status);
            const int error = errno;
            closeFile(file);
            errno = error;
        }
        if (status >= 0) return true;
        if (errno != EACCES || attempt == 5) return false;
        Sleep(20);
    }
}

bool removeIn(SystemFile folder, const char* name)
{
    const SystemFile file =
        openEntry(folder, name, DELETE, kShareAll, FILE_OPEN, FILE_DELETE_ON_CLOSE);
    return file != kNoFile && closeFile(file);
}

bool flushFile(SystemFile) { return true; }

std::string pathOfDescriptor(SystemFile) { return ""; }

SystemFile createUnnamedIn(SystemFile)
{
    errno = ENOSYS;
    return kNoFile;
}

bool linkIn(SystemFile, SystemFile, const std::string&)
{
    errno = ENOSYS;
    return false;
}

bool holdFile(SystemFile) { return true; }
void removeAbandonedIn(SystemFile, bool (*)(const std::string&)) {}

// --- Names ---

namespace {

// Returns whether Windows takes the name for a device. It does so in every folder, and with any
// suffix.
bool isDeviceName(const std::wstring& component)
{
    std::wstring stem = component.substr(0, component.find_first_of(L".:"));
    while (!stem.empty() && stem.back() == L' ')
        stem.pop_back();
    for (wchar_t& c : stem)
        if (c >= L'a' && c <= L'z') c = wchar_t(c - L'a' + L'A');
    for (const wchar_t* name : {L"CON", L"PRN", L"AUX", L"NUL", L"CONIN$", L"CONOUT$"})
        if (stem == name) return true;
    const std::wstring start = stem.substr(0, 3);
    return stem.size() == 4 && (start == L"COM" || start == L"LPT") &&
           std::wcschr(L"0123456789\u00b9\u00b2\u00b3", stem[3]) != nullptr;
}

const char* whyNoComponent(const std::wstring& component)
{
    if (component.size() > 255) return "Windows has no names of more than 255 characters";
    if (component.find_first_of(L"<>:\"|?*\\") != std::wstring::npos)
        return "Windows allows no < > : \" | ? * \\ in names";
    if (component.back() == L'.' || component.back() == L' ')
        return "Windows drops a dot or a blank at the end of a name";
    if (isDeviceName(component)) return "Windows takes such a name for a device";
    return "";
}

} // namespace

std::string whyNoFileName(const std::string& name)
{
    const std::wstring wide = wideText(name);
    if (wide.empty()) return "it is no UTF-8";
    for (size_t begin = 0; begin <= wide.size();) {
        const size_t end = std::min(wide.find(L'/', begin), wide.size());
        if (end == begin) return "it has an empty part";
        const char* const why = whyNoComponent(wide.substr(begin, end - begin));
        if (*why != 0) return why;
        begin = end + 1;
    }
    return "";
}

bool fileNamesFold() { return true; }

std::string foldedFileName(const std::string& name)
{
    std::wstring wide = wideText(name);
    // Converts each character by itself, as file systems do when they compare names.
    CharUpperBuffW(wide.data(), DWORD(wide.size()));
    return utf8Text(wide);
}

} // namespace sluice
