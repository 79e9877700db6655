// SPDX-License-Identifier: MIT OR Apache-2.0
// "Did you mean": the name that somebody who mistyped had in mind.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// " (did you mean 'NAME'?)" with the name that is fewest letters away from `word`, or "" where none
// is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& names);

} // namespace sluice
