// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/cache_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <tuple>

#include <xxhash.h>

#include "tools/common/files.h"

namespace sluice {
namespace {

constexpr uint8_t kMagic[8] = {0x8b, 'S', 'L', 'C', 'A', 'C', 'H', 0x0a};
constexpr size_t kHeadBytes = 56, kCheckBytes = 16;
// The most bytes of an entry of the cache; a larger one is neither stored nor read. So a packed
// file above about 150 GB has no entry (which lists all its tiles), and a list of stamps has at
// most two million.
constexpr uint64_t kLargestTile = 2 << 20, kLargestOther = 128 << 20;
constexpr int64_t kDay = 24 * 60 * 60;
// Within this time, a second use does not update the entry's time of use.
constexpr int64_t kTouchSeconds = 60;
constexpr char kTag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                        "# Tiles that sluice pack has encoded: `sluice cache info` says more, and "
                        "any file of it may be removed.\n";
constexpr size_t kSignatureBytes = 43;
constexpr char kTagName[] = "CACHEDIR.TAG";
constexpr char kTemporary[] = ".tmp-"; // how temporary files of older versions begin
constexpr char kDigits[] = "0123456789abcdef";

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

// Reads the kind of an entry from the name of its file: 62 digits and a letter. Returns false for
// other files.
bool kindOfName(const std::string& name, EntryKind& kind)
{
    if (name.size() != 63 ||
        name.substr(0, 62).find_first_not_of("0123456789abcdef") != std::string::npos)
        return false;
    kind = EntryKind(name[62]);
    return kind == EntryKind::tile || kind == EntryKind::asset || kind == EntryKind::stamps;
}

bool readWhole(SystemFile file, Bytes& bytes)
{
    for (size_t done = 0; done != bytes.size();) {
        const int64_t got = readSome(file, bytes.data() + done, bytes.size() - done);
        if (got <= 0) return false;
        done += size_t(got);
    }
    return true;
}

// Writes a file that gets its name when it is complete. Several processes may write the same file;
// the last one wins, which is harmless, since all write the same bytes. `path` is for messages.
// Throws a Failure.
void writeIn(OpenFile folder, const std::string& name, const std::string& path, const void* bytes,
             size_t size)
{
    FileFacts facts;
    if (factsIn(folder, name, facts) && facts.kind != FileFacts::Kind::file)
        throw Failure{exitIo, path + ": is no regular file, so it is not ours"};
    OutputFile file(folder.release(), name, path);
    file.write(0, bytes, size);
    file.commit();
}

// Returns whether a temporary file may have this name: OutputFile gave it, or an older version did,
// as ".tmp-" and six or eight letters and digits.
bool isLeftover(const std::string& name)
{
    if (isTemporaryName(name)) return true;
    constexpr char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    constexpr size_t start = sizeof kTemporary - 1;
    return (name.size() == start + 6 || name.size() == start + 8) &&
           name.compare(0, start, kTemporary) == 0 &&
           name.find_first_not_of(letters, start) == name.npos;
}

// Calls `call` for each file in the cache, with the two digits that name its folder, that folder,
// and the file's name and properties. Files that vanish meanwhile are left out.
void forEachFile(SystemFile cache,
                 const std::function<void(const std::string& digits, SystemFile folder,
                                          const FolderEntry& entry)>& call)
{
    for (int i = 0; i < 256; ++i) {
        const std::string digits = {kDigits[i / 16], kDigits[i % 16]};
        const OpenFile part(openFolderIn(cache, digits));
        std::vector<FolderEntry> entries;
        if (part != kNoFile) listFolder(part, entries);
        for (const FolderEntry& entry : entries)
            if (entry.facts.kind == FileFacts::Kind::file) call(digits, part, entry);
    }
}

bool isSignature(SystemFile folder)
{
    const OpenFile tag(openIn(folder, kTagName));
    Bytes start(kSignatureBytes);
    return tag != kNoFile && readWhole(tag, start) && std::equal(start.begin(), start.end(), kTag);
}

uint64_t largestEntry(EntryKind kind)
{
    return kind == EntryKind::tile ? kLargestTile : kLargestOther;
}

} // namespace

std::string hexText(const Digest& digest)
{
    std::string text;
    for (const uint8_t byte : digest) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
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

CacheFolder::CacheFolder(std::string path, bool create)
    : m_path(std::move(path)), m_folder(openFolder(m_path))
{
    FileFacts facts;
    if (m_folder == kNoFile && !create) {
        const bool isThere = factsOf(m_path, true, facts);
        throw Failure{isThere ? exitUsage : exitIo,
                      m_path + (isThere ? ": is no cache of sluice" : ": there is no such folder")};
    }
    if (m_folder == kNoFile) {
        if (!createFolders(m_path)) throw Failure{exitIo, m_path + ": " + std::strerror(errno)};
        m_folder = OpenFile(openFolder(m_path));
        if (m_folder == kNoFile) throw Failure{exitIo, m_path + ": " + std::strerror(errno)};
    }
    if (factsIn(m_folder, kTagName, facts)) {
        if (isSignature(m_folder)) return;
        throw Failure{exitUsage, m_path + ": is no cache of sluice (its CACHEDIR.TAG says so)"};
    }
    if (!create) throw Failure{exitUsage, m_path + ": is no cache of sluice"};
    // Another process may just be creating the same cache, so its temporary files do not count.
    std::vector<FolderEntry> entries;
    listFolder(m_folder, entries);
    for (const FolderEntry& entry : entries)
        if (!isLeftover(entry.name) && !factsIn(m_folder, kTagName, facts))
            throw Failure{exitUsage, m_path + ": is neither empty nor a cache of sluice"};
    try {
        writeIn(OpenFile(openFolder(m_path)), kTagName, m_path + "/" + kTagName, kTag,
                sizeof kTag - 1);
    } catch (const Failure&) {
        // Some file systems on Windows do not replace a file that another process has open. Then
        // that process has written the same tag.
        if (!isSignature(m_folder)) throw;
    }
}

// Opens the subfolder that holds entries whose digests begin with the first two of `digits`.
OpenFile CacheFolder::partOf(const std::string& digits) const
{
    return OpenFile(openFolderIn(m_folder, digits.substr(0, 2)));
}

std::optional<Bytes> CacheFolder::find(EntryKind kind, const Digest& digest) const
{
    const std::string digits = hexText(digest);
    const OpenFile part = partOf(digits);
    if (part == kNoFile) return {};
    const OpenFile file(openIn(part, digits.substr(2) + char(kind)));
    FileFacts facts;
    if (file == kNoFile || !factsOf(file, facts) || facts.size > largestEntry(kind)) return {};
    Bytes bytes(size_t(facts.size));
    if (!readWhole(file, bytes)) return {};
    std::optional<Bytes> content = readCacheEntry(kind, digest, bytes);
    // The file's modification time serves as the entry's time of last use. Reading does not change
    // it.
    if (content && std::time(nullptr) - facts.modified.seconds > kTouchSeconds) touchFile(file);
    return content;
}

void CacheFolder::keep(EntryKind kind, const Digest& digest, const Bytes& content, bool quiet)
{
    const Bytes file = makeCacheEntry(kind, digest, content);
    if (file.size() > largestEntry(kind)) return;
    const std::string digits = hexText(digest);
    OpenFile part = partOf(digits);
    if (part == kNoFile && errno == ENOENT) {
        createFolderIn(m_folder, digits.substr(0, 2));
        part = partOf(digits);
    }
    const std::string path = m_path + "/" + digits.substr(0, 2);
    try {
        if (part == kNoFile) throw Failure{exitIo, path + ": " + std::strerror(errno)};
        writeIn(std::move(part), digits.substr(2) + char(kind), path + "/" + digits.substr(2, 8),
                file.data(), file.size());
    } catch (const Failure& failure) {
        if (!m_hasFailed.exchange(true) && !quiet)
            printMessage("sluice: %s; the cache does not get this run's results\n",
                         failure.text.c_str());
    }
}

CacheFolder::Usage CacheFolder::usage() const
{
    Usage usage;
    forEachFile(m_folder, [&](const std::string&, SystemFile, const FolderEntry& entry) {
        EntryKind kind;
        if (isLeftover(entry.name)) ++usage.leftovers;
        if (!kindOfName(entry.name, kind)) return;
        const int64_t time = entry.facts.modified.seconds;
        const bool first = usage.allEntries() == 0;
        usage.oldest = first ? time : std::min(usage.oldest, time);
        usage.youngest = first ? time : std::max(usage.youngest, time);
        ++usage.entries[indexOf(kind)];
        usage.bytes[indexOf(kind)] += entry.facts.size;
    });
    return usage;
}

CacheFolder::Trimmed CacheFolder::trim(uint64_t limit) const
{
    struct Entry {
        FileTime used;
        uint64_t size;
        std::string digits, name;
    };
    std::vector<Entry> entries;
    uint64_t bytes = 0;
    const int64_t now = std::time(nullptr);
    forEachFile(m_folder,
                [&](const std::string& digits, SystemFile part, const FolderEntry& found) {
                    EntryKind kind;
                    const FileFacts& facts = found.facts;
                    if (isLeftover(found.name) && now - facts.modified.seconds > kDay)
                        removeIn(part, found.name.c_str());
                    if (!kindOfName(found.name, kind)) return;
                    entries.push_back({facts.modified, facts.size, digits, found.name});
                    bytes += facts.size;
                });
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.used.seconds, a.used.nanoseconds, a.digits, a.name) <
               std::tie(b.used.seconds, b.used.nanoseconds, b.digits, b.name);
    });
    Trimmed trimmed;
    for (const Entry& entry : entries) {
        if (bytes <= limit) break;
        bytes -= entry.size;
        const OpenFile part = partOf(entry.digits);
        if (part == kNoFile || !removeIn(part, entry.name.c_str()))
            continue; // another process was faster
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

} // namespace sluice
