// SPDX-License-Identifier: MIT OR Apache-2.0
#include "files.h"

#include <algorithm>
#include <cerrno>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

namespace fs = std::filesystem;

namespace sluice {
namespace {

[[noreturn]] void failIo(const std::string& path, const std::string& what)
{
    throw Failure{exitIo, path + ": " + what};
}

[[noreturn]] void failErrno(const std::string& path) { failIo(path, std::strerror(errno)); }

// A file without a name, gone when it is closed.
int openUnnamed(const std::string& user)
{
    const char* folder = std::getenv("TMPDIR");
    std::string path =
        std::string(folder != nullptr && *folder != 0 ? folder : "/tmp") + "/sluice-XXXXXX";
    const int descriptor = mkstemp(path.data());
    if (descriptor < 0) {
        failErrno(user + ": temporary file " + path);
    }
    unlink(path.c_str());
    return descriptor;
}

void writeAt(int descriptor, const std::string& path, uint64_t offset, const void* bytes,
             size_t size)
{
    const char* from = static_cast<const char*>(bytes);
    while (size != 0) {
        const ssize_t written = pwrite(descriptor, from, size, off_t(offset));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            failErrno(path);
        }
        from += written;
        offset += uint64_t(written);
        size -= size_t(written);
    }
}

void readAt(int descriptor, const std::string& path, uint64_t offset, void* bytes, size_t size)
{
    char* to = static_cast<char*>(bytes);
    while (size != 0) {
        const ssize_t got = pread(descriptor, to, size, off_t(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) failErrno(path);
        if (got == 0) failIo(path, "became shorter while it was read");
        to += got;
        offset += uint64_t(got);
        size -= size_t(got);
    }
}

// Copies a stream to its end, into a file or, without one, to stdout. Returns its size.
uint64_t copyStream(int from, const std::string& fromName, int to = -1)
{
    std::vector<char> buffer(1 << 20);
    uint64_t size = 0;
    for (;;) {
        const ssize_t got = ::read(from, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            failErrno(fromName);
        }
        if (got == 0) {
            return size;
        }
        if (to >= 0)
            writeAt(to, fromName, size, buffer.data(), size_t(got));
        else
            writeStdout(buffer.data(), size_t(got));
        size += uint64_t(got);
    }
}

// Temporary files, for an interrupt to remove. A verb has a few open at a time; were there ever
// more than have a place here, an interrupt would leave those behind.
std::atomic<const TemporaryFile*> openTemporaries[64];
static_assert(std::atomic<const TemporaryFile*>::is_always_lock_free,
              "a signal handler reads them");

void removeAndExit(int signal)
{
    for (const std::atomic<const TemporaryFile*>& place : openTemporaries)
        if (const TemporaryFile* const file = place.load()) unlinkat(file->folder, file->name, 0);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

// file: stays as it is until forgetTemporary.
void rememberTemporary(const TemporaryFile* file)
{
    static const bool installed = [] {
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) // what nohup ignores stays ignored
            if (std::signal(signal, removeAndExit) == SIG_IGN) std::signal(signal, SIG_IGN);
        return true;
    }();
    (void)installed;
    for (std::atomic<const TemporaryFile*>& place : openTemporaries) {
        const TemporaryFile* expected = nullptr;
        if (place.compare_exchange_strong(expected, file)) return;
    }
}

void forgetTemporary(const TemporaryFile* file)
{
    for (std::atomic<const TemporaryFile*>& place : openTemporaries) {
        const TemporaryFile* expected = file;
        if (place.compare_exchange_strong(expected, nullptr)) return;
    }
}

// Throws if something of that name exists in the folder, unless it may be overwritten. path: for
// messages.
void checkOverwriteIn(int folder, const std::string& name, const std::string& path, bool overwrite,
                      const char* refusal)
{
    struct stat status = {};
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return;
        failErrno(path);
    }
    if (S_ISDIR(status.st_mode)) failIo(path, "is a folder");
    if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) failIo(path, "is not a regular file");
    if (!overwrite) failIo(path, refusal);
}

constexpr const char* kExists = "exists; -f overwrites it";
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// Opens the folders of `name` below `root`, which are made where they are missing. Nobody can turn
// one into a link in between: each is opened in the one before.
int openFolders(const std::string& root, const std::string& name)
{
    std::error_code error;
    fs::create_directories(root, error);
    if (error) failIo(root, error.message());
    int folder = open(root.c_str(), kFolderFlags);
    if (folder < 0) failErrno(root);
    size_t start = 0;
    for (size_t slash; (slash = name.find('/', start)) != std::string::npos; start = slash + 1) {
        const std::string part = name.substr(start, slash - start),
                          path = root + "/" + name.substr(0, slash);
        const bool isMade = mkdirat(folder, part.c_str(), 0777) == 0 || errno == EEXIST;
        const int below = isMade ? openat(folder, part.c_str(), kFolderFlags | O_NOFOLLOW) : -1;
        struct stat status = {};
        const bool isLink = below < 0 &&
                            fstatat(folder, part.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                            S_ISLNK(status.st_mode);
        close(folder);
        if (isLink) failIo(path, "is a link, which could lead out of " + root);
        if (below < 0) failIo(path, "cannot be made a folder");
        folder = below;
    }
    return folder;
}

// Makes an empty file that nothing had the name of. Returns its descriptor.
int openTemporary(TemporaryFile& file, const std::string& path)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::random_device random;
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::string name = ".sluice-";
        for (int i = 0; i < 8; ++i)
            name += letters[random() % (sizeof(letters) - 1)];
        static_assert(sizeof(file.name) > 16, "the name fits");
        std::memcpy(file.name, name.c_str(), name.size() + 1);
        const int descriptor = openat(file.folder, file.name,
                                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor >= 0) return descriptor;
        if (errno != EEXIST) break;
    }
    file.name[0] = 0;
    failErrno(path);
}

} // namespace

InputFile::InputFile(const std::string& path) : m_name(path == "-" ? "stdin" : path)
{
    const bool standard = path == "-";
    m_descriptor = standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (m_descriptor < 0) {
        failErrno(m_name);
    }
    struct stat information = {};
    if (fstat(m_descriptor, &information) != 0) {
        failErrno(m_name);
    }
    if (S_ISDIR(information.st_mode)) {
        failIo(m_name, "is a folder");
    }
    m_size = uint64_t(information.st_size);
    if (standard || !S_ISREG(information.st_mode)) { // a pipe: keep what comes
        const int stream = m_descriptor;
        m_descriptor = openUnnamed(m_name);
        m_size = copyStream(stream, m_name, m_descriptor);
        if (!standard) {
            close(stream);
        }
    }
}

InputFile::InputFile(std::string name, Bytes content)
    : m_name(std::move(name)), m_content(std::move(content)), m_size(m_content.size())
{
}

InputFile::~InputFile()
{
    if (m_descriptor >= 0) {
        close(m_descriptor);
    }
}

bool InputFile::status(struct stat& status) const
{
    return m_descriptor >= 0 && fstat(m_descriptor, &status) == 0;
}

Bytes InputFile::readStart(uint64_t size) const
{
    Bytes bytes(std::min(m_size, size));
    read(0, bytes.data(), bytes.size());
    return bytes;
}

Bytes InputFile::readAll() const { return readStart(m_size); }

void InputFile::read(uint64_t offset, void* bytes, size_t size) const
{
    if (offset > m_size || size > m_size - offset) failIo(m_name, "is too short");
    m_blockBytes == 0 ? readPlain(offset, bytes, size) : readChecked(offset, bytes, size);
}

void InputFile::readPlain(uint64_t offset, void* bytes, size_t size) const
{
    offset += m_begin;
    if (m_descriptor >= 0) {
        readAt(m_descriptor, m_name, offset, bytes, size);
    } else {
        std::copy_n(m_content.begin() + ptrdiff_t(offset), size, static_cast<uint8_t*>(bytes));
    }
}

void InputFile::checkBlocks(uint64_t blockBytes, std::vector<uint64_t> checks)
{
    m_blockBytes = blockBytes;
    m_checks = std::move(checks);
}

void InputFile::readChecked(uint64_t offset, void* bytes, size_t size) const
{
    uint8_t* to = static_cast<uint8_t*>(bytes);
    while (size != 0) {
        const uint64_t block = offset / m_blockBytes, begin = block * m_blockBytes;
        if (block != m_heldBlock) {
            m_heldBlock = UINT64_MAX;
            m_held.resize(size_t(std::min(m_blockBytes, m_size - begin)));
            readPlain(begin, m_held.data(), m_held.size());
            if (block >= m_checks.size() ||
                XXH3_64bits(m_held.data(), m_held.size()) != m_checks[size_t(block)])
                throw Failure{exitFormat, formatText("%s: damaged between bytes %llu and %llu",
                                                     m_name.c_str(), wide(m_begin + begin),
                                                     wide(m_begin + begin + m_held.size() - 1))};
            m_heldBlock = block;
        }
        const size_t part = size_t(std::min<uint64_t>(size, begin + m_held.size() - offset));
        std::memcpy(to, m_held.data() + (offset - begin), part);
        to += part;
        offset += part;
        size -= part;
    }
}

void checkOverwrite(const std::string& path, bool overwrite, const char* refusal)
{
    if (path != "-")
        checkOverwriteIn(AT_FDCWD, path, path, overwrite, refusal != nullptr ? refusal : kExists);
}

void checkOutput(const std::string& path, bool overwrite)
{
    if (path == "-" && isatty(STDOUT_FILENO) != 0)
        throw Failure{exitUsage, "-o -: stdout is a terminal; redirect it, or name a file"};
    checkOverwrite(path, overwrite);
}

OutputFile::OutputFile(const std::string& path, bool overwrite)
    : m_path(path), m_overwrite(overwrite)
{
    checkOverwrite(path, overwrite);
    if (path == "-") {
        m_path = "stdout";
        m_descriptor = openUnnamed(m_path);
        return;
    }
    const fs::path whole(path), folder = whole.parent_path();
    m_name = whole.filename().string();
    m_temporary.folder = open(folder.empty() ? "." : folder.c_str(), kFolderFlags);
    if (m_temporary.folder < 0) failErrno(path);
    begin();
}

OutputFile::OutputFile(const std::string& root, const std::string& name, bool overwrite)
    : m_path(root + "/" + name), m_name(name.substr(name.rfind('/') + 1)), m_overwrite(overwrite)
{
    m_temporary.folder = openFolders(root, name);
    begin();
}

void OutputFile::begin()
{
    try {
        checkOverwriteIn(m_temporary.folder, m_name, m_path, m_overwrite, kExists);
        m_descriptor = openTemporary(m_temporary, m_path);
    } catch (...) {
        close(m_temporary.folder);
        throw;
    }
    rememberTemporary(&m_temporary);
}

OutputFile::~OutputFile()
{
    if (m_descriptor >= 0) {
        close(m_descriptor);
    }
    if (m_temporary.name[0] != 0) {
        unlinkat(m_temporary.folder, m_temporary.name, 0);
        forgetTemporary(&m_temporary);
    }
    if (m_temporary.folder >= 0) close(m_temporary.folder);
}

void OutputFile::write(uint64_t offset, const void* bytes, size_t size)
{
    writeAt(m_descriptor, m_path, offset, bytes, size);
}

void OutputFile::read(uint64_t offset, void* bytes, size_t size) const
{
    readAt(m_descriptor, m_path, offset, bytes, size);
}

void OutputFile::makeExecutable()
{
    struct stat information = {};
    if (m_temporary.name[0] == 0 || fstat(m_descriptor, &information) != 0)
        return; // stdout has no mode
    const mode_t readers = information.st_mode & (S_IRUSR | S_IRGRP | S_IROTH);
    fchmod(m_descriptor, information.st_mode | readers >> 2);
}

void OutputFile::sync()
{
    if (m_temporary.name[0] != 0 && fsync(m_descriptor) != 0) failErrno(m_path);
}

void OutputFile::commit()
{
    if (m_temporary.name[0] == 0) {
        lseek(m_descriptor, 0, SEEK_SET);
        copyStream(m_descriptor, m_path);
        return;
    }
    const int descriptor = m_descriptor;
    m_descriptor = -1;
    if (close(descriptor) != 0) {
        failErrno(m_path);
    }
    // Someone else may have made it meanwhile.
    checkOverwriteIn(m_temporary.folder, m_name, m_path, m_overwrite, kExists);
    if (renameat(m_temporary.folder, m_temporary.name, m_temporary.folder, m_name.c_str()) != 0) {
        failErrno(m_path);
    }
    forgetTemporary(&m_temporary);
    m_temporary.name[0] = 0;
}

void writeStdout(const void* bytes, size_t size)
{
    const char* from = static_cast<const char*>(bytes);
    while (size != 0) {
        const ssize_t written = ::write(STDOUT_FILENO, from, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) failErrno("stdout");
        from += written;
        size -= size_t(written);
    }
}

void makeFolder(const std::string& path) { close(openFolders(path, "")); }

} // namespace sluice
