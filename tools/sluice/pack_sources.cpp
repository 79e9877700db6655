// SPDX-License-Identifier: MIT OR Apache-2.0
#include "pack_sources.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "glob.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

// The file that the archive will replace, or that stdout is: packing must not read it.
class OwnOutput {
public:
    explicit OwnOutput(const std::string& path)
        : m_exists((path == "-" ? fstat(STDOUT_FILENO, &m_information)
                                : stat(path.c_str(), &m_information)) == 0 &&
                   S_ISREG(m_information.st_mode))
    {
    }
    bool is(const struct stat& file) const
    {
        return m_exists && file.st_dev == m_information.st_dev &&
               file.st_ino == m_information.st_ino;
    }

private:
    struct stat m_information = {};
    bool m_exists;
};

// The last component of a path, also of "a/", "a/." and "..".
std::string lastComponent(const fs::path& path)
{
    std::error_code error;
    fs::path whole = fs::absolute(path, error).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    return whole.filename().string();
}

class Collector {
public:
    Collector(const PackOptions& options, const CommonOptions& common)
        : m_options(options), m_common(common), m_output(options.output)
    {
    }

    void addInput(const std::string& input);
    PackSources take() { return std::move(m_sources); }

private:
    void addFolder(const std::string& name, const fs::path& folder);
    void addEntry(const std::string& name, const fs::path& path, const fs::file_status& status);
    void addFile(std::string name, const fs::path& path, const struct stat& information);
    bool isExcluded(const std::string& name) const
    {
        return std::any_of(m_options.excludes.begin(), m_options.excludes.end(),
                           [&](const std::string& glob) { return matchesPath(glob, name); });
    }
    void leaveOut(const fs::path& path, const char* why) const
    {
        if (m_common.verbosity > 0 && !m_common.quiet)
            std::fprintf(stderr, "left out: %s (%s)\n", printable(path.string()).c_str(), why);
    }

    const PackOptions& m_options;
    const CommonOptions& m_common;
    OwnOutput m_output;
    PackSources m_sources;
};

void Collector::addFile(std::string name, const fs::path& path, const struct stat& information)
{
    if (m_output.is(information)) {
        leaveOut(path, "the archive itself");
        m_sources.leftOut.output = true;
        return;
    }
    if (!sluiceIsArchiveName(name.data(), name.size())) {
        throw Failure{
            exitUsage,
            path.string() +
                ": its name cannot stand in an archive (UTF-8, no control characters, no '\\', "
                "no drive letter, no '..')"};
    }
    if (m_sources.files.size() == SLUICE_ARCHIVE_MAX_ASSETS)
        throw Failure{exitUsage, formatText("more than %u files", SLUICE_ARCHIVE_MAX_ASSETS)};
    const bool executable = (information.st_mode & S_IXUSR) != 0;
    m_sources.files.push_back(
        {std::move(name), path.string(), executable, uint64_t(information.st_size)});
}

void Collector::addEntry(const std::string& name, const fs::path& path,
                         const fs::file_status& status)
{
    LeftOut& out = m_sources.leftOut;
    struct stat information = {};
    if (isExcluded(name)) {
        leaveOut(path, "excluded");
        ++out.excluded;
    } else if (fs::is_directory(status)) {
        addFolder(name, path);
    } else if (fs::is_symlink(status)) {
        leaveOut(path, "a link");
        ++out.links;
    } else if (!fs::is_regular_file(status)) {
        leaveOut(path, "no regular file");
        ++out.special;
    } else if (lstat(path.c_str(), &information) == 0) {
        addFile(name, path, information);
    } else {
        throw Failure{exitIo, path.string() + ": vanished while its folder was read"};
    }
}

void Collector::addFolder(const std::string& name, const fs::path& folder)
{
    std::error_code error;
    m_sources.folders.push_back(folder.string());
    fs::directory_iterator entry(folder, error);
    if (!error && entry == fs::directory_iterator()) {
        leaveOut(folder, "an empty folder");
        ++m_sources.leftOut.emptyFolders;
    }
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const fs::path path = entry->path();
        const fs::file_status status = entry->symlink_status(error);
        if (error) break;
        addEntry(name + "/" + path.filename().string(), path, status);
    }
    if (error) throw Failure{exitIo, folder.string() + ": " + error.message()};
}

void Collector::addInput(const std::string& input)
{
    if (input == "-")
        throw Failure{exitUsage, "-: stdin has no name to pack it under; only --raw takes it"};
    std::error_code error;
    const fs::file_status status = fs::symlink_status(input, error);
    if (fs::is_symlink(status))
        throw Failure{exitUsage, input + ": is a link, and links are not followed"};
    if (!fs::is_directory(status) && !fs::is_regular_file(status))
        throw Failure{exitIo,
                      input + ": " + (fs::exists(status) ? "is no regular file" : error.message())};
    const bool isFolder = fs::is_directory(status);
    addEntry(isFolder ? lastComponent(input) : fs::path(input).filename().string(), input, status);
}

// Different inputs may give a file and a folder of one name.
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
    add(output ? 1 : 0, "the archive itself", "");
    return text;
}

PackSources collectSources(const PackOptions& options, const CommonOptions& common)
{
    Collector collector(options, common);
    for (const std::string& input : options.inputs)
        collector.addInput(input);
    PackSources sources = collector.take();
    sortSources(sources.files);
    checkFolders(sources.files);
    const std::string leftOut = sources.leftOut.text();
    if (!leftOut.empty() && !common.quiet)
        std::fprintf(stderr, "sluice: left out: %s%s\n", leftOut.c_str(),
                     common.verbosity > 0 ? "" : "; -v names them");
    return sources;
}

} // namespace sluice
