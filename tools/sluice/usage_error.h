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

// `words` are the words of the command line without the program's name. Returns one line that
// guesses what was meant and says which help to read.
std::string usageError(const CLI::App& app, const CLI::ParseError& error,
                       const std::vector<std::string>& words);

} // namespace sluice
