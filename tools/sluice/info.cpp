// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice info and sluice devices: what is in a file, what is in the machine.
#include <sluice/sluice_filter.h>
#include <sluice/sluice_image.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "codecs.h"
#include "container.h"
#include "device.h"
#include "formats/filter.h"
#include "weights.h"

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

std::string namesOf(uint32_t features, const char* separator, const char* quote)
{
    std::string names;
    for (const auto& [name, feature] : kFilterNames) {
        if ((features & feature) != 0)
            names += (names.empty() ? "" : separator) + std::string(quote) + name + quote;
    }
    return names;
}

std::string filterText(const void* description, uint32_t size)
{
    char text[4096];
    sluiceGetFilterText(description, size, text, sizeof(text));
    return text;
}

struct FilterRun {
    uint32_t first, count;
    const void* filter; // its description; null: none
    uint32_t size;
};

struct AssetSummary {
    uint64_t storedSize = 0;
    uint32_t tiles[kCodecCount] = {}; // by rows of kCodecs
    uint32_t filtered = 0;
    std::vector<FilterRun> runs;
    // Lists of filters, and how many tiles have them; the first tile's list is the first.
    std::vector<std::pair<std::string, uint32_t>> lists;
};

AssetSummary summarize(const Container& container, uint32_t asset)
{
    AssetSummary summary;
    container.forEachTile(asset, [&](uint32_t number, const ContainerTile& tile) {
        summary.storedSize += tile.storedSize;
        ++summary.tiles[&codecOfTiles(tile.codec) - kCodecs];
        summary.filtered += tile.filter != nullptr ? 1 : 0;
        if (summary.runs.empty() || summary.runs.back().filter != tile.filter) {
            summary.runs.push_back({number, 0, tile.filter, tile.filterSize});
        }
        ++summary.runs.back().count;
    });
    for (const FilterRun& run : summary.runs) {
        std::string list = "none";
        if (run.filter != nullptr) list = namesOf(featuresOf(run.filter, run.size), ",", "");
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

struct ImageSummary {
    SluiceStatus status = SLUICE_OK; // VERSION: a newer description
    SluiceImageInfo info = {};       // container NONE: no image
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS] = {};
    SluiceImageFormat format = {};

    bool isImage() const { return status == SLUICE_OK && info.container != SLUICE_IMAGE_NONE; }
    const char* kind() const { return info.container == SLUICE_IMAGE_DDS ? "DDS" : "KTX2"; }
};

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

void printInfo(const Container& container, bool verbose)
{
    const char* kind = container.isArchive() ? "sluice archive" : "GDeflate tile stream";
    std::printf("%s: %s", container.file().name().c_str(), kind);
    if (container.isArchive()) {
        std::printf(", version %u.%u", container.archive().versionMajor,
                    container.archive().versionMinor);
    }
    const uint64_t size = container.decodedSize();
    const uint64_t fileSize = container.file().size();
    std::printf(", %s decoded, %s here, ratio %.3f\n", sizeText(size).c_str(),
                sizeText(fileSize).c_str(), double(size) / double(fileSize));
    const auto printColumns = [](const auto& textOf) {
        for (size_t i = 0; i < kCodecCount; ++i) {
            if (kCodecs[i].infoColumn != nullptr) std::printf(" %8s", textOf(i).c_str());
        }
    };
    std::printf("%14s %14s %7s %8s", "size", "stored", "ratio", "tiles");
    printColumns([](size_t i) { return std::string(kCodecs[i].infoColumn); });
    std::printf("  name\n");
    for (uint32_t i = 0; i < container.assetCount(); ++i) {
        const ContainerAsset asset = container.asset(i);
        const AssetSummary summary = summarize(container, i);
        const double ratio =
            summary.storedSize != 0 ? double(asset.size) / double(summary.storedSize) : 1;
        std::printf("%14llu %14llu %7.3f %8u", wide(asset.size), wide(summary.storedSize), ratio,
                    asset.tileCount);
        printColumns([&](size_t codec) { return std::to_string(summary.tiles[codec]); });
        std::printf("  %s\n", asset.name.c_str());
        printImage(imageOf(container, i));
        if (summary.filtered == 0) continue;
        std::string lists;
        for (const auto& [list, count] : summary.lists) {
            lists += formatText("%s%s (%u)", lists.empty() ? "" : ", ", list.c_str(), count);
        }
        std::printf("%14s %s\n", "filters:", lists.c_str());
        for (const FilterRun& run : summary.runs) {
            if (!verbose || run.filter == nullptr) continue;
            std::printf("%14s tiles %u to %u: %s\n", "", run.first, run.first + run.count - 1,
                        filterText(run.filter, run.size).c_str());
        }
    }
}

void printInfoJson(const Container& container)
{
    std::printf("{\"file\": %s, \"kind\": \"%s\"", jsonText(container.file().name()).c_str(),
                container.isArchive() ? "sluice" : "tile-stream");
    if (container.isArchive()) {
        std::printf(", \"version\": [%u, %u]", container.archive().versionMajor,
                    container.archive().versionMinor);
    }
    std::printf(", \"fileSize\": %llu, \"decodedSize\": %llu,\n \"assets\": [",
                wide(container.file().size()), wide(container.decodedSize()));
    for (uint32_t i = 0; i < container.assetCount(); ++i) {
        const ContainerAsset asset = container.asset(i);
        const AssetSummary summary = summarize(container, i);
        std::printf("%s\n  {", i == 0 ? "" : ",");
        if (container.isArchive()) {
            const SluiceArchiveAsset info = container.archiveAsset(i);
            std::printf("\"name\": %s, \"type\": %u, \"tileSize\": %u, ",
                        jsonText(asset.name).c_str(), info.type, 1u << info.tileSizeLog2);
            std::printf("%s", imageJson(imageOf(container, i)).c_str());
        }
        std::string filters;
        for (const FilterRun& run : summary.runs) {
            if (run.filter == nullptr) continue;
            filters += formatText("%s\n    {\"firstTile\": %u, \"tiles\": %u, \"names\": [",
                                  filters.empty() ? "" : ",", run.first, run.count) +
                       namesOf(featuresOf(run.filter, run.size), ", ", "\"") +
                       "], \"filter\": " + jsonText(filterText(run.filter, run.size)) + "}";
        }
        std::printf("\"size\": %llu, \"storedSize\": %llu, \"tiles\": %u, ", wide(asset.size),
                    wide(summary.storedSize), asset.tileCount);
        for (size_t codec = 0; codec < kCodecCount; ++codec) {
            if (kCodecs[codec].infoKey != nullptr)
                std::printf("\"%s\": %u, ", kCodecs[codec].infoKey, summary.tiles[codec]);
        }
        std::printf("\"filteredTiles\": %u, \"filters\": [%s]}", summary.filtered, filters.c_str());
    }
    std::printf("\n ]}\n");
}

} // namespace

int runInfo(const std::string& input, bool json, const CommonOptions& common)
{
    auto file = std::make_unique<InputFile>(input);
    if (WeightFile::recognises(*file)) {
        return runWeightInfo(WeightFile(std::move(file)), json);
    }
    const Container container(std::move(file));
    // A damaged file gives an error, not half a table.
    for (uint32_t i = 0; i < container.assetCount(); ++i) {
        container.forEachTile(i, [](uint32_t, const ContainerTile&) {});
        imageOf(container, i);
    }
    json ? printInfoJson(container) : printInfo(container, common.verbosity > 0);
    return exitOk;
}

int runDevices(bool json, const CommonOptions&)
{
    const std::vector<SluiceDeviceProperties> devices = listDevices();
    if (json) {
        std::printf("[");
        for (const SluiceDeviceProperties& device : devices) {
            std::printf("%s\n {\"device\": \"%s\", \"name\": %s, \"driver\": %s, \"software\": %s, "
                        "\"memory\": %llu, "
                        "\"tiers\": %s}",
                        &device == &devices[0] ? "" : ",", deviceSelector(device).c_str(),
                        jsonText(device.name).c_str(), jsonText(device.driver).c_str(),
                        device.isSoftware != 0 ? "true" : "false", wide(device.memorySize),
                        jsonText(device.tiers).c_str());
        }
        std::printf("\n]\n");
        return exitOk;
    }
    for (const SluiceDeviceProperties& device : devices) {
        std::printf("%-10s %s\n", deviceSelector(device).c_str(), device.name);
        if (device.driver[0] != 0) {
            std::printf("%10s driver: %s\n", "", device.driver);
        }
        std::printf("%10s %s, tiers: %s", "", device.isSoftware != 0 ? "software" : "GPU",
                    device.tiers[0] != 0 ? device.tiers : "none");
        if (device.memorySize != 0) {
            std::printf(", %s of memory", sizeText(device.memorySize).c_str());
        }
        std::printf("\n");
    }
    return exitOk;
}

} // namespace sluice
