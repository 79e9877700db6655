// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice info and sluice devices: what is in a file, what is in the machine.
#include <cstdio>

#include <sluice/sluice_filter.h>

#include "container.h"
#include "device.h"
#include "weights.h"

namespace sluice {
namespace {

unsigned long long wide(uint64_t value)
{
    return value;
}

struct AssetSummary {
    uint64_t storedSize = 0;
    uint32_t tiles[SLUICE_CODEC_GSTD + 1] = {}; // of each codec
    uint32_t filtered = 0;
    std::string filter; // of the first tile that has one
};

AssetSummary summarize(const Container& container, uint32_t asset)
{
    AssetSummary summary;
    container.forEachTile(asset, [&](uint32_t, const ContainerTile& tile) {
        summary.storedSize += tile.storedSize;
        ++summary.tiles[tile.codec]; // which forEachTile knows to be one of these
        if (tile.filter != nullptr && summary.filtered++ == 0) {
            char text[200];
            sluiceGetFilterText(tile.filter, tile.filterSize, text, sizeof(text));
            summary.filter = text;
        }
    });
    return summary;
}

void printInfo(const Container& container, bool verbose)
{
    const char* kind = container.isArchive() ? "sluice archive" : "GDeflate tile stream";
    std::printf("%s: %s", container.file().name().c_str(), kind);
    if (container.isArchive()) {
        std::printf(", version %u.%u", container.archive().versionMajor, container.archive().versionMinor);
    }
    const uint64_t size = container.decodedSize();
    const uint64_t fileSize = container.file().size();
    std::printf(", %s decoded, %s here, ratio %.3f\n", sizeText(size).c_str(), sizeText(fileSize).c_str(),
                double(size) / double(fileSize));
    std::printf("%14s %14s %7s %8s %8s %8s %8s  %s\n", "size", "stored", "ratio", "tiles", "gstd", "float", "raw",
                "name");
    for (uint32_t i = 0; i < container.assetCount(); ++i) {
        const ContainerAsset asset = container.asset(i);
        const AssetSummary summary = summarize(container, i);
        const double ratio = summary.storedSize != 0 ? double(asset.size) / double(summary.storedSize) : 1;
        std::printf("%14llu %14llu %7.3f %8u %8u %8u %8u  %s\n", wide(asset.size), wide(summary.storedSize), ratio,
                    asset.tileCount, summary.tiles[SLUICE_CODEC_GSTD], summary.tiles[SLUICE_CODEC_FLOAT], summary.tiles[SLUICE_CODEC_STORE],
                    asset.name.c_str());
        if (verbose && summary.filtered != 0) {
            std::printf("    %u tiles filtered, the first one: %s\n", summary.filtered, summary.filter.c_str());
        }
    }
}

void printInfoJson(const Container& container)
{
    std::printf("{\"file\": %s, \"kind\": \"%s\"", jsonText(container.file().name()).c_str(),
                container.isArchive() ? "sluice" : "tile-stream");
    if (container.isArchive()) {
        std::printf(", \"version\": [%u, %u]", container.archive().versionMajor, container.archive().versionMinor);
    }
    std::printf(", \"fileSize\": %llu, \"decodedSize\": %llu,\n \"assets\": [", wide(container.file().size()),
                wide(container.decodedSize()));
    for (uint32_t i = 0; i < container.assetCount(); ++i) {
        const ContainerAsset asset = container.asset(i);
        const AssetSummary summary = summarize(container, i);
        std::printf("%s\n  {", i == 0 ? "" : ",");
        if (container.isArchive()) {
            const SluiceArchiveAsset info = container.archiveAsset(i);
            std::printf("\"name\": %s, \"type\": %u, \"tileSize\": %u, ", jsonText(asset.name).c_str(), info.type,
                        1u << info.tileSizeLog2);
        }
        std::printf("\"size\": %llu, \"storedSize\": %llu, \"tiles\": %u, \"storedTiles\": %u, "
                    "\"gstdTiles\": %u, \"floatTiles\": %u, \"filteredTiles\": %u, "
                    "\"filter\": %s}",
                    wide(asset.size), wide(summary.storedSize), asset.tileCount, summary.tiles[SLUICE_CODEC_STORE],
                    summary.tiles[SLUICE_CODEC_GSTD], summary.tiles[SLUICE_CODEC_FLOAT], summary.filtered,
                    jsonText(summary.filter).c_str());
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
    for (uint32_t i = 0; i < container.assetCount(); ++i) {
        container.forEachTile(i,
                              [](uint32_t, const ContainerTile&) {}); // a damaged file gives an error, not half a table
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
            std::printf("%s\n {\"device\": \"%s\", \"name\": %s, \"driver\": %s, \"software\": %s, \"memory\": %llu, "
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
