// SPDX-License-Identifier: MIT OR Apache-2.0
// The message for a command line that the tool does not understand.
#pragma once

#include <string>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): the name is CLI11's
class App;
class ParseError;
} // namespace CLI

namespace sluice {

// `words` are the words of the command line without the program's name. Returns one line, which
// guesses what was meant and says which help to read.
std::string usageError(const CLI::App& app, const CLI::ParseError& error,
                       const std::vector<std::string>& words);

// Returns what is wrong with words that the parser would take for something else: "-output" would
// be -o with the value "utput", a long dash begins no option, and --help behind a verb that does
// not exist would be the tool's. Empty if there are none.
std::string lookalikeError(const CLI::App& app, const std::vector<std::string>& words);

} // namespace sluice
