// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that several processes read and replace at any time: shared_file_posix.cpp and
// shared_file_windows.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// Returns all bytes of a regular file; none if there is no such file, it has more than `most`
// bytes, or it cannot be read.
std::vector<uint8_t> readSharedFile(const std::filesystem::path& path, uint64_t most);
// Gives a file a name, replacing a file that may have it and that others may be reading.
bool renameOver(const std::filesystem::path& from, const std::filesystem::path& to);
// Returns the folder that an environment variable names; empty if it is not set.
std::filesystem::path folderFromVariable(const char* name);

} // namespace sluice
