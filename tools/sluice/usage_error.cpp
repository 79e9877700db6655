// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/usage_error.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include <CLI/CLI.hpp>

#include "tools/sluice/suggest.h"
#include "tools/sluice/verb_texts.h"
#include "tools/common/tool.h"

namespace sluice {
namespace {

// The words of tar, 7z, zstd and unzip for our verbs.
constexpr struct {
    const char *word, *ours;
} kOtherNames[] = {{"a", "pack"},           {"add", "pack"},
                   {"archive", "pack"},     {"c", "pack"},
                   {"compress", "pack"},    {"create", "pack"},
                   {"benchmark", "bench"},  {"check", "verify"},
                   {"d", "unpack"},         {"decompress", "unpack"},
                   {"e", "unpack"},         {"extract", "unpack"},
                   {"x", "unpack"},         {"zip", "pack"},
                   {"l", "unpack --list"},  {"list", "unpack --list"},
                   {"ls", "unpack --list"}, {"merge", "join"},
                   {"show", "info"},        {"t", "verify"},
                   {"test", "verify"},      {"unzip", "unpack"},
                   {"version", "--version"}};

std::string verbSuggestion(const std::string& word, const std::vector<std::string>& verbs)
{
    for (const auto& [other, ours] : kOtherNames)
        if (word == other) return std::string(" (did you mean '") + ours + "'?)";
    return suggestion(word, verbs);
}

using Verbs = std::vector<const CLI::App*>;

Verbs verbsOf(const CLI::App& app)
{
    return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* verbNamed(const CLI::App& app, const std::string& word)
{
    for (const CLI::App* verb : verbsOf(app))
        if (verb->get_name() == word) return verb;
    return nullptr;
}

// Returns the first word that is not an option; "" if there is none.
std::string verbOf(const std::vector<std::string>& words)
{
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--tuning" || words[i] == "--max-input")
            ++i; // skip its value
        else if (words[i].empty() || words[i][0] != '-')
            return words[i];
    }
    return "";
}

// Returns the names of an option: "-o" and "--output".
std::vector<std::string> namesOf(const CLI::Option& option)
{
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames())
        names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        names.push_back("--" + name);
    return names;
}

std::vector<std::string> optionsOf(const Verbs& verbs)
{
    std::vector<std::string> options;
    for (const CLI::App* verb : verbs)
        for (const CLI::Option* option : verb->get_options())
            for (const std::string& name : namesOf(*option))
                options.push_back(name);
    return options;
}

bool has(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Says that the verb has no such option, and which one was meant or which verbs have it.
std::string noOption(const CLI::App& app, const CLI::App& given, const std::string& name)
{
    std::string others;
    for (const CLI::App* verb : verbsOf(app))
        if (has(optionsOf({verb}), name)) others += (others.empty() ? "" : ", ") + verb->get_name();
    const std::string text = "there is no option '" + printable(name) + "'";
    // An option of one letter gets no suggestion, since any letter is near to any other.
    if (others.empty())
        return text + (name.size() > 2 ? suggestion(name, optionsOf({&app, &given})) : "");
    return text + " of " + given.get_name() + "; it is one of " + others;
}

// Says what is wrong with a line that has no verb where one is expected.
std::string noVerb(const CLI::App& app, const std::vector<std::string>& words)
{
    const std::string word = verbOf(words);
    if (word.empty()) return "the line has no command";
    for (const std::string& later : words) {
        const CLI::App* const verb = verbNamed(app, later);
        if (verb == nullptr) continue;
        const std::string& first = words[0][0] == '-' ? words[0] : word;
        return "'" + printable(first) + "' stands before the command, which comes first: sluice " +
               later + " ...";
    }
    std::vector<std::string> verbs;
    for (const CLI::App* verb : verbsOf(app))
        verbs.push_back(verb->get_name());
    return "there is no command '" + printable(word) + "'" + verbSuggestion(word, verbs);
}

// Removes the zeros at the end of a fraction that CLI11 has written.
std::string shortNumber(std::string number)
{
    if (number.find('.') == std::string::npos) return number;
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    return number;
}

// Returns the beginning of a message. std::regex recurses once for each character, so that a line
// of many words would exhaust the stack.
std::string beginningOf(const std::string& message)
{
    constexpr size_t kMost = 512;
    if (message.size() <= kMost) return message;
    size_t end = kMost;
    while (end != 0 && (uint8_t(message[end]) & 0xC0) == 0x80)
        --end;
    return message.substr(0, end);
}

// Puts a message of CLI11 into plain words.
std::string plainMessage(const CLI::App& app, const CLI::App& given, const std::string& message)
{
    std::smatch match;
    const auto is = [&](const char* pattern) {
        return std::regex_search(message, match, std::regex(pattern));
    };
    if (is("^(.+): 1 required (\\S+?)(?::\\S+? in (.+))? missing$"))
        return match.str(1) + " needs a value" +
               (match[3].matched ? " in " + match.str(3) : ", a " + match.str(2));
    if (is("^(.+): At Most 1 required but received")) return match.str(1) + " is given twice";
    if (is("^(.+): Value (.*) not in range (\\S+) to (\\S+)$"))
        return match.str(1) + ": '" + match.str(2) + "' is no number from " +
               shortNumber(match.str(3)) + " to " + shortNumber(match.str(4));
    if (is("^(.+) excludes (.+)$")) return match.str(1) + " does not go with " + match.str(2);
    if (is("^The following arguments? (?:was|were) not expected: (.*)$")) {
        std::istringstream list(match.str(1));
        std::string first;
        for (std::string word; list >> word;) {
            if (word.size() > 1 && word[0] == '-') return noOption(app, given, word);
            if (first.empty()) first = word;
        }
        return "'" + first + "' is one argument too many; the line is " +
               synopsisOf(given.get_name());
    }
    return message;
}

// Guesses which value was meant, from a message such as "-c: gsdt not in {gstd,gdeflate}".
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
    const std::string general = "; see sluice --help";
    const CLI::App* const given = verbNamed(app, verbOf(words));
    if (given == nullptr) return noVerb(app, words) + general;
    const std::string help = "; see sluice " + given->get_name() + " --help";
    const std::vector<std::string> options = optionsOf({&app, given});
    for (const std::string& one : words) {
        if (one == "--") break;
        const std::string name = one.substr(0, one.find('='));
        if (one.compare(0, 2, "--") == 0 && !has(options, name))
            return noOption(app, *given, name) + help;
    }
    const std::string message = beginningOf(printable(error.what()));
    return plainMessage(app, *given, message) + valueSuggestion(message) + help;
}

std::string lookalikeError(const CLI::App& app, const std::vector<std::string>& words)
{
    const CLI::App* const given = verbNamed(app, verbOf(words));
    if (given == nullptr)
        return verbOf(words).empty() ? "" : noVerb(app, words) + "; see sluice --help";
    const std::vector<std::string> options = optionsOf({&app, given});
    for (const std::string& word : words) {
        if (word == "--") break;
        const std::string name = word.substr(0, word.find('='));
        if (name.size() > 2 && name[0] == '-' && has(options, "-" + name))
            return "'" + printable(name) + "' has one '-' too few (did you mean '-" + name + "'?)";
        const bool isDash = word.compare(0, 3, "\xe2\x80\x93") == 0 ||
                            word.compare(0, 3, "\xe2\x80\x94") == 0 ||
                            word.compare(0, 3, "\xe2\x88\x92") == 0;
        if (!isDash) continue;
        for (const char* dash : {"-", "--"})
            if (has(options, dash + name.substr(3)))
                return "'" + printable(name) +
                       "' begins with a dash that is no '-' (did you mean '" + dash +
                       name.substr(3) + "'?)";
    }
    return "";
}

} // namespace sluice
