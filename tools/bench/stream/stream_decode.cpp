// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/stream/stream_decode.h"

#include <algorithm>
#include <cstring>

#include <sluice/sluice_stream.h>
#include <sluice/sluice_tiles.h>

#include "tools/bench/stream/stream_places.h"

namespace sluice {
namespace {

struct DecodeBatch {
    std::vector<SluiceTile> tiles;
    SluiceTileTotals totals{};
    uint64_t outputSize = 0; // bytes in the destination
};

// Returns the tiles of the largest batch that a streamer with this setup may record and whose
// output fits into `room` bytes. If the content has too few tiles and mayRepeat is set, its tiles
// are repeated from the first one on.
DecodeBatch fillBatch(const StreamContent& content, const StreamSetup& setup, uint64_t room,
                      bool mayRepeat)
{
    uint32_t most = setup.batchTiles != 0 ? setup.batchTiles : SLUICE_STREAM_BATCH_TILES;
    if (!mayRepeat) most = std::min(most, uint32_t(content.tiles.size()));
    const uint64_t filtered =
        setup.filteredSize != 0 ? setup.filteredSize : SLUICE_STREAM_FILTERED_SIZE;
    DecodeBatch batch;
    for (uint32_t i = 0; i < most; ++i) {
        const StreamTile& from = content.tiles[i % content.tiles.size()];
        const uint64_t size = placed(from.tile.size);
        const SluiceTile tile = {from.sourceOffset, batch.outputSize,    from.tile.storedSize,
                                 from.tile.size,    from.tile.codec,     from.tile.checksum,
                                 from.tile.filter,  from.tile.filterSize};
        const SluiceTileTotals before = batch.totals;
        require(sluiceAddTile(&batch.totals, &tile), "a tile");
        if (i != 0 && (batch.outputSize + size > room || batch.totals.filteredSize > filtered)) {
            batch.totals = before;
            break;
        }
        batch.tiles.push_back(tile);
        batch.outputSize += size;
    }
    return batch;
}

} // namespace

BenchRow timeDecode(StreamEngine& engine, const StreamContent& content, const StreamSetup& setup,
                    SluiceBuffer destination, const std::string& size, const std::string& who,
                    bool fromSystem)
{
    const BenchDevice& device = engine.device();
    const DecodeBatch batch = fillBatch(content, setup, destination.size, device.isGpu());
    SluiceTilesInfo info = {};
    info.tiles = batch.tiles.data();
    info.tileCount = uint32_t(batch.tiles.size());
    info.gstdTilesAtOnce = setup.tilesAtOnce != 0 ? setup.tilesAtOnce : SLUICE_STREAM_GSTD_TILES;
    SluiceTilesRequirements required = {};
    require(sluiceGetTilesRequirements(device.context(), &info, &batch.totals, &required), "tiles");
    const uint64_t sourceSize = content.stored.size() + 16;
    DeviceBuffer inDevice = device.allocate(fromSystem ? 0 : sourceSize);
    SluiceStreamMemory inSystem = {};
    if (fromSystem) {
        inSystem = engine.allocate(sourceSize, StreamEngine::Memory::host);
        std::memcpy(inSystem.host, content.stored.data(), content.stored.size());
    } else {
        device.upload(inDevice.whole(), content.stored.data(), content.stored.size());
    }
    const SluiceStreamMemory control =
        engine.allocate(required.controlSize, StreamEngine::Memory::mapped);
    const SluiceStreamMemory results =
        engine.allocate(required.resultsSize, StreamEngine::Memory::host);
    const DeviceBuffer scratch = device.allocate(required.scratchSize);
    info.source = fromSystem ? inSystem.buffer : inDevice.whole();
    info.sourceHost = content.stored.data();
    info.destination = destination;
    info.control = control.buffer;
    info.controlHost = control.host;
    info.results = results.buffer;
    info.resultsHost = results.host;
    info.scratch = scratch.whole();
    require(sluicePrepareTiles(device.context(), &info), "tiles");
    const auto record = [&](SluiceCommands commands, uint32_t) {
        require(sluiceCmdTiles(device.context(), commands, &info), "tiles");
    };
    device.runOnce(record);
    Words statuses(batch.tiles.size());
    uint32_t failed = 0;
    require(sluiceGetTileResults(&info, statuses.data(), &failed), "tiles");
    if (failed != 0) throw Failure{exitDevice, "bench: stream decode: tiles failed"};
    BenchRow row = {"stream decode", size, who, batch.totals.bytesOut, device.time(1, record)};
    row.figures.push_back({"tiles", double(batch.tiles.size())});
    for (const SluiceStreamMemory& memory : {control, results, inSystem})
        engine.release(memory);
    return row;
}

BenchRow timeLink(StreamEngine& engine, SluiceBuffer destination, const std::string& size)
{
    const uint64_t bytes = std::min<uint64_t>(destination.size, 256u << 20);
    const SluiceStreamMemory from = engine.allocate(bytes, StreamEngine::Memory::host);
    const SluiceBuffer to = {destination.handle, destination.offset, bytes};
    const Timing timing = engine.device().time(1, [&](SluiceCommands commands, uint32_t) {
        engine.copy(reinterpret_cast<VkCommandBuffer>(commands), from.buffer, to);
    });
    engine.release(from);
    return {"stream link", size, "copy, system to device", bytes, timing, true};
}

} // namespace sluice
