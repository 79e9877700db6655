// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice unpack and sluice verify: both decode on a device; unpack writes the files, verify can
// compare them.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "tools/sluice/unpack/decode_assets.h"
#include "tools/common/file_mode.h"
#include "tools/sluice/unpack/selection.h"
#include "tools/common/summary.h"
#include "tools/sluice/pack/textures.h"
#include "tools/common/weights.h"

namespace sluice {
namespace {

void printStats(const ToolDevice& device, const DecodeStats& stats, std::FILE* out)
{
    const double rate =
        stats.gpuMilliseconds > 0 ? double(stats.bytesOut) / stats.gpuMilliseconds / 1e6 : 0;
    std::fprintf(out, "bytes in   %llu\nbytes out  %llu\nratio      %s\n", wide(stats.bytesIn),
                 wide(stats.bytesOut), ratioText(stats.bytesIn, stats.bytesOut).c_str());
    std::fprintf(out, "tiles      %llu\ndevice     %s\ntier       %s\n", wide(stats.tiles),
                 device.properties().name, device.tier());
    std::fprintf(out, "%-10s %.3f\nGB/s       %.3f\n", device.millisecondsName(),
                 stats.gpuMilliseconds, rate);
}

class FileSink : public AssetSink {
public:
    // `root` is the folder below which assets go under their names. `file`, if not empty, receives
    // the only asset instead.
    FileSink(const Container& container, std::string root, std::string file, bool force)
        : m_container(container), m_root(std::move(root)), m_file(std::move(file)), m_force(force)
    {
    }

    void begin(uint32_t asset) override
    {
        if (m_file.empty())
            m_output.emplace(m_root, m_container.asset(asset).name, m_force);
        else
            m_output.emplace(m_file, m_force);
        if (m_container.isArchive() && isExecutable(m_container.archiveAsset(asset)))
            m_output->makeExecutable();
    }
    void write(uint64_t offset, const uint8_t* bytes, uint32_t size) override
    {
        m_output->write(offset, bytes, size);
    }
    void end() override
    {
        m_output->commit();
        m_output.reset();
    }
    void discard() override { m_output.reset(); }

private:
    const Container& m_container;
    std::string m_root, m_file;
    bool m_force;
    std::optional<OutputFile> m_output;
};

// Writes a single asset while it is decoded. Damage ends it.
class StdoutSink : public AssetSink {
public:
    void begin(uint32_t) override {}
    void write(uint64_t, const uint8_t* bytes, uint32_t size) override { writeStdout(bytes, size); }
    void end() override {}
    void discard() override {}
};

class NullSink : public AssetSink {
public:
    void begin(uint32_t) override {}
    void write(uint64_t, const uint8_t*, uint32_t) override {}
    void end() override {}
    void discard() override {}
};

// Compares assets with files below a folder. Only the first difference in a file is reported.
class CompareSink : public AssetSink {
public:
    // With keepGoing, a missing file counts as a difference.
    CompareSink(const Container& container, std::string folder, bool keepGoing)
        : m_container(container), m_folder(std::move(folder)), m_keepGoing(keepGoing)
    {
    }

    void begin(uint32_t asset) override
    {
        const ContainerAsset info = m_container.asset(asset);
        try {
            m_file = std::make_unique<InputFile>(m_folder + "/" + info.name);
        } catch (const Failure& failure) {
            throw Failure{m_keepGoing ? exitFormat : failure.code, failure.text};
        }
        if (m_container.archiveAsset(asset).type == SLUICE_ASSET_IMAGE && isPicture(*m_file)) {
            throw Failure{exitFormat,
                          m_container.place(asset) + ": is a texture made of " + m_file->name()};
        }
        if (m_file->size() != info.size) {
            throw Failure{exitFormat,
                          m_container.place(asset) + ": its size differs from " + m_file->name()};
        }
    }
    void write(uint64_t offset, const uint8_t* bytes, uint32_t size) override
    {
        m_expected.resize(size);
        m_file->read(offset, m_expected.data(), size);
        const auto end = m_expected.end(),
                   different = std::mismatch(m_expected.begin(), end, bytes).first;
        if (different != end) {
            const uint64_t at = offset + uint64_t(different - m_expected.begin());
            throw Failure{exitFormat,
                          m_file->name() + formatText(": differs at byte %llu", wide(at))};
        }
    }
    void end() override { m_file.reset(); }
    void discard() override { m_file.reset(); }

private:
    const Container& m_container;
    std::string m_folder;
    bool m_keepGoing;
    std::unique_ptr<InputFile> m_file;
    Bytes m_expected;
};

// Turns "path/x.tga.gdeflate" into "path/x.tga".
std::string withoutSuffix(const std::string& path)
{
    const std::filesystem::path whole = std::filesystem::u8path(path);
    if (path == "-" || !whole.has_extension() || whole.stem().empty()) {
        throw Failure{exitUsage, path + ": has no suffix to take off; name the output with -o"};
    }
    return (whole.parent_path() / whole.stem()).generic_u8string();
}

// Does unpack --list; with -v prints sizes too.
int printNames(const Container& container, const std::vector<uint32_t>& assets,
               const CommonOptions& common)
{
    for (const uint32_t number : assets) {
        const ContainerAsset asset = container.asset(number);
        if (common.verbosity > 0) std::printf("%14llu ", wide(asset.size));
        std::printf("%s\n", printable(asset.name).c_str());
    }
    return exitOk;
}

// Refuses names that cannot be files on this system or would overwrite one, and refuses two assets
// that would become the same file.
void checkNames(const Container& container, const std::vector<uint32_t>& assets,
                const std::string& root, bool force)
{
    std::map<std::string, std::string> names;
    for (const uint32_t asset : assets) {
        const std::string name = container.asset(asset).name, path = root + "/" + name;
        checkFileName(name, path);
        checkOverwrite(path, force);
        refuseOwnInput(path, {container.file().name()});
        if (!fileNamesFold()) continue; // names in an archive are distinct unless folded
        const auto [other, isNew] = names.emplace(foldedFileName(name), name);
        if (!isNew)
            throw Failure{exitIo, path + ": would be the same file here as " + other->second};
    }
}

// Checks the outputs before anything is written. Returns the file that a single asset goes to;
// empty if assets go below `root` under their names.
std::string outputFile(const Container& container, const std::vector<uint32_t>& assets,
                       const std::string& root, const UnpackOptions& options,
                       const CommonOptions& common)
{
    std::string file = options.output;
    if (container.isArchive()) {
        if (!file.empty() && assets.size() != 1) {
            throw Failure{exitUsage,
                          container.file().name() +
                              formatText(": -o takes one asset, and there are %zu", assets.size())};
        }
        if (file.empty()) checkNames(container, assets, root, common.force);
    } else if (file.empty()) {
        file = withoutSuffix(options.input);
        if (!options.folder.empty()) {
            makeFolder(root);
            file = root + "/" + std::filesystem::u8path(file).filename().u8string();
        }
    }
    if (!file.empty()) checkOutput(file, common.force, {options.input});
    return file;
}

uint64_t decodedSize(const Container& container, const std::vector<uint32_t>& assets)
{
    uint64_t size = 0;
    for (const uint32_t asset : assets)
        size += container.asset(asset).size;
    return size;
}

// A small archive may name very many folders, so each folder counts as a block of the file system.
// Names are sorted, so those in the same folder are contiguous.
void checkFolders(const Container& container, const std::vector<uint32_t>& assets,
                  uint64_t maxOutput)
{
    constexpr uint64_t blockBytes = 4096;
    uint64_t folders = 0;
    std::string before;
    for (const uint32_t asset : assets) {
        const std::string name = container.asset(asset).name;
        const auto differs =
            std::mismatch(name.begin(), name.end(), before.begin(), before.end()).first;
        folders += uint64_t(std::count(differs, name.end(), '/'));
        before = name;
    }
    const uint64_t limit = outputLimit(container.file().size(), maxOutput);
    if (folders * blockBytes > limit)
        throw Failure{exitFormat,
                      container.file().name() +
                          formatText(": has %llu folders, of %llu bytes each, and the limit is "
                                     "%llu; --max-output sets another",
                                     wide(folders), wide(blockBytes), wide(limit))};
}

// Reports the result of a run with --keep-going. Returns the exit code of the verb.
int endOf(const AssetDecoder& decoder, size_t assetCount)
{
    if (decoder.badAssets() != 0)
        printMessage("sluice: %llu of %zu assets are not right\n", wide(decoder.badAssets()),
                     assetCount);
    return decoder.exitCode();
}

// Says how many files are textures although their names are those of pictures, because the user
// should know before opening one.
void tellTextures(const Container& container, const std::vector<uint32_t>& assets,
                  const std::string& file)
{
    if (!container.isArchive() || !file.empty()) return;
    const auto textures = std::count_if(assets.begin(), assets.end(), [&](uint32_t asset) {
        return container.archiveAsset(asset).type == SLUICE_ASSET_IMAGE &&
               hasPictureName(container.asset(asset).name);
    });
    if (textures != 0)
        printMessage("sluice: %lld of the files have names of pictures and are KTX2 textures\n",
                     static_cast<long long>(textures));
}

void refuseSelection(const std::string& input, bool isGiven)
{
    if (isGiven)
        throw Failure{exitUsage,
                      input +
                          ": NAME, --only, --list and --keep-going are for .sluice archives and "
                          "tile streams"};
}

} // namespace

int runUnpack(const UnpackOptions& options, const CommonOptions& common)
{
    const Summary summary(common);
    auto input = std::make_unique<InputFile>(options.input);
    if (WeightFile::recognises(*input)) {
        refuseSelection(options.input,
                        !options.selection.empty() || options.list || options.keepGoing);
        return runUnpackWeights(WeightFile(std::move(input)), options, common);
    }
    const Container container(std::move(input));
    if (!options.like.empty()) throw Failure{exitUsage, "--like is for .safetensors files"};
    const std::vector<uint32_t> assets = selectAssets(container, options.selection);
    if (options.list) return printNames(container, assets, common);
    checkOutputSize(container.file().name(), container.file().size(),
                    decodedSize(container, assets), options.maxOutput);
    checkFolders(container, assets, options.maxOutput);
    const std::string root = options.folder.empty() ? "." : options.folder;
    const std::string file = outputFile(container, assets, root, options, common);
    const ToolDevice device(options.device, common, container.kernelsOf(assets),
                            pipelineFlagsFor(decodedSize(container, assets)));
    if (file.empty()) makeFolder(root); // even for an archive without assets
    Progress progress("unpacking", decodedSize(container, assets), common.quiet);
    FileSink files(container, root, file, common.force);
    StdoutSink standard;
    AssetSink& sink = file == "-" ? static_cast<AssetSink&>(standard) : files;
    AssetDecoder decoder(container, device, sink, progress, options.keepGoing);
    const DecodeStats stats = decoder.run(assets);
    progress.clear();
    if (common.verbosity > 0 && !common.quiet) printStats(device, stats, stderr);
    if (!common.quiet) tellTextures(container, assets, file);
    summary.print(assets.size() - decoder.badAssets(), stats.bytesOut, stats.bytesIn);
    return endOf(decoder, assets.size());
}

int runVerify(const VerifyOptions& options, const CommonOptions& common)
{
    const Summary summary(common);
    auto input = std::make_unique<InputFile>(options.input);
    if (WeightFile::recognises(*input)) {
        refuseSelection(options.input, !options.selection.empty() || options.keepGoing);
        return runVerifyWeights(WeightFile(std::move(input)), options, common);
    }
    const Container container(std::move(input));
    if (!options.compare.empty() && !container.isArchive()) {
        throw Failure{exitUsage, container.file().name() +
                                     ": --compare needs an archive, whose assets have names"};
    }
    const std::vector<uint32_t> assets = selectAssets(container, options.selection);
    checkOutputSize(container.file().name(), container.file().size(),
                    decodedSize(container, assets), options.maxOutput);
    const ToolDevice device(options.device, common, container.kernelsOf(assets),
                            pipelineFlagsFor(decodedSize(container, assets)));
    Progress progress("verifying", decodedSize(container, assets), common.quiet);
    NullSink nothing;
    CompareSink compare(container, options.compare, options.keepGoing);
    AssetSink& sink = options.compare.empty() ? static_cast<AssetSink&>(nothing) : compare;
    AssetDecoder decoder(container, device, sink, progress, options.keepGoing);
    const DecodeStats stats = decoder.run(assets);
    progress.clear();
    if (!common.quiet && (common.verbosity > 0 || !options.compare.empty()))
        printStats(device, stats, stdout);
    summary.print(assets.size(), stats.bytesOut, stats.bytesIn);
    if (decoder.exitCode() != exitOk || common.quiet) return endOf(decoder, assets.size());
    if (!options.compare.empty()) {
        std::printf("all %zu files identical\n", assets.size());
    } else {
        std::printf("%s: ok, %zu assets, %s\n", printable(container.file().name()).c_str(),
                    assets.size(), sizeText(stats.bytesOut).c_str());
    }
    return exitOk;
}

} // namespace sluice
