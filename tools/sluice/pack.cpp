// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice pack: files and folders into an archive, or one file into a bare tile stream.
#include <algorithm>
#include <cstdio>

#include "archive_writer.h"
#include "codecs.h"
#include "files.h"
#include "pack_images.h"
#include "progress.h"
#include "textures.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

using Sources = std::vector<ArchiveSource>;

void addSource(Sources& sources, std::string name, const fs::path& path)
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

void addFolder(Sources& sources, const std::string& name, const fs::path& folder,
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

Sources collect(const std::vector<std::string>& inputs, const CommonOptions& common)
{
    Sources sources;
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
    sortSources(sources);
    for (const ArchiveSource& source : sources) { // different inputs may give a file and a folder
        for (size_t slash = source.name.find('/'); slash != std::string::npos;
             slash = source.name.find('/', slash + 1)) {
            const std::string folder = source.name.substr(0, slash);
            const auto found = std::lower_bound(
                sources.begin(), sources.end(), folder,
                [](const ArchiveSource& a, const std::string& name) { return a.name < name; });
            if (found != sources.end() && found->name == folder) {
                throw Failure{exitUsage, found->path + " and " + source.path + ": '" + folder +
                                             "' is a file and a folder"};
            }
        }
    }
    return sources;
}

void check(const Transfer& transfer, SluiceStatus status, const std::string& what)
{
    transfer.rethrow();
    if (status == SLUICE_ERROR_OUT_OF_MEMORY)
        throw Failure{exitIo, what + ": out of memory or threads"};
    if (status != SLUICE_OK) throw Failure{exitUsage, what + ": " + sluiceGetStatusText(status)};
}

void printResult(uint64_t bytesIn, uint64_t bytesOut, const CommonOptions& common,
                 const std::string& more)
{
    if (common.verbosity > 0 && !common.quiet) {
        std::fprintf(stderr, "bytes in   %llu\nbytes out  %llu\nratio      %.3f\n%s", wide(bytesIn),
                     wide(bytesOut), bytesOut != 0 ? double(bytesIn) / double(bytesOut) : 0.0,
                     more.c_str());
    }
}

// The input's bytes in order, as Transfer::onRead delivers them.
class Reader {
public:
    // counted: how many bytes the progress line expects of it.
    Reader(const InputFile& input, uint64_t counted, Progress& progress)
        : m_input(input), m_counted(counted), m_progress(progress)
    {
    }
    void operator()(void* bytes, size_t size)
    {
        m_input.read(m_offset, bytes, size);
        m_offset += size;
        const uint64_t counts = std::min<uint64_t>(size, m_counted);
        m_counted -= counts;
        m_progress.advance(counts);
    }

private:
    const InputFile& m_input;
    uint64_t m_counted;
    Progress& m_progress;
    uint64_t m_offset = 0;
};

// How a file goes into the archive. Says why where it is not as one would expect.
PackPlan planOf(const InputFile& file, const std::string& path, const Codec& codec,
                const PackOptions& options, const CommonOptions& common)
{
    const auto tell = [&](const PackPlan& plan, const char* how) {
        if (!plan.reason.empty() && !common.quiet)
            std::fprintf(stderr, "sluice: %s: packed %s: %s\n", path.c_str(), how,
                         plan.reason.c_str());
    };
    if (options.images) {
        PackPlan image;
        const bool isImage = planImage(file, options, codec, image);
        tell(image, isImage ? codec.fallback : "as no image");
        if (!image.note.empty() && common.verbosity > 0 && !common.quiet)
            std::fprintf(stderr, "%s: %s\n", path.c_str(), image.note.c_str());
        if (isImage) return image;
    }
    PackPlan plan = codec.plan(file, options);
    tell(plan, codec.fallback);
    return plan;
}

} // namespace

int packTileStream(const PackOptions& options, const CommonOptions& common)
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
    Transfer transfer = {Reader(input, input.size(), progress), output.writer(), {}};
    SluiceTileStreamWriteInfo info = {};
    info.size = input.size();
    info.level = options.level;
    info.decodeSpeed = options.decodeSpeed;
    info.threadCount = threadCount(options.threads);
    info.read = Transfer::read;
    info.write = Transfer::write;
    info.readUser = info.writeUser = &transfer;
    uint64_t streamSize = 0;
    check(transfer, sluiceWriteTileStream(&info, &streamSize), input.name());
    progress.clear();
    output.commit();
    printResult(input.size(), streamSize, common, "");
    return exitOk;
}

int runPack(const PackOptions& options, const CommonOptions& common)
{
    const Codec& codec = codecNamed(options.codec);
    if (options.raw) return codec.packRaw(options, common);
    const Sources sources = collect(options.inputs, common);
    uint64_t total = 0;
    for (const ArchiveSource& source : sources) {
        std::error_code error;
        const uintmax_t size = fs::file_size(source.path, error);
        total += error ? 0 : size; // for the progress line; packing itself will tell
    }
    OutputFile output(options.output, common.force);
    Progress progress("packing", total, common.quiet);
    Transfer transfer = {{}, output.writer(), {}};
    SluiceArchiveWriterInfo info = {};
    info.codec = codec.fileCodec;
    info.level = options.level;
    info.decodeSpeed = options.decodeSpeed;
    info.copyDepth = options.copyDepth;
    info.tileSize = gstdTileBytes(options);
    info.threadCount = threadCount(options.threads);
    ArchiveWriter writer(nullptr, sluiceDestroyArchiveWriter);
    check(transfer, createArchive(info, transfer, writer), "packing");
    uint32_t packedImages = 0, pictures = 0;
    for (const ArchiveSource& source : sources) {
        const InputFile file(source.path);
        const PackPlan plan = planOf(file, source.path, codec, options, common);
        const InputFile& content = plan.content ? *plan.content : file;
        transfer.onRead = Reader(content, file.size(), progress);
        SluiceArchiveAssetInfo asset = {};
        asset.name = source.name.data();
        asset.nameLength = source.name.size();
        asset.type = plan.type;
        asset.size = content.size();
        asset.read = Transfer::read;
        asset.readUser = &transfer;
        asset.segments = plan.segments.data();
        asset.segmentCount = uint32_t(plan.segments.size());
        asset.parameters = sluiceGetFilterParameters(plan.filters.get(), &asset.parameterSize);
        if (plan.type != 0) {
            asset.parameters = plan.parameters.data();
            asset.parameterSize = uint32_t(plan.parameters.size());
        }
        check(transfer, sluiceAddArchiveAsset(writer.get(), &asset), source.path);
        packedImages += !options.images && isPackedKtx2(file) ? 1 : 0;
        pictures += !options.images && isPicture(file) ? 1 : 0;
    }
    SluiceArchiveStats stats = {};
    check(transfer, sluiceFinishArchive(writer.get(), &stats), options.output);
    progress.clear();
    output.commit();
    if (packedImages != 0 && !common.quiet) {
        std::fprintf(stderr,
                     "sluice: %u KTX2 file%s supercompressed: --images undoes that, which lets "
                     "filters work and GPUs decode all of it\n",
                     packedImages, packedImages == 1 ? " is" : "s are");
    }
    if (pictures != 0 && !common.quiet) {
        std::fprintf(stderr,
                     "sluice: %u file%s TGA, PNG or JPEG: --images makes textures with mip "
                     "levels of such, which GPUs can sample\n",
                     pictures, pictures == 1 ? " is" : "s are");
    }
    printResult(stats.bytesIn, stats.bytesOut, common,
                formatText("files      %llu\ntiles      %llu, %llu of them stored\n",
                           wide(stats.assetCount), wide(stats.tileCount), wide(stats.storedTiles)));
    return exitOk;
}

} // namespace sluice
