// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that several processes may read and replace at any time. shared_file_posix.cpp and
// shared_file_windows.cpp implement this.
#pragma once

#include <filesystem>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// Returns all bytes of a regular file. Returns none if the file does not exist, has more than
// `most` bytes, or cannot be read.
std::vector<uint8_t> readSharedFile(const std::filesystem::path& path, uint64_t most);
// Renames a file. A file that has the new name is replaced, even while others read it.
bool renameOver(const std::filesystem::path& from, const std::filesystem::path& to);
// Returns the folder that an environment variable names; empty if it is not set.
std::filesystem::path folderFromVariable(const char* name);

} // namespace sluice
