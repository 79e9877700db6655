// SPDX-License-Identifier: MIT OR Apache-2.0
// The files and folders that `sluice pack` is given, on the line or in a list, and the names that
// they get in the archive.
#pragma once

#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace sluice {

constexpr uint64_t kMaxListBytes = uint64_t(1) << 28; // of a file that lists names

struct PackInput {
    std::string path;
    // The name before --strip and --prefix. It is empty for a folder whose content is stored
    // without its name.
    std::string name;
    bool isFinal = false; // a list gives the name, so --strip does not shorten it
    std::string place;    // for messages: "LIST:3: ", or empty for a word of the command line
};

// Returns the files and folders that options.inputs and the list of --files-from name. Throws a
// Failure, for example if there are none.
std::vector<PackInput> packInputs(const PackOptions& options);

// Returns the name that a file or folder gets in the archive; empty if --strip leaves nothing of
// it. `name` is PackInput::name, followed by the path inside that input if it is a folder.
std::string storedName(const std::string& name, bool isFinal, const PackOptions& options);

// Returns why an archive cannot hold this name; empty if it can.
std::string whyNoArchiveName(const std::string& name);

} // namespace sluice
