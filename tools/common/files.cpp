// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/files.h"

#include <algorithm>
#include <cerrno>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <string_view>

#include <xxhash.h>

namespace sluice {
namespace {

[[noreturn]] void failIo(const std::string& path, const std::string& what)
{
    throw Failure{exitIo, path + ": " + what};
}

[[noreturn]] void failErrno(const std::string& path) { failIo(path, std::strerror(errno)); }

SystemFile openUnnamedFor(const std::string& user)
{
    std::string path;
    const SystemFile file = openUnnamed(path);
    if (file == kNoFile) failErrno(user + ": temporary file " + path);
    return file;
}

void writeAt(SystemFile file, const std::string& path, uint64_t offset, const void* bytes,
             size_t size)
{
    const char* from = static_cast<const char*>(bytes);
    while (size != 0) {
        const int64_t written = writeSomeAt(file, offset, from, size);
        if (written <= 0) {
            failErrno(path);
        }
        from += written;
        offset += uint64_t(written);
        size -= size_t(written);
    }
}

void readAt(SystemFile file, const std::string& path, uint64_t offset, void* bytes, size_t size)
{
    char* to = static_cast<char*>(bytes);
    while (size != 0) {
        const int64_t got = readSomeAt(file, offset, to, size);
        if (got < 0) failErrno(path);
        if (got == 0) failIo(path, "became shorter while it was read");
        to += got;
        offset += uint64_t(got);
        size -= size_t(got);
    }
}

uint64_t mostOfPipe = uint64_t(512) << 20;

// Copies all bytes that come from the pipe `from` into the file `to`. Returns their number. Throws
// if there are more than mostOfPipe.
uint64_t keepPipe(SystemFile from, const std::string& fromName, SystemFile to)
{
    std::vector<char> buffer(1 << 20);
    uint64_t size = 0;
    for (;;) {
        const int64_t got = readSome(from, buffer.data(), buffer.size());
        if (got < 0) failErrno(fromName);
        if (got == 0) return size;
        if (uint64_t(got) > mostOfPipe - size)
            throw Failure{exitFormat,
                          formatText("%s: more than %llu bytes come through the pipe, and that is "
                                     "the limit; --max-input sets another",
                                     fromName.c_str(), wide(mostOfPipe))};
        writeAt(to, fromName, size, buffer.data(), size_t(got));
        size += uint64_t(got);
    }
}

// Returns whether a file of this size has more bytes. Files that the system makes up, such as those
// of /proc, have bytes although their size is 0.
bool isLarger(SystemFile file, uint64_t size)
{
    char byte;
    return size == 0 && readSomeAt(file, 0, &byte, 1) > 0;
}

void writeAll(SystemFile stream, const std::string& name, const void* bytes, size_t size)
{
    const char* from = static_cast<const char*>(bytes);
    while (size != 0) {
        const int64_t written = writeSome(stream, from, size);
        if (written <= 0) failErrno(name);
        from += written;
        size -= size_t(written);
    }
}

// Copies a file to a stream. `name` is the name of the stream in messages.
void copyToStream(SystemFile from, SystemFile stream, const std::string& name)
{
    std::vector<char> buffer(1 << 20);
    for (uint64_t at = 0;;) {
        const int64_t got = readSomeAt(from, at, buffer.data(), buffer.size());
        if (got < 0) failErrno(name);
        if (got == 0) return;
        writeAll(stream, name, buffer.data(), size_t(got));
        at += uint64_t(got);
    }
}

// The temporary files that are removed if the program is interrupted. Few are open at once. If the
// array is full, further files are not registered, and an interruption leaves them behind.
std::atomic<const TemporaryFile*> openTemporaries[64];
static_assert(std::atomic<const TemporaryFile*>::is_always_lock_free,
              "a signal handler reads them");

void removeTemporaries()
{
    for (const std::atomic<const TemporaryFile*>& place : openTemporaries)
        if (const TemporaryFile* const file = place.load(); file != nullptr && file->name[0] != 0)
            removeIn(file->folder, file->name);
}

// Registers a file, which must stay at its address until forgetTemporary.
void rememberTemporary(const TemporaryFile* file)
{
    static const bool installed = [] {
        onInterrupt(removeTemporaries);
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

// Throws if something is at the path and must not be overwritten. isThere says whether the caller
// could read `facts`; if not, errno says why. `path` and `refusal` are for the message.
void checkOverwriteOf(bool isThere, const FileFacts& facts, const std::string& path, bool overwrite,
                      const char* refusal)
{
    if (!isThere) {
        if (errno == ENOENT || errno == ENOTDIR) return;
        failErrno(path);
    }
    if (facts.kind == FileFacts::Kind::folder) failIo(path, "is a folder");
    if (facts.kind == FileFacts::Kind::other) failIo(path, "is not a regular file");
    if (!overwrite) failIo(path, refusal);
}

constexpr const char* kExists = "exists; -f overwrites it";

void checkOverwriteIn(SystemFile folder, const std::string& name, const std::string& path,
                      bool overwrite)
{
    FileFacts facts;
    const bool isThere = factsIn(folder, name, facts);
    checkOverwriteOf(isThere, facts, path, overwrite, kExists);
}

// Opens the folders in `name` below `root`, and makes missing ones. Returns the innermost. Each is
// opened relative to the open folder around it and not by its whole path, so that nobody can
// replace a folder that was checked already by a link.
SystemFile openFolders(const std::string& root, const std::string& name)
{
    if (!createFolders(root)) failErrno(root);
    SystemFile folder = openFolder(root);
    if (folder == kNoFile) failErrno(root);
    size_t start = 0;
    for (size_t slash; (slash = name.find('/', start)) != std::string::npos; start = slash + 1) {
        const std::string part = name.substr(start, slash - start),
                          path = root + "/" + name.substr(0, slash);
        const bool isMade = createFolderIn(folder, part) || errno == EEXIST;
        const SystemFile below = isMade ? openFolderIn(folder, part) : kNoFile;
        FileFacts facts;
        const bool isLink =
            below == kNoFile && factsIn(folder, part, facts) && facts.kind == FileFacts::Kind::link;
        closeFile(folder);
        if (isLink) failIo(path, "is a link, which could lead out of " + root);
        if (below == kNoFile) failIo(path, "cannot be made a folder");
        folder = below;
    }
    return folder;
}

constexpr std::string_view kTemporaryStart = ".sluice-",
                           kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr size_t kTemporaryLetters = 8;

bool hasDigit(const std::string& name) { return name.find_first_of("0123456789") != name.npos; }

// Tries random names for a temporary file until `make` succeeds. Throws if `make` fails for another
// reason than that the name is taken.
template <class Make>
void nameTemporary(TemporaryFile& file, const std::string& path, const Make& make)
{
    std::random_device random;
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::string name(kTemporaryStart);
        for (size_t i = 0; i < kTemporaryLetters; ++i)
            name += kLetters[random() % kLetters.size()];
        if (!hasDigit(name)) continue;
        static_assert(sizeof(file.name) > 16, "the name fits");
        std::memcpy(file.name, name.c_str(), name.size() + 1);
        if (make()) return;
        if (errno != EEXIST) break;
    }
    file.name[0] = 0;
    failErrno(path);
}

// Creates an empty temporary file beside `path`.
SystemFile openTemporary(TemporaryFile& file, const std::string& path)
{
    SystemFile made = kNoFile;
    nameTemporary(file, path, [&] {
        made = createIn(file.folder, file.name);
        if (made == kNoFile || holdFile(made)) return made != kNoFile;
        closeFile(made); // another process removes the file, which it believes abandoned
        errno = EEXIST;
        return false;
    });
    return made;
}

// Removes temporary files that killed runs left in a folder. A process searches each folder only
// once. isTemporaryName() also accepts names that a user may give, such as .sluice-settings. The
// tool's own names always contain a digit, so only names with a digit are removed.
void removeLeftovers(SystemFile folder)
{
    static std::mutex mutex;
    static std::set<std::pair<uint64_t, uint64_t>> seen;
    const std::lock_guard<std::mutex> lock(mutex);
    FileFacts facts;
    if (!factsOf(folder, facts) || !seen.emplace(facts.device, facts.number).second) return;
    removeAbandonedIn(
        folder, [](const std::string& name) { return isTemporaryName(name) && hasDigit(name); });
}

} // namespace

bool isTemporaryName(const std::string& path)
{
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    return name.size() == kTemporaryStart.size() + kTemporaryLetters &&
           name.substr(0, kTemporaryStart.size()) == kTemporaryStart &&
           name.find_first_not_of(kLetters, kTemporaryStart.size()) == name.npos;
}

void limitPipes(uint64_t bytes) { mostOfPipe = bytes; }

InputFile::InputFile(const std::string& path, InputKind kind)
    : m_name(path == "-" && kind == InputKind::any ? "stdin" : path)
{
    const bool standard = path == "-" && kind == InputKind::any;
    if (kind != InputKind::any) {
        m_file = openRegular(path, kind == InputKind::file);
        if (m_file == kNoFile && errno == EINVAL) failIo(m_name, "is no regular file");
    } else {
        m_file = standard ? standardInput() : openForReading(path);
    }
    if (m_file == kNoFile) failErrno(m_name);
    FileFacts facts; // stays empty for stdin, whose facts Wine cannot get
    if (!standard && !factsOf(m_file, facts)) failErrno(m_name);
    if (facts.kind == FileFacts::Kind::folder) failIo(m_name, "is a folder");
    m_size = facts.size;
    if (standard || facts.kind != FileFacts::Kind::file || isLarger(m_file, m_size)) {
        const SystemFile stream = m_file; // it can be read only in order, so its data are copied
        m_file = openUnnamedFor(m_name);
        m_size = keepPipe(stream, m_name, m_file);
        if (!standard) closeFile(stream);
    }
    factsOf(m_file, m_opened);
}

InputFile::InputFile(std::string name, Bytes content)
    : m_name(std::move(name)), m_content(std::move(content)), m_size(m_content.size())
{
}

InputFile::~InputFile()
{
    if (m_file != kNoFile) closeFile(m_file);
}

bool InputFile::facts(FileFacts& facts) const
{
    return m_file != kNoFile && factsOf(m_file, facts);
}

void InputFile::checkUnchanged() const
{
    FileFacts now;
    if (!facts(now)) return;
    const FileTime before = m_opened.modified, after = now.modified;
    if (now.size != m_opened.size || after.seconds != before.seconds ||
        after.nanoseconds != before.nanoseconds)
        failIo(m_name, "was changed while it was read");
}

Bytes InputFile::readStart(uint64_t size) const
{
    Bytes bytes(std::min(m_size, size));
    read(0, bytes.data(), bytes.size());
    return bytes;
}

Bytes InputFile::readAll() const { return readStart(m_size); }

std::string InputFile::readText(uint64_t maxSize) const
{
    if (m_size > maxSize)
        throw Failure{exitUsage, m_name + ": is larger than " + sizeText(maxSize)};
    std::string text(size_t(m_size), '\0');
    read(0, text.data(), text.size());
    const std::string_view mark = "\xef\xbb\xbf";
    if (text.compare(0, mark.size(), mark) == 0) text.erase(0, mark.size());
    size_t kept = 0;
    for (size_t i = 0; i < text.size(); ++i)
        if (text[i] != '\r' || (i + 1 < text.size() && text[i + 1] != '\n')) text[kept++] = text[i];
    text.resize(kept);
    return text;
}

void InputFile::read(uint64_t offset, void* bytes, size_t size) const
{
    if (offset > m_size || size > m_size - offset) failIo(m_name, "is too short");
    m_blockBytes == 0 ? readPlain(offset, bytes, size) : readChecked(offset, bytes, size);
}

void InputFile::readPlain(uint64_t offset, void* bytes, size_t size) const
{
    offset += m_begin;
    if (m_file != kNoFile) {
        readAt(m_file, m_name, offset, bytes, size);
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
    if (path == "-" || leadsToStream(path)) return;
    FileFacts facts;
    const bool isThere = factsOf(path, false, facts);
    checkOverwriteOf(isThere, facts, path, overwrite, refusal != nullptr ? refusal : kExists);
}

void refuseOwnInput(const std::string& output, const std::vector<std::string>& inputs)
{
    FileFacts facts, other;
    if (output == "-" || !factsOf(output, true, facts) || facts.kind != FileFacts::Kind::file)
        return;
    for (const std::string& input : inputs)
        if (input != "-" && factsOf(input, true, other) && isSameFile(other, facts))
            failIo(output, "is an input too (" + input + "), and would be lost");
}

void refuseSameOutputs(const std::vector<std::string>& outputs)
{
    namespace fs = std::filesystem;
    std::set<std::string> seen;
    for (const std::string& output : outputs) {
        if (output.empty() || output == "-" || leadsToStream(output)) continue;
        std::error_code error;
        const fs::path path = fs::absolute(fs::u8path(followLinks(output)), error);
        if (!seen.insert(foldedFileName(fs::weakly_canonical(path, error).u8string())).second)
            throw Failure{exitUsage, output + ": is the file of two outputs"};
    }
}

void checkOutput(const std::string& path, bool overwrite, const std::vector<std::string>& inputs)
{
    if (path == "-" && isTerminal(OutputStream::out))
        throw Failure{exitUsage, "-o -: stdout is a terminal; redirect it, or name a file"};
    refuseOwnInput(path, inputs);
    checkOverwrite(path, overwrite);
}

OutputFile::OutputFile(const std::string& path, bool overwrite)
    : m_path(path), m_overwrite(overwrite)
{
    checkOverwrite(path, overwrite);
    if (path == "-") {
        m_path = "stdout";
        m_file = openUnnamedFor(m_path);
        return;
    }
    if (leadsToStream(path)) {
        m_stream = openStream(path);
        if (m_stream == kNoFile) failErrno(path);
        try {
            m_file = openUnnamedFor(m_path);
        } catch (...) {
            closeFile(m_stream);
            throw;
        }
        return;
    }
    // If the path is a link, the link stays and the file to which it leads is replaced.
    const std::filesystem::path whole = std::filesystem::u8path(followLinks(path));
    const std::string folder = whole.parent_path().u8string();
    m_name = whole.filename().u8string();
    m_temporary.folder = openFolder(folder.empty() ? "." : folder);
    if (m_temporary.folder == kNoFile) failErrno(path);
    begin();
}

OutputFile::OutputFile(const std::string& root, const std::string& name, bool overwrite)
    : m_path(root + "/" + name), m_name(name.substr(name.rfind('/') + 1)), m_overwrite(overwrite)
{
    checkFileName(name, m_path);
    m_temporary.folder = openFolders(root, name);
    begin();
}

OutputFile::OutputFile(SystemFile folder, std::string name, std::string path)
    : m_path(std::move(path)), m_name(std::move(name)), m_overwrite(true)
{
    m_temporary.folder = folder;
    begin();
}

void OutputFile::begin()
{
    try {
        checkOverwriteIn(m_temporary.folder, m_name, m_path, m_overwrite);
        removeLeftovers(m_temporary.folder);
        // The file is registered before it is created, so that an interruption between the two
        // steps leaves nothing behind.
        rememberTemporary(&m_temporary);
        m_file = createUnnamedIn(m_temporary.folder);
        if (m_file == kNoFile)
            m_file = openTemporary(m_temporary, m_path);
        else
            holdFile(m_file); // giveName() may name the file, and then others could remove it
        // If a file will be replaced, the new one gets its permissions.
        takeModeOf(m_temporary.folder, m_name, m_file);
    } catch (...) {
        forgetTemporary(&m_temporary);
        closeFile(m_temporary.folder);
        throw;
    }
}

OutputFile::~OutputFile()
{
    if (m_temporary.name[0] != 0) removeIn(m_temporary.folder, m_temporary.name);
    if (m_file != kNoFile) closeFile(m_file);
    if (m_temporary.folder != kNoFile) {
        forgetTemporary(&m_temporary);
        closeFile(m_temporary.folder);
    }
    if (m_stream != kNoFile) closeFile(m_stream);
}

void OutputFile::write(uint64_t offset, const void* bytes, size_t size)
{
    writeAt(m_file, m_path, offset, bytes, size);
}

void OutputFile::read(uint64_t offset, void* bytes, size_t size) const
{
    readAt(m_file, m_path, offset, bytes, size);
}

void OutputFile::makeExecutable()
{
    if (m_temporary.folder == kNoFile) return; // stdout and devices keep their permissions
    makeFileExecutable(m_file);
    m_isExecutable = true;
}

void OutputFile::sync()
{
    if (m_temporary.folder != kNoFile && !syncFile(m_file)) failErrno(m_path);
}

void OutputFile::commit()
{
    if (m_temporary.folder == kNoFile) {
        copyToStream(m_file, m_stream != kNoFile ? m_stream : standardOutput(), m_path);
        return;
    }
    if (!flushFile(m_file)) failErrno(m_path);
    giveName();
    forgetTemporary(&m_temporary);
    m_temporary.name[0] = 0;
    closeFile(m_file);
    m_file = kNoFile;
}

void OutputFile::giveName()
{
    const SystemFile folder = m_temporary.folder;
    if (m_temporary.name[0] == 0) {
        if (linkIn(m_file, folder, m_name)) return;
        if (errno != EEXIST) {
            copyToNamed();
        } else { // a file replaces another by being renamed, so it needs a name
            checkOverwriteIn(folder, m_name, m_path, m_overwrite);
            nameTemporary(m_temporary, m_path,
                          [&] { return linkIn(m_file, folder, m_temporary.name); });
        }
    }
    // Check again: another process may have created the file since the first check.
    checkOverwriteIn(folder, m_name, m_path, m_overwrite);
    if (renameIn(folder, m_temporary.name, m_name, m_overwrite)) return;
    if (errno == EEXIST) failIo(m_path, kExists);
    failErrno(m_path);
}

// Copies the unnamed file to a named temporary file, which takes its place. This is needed on file
// systems that cannot give a name to an unnamed file.
void OutputFile::copyToNamed()
{
    const SystemFile named = openTemporary(m_temporary, m_path), unnamed = m_file;
    m_file = named;
    try {
        copyToStream(unnamed, named, m_path);
    } catch (...) {
        closeFile(unnamed);
        throw;
    }
    closeFile(unnamed);
    takeModeOf(m_temporary.folder, m_name, m_file);
    if (m_isExecutable) makeFileExecutable(m_file);
}

void writeStdout(const void* bytes, size_t size)
{
    writeAll(standardOutput(), "stdout", bytes, size);
}

void makeFolder(const std::string& path) { closeFile(openFolders(path, "")); }

void checkFileName(const std::string& name, const std::string& path)
{
    const std::string why = whyNoFileName(name);
    if (!why.empty()) failIo(path, "cannot be a file here: " + why);
}

} // namespace sluice
