// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_order.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "tools/common/files.h"

namespace sluice {
namespace {

constexpr uint64_t kMaxListBytes = uint64_t(1) << 28;

} // namespace

void orderFiles(std::vector<ArchiveSource>& files, const std::string& list, bool quiet)
{
    const InputFile input(list);
    if (input.size() > kMaxListBytes)
        throw Failure{exitUsage, input.name() + ": is larger than 256 MiB"};
    const Bytes bytes = input.readAll();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::vector<char> isPlaced(files.size(), 0);
    std::vector<size_t> order;
    std::string firstUnknown;
    uint64_t unknown = 0;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view name = text.substr(begin, end - begin);
        begin = end + 1;
        if (!name.empty() && name.back() == '\r') name.remove_suffix(1);
        if (name.empty()) continue;
        const auto found = std::lower_bound(
            files.begin(), files.end(), name,
            [](const ArchiveSource& file, std::string_view wanted) { return file.name < wanted; });
        if (found == files.end() || found->name != name) {
            if (unknown++ == 0) firstUnknown = name;
            continue;
        }
        const size_t number = size_t(found - files.begin());
        if (isPlaced[number] == 0) order.push_back(number);
        isPlaced[number] = 1;
    }
    for (size_t i = 0; i < files.size(); ++i)
        if (isPlaced[i] == 0) order.push_back(i);
    std::vector<ArchiveSource> ordered;
    for (const size_t number : order)
        ordered.push_back(std::move(files[number]));
    files.swap(ordered);
    if (unknown != 0 && !quiet)
        printMessage("sluice: %s: %llu line%s no file that is packed, the first '%s'\n",
                     input.name().c_str(), wide(unknown), unknown == 1 ? " names" : "s name",
                     printable(firstUnknown.substr(0, 200)).c_str());
}

} // namespace sluice
