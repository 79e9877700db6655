// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the files that sluice pack takes, and what it leaves out.
#pragma once

#include <string>
#include <vector>

#include "tools/common/archive_writer.h"

namespace sluice {

struct LeftOut {
    uint64_t links = 0, special = 0, emptyFolders = 0, excluded = 0;
    uint64_t unfinished = 0; // temporary files of other runs, killed or still running
    bool output = false;     // the archive itself, which lies in a folder that is packed

    // Returns "2 links, 1 empty folder"; empty if nothing was left out.
    std::string text() const;
};

struct PackSources {
    std::vector<ArchiveSource> files; // in the order of their names
    std::vector<std::string> folders; // paths of all folders that were read
    LeftOut leftOut;
};

// Returns the files of options.inputs and those below its folders. Reports on stderr what is left
// out: in one line, with -v in a line for each file, with -q not at all. Throws a Failure.
PackSources collectSources(const PackOptions& options, const CommonOptions& common);

} // namespace sluice
