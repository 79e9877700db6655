// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/shared_file.h"

#include <cstdlib>
#include <fstream>

namespace fs = std::filesystem;

namespace sluice {

std::vector<uint8_t> readSharedFile(const fs::path& path, uint64_t most)
{
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return {};
    // Takes the size from the open file, because another process may replace the file at any time.
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const std::streamoff end = file.tellg();
    if (!file || end < 0 || uint64_t(end) > most) return {};
    file.seekg(0);
    std::vector<uint8_t> bytes(static_cast<size_t>(end));
    file.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()));
    return file ? bytes : std::vector<uint8_t>();
}

bool renameOver(const fs::path& from, const fs::path& to)
{
    std::error_code error;
    fs::rename(from, to, error);
    return !error;
}

fs::path folderFromVariable(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr ? fs::u8path(value) : fs::path();
}

} // namespace sluice
