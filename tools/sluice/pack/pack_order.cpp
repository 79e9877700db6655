// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_order.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "tools/common/files.h"
#include "tools/sluice/pack/pack_inputs.h"

namespace sluice {

void orderFiles(std::vector<ArchiveSource>& files, const std::string& list)
{
    const InputFile input(list);
    const std::string text = input.readText(kMaxListBytes);
    std::vector<char> isPlaced(files.size(), 0);
    std::vector<size_t> order;
    const auto place = [&](size_t number) {
        if (isPlaced[number] == 0) order.push_back(number);
        isPlaced[number] = 1;
    };
    const auto firstFrom = [&](std::string_view name) {
        return size_t(std::lower_bound(files.begin(), files.end(), name,
                                       [](const ArchiveSource& file, std::string_view wanted) {
                                           return file.name < wanted;
                                       }) -
                      files.begin());
    };
    std::unordered_set<std::string> folders; // folders in the list
    std::string firstUnknown;
    uint64_t line = 0, unknown = 0;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view name = std::string_view(text).substr(begin, end - begin);
        begin = end + 1;
        ++line;
        if (name.empty()) continue;
        const std::string given(name.substr(0, 200));
        while (name.substr(0, 2) == "./")
            name.remove_prefix(2);
        while (name.size() > 1 && name.back() == '/')
            name.remove_suffix(1);
        const size_t file = firstFrom(name);
        if (file < files.size() && files[file].name == name) {
            place(file);
            continue;
        }
        const std::string folder = std::string(name) + "/";
        if (!folders.insert(folder).second) continue;
        const size_t first = firstFrom(folder);
        size_t i = first;
        for (; i < files.size() && files[i].name.compare(0, folder.size(), folder) == 0; ++i)
            place(i);
        if (i == first && unknown++ == 0)
            firstUnknown = formatText("%s:%llu: no name matches '%s'", input.name().c_str(),
                                      wide(line), printable(given).c_str());
    }
    if (unknown > 1) firstUnknown += formatText("; %llu lines match none", wide(unknown));
    if (unknown != 0) throw Failure{exitUsage, firstUnknown};
    for (size_t i = 0; i < files.size(); ++i)
        place(i);
    std::vector<ArchiveSource> ordered;
    for (const size_t number : order)
        ordered.push_back(std::move(files[number]));
    files.swap(ordered);
}

} // namespace sluice
