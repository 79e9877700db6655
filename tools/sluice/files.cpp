// SPDX-License-Identifier: MIT OR Apache-2.0
#include "files.h"

#include <algorithm>
#include <cerrno>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

// Copies a stream that cannot seek, to its end. Returns its size.
uint64_t copyStream(int from, const std::string& fromName, int to, const std::string& toName,
                    bool toSeeks)
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
        if (toSeeks) {
            writeAt(to, toName, size, buffer.data(), size_t(got));
        } else {
            for (ssize_t at = 0; at < got;) {
                const ssize_t put = ::write(to, buffer.data() + at, size_t(got - at));
                if (put < 0 && errno != EINTR) {
                    failErrno(toName);
                }
                at += std::max<ssize_t>(put, 0);
            }
        }
        size += uint64_t(got);
    }
}

// The names of temporary files, for an interrupt to remove. A verb has a few open at a time; were
// there ever more than have a place here, an interrupt would leave those behind.
std::atomic<const char*> openTemporaries[64];
static_assert(std::atomic<const char*>::is_always_lock_free, "a signal handler reads them");

void removeAndExit(int signal)
{
    for (const std::atomic<const char*>& name : openTemporaries)
        if (const char* const path = name.load()) unlink(path);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

// path: stays as it is until forgetTemporary.
void rememberTemporary(const char* path)
{
    static const bool installed = [] {
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) // what nohup ignores stays ignored
            if (std::signal(signal, removeAndExit) == SIG_IGN) std::signal(signal, SIG_IGN);
        return true;
    }();
    (void)installed;
    for (std::atomic<const char*>& place : openTemporaries) {
        const char* expected = nullptr;
        if (place.compare_exchange_strong(expected, path)) return;
    }
}

void forgetTemporary(const char* path)
{
    for (std::atomic<const char*>& place : openTemporaries) {
        const char* expected = path;
        if (place.compare_exchange_strong(expected, nullptr)) return;
    }
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
        m_size = copyStream(stream, m_name, m_descriptor, m_name, true);
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
    if (path == "-") {
        return;
    }
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (!fs::exists(status)) {
        return;
    }
    if (fs::is_directory(status)) {
        failIo(path, "is a folder");
    }
    if (!fs::is_regular_file(status) && !fs::is_symlink(status)) {
        failIo(path, "is not a regular file");
    }
    if (!overwrite) {
        failIo(path, refusal);
    }
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
    const fs::path folder = fs::path(path).parent_path();
    std::string temporary = (folder / ".sluice-XXXXXX").string();
    m_descriptor = mkstemp(temporary.data());
    if (m_descriptor < 0) {
        failErrno(path);
    }
    m_temporary = temporary;
    const mode_t mask = umask(0); // mkstemp lets nobody else read
    umask(mask);
    fchmod(m_descriptor, 0666 & ~mask);
    rememberTemporary(m_temporary.c_str());
}

OutputFile::~OutputFile()
{
    if (m_descriptor >= 0) {
        close(m_descriptor);
    }
    if (!m_temporary.empty()) {
        unlink(m_temporary.c_str());
        forgetTemporary(m_temporary.c_str());
    }
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
    if (m_temporary.empty() || fstat(m_descriptor, &information) != 0) return; // stdout has no mode
    const mode_t readers = information.st_mode & (S_IRUSR | S_IRGRP | S_IROTH);
    fchmod(m_descriptor, information.st_mode | readers >> 2);
}

void OutputFile::sync()
{
    if (!m_temporary.empty() && fsync(m_descriptor) != 0) failErrno(m_path);
}

void OutputFile::commit()
{
    if (m_temporary.empty()) {
        lseek(m_descriptor, 0, SEEK_SET);
        copyStream(m_descriptor, m_path, STDOUT_FILENO, m_path, false);
        return;
    }
    const int descriptor = m_descriptor;
    m_descriptor = -1;
    if (close(descriptor) != 0) {
        failErrno(m_path);
    }
    checkOverwrite(m_path, m_overwrite); // someone else may have made it meanwhile
    if (std::rename(m_temporary.c_str(), m_path.c_str()) != 0) {
        failErrno(m_path);
    }
    forgetTemporary(m_temporary.c_str());
    m_temporary.clear();
}

std::string makeFolders(const std::string& root, const std::string& name)
{
    std::error_code error;
    fs::create_directories(root, error);
    if (error) {
        failIo(root, error.message());
    }
    fs::path folder = root;
    size_t start = 0;
    for (size_t slash; (slash = name.find('/', start)) != std::string::npos; start = slash + 1) {
        folder /= name.substr(start, slash - start);
        fs::create_directory(folder, error); // no error if it exists
        const fs::file_status status = fs::symlink_status(folder, error);
        if (fs::is_symlink(status)) {
            failIo(folder.string(), "is a link, which could lead out of " + root);
        }
        if (!fs::is_directory(status)) {
            failIo(folder.string(), "cannot be made a folder");
        }
    }
    return (folder / name.substr(start)).string();
}

} // namespace sluice
