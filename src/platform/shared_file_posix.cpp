// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/shared_file.h"

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace sluice {

std::vector<uint8_t> readSharedFile(const fs::path& path, uint64_t most)
{
    // Open the file before checking its type and size: if the path were checked first, another
    // process could replace the file in between. O_NONBLOCK keeps open() from waiting if the path
    // is a pipe.
    const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) return {};
    struct stat status = {};
    std::vector<uint8_t> bytes;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && uint64_t(status.st_size) <= most) {
        bytes.resize(size_t(status.st_size));
        for (size_t done = 0; done < bytes.size();) {
            const ssize_t got = read(file, bytes.data() + done, bytes.size() - done);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) {
                bytes.clear();
                break;
            }
            done += size_t(got);
        }
    }
    close(file);
    return bytes;
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
