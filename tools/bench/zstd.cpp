// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of Zstandard frames: those of a file or of an archive's tiles, as they are; or of each
// tile of the Gstd rows, which is decoded from a frame of libzstd and from one with short blocks, as
// `sluice pack -c zstd` makes it.
#include <sluice/sluice_encode.h>
#include <sluice/sluice_zstd.h>

#include <algorithm>
#include <iterator>

#include <zstd.h>

#include "tools/bench/rows.h"
#include "tools/bench/scene.h"
#include "encode/zstd/zstd_encoder.h"
#include "tools/common/backends.h"
#include "tools/common/zstd/zstd_file.h"

namespace sluice {
namespace {

constexpr uint32_t kFewFrames = 16;
constexpr int kLevel = 19;
constexpr uint32_t kTileBlocks = 64; // frames of 256 KiB of output have fewer
// Where frames are larger, scratch decides how many are decoded at a time.
constexpr uint32_t kMostAtOnce = 1u << 20;
// Row i times only the first i + 1 steps of the decode, in the order of ZstdStep. The steps after
// these write the output.
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

// Returns a set with the same output as `tiles`, in which each tile is a frame that frameOf made.
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

// Decodes the frame that `frames` has reached and appends it to the set. Throws a Failure if it is
// damaged or more than a region may be (docs/format.md, 12.2).
void addFrame(const ZstdFile& file, cpu::fast::ZstdFrames& frames, uint64_t number,
              cpu::fast::ZstdWindow& window, TileSet& set)
{
    const zstd::Frame& header = frames.header();
    const uint64_t begin = set.expected.size();
    uint64_t blocks = 0, blockOffset = frames.offset();
    const auto check = [&](uint32_t status) {
        if (status == SLUICE_TILE_OK) return;
        const ZstdDamage damage = {number,      frames.offset(), blocks,
                                   blockOffset, status,          frames.isCutOff()};
        throw Failure{damage.exitCode(), file.text(damage)};
    };
    const auto checkLimit = [&](uint64_t value, uint64_t most, const char* what) {
        if (value > most)
            throw Failure{exitUnsupported,
                          file.file().name() +
                              formatText(": frame %llu at byte %llu has more than %llu %s, the "
                                         "limit of a region",
                                         wide(number), wide(frames.offset()), wide(most), what)};
    };
    const auto checkSize = [&](uint64_t size) {
        checkLimit(size, SLUICE_ZSTD_MAX_REGION_SIZE, "bytes");
    };
    if (header.hasContentSize) checkSize(header.contentSize);
    window.begin(header, SLUICE_ZSTD_MAX_REGION_SIZE);
    for (zstd::Block block; frames.nextBlock(block); blockOffset = frames.position()) {
        const uint32_t status = window.decode(block, frames.checksum());
        if (status == SLUICE_TILE_TOO_LONG && !header.hasContentSize) checkSize(UINT64_MAX);
        check(status);
        set.expected.insert(set.expected.end(), window.bytes(), window.bytes() + window.size());
        ++blocks;
    }
    check(frames.status());
    TileSet::Tile tile = {};
    tile.sourceOffset = set.source.size();
    tile.outputOffset = begin;
    const uint64_t size = set.expected.size() - begin, stored = frames.position() - frames.offset();
    checkLimit(blocks, SLUICE_ZS_FRAME_BLOCKS(size), "blocks");
    checkLimit(stored, INT32_MAX, "compressed bytes");
    tile.size = uint32_t(size);
    tile.compressedSize = uint32_t(stored);
    set.source.resize((tile.sourceOffset + stored + 15) / 16 * 16);
    file.file().read(frames.offset(), &set.source[tile.sourceOffset], size_t(stored));
    set.expected.resize((begin + size + 15) / 16 * 16);
    set.compressedBytes += stored;
    set.outputBytes += size;
    if (size != 0) set.tiles.push_back(tile);
}

// Loads frames with at most about maxOutput bytes of output.
TileSet loadFrames(const std::string& path, uint64_t maxOutput)
{
    using cpu::fast::ZstdFrames;
    const ZstdDictionary none("");
    const ZstdFile file(openInput(path), &none);
    ZstdFrames frames = file.reader(0, file.file().size());
    cpu::fast::ZstdWindow window(none.get());
    TileSet set;
    set.description = file.file().name();
    set.codec = SLUICE_CODEC_ZSTD;
    for (uint64_t number = 0; set.outputBytes < maxOutput; ++number) {
        const ZstdFrames::Kind kind = frames.next();
        if (kind == ZstdFrames::Kind::end) return set;
        if (kind == ZstdFrames::Kind::skippable) continue;
        if (kind == ZstdFrames::Kind::otherDictionary)
            throw Failure{exitUnsupported,
                          file.file().name() +
                              formatText(": frame %llu at byte %llu needs the dictionary %u, and "
                                         "the benchmark takes none",
                                         wide(number), wide(frames.offset()),
                                         frames.header().dictionaryId)};
        if (kind != ZstdFrames::Kind::frame) {
            const ZstdDamage damage = {number,          frames.offset(), 0,
                                       frames.offset(), frames.status(), frames.isCutOff()};
            throw Failure{damage.exitCode(), file.text(damage)};
        }
        addFrame(file, frames, number, window, set);
    }
    if (frames.position() != file.file().size())
        set.description += " (first " + sizeText(set.outputBytes) + ")";
    return set;
}

// Returns the most blocks that one of the tiles has.
uint32_t mostBlocksOf(const TileSet& tiles)
{
    uint32_t most = 1;
    for (const TileSet::Tile& tile : tiles.tiles) {
        zstd::StructureReader reader(&tiles.source[tile.sourceOffset], tile.compressedSize,
                                     tile.size, {});
        zstd::Block block;
        while (reader.next(block)) {
        }
        most = std::max(most, reader.blocks());
    }
    return most;
}

// maxBlocks: the most blocks that a frame has.
void benchFrames(const BenchDevice& device, const TileSet& frames, uint32_t maxBlocks,
                 const char* who, BenchReport& report)
{
    const Scene scene(device, frames);
    uint32_t largest = 4;
    for (const TileSet::Tile& frame : frames.tiles)
        largest = std::max(largest, frame.size);
    const auto infoOf = [&](uint32_t first, uint32_t count) {
        SluiceZstdInfo info = {};
        info.maxRegionCount = count;
        info.regionStride = Scene::kStride;
        info.regionsAtOnce = device.isGpu() && largest <= kMostAtOnce ? 4096 : 0;
        info.maxRegionSize = largest;
        info.maxBlocks = maxBlocks;
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
    // Records only the first `steps` steps of the decode.
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
    benchFrames(device, framesOf(tiles, frameOfLibzstd), kTileBlocks, "sluice", report);
    zstd::TileEncoder encoder;
    const TileSet frames = framesOf(tiles, [&](const uint8_t* tile, uint32_t size) {
        Bytes frame;
        encoder.encode(SLUICE_ZSTD_MAX_LEVEL, tile, size, frame);
        return frame;
    });
    benchFrames(device, frames, kTileBlocks, "sluice, short blocks", report);
}

void benchZstdTiles(const BenchDevice& device, const TileSet& tiles, BenchReport& report)
{
    benchFrames(device, tiles, mostBlocksOf(tiles), "sluice", report);
}

void benchZstdFile(const BenchDevice& device, const std::string& path, BenchReport& report)
{
    const TileSet frames = loadFrames(path, decodeInputLimit(device));
    if (frames.tiles.empty())
        throw Failure{exitFormat, frames.description + ": holds no frame with content"};
    report.beginInput(frames, "zstd");
    benchZstdTiles(device, frames, report);
}

} // namespace sluice
