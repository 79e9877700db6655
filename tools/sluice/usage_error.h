// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tool says of a command line that it does not understand.
#pragma once

#include <string>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): the name is CLI11's
class App;
class ParseError;
} // namespace CLI

namespace sluice {

// words: of the command line, without the program's name. One line, which says what may have been
// meant and whose help to read.
std::string usageError(const CLI::App& app, const CLI::ParseError& error,
                       const std::vector<std::string>& words);

} // namespace sluice
