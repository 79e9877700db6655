// SPDX-License-Identifier: MIT OR Apache-2.0
// The verbs and options of the command line as data, from which --help, shell completions and
// manual pages are made.
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
    std::vector<std::string> names; // "-o", "--force"; none for a positional
    std::string value; // the name of its value in the help, "FILE"; empty: it takes none
    std::vector<std::string> words; // the possible values, as far as known
    std::string help;
    bool isList = false;  // the value may be several words with commas
    bool repeats = false; // it may be given several times
    bool isRequired = false;

    // These say what a shell may offer as the value besides `words`.
    bool takesFiles() const;
    bool takesFolders() const { return value == "DIR"; }
};

struct TableVerb {
    std::string name, help;
    std::vector<TableOption> options, positionals;
};

struct CommandTable {
    std::string help;
    std::vector<TableOption> options; // these options are allowed after every verb too
    std::vector<TableVerb> verbs;
};

CommandTable tableOf(const CLI::App& app);

// Formats the text of --help with the names and values of the table, in lines of 100 columns.
std::shared_ptr<CLI::FormatterBase> helpFormatter();

extern const std::vector<std::string> kShells; // the shells that have completions
// Returns a script that a shell loads.
std::string completionScript(const CommandTable& table, const std::string& shell);
// Returns the manual page of a verb or, if `verb` is empty, of the tool.
std::string manualPage(const CommandTable& table, const std::string& verb);

// sluice completion, sluice man.
int runCompletion(const CommandTable& table, const std::string& shell);
// Writes the pages of all verbs into `folder`. If it is empty, prints the page of one verb to
// stdout.
int runManual(const CommandTable& table, const std::string& verb, const std::string& folder,
              const CommonOptions& common);

} // namespace sluice
