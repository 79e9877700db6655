// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/unpack/selection.h"

#include <numeric>

#include "tools/common/glob.h"

namespace sluice {
namespace {

// Returns the index of the first asset whose name is not less.
uint32_t lowerBound(const Container& container, const std::string& name)
{
    uint32_t first = 0;
    for (uint32_t count = container.assetCount(); count != 0;) {
        const uint32_t half = count / 2;
        if (container.asset(first + half).name < name) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

// Names are sorted, so the assets below a folder are contiguous.
bool takeName(const Container& container, std::string name, std::vector<char>& taken)
{
    while (name.compare(0, 2, "./") == 0)
        name.erase(0, 2);
    while (name.size() > 1 && name.back() == '/')
        name.pop_back();
    const uint32_t file = lowerBound(container, name);
    if (file < taken.size() && container.asset(file).name == name) {
        taken[file] = 1;
        return true;
    }
    const std::string folder = name + "/";
    bool any = false;
    for (uint32_t i = lowerBound(container, folder); i < taken.size(); ++i) {
        if (container.asset(i).name.compare(0, folder.size(), folder) != 0) break;
        taken[i] = 1;
        any = true;
    }
    return any;
}

} // namespace

std::vector<uint32_t> selectAssets(const Container& container, const Selection& selection)
{
    std::vector<uint32_t> assets(container.assetCount());
    std::iota(assets.begin(), assets.end(), 0u);
    if (selection.empty()) return assets;
    const std::string& file = container.file().name();
    if (!container.isArchive())
        throw Failure{exitUsage, file + ": is no archive, so there are no names to choose from"};
    std::vector<char> taken(assets.size(), 0);
    for (const std::string& name : selection.names) {
        if (!takeName(container, name, taken))
            throw Failure{exitUsage, file + ": holds no '" + printable(name) + "'"};
    }
    for (const std::string& glob : selection.globs) {
        bool any = false;
        for (const uint32_t asset : assets) {
            if (!matchesPath(glob, container.asset(asset).name)) continue;
            taken[asset] = 1;
            any = true;
        }
        if (!any) throw Failure{exitUsage, file + ": no name matches '" + printable(glob) + "'"};
    }
    std::vector<uint32_t> chosen;
    for (const uint32_t asset : assets) {
        if (taken[asset] != 0) chosen.push_back(asset);
    }
    return chosen;
}

} // namespace sluice
