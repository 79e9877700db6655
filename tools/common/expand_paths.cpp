// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/expand_paths.h"

#include <algorithm>

#include "tools/common/glob.h"
#include "tools/common/platform.h"
#include "tools/common/tool.h"

namespace sluice {

std::vector<std::string> expandedPaths(const std::vector<std::string>& paths)
{
    const bool hasSuchNames = whyNoFileName("*").empty();
    std::vector<std::string> all;
    for (const std::string& path : paths) {
        const size_t slash = path.find_last_of("/\\:");
        const std::string start = slash == std::string::npos ? "" : path.substr(0, slash + 1);
        const std::string pattern = foldedFileName(path.substr(start.size()));
        if (hasSuchNames || pattern.find_first_of("*?") == std::string::npos) {
            all.push_back(path);
            continue;
        }
        std::vector<FolderEntry> entries;
        const size_t before = all.size();
        if (!listFolder(start.empty() ? "." : start, entries))
            throw Failure{exitIo, path + ": there is no such folder"};
        for (const FolderEntry& entry : entries)
            if (matchesGlob(pattern, foldedFileName(entry.name))) all.push_back(start + entry.name);
        if (all.size() == before) throw Failure{exitIo, path + ": there is no such file"};
        std::sort(all.begin() + ptrdiff_t(before), all.end());
    }
    return all;
}

} // namespace sluice
