// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/info/asset_summary.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "formats/filter.h"

#include "tools/common/tool.h"

namespace sluice {

namespace {

uint32_t featuresOf(const void* description, uint32_t size)
{
    uint32_t features = 0;
    FilterReader reader(description, size);
    for (FilterSection section; reader.next(section);) {
        if (section.tgaRle) features |= SLUICE_FILTER_TGA_PACKETS;
        for (uint32_t c = 0; c < section.columnCount; ++c) {
            const FilterColumn& column = section.columns[c];
            features |= rowOf(column.predictor).features;
            if (column.has(filterSplit) || (c != 0 && !column.has(filterJoined)))
                features |= SLUICE_FILTER_PLANES;
            if (column.has(filterRotated)) features |= SLUICE_FILTER_FLOAT;
            if (column.has(filterBlock)) features |= SLUICE_FILTER_BLOCKS;
            if (column.base != 0) features |= SLUICE_FILTER_SUBTRACT;
        }
    }
    return features;
}

} // namespace

std::string namesOf(uint32_t features, const char* separator, const char* quote)
{
    std::string names;
    for (const auto& [name, feature] : kFilterNames) {
        if ((features & feature) != 0)
            names += (names.empty() ? "" : separator) + std::string(quote) + name + quote;
    }
    return names;
}

uint32_t DescribedFilters::features(const void* description, uint32_t size)
{
    const auto [found, isNew] = m_features.try_emplace(description, 0);
    if (isNew && description != nullptr) found->second = featuresOf(description, size);
    return found->second;
}

const std::string& DescribedFilters::text(const void* description, uint32_t size)
{
    constexpr size_t mostTexts = 1024;
    if (m_texts.size() == mostTexts) m_texts.clear();
    const auto [found, isNew] = m_texts.try_emplace(description);
    if (isNew) {
        char text[4096];
        sluiceGetFilterText(description, size, text, sizeof(text));
        found->second = text;
    }
    return found->second;
}

const char* ImageSummary::channels() const
{
    if (info.colourModel == 0) return "channels unknown";
    switch (info.channel) {
    case 0: return "RGB";
    case 3: return "RGBA";
    case 4: return "RRR";
    case 5: return "RRRG";
    case 6: return "RG";
    default: return "channels unknown";
    }
}

AssetSummary summarize(const Container& container, uint32_t asset, DescribedFilters& filters)
{
    AssetSummary summary;
    summary.storedSize = container.storedSize(asset);
    container.forEachOwnTile(asset, [&](uint32_t number, const ContainerTile& tile) {
        ++summary.tileCount;
        ++summary.tiles[&codecOfTiles(tile.codec) - kCodecs];
        summary.filtered += tile.filter != nullptr ? 1 : 0;
        if (summary.runs.empty() || summary.runs.back().filter != tile.filter) {
            summary.runs.push_back({number, 0, tile.filter, tile.filterSize});
        }
        ++summary.runs.back().count;
    });
    for (const FilterRun& run : summary.runs) {
        const uint32_t features = filters.features(run.filter, run.size);
        std::string list = run.filter == nullptr ? "none" : namesOf(features, ",", "");
        if (list.empty()) list = "plain";
        const auto found = std::find_if(summary.lists.begin(), summary.lists.end(),
                                        [&](const auto& known) { return known.first == list; });
        if (found == summary.lists.end()) {
            summary.lists.emplace_back(list, run.count);
        } else {
            found->second += run.count;
        }
    }
    return summary;
}

ImageSummary imageOf(const Container& container, uint32_t number)
{
    ImageSummary image;
    if (!container.isArchive()) return image;
    const SluiceArchiveAsset asset = container.archiveAsset(number);
    image.status = sluiceGetArchiveImage(&asset, &image.info, image.levels);
    if (image.status != SLUICE_OK && image.status != SLUICE_ERROR_VERSION)
        throw Failure{exitCodeOf(image.status),
                      container.place(number) + ": image: " + sluiceGetStatusText(image.status)};
    if (image.isImage()) sluiceGetImageFormat(image.info.format, &image.format);
    return image;
}

std::string typeOf(const std::string& name)
{
    const size_t dot = name.rfind('.'), slash = name.rfind('/');
    const size_t begin = slash == std::string::npos ? 0 : slash + 1;
    if (dot == std::string::npos || dot <= begin || dot + 1 == name.size()) return "-";
    return lower(name.substr(dot + 1));
}

std::vector<TypeTotal> totalsByType(const Container& container,
                                    const std::vector<uint64_t>& storedSizes)
{
    std::map<std::string, TypeTotal> byType;
    for (uint32_t i = 0; i < container.assetCount(); ++i) {
        const ContainerAsset asset = container.asset(i);
        TypeTotal& total = byType[typeOf(asset.name)];
        ++total.files;
        total.size += asset.size;
        total.storedSize += storedSizes[i];
    }
    std::vector<TypeTotal> totals;
    for (auto& [type, total] : byType) {
        total.type = type;
        totals.push_back(total);
    }
    std::stable_sort(totals.begin(), totals.end(), [](const TypeTotal& a, const TypeTotal& b) {
        return a.storedSize > b.storedSize;
    });
    return totals;
}

} // namespace sluice
