// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of Zstandard frames: the tiles of Gstd's rows, each as a frame that libzstd has made,
// and as one with short blocks, as `sluice pack -c zstd` makes it.
#include <sluice/sluice_encode.h>
#include <sluice/sluice_zstd.h>

#include <algorithm>
#include <iterator>

#include <zstd.h>

#include "tools/bench/rows.h"
#include "tools/bench/scene.h"
#include "encode/zstd/zstd_encoder.h"
#include "tools/common/backends.h"

namespace sluice {
namespace {

constexpr uint32_t kFewFrames = 16;
constexpr int kLevel = 19;
// Rows of the first steps alone, as ZstdStep has them; the others make the bytes.
constexpr const char* kSteps[] = {"zstd, walk", "zstd, walk to order", "zstd, walk to sequences",
                                  "zstd, walk to literals", "zstd, walk to places"};

Bytes frameOfLibzstd(const uint8_t* tile, uint32_t size)
{
    Bytes frame(ZSTD_compressBound(size));
    const size_t bytes = ZSTD_compress(frame.data(), frame.size(), tile, size, kLevel);
    if (ZSTD_isError(bytes) != 0)
        throw Failure{exitDevice, std::string("bench: libzstd: ") + ZSTD_getErrorName(bytes)};
    frame.resize(bytes);
    return frame;
}

// Returns the same output as that of `tiles`, in a frame for each tile that frameOf makes.
template <class FrameOf>
TileSet framesOf(const TileSet& tiles, const FrameOf& frameOf)
{
    TileSet frames;
    frames.description = tiles.description;
    frames.expected = tiles.expected;
    frames.outputBytes = tiles.outputBytes;
    for (TileSet::Tile tile : tiles.tiles) {
        const size_t begin = (frames.source.size() + 15) / 16 * 16;
        const Bytes frame = frameOf(tiles.expected.data() + tile.outputOffset, tile.size);
        frames.source.resize(begin);
        frames.source.insert(frames.source.end(), frame.begin(), frame.end());
        tile.sourceOffset = begin;
        tile.compressedSize = uint32_t(frame.size());
        tile.filterSize = 0;
        frames.tiles.push_back(tile);
        frames.compressedBytes += frame.size();
    }
    // The command reads whole words.
    frames.source.resize((frames.source.size() + 15) / 16 * 16);
    return frames;
}

void benchFrames(const BenchDevice& device, const TileSet& frames, const char* who,
                 BenchReport& report)
{
    const Scene scene(device, frames);
    uint32_t largest = 4;
    for (const TileSet::Tile& frame : frames.tiles)
        largest = std::max(largest, frame.size);
    const auto infoOf = [&](uint32_t first, uint32_t count) {
        SluiceZstdInfo info = {};
        info.maxRegionCount = count;
        info.regionStride = Scene::kStride;
        info.regionsAtOnce = device.isGpu() ? 4096 : 0;
        info.maxRegionSize = largest;
        info.maxBlocks = 64; // such frames have fewer
        info.regions = scene.regionsFrom(first, count);
        info.regionCount = scene.count.whole();
        info.source = scene.source.whole();
        info.destination = scene.destination.whole();
        info.status = scene.status.whole();
        return info;
    };
    const DeviceBuffer scratch =
        device.allocateScratch(sluiceGetZstdRequirements, infoOf(0, scene.allTiles()));
    const auto record = [&](SluiceCommands commands, uint32_t first, uint32_t count) {
        SluiceZstdInfo info = infoOf(first, count);
        info.scratch = scratch.whole();
        require(sluiceCmdZstd(device.context(), commands, &info), "zstd");
    };
    // Records the decode without the steps from number `steps` on.
    const auto recordSteps = [&](SluiceCommands commands, uint32_t first, uint32_t count,
                                 uint32_t steps) {
        withBackend(device.context(), device.backend(), [&](auto& backend) {
            const auto row = backend.tuning();
            auto some = row;
            some.zstd.steps = steps;
            backend.setTuning(some);
            SluiceZstdInfo info = infoOf(first, count);
            info.scratch = scratch.whole();
            const SluiceStatus status = sluiceCmdZstd(device.context(), commands, &info);
            backend.setTuning(row);
            require(status, "zstd steps");
        });
    };
    scene.setCount(scene.allTiles());
    scene.poison();
    device.runOnce(
        [&](SluiceCommands commands, uint32_t) { record(commands, 0, scene.allTiles()); });
    scene.checkStatus(who);
    scene.checkOutput(who);
    for (const uint32_t count : report.budget().ordered(scene.batches(kFewFrames))) {
        if (!report.hasTime("zstd", sizeText(scene.bytesOf(count)))) continue;
        scene.setCount(count);
        report.addGroup(
            {scene.time("zstd", who, count, [&](SluiceCommands commands, uint32_t first) {
                record(commands, first, count);
            })});
        for (uint32_t i = 0; device.isGpu() && i < std::size(kSteps); ++i)
            report.addGroup({scene.time(kSteps[i], "sluice", count,
                                        [&](SluiceCommands commands, uint32_t first) {
                                            recordSteps(commands, first, count, i + 1);
                                        })});
    }
}

} // namespace

void benchZstd(const BenchDevice& device, const TileSet& tiles, BenchReport& report)
{
    benchFrames(device, framesOf(tiles, frameOfLibzstd), "sluice", report);
    zstd::TileEncoder encoder;
    const TileSet frames = framesOf(tiles, [&](const uint8_t* tile, uint32_t size) {
        Bytes frame;
        encoder.encode(SLUICE_ZSTD_MAX_LEVEL, tile, size, frame);
        return frame;
    });
    benchFrames(device, frames, "sluice, short blocks", report);
}

} // namespace sluice
