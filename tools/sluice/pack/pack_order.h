// SPDX-License-Identifier: MIT OR Apache-2.0
// The order of extents that sluice pack --order asks for.
#pragma once

#include <string>
#include <vector>

#include "tools/common/archive_writer.h"

namespace sluice {

// Brings files, which are in the order of their names, into the order of a list of files and
// folders, one a line. If a name occurs twice, the first place counts. The other files follow in
// their old order. Throws a Failure, also if a line names nothing.
void orderFiles(std::vector<ArchiveSource>& files, const std::string& list);

} // namespace sluice
