// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_sources.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tools/common/files.h"
#include "formats/archive_layout.h"
#include "tools/common/glob.h"
#include "tools/common/platform.h"
#include "tools/common/shard.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

// The file that the archive replaces or that stdout is redirected to. Packing must not read it.
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
        return m_exists && file.device == m_facts.device && file.number == m_facts.number;
    }

private:
    FileFacts m_facts;
    bool m_exists;
};

// Returns whether the file is an archive or a shard, which pack may replace.
bool isOurs(const std::string& path)
{
    const InputFile file(path);
    const Bytes start = file.readStart(sizeof kArchiveMagic);
    return isShard(file) || (start.size() == sizeof kArchiveMagic &&
                             std::memcmp(start.data(), kArchiveMagic, start.size()) == 0);
}

// Returns the last component of a path. For "a/", "a/." and ".." that is the name of the folder.
std::string lastComponent(const std::string& path)
{
    std::error_code error;
    fs::path whole = fs::absolute(fs::u8path(path), error).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    return whole.filename().u8string();
}

class Collector {
public:
    Collector(const PackOptions& options, const CommonOptions& common)
        : m_options(options), m_common(common), m_output(options.output),
          m_isUsed(options.excludes.size(), 0)
    {
    }

    void addInput(const std::string& input);
    void checkExcludes(); // throws if one matches nothing
    PackSources take() { return std::move(m_sources); }

private:
    void addFolder(const std::string& name, const std::string& folder);
    void addEntry(const std::string& name, const std::string& path, const FileFacts& facts);
    void addFile(std::string name, const std::string& path, const FileFacts& facts);
    bool isExcluded(const std::string& name, bool isFolder);
    void findExcluded(const std::string& name, const std::string& folder);
    void leaveOut(const std::string& path, const char* why) const
    {
        if (m_common.verbosity > 0 && !m_common.quiet)
            printMessage("left out: %s (%s)\n", printable(path).c_str(), why);
    }

    const PackOptions& m_options;
    const CommonOptions& m_common;
    OwnOutput m_output;
    PackSources m_sources;
    std::vector<char> m_isUsed;                                  // has the glob matched something?
    std::vector<std::pair<std::string, std::string>> m_excluded; // folders: name and path
};

bool Collector::isExcluded(const std::string& name, bool isFolder)
{
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

// Marks globs as used that match something inside an excluded folder.
void Collector::findExcluded(const std::string& name, const std::string& folder)
{
    std::vector<FolderEntry> entries;
    listFolder(folder, entries);
    for (const FolderEntry& entry : entries) {
        const bool isFolder = entry.facts.kind == FileFacts::Kind::folder;
        isExcluded(name + "/" + entry.name, isFolder);
        if (isFolder) findExcluded(name + "/" + entry.name, folder + "/" + entry.name);
    }
}

void Collector::checkExcludes()
{
    const auto firstUnused = [&] { return std::find(m_isUsed.begin(), m_isUsed.end(), 0); };
    for (const auto& [name, folder] : m_excluded)
        if (firstUnused() != m_isUsed.end()) findExcluded(name, folder);
    const auto unused = firstUnused();
    if (unused != m_isUsed.end())
        throw Failure{exitUsage,
                      "--exclude: no name matches '" +
                          printable(m_options.excludes[size_t(unused - m_isUsed.begin())]) + "'"};
}

void Collector::addFile(std::string name, const std::string& path, const FileFacts& facts)
{
    if (m_output.isSameFile(facts)) {
        if (facts.size != 0 && !isOurs(path))
            throw Failure{exitIo, path +
                                      ": is among what is packed, and no archive that an earlier "
                                      "run wrote: it would be lost"};
        leaveOut(path, "the archive itself");
        m_sources.leftOut.output = true;
        return;
    }
    if (!sluiceIsArchiveName(name.data(), name.size())) {
        throw Failure{
            exitUsage,
            path + ": its name cannot stand in an archive (UTF-8, no control characters, no '\\', "
                   "no drive letter, no '..')"};
    }
    if (m_sources.files.size() == SLUICE_ARCHIVE_MAX_ASSETS)
        throw Failure{exitUsage, formatText("more than %u files", SLUICE_ARCHIVE_MAX_ASSETS)};
    m_sources.files.push_back({std::move(name), path, facts.isExecutable, facts.size});
}

void Collector::addEntry(const std::string& name, const std::string& path, const FileFacts& facts)
{
    LeftOut& out = m_sources.leftOut;
    const bool isFolder = facts.kind == FileFacts::Kind::folder;
    if (isExcluded(name, isFolder)) {
        leaveOut(path, "excluded");
        ++out.excluded;
        if (isFolder) m_excluded.emplace_back(name, path);
    } else if (facts.kind == FileFacts::Kind::file && isTemporaryName(path)) {
        leaveOut(path, "what a run of sluice has not finished");
        ++out.unfinished;
    } else if (isFolder) {
        addFolder(name, path);
    } else if (facts.kind == FileFacts::Kind::link) {
        leaveOut(path, "a link");
        ++out.links;
    } else if (facts.kind == FileFacts::Kind::gone) {
        throw Failure{exitIo, path + ": vanished while its folder was read"};
    } else if (facts.kind != FileFacts::Kind::file) {
        leaveOut(path, "no regular file");
        ++out.special;
    } else {
        addFile(name, path, facts);
    }
}

void Collector::addFolder(const std::string& name, const std::string& folder)
{
    m_sources.folders.push_back(folder);
    std::vector<FolderEntry> entries;
    if (!listFolder(folder, entries)) throw Failure{exitIo, folder + ": " + std::strerror(errno)};
    if (entries.empty()) {
        leaveOut(folder, "an empty folder");
        ++m_sources.leftOut.emptyFolders;
    }
    const std::string start = folder.back() == '/' ? folder : folder + "/";
    for (const FolderEntry& entry : entries)
        addEntry(name + "/" + entry.name, start + entry.name, entry.facts);
}

void Collector::addInput(const std::string& input)
{
    if (input == "-")
        throw Failure{exitUsage, "-: stdin has no name to pack it under; only --raw takes it"};
    FileFacts facts;
    if (!factsOf(input, false, facts)) throw Failure{exitIo, input + ": " + std::strerror(errno)};
    if (facts.kind == FileFacts::Kind::link)
        throw Failure{exitUsage, input + ": is a link, and links are not followed"};
    const bool isFolder = facts.kind == FileFacts::Kind::folder;
    if (!isFolder && facts.kind != FileFacts::Kind::file)
        throw Failure{exitIo, input + ": is no regular file"};
    addEntry(isFolder ? lastComponent(input) : fs::u8path(input).filename().u8string(), input,
             facts);
}

// Throws if different inputs give a file and a folder the same name.
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
    add(special, "1 special file", "special files");
    add(emptyFolders, "1 empty folder", "empty folders");
    add(excluded, "1 name excluded", "names excluded");
    add(unfinished, "1 unfinished file of sluice", "unfinished files of sluice");
    add(output ? 1 : 0, "the archive itself", "");
    return text;
}

PackSources collectSources(const PackOptions& options, const CommonOptions& common)
{
    Collector collector(options, common);
    for (const std::string& input : options.inputs)
        collector.addInput(input);
    collector.checkExcludes();
    PackSources sources = collector.take();
    sortSources(sources.files);
    checkFolders(sources.files);
    const std::string leftOut = sources.leftOut.text();
    if (!leftOut.empty() && !common.quiet)
        printMessage("sluice: left out: %s%s\n", leftOut.c_str(),
                     common.verbosity > 0 ? "" : "; -v names them");
    return sources;
}

} // namespace sluice
