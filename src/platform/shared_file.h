// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that several processes may read and replace at any time, implemented by
// shared_file_posix.cpp and shared_file_windows.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// Returns the bytes of a file. Returns no bytes if the path is a link or something else that is not
// a regular file, if the file has more than `most` bytes, or if it cannot be read.
std::vector<uint8_t> readSharedFile(const std::filesystem::path& path, uint64_t most);
// Renames a file. If there is a file `to`, it is replaced, even while other processes read it.
// Returns whether the renaming succeeded.
bool renameOver(const std::filesystem::path& from, const std::filesystem::path& to);
// Returns the folder that an environment variable names; empty if it is not set.
std::filesystem::path folderFromVariable(const char* name);

} // namespace sluice
