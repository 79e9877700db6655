// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/command_table.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <CLI/CLI.hpp>

#include "tools/common/device.h"
#include "tools/common/pack_filters.h"
#include "tools/common/platform.h"
#include "tools/bench/bench.h"
#include "tools/sluice/verb_texts.h"

namespace sluice {
namespace {

std::vector<std::string> split(const std::string& text, const char* separators)
{
    std::vector<std::string> words;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find_first_of(separators, begin), text.size());
        if (end != begin) words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

// Returns the first words of the benchmark's kernel names, as words for --filter. A name may
// contain blanks, and --filter takes any part of a name.
std::vector<std::string> benchFamilies()
{
    std::vector<std::string> families;
    for (const std::string& name : split(benchKernels(), ",")) {
        const std::string family = split(name, " ").at(0);
        if (std::find(families.begin(), families.end(), family) == families.end())
            families.push_back(family);
    }
    return families;
}

// Returns the words that an option may take as its value. `value` is what the help calls the value:
// TIER in "--tier TIER". CLI11 does not check these options, so it does not know the words.
std::vector<std::string> wordsOf(const std::string& value)
{
    if (value == "DEV") return {"auto", "cpu", "vulkan", "cuda"};
    if (value == "TIER") return split(kTierNames, " ");
    if (value == "FILTERS") return split("auto,none," + filterNames(","), ",");
    if (value == "KERNEL") return benchFamilies();
    if (value == "FAMILY") return pipelineFamilies();
    return {};
}

TableOption optionOf(const CLI::Option& option)
{
    TableOption made;
    for (const std::string& name : option.get_snames())
        made.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        made.names.push_back("--" + name);
    made.help = option.get_description();
    made.isRequired = option.get_required();
    made.repeats = option.get_expected_max() == CLI::detail::expected_max_vector_size;
    if (option.get_items_expected_max() == 0) return made;
    // CLI11 describes a value as "TYPE", then ":" and what it allows: "{a,b}", "UINT in [1 - 12]".
    const std::string type = option.get_type_name();
    const size_t brace = type.find('{'), colon = type.find(':');
    if (brace != std::string::npos)
        made.words = split(type.substr(brace + 1, type.find('}', brace) - brace - 1), ",");
    made.value = type.substr(0, colon);
    made.isList = option.get_delimiter() != '\0' || made.value == "FILTERS";
    if (made.value == "UINT" || made.value == "FLOAT") made.value = "N";
    if (option.get_positional()) made.value = option.get_name(true);
    if (made.words.empty()) made.words = wordsOf(made.value);
    return made;
}

// Returns the width of a help text: what the variable COLUMNS says or, without it, the width of the
// terminal.
size_t helpColumns()
{
    constexpr uint32_t kUsual = 80, kLeast = 40, kMost = 120;
    const char* const given = std::getenv("COLUMNS");
    uint32_t columns = given != nullptr ? uint32_t(std::strtoul(given, nullptr, 10)) : 0;
    if (columns == 0) columns = terminalColumns(OutputStream::out);
    return columns == 0 ? kUsual : std::clamp(columns, kLeast, kMost);
}

// Writes help texts in lines that fit the terminal.
class HelpText {
public:
    // Adds text from the column `indent` on; `used` columns of the line are taken. Words are not
    // split; a word that is too long for a line has a line of its own.
    void add(const std::string& text, size_t indent, size_t used = 0)
    {
        size_t column = used;
        const auto pad = [&] {
            m_text.append(indent > column ? indent - column : 0, ' ');
            column = std::max(indent, column);
        };
        pad();
        std::istringstream words(text);
        bool isFirst = true;
        for (std::string word; words >> word; isFirst = false) {
            if (!isFirst && column + 1 + word.size() > m_columns) {
                m_text += '\n';
                column = 0;
                pad();
                isFirst = true;
            }
            if (!isFirst) m_text += ' ', ++column;
            m_text += word;
            column += word.size();
        }
        m_text += '\n';
    }
    void heading(const char* text) { m_text += std::string("\n") + text + ":\n"; }
    // Adds a name and its meaning: on the same line if there is room, otherwise on the next.
    void addRow(const std::string& name, const std::string& meaning)
    {
        const size_t indent = m_columns < 80 ? 8 : 30;
        const std::string start = "  " + name;
        const bool fits = start.size() + 2 <= indent;
        m_text += start + (fits ? "" : "\n");
        add(meaning, indent, fits ? start.size() : 0);
    }
    const std::string& text() const { return m_text; }

private:
    const size_t m_columns = helpColumns();
    std::string m_text;
};

// Returns "-o,--output FILE (required)" or the like.
std::string headOf(const CLI::Option& option)
{
    const TableOption made = optionOf(option);
    std::string text;
    for (const std::string& name : made.names)
        text += (text.empty() ? "" : ",") + name;
    if (!made.value.empty()) text += (text.empty() ? "" : " ") + made.value;
    if (made.repeats) text += " ...";
    if (made.isRequired) text += " (required)";
    for (const CLI::Option* other : option.get_needs())
        text += " (with " + other->get_name() + ")";
    for (const CLI::Option* other : option.get_excludes())
        text += " (without " + other->get_name() + ")";
    return text;
}

class HelpFormatter : public CLI::Formatter {
public:
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override
    {
        const bool isTool = app->get_parent() == nullptr;
        const std::string verb = isTool ? "" : app->get_name();
        HelpText help;
        help.add(app->get_description(), 0);
        help.add("Usage: " + synopsisOf(verb), 0);
        for (const bool positional : {true, false}) {
            bool any = false;
            for (const CLI::Option* option : app->get_options()) {
                if (option->get_positional() != positional) continue;
                if (!any) help.heading(positional ? "Arguments" : "Options");
                any = true;
                help.addRow(headOf(*option), option->get_description());
            }
        }
        help.heading("Examples");
        for (const VerbExample& example : textsOf(verb).examples) {
            help.add(example.command, 2);
            help.add(example.meaning, 6);
        }
        if (!isTool) {
            help.add("", 0);
            help.add("-f, -q, -v, --tuning and --max-input are options of every command; see "
                     "sluice --help.",
                     0);
            return help.text();
        }
        help.heading("Subcommands");
        for (const CLI::App* one : app->get_subcommands([](const CLI::App*) { return true; }))
            help.addRow(one->get_name(), one->get_description());
        return help.text();
    }
};

} // namespace

bool TableOption::takesFiles() const
{
    const char* const files[] = {"FILE", "IN", "LIST", "SHARD", "OLD", "NEW", "PATCH"};
    return std::any_of(std::begin(files), std::end(files),
                       [&](const char* one) { return value == one; });
}

CommandTable tableOf(const CLI::App& app)
{
    CommandTable table;
    table.help = app.get_description();
    for (const CLI::Option* option : app.get_options())
        table.options.push_back(optionOf(*option));
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        TableVerb made{verb->get_name(), verb->get_description(), {}, {}};
        for (const CLI::Option* option : verb->get_options()) {
            if (option == verb->get_help_ptr()) continue; // --help is listed once for all verbs
            (option->get_positional() ? made.positionals : made.options)
                .push_back(optionOf(*option));
        }
        table.verbs.push_back(std::move(made));
    }
    for (TableVerb& verb : table.verbs) {
        for (TableOption& positional : verb.positionals) {
            if (positional.value != "COMMAND") continue;
            for (const TableVerb& one : table.verbs)
                positional.words.push_back(one.name);
        }
        for (TableOption& option : verb.options)
            if ((verb.name == "selftest" || verb.name == "report") && option.value == "DEV")
                option.words.push_back("all");
    }
    return table;
}

std::shared_ptr<CLI::FormatterBase> helpFormatter() { return std::make_shared<HelpFormatter>(); }

} // namespace sluice
