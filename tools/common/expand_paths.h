// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sluice {

// Returns the paths of the command line. On a system where no file name can contain * or ?, a path
// whose last component contains one is replaced by the files that match it, because shells there
// leave this to programs.
std::vector<std::string> expandedPaths(const std::vector<std::string>& paths);

} // namespace sluice
