// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice transcode`: packs Zstandard files into a Gstd archive and uses the matches of their
// frames.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tools/common/archive_writer.h"
#include "encode/archive/archive_zstd.h"
#include "encode/gstd/zstd_reader.h"
#include "tools/common/files.h"
#include "tools/common/problems.h"
#include "tools/common/progress.h"
#include "tools/common/summary.h"
#include "tools/common/zstd/zstd_file.h"
#include "tools/sluice/pack/pack_inputs.h"
#include "tools/sluice/pack/reblock.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

std::string assetName(const std::string& input)
{
    const std::string file = fs::u8path(input).filename().u8string(),
                      content = zstdContentName(file);
    return content.empty() ? file : content;
}

// Throws if a file is no Zstandard file, or damaged in the structure of its frames, which gives the
// place.
void checkFrames(const std::string& path)
{
    auto input = std::make_unique<InputFile>(path, InputKind::file);
    if (!ZstdFile::recognises(*input)) throw Failure{exitFormat, path + ": is no Zstandard file"};
    ZstdFile(std::move(input), nullptr)
        .scan(
            UINT64_MAX, [](const ZstdFrame&) {}, nullptr);
}

void check(const Transfer& transfer, SluiceStatus status, const std::string& what)
{
    transfer.rethrow();
    if (status == SLUICE_ERROR_FORMAT)
        throw Failure{exitFormat, what + ": the content of a frame is damaged"};
    if (status == SLUICE_ERROR_UNSUPPORTED)
        throw Failure{exitUnsupported, what + ": a frame needs a window of more than 128 MiB"};
    if (status != SLUICE_OK)
        throw Failure{exitCodeOf(status), what + ": " + sluiceGetStatusText(status)};
}

} // namespace

int runTranscode(const TranscodeOptions& options, const CommonOptions& common)
{
    if (options.reblock) return runReblock(options, common);
    if (options.frameSize != 0) throw Failure{exitUsage, "--frame-size: needs --reblock"};
    const Summary summary(common);
    checkOutput(options.output, common.force, options.inputs);
    std::vector<ArchiveSource> inputs;
    uint64_t total = 0, decoded = 0;
    Problems badNames;
    for (const std::string& path : options.inputs) {
        if (path == "-") {
            throw Failure{exitUsage, "-: stdin has no name to transcode it under"};
        }
        inputs.push_back({assetName(path), path, false});
        const std::string why = whyNoArchiveName(inputs.back().name);
        if (!why.empty()) badNames.add(path, why);
        total += InputFile(path, InputKind::file).size();
    }
    badNames.check(exitUsage, "a name cannot stand in an archive",
                   "names cannot stand in an archive");
    sortSources(inputs);
    OutputFile output(options.output, common.force);
    Progress progress("transcoding", total, common.quiet);
    Transfer transfer = {{}, output.writer(), {}};
    SluiceArchiveWriterInfo info = {};
    info.codec = SLUICE_CODEC_GSTD;
    info.level = options.level;
    info.threadCount = threadCount(options.threads);
    info.equalTilesOnce = 1;
    ArchiveWriter writer(nullptr, sluiceDestroyArchiveWriter);
    check(transfer, createArchive(info, transfer, writer), options.output);
    for (const ArchiveSource& input : inputs) {
        const InputFile file(input.path, InputKind::file);
        const Bytes frames = file.readAll();
        file.checkUnchanged();
        if (frames.empty()) {
            throw Failure{exitFormat, input.path + ": the file is empty"};
        }
        uint64_t size = 0;
        const uint64_t limit = outputLimit(total, options.maxOutput),
                       most = limit - std::min(limit, decoded);
        SluiceStatus status = ZstdReader(frames.data(), frames.size()).measure(size, most);
        if (status == SLUICE_OK) {
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
        if (status == SLUICE_OK) status = addArchiveZstd(writer.get(), asset, size);
        if (status == SLUICE_ERROR_UNSUPPORTED &&
            ZstdReader::wantsDictionary(frames.data(), frames.size())) {
            throw Failure{exitUnsupported, input.path + ": a frame needs a dictionary"};
        }
        if (status == SLUICE_ERROR_ARGUMENT) { // names and options are right, so the frames are not
            throw Failure{exitFormat,
                          input.path + ": says that it decodes to more than an archive can hold"};
        }
        if (status == SLUICE_ERROR_FORMAT) checkFrames(input.path);
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
