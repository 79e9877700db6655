// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/usage_error.h"

#include <algorithm>
#include <regex>

#include <CLI/CLI.hpp>

#include "tools/sluice/suggest.h"
#include "tools/common/tool.h"

namespace sluice {
namespace {

// The names of our verbs in tar, 7z, zstd and unzip.
constexpr struct {
    const char *word, *ours;
} kOtherNames[] = {{"a", "pack"},           {"add", "pack"},
                   {"archive", "pack"},     {"c", "pack"},
                   {"compress", "pack"},    {"create", "pack"},
                   {"benchmark", "bench"},  {"check", "verify"},
                   {"d", "unpack"},         {"decompress", "unpack"},
                   {"e", "unpack"},         {"extract", "unpack"},
                   {"x", "unpack"},         {"help", "--help"},
                   {"l", "unpack --list"},  {"list", "unpack --list"},
                   {"ls", "unpack --list"}, {"merge", "join"},
                   {"show", "info"},        {"t", "verify"},
                   {"test", "verify"},      {"version", "--version"}};

std::string verbSuggestion(const std::string& word, const std::vector<std::string>& verbs)
{
    for (const auto& [other, ours] : kOtherNames)
        if (word == other) return std::string(" (did you mean '") + ours + "'?)";
    return suggestion(word, verbs);
}

// Returns the first word that is no option; "" if there is none.
std::string verbOf(const std::vector<std::string>& words)
{
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--tuning")
            ++i; // skips its value
        else if (words[i].empty() || words[i][0] != '-')
            return words[i];
    }
    return "";
}

// Guesses the intended value from a message such as "-c: gsdt not in {gstd,gdeflate}".
std::string valueSuggestion(const std::string& message)
{
    const std::regex pattern(": ([^ ]+) not in \\{([^}]*)\\}");
    std::smatch match;
    if (!std::regex_search(message, match, pattern)) return "";
    std::vector<std::string> values;
    const std::string list = match[2];
    for (size_t begin = 0; begin <= list.size();) {
        const size_t end = std::min(list.find(',', begin), list.size());
        values.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return suggestion(match[1], values);
}

} // namespace

std::string usageError(const CLI::App& app, const CLI::ParseError& error,
                       const std::vector<std::string>& words)
{
    std::vector<std::string> verbs;
    const CLI::App* given = nullptr;
    const std::string word = verbOf(words);
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        verbs.push_back(verb->get_name());
        if (verbs.back() == word) given = verb;
    }
    const std::string general = "; see sluice --help";
    if (given == nullptr) {
        if (word.empty()) return "the line has no command" + general;
        return "there is no command '" + printable(word) + "'" + verbSuggestion(word, verbs) +
               general;
    }
    const std::string help = "; see sluice " + word + " --help";
    std::vector<std::string> options;
    for (const CLI::App* one : {&app, given}) {
        for (const CLI::Option* option : one->get_options()) {
            for (const std::string& name : option->get_lnames())
                options.push_back("--" + name);
        }
    }
    for (const std::string& one : words) {
        const std::string name = one.substr(0, one.find('='));
        if (one == "--") break;
        if (one.compare(0, 2, "--") != 0 ||
            std::find(options.begin(), options.end(), name) != options.end())
            continue;
        return "there is no option '" + printable(name) + "'" + suggestion(name, options) + help;
    }
    const std::string message = printable(error.what());
    return message + valueSuggestion(message) + help;
}

} // namespace sluice
