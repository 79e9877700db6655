// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice info --html`: makes the JSON data of the page.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tools/common/html_page.h"
#include "tools/sluice/info/asset_summary.h"

#include "texts/info_page.h"

namespace sluice {
namespace {

std::string nameText(const std::string& name) { return scriptText(jsonText(printable(name))); }

// Statistics of all tiles of the archive.
struct TileCounts {
    std::map<std::string, uint64_t> codecs, filters;
    // histogram[k] is the number of tiles whose stored size is at most 2^k and above 2^(k - 1).
    std::vector<uint64_t> histogram;
};

// Writes the tree of folders as nested lists: [name, stored, plain] for a file, [name, [...]] for a
// folder. Names arrive sorted, so all that is below a folder arrives together.
class TreeWriter {
public:
    std::string text = "[";

    void add(const std::string& name, uint64_t stored, uint64_t plain)
    {
        size_t shared = 0, begin = 0;
        for (size_t slash; (slash = name.find('/', begin)) != std::string::npos;
             begin = slash + 1) {
            if (shared == m_open.size() || m_open[shared] != name.substr(begin, slash - begin))
                break;
            ++shared;
        }
        closeTo(shared);
        for (size_t slash; (slash = name.find('/', begin)) != std::string::npos;
             begin = slash + 1) {
            separate();
            m_open.push_back(name.substr(begin, slash - begin));
            text += "[" + nameText(m_open.back()) + ",[";
            m_isFirst = true;
        }
        separate();
        text += "[" + nameText(name.substr(begin)) +
                formatText(",%llu,%llu]", wide(stored), wide(plain));
    }
    void finish()
    {
        closeTo(0);
        text += "]";
    }

private:
    void closeTo(size_t depth)
    {
        for (; m_open.size() > depth; m_open.pop_back()) {
            text += "]]";
            m_isFirst = false;
        }
    }
    void separate()
    {
        if (!m_isFirst) text += ",";
        m_isFirst = false;
    }

    std::vector<std::string> m_open; // folders that contain the current name
    bool m_isFirst = true;           // nothing has been written into the current list yet
};

void countTiles(const Container& container, uint32_t asset, DescribedFilters& filters,
                TileCounts& counts)
{
    const void* last = nullptr;
    std::string lastNames = "none";
    uint64_t storedEnd = container.archiveAsset(asset).offset;
    container.forEachTile(asset, [&](uint32_t, const ContainerTile& tile) {
        if (tile.offset < storedEnd) return; // a repeated tile, which is stored and counted once
        storedEnd = tile.offset + tile.storedSize;
        ++counts
              .codecs[tile.codec == SLUICE_CODEC_STORE ? "stored" : codecOfTiles(tile.codec).name];
        if (tile.filter != last) {
            last = tile.filter;
            lastNames = last == nullptr
                            ? "none"
                            : namesOf(filters.features(last, tile.filterSize), ", ", "");
            if (lastNames.empty()) lastNames = "plain";
        }
        ++counts.filters[lastNames];
        size_t log = 0;
        while (uint64_t(1) << log < tile.storedSize)
            ++log;
        counts.histogram.resize(std::max(counts.histogram.size(), log + 1));
        ++counts.histogram[log];
    });
}

std::string pairs(const std::map<std::string, uint64_t>& counts)
{
    std::vector<std::pair<std::string, uint64_t>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [name, count] : sorted)
        text += (text.empty() ? "[" : ",[") + nameText(name) + formatText(",%llu]", wide(count));
    return "[" + text + "]";
}

} // namespace

std::string infoPage(const Container& container)
{
    TileCounts counts;
    DescribedFilters filters;
    TreeWriter tree;
    std::vector<uint64_t> storedSizes;
    uint64_t stored = 0;
    for (uint32_t i = 0; i < container.assetCount(); ++i) {
        const ContainerAsset asset = container.asset(i);
        if (container.ownsTiles(i)) countTiles(container, i, filters, counts);
        storedSizes.push_back(container.storedSize(i));
        stored += storedSizes.back();
        tree.add(asset.name, storedSizes.back(), asset.size);
    }
    tree.finish();
    std::string types, histogram;
    for (const TypeTotal& total : totalsByType(container, storedSizes))
        types += (types.empty() ? "[" : ",[") + nameText(total.type) +
                 formatText(",%llu,%llu,%llu]", wide(total.files), wide(total.size),
                            wide(total.storedSize));
    for (const uint64_t count : counts.histogram)
        histogram += (histogram.empty() ? "" : ",") + std::to_string(count);
    return htmlPage(
        kInfoPage,
        "{\"file\":" + nameText(container.file().name()) +
            formatText(",\"version\":\"%u.%u\",\"assets\":%u,\"plain\":%llu,\"stored\":%llu,",
                       container.archive().versionMajor, container.archive().versionMinor,
                       container.assetCount(), wide(container.decodedSize()), wide(stored)) +
            "\"types\":[" + types + "],\"codecs\":" + pairs(counts.codecs) +
            ",\"filters\":" + pairs(counts.filters) + ",\"histogram\":[" + histogram +
            "],\n\"tree\":" + tree.text + "}",
        printable(container.file().name()));
}

} // namespace sluice
