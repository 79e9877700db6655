// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/cache_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>

#include <xxhash.h>

#include "tools/common/files.h"

namespace sluice {
namespace {

constexpr uint8_t kMagic[8] = {0x8b, 'S', 'L', 'C', 'A', 'C', 'H', 0x0a};
constexpr size_t kHeadBytes = 56, kCheckBytes = 16;
constexpr uint64_t kLargestEntry = uint64_t(1) << 30; // a larger file is none of ours
constexpr int64_t kDay = 24 * 60 * 60;
constexpr int64_t kTouchSeconds = 60; // uses within this time leave an entry's age as it is
constexpr char kTag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                        "# Tiles that sluice pack has encoded: `sluice cache info` says more, and "
                        "any file of it may be removed.\n";
constexpr size_t kSignatureBytes = 43;
constexpr char kTagName[] = "/CACHEDIR.TAG";
constexpr char kTemporary[] = ".tmp-";

void storeCheck(const uint8_t* bytes, size_t size, uint8_t* to)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    storeLe64(to, hash.low64);
    storeLe64(to + 8, hash.high64);
}

size_t indexOf(EntryKind kind)
{
    return kind == EntryKind::tile ? 0 : kind == EntryKind::asset ? 1 : 2;
}

// The kind of an entry by the name of its file, 62 digits and a letter; false: it is none of ours.
bool kindOfName(const std::string& name, EntryKind& kind)
{
    if (name.size() != 63 ||
        name.substr(0, 62).find_first_not_of("0123456789abcdef") != std::string::npos)
        return false;
    kind = EntryKind(name[62]);
    return kind == EntryKind::tile || kind == EntryKind::asset || kind == EntryKind::stamps;
}

// An open file that is closed.
class OpenFile {
public:
    explicit OpenFile(SystemFile file) : m_file(file) {}
    ~OpenFile()
    {
        if (m_file != kNoFile) closeFile(m_file);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    operator SystemFile() const { return m_file; }

private:
    SystemFile m_file;
};

bool readWhole(SystemFile file, Bytes& bytes)
{
    for (size_t done = 0; done != bytes.size();) {
        const int64_t got = readSome(file, bytes.data() + done, bytes.size() - done);
        if (got <= 0) return false;
        done += size_t(got);
    }
    return true;
}

// Gives a file its name only when it is whole. Several processes may do so at once: the last one
// wins, and all of them have written the same.
bool writeFile(const std::string& path, const void* bytes, size_t size)
{
    return replaceFile(path, kTemporary, bytes, size);
}

// Calls back for each file of the cache's folders: its path, its name and what the system says of
// it. Files that vanish meanwhile are left out.
void forEachFile(const std::string& folder,
                 const std::function<void(const std::string& path, const std::string& name,
                                          const FileFacts& facts)>& call)
{
    constexpr char digits[] = "0123456789abcdef";
    for (int i = 0; i < 256; ++i) {
        const std::string part = folder + "/" + digits[i / 16] + digits[i % 16];
        std::vector<FolderEntry> entries;
        listFolder(part, entries);
        for (const FolderEntry& entry : entries)
            if (entry.facts.kind == FileFacts::Kind::file)
                call(part + "/" + entry.name, entry.name, entry.facts);
    }
}

bool isLeftover(const std::string& name) { return name.compare(0, 5, kTemporary) == 0; }

} // namespace

std::string hexText(const Digest& digest)
{
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const uint8_t byte : digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

Bytes makeCacheEntry(EntryKind kind, const Digest& digest, const Bytes& content)
{
    Bytes file(kHeadBytes + content.size() + kCheckBytes);
    std::memcpy(file.data(), kMagic, sizeof kMagic);
    std::memcpy(file.data() + 8, digest.data(), digest.size());
    file[40] = uint8_t(kind);
    storeLe64(file.data() + 48, content.size());
    std::copy(content.begin(), content.end(), file.begin() + kHeadBytes);
    storeCheck(file.data(), file.size() - kCheckBytes, file.data() + file.size() - kCheckBytes);
    return file;
}

std::optional<Bytes> readCacheEntry(EntryKind kind, const Digest& digest, const Bytes& file)
{
    if (file.size() < kHeadBytes + kCheckBytes) return {};
    const size_t size = file.size() - kHeadBytes - kCheckBytes;
    uint8_t head[kHeadBytes] = {}, check[kCheckBytes];
    std::memcpy(head, kMagic, sizeof kMagic);
    std::memcpy(head + 8, digest.data(), digest.size());
    head[40] = uint8_t(kind);
    storeLe64(head + 48, size);
    storeCheck(file.data(), file.size() - kCheckBytes, check);
    if (std::memcmp(file.data(), head, kHeadBytes) != 0 ||
        std::memcmp(file.data() + kHeadBytes + size, check, kCheckBytes) != 0)
        return {};
    return Bytes(file.begin() + kHeadBytes, file.end() - kCheckBytes);
}

CacheFolder::CacheFolder(std::string path, bool create) : m_path(std::move(path))
{
    FileFacts facts;
    const std::string tag = m_path + kTagName;
    if (factsOf(tag, true, facts)) {
        const Bytes start = InputFile(tag).readStart(kSignatureBytes);
        if (!std::equal(start.begin(), start.end(), kTag, kTag + kSignatureBytes))
            throw Failure{exitUsage, m_path + ": is no cache of sluice (its CACHEDIR.TAG says so)"};
        return;
    }
    if (!create) {
        const bool isThere = factsOf(m_path, true, facts);
        throw Failure{isThere ? exitUsage : exitIo,
                      m_path + (isThere ? ": is no cache of sluice" : ": there is no such folder")};
    }
    if (!createFolders(m_path)) throw Failure{exitIo, m_path + ": " + std::strerror(errno)};
    // Another process may be making the same cache: its temporary file does not count.
    std::vector<FolderEntry> entries;
    listFolder(m_path, entries);
    for (const FolderEntry& entry : entries)
        if (!isLeftover(entry.name) && !factsOf(tag, true, facts))
            throw Failure{exitUsage, m_path + ": is neither empty nor a cache of sluice"};
    if (writeFile(tag, kTag, sizeof kTag - 1)) return;
    const int error = errno;
    // Some file systems of Windows replace no file that another process has open, which made it.
    if (!isFile(tag)) throw Failure{exitIo, tag + ": " + std::strerror(error)};
}

std::string CacheFolder::pathOf(EntryKind kind, const Digest& digest) const
{
    const std::string name = hexText(digest);
    return m_path + "/" + name.substr(0, 2) + "/" + name.substr(2) + char(kind);
}

std::optional<Bytes> CacheFolder::find(EntryKind kind, const Digest& digest) const
{
    const OpenFile file(openForReading(pathOf(kind, digest), false));
    FileFacts facts;
    if (file == kNoFile || !factsOf(file, facts) || facts.kind != FileFacts::Kind::file ||
        facts.size > kLargestEntry)
        return {};
    Bytes bytes(size_t(facts.size));
    if (!readWhole(file, bytes)) return {};
    std::optional<Bytes> content = readCacheEntry(kind, digest, bytes);
    // The time of the last change is the time of the last use: reading alone does not set it.
    if (content && std::time(nullptr) - facts.modified.seconds > kTouchSeconds) touchFile(file);
    return content;
}

void CacheFolder::keep(EntryKind kind, const Digest& digest, const Bytes& content, bool quiet)
{
    const std::string path = pathOf(kind, digest);
    const Bytes file = makeCacheEntry(kind, digest, content);
    if (file.size() > kLargestEntry || writeFile(path, file.data(), file.size())) return;
    if (errno == ENOENT && !createFolder(path.substr(0, path.rfind('/'))) && errno == EEXIST)
        errno = ENOENT;
    if (writeFile(path, file.data(), file.size())) return;
    const int error = errno;
    if (!m_hasFailed.exchange(true) && !quiet)
        printMessage("sluice: %s: %s: the cache does not get this run's results\n", m_path.c_str(),
                     std::strerror(error));
}

CacheFolder::Usage CacheFolder::usage() const
{
    Usage usage;
    forEachFile(m_path, [&](const std::string&, const std::string& name, const FileFacts& facts) {
        EntryKind kind;
        if (isLeftover(name)) ++usage.leftovers;
        if (!kindOfName(name, kind)) return;
        const int64_t time = facts.modified.seconds;
        const bool first = usage.allEntries() == 0;
        usage.oldest = first ? time : std::min(usage.oldest, time);
        usage.youngest = first ? time : std::max(usage.youngest, time);
        ++usage.entries[indexOf(kind)];
        usage.bytes[indexOf(kind)] += facts.size;
    });
    return usage;
}

CacheFolder::Trimmed CacheFolder::trim(uint64_t limit) const
{
    struct Entry {
        int64_t seconds, nanoseconds;
        uint64_t size;
        std::string path;
    };
    std::vector<Entry> entries;
    uint64_t bytes = 0;
    const int64_t now = std::time(nullptr);
    forEachFile(m_path, [&](const std::string& path, const std::string& name,
                            const FileFacts& facts) {
        EntryKind kind;
        if (isLeftover(name) && now - facts.modified.seconds > kDay) removeFile(path);
        if (!kindOfName(name, kind)) return;
        entries.push_back({facts.modified.seconds, facts.modified.nanoseconds, facts.size, path});
        bytes += facts.size;
    });
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        if (a.seconds != b.seconds) return a.seconds < b.seconds;
        return a.nanoseconds != b.nanoseconds ? a.nanoseconds < b.nanoseconds : a.path < b.path;
    });
    Trimmed trimmed;
    for (const Entry& entry : entries) {
        if (bytes <= limit) break;
        bytes -= entry.size;
        if (!removeFile(entry.path)) continue; // someone else has removed it
        ++trimmed.entries;
        trimmed.bytes += entry.size;
    }
    return trimmed;
}

int runCacheInfo(const std::string& folder)
{
    const CacheFolder::Usage usage = CacheFolder(folder, false).usage();
    static const char* const names[] = {"tiles", "assets", "stamps"};
    for (size_t i = 0; i < std::size(names); ++i)
        std::printf("%-10s %10llu %12s\n", names[i], wide(usage.entries[i]),
                    sizeText(usage.bytes[i]).c_str());
    std::printf("%-10s %10llu %12s\n", "all", wide(usage.allEntries()),
                sizeText(usage.allBytes()).c_str());
    if (usage.leftovers != 0)
        std::printf("%-10s %10llu of processes that still run or were killed\n", "unfinished",
                    wide(usage.leftovers));
    if (usage.allEntries() == 0) return exitOk;
    const int64_t now = std::time(nullptr);
    const auto age = [&](int64_t time) { return double(std::max<int64_t>(now - time, 0)) / kDay; };
    std::printf("last used  %.1f days ago (the oldest), %.1f days ago (the youngest)\n",
                age(usage.oldest), age(usage.youngest));
    return exitOk;
}

int runCacheTrim(const std::string& folder, uint64_t limit, const CommonOptions& common)
{
    const CacheFolder::Trimmed trimmed = CacheFolder(folder, false).trim(limit);
    if (!common.quiet)
        std::printf("removed %llu entries, %s\n", wide(trimmed.entries),
                    sizeText(trimmed.bytes).c_str());
    return exitOk;
}

uint64_t sizeFromText(const std::string& option, const std::string& text)
{
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string unit = text.substr(digits);
    uint32_t shift = 0;
    for (const char* known : {"K", "M", "G", "T"}) {
        shift += 10;
        if (unit == known) break;
    }
    if (unit.empty()) shift = 0;
    const bool isKnown = unit.empty() || (unit.size() == 1 && std::strchr("KMGT", unit[0]));
    if (digits == 0 || digits > 18 || !isKnown)
        throw Failure{exitUsage, option + ": '" + text + "' is no size such as 500M or 20G"};
    const uint64_t number = std::stoull(text.substr(0, digits));
    if (number > UINT64_MAX >> shift)
        throw Failure{exitUsage, option + ": '" + text + "' is too large"};
    return number << shift;
}

} // namespace sluice
