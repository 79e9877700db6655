// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sluice {

// Paths of the command line, with those that match taken for one whose last part holds * or ?,
// where no file can have such a name: shells leave that to programs there.
std::vector<std::string> expandedPaths(const std::vector<std::string>& paths);

} // namespace sluice
