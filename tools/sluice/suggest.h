// SPDX-License-Identifier: MIT OR Apache-2.0
// "Did you mean": guesses the name behind a typing error.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// Returns " (did you mean 'NAME'?)" with the name that differs from `word` in the fewest letters,
// or "" if no name is similar.
std::string suggestion(const std::string& word, const std::vector<std::string>& names);

} // namespace sluice
