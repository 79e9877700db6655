// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice pack --order`: the order in which assets lie in the archive.
#pragma once

#include <string>
#include <vector>

#include "tools/common/archive_writer.h"

namespace sluice {

// Sorts files into the order of a list. `list` is the path of a text that names a file or a folder
// in each line. The caller passes the files sorted by name. If a file is named more than once, the
// first line counts. Files that are not in the list follow, in their old order. Throws a Failure,
// for example if a line matches no file.
void orderFiles(std::vector<ArchiveSource>& files, const std::string& list);

} // namespace sluice
