// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice unpack and sluice verify: decode on a device; write the files, or compare them.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <optional>

#include "decoder.h"
#include "progress.h"
#include "textures.h"
#include "weights.h"

namespace sluice {
namespace {

// Takes the decoded assets, one after the other, each in pieces in order.
class Sink {
public:
    virtual ~Sink() = default;
    virtual void begin(uint32_t asset) = 0;
    virtual void write(uint64_t offset, const uint8_t* bytes, uint32_t size) = 0;
    virtual void end() = 0;
};

// Decodes all assets into the sink. Assets come in order, so one of them is open at a time.
DecodeStats decodeAll(const Container& container, const ToolDevice& device, Sink& sink,
                      Progress& progress)
{
    // Assets whose tiles have been handed to the decoder; empty assets wait here for their turn
    // too.
    struct Open {
        uint32_t asset;
        uint32_t tilesLeft;
    };
    std::deque<Open> open;
    bool begun = false;
    uint64_t offset = 0;
    const auto finish = [&] { // ends what is complete; begins and ends empty assets
        while (!open.empty() && open.front().tilesLeft == 0) {
            if (!begun) {
                sink.begin(open.front().asset);
            }
            sink.end();
            begun = false;
            open.pop_front();
        }
    };
    Decoder decoder(device, [&](const DecodeTile& tile, uint32_t status, const uint8_t* bytes) {
        if (status != SLUICE_TILE_OK) {
            throw Failure{exitCodeOfTile(status), container.place(tile.asset) +
                                                      formatText(", tile %u: ", tile.number) +
                                                      sluiceGetTileStatusText(status)};
        }
        if (!begun) {
            sink.begin(tile.asset);
            begun = true;
            offset = 0;
        }
        sink.write(offset, bytes, tile.tile.size);
        offset += tile.tile.size;
        progress.advance(tile.tile.size);
        --open.front().tilesLeft;
        finish();
    });
    for (uint32_t asset = 0; asset < container.assetCount(); ++asset) {
        open.push_back({asset, container.asset(asset).tileCount});
        if (open.size() == 1) {
            finish(); // an empty asset at the front
        }
        try {
            container.forEachTile(asset, [&](uint32_t number, const ContainerTile& tile) {
                uint8_t* const to = decoder.add({tile, container.isArchive(), asset, number});
                container.file().read(tile.offset, to, tile.storedSize);
            });
        } catch (const Failure&) {
            try {
                decoder.flush(); // the assets before the damaged one are still good
            } catch (const Failure&) {
                // the first failure is the one to tell
            }
            throw;
        }
    }
    decoder.flush();
    return decoder.stats();
}

void printStats(const Container& container, const ToolDevice& device, const DecodeStats& stats,
                std::FILE* out)
{
    const double rate =
        stats.gpuMilliseconds > 0 ? double(stats.bytesOut) / stats.gpuMilliseconds / 1e6 : 0;
    const double ratio =
        container.file().size() != 0 ? double(stats.bytesOut) / double(container.file().size()) : 0;
    std::fprintf(out, "files      %u\nbytes in   %llu\nbytes out  %llu\nratio      %.3f\n",
                 container.assetCount(), wide(container.file().size()), wide(stats.bytesOut),
                 ratio);
    std::fprintf(out, "tiles      %llu\ndevice     %s\ntier       %s\n", wide(stats.tiles),
                 device.properties().name, device.tier());
    std::fprintf(out, "GPU ms     %.3f\nGB/s       %.3f\n", stats.gpuMilliseconds, rate);
}

class FileSink : public Sink {
public:
    // root: where assets go under their names; file: where the only asset goes instead
    FileSink(const Container& container, std::string root, std::string file, bool force)
        : m_container(container), m_root(std::move(root)), m_file(std::move(file)), m_force(force)
    {
    }

    void begin(uint32_t asset) override
    {
        m_output.emplace(
            m_file.empty() ? makeFolders(m_root, m_container.asset(asset).name) : m_file, m_force);
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

private:
    const Container& m_container;
    std::string m_root, m_file;
    bool m_force;
    std::optional<OutputFile> m_output;
};

class NullSink : public Sink {
public:
    void begin(uint32_t) override {}
    void write(uint64_t, const uint8_t*, uint32_t) override {}
    void end() override {}
};

// Compares with files below a folder. The first difference is the end.
class CompareSink : public Sink {
public:
    CompareSink(const Container& container, std::string folder)
        : m_container(container), m_folder(std::move(folder))
    {
    }

    void begin(uint32_t asset) override
    {
        const ContainerAsset info = m_container.asset(asset);
        m_file = std::make_unique<InputFile>(m_folder + "/" + info.name);
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

private:
    const Container& m_container;
    std::string m_folder;
    std::unique_ptr<InputFile> m_file;
    Bytes m_expected;
};

// "path/x.tga.gdeflate" gives "path/x.tga".
std::string withoutSuffix(const std::string& path)
{
    const std::filesystem::path whole = path;
    if (path == "-" || !whole.has_extension() || whole.stem().empty()) {
        throw Failure{exitUsage, path + ": has no suffix to take off; name the output with -o"};
    }
    return (whole.parent_path() / whole.stem()).string();
}

} // namespace

int runUnpack(const UnpackOptions& options, const CommonOptions& common)
{
    auto input = std::make_unique<InputFile>(options.input);
    if (WeightFile::recognises(*input)) {
        return runUnpackWeights(WeightFile(std::move(input)), options, common);
    }
    const Container container(std::move(input));
    if (!options.like.empty()) {
        throw Failure{exitUsage, "--like is for .safetensors files"};
    }
    std::string file = options.output;
    std::string root = options.folder.empty() ? "." : options.folder;
    if (container.isArchive()) {
        if (!file.empty() && container.assetCount() != 1) {
            throw Failure{exitUsage, container.file().name() +
                                         formatText(": -o takes one asset, the archive has %u",
                                                    container.assetCount())};
        }
        // refuse before anything is written
        for (uint32_t i = 0; file.empty() && i < container.assetCount(); ++i) {
            checkOverwrite(root + "/" + container.asset(i).name, common.force);
        }
    } else if (file.empty()) {
        file = withoutSuffix(options.input);
        if (!options.folder.empty()) {
            file = makeFolders(root, std::filesystem::path(file).filename().string());
        }
    }
    if (!file.empty()) {
        checkOverwrite(file, common.force);
    }
    const ToolDevice device(options.device, common, Decoder::kernels());
    if (file.empty()) {
        makeFolders(root, "-"); // -C makes its folder even for an archive of no asset
    }
    Progress progress("unpacking", container.decodedSize(), common.quiet);
    FileSink sink(container, root, file, common.force);
    const DecodeStats stats = decodeAll(container, device, sink, progress);
    progress.clear();
    if (common.verbosity > 0 && !common.quiet) {
        printStats(container, device, stats, stderr);
    }
    return exitOk;
}

int runVerify(const VerifyOptions& options, const CommonOptions& common)
{
    auto input = std::make_unique<InputFile>(options.input);
    if (WeightFile::recognises(*input)) {
        return runVerifyWeights(WeightFile(std::move(input)), options, common);
    }
    const Container container(std::move(input));
    if (!options.compare.empty() && !container.isArchive()) {
        throw Failure{exitUsage, container.file().name() +
                                     ": --compare needs an archive, whose assets have names"};
    }
    const ToolDevice device(options.device, common, Decoder::kernels());
    Progress progress("verifying", container.decodedSize(), common.quiet);
    NullSink nothing;
    CompareSink compare(container, options.compare);
    Sink& sink = options.compare.empty() ? static_cast<Sink&>(nothing) : compare;
    const DecodeStats stats = decodeAll(container, device, sink, progress);
    progress.clear();
    if (common.quiet) {
        return exitOk;
    }
    if (common.verbosity > 0 || !options.compare.empty()) {
        printStats(container, device, stats, stdout);
    }
    if (!options.compare.empty()) {
        std::printf("all %u files identical\n", container.assetCount());
    } else {
        std::printf("%s: ok, %u assets, %s\n", container.file().name().c_str(),
                    container.assetCount(), sizeText(stats.bytesOut).c_str());
    }
    return exitOk;
}

} // namespace sluice
