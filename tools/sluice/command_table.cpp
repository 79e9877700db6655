// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/command_table.h"

#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>

#include "tools/common/device.h"
#include "tools/common/pack_filters.h"
#include "tools/bench/bench.h"

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

// Returns the first words of the benchmark's kernel names. The names contain blanks, and a filter
// may be any part of a name.
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

// Returns the possible values of options with this value name. CLI11 does not check these values.
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
    // CLI11's text is "TYPE", then ":" and the values that it allows: "{a,b}", "UINT in [1 - 12]".
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

class HelpFormatter : public CLI::Formatter {
public:
    std::string make_option_desc(const CLI::Option* option) const override
    {
        return wrapped(option->get_description());
    }
    std::string make_option_name(const CLI::Option* option, bool isPositional) const override
    {
        if (isPositional) return option->get_name(true);
        std::string names;
        for (const std::string& name : optionOf(*option).names)
            names += (names.empty() ? "" : ",") + name;
        return names;
    }
    std::string make_option_opts(const CLI::Option* option) const override
    {
        const TableOption made = optionOf(*option);
        std::string text;
        if (!made.value.empty() && option->nonpositional()) text += " " + made.value;
        if (made.repeats) text += " ...";
        if (made.isRequired) text += " (required)";
        for (const CLI::Option* other : option->get_needs())
            text += " (with " + other->get_name() + ")";
        for (const CLI::Option* other : option->get_excludes())
            text += " (without " + other->get_name() + ")";
        return text;
    }
    std::string make_subcommand(const CLI::App* verb) const override
    {
        std::stringstream out;
        CLI::detail::format_help(out, verb->get_name(), wrapped(verb->get_description()),
                                 get_column_width());
        return out.str();
    }

private:
    // Breaks lines. CLI11 indents the text after a line break by the width of the first column.
    std::string wrapped(const std::string& text) const
    {
        std::istringstream words(text);
        std::string lines;
        size_t width = 0, columns = 100 - get_column_width();
        for (std::string word; words >> word; width += word.size()) {
            const bool fits = width + 1 + word.size() <= columns;
            lines += width == 0 ? "" : fits ? " " : "\n";
            width = width == 0 ? 0 : fits ? width + 1 : 0;
            lines += word;
        }
        return lines;
    }
};

} // namespace

bool TableOption::takesFiles() const
{
    const char* const files[] = {"FILE", "IN", "SHARD", "OLD", "NEW", "PATCH"};
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
            if (option == verb->get_help_ptr()) continue; // listed among the options of every verb
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
