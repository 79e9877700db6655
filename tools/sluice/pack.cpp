// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice pack: files and folders into an archive, or one file into a bare tile stream.
#include <algorithm>
#include <cstdio>

#include "archive_writer.h"
#include "codecs.h"
#include "file_mode.h"
#include "files.h"
#include "pack_images.h"
#include "pack_sources.h"
#include "progress.h"
#include "summary.h"
#include "textures.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

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
        std::fprintf(stderr, "bytes in   %llu\nbytes out  %llu\nratio      %s\n%s", wide(bytesIn),
                     wide(bytesOut), ratioText(bytesOut, bytesIn).c_str(), more.c_str());
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

// The asset's parameter block: what the plan has, then what a file system should know of the file.
Bytes parametersOf(const PackPlan& plan, const ArchiveSource& source)
{
    Bytes parameters = plan.parameters;
    if (plan.type == 0) {
        uint32_t size = 0;
        const void* filters = sluiceGetFilterParameters(plan.filters.get(), &size);
        const uint8_t* bytes = static_cast<const uint8_t*>(filters);
        parameters.assign(bytes, bytes + size);
    }
    if (source.executable) addExecutableItem(parameters);
    return parameters;
}

// For the progress line; packing itself will tell what cannot be read.
uint64_t sizeOf(const std::vector<ArchiveSource>& sources)
{
    uint64_t total = 0;
    for (const ArchiveSource& source : sources) {
        std::error_code error;
        const uintmax_t size = fs::file_size(source.path, error);
        total += error ? 0 : size;
    }
    return total;
}

// pack --dry-run: the names that the archive would have.
int printPlan(const std::vector<ArchiveSource>& sources, const CommonOptions& common)
{
    for (const ArchiveSource& source : sources)
        std::printf("%s\n", printable(source.name).c_str());
    if (!common.quiet)
        std::fprintf(stderr, "sluice: would pack %zu files, %s\n", sources.size(),
                     sizeText(sizeOf(sources)).c_str());
    return exitOk;
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
    const Summary summary(common);
    checkOutput(options.output, common.force);
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
    summary.print(1, input.size(), streamSize);
    return exitOk;
}

int runPack(const PackOptions& options, const CommonOptions& common)
{
    const Codec& codec = codecNamed(options.codec);
    if (options.raw) return codec.packRaw(options, common);
    const Summary summary(common);
    checkOutput(options.output, common.force);
    const std::vector<ArchiveSource> sources = collectSources(options, common).files;
    if (options.dryRun) return printPlan(sources, common);
    OutputFile output(options.output, common.force);
    Progress progress("packing", sizeOf(sources), common.quiet);
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
        const Bytes parameters = parametersOf(plan, source);
        SluiceArchiveAssetInfo asset = {};
        asset.name = source.name.data();
        asset.nameLength = source.name.size();
        asset.type = plan.type;
        asset.size = content.size();
        asset.read = Transfer::read;
        asset.readUser = &transfer;
        asset.segments = plan.segments.data();
        asset.segmentCount = uint32_t(plan.segments.size());
        asset.parameters = parameters.data();
        asset.parameterSize = uint32_t(parameters.size());
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
                formatText("tiles      %llu, %llu of them stored\n", wide(stats.tileCount),
                           wide(stats.storedTiles)));
    summary.print(stats.assetCount, stats.bytesIn, stats.bytesOut);
    return exitOk;
}

} // namespace sluice
