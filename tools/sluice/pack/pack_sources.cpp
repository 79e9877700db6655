// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_sources.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include "tools/common/files.h"
#include "formats/archive_layout.h"
#include "tools/common/glob.h"
#include "tools/common/platform.h"
#include "tools/common/problems.h"
#include "tools/common/shard.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

// The file that the archive replaces, or to which stdout is redirected. It must not be packed.
class OwnOutput {
public:
    explicit OwnOutput(const std::string& path)
        : m_exists(
              (path == "-" ? factsOf(standardOutput(), m_facts) : factsOf(path, true, m_facts)) &&
              m_facts.kind == FileFacts::Kind::file)
    {
    }
    bool isSameFile(const FileFacts& file) const
    {
        return m_exists && sluice::isSameFile(file, m_facts);
    }

private:
    FileFacts m_facts;
    bool m_exists;
};

// A set of folders. A folder that does not exist is not added.
class Folders {
public:
    void add(const std::string& path)
    {
        FileFacts facts;
        if (factsOf(path.empty() ? "." : path, true, facts)) m_known.push_back(facts);
    }
    bool contain(const FileFacts& folder) const
    {
        return std::any_of(m_known.begin(), m_known.end(),
                           [&](const FileFacts& known) { return isSameFile(known, folder); });
    }

private:
    std::vector<FileFacts> m_known;
};

// Returns the folders to which shards or the build file are written. Shards must not pack them,
// since each would pack the others.
Folders shardFolders(const PackOptions& options)
{
    Folders folders;
    if (options.shard.empty() && options.emitNinja.empty()) return folders;
    for (const std::string& output : {options.output, options.emitNinja})
        if (!output.empty() && output != "-" && !leadsToStream(output))
            folders.add(fs::u8path(followLinks(output)).parent_path().u8string());
    return folders;
}

// Returns whether the file is an archive or a shard, which pack may replace.
bool isOurs(const std::string& path, bool isLink)
{
    const InputFile file(path, isLink ? InputKind::file : InputKind::fileNoLink);
    const Bytes start = file.readStart(sizeof kArchiveMagic);
    return isShard(file) || (start.size() == sizeof kArchiveMagic &&
                             std::memcmp(start.data(), kArchiveMagic, start.size()) == 0);
}

// Limit of folders that links lead to. A folder is read again for each link to it, so links can
// make a small tree endless.
constexpr uint64_t kMaxLinkedFolders = 65536;

// A file or folder that the Collector visits.
struct Entry {
    std::string name; // PackInput::name, then the path inside that input
    bool isFinal;     // as PackInput::isFinal
    std::string path;
    bool isNamed = false; // the entry is an input itself, so a link is followed
};

class Collector {
public:
    Collector(const std::vector<PackInput>& inputs, const PackOptions& options,
              const CommonOptions& common)
        : m_options(options), m_common(common), m_output(options.output),
          m_buildFile(options.emitNinja), m_shards(shardFolders(options)),
          m_several(inputs.size() > 1), m_isUsed(options.excludes.size(), 0)
    {
        if (!options.cache.empty()) m_cache.add(options.cache);
        std::error_code error;
        for (const PackInput& input : inputs)
            if (options.dereference && fs::is_directory(fs::u8path(input.path), error))
                m_roots.push_back(fs::canonical(fs::u8path(input.path), error));
        for (const PackInput& input : inputs)
            addInput(input);
    }

    void check() const;   // throws if something is wrong with the inputs
    void checkExcludes(); // throws if a glob of --exclude matches nothing
    PackSources take() { return std::move(m_sources); }

private:
    void addInput(const PackInput& input);
    void addFolder(const Entry& entry, const FileFacts& facts);
    void addEntry(const Entry& entry, FileFacts facts);
    void addFile(const Entry& entry, const FileFacts& facts, bool isLink);
    bool follow(const Entry& entry, FileFacts& facts);
    bool isExcluded(const Entry& entry, bool isFolder);
    void findExcluded(const Entry& folder);
    std::string nameOf(const Entry& entry) const
    {
        return storedName(entry.name, entry.isFinal, m_options);
    }
    void say(const char* what, const std::string& path, const char* why) const
    {
        if (m_common.verbosity > 0 && !m_common.quiet)
            printMessage("%s: %s (%s)\n", what, printable(path).c_str(), why);
    }
    void leaveOut(const std::string& path, const char* why) const { say("left out", path, why); }

    const PackOptions& m_options;
    const CommonOptions& m_common;
    OwnOutput m_output, m_buildFile;
    Folders m_shards, m_cache;
    PackSources m_sources;
    Problems m_badNames, m_unreadable;
    std::vector<fs::path> m_roots;   // the folders among the inputs, without links
    std::vector<FileFacts> m_around; // the current folder and all folders around it
    uint32_t m_links = 0;            // how many folders of m_around a link led to
    uint64_t m_linkedFolders = 0;
    // Several inputs may be a folder and also what is below it. So if there are several, m_taken
    // remembers what was taken, and nothing is taken twice.
    bool m_several;
    std::unordered_set<std::string> m_taken;
    // For each glob of --exclude: 1 if it has matched something.
    std::vector<char> m_isUsed;
    std::vector<Entry> m_excluded; // excluded folders
};

Entry entryIn(const Entry& folder, const std::string& name)
{
    return {folder.name.empty() ? name : folder.name + "/" + name, folder.isFinal,
            folder.path + (folder.path.back() == '/' ? "" : "/") + name, false};
}

bool Collector::isExcluded(const Entry& entry, bool isFolder)
{
    // If --strip leaves nothing of the name, globs are compared with the name before --strip.
    const std::string stored = nameOf(entry), &name = stored.empty() ? entry.name : stored;
    if (name.empty()) return false;
    bool any = false;
    for (size_t i = 0; i < m_isUsed.size(); ++i) {
        const std::string& glob = m_options.excludes[i];
        const bool meansFolder = !glob.empty() && glob.back() == '/';
        if (!matchesPath(glob, meansFolder && isFolder ? name + "/" : name)) continue;
        m_isUsed[i] = 1;
        any = true;
    }
    return any;
}

// Marks the globs of --exclude as used that match something inside an excluded folder.
void Collector::findExcluded(const Entry& folder)
{
    std::vector<FolderEntry> entries;
    listFolder(folder.path, entries);
    for (const FolderEntry& one : entries) {
        const bool isFolder = one.facts.kind == FileFacts::Kind::folder;
        const Entry entry = entryIn(folder, one.name);
        isExcluded(entry, isFolder);
        if (isFolder) findExcluded(entry);
    }
}

void Collector::checkExcludes()
{
    const auto firstUnused = [&] { return std::find(m_isUsed.begin(), m_isUsed.end(), 0); };
    for (const Entry& folder : m_excluded)
        if (firstUnused() != m_isUsed.end()) findExcluded(folder);
    const auto unused = firstUnused();
    if (unused != m_isUsed.end())
        throw Failure{exitUsage,
                      "--exclude: no name matches '" +
                          printable(m_options.excludes[size_t(unused - m_isUsed.begin())]) + "'"};
}

void Collector::addFile(const Entry& entry, const FileFacts& facts, bool isLink)
{
    if (m_output.isSameFile(facts)) {
        if (facts.size != 0 && !isOurs(entry.path, isLink))
            throw Failure{exitIo, entry.path +
                                      ": is among what is packed, and no archive that an earlier "
                                      "run wrote: it would be lost"};
        leaveOut(entry.path, "the archive itself");
        m_sources.leftOut.output = true;
        return;
    }
    if (m_buildFile.isSameFile(facts))
        throw Failure{exitIo, entry.path + ": is among what is packed, and would be lost: the "
                                           "build file replaces it"};
    std::string name = nameOf(entry);
    std::string why = whyNoArchiveName(name);
    if (!why.empty()) {
        if (name.empty() && m_options.strip != 0 && !entry.isFinal)
            why = formatText("has nothing left behind --strip %u", m_options.strip);
        if (m_options.skipBadNames) {
            leaveOut(entry.path, ("its name " + why).c_str());
            ++m_sources.leftOut.badNames;
        } else {
            const bool isOther = !name.empty() && entry.path != name;
            m_badNames.add(entry.path + (isOther ? " as '" + name + "'" : ""), why);
        }
        return;
    }
    if (m_sources.files.size() == SLUICE_ARCHIVE_MAX_ASSETS)
        throw Failure{exitUsage, formatText("more than %u files", SLUICE_ARCHIVE_MAX_ASSETS)};
    m_sources.files.push_back(
        {std::move(name), entry.path, facts.isExecutable, facts.size, kNoShare, isLink});
}

// Follows a link: `facts` become those of its target. Returns false if the link is left out.
bool Collector::follow(const Entry& entry, FileFacts& facts)
{
    if (!m_options.dereference && !entry.isNamed) {
        leaveOut(entry.path, "a link");
        ++m_sources.leftOut.links;
        return false;
    }
    if (!factsOf(entry.path, true, facts)) {
        m_unreadable.add(entry.path, errno == ELOOP ? "is a link that leads to itself"
                                                    : "is a link that leads nowhere");
        return false;
    }
    if (std::any_of(m_around.begin(), m_around.end(),
                    [&](const FileFacts& folder) { return isSameFile(folder, facts); })) {
        leaveOut(entry.path, "a link to a folder around it");
        ++m_sources.leftOut.loops;
        return false;
    }
    std::error_code error;
    const fs::path target = fs::canonical(fs::u8path(entry.path), error);
    if (facts.kind == FileFacts::Kind::file && isTemporaryName(target.generic_u8string())) {
        leaveOut(entry.path, "what a run of sluice has not finished");
        ++m_sources.leftOut.unfinished;
        return false;
    }
    if (entry.isNamed) return true;
    const bool isInside = std::any_of(m_roots.begin(), m_roots.end(), [&](const fs::path& root) {
        return std::mismatch(root.begin(), root.end(), target.begin(), target.end()).first ==
               root.end();
    });
    say("followed", entry.path, isInside ? "a link" : "a link out of the folders that are packed");
    ++m_sources.followed;
    m_sources.outside += isInside ? 0 : 1;
    return true;
}

void Collector::addEntry(const Entry& entry, FileFacts facts)
{
    using Kind = FileFacts::Kind;
    LeftOut& out = m_sources.leftOut;
    const bool isLink = facts.kind == Kind::link;
    FileFacts target = facts;
    if (isLink && (m_options.dereference || entry.isNamed)) factsOf(entry.path, true, target);
    if (isExcluded(entry, target.kind == Kind::folder)) {
        leaveOut(entry.path, "excluded");
        ++out.excluded;
        if (target.kind == Kind::folder) m_excluded.push_back(entry);
        return;
    }
    if (isLink && !follow(entry, facts)) return;
    const bool isFolder = facts.kind == Kind::folder;
    if (m_several && !m_taken.insert(entry.path + '\0' + nameOf(entry)).second) return;
    if (facts.kind == Kind::file && isTemporaryName(entry.path)) {
        leaveOut(entry.path, "what a run of sluice has not finished");
        ++out.unfinished;
    } else if (isFolder && m_cache.contain(facts)) {
        leaveOut(entry.path, "the cache");
        out.cache = true;
    } else if (isFolder) {
        const uint32_t links = isLink && !entry.isNamed ? 1 : 0;
        m_links += links;
        addFolder(entry, facts);
        m_links -= links;
    } else if (facts.kind == Kind::gone) {
        throw Failure{exitIo, entry.path + ": vanished while its folder was read"};
    } else if (facts.kind != Kind::file) {
        leaveOut(entry.path, "no regular file");
        ++out.special;
    } else {
        addFile(entry, facts, isLink);
    }
}

void Collector::addFolder(const Entry& entry, const FileFacts& facts)
{
    const std::string& folder = entry.path;
    if (m_shards.contain(facts))
        throw Failure{exitUsage, folder + ": shards, or their build file, would be written there, "
                                          "and each shard would pack the others; name another "
                                          "folder, or leave this one out with --exclude"};
    if (m_links != 0 && ++m_linkedFolders > kMaxLinkedFolders)
        throw Failure{exitUsage,
                      formatText("%s: links lead to more than %llu folders; --exclude leaves out",
                                 folder.c_str(), wide(kMaxLinkedFolders))};
    m_sources.folders.push_back(folder);
    std::vector<FolderEntry> entries;
    if (!listFolder(folder, entries)) throw Failure{exitIo, folder + ": " + std::strerror(errno)};
    if (entries.empty()) {
        leaveOut(folder, "an empty folder");
        ++m_sources.leftOut.emptyFolders;
    }
    m_around.push_back(facts);
    for (const FolderEntry& one : entries)
        addEntry(entryIn(entry, one.name), one.facts);
    m_around.pop_back();
}

void Collector::addInput(const PackInput& input)
{
    if (input.path == "-")
        throw Failure{exitUsage,
                      input.place + "-: stdin has no name to pack it under; only --raw takes it"};
    FileFacts facts;
    if (input.path.empty() || !factsOf(input.path, false, facts))
        return m_unreadable.add(input.place + input.path, std::strerror(errno));
    FileFacts target = facts;
    if (facts.kind == FileFacts::Kind::link) factsOf(input.path, true, target);
    if (target.kind == FileFacts::Kind::other)
        return m_unreadable.add(input.place + input.path, "is no regular file");
    const bool isFolder = target.kind == FileFacts::Kind::folder;
    // A folder may have no name, since its files have names of their own. A file needs one.
    const bool hasName = isFolder || !input.name.empty() || input.isFinal;
    addEntry({hasName ? input.name : fs::u8path(input.path).filename().u8string(), input.isFinal,
              input.path, true},
             facts);
}

void Collector::check() const
{
    m_unreadable.check(exitIo, "an input cannot be read", "inputs cannot be read");
    const std::string advice = "; rename the files, or leave them out with --skip-bad-names";
    m_badNames.check(exitUsage, "a name cannot stand in an archive" + advice,
                     "names cannot stand in an archive" + advice);
    if (!m_sources.files.empty()) return;
    const std::string leftOut = m_sources.leftOut.text();
    throw Failure{exitUsage, "there is nothing to pack" +
                                 (leftOut.empty() ? "" : "; left out: " + leftOut) +
                                 (m_sources.leftOut.links != 0 ? "; -L follows links" : "")};
}

// Removes repetitions of a file under one name. They occur if a list names a folder and also its
// files. `files` are sorted by name.
void dropRepeated(std::vector<ArchiveSource>& files)
{
    const auto isAgain = [](const ArchiveSource& a, const ArchiveSource& b) {
        FileFacts one, other;
        return a.name == b.name &&
               (a.path == b.path || (factsOf(a.path, true, one) && factsOf(b.path, true, other) &&
                                     isSameFile(one, other)));
    };
    files.erase(std::unique(files.begin(), files.end(), isAgain), files.end());
}

// Throws if one input is a file of a name and another one a folder of that name.
void checkFolders(const std::vector<ArchiveSource>& files)
{
    for (const ArchiveSource& source : files) {
        for (size_t slash = source.name.find('/'); slash != std::string::npos;
             slash = source.name.find('/', slash + 1)) {
            const std::string folder = source.name.substr(0, slash);
            const auto found = std::lower_bound(
                files.begin(), files.end(), folder,
                [](const ArchiveSource& a, const std::string& name) { return a.name < name; });
            if (found != files.end() && found->name == folder) {
                throw Failure{exitUsage, found->path + " and " + source.path + ": '" + folder +
                                             "' is a file and a folder"};
            }
        }
    }
}

} // namespace

std::string LeftOut::text() const
{
    std::string text;
    const auto add = [&](uint64_t count, const char* one, const char* many) {
        if (count == 0) return;
        text += text.empty() ? "" : ", ";
        text += count == 1 ? one : formatText("%llu %s", wide(count), many);
    };
    add(links, "1 link", "links");
    add(loops, "1 link to a folder around it", "links to folders around them");
    add(special, "1 special file", "special files");
    add(emptyFolders, "1 empty folder", "empty folders");
    add(excluded, "1 name excluded", "names excluded");
    add(badNames, "1 bad name", "bad names");
    add(unfinished, "1 unfinished file of sluice", "unfinished files of sluice");
    add(output ? 1 : 0, "the archive itself", "");
    add(cache ? 1 : 0, "the cache", "");
    return text;
}

PackSources collectSources(const std::vector<PackInput>& inputs, const PackOptions& options,
                           const CommonOptions& common)
{
    Collector collector(inputs, options, common);
    collector.check();
    collector.checkExcludes();
    PackSources sources = collector.take();
    std::sort(sources.files.begin(), sources.files.end(),
              [](const ArchiveSource& a, const ArchiveSource& b) { return a.name < b.name; });
    dropRepeated(sources.files);
    sortSources(sources.files);
    checkFolders(sources.files);
    if (common.quiet) return sources;
    const char* const more = common.verbosity > 0 ? "" : "; -v names them";
    if (sources.followed != 0)
        printMessage("sluice: followed %llu link%s, %llu of them out of the folders that are "
                     "packed%s\n",
                     wide(sources.followed), sources.followed == 1 ? "" : "s",
                     wide(sources.outside), more);
    const std::string leftOut = sources.leftOut.text();
    if (!leftOut.empty()) printMessage("sluice: left out: %s%s\n", leftOut.c_str(), more);
    return sources;
}

} // namespace sluice
