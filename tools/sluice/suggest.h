// SPDX-License-Identifier: MIT OR Apache-2.0
// Guesses which name the user meant by a word with a typing error.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// Returns " (did you mean 'NAME'?)" with the name that differs from `word` in the fewest letters,
// or "" if none is similar.
std::string suggestion(const std::string& word, const std::vector<std::string>& names);

} // namespace sluice
