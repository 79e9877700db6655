// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that several processes read and replace at any time: shared_file_posix.cpp and
// shared_file_windows.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// All bytes of a regular file; none: there is no such file, it has more than `most` bytes, or it
// cannot be read.
std::vector<u8> readSharedFile(const std::filesystem::path& path, u64 most);
// Gives a file a name, in place of the file that may have it, which others may be reading.
bool renameOver(const std::filesystem::path& from, const std::filesystem::path& to);
// The folder that a variable of the environment names; empty: it is not set.
std::filesystem::path folderFromVariable(const char* name);

} // namespace sluice
