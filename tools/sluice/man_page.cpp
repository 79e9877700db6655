// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice man`: manual pages, written in the macros of man(7).
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/sluice/command_table.h"
#include "tools/sluice/suggest.h"
#include "tools/sluice/verb_texts.h"
#include "tools/common/files.h"
#include "tools/common/platform.h"

namespace sluice {
namespace {

// Escapes text for troff, which would interpret some of its characters.
std::string roff(const std::string& text)
{
    std::string made;
    for (const char c : text)
        made += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    return made.empty() || (made[0] != '.' && made[0] != '\'') ? made : "\\&" + made;
}

std::string upper(std::string text)
{
    for (char& c : text)
        c = char(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string start(const std::string& name, const std::string& help)
{
    return ".TH " + roff(upper(name)) + " 1 \"\" \"sluice " +
           formatText("%u.%u.%u", SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR,
                      SLUICE_VERSION_PATCH) +
           "\" \"sluice\"\n.SH NAME\n" + roff(name) + " \\- " + roff(help) + "\n.SH SYNOPSIS\n";
}

std::string optionsText(const std::vector<TableOption>& options)
{
    std::string text;
    for (const TableOption& option : options) {
        std::string names;
        for (const std::string& name : option.names)
            names += (names.empty() ? "" : ", ") + bold(name);
        if (names.empty())
            names = italic(option.value);
        else if (!option.value.empty())
            names += " " + italic(option.value);
        text += ".TP\n" + names + "\n" + roff(option.help) + ".\n";
        const bool isSaid =
            std::all_of(option.words.begin(), option.words.end(), [&](const std::string& word) {
                return option.help.find(word) != std::string::npos;
            });
        if (isSaid) continue;
        std::string words;
        for (const std::string& word : option.words)
            words += (words.empty() ? "" : ", ") + bold(word);
        text += "(" + words + ")\n";
    }
    return text;
}

constexpr struct {
    int code;
    const char* meaning;
} kExitCodes[] = {
    {exitOk, "Everything went well."},
    {exitUsage, "An option, a name or a combination that the tool does not take."},
    {exitIo, "A file could not be read or written, or would have been overwritten; or host memory "
             "ran out."},
    {exitFormat, "Something is wrong in a file, or differs where files are compared. The message "
                 "says which asset and which bytes."},
    {exitDevice, "There is no such device, or it failed; or a kernel failed the self-test."},
    {exitUnsupported, "A file is of a newer version or has an unknown codec or filter; or the "
                      "build or the device lacks something."}};

std::string endOf(const CommandTable& table, const std::string& verb)
{
    std::string text = ".SH \"EXIT STATUS\"\n";
    for (const auto& [code, meaning] : kExitCodes)
        text += ".TP\n" + std::to_string(code) + "\n" + roff(meaning) + "\n";
    text += ".PP\nSIGINT, SIGTERM and SIGHUP remove the file that was being written and end the "
            "process as\nthe signal does: a shell sees 130, 143 and 129.\n.SH \"SEE ALSO\"\n";
    std::vector<std::string> pages = {"sluice"};
    for (const TableVerb& other : table.verbs)
        pages.push_back("sluice-" + other.name);
    const std::string own = verb.empty() ? "sluice" : "sluice-" + verb;
    std::string others;
    for (const std::string& page : pages)
        if (page != own) others += (others.empty() ? "" : ",\n") + (".BR " + roff(page) + " (1)");
    return text + others +
           "\n.PP\nThe page docs/tool.md of the sources, doc/sluice/tool.md where "
           "sluice is installed, has\neach verb with its codecs, filters and "
           "formats.\n";
}

// Returns the verb's synopsis. Words that users replace, such as FILE, are in italics.
std::string synopsis(const std::string& verb)
{
    std::string text = bold(verb.empty() ? "sluice" : "sluice " + verb), word;
    for (const char c : synopsisOf(verb).substr(verb.empty() ? 6 : 7 + verb.size()) + "\n") {
        if (std::isupper(uint8_t(c)) != 0) {
            word += c;
            continue;
        }
        text += (word.empty() ? "" : italic(word)) + roff(std::string(1, c));
        word.clear();
    }
    return text;
}

std::string examples(const std::string& verb)
{
    std::string text = ".SH EXAMPLES\n";
    for (const VerbExample& example : textsOf(verb).examples)
        text += ".TP\n" + bold(example.command) + "\n" + roff(example.meaning) + ".\n";
    return text;
}

std::string toolPage(const CommandTable& table)
{
    std::string text = start("sluice", "decompresses assets on the GPU; packs and checks archives");
    text += synopsis("") + ".SH DESCRIPTION\n" + roff(table.help) +
            "\nResults go to stdout, everything else to stderr.\n\\&\"\\-\" as a file name is "
            "stdin or stdout where the help says so.\nA file that could not be written whole is "
            "not left behind.\n.SH COMMANDS\n";
    for (const TableVerb& verb : table.verbs)
        text += ".TP\n.BR sluice\\-" + roff(verb.name) + " (1)\n" + roff(verb.help) + ".\n";
    return text + ".SH OPTIONS\nThese stand anywhere on the line.\n" + optionsText(table.options) +
           ".SH ENVIRONMENT\n.TP\n" + bold("XDG_CACHE_HOME") +
           "\nCompiled pipelines of Vulkan devices are kept in its folder sluice, at most 64 MiB; "
           "the\ndefault is ~/.cache.\n.TP\n" +
           bold("TMPDIR") +
           "\nWhere files are made that have no name: what goes through stdin and stdout, and the\n"
           "files of the benchmark.\n.TP\n" +
           bold("COLUMNS") +
           "\nHow wide help texts are; by default as wide as the terminal, or 80 columns.\n" +
           examples("") + endOf(table, "");
}

std::string verbPage(const CommandTable& table, const TableVerb& verb)
{
    std::string text = start("sluice-" + verb.name, verb.help);
    text += synopsis(verb.name) + ".SH DESCRIPTION\n";
    text += verb.positionals.empty() ? bold("sluice " + verb.name) + " takes no arguments.\n"
                                     : optionsText(verb.positionals);
    if (!verb.options.empty()) text += ".SH OPTIONS\n" + optionsText(verb.options);
    return text + ".SH \"OPTIONS OF EVERY COMMAND\"\n" + optionsText(table.options) +
           examples(verb.name) + endOf(table, verb.name);
}

} // namespace

std::string manualPage(const CommandTable& table, const std::string& verb)
{
    if (verb.empty()) return toolPage(table);
    const auto found = std::find_if(table.verbs.begin(), table.verbs.end(),
                                    [&](const TableVerb& one) { return one.name == verb; });
    if (found == table.verbs.end()) {
        std::vector<std::string> verbs;
        for (const TableVerb& one : table.verbs)
            verbs.push_back(one.name);
        throw Failure{exitUsage, "man: there is no command '" + printable(verb) + "'" +
                                     suggestion(verb, verbs)};
    }
    return verbPage(table, *found);
}

int runManual(const CommandTable& table, const std::string& verb, const std::string& folder,
              const CommonOptions& common)
{
    if (folder.empty()) {
        std::fputs(manualPage(table, verb).c_str(), stdout);
        return exitOk;
    }
    if (!createFolders(folder)) throw Failure{exitIo, folder + ": " + std::strerror(errno)};
    std::vector<std::string> verbs = {""};
    for (const TableVerb& one : table.verbs)
        verbs.push_back(one.name);
    for (const std::string& one : verbs) {
        const std::string page = manualPage(table, one),
                          name = "sluice" + (one.empty() ? "" : "-" + one) + ".1";
        OutputFile file(folder + "/" + name, common.force);
        file.write(0, page.data(), page.size());
        file.commit();
    }
    return exitOk;
}

} // namespace sluice
