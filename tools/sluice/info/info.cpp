// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice info`: shows what is in a file.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "tools/sluice/info/asset_summary.h"
#include "tools/common/file_mode.h"
#include "tools/common/summary.h"
#include "tools/common/weights.h"
#include "tools/common/zstd_file.h"
#include "tools/sluice/unpack/unpack_zstd.h"

namespace sluice {
namespace {

constexpr uint32_t kInfoSchema = 1; // version of the JSON; docs/tool.md describes it

void printImage(const ImageSummary& image)
{
    if (image.status != SLUICE_OK) std::printf("%14s of a newer version\n", "image:");
    if (!image.isImage()) return;
    const SluiceImageInfo& info = image.info;
    std::string text = formatText("%s, %s, %u", image.kind(), image.format.name, info.width);
    if ((info.flags & SLUICE_IMAGE_1D) == 0) text += formatText(" x %u", info.height);
    if ((info.flags & SLUICE_IMAGE_3D) != 0) text += formatText(" x %u", info.depth);
    if ((info.flags & SLUICE_IMAGE_CUBE) != 0) text += ", cube";
    if ((info.flags & SLUICE_IMAGE_ARRAY) != 0) text += formatText(", %u layers", info.layers);
    text += formatText(", %u level%s", info.levels, info.levels == 1 ? "" : "s");
    if ((info.flags & SLUICE_IMAGE_PREMULTIPLIED) != 0) text += ", alpha premultiplied";
    if ((info.flags & SLUICE_IMAGE_OPAQUE) != 0) text += ", opaque";
    std::printf("%14s %s\n", "image:", text.c_str());
}

void printShare(const Container& container, uint32_t number)
{
    if (!container.isArchive()) return;
    const SluiceArchiveAsset asset = container.archiveAsset(number);
    if (asset.share != SLUICE_ARCHIVE_NO_SHARE)
        std::printf("%14s %u, bytes %llu to %llu of %llu\n", "share:", asset.share,
                    wide(asset.tilesOffset), wide(asset.tilesOffset + asset.size - 1),
                    wide(asset.tilesSize));
}

std::string imageJson(const ImageSummary& image)
{
    if (!image.isImage()) return "";
    const SluiceImageInfo& info = image.info;
    std::string levels;
    for (uint32_t i = 0; i < info.levels; ++i)
        levels += formatText("%s{\"offset\": %llu, \"size\": %llu}", i == 0 ? "" : ", ",
                             wide(image.levels[i].offset), wide(image.levels[i].size));
    return formatText("\"image\": {\"kind\": \"%s\", \"format\": \"%s\", \"vkFormat\": %u, "
                      "\"width\": %u, \"height\": %u, \"depth\": %u, \"layers\": %u, "
                      "\"faces\": %u, \"flags\": %u, \"imageStride\": %llu, \"levels\": [",
                      image.kind(), image.format.name, info.format, info.width, info.height,
                      info.depth, info.layers, info.faces, info.flags,
                      wide(image.levels[0].imageStride)) +
           levels + "]}, ";
}

// Returns the assets' numbers in the order in which they are listed.
std::vector<uint32_t> orderOf(const Container& container, const std::vector<uint64_t>& storedSizes,
                              const std::string& sort)
{
    std::vector<uint32_t> order(container.assetCount());
    std::iota(order.begin(), order.end(), 0u);
    if (sort == "size") {
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return storedSizes[a] > storedSizes[b]; });
    } else if (sort == "ratio") {
        std::vector<double> ratios(order.size());
        for (const uint32_t i : order)
            ratios[i] =
                double(storedSizes[i]) / double(std::max<uint64_t>(container.asset(i).size, 1));
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return ratios[a] > ratios[b]; });
    }
    return order;
}

void printTypes(const Container& container, const std::vector<uint64_t>& storedSizes)
{
    std::printf("\n%14s %14s %8s %8s  type\n", "size", "stored", "ratio", "files");
    for (const TypeTotal& total : totalsByType(container, storedSizes))
        std::printf("%14llu %14llu %8s %8llu  %s\n", wide(total.size), wide(total.storedSize),
                    ratioText(total.storedSize, total.size).c_str(), wide(total.files),
                    printable(total.type).c_str());
}

std::string typesJson(const Container& container, const std::vector<uint64_t>& storedSizes)
{
    std::string json;
    for (const TypeTotal& total : totalsByType(container, storedSizes))
        json += formatText("%s\n  {\"type\": %s, \"files\": %llu, \"size\": %llu, "
                           "\"storedSize\": %llu}",
                           json.empty() ? "" : ",", jsonText(total.type).c_str(), wide(total.files),
                           wide(total.size), wide(total.storedSize));
    return json;
}

void printInfo(const Container& container, const std::vector<uint64_t>& storedSizes,
               const std::string& sort, bool verbose)
{
    const char* kind = container.isArchive() ? "sluice archive" : "GDeflate tile stream";
    std::printf("%s: %s", printable(container.file().name()).c_str(), kind);
    if (container.isArchive()) {
        std::printf(", version %u.%u", container.archive().versionMajor,
                    container.archive().versionMinor);
    }
    const uint64_t size = container.decodedSize();
    const uint64_t fileSize = container.file().size();
    std::printf(", %s decoded, %s here, %s\n", sizeText(size).c_str(), sizeText(fileSize).c_str(),
                ratioText(fileSize, size).c_str());
    const auto printColumns = [](const auto& textOf) {
        for (size_t i = 0; i < kCodecCount; ++i) {
            if (kCodecs[i].infoColumn != nullptr) std::printf(" %8s", textOf(i).c_str());
        }
    };
    std::printf("%14s %14s %8s %8s", "size", "stored", "ratio", "tiles");
    printColumns([](size_t i) { return std::string(kCodecs[i].infoColumn); });
    std::printf("  name\n");
    DescribedFilters filters;
    for (const uint32_t i : orderOf(container, storedSizes, sort)) {
        const ContainerAsset asset = container.asset(i);
        const AssetSummary summary = summarize(container, i, filters);
        std::printf("%14llu %14llu %8s %8u", wide(asset.size), wide(summary.storedSize),
                    ratioText(summary.storedSize, asset.size).c_str(), summary.tileCount);
        printColumns([&](size_t codec) { return std::to_string(summary.tiles[codec]); });
        std::printf("  %s\n", printable(asset.name).c_str());
        printImage(imageOf(container, i));
        if (verbose) printShare(container, i);
        if (summary.filtered == 0) continue;
        std::string lists;
        for (const auto& [list, count] : summary.lists) {
            lists += formatText("%s%s (%u)", lists.empty() ? "" : ", ", list.c_str(), count);
        }
        std::printf("%14s %s\n", "filters:", lists.c_str());
        for (const FilterRun& run : summary.runs) {
            if (!verbose || run.filter == nullptr) continue;
            std::printf("%14s tiles %u to %u: %s\n", "", run.first, run.first + run.count - 1,
                        filters.text(run.filter, run.size).c_str());
        }
    }
    if (container.isArchive() && container.assetCount() > 1) printTypes(container, storedSizes);
}

void printInfoJson(const Container& container, const std::vector<uint64_t>& storedSizes,
                   const std::string& sort)
{
    std::printf("{\"schemaVersion\": %u, \"file\": %s, \"kind\": \"%s\"", kInfoSchema,
                jsonText(container.file().name()).c_str(),
                container.isArchive() ? "sluice" : "tile-stream");
    if (container.isArchive()) {
        std::printf(", \"version\": [%u, %u]", container.archive().versionMajor,
                    container.archive().versionMinor);
    }
    std::printf(", \"fileSize\": %llu, \"decodedSize\": %llu,\n \"assets\": [",
                wide(container.file().size()), wide(container.decodedSize()));
    const char* separator = "";
    DescribedFilters filters;
    for (const uint32_t i : orderOf(container, storedSizes, sort)) {
        const ContainerAsset asset = container.asset(i);
        const AssetSummary summary = summarize(container, i, filters);
        std::printf("%s\n  {", separator);
        separator = ",";
        if (container.isArchive()) {
            const SluiceArchiveAsset info = container.archiveAsset(i);
            std::printf("\"name\": %s, \"type\": %u, \"tileSize\": %u, ",
                        jsonText(asset.name).c_str(), info.type, 1u << info.tileSizeLog2);
            std::printf("\"executable\": %s, %s", isExecutable(info) ? "true" : "false",
                        imageJson(imageOf(container, i)).c_str());
            if (info.share != SLUICE_ARCHIVE_NO_SHARE)
                std::printf("\"share\": %u, \"shareOffset\": %llu, ", info.share,
                            wide(info.tilesOffset));
        }
        std::printf("\"size\": %llu, \"storedSize\": %llu, \"tiles\": %u, ", wide(asset.size),
                    wide(summary.storedSize), summary.tileCount);
        for (size_t codec = 0; codec < kCodecCount; ++codec) {
            if (kCodecs[codec].infoKey != nullptr)
                std::printf("\"%s\": %u, ", kCodecs[codec].infoKey, summary.tiles[codec]);
        }
        std::printf("\"filteredTiles\": %u, \"filters\": [", summary.filtered);
        const char* comma = "";
        // The runs are written one by one, since there may be too many for one text in memory.
        for (const FilterRun& run : summary.runs) {
            if (run.filter == nullptr) continue;
            const uint32_t features = filters.features(run.filter, run.size);
            std::printf("%s\n    {\"firstTile\": %u, \"tiles\": %u, \"names\": [%s], "
                        "\"filter\": %s}",
                        comma, run.first, run.count, namesOf(features, ", ", "\"").c_str(),
                        jsonText(filters.text(run.filter, run.size)).c_str());
            comma = ",";
        }
        std::printf("]}");
    }
    std::printf("\n ],\n \"types\": [%s\n ]}\n", typesJson(container, storedSizes).c_str());
}

// Writes the page of `sluice info --html`.
void writePage(const Container& container, const std::string& path, const CommonOptions& common)
{
    if (!container.isArchive())
        throw Failure{exitUsage, container.file().name() + ": --html is for .sluice archives"};
    const std::string page = infoPage(container);
    OutputFile output(path, common.force);
    output.write(0, page.data(), page.size());
    output.commit();
}

} // namespace

int runInfo(const InfoOptions& options, const CommonOptions& common)
{
    refuseOwnInput(options.html, {options.input});
    auto file = std::make_unique<InputFile>(options.input);
    if (ZstdFile::recognises(*file)) {
        if (!options.html.empty())
            throw Failure{exitUsage, options.input + ": --html is for .sluice archives"};
        return runZstdInfo(std::move(file), options.json);
    }
    if (WeightFile::recognises(*file)) {
        if (!options.html.empty())
            throw Failure{exitUsage, options.input + ": --html is for .sluice archives"};
        return runWeightInfo(WeightFile(std::move(file)), options.json);
    }
    const Container container(std::move(file));
    // Compute all sizes first, so that a damaged file gives an error and not half a table.
    std::vector<uint64_t> storedSizes(container.assetCount());
    for (uint32_t i = 0; i < container.assetCount(); ++i) {
        storedSizes[i] = container.storedSize(i);
        imageOf(container, i);
    }
    if (!options.html.empty())
        writePage(container, options.html, common);
    else if (options.json)
        printInfoJson(container, storedSizes, options.sort);
    else
        printInfo(container, storedSizes, options.sort, common.verbosity > 0);
    return exitOk;
}

} // namespace sluice
