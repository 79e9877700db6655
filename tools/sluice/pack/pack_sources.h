// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the files that `sluice pack` takes, and counts what it leaves out.
#pragma once

#include <string>
#include <vector>

#include "tools/common/archive_writer.h"
#include "tools/common/files.h"
#include "tools/sluice/pack/pack_inputs.h"

namespace sluice {

struct LeftOut {
    uint64_t links = 0, special = 0, emptyFolders = 0, excluded = 0;
    uint64_t loops = 0;      // links to a folder that contains the link
    uint64_t badNames = 0;   // names that an archive cannot hold
    uint64_t unfinished = 0; // temporary files of other runs, killed or not
    bool output = false;     // the archive itself, in a folder that is packed
    bool cache = false;      // the folder of --cache, in a folder that is packed

    // Returns "2 links, 1 empty folder" or the like; empty if nothing was left out.
    std::string text() const;
};

struct PackSources {
    std::vector<ArchiveSource> files; // sorted by name
    std::vector<std::string> folders; // paths of all folders that were read
    LeftOut leftOut;
    // Links that were followed, and how many of them lead out of the folders that are packed.
    uint64_t followed = 0, outside = 0;
};

// Returns the inputs that are files, and all files below the inputs that are folders. Reports on
// stderr what was left out and how many links were followed: one line each, with -v one line for
// each file, with -q nothing. Throws a Failure, also if no file is left.
PackSources collectSources(const std::vector<PackInput>& inputs, const PackOptions& options,
                           const CommonOptions& common);

// Returns how the file may be opened: a file that became a link since it was found is refused.
inline InputKind kindOf(const ArchiveSource& source)
{
    return source.isLink ? InputKind::file : InputKind::fileNoLink;
}

} // namespace sluice
