// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice pack: files and folders into an archive, or one file into a bare tile stream.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "files.h"
#include "pack_filters.h"
#include "pack_weights.h"
#include "progress.h"
#include "tool.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

struct Source {
    std::string name; // in the archive
    std::string path;
};

void addSource(std::vector<Source>& sources, std::string name, const fs::path& path)
{
    if (!sluiceIsArchiveName(name.data(), name.size())) {
        throw Failure{
            exitUsage,
            path.string() +
                ": its name cannot stand in an archive (UTF-8, no control characters, no '\\', "
                "no drive letter, no '..')"};
    }
    if (sources.size() == SLUICE_ARCHIVE_MAX_ASSETS) {
        throw Failure{exitUsage, formatText("more than %u files", SLUICE_ARCHIVE_MAX_ASSETS)};
    }
    sources.push_back({std::move(name), path.string()});
}

void addFolder(std::vector<Source>& sources, const std::string& name, const fs::path& folder,
               const CommonOptions& common)
{
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const fs::path path = entry->path();
        const fs::file_status status = entry->symlink_status(error);
        if (error) {
            break;
        }
        const std::string entryName = name + "/" + path.filename().string();
        if (fs::is_directory(status)) {
            addFolder(sources, entryName, path, common);
        } else if (fs::is_regular_file(status)) {
            addSource(sources, entryName, path);
        } else if (common.verbosity > 0) {
            std::fprintf(stderr, "left out: %s (%s)\n", path.c_str(),
                         fs::is_symlink(status) ? "a link" : "no regular file");
        }
    }
    if (error) {
        throw Failure{exitIo, folder.string() + ": " + error.message()};
    }
}

// The last component of a path, also of "a/", "a/." and "..".
std::string lastComponent(const fs::path& path)
{
    std::error_code error;
    fs::path whole = fs::absolute(path, error).lexically_normal();
    if (!whole.has_filename()) {
        whole = whole.parent_path();
    }
    return whole.filename().string();
}

// All files to pack, in the order of their names.
std::vector<Source> collect(const std::vector<std::string>& inputs, const CommonOptions& common)
{
    std::vector<Source> sources;
    for (const std::string& input : inputs) {
        if (input == "-") {
            throw Failure{exitUsage, "-: stdin has no name to pack it under; only --raw takes it"};
        }
        std::error_code error;
        const fs::file_status status = fs::symlink_status(input, error);
        if (fs::is_directory(status)) {
            addFolder(sources, lastComponent(input), input, common);
        } else if (fs::is_regular_file(status)) {
            addSource(sources, fs::path(input).filename().string(), input);
        } else if (fs::is_symlink(status)) {
            throw Failure{exitUsage, input + ": is a link, and links are not followed"};
        } else {
            throw Failure{exitIo,
                          input + ": " +
                              (fs::exists(status) ? "is no regular file" : error.message())};
        }
    }
    std::sort(sources.begin(), sources.end(),
              [](const Source& a, const Source& b) { return a.name < b.name; });
    for (size_t i = 1; i < sources.size(); ++i) {
        if (sources[i - 1].name == sources[i].name) {
            throw Failure{exitUsage, sources[i - 1].path + " and " + sources[i].path +
                                         ": both are named '" + sources[i].name + "'"};
        }
    }
    for (const Source& source : sources) { // a file and a folder of one name, from different inputs
        for (size_t slash = source.name.find('/'); slash != std::string::npos;
             slash = source.name.find('/', slash + 1)) {
            const std::string folder = source.name.substr(0, slash);
            const auto found = std::lower_bound(
                sources.begin(), sources.end(), folder,
                [](const Source& a, const std::string& name) { return a.name < name; });
            if (found != sources.end() && found->name == folder) {
                throw Failure{exitUsage, found->path + " and " + source.path + ": '" + folder +
                                             "' is a file and a folder"};
            }
        }
    }
    return sources;
}

// The callbacks of the library run in this thread, but an exception must not cross it: it is kept
// and thrown again.
struct Transfer {
    const InputFile* input = nullptr;
    std::vector<uint8_t> held; // all of the input, if it has been read already
    uint64_t offset = 0;
    OutputFile* output = nullptr;
    Progress* progress = nullptr;
    std::optional<Failure> failure;

    static SluiceStatus read(void* user, void* bytes, size_t size)
    {
        Transfer& transfer = *static_cast<Transfer*>(user);
        return transfer.attempt([&] {
            if (transfer.held.empty()) {
                transfer.input->read(transfer.offset, bytes, size);
            } else {
                std::memcpy(bytes, transfer.held.data() + transfer.offset, size);
            }
            transfer.offset += size;
            transfer.progress->advance(size);
        });
    }
    static SluiceStatus write(void* user, uint64_t offset, const void* bytes, size_t size)
    {
        Transfer& transfer = *static_cast<Transfer*>(user);
        return transfer.attempt([&] { transfer.output->write(offset, bytes, size); });
    }
    template <class Call>
    SluiceStatus attempt(Call call)
    {
        try {
            call();
            return SLUICE_OK;
        } catch (const Failure& thrown) {
            failure = thrown;
            return SLUICE_ERROR_IO;
        }
    }
    void check(SluiceStatus status, const std::string& what) const
    {
        if (failure) {
            throw *failure;
        }
        if (status == SLUICE_ERROR_OUT_OF_MEMORY) {
            throw Failure{exitIo, what + ": out of memory or threads"};
        }
        if (status != SLUICE_OK) {
            throw Failure{exitUsage, what + ": " + sluiceGetStatusText(status)};
        }
    }
};

void printResult(uint64_t bytesIn, uint64_t bytesOut, const CommonOptions& common,
                 const std::string& more)
{
    if (common.verbosity > 0 && !common.quiet) {
        std::fprintf(stderr, "bytes in   %llu\nbytes out  %llu\nratio      %.3f\n%s",
                     static_cast<unsigned long long>(bytesIn),
                     static_cast<unsigned long long>(bytesOut),
                     bytesOut != 0 ? double(bytesIn) / double(bytesOut) : 0.0, more.c_str());
    }
}

int packRaw(const PackOptions& options, uint32_t threads, const CommonOptions& common)
{
    std::error_code error;
    if (options.inputs.size() != 1 || fs::is_directory(options.inputs[0], error)) {
        throw Failure{exitUsage, "--raw packs one file"};
    }
    const InputFile input(options.inputs[0]);
    constexpr uint64_t maxSize = uint64_t(SLUICE_TILE_STREAM_MAX_TILES) * 65536;
    if (input.size() > maxSize) {
        throw Failure{exitUsage, input.name() + ": a bare stream holds at most 65,535 tiles, " +
                                     sizeText(maxSize)};
    }
    OutputFile output(options.output, common.force);
    Progress progress("packing", input.size(), common.quiet);
    Transfer transfer = {&input, {}, 0, &output, &progress, {}};
    SluiceTileStreamWriteInfo info = {};
    info.size = input.size();
    info.level = options.level;
    info.decodeSpeed = options.decodeSpeed;
    info.threadCount = threads;
    info.read = Transfer::read;
    info.write = Transfer::write;
    info.readUser = info.writeUser = &transfer;
    uint64_t streamSize = 0;
    transfer.check(sluiceWriteTileStream(&info, &streamSize), input.name());
    progress.clear();
    output.commit();
    printResult(input.size(), streamSize, common, "");
    return exitOk;
}

struct FilterList {
    uint32_t features; // that may be used
    bool forced;       // and are, whether they pay or not
};

// "auto", "none", names of filters to force, or names of filters to do without, each with "no-"
// before it.
FilterList filterList(const std::string& text)
{
    if (text == "auto") return {SLUICE_FILTER_ALL, false};
    if (text == "none") return {0, false};
    uint32_t forced = 0, forbidden = 0;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (word == "auto" || word == "none") {
            throw Failure{exitUsage, "--filters: '" + word + "' stands alone"};
        }
        const bool forbids = word.compare(0, 3, "no-") == 0;
        const std::string name = forbids ? word.substr(3) : word;
        const auto* found = std::find_if(std::begin(filterNames), std::end(filterNames),
                                         [&](const auto& known) { return name == known.first; });
        if (found == std::end(filterNames)) {
            throw Failure{exitUsage,
                          "--filters: '" + word +
                              "' is none of auto, none, planes, difference, up, gradient, "
                              "median, subtract, float, blocks, packets, nor one of these nine "
                              "with no- before it"};
        }
        (forbids ? forbidden : forced) |= found->second;
        begin = end + 1;
    }
    if (forced != 0 && forbidden != 0) {
        throw Failure{exitUsage, "--filters: either names of filters to force or, with no-, of "
                                 "filters to forbid, not both"};
    }
    return forced != 0 ? FilterList{forced, true}
                       : FilterList{SLUICE_FILTER_ALL & ~forbidden, false};
}

// Filters are chosen by looking at the whole file, which is left in `bytes`; one that is too large
// to hold has none.
std::vector<SluiceArchiveSegment> planFilters(const InputFile& input, const PackOptions& options,
                                              FilterPlan& plan, std::vector<uint8_t>& bytes,
                                              std::string& reason)
{
    constexpr uint64_t largest = uint64_t(1) << 30;
    if (filterList(options.filters).features == 0 || input.size() == 0) return {};
    if (input.size() > largest) {
        reason = "it is larger than 1 GiB";
        return {};
    }
    bytes.resize(input.size());
    input.read(0, bytes.data(), bytes.size());
    return planFilters(input.name(), bytes, options, plan);
}

// Of gstd.
uint32_t tileBytes(const PackOptions& options)
{
    return 1024 * (options.tileKib != 0 ? options.tileKib : 256);
}

} // namespace

std::vector<SluiceArchiveSegment> planFilters(const std::string& name,
                                              const std::vector<uint8_t>& bytes,
                                              const PackOptions& options, FilterPlan& plan)
{
    SluiceFilterPlanInfo info = {};
    info.maxTileSize = tileBytes(options);
    const FilterList filters = filterList(options.filters);
    info.features = filters.features;
    info.effort = options.level >= 9 ? 1 : 0;
    info.force = filters.forced ? 1 : 0;
    SluiceFilterPlan made = nullptr;
    const SluiceStatus status = sluiceCreateFilterPlan(bytes.data(), bytes.size(), &info, &made);
    if (status != SLUICE_OK)
        throw Failure{exitCodeOf(status), name + ": " + sluiceGetStatusText(status)};
    plan.reset(made);
    uint32_t count = 0;
    const SluiceFilterSegment* found = sluiceGetFilterSegments(made, &count);
    std::vector<SluiceArchiveSegment> segments;
    for (uint32_t i = 0; i < count; ++i) {
        SluiceArchiveSegment segment = {};
        segment.size = found[i].size;
        segment.codec = SLUICE_CODEC_GSTD;
        segment.tileSize = (found[i].tileSize + 3) / 4 * 4;
        segment.level = options.level;
        segment.copyDepth = options.copyDepth;
        segment.filterOffset = found[i].filterOffset;
        segment.filterTrial = info.effort != 0 ? found[i].doubtful : 0;
        segments.push_back(segment);
    }
    return segments;
}

int runPack(const PackOptions& options, const CommonOptions& common)
{
    const uint32_t threads =
        options.threads != 0 ? options.threads : std::max(std::thread::hardware_concurrency(), 1u);
    if (options.raw) {
        return packRaw(options, threads, common);
    }
    const std::vector<Source> sources = collect(options.inputs, common);
    uint64_t total = 0;
    for (const Source& source : sources) {
        std::error_code error;
        const uintmax_t size = fs::file_size(source.path, error);
        total += error ? 0 : size; // for the progress line; packing itself will tell
    }
    OutputFile output(options.output, common.force);
    Progress progress("packing", total, common.quiet);
    Transfer transfer = {nullptr, {}, 0, &output, &progress, {}};

    SluiceArchiveWriterInfo info = {};
    info.codec = options.codec == "store"  ? SLUICE_CODEC_STORE
                 : options.codec == "gstd" ? SLUICE_CODEC_GSTD
                 : options.codec == "huff" ? SLUICE_CODEC_FLOAT // of plain bytes
                                           : SLUICE_CODEC_GDEFLATE;
    info.level = options.level;
    info.decodeSpeed = options.decodeSpeed;
    info.copyDepth = options.copyDepth;
    info.tileSize = tileBytes(options);
    info.threadCount = threads;
    info.write = Transfer::write;
    info.writeUser = &transfer;
    SluiceArchiveWriter created = nullptr;
    transfer.check(sluiceCreateArchiveWriter(&info, &created), "packing");
    const std::unique_ptr<SluiceArchiveWriter_T, decltype(&sluiceDestroyArchiveWriter)> writer(
        created, sluiceDestroyArchiveWriter);
    for (const Source& source : sources) {
        const InputFile input(source.path);
        transfer.input = &input;
        transfer.held.clear();
        transfer.offset = 0;
        SluiceArchiveAssetInfo asset = {};
        asset.name = source.name.data();
        asset.nameLength = source.name.size();
        asset.size = input.size();
        asset.read = Transfer::read;
        asset.readUser = &transfer;
        std::vector<SluiceArchiveSegment> segments;
        FilterPlan plan(nullptr, sluiceDestroyFilterPlan);
        std::string reason; // why not as wanted
        if (options.codec == "float") {
            segments = planWeightSegments(input, options, reason);
        } else if (options.codec == "gstd") {
            segments = planFilters(input, options, plan, transfer.held, reason);
            asset.parameters = sluiceGetFilterParameters(plan.get(), &asset.parameterSize);
        }
        if (!reason.empty() && !common.quiet) {
            std::fprintf(stderr, "sluice: %s: packed %s: %s\n", source.path.c_str(),
                         options.codec == "float" ? "as plain bytes" : "without filters",
                         reason.c_str());
        }
        asset.segments = segments.data();
        asset.segmentCount = uint32_t(segments.size());
        transfer.check(sluiceAddArchiveAsset(writer.get(), &asset), source.path);
    }
    SluiceArchiveStats stats = {};
    transfer.check(sluiceFinishArchive(writer.get(), &stats), options.output);
    progress.clear();
    output.commit();
    printResult(stats.bytesIn, stats.bytesOut, common,
                formatText("files      %llu\ntiles      %llu, %llu of them stored\n",
                           static_cast<unsigned long long>(stats.assetCount),
                           static_cast<unsigned long long>(stats.tileCount),
                           static_cast<unsigned long long>(stats.storedTiles)));
    return exitOk;
}

} // namespace sluice
