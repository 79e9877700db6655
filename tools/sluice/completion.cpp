// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice completion`: shell scripts that know every verb, option and value. Everything is in the
// script, so that no program runs when a key is pressed.
#include <algorithm>
#include <cstdio>

#include "tools/common/filled_text.h"
#include "tools/sluice/command_table.h"

#include "texts/completion_bash.h"

namespace sluice {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& separator)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : separator) + word;
    return text;
}

std::string namesOf(const std::vector<TableOption>& options)
{
    std::vector<std::string> names;
    for (const TableOption& option : options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    return joined(names, " ");
}

std::string verbsOf(const CommandTable& table, const std::string& separator)
{
    std::vector<std::string> names;
    for (const TableVerb& verb : table.verbs)
        names.push_back(verb.name);
    return joined(names, separator);
}

// Returns the beginning of a help text, short enough for one line beside an option's name.
std::string brief(const std::string& help)
{
    constexpr size_t columns = 60;
    std::string text = help.substr(0, std::min(help.find("; "), help.find(". ")));
    if (text.size() <= columns) return text;
    return text.substr(0, text.rfind(' ', columns)) + " ...";
}

std::string replaced(const std::string& text, const std::string& characters,
                     const std::string& before)
{
    std::string made;
    for (const char c : text) {
        if (characters.find(c) != std::string::npos) made += before;
        made += c;
    }
    return made;
}

// Puts text in single quotes for bash and zsh.
std::string quoted(const std::string& text)
{
    std::string made = "'";
    for (const char c : text)
        made += c == '\'' ? "'\\''" : std::string(1, c);
    return made + "'";
}

// --- bash

// Returns the names of an option as a pattern of the script's `case`: "pack,-o | pack,--output".
std::string casesOf(const std::string& verb, const TableOption& option)
{
    std::vector<std::string> cases;
    for (const std::string& name : option.names)
        cases.push_back(verb + name);
    return joined(cases, " | ");
}

std::string bashValue(const TableOption& option)
{
    if (!option.words.empty())
        return "words=" + quoted(joined(option.words, " ")) + (option.isList ? " list=1" : "");
    return option.takesFiles() ? "kind=files" : option.takesFolders() ? "kind=folders" : "kind=any";
}

std::string bashScript(const CommandTable& table)
{
    std::string values, positionals;
    for (const TableOption& option : table.options)
        if (!option.value.empty())
            values += "    " + casesOf("*,", option) + ") " + bashValue(option) + " ;;\n";
    for (const TableVerb& verb : table.verbs) {
        for (const TableOption& option : verb.options)
            if (!option.value.empty())
                values +=
                    "    " + casesOf(verb.name + ",", option) + ") " + bashValue(option) + " ;;\n";
        // The script offers the words for the first positional, and any number of files after it.
        std::string kind = "any", words;
        for (const TableOption& positional : verb.positionals) {
            if (!positional.words.empty()) words = joined(positional.words, " ");
            if (positional.takesFiles()) kind = "files";
            if (positional.takesFolders() && kind != "files") kind = "folders";
        }
        positionals += "        " + verb.name + ") kind=" + kind + " words=" + quoted(words) +
                       " options=" + quoted(namesOf(verb.options)) + " ;;\n";
    }
    return filled(kCompletionBash, {{"@VERB_CASES@", verbsOf(table, " | ")},
                                    {"@VALUES@", values},
                                    {"@VERBS@", verbsOf(table, " ")},
                                    {"@POSITIONALS@", positionals},
                                    {"@OPTIONS@", namesOf(table.options)}});
}

// --- zsh

std::string zshValue(const TableOption& option)
{
    const std::string words = "(" + joined(option.words, " ") + ")";
    std::string action = option.takesFiles() ? "_files" : option.takesFolders() ? "_files -/" : " ";
    if (!option.words.empty())
        action = option.isList ? "_values -s , " + option.value + " " + joined(option.words, " ")
                               : words;
    return ":" + option.value + ":" + action;
}

std::string zshOptions(const std::vector<TableOption>& options, const std::string& indent)
{
    std::string text;
    for (const TableOption& option : options) {
        for (const std::string& name : option.names) {
            const std::string others = option.repeats ? "*" : "(" + joined(option.names, " ") + ")";
            text += " \\\n" + indent +
                    quoted(others + name + "[" + replaced(brief(option.help), "[]:\\", "\\") + "]" +
                           (option.value.empty() ? "" : zshValue(option)));
        }
    }
    return text;
}

std::string zshScript(const CommandTable& table)
{
    const std::string indent(12, ' ');
    std::string text = "#compdef sluice\n# zsh completion of sluice; `sluice completion zsh` has "
                       "written it\n_sluice()\n{\n    local context state state_descr line\n    "
                       "typeset -A opt_args\n    local -a verbs common\n    verbs=(\n";
    for (const TableVerb& verb : table.verbs)
        text +=
            "        " + quoted(verb.name + ":" + replaced(brief(verb.help), ":\\", "\\")) + "\n";
    text += "    )\n    common=(";
    text += zshOptions(table.options, "        ") + "\n    )\n";
    text += "    _arguments -C $common '1: :->verb' '*:: :->rest'\n    case $state in\n    verb) "
            "_describe command verbs ;;\n    rest)\n        case $line[1] in\n";
    for (const TableVerb& verb : table.verbs) {
        text += "        " + verb.name + ")\n" + indent + "_arguments $common" +
                zshOptions(verb.options, indent + "    ");
        for (const TableOption& positional : verb.positionals)
            text += " \\\n" + indent + "    " +
                    quoted((positional.repeats      ? "*"
                            : positional.isRequired ? ""
                                                    : ":") +
                           zshValue(positional));
        text += "\n" + indent + ";;\n";
    }
    return text + "        esac\n        ;;\n    esac\n}\n"
                  "if [[ $funcstack[1] == _sluice ]]; then\n    _sluice \"$@\"\nelse\n    compdef "
                  "_sluice sluice\nfi\n";
}

// --- fish

std::string fishQuoted(const std::string& text) { return "'" + replaced(text, "'\\", "\\") + "'"; }

std::string fishOption(const TableOption& option, const std::string& condition)
{
    std::string line = "complete -c sluice" + condition;
    for (const std::string& name : option.names)
        line += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.value.empty()) {
        if (!option.words.empty())
            line += " -x -a " + fishQuoted(joined(option.words, " "));
        else
            line += option.takesFiles()     ? " -r -F"
                    : option.takesFolders() ? " -x -a '(__fish_complete_directories)'"
                                            : " -x";
    }
    return line + " -d " + fishQuoted(brief(option.help)) + "\n";
}

std::string fishScript(const CommandTable& table)
{
    std::string text = "# fish completion of sluice; `sluice completion fish` has written it\n"
                       "complete -c sluice -f\n";
    for (const TableOption& option : table.options)
        text += fishOption(option, "");
    for (const TableVerb& verb : table.verbs)
        text += "complete -c sluice -n __fish_use_subcommand -a " + verb.name + " -d " +
                fishQuoted(brief(verb.help)) + "\n";
    for (const TableVerb& verb : table.verbs) {
        const std::string condition = " -n '__fish_seen_subcommand_from " + verb.name + "'";
        for (const TableOption& option : verb.options)
            text += fishOption(option, condition);
        for (const TableOption& positional : verb.positionals) {
            if (!positional.words.empty())
                text += "complete -c sluice" + condition + " -a " +
                        fishQuoted(joined(positional.words, " ")) + "\n";
            else if (positional.takesFiles())
                text += "complete -c sluice" + condition + " -F\n";
            else if (positional.takesFolders())
                text += "complete -c sluice" + condition + " -a '(__fish_complete_directories)'\n";
        }
    }
    return text;
}

} // namespace

const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

std::string completionScript(const CommandTable& table, const std::string& shell)
{
    if (shell == "bash") return bashScript(table);
    return shell == "zsh" ? zshScript(table) : fishScript(table);
}

int runCompletion(const CommandTable& table, const std::string& shell)
{
    std::fputs(completionScript(table, shell).c_str(), stdout);
    return exitOk;
}

} // namespace sluice
