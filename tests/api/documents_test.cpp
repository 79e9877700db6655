// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that the documents agree with the code: statuses, codecs, verbs, options and exit codes are
// listed where readers look for them, links lead somewhere, and pages that must be short are short.
#include <doctest/doctest.h>

#include <sluice/sluice.h>
#include <sluice/sluice_tile_streams.h>

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "test_paths.h"

namespace fs = std::filesystem;

namespace {

using Lines = std::vector<std::string>;
using Names = std::set<std::string>;
using NamedValues = std::map<uint32_t, std::string>;

const fs::path kRoot = fs::path(SLUICE_TEST_DATA_DIR) / "../..";

std::string readText(const fs::path& path)
{
    std::ifstream file(kRoot / path, std::ios::binary);
    REQUIRE_MESSAGE(file, path.string());
    return std::string(std::istreambuf_iterator<char>(file), {});
}

Lines linesOf(const std::string& text)
{
    Lines lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

// Returns everything that the first group of `pattern` matches.
Lines matchesOf(const std::string& text, const std::string& pattern)
{
    const std::regex regex(pattern);
    Lines found;
    for (auto match = std::sregex_iterator(text.begin(), text.end(), regex);
         match != std::sregex_iterator(); ++match)
        found.push_back((*match)[1]);
    return found;
}

std::string lower(std::string text)
{
    for (char& c : text)
        c = char(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool startsWith(const std::string& text, const std::string& prefix)
{
    return text.compare(0, prefix.size(), prefix) == 0;
}

// Returns the lines below a heading, up to the next heading of the same level or a higher one.
Lines sectionOf(const std::string& text, const std::string& heading)
{
    Lines section;
    const size_t level = heading.find(' ');
    bool inside = false;
    for (const std::string& line : linesOf(text)) {
        const size_t marks = std::min(line.find_first_not_of('#'), line.size());
        if (inside && marks != 0 && marks <= level) break;
        if (inside) section.push_back(line);
        inside = inside || line == heading;
    }
    REQUIRE_MESSAGE(inside, heading);
    return section;
}

// Returns the cells of a table's row, without spaces around them and without backquotes. Returns
// none if the line is not a row of a table.
Lines cellsOf(const std::string& line)
{
    Lines cells;
    if (!startsWith(line, "| ")) return cells;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
        cell.erase(std::remove(cell.begin(), cell.end(), '`'), cell.end());
        const size_t first = cell.find_first_not_of(' ');
        cells.push_back(first == std::string::npos
                            ? ""
                            : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
    }
    return cells;
}

// Returns the rows of the table whose first column has this heading: the number there, and the name
// in the second column.
NamedValues numberedRows(const Lines& section, const std::string& heading)
{
    NamedValues rows;
    bool inside = false;
    for (const std::string& line : section) {
        const Lines cells = cellsOf(line);
        if (cells.size() < 2) {
            inside = inside && startsWith(line, "|---");
        } else if (!inside) {
            inside = cells[0] == heading;
        } else {
            const bool isNumber =
                !cells[0].empty() && cells[0].find_first_not_of("0123456789") == std::string::npos;
            if (isNumber) rows.emplace(uint32_t(std::stoul(cells[0])), cells[1]);
        }
    }
    return rows;
}

// Returns a list as one line, so that a failed comparison shows what is missing.
std::string listed(const NamedValues& values)
{
    std::string text;
    for (const auto& [value, name] : values)
        text += std::to_string(value) + " " + name + ", ";
    return text;
}
std::string listed(const Names& names)
{
    std::string text;
    for (const std::string& name : names)
        text += name + " ";
    return text;
}

// Returns the enumerators of an enumeration in a source file, without the beginning `prefix` of
// each.
NamedValues enumeratorsOf(const fs::path& file, const std::string& declaration,
                          const std::string& prefix)
{
    const std::string text = readText(file);
    const size_t begin = text.find(declaration);
    REQUIRE_MESSAGE(begin != std::string::npos, declaration);
    const std::string body = text.substr(begin, text.find("\n}", begin) - begin);
    NamedValues values;
    const std::regex regex("\n +" + prefix + "(\\w+) = ([0-9]+),");
    for (auto match = std::sregex_iterator(body.begin(), body.end(), regex);
         match != std::sregex_iterator(); ++match)
        values.emplace(uint32_t(std::stoul((*match)[2])), (*match)[1]);
    CHECK_MESSAGE(values.size() > 2, declaration); // otherwise the pattern does not fit the code
    return values;
}

void checkTexts(const NamedValues& statuses, const char* (*text)(uint32_t))
{
    uint32_t next = 0;
    for (const auto& status : statuses) {
        CHECK_MESSAGE(!startsWith(text(status.first), "unknown"), status.second);
        CHECK_MESSAGE(status.first == next++, status.second); // without gaps
    }
    CHECK(startsWith(text(next), "unknown"));
}

} // namespace

TEST_CASE("documents: statuses have texts and are listed")
{
    const NamedValues host =
        enumeratorsOf("include/sluice/sluice.h", "typedef enum SluiceStatus {", "(?=SLUICE_)");
    const NamedValues tiles =
        enumeratorsOf("include/sluice/sluice.h", "typedef enum SluiceTileStatus {", "SLUICE_TILE_");
    const NamedValues streams =
        enumeratorsOf("include/sluice/sluice_tile_streams.h", "typedef enum SluiceStreamStatus {",
                      "SLUICE_STREAM_");
    checkTexts(host, [](uint32_t value) { return sluiceGetStatusText(SluiceStatus(value)); });
    checkTexts(tiles, sluiceGetTileStatusText);
    checkTexts(streams, sluiceGetStreamStatusText);

    const std::string format = readText("docs/format.md");
    const auto inDocument = [](const std::string& text, const std::string& heading) {
        return listed(numberedRows(sectionOf(text, heading), "value"));
    };
    CHECK(listed(host) == inDocument(readText("docs/embedding.md"), "## Statuses"));
    CHECK(listed(tiles) == inDocument(format, "### 1.6 Statuses"));
    CHECK(listed(streams) == inDocument(format, "### 2.1 Statuses of whole streams"));
}

TEST_CASE("documents: a first image takes what README says, the streamer's creation included")
{
    const std::string readme = std::regex_replace(readText("README.md"), std::regex("\\s+"), " ");
    std::smatch claim;
    REQUIRE(std::regex_search(
        readme, claim, std::regex("a first image takes, in (\\d+) lines and (\\d+) functions")));
    const std::string page = readText("docs/streaming.md");
    const size_t begin = page.find("```cpp\n") + 7, end = page.find("```", begin);
    REQUIRE(end != std::string::npos);
    const std::string code = page.substr(begin, end - begin);
    const Lines calls = matchesOf(code, "\\b(sluice[A-Z]\\w*)\\(");
    const Names functions(calls.begin(), calls.end());
    CHECK(functions.count("sluiceCreateStreamer") == 1);
    CHECK(linesOf(code).size() == std::stoul(claim[1]));
    CHECK(functions.size() == std::stoul(claim[2]));
    CHECK(linesOf(code).size() <= 60);
    CHECK(functions.size() <= 15);
}

TEST_CASE("documents: codecs are listed")
{
    NamedValues codecs = enumeratorsOf("include/sluice/sluice_formats.h",
                                       "typedef enum SluiceCodec {", "SLUICE_CODEC_");
    for (auto& [value, name] : codecs)
        name = lower(name);
    const NamedValues rows =
        numberedRows(sectionOf(readText("docs/format.md"), "### 4.3 Tile records"), "codec");
    CHECK(listed(codecs) == listed(rows));
}

TEST_CASE("documents: links lead to files and headings")
{
    Lines pages = {"README.md", "CONTRIBUTING.md", "SECURITY.md"};
    for (const char* folder : {"docs", "docs/notes"}) {
        for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
            if (entry.path().extension() == ".md")
                pages.push_back(folder + ("/" + entry.path().filename().string()));
        }
    }
    for (const std::string& page : pages) {
        for (const std::string& link : matchesOf(readText(page), "\\]\\(([^)]+)\\)")) {
            if (startsWith(link, "http")) continue;
            const std::string place = page + ": " + link;
            const std::string file = link.substr(0, link.find('#'));
            const fs::path target =
                file.empty() ? fs::path(page) : fs::path(page).parent_path() / file;
            CHECK_MESSAGE(fs::exists(kRoot / target), place);
            if (link.find('#') == std::string::npos || !fs::exists(kRoot / target)) continue;
            Names anchors;
            for (const std::string& heading : matchesOf("\n" + readText(target), "\n#+ ([^\n]+)")) {
                std::string anchor;
                for (const char c : lower(heading)) {
                    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
                        anchor += c;
                    if (c == ' ') anchor += '-';
                }
                anchors.insert(anchor);
            }
            CHECK_MESSAGE(anchors.count(link.substr(link.find('#') + 1)) != 0, place);
        }
    }
}

TEST_CASE("documents: short pages stay short")
{
    const Lines readme = linesOf(readText("README.md"));
    CHECK(readme.size() <= 130);
    for (const std::string& line : readme) {
        const auto columns = std::count_if(line.begin(), line.end(),
                                           [](char c) { return (uint8_t(c) & 0xC0) != 0x80; });
        CHECK_MESSAGE(columns <= 120, line);
    }
    std::istringstream words(readText("docs/performance.md"));
    CHECK(std::distance(std::istream_iterator<std::string>(words), {}) <= 2500);
}

#ifdef SLUICE_TOOL_PATH

namespace {

// Returns what the tool prints for its arguments.
std::string helpOf(const std::string& arguments)
{
    const char* other = std::getenv("SLUICE_TOOL");
    const std::string tool = other != nullptr ? other : SLUICE_TOOL_PATH;
    std::FILE* pipe = popen(("'" + tool + "' " + arguments + " </dev/null").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    char buffer[4096];
    while (const size_t size = std::fread(buffer, 1, sizeof(buffer), pipe))
        text.append(buffer, size);
    const int result = pclose(pipe);
    CHECK_MESSAGE((WIFEXITED(result) && WEXITSTATUS(result) == 0), arguments);
    return text;
}

// Returns the options that a help text describes: names at the beginning of lines, with commas
// between.
Names optionsOfHelp(const std::string& help)
{
    Names options;
    for (const std::string& names : matchesOf("\n" + help, "\n {2}(-[-\\w]+(, *-[-\\w]+)*)")) {
        for (const std::string& name : matchesOf(names, "(-[-\\w]+)"))
            options.insert(name);
    }
    return options;
}

Names verbsOfHelp(const std::string& help)
{
    const size_t begin = lower(help).find("\nsubcommands:");
    REQUIRE(begin != std::string::npos);
    const Lines verbs = matchesOf(help.substr(begin), "\n {2}(\\w[-\\w]*)");
    return Names(verbs.begin(), verbs.end());
}

// Returns the options named in a line of a document: those in backquotes, and all in a command
// line.
Names optionsNamed(const std::string& line)
{
    Names options;
    Lines spans = matchesOf(line, "`(-[^`]*)`");
    if (startsWith(line, "sluice ")) spans.push_back(line);
    for (const std::string& span : spans) {
        for (const std::string& name : matchesOf(" " + span, "[ |\\[(](--?[A-Za-z][-\\w]*)"))
            options.insert(name == "-vv" ? "-v" : name);
    }
    return options;
}

struct Options {
    Names common; // of every verb
    std::map<std::string, Names> verbs;
    Names all;
};

Options readOptions()
{
    const std::string help = helpOf("--help");
    Options options;
    options.common = options.all = optionsOfHelp(help);
    CHECK(options.common.count("--help") == 1);
    for (const std::string& verb : verbsOfHelp(help)) {
        options.verbs[verb] = optionsOfHelp(helpOf(verb + " --help"));
        options.all.insert(options.verbs[verb].begin(), options.verbs[verb].end());
    }
    return options;
}

} // namespace

TEST_CASE("documents: verbs are those of the tool")
{
    const Names verbs = verbsOfHelp(helpOf("--help"));
    CHECK(verbs.count("pack") == 1);
    const std::string page = readText("docs/tool.md");
    // In README, verbs that belong together share a row.
    const Lines inReadme =
        matchesOf(readText("README.md"), "(?:\n\\| |, )`sluice (\\w+)`(?=,| \\|)");
    const Lines inTable = matchesOf(page, "\n\\| \\[`(\\w+)`\\]\\(#\\w+\\) \\|");
    CHECK(listed(verbs) == listed(Names(inReadme.begin(), inReadme.end())));
    CHECK(listed(verbs) == listed(Names(inTable.begin(), inTable.end())));
}

TEST_CASE("documents: options are those of the tool")
{
    const Options options = readOptions();
    const std::string page = readText("docs/tool.md");

    // Every option must stand in the first column of the table of its section.
    const auto checkSection = [&](const std::string& heading, const Names& expected) {
        Names found;
        for (const std::string& line : sectionOf(page, heading)) {
            const Lines cells = cellsOf(line);
            for (const std::string& name :
                 matchesOf(cells.empty() ? "" : " " + cells[0], "[ ,](--?[A-Za-z][-\\w]*)"))
                found.insert(name);
        }
        CHECK_MESSAGE(listed(found) == listed(expected), heading);
    };
    checkSection("## For every verb", options.common);
    for (const auto& [verb, all] : options.verbs) {
        Names own;
        std::set_difference(all.begin(), all.end(), options.common.begin(), options.common.end(),
                            std::inserter(own, own.end()));
        checkSection("## " + verb, own);
        // Every option that the section names elsewhere must be one of this verb, too.
        for (const std::string& line : sectionOf(page, "## " + verb)) {
            for (const std::string& name : optionsNamed(line))
                CHECK_MESSAGE((all.count(name) | options.common.count(name)) != 0, line);
        }
    }
    // No page may name an option that does not exist.
    for (const std::string& line : linesOf(page)) {
        for (const std::string& name : optionsNamed(line))
            CHECK_MESSAGE(options.all.count(name) != 0, line);
    }
    for (const char* other : {"README.md", "CONTRIBUTING.md", "docs/design.md", "docs/embedding.md",
                              "docs/format.md", "docs/performance.md", "docs/portability.md"}) {
        for (const std::string& command :
             matchesOf(readText(other), "(?:`|\n)(sluice [a-z]+ [^`\n]*)")) {
            const auto verb = options.verbs.find(matchesOf(command, "sluice (\\w+)").at(0));
            if (verb == options.verbs.end()) continue; // a sentence about the library
            for (const std::string& name : optionsNamed(command))
                CHECK_MESSAGE((verb->second.count(name) | options.common.count(name)) != 0,
                              command);
        }
    }
}

TEST_CASE("documents: the commands of tools/dev are listed, and all that pages name are there")
{
    const std::string script = readText("tools/dev");
    const size_t end = script.find("\nEND\n");
    REQUIRE(end != std::string::npos);
    const Lines described = matchesOf(script.substr(0, end), "\n  ([a-z]+(?:-[a-z]+)*)[ \n]");
    const Lines handled = matchesOf(script.substr(end), "\n([a-z]+(?:-[a-z]+)*)\\)");
    const Names listedOnes(described.begin(), described.end());
    CHECK(listed(listedOnes) == listed(Names(handled.begin(), handled.end())));
    CHECK(listedOnes.size() > 10);
    for (const char* page : {"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/design.md",
                             "docs/embedding.md", "docs/packing.md", "docs/performance.md",
                             "docs/portability.md", "docs/streaming.md", "docs/tool.md"}) {
        const std::string text = std::regex_replace(readText(page), std::regex("\\s+"), " ");
        for (const std::string& name : matchesOf(text, "\\./tools/dev ([a-z-]+)"))
            CHECK_MESSAGE((listedOnes.count(name) == 1 || name == "help"), page << ": " << name);
    }
}

TEST_CASE("documents: exit codes are listed")
{
    Names codes, rows;
    for (const auto& [value, name] : enumeratorsOf("tools/common/tool.h", "enum ExitCode", "\\w*"))
        codes.insert(std::to_string(value));
    for (const auto& row :
         numberedRows(sectionOf(readText("docs/tool.md"), "## Exit codes"), "code")) {
        CHECK_MESSAGE(!row.second.empty(), row.first);
        rows.insert(std::to_string(row.first));
    }
    CHECK(listed(codes) == listed(rows));
}

#endif // SLUICE_TOOL_PATH
