// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice info`: shows what is in a file.
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "encode/image/uastc_image.h"
#include "tools/sluice/info/asset_summary.h"
#include "tools/common/file_mode.h"
#include "tools/common/summary.h"
#include "tools/common/weights.h"
#include "tools/common/zstd/zstd_file.h"
#include "tools/sluice/unpack/decode_assets.h"
#include "tools/sluice/unpack/unpack_zstd.h"

namespace sluice {
namespace {

constexpr uint32_t kInfoSchema = 1; // version of the JSON; docs/tool.md describes it

bool srgb(const SluiceImageInfo& info) { return (info.flags & SLUICE_IMAGE_SRGB) != 0; }

void printImage(const ImageSummary& image)
{
    if (image.status != SLUICE_OK) std::printf("%14s of a newer version\n", "image:");
    if (!image.isImage()) return;
    const SluiceImageInfo& info = image.info;
    const bool isUastc = (info.flags & SLUICE_IMAGE_TRANSCODE) != 0;
    std::string text = formatText("%s, %s, %u", image.kind(), image.format.name, info.width);
    if ((info.flags & SLUICE_IMAGE_1D) == 0) text += formatText(" x %u", info.height);
    if ((info.flags & SLUICE_IMAGE_3D) != 0) text += formatText(" x %u", info.depth);
    if ((info.flags & SLUICE_IMAGE_CUBE) != 0) text += ", cube";
    if ((info.flags & SLUICE_IMAGE_ARRAY) != 0) text += formatText(", %u layers", info.layers);
    text += formatText(", %u level%s", info.levels, info.levels == 1 ? "" : "s");
    if ((info.flags & SLUICE_IMAGE_PREMULTIPLIED) != 0) text += ", alpha premultiplied";
    if ((info.flags & SLUICE_IMAGE_OPAQUE) != 0) text += ", opaque";
    if (isUastc) text += std::string(", ") + image.channels() + (srgb(info) ? " sRGB" : "");
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
           levels + "]" +
           (image.isUastc() ? formatText(", \"channels\": \"%s\"", image.channels()) : "") + "}, ";
}

// Counts the blocks of UASTC images, which the CPU decodes: by mode, and the invalid ones.
class UastcCounter : public AssetSink {
public:
    explicit UastcCounter(const Container& container) : m_container(container) {}
    void begin(uint32_t asset) override
    {
        m_bytes.assign(size_t(m_container.asset(asset).size), 0);
        m_asset = asset;
    }
    void write(uint64_t offset, const uint8_t* bytes, uint32_t size) override
    {
        std::copy_n(bytes, size, m_bytes.begin() + ptrdiff_t(offset));
    }
    void end() override
    {
        const ImageSummary image = imageOf(m_container, m_asset);
        UastcCounts& counts = found[m_asset];
        for (uint32_t i = 0; i < image.info.levels; ++i)
            countUastc(&m_bytes[size_t(image.levels[i].offset)], image.levels[i].decodedSize,
                       counts);
    }
    void discard() override {}

    std::map<uint32_t, UastcCounts> found; // key: number of the asset

private:
    const Container& m_container;
    uint32_t m_asset = 0;
    Bytes m_bytes;
};

std::map<uint32_t, UastcCounts> countBlocks(const Container& container, const CommonOptions& common)
{
    // Images that `unpack` would refuse for their size are not counted.
    const uint64_t most = outputLimit(container.file().size(), 0);
    std::vector<uint32_t> assets;
    for (uint32_t i = 0; i < container.assetCount(); ++i)
        if (container.asset(i).size <= most && imageOf(container, i).isUastc()) assets.push_back(i);
    UastcCounter counter(container);
    if (assets.empty()) return {};
    DeviceOptions options;
    options.device = "cpu";
    const ToolDevice device(options, common, container.kernelsOf(assets), 0);
    Progress progress("counting", 0, true);
    AssetDecoder(container, device, counter, progress, false).run(assets);
    return counter.found;
}

void printBlocks(const UastcCounts& counts)
{
    std::string modes;
    for (uint32_t mode = 0; mode < kUastcModeCount; ++mode)
        if (counts.modes[mode] != 0)
            modes += formatText(", %llu of mode %u", wide(counts.modes[mode]), mode);
    std::printf("%14s %llu%s; %llu invalid\n", "blocks:", wide(counts.blocks), modes.c_str(),
                wide(counts.invalid));
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
               const std::string& sort, const std::map<uint32_t, UastcCounts>& blocks, bool verbose)
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
        if (blocks.count(i) != 0) printBlocks(blocks.at(i));
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
        // Runs (tiles in a row that have the same filter) are written one by one, since there may
        // be too many for one text in memory.
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
        printInfo(container, storedSizes, options.sort,
                  common.verbosity > 0 ? countBlocks(container, common)
                                       : std::map<uint32_t, UastcCounts>(),
                  common.verbosity > 0);
    return exitOk;
}

} // namespace sluice
