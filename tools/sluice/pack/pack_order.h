// SPDX-License-Identifier: MIT OR Apache-2.0
// The order of extents that sluice pack --order asks for.
#pragma once

#include <string>
#include <vector>

#include "tools/common/archive_writer.h"

namespace sluice {

// Brings files, which are in the order of their names, into that of a list of names, one a line, in
// which a name counts where it stands first; the rest follow as they were. Says on stderr, unless
// `quiet`, how many names are no file's. Throws a Failure.
void orderFiles(std::vector<ArchiveSource>& files, const std::string& list, bool quiet);

} // namespace sluice
