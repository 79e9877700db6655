// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the files that sluice pack takes, and what it leaves out.
#pragma once

#include <string>
#include <vector>

#include "tools/common/archive_writer.h"

namespace sluice {

struct LeftOut {
    uint64_t links = 0, special = 0, emptyFolders = 0, excluded = 0;
    uint64_t unfinished = 0; // temporary files of other runs, which were killed or still go on
    bool output = false;     // the archive itself, which lies in a folder that is packed

    // Returns "2 links, 1 empty folder"; empty if nothing was left out.
    std::string text() const;
};

struct PackSources {
    std::vector<ArchiveSource> files; // in the order of their names
    std::vector<std::string> folders; // paths of all that were read
    LeftOut leftOut;
};

// Returns the files of options.inputs and below its folders. Reports what is left out: a line on
// stderr, with -v a line each, with -q nothing. Throws a Failure.
PackSources collectSources(const PackOptions& options, const CommonOptions& common);

} // namespace sluice
