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

// Returns one line that guesses what was meant and says which help to read. `words` are the words
// of the command line without the program's name.
std::string usageError(const CLI::App& app, const CLI::ParseError& error,
                       const std::vector<std::string>& words);

// Returns an error for words that the parser would take for something else: "-output" would be -o
// with the value "utput", a long dash begins no option, and --help after a verb that does not exist
// would print the tool's help. Returns an empty text if there is no such word.
std::string lookalikeError(const CLI::App& app, const std::vector<std::string>& words);

} // namespace sluice
