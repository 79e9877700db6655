// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice transcode: Zstandard files into an archive of Gstd, whose matches are those of the frames.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include <sluice/sluice_archive.h>

#include "../../src/encode/zstd_reader.h"
#include "files.h"
#include "progress.h"
#include "tool.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

// The file's name without folder and ".zst".
std::string assetName(const std::string& input)
{
    const fs::path file = fs::path(input).filename();
    const std::string name = file.extension() == ".zst" ? file.stem().string() : file.string();
    if (!sluiceIsArchiveName(name.data(), name.size())) {
        throw Failure{exitUsage, input + ": its name cannot stand in an archive"};
    }
    return name;
}

struct Sink {
    OutputFile* file;
    std::optional<Failure> failure;

    static SluiceStatus write(void* user, uint64_t offset, const void* bytes, size_t size)
    {
        Sink& sink = *static_cast<Sink*>(user);
        try {
            sink.file->write(offset, bytes, size);
            return SLUICE_OK;
        } catch (const Failure& failure) {
            sink.failure = failure;
            return SLUICE_ERROR_IO;
        }
    }
    void check(SluiceStatus status, const std::string& what) const
    {
        if (failure) {
            throw *failure;
        }
        if (status == SLUICE_ERROR_FORMAT) {
            throw Failure{exitFormat, what + ": no Zstandard file, or damaged"};
        }
        if (status == SLUICE_ERROR_UNSUPPORTED) {
            throw Failure{exitUnsupported, what + ": a frame wants a window of more than 128 MiB"};
        }
        if (status != SLUICE_OK) {
            throw Failure{exitCodeOf(status), what + ": " + sluiceGetStatusText(status)};
        }
    }
};

} // namespace

int runTranscode(const TranscodeOptions& options, const CommonOptions& common)
{
    struct Input {
        std::string name, path;
    };
    std::vector<Input> inputs;
    uint64_t total = 0;
    for (const std::string& path : options.inputs) {
        if (path == "-") {
            throw Failure{exitUsage, "-: stdin has no name to transcode it under"};
        }
        inputs.push_back({assetName(path), path});
        total += InputFile(path).size();
    }
    std::sort(inputs.begin(), inputs.end(),
              [](const Input& a, const Input& b) { return a.name < b.name; });
    for (size_t i = 1; i < inputs.size(); ++i) {
        if (inputs[i - 1].name == inputs[i].name) {
            throw Failure{exitUsage, inputs[i - 1].path + " and " + inputs[i].path +
                                         ": both are named '" + inputs[i].name + "'"};
        }
    }
    OutputFile output(options.output, common.force);
    Progress progress("transcoding", total, common.quiet);
    Sink sink = {&output, {}};
    SluiceArchiveWriterInfo info = {};
    info.codec = SLUICE_CODEC_GSTD;
    info.level = options.level;
    info.threadCount =
        options.threads != 0 ? options.threads : std::max(std::thread::hardware_concurrency(), 1u);
    info.write = Sink::write;
    info.writeUser = &sink;
    SluiceArchiveWriter created = nullptr;
    sink.check(sluiceCreateArchiveWriter(&info, &created), options.output);
    const std::unique_ptr<SluiceArchiveWriter_T, decltype(&sluiceDestroyArchiveWriter)> writer(
        created, sluiceDestroyArchiveWriter);
    for (const Input& input : inputs) {
        const InputFile file(input.path);
        std::vector<uint8_t> frames(file.size());
        file.read(0, frames.data(), frames.size());
        if (frames.empty()) {
            throw Failure{exitFormat, input.path + ": the file is empty"};
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
            throw Failure{exitUnsupported, input.path + ": a frame wants a dictionary"};
        }
        if (status == SLUICE_ERROR_ARGUMENT) { // names and options are good
            throw Failure{exitFormat,
                          input.path + ": says that it decodes to more than an archive can hold"};
        }
        sink.check(status, input.path);
        progress.advance(frames.size());
    }
    SluiceArchiveStats stats = {};
    sink.check(sluiceFinishArchive(writer.get(), &stats), options.output);
    progress.clear();
    output.commit();
    if (common.verbosity > 0 && !common.quiet) {
        std::fprintf(stderr, "bytes in   %llu, %llu decoded\nbytes out  %llu\n",
                     static_cast<unsigned long long>(total),
                     static_cast<unsigned long long>(stats.bytesIn),
                     static_cast<unsigned long long>(stats.bytesOut));
    }
    return exitOk;
}

} // namespace sluice
