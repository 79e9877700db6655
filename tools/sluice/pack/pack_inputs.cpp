// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_inputs.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <sluice/sluice_formats.h>

#include "tools/common/files.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

// Returns the name without "./", doubled '/' and a '/' at either end; "." becomes an empty name.
std::string plainName(std::string_view text)
{
    std::string name;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('/', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        if (!part.empty() && part != ".") {
            if (!name.empty()) name += '/';
            name += part;
        }
        begin = end + 1;
    }
    return name;
}

// Returns the last component of a normalized path; empty if the normalized path is ".", ".." or a
// root, since these are no names.
std::string lastComponent(const std::string& path)
{
    fs::path whole = fs::u8path(path).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    const std::string last = whole.filename().u8string();
    return last == "." || last == ".." ? "" : last;
}

// Returns a name made of all components of a path that is relative to `folder`. The name of an
// absolute path is the part below `folder` or, if the path is not in `folder`, the part below the
// root.
std::string wholeName(const std::string& path, const std::string& folder)
{
    fs::path name = fs::u8path(path).lexically_normal();
    if (name.is_absolute()) {
        std::error_code error;
        const fs::path below = name.lexically_relative(
            fs::absolute(fs::u8path(folder.empty() ? "." : folder), error).lexically_normal());
        name = below.empty() || *below.begin() == ".." ? name.relative_path() : below;
    }
    return plainName(name.generic_u8string());
}

std::string inFolder(const std::string& folder, const std::string& path)
{
    if (folder.empty() || fs::u8path(path).is_absolute()) return path;
    return folder + (folder.back() == '/' ? "" : "/") + path;
}

// Reads a list of "FILE" or "FILE<tab>NAME". If the list contains a NUL, entries end with NUL, as
// those of `find -print0` do. Otherwise each line is an entry.
void readList(const PackOptions& options, std::vector<PackInput>& inputs)
{
    const InputFile file(options.list);
    const std::string text = file.readText(kMaxListBytes);
    if (text.compare(0, 2, "\xff\xfe") == 0 || text.compare(0, 2, "\xfe\xff") == 0)
        throw Failure{exitUsage, file.name() + ": is UTF-16; write the list as UTF-8"};
    const char end = text.find('\0') != std::string::npos ? '\0' : '\n';
    uint64_t number = 0;
    for (size_t begin = 0; begin < text.size();) {
        const size_t stop = std::min(text.find(end, begin), text.size());
        const std::string entry = text.substr(begin, stop - begin);
        begin = stop + 1;
        ++number;
        if (entry.empty()) continue;
        const std::string place = formatText("%s:%llu: ", file.name().c_str(), wide(number));
        // A name holds no tab, but a path may, so the last tab counts. An entry of `find -print0`
        // is a path alone, whose tabs do not count.
        FileFacts facts;
        const bool isPath =
            end == '\0' && factsOf(inFolder(options.directory, entry), false, facts);
        const size_t tab = isPath ? entry.npos : entry.rfind('\t');
        const std::string path = entry.substr(0, tab);
        if (path.empty()) throw Failure{exitUsage, place + "there is no FILE before the tab"};
        PackInput input = {inFolder(options.directory, path), wholeName(path, options.directory),
                           false, place};
        if (tab != std::string::npos) {
            const std::string name = entry.substr(tab + 1);
            if (name.empty()) throw Failure{exitUsage, place + "there is no NAME behind the tab"};
            // A name that begins with '/' stays as it is, and is refused as a bad name.
            input.name = name[0] == '/' ? name : plainName(name);
            input.isFinal = true;
        }
        inputs.push_back(std::move(input));
    }
}

} // namespace

std::string storedName(const std::string& name, bool isFinal, const PackOptions& options)
{
    size_t begin = 0;
    for (uint32_t i = 0; !isFinal && i < options.strip; ++i) {
        const size_t slash = name.find('/', begin);
        if (slash == std::string::npos) return "";
        begin = slash + 1;
    }
    const std::string kept = name.substr(begin), prefix = plainName(options.prefix);
    return prefix.empty() || kept.empty() ? kept : prefix + "/" + kept;
}

std::string whyNoArchiveName(const std::string& name)
{
    if (sluiceIsArchiveName(name.data(), name.size()) != 0) return "";
    if (name.size() > SLUICE_ARCHIVE_MAX_NAME_LENGTH)
        return formatText("has more than %u bytes", SLUICE_ARCHIVE_MAX_NAME_LENGTH);
    for (size_t at = 0; at < name.size();) {
        const Character character = characterAt(name, at);
        if (!character.isValid) return "is not UTF-8";
        if (character.code < 0x20 || character.code == 0x7f)
            return formatText("has the control character 0x%02x", character.code);
        if (character.code == '\\') return "has a '\\'";
        at += character.bytes;
    }
    if (name.size() >= 2 && name[1] == ':') return "begins with a drive letter";
    if (name.empty()) return "has nothing left of it";
    return name[0] == '/' ? "begins with '/'" : "has a component that is '..', '.' or empty";
}

std::vector<PackInput> packInputs(const PackOptions& options)
{
    if (!options.prefix.empty()) {
        const std::string prefix = plainName(options.prefix);
        const std::string why = options.prefix[0] == '/' ? "begins with '/'"
                                : prefix.empty()         ? ""
                                                         : whyNoArchiveName(prefix);
        if (!why.empty())
            throw Failure{exitUsage, "--prefix '" + printable(options.prefix) + "': " + why +
                                         ", which no name in an archive may"};
    }
    std::vector<PackInput> inputs;
    for (const std::string& input : options.inputs)
        inputs.push_back(
            {inFolder(options.directory, input),
             options.directory.empty() ? lastComponent(input) : wholeName(input, options.directory),
             false, ""});
    if (!options.list.empty()) readList(options, inputs);
    if (inputs.empty() && options.list.empty())
        throw Failure{exitUsage, "there is nothing to pack: name a FILE or DIR, or a list of such "
                                 "with -T; see sluice pack --help"};
    if (inputs.empty())
        throw Failure{exitUsage, (options.list == "-" ? "stdin" : options.list) +
                                     ": the list names no file, so there is nothing to pack"};
    return inputs;
}

} // namespace sluice
