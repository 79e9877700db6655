// SPDX-License-Identifier: MIT OR Apache-2.0
// The order of extents that sluice pack --order asks for.
#pragma once

#include <string>
#include <vector>

#include "tools/common/archive_writer.h"

namespace sluice {

// Brings files, which are in the order of their names, into that of a list of names of files and
// folders, one a line, in which a name counts where it stands first; the rest follow as they were.
// Throws a Failure, also where a line names nothing.
void orderFiles(std::vector<ArchiveSource>& files, const std::string& list);

} // namespace sluice
