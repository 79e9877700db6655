// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice unpack and sluice verify: decode on a device; write the files, or compare them.
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "container.h"
#include "decoder.h"
#include "progress.h"
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
            const bool ours = status == SLUICE_TILE_PENDING || status == SLUICE_TILE_INTERNAL;
            throw Failure{ours ? exitDevice : exitFormat,
                          container.place(tile.asset) + formatText(", tile %u: ", tile.number) +
                              sluiceGetTileStatusText(status)};
        }
        if (!begun) {
            sink.begin(tile.asset);
            begun = true;
            offset = 0;
        }
        sink.write(offset, bytes, tile.size);
        offset += tile.size;
        progress.advance(tile.size);
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
                const DecodeTile decode = {
                    tile.storedSize, tile.size, tile.codec,  container.isArchive(), tile.checksum,
                    asset,           number,    tile.filter, tile.filterSize};
                container.file().read(tile.offset, decoder.add(decode), tile.storedSize);
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
    std::fprintf(out, "files      %u\n", container.assetCount());
    std::fprintf(out, "bytes in   %llu\n",
                 static_cast<unsigned long long>(container.file().size()));
    std::fprintf(out, "bytes out  %llu\n", static_cast<unsigned long long>(stats.bytesOut));
    std::fprintf(out, "ratio      %.3f\n", ratio);
    std::fprintf(out, "tiles      %llu\n", static_cast<unsigned long long>(stats.tiles));
    std::fprintf(out, "device     %s\n", device.properties().name);
    std::fprintf(out, "tier       %s\n", device.contextInfo().tier);
    std::fprintf(out, "GPU ms     %.3f\n", stats.gpuMilliseconds);
    std::fprintf(out, "GB/s       %.3f\n", rate);
}

class FileSink : public Sink {
public:
    // root: where assets go under their names; file: where the only asset goes instead
    FileSink(const Container& container, std::string root, std::string file, bool force)
        : container_(container), root_(std::move(root)), file_(std::move(file)), force_(force)
    {
    }

    void begin(uint32_t asset) override
    {
        output_.emplace(file_.empty() ? makeFolders(root_, container_.asset(asset).name) : file_,
                        force_);
    }
    void write(uint64_t offset, const uint8_t* bytes, uint32_t size) override
    {
        output_->write(offset, bytes, size);
    }
    void end() override
    {
        output_->commit();
        output_.reset();
    }

private:
    const Container& container_;
    std::string root_, file_;
    bool force_;
    std::optional<OutputFile> output_;
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
        : container_(container), folder_(std::move(folder))
    {
    }

    void begin(uint32_t asset) override
    {
        const ContainerAsset info = container_.asset(asset);
        file_ = std::make_unique<InputFile>(folder_ + "/" + info.name);
        if (file_->size() != info.size) {
            throw Failure{exitFormat,
                          container_.place(asset) + ": its size differs from " + file_->name()};
        }
    }
    void write(uint64_t offset, const uint8_t* bytes, uint32_t size) override
    {
        expected_.resize(size);
        file_->read(offset, expected_.data(), size);
        for (uint32_t i = 0; i < size; ++i) {
            if (expected_[i] != bytes[i]) {
                throw Failure{exitFormat,
                              file_->name() +
                                  formatText(": differs at byte %llu",
                                             static_cast<unsigned long long>(offset + i))};
            }
        }
    }
    void end() override { file_.reset(); }

private:
    const Container& container_;
    std::string folder_;
    std::unique_ptr<InputFile> file_;
    std::vector<uint8_t> expected_;
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
    const ToolDevice device(options.device, common, Decoder::kernels);
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
    const ToolDevice device(options.device, common, Decoder::kernels);
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
