// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_ninja.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "tools/common/platform.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

// Throws if the text contains characters that a build file cannot express: the end of a line ends a
// statement even in quotes, and NUL ends the file.
void refuseCharacters(const std::string& text, std::string_view characters)
{
    if (text.find_first_of(characters) != std::string::npos)
        throw Failure{exitUsage, printable(text) + ": a build file cannot name it"};
}

// Writes a path for Ninja. '|' cannot be escaped in a path.
std::string ninjaPath(const std::string& path)
{
    std::error_code error;
    const std::string whole = fs::absolute(fs::u8path(path), error).lexically_normal().u8string();
    refuseCharacters(whole, {"\n\r|\0", 4});
    std::string text;
    for (const char c : whole) {
        if (c == '$' || c == ' ' || c == ':') text += '$';
        text += c;
    }
    return text;
}

// Quotes a word of a command, for the shell and then for Ninja.
std::string commandWord(const std::string& word)
{
    refuseCharacters(word, {"\n\r\0", 3});
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? "'\\''" : c == '$' ? "$$" : std::string(1, c);
    return text + "'";
}

} // namespace

std::string ninjaText(const PackOptions& options, const PackSources& sources)
{
    if (!hasPosixShell())
        throw Failure{exitUnsupported, "--emit-ninja: its commands are for a POSIX shell, and this "
                                       "system has none"};
    std::error_code error;
    const std::string program = programPath();
    if (program.empty())
        throw Failure{exitIo, std::string("the path of this program: ") + std::strerror(errno)};
    const std::string change =
        "cd " + commandWord(fs::current_path(error).u8string()) + " && " + commandWord(program);
    std::string words, inputs;
    for (const std::string& word : options.words)
        words += " " + commandWord(word);
    for (const std::string& input : options.inputs)
        inputs += " " + commandWord(input);
    const std::string count = std::to_string(options.shards);
    const std::string shard = options.output + ".shard";
    std::string text = "# Written by sluice pack --emit-ninja.\nninja_required_version = 1.3\n"
                       "rule shard\n  command = " +
                       change + " pack -f -q" + words + " --shard $number/" + count +
                       " -o $out --" + inputs + "\n  description = shard $number of " + count +
                       "\nrule join\n  command = " + change +
                       " join -f -q -o $out $in\n  description = join $out\n";
    // The sizes of all files decide which files a shard gets, so every shard depends on all files.
    // It depends on the folders too, since adding a file changes the time of its folder.
    text += "build " + ninjaPath(shard) + "s: phony " + ninjaPath(program);
    for (const std::string& file : options.dependencies)
        text += " " + ninjaPath(file);
    for (const std::string& folder : sources.folders)
        text += " $\n " + ninjaPath(folder);
    for (const ArchiveSource& file : sources.files)
        text += " $\n " + ninjaPath(file.path);
    text += "\n";
    std::string all;
    for (uint32_t i = 1; i <= options.shards; ++i) {
        const std::string path = ninjaPath(shard + std::to_string(i));
        text += "build " + path + ": shard | " + ninjaPath(shard) +
                "s\n  number = " + std::to_string(i) + "\n";
        all += " " + path;
    }
    return text + "build " + ninjaPath(options.output) + ": join" + all + "\ndefault " +
           ninjaPath(options.output) + "\n";
}

} // namespace sluice
