// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice unpack` and `sluice verify`. Both decode on a device; unpack writes files, verify may
// compare with files.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>

#include "encode/image/uastc_image.h"
#include "tools/sluice/unpack/decode_assets.h"
#include "tools/common/file_mode.h"
#include "tools/sluice/unpack/selection.h"
#include "tools/sluice/unpack/unpack_zstd.h"
#include "tools/common/summary.h"
#include "tools/sluice/pack/textures.h"
#include "tools/common/weights.h"
#include "tools/common/zstd/zstd_file.h"

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

// Returns the name of an asset's file: the asset's name and, for a texture that was made of a
// picture, .ktx2 after it.
std::string fileNameOf(const Container& container, uint32_t asset)
{
    const std::string name = container.asset(asset).name;
    const bool isTexture = container.isArchive() && hasPictureName(name) &&
                           container.archiveAsset(asset).type == SLUICE_ASSET_IMAGE;
    return isTexture ? name + ".ktx2" : name;
}

class FileSink : public AssetSink {
public:
    // Assets go below the folder `root` under their names. If `file` is not empty, there is one
    // asset, which goes to `file` instead.
    FileSink(const Container& container, std::string root, std::string file, bool force)
        : m_container(container), m_root(std::move(root)), m_file(std::move(file)), m_force(force)
    {
    }

    void begin(uint32_t asset) override
    {
        if (m_file.empty())
            m_output.emplace(m_root, fileNameOf(m_container, asset), m_force);
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

// Writes a single asset to stdout while it is decoded. Damage ends the program.
class StdoutSink : public AssetSink {
public:
    void begin(uint32_t) override {}
    void write(uint64_t, const uint8_t* bytes, uint32_t size) override { writeStdout(bytes, size); }
    void end() override {}
    void discard() override {}
};

// Returns whether an asset is an image of UASTC.
bool isUastc(const Container& container, uint32_t asset)
{
    if (!container.isArchive()) return false;
    const SluiceArchiveAsset about = container.archiveAsset(asset);
    SluiceImageInfo info;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    return sluiceGetArchiveImage(&about, &info, levels) == SLUICE_OK &&
           (info.flags & SLUICE_IMAGE_TRANSCODE) != 0;
}

// Gives images of UASTC to another sink as KTX2 files of another format, and all other assets as
// they are.
class TranscodeSink : public AssetSink {
public:
    // `as` is the value of --as.
    TranscodeSink(const Container& container, AssetSink& sink, const std::string& as)
        : m_container(container), m_sink(sink), m_as(as)
    {
    }

    void begin(uint32_t asset) override
    {
        m_asset = asset;
        m_isUastc = isUastc(m_container, asset);
        m_bytes.assign(m_isUastc ? size_t(m_container.asset(asset).size) : 0, 0);
        m_sink.begin(asset);
    }
    void write(uint64_t offset, const uint8_t* bytes, uint32_t size) override
    {
        if (!m_isUastc) return m_sink.write(offset, bytes, size);
        std::copy_n(bytes, size, m_bytes.begin() + ptrdiff_t(offset));
    }
    void end() override
    {
        if (m_isUastc) writeTranscoded();
        m_sink.end();
    }
    void discard() override { m_sink.discard(); }

private:
    void writeTranscoded()
    {
        ImageFile image;
        const bool isImage = image.parse(m_bytes.data(), m_bytes.size()) &&
                             (image.info.flags & SLUICE_IMAGE_TRANSCODE) != 0;
        if (!isImage)
            throw Failure{exitFormat, m_container.place(m_asset) + ": is no KTX2 file of UASTC"};
        const bool isSrgb = (image.info.flags & SLUICE_IMAGE_SRGB) != 0;
        uint64_t invalid = 0;
        m_bytes = transcodeKtx2(m_bytes, image, uastcFormatNamed(m_as, isSrgb), invalid);
        if (m_bytes.empty())
            throw Failure{exitUnsupported,
                          m_container.place(m_asset) + ": has slices of more than 2^24 blocks"};
        if (invalid != 0)
            printMessage("sluice: %s: %llu invalid blocks of UASTC become magenta\n",
                         m_container.place(m_asset).c_str(), wide(invalid));
        constexpr uint64_t most = uint64_t(1) << 30; // most bytes of one call
        for (uint64_t at = 0; at < m_bytes.size(); at += most)
            m_sink.write(at, &m_bytes[size_t(at)],
                         uint32_t(std::min<uint64_t>(most, m_bytes.size() - at)));
    }

    const Container& m_container;
    AssetSink& m_sink;
    const std::string m_as;
    uint32_t m_asset = 0;
    bool m_isUastc = false;
    Bytes m_bytes;
};

class NullSink : public AssetSink {
public:
    void begin(uint32_t) override {}
    void write(uint64_t, const uint8_t*, uint32_t) override {}
    void end() override {}
    void discard() override {}
};

// Compares assets with the files below a folder. Reports the first difference in each file.
class CompareSink : public AssetSink {
public:
    // If keepGoing is set, a missing file counts as a difference; otherwise it ends the run.
    CompareSink(const Container& container, std::string folder, bool keepGoing)
        : m_container(container), m_folder(std::move(folder)), m_keepGoing(keepGoing)
    {
    }

    void begin(uint32_t asset) override
    {
        const ContainerAsset info = m_container.asset(asset);
        try {
            const std::string unpacked = m_folder + "/" + fileNameOf(m_container, asset);
            m_file = std::make_unique<InputFile>(
                isFile(unpacked) ? unpacked : m_folder + "/" + info.name, InputKind::file);
        } catch (const Failure& failure) {
            throw Failure{m_keepGoing ? exitFormat : failure.code, failure.text};
        }
        if (m_container.archiveAsset(asset).type == SLUICE_ASSET_IMAGE &&
            isPicture(*m_file, m_file->name())) {
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

// Returns the path without its last suffix: "path/x.tga.gdeflate" becomes "path/x.tga".
std::string withoutSuffix(const std::string& path)
{
    const std::filesystem::path whole = std::filesystem::u8path(path);
    if (path == "-" || !whole.has_extension() || whole.stem().empty()) {
        throw Failure{exitUsage, path + ": has no suffix to take off; name the output with -o"};
    }
    return (whole.parent_path() / whole.stem()).generic_u8string();
}

using Inputs = std::vector<PackedInput>;

uint64_t decodedSize(const Inputs& inputs)
{
    uint64_t size = 0;
    for (const PackedInput& input : inputs)
        size += input.decodedSize();
    return size;
}

// Returns about how many bytes are written. `as` is the value of --as. RGBA8 takes four times the
// bytes of UASTC.
uint64_t outputSize(const PackedInput& input, const std::string& as)
{
    uint64_t size = input.decodedSize();
    if (as.empty()) return size;
    bool isAny = false;
    for (const uint32_t asset : input.assets) {
        if (!isUastc(*input.container, asset)) continue;
        isAny = true;
        if (as == "rgba8") size += 3 * input.container->asset(asset).size;
    }
    if (!isAny)
        throw Failure{exitUsage, input.container->file().name() +
                                     ": --as is for images of UASTC, and there "
                                     "is none"};
    return size;
}

size_t assetCount(const Inputs& inputs)
{
    size_t count = 0;
    for (const PackedInput& input : inputs)
        count += input.assets.size();
    return count;
}

ToolDevice openDevice(const Inputs& inputs, const DeviceOptions& options,
                      const CommonOptions& common)
{
    uint32_t kernels = 0;
    for (const PackedInput& input : inputs)
        kernels |= input.container->kernelsOf(input.assets);
    return {options, common, kernels, pipelineFlagsFor(decodedSize(inputs))};
}

// unpack --list: prints names, with -v sizes too.
int printNames(const Inputs& inputs, const CommonOptions& common)
{
    for (const PackedInput& input : inputs) {
        for (const uint32_t number : input.assets) {
            const ContainerAsset asset = input.container->asset(number);
            if (common.verbosity > 0) std::printf("%14llu ", wide(asset.size));
            std::printf("%s\n", printable(asset.name).c_str());
        }
    }
    return exitOk;
}

// Returns the output file of an input with a single asset; empty: assets go below `root` under
// their names. A tile stream's file has the input's name without the last suffix.
std::string outputFile(const PackedInput& input, const std::string& root,
                       const UnpackOptions& options)
{
    if (input.container->isArchive() || !options.output.empty()) return options.output;
    const std::string file = withoutSuffix(input.path);
    if (options.folder.empty()) return file;
    makeFolder(root);
    return root + "/" + std::filesystem::u8path(file).filename().u8string();
}

// Throws if an output cannot be a file on this system, would be overwritten, or is an input, or if
// two assets would become the same file. With -f, a later input may replace files of an earlier
// one.
void checkOutputs(const Inputs& inputs, const std::string& root, const UnpackOptions& options,
                  const CommonOptions& common)
{
    if (!options.output.empty() && assetCount(inputs) != 1)
        throw Failure{exitUsage, inputs[0].container->file().name() +
                                     formatText(": -o takes one asset, and there are %zu",
                                                assetCount(inputs))};
    std::vector<std::string> files;
    for (const PackedInput& input : inputs)
        files.push_back(input.path);
    // The input and the asset that each output comes from.
    std::map<std::string, std::pair<size_t, std::string>> known;
    const auto add = [&](const std::string& path, size_t input, const std::string& name) {
        const auto [other, isNew] =
            known.emplace(fileNamesFold() ? foldedFileName(path) : path, std::pair(input, name));
        if (isNew) return;
        const auto& [before, otherName] = other->second;
        if (before == input)
            throw Failure{exitIo, path + ": would be the same file here as " + otherName};
        if (!common.force)
            throw Failure{exitIo, path + ": is in " + files[before] + " and in " + files[input] +
                                      "; with -f the later one replaces it"};
        other->second = {input, name};
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].assets.empty()) continue;
        const std::string file = outputFile(inputs[i], root, options);
        if (!file.empty()) {
            checkOutput(file, common.force, files);
            add(file, i, file);
            continue;
        }
        for (const uint32_t asset : inputs[i].assets) {
            const std::string name = fileNameOf(*inputs[i].container, asset),
                              path = root + "/" + name;
            checkFileName(name, path);
            checkOverwrite(path, common.force);
            refuseOwnInput(path, files);
            add(path, i, inputs[i].container->asset(asset).name);
        }
    }
    if (inputs.size() < 2) return; // within an archive, no name lies below another
    for (const auto& [path, from] : known) {
        for (size_t end = path.rfind('/'); end != path.npos && end > root.size();
             end = path.rfind('/', end - 1)) {
            const auto other = known.find(path.substr(0, end));
            if (other != known.end())
                throw Failure{exitIo, other->first + ": is a file in " +
                                          files[other->second.first] + " and a folder in " +
                                          files[from.first]};
        }
    }
}

// Limits how many folders are made: a small archive may name very many, and each folder counts as a
// block of the file system. Names are sorted, so the names of a folder follow each other.
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

// Reports how a run with --keep-going ended: which assets are bad, since a message about a damaged
// tile names only the first asset that needs the tile. Returns the verb's exit code.
class Ending {
public:
    explicit Ending(const CommonOptions& common) : m_mostNames(common.verbosity > 0 ? SIZE_MAX : 20)
    {
    }

    void add(const Container& container, const AssetDecoder& decoder)
    {
        for (const uint32_t asset : decoder.badAssets())
            if (m_bad++ < m_mostNames && container.isArchive())
                m_names += (m_names.empty() ? ": '" : ", '") +
                           printable(container.asset(asset).name) + "'";
        if (m_code != exitFormat && decoder.exitCode() != exitOk) m_code = decoder.exitCode();
    }
    size_t badAssets() const { return m_bad; }
    int code() const { return m_code; }
    int tell(size_t assets) const
    {
        if (m_bad != 0)
            printMessage("sluice: %zu of %zu assets are not right%s%s\n", m_bad, assets,
                         m_names.c_str(), m_bad > m_mostNames ? " ...; -v names all" : "");
        return m_code;
    }

private:
    size_t m_mostNames, m_bad = 0;
    std::string m_names;
    int m_code = exitOk;
};

// Says how many files are textures made of pictures, whose names differ from those of the assets.
void tellTextures(const Container& container, const std::vector<uint32_t>& assets,
                  const std::string& file)
{
    if (!container.isArchive() || !file.empty()) return;
    const auto textures = std::count_if(assets.begin(), assets.end(), [&](uint32_t asset) {
        return fileNameOf(container, asset) != container.asset(asset).name;
    });
    if (textures != 0)
        printMessage(
            "sluice: %lld of the files are KTX2 textures made of pictures: .ktx2 is added to their "
            "names\n",
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

// Throws if options for Zstandard files were given and the input is another kind of file.
void refuseZstdOptions(const std::string& input, const ZstdOptions& options)
{
    if (options.isGiven())
        throw Failure{exitUsage, input + ": --dictionary and --max-window are for Zstandard files"};
}

} // namespace

int runUnpack(const UnpackOptions& options, const CommonOptions& common)
{
    const Summary summary(common);
    auto first = std::make_unique<InputFile>(options.input);
    const bool isZstd = ZstdFile::recognises(*first);
    const bool isWeights = !isZstd && WeightFile::recognises(*first);
    if ((isZstd || isWeights) && !options.as.empty())
        throw Failure{exitUsage, options.input + ": --as is for .sluice archives"};
    if (isZstd) return runUnpackZstd(std::move(first), options, common);
    refuseZstdOptions(options.input, options.zstd);
    if (isWeights) {
        refuseSelection(options.input,
                        !options.selection.empty() || options.list || options.keepGoing);
        return runUnpackWeights(WeightFile(std::move(first)), options, common);
    }
    const Inputs inputs = openInputs(options.input, std::move(first), options.selection);
    if (!options.like.empty()) throw Failure{exitUsage, "--like is for .safetensors files"};
    if (options.list) return printNames(inputs, common);
    for (const PackedInput& input : inputs) {
        const InputFile& file = input.container->file();
        checkOutputSize(file.name(), file.size(), outputSize(input, options.as), options.maxOutput);
        checkFolders(*input.container, input.assets, options.maxOutput);
    }
    const std::string root = options.folder.empty() ? "." : options.folder;
    checkOutputs(inputs, root, options, common);
    const ToolDevice device = openDevice(inputs, options.device, common);
    Progress progress("unpacking", decodedSize(inputs), common.quiet);
    DecodeStats all;
    Ending ending(common);
    for (const PackedInput& input : inputs) {
        const Container& container = *input.container;
        const std::string file = outputFile(input, root, options);
        if (file.empty()) makeFolder(root); // so that it exists even if the archive is empty
        FileSink files(container, root, file, common.force);
        StdoutSink standard;
        AssetSink& sink = file == "-" ? static_cast<AssetSink&>(standard) : files;
        TranscodeSink transcodes(container, sink, options.as);
        AssetDecoder decoder(container, device,
                             options.as.empty() ? sink : static_cast<AssetSink&>(transcodes),
                             progress, options.keepGoing);
        all.add(decoder.run(input.assets));
        ending.add(container, decoder);
        progress.clear();
        if (!common.quiet) tellTextures(container, input.assets, file);
    }
    progress.clear();
    if (common.verbosity > 0 && !common.quiet) printStats(device, all, stderr);
    summary.print(assetCount(inputs) - ending.badAssets(), all.bytesOut, all.bytesIn);
    return ending.tell(assetCount(inputs));
}

int runVerify(const VerifyOptions& options, const CommonOptions& common)
{
    const Summary summary(common);
    auto first = std::make_unique<InputFile>(options.input);
    if (ZstdFile::recognises(*first)) return runVerifyZstd(std::move(first), options, common);
    refuseZstdOptions(options.input, options.zstd);
    if (WeightFile::recognises(*first)) {
        refuseSelection(options.input, !options.selection.empty() || options.keepGoing);
        return runVerifyWeights(WeightFile(std::move(first)), options, common);
    }
    const Inputs inputs = openInputs(options.input, std::move(first), options.selection);
    for (const PackedInput& input : inputs) {
        const InputFile& file = input.container->file();
        if (!options.compare.empty() && !input.container->isArchive())
            throw Failure{exitUsage,
                          file.name() + ": --compare needs an archive, whose assets have names"};
        checkOutputSize(file.name(), file.size(), input.decodedSize(), options.maxOutput);
    }
    const ToolDevice device = openDevice(inputs, options.device, common);
    Progress progress("verifying", decodedSize(inputs), common.quiet);
    DecodeStats all;
    Ending ending(common);
    std::string good; // a line for each input that is right
    for (const PackedInput& input : inputs) {
        const Container& container = *input.container;
        NullSink nothing;
        CompareSink compare(container, options.compare, options.keepGoing);
        AssetSink& sink = options.compare.empty() ? static_cast<AssetSink&>(nothing) : compare;
        AssetDecoder decoder(container, device, sink, progress, options.keepGoing);
        const DecodeStats stats = decoder.run(input.assets);
        all.add(stats);
        ending.add(container, decoder);
        if (decoder.exitCode() == exitOk && options.compare.empty())
            good +=
                formatText("%s: ok, %zu assets, %s\n", printable(container.file().name()).c_str(),
                           input.assets.size(), sizeText(stats.bytesOut).c_str());
    }
    progress.clear();
    if (!common.quiet && (common.verbosity > 0 || !options.compare.empty()))
        printStats(device, all, stdout);
    summary.print(assetCount(inputs), all.bytesOut, all.bytesIn);
    if (!common.quiet) std::fputs(good.c_str(), stdout);
    if (ending.code() == exitOk && !common.quiet && !options.compare.empty())
        std::printf("all %zu files identical\n", assetCount(inputs));
    return ending.tell(assetCount(inputs));
}

} // namespace sluice
