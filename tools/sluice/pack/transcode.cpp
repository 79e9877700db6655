// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice transcode: packs Zstandard files into a Gstd archive with the frames' own matches.
#include <cstdio>

#include "tools/common/archive_writer.h"
#include "encode/gstd/zstd_reader.h"
#include "tools/common/files.h"
#include "tools/common/progress.h"
#include "tools/common/summary.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

std::string assetName(const std::string& input)
{
    const fs::path file = fs::u8path(input).filename();
    const std::string name = file.extension() == ".zst" ? file.stem().u8string() : file.u8string();
    if (!sluiceIsArchiveName(name.data(), name.size())) {
        throw Failure{exitUsage, input + ": its name cannot stand in an archive"};
    }
    return name;
}

void check(const Transfer& transfer, SluiceStatus status, const std::string& what)
{
    transfer.rethrow();
    if (status == SLUICE_ERROR_FORMAT)
        throw Failure{exitFormat, what + ": no Zstandard file, or damaged"};
    if (status == SLUICE_ERROR_UNSUPPORTED)
        throw Failure{exitUnsupported, what + ": a frame needs a window of more than 128 MiB"};
    if (status != SLUICE_OK)
        throw Failure{exitCodeOf(status), what + ": " + sluiceGetStatusText(status)};
}

} // namespace

int runTranscode(const TranscodeOptions& options, const CommonOptions& common)
{
    const Summary summary(common);
    checkOutput(options.output, common.force, options.inputs);
    std::vector<ArchiveSource> inputs;
    uint64_t total = 0, decoded = 0;
    for (const std::string& path : options.inputs) {
        if (path == "-") {
            throw Failure{exitUsage, "-: stdin has no name to transcode it under"};
        }
        inputs.push_back({assetName(path), path, false});
        total += InputFile(path).size();
    }
    sortSources(inputs);
    OutputFile output(options.output, common.force);
    Progress progress("transcoding", total, common.quiet);
    Transfer transfer = {{}, output.writer(), {}};
    SluiceArchiveWriterInfo info = {};
    info.codec = SLUICE_CODEC_GSTD;
    info.level = options.level;
    info.threadCount = threadCount(options.threads);
    ArchiveWriter writer(nullptr, sluiceDestroyArchiveWriter);
    check(transfer, createArchive(info, transfer, writer), options.output);
    for (const ArchiveSource& input : inputs) {
        const Bytes frames = InputFile(input.path).readAll();
        if (frames.empty()) {
            throw Failure{exitFormat, input.path + ": the file is empty"};
        }
        // Errors are ignored here, because adding the file will report damage.
        uint64_t size = 0;
        if (ZstdReader(frames.data(), frames.size()).measure(size) == SLUICE_OK) {
            decoded = size <= UINT64_MAX - decoded ? decoded + size : UINT64_MAX;
            checkOutputSize(input.path, total, decoded, options.maxOutput);
        }
        SluiceArchiveZstdInfo asset = {};
        asset.name = input.name.data();
        asset.nameLength = input.name.size();
        asset.frames = frames.data();
        asset.framesSize = frames.size();
        asset.level = options.level;
        asset.copyDepth = options.copyDepth;
        const SluiceStatus status = sluiceAddArchiveZstd(writer.get(), &asset);
        if (status == SLUICE_ERROR_UNSUPPORTED &&
            ZstdReader::wantsDictionary(frames.data(), frames.size())) {
            throw Failure{exitUnsupported, input.path + ": a frame needs a dictionary"};
        }
        if (status == SLUICE_ERROR_ARGUMENT) { // names and options are valid, so it is the frames
            throw Failure{exitFormat,
                          input.path + ": says that it decodes to more than an archive can hold"};
        }
        check(transfer, status, input.path);
        progress.advance(frames.size());
    }
    SluiceArchiveStats stats = {};
    check(transfer, sluiceFinishArchive(writer.get(), &stats), options.output);
    progress.clear();
    output.commit();
    if (common.verbosity > 0 && !common.quiet) {
        printMessage("bytes in   %llu, %llu decoded\nbytes out  %llu\n", wide(total),
                     wide(stats.bytesIn), wide(stats.bytesOut));
    }
    summary.print(stats.assetCount, stats.bytesIn, stats.bytesOut);
    return exitOk;
}

} // namespace sluice
