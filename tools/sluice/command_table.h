// SPDX-License-Identifier: MIT OR Apache-2.0
// The verbs and options of the command line as data. --help, shell completions and manual pages are
// made from it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace CLI { // NOLINT(readability-identifier-naming): the name is CLI11's
class App;
class FormatterBase;
} // namespace CLI

namespace sluice {

struct TableOption {
    std::vector<std::string> names; // for example "-o", "--force"; none if positional
    std::string value;              // name of its value in the help: "FILE"; empty: no value
    std::vector<std::string> words; // its possible values that are known
    std::string help;
    bool isList = false;  // the value may be a list with commas
    bool repeats = false; // the option may be given several times
    bool isRequired = false;

    // These say whether a shell may offer files or folders as the value, besides `words`.
    bool takesFiles() const;
    bool takesFolders() const { return value == "DIR"; }
};

struct TableVerb {
    std::string name, help;
    std::vector<TableOption> options, positionals;
};

struct CommandTable {
    std::string help;
    std::vector<TableOption> options; // options that are allowed after every verb
    std::vector<TableVerb> verbs;
};

CommandTable tableOf(const CLI::App& app);

// Makes the formatter of --help. It uses the table's names and values, in lines that fit the
// variable COLUMNS or the terminal.
std::shared_ptr<CLI::FormatterBase> helpFormatter();

extern const std::vector<std::string> kShells; // the shells that have completions
// Returns a script by which the shell completes command lines of this tool.
std::string completionScript(const CommandTable& table, const std::string& shell);
// Returns the manual page of a verb, or of the whole tool if `verb` is empty.
std::string manualPage(const CommandTable& table, const std::string& verb);

// `sluice completion`.
int runCompletion(const CommandTable& table, const std::string& shell);
// `sluice man`: writes the pages of all verbs into `folder`. If that is empty, prints the page of
// one verb to stdout.
int runManual(const CommandTable& table, const std::string& verb, const std::string& folder,
              const CommonOptions& common);

} // namespace sluice
