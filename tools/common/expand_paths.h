// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sluice {

// Returns the paths of the command line. On Windows, where shells leave wildcards to programs, a
// path whose last component contains * or ? is replaced by the paths of the files that match it. No
// file name there can contain these characters. Throws a Failure if nothing matches.
std::vector<std::string> expandedPaths(const std::vector<std::string>& paths);

} // namespace sluice
