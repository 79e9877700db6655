// SPDX-License-Identifier: MIT OR Apache-2.0
// The order of extents that sluice pack --order asks for.
#pragma once

#include <string>
#include <vector>

#include "tools/common/archive_writer.h"

namespace sluice {

// Sorts files, which are in the order of their names, into the order of a list of files and
// folders, one per line. If a name occurs twice, its first place counts. Files that are not in the
// list follow in their old order. Throws a Failure, for example if a line matches no file.
void orderFiles(std::vector<ArchiveSource>& files, const std::string& list);

} // namespace sluice
