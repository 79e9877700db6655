// SPDX-License-Identifier: MIT OR Apache-2.0
// The GDeflate rows: ours and the driver's own decoder on the same tiles, and the checksum of what came out.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "bench_peers.h"
#include "bench_rows.h"

namespace sluice {
namespace {

constexpr uint32_t kFewTiles = 64;
constexpr uint32_t kStride = sizeof(DriverRegion);

// The tile set, several times over, each copy at source and destination addresses of its own.
class Scene {
public:
    Scene(const BenchDevice& on, const TileSet& tiles);

    const BenchDevice& device;
    const TileSet& set;
    uint32_t copies;
    uint64_t sourceStride, outputStride;
    BenchBuffer source, destination, regions, status, expected, count;

    uint32_t tilesOf(uint32_t copyCount) const { return copyCount * static_cast<uint32_t>(set.tiles.size()); }
    uint64_t bytesOf(uint32_t tileCount) const;
    SluiceBuffer regionsFrom(uint32_t copy, uint32_t tileCount) const
    {
        return regions.part(uint64_t{tilesOf(copy)} * kStride, uint64_t{tileCount} * kStride);
    }
    // Tells the device how many regions the following batches have.
    void setCount(uint32_t tileCount) const { device.upload(count.whole(), &tileCount, sizeof tileCount); }
    void poison() const { device.fill(destination.whole(), 0xee); }
    void checkOutput(const std::string& who) const;
    void checkStatus(const std::string& who) const;
};

uint32_t copyCount(const BenchDevice& device, const TileSet& set)
{
    if (!device.isGpu()) return 1;
    const uint64_t copies = (gpuOutputBudget(device) + set.outputBytes - 1) / set.outputBytes;
    return static_cast<uint32_t>(std::clamp<uint64_t>(copies, 1, (1u << 24) / set.tiles.size()));
}

Scene::Scene(const BenchDevice& on, const TileSet& tiles)
    : device(on), set(tiles), copies(copyCount(on, tiles)), sourceStride(aligned256(tiles.source.size())),
      outputStride(aligned256(tiles.expected.size())), source(on.allocate(copies * sourceStride)),
      destination(on.allocate(copies * outputStride)), regions(on.allocate(uint64_t{tilesOf(copies)} * kStride)),
      status(on.allocate((uint64_t{tilesOf(copies)} + 2) * 4)), expected(on.allocate(uint64_t{tilesOf(copies)} * 4)),
      count(on.allocate(4))
{
    std::vector<DriverRegion> list;
    std::vector<uint32_t> checksums;
    for (uint32_t copy = 0; copy < copies; ++copy) {
        device.upload(source.part(copy * sourceStride, set.source.size()), set.source.data(), set.source.size());
        const uint64_t sourceAddress = source.address() + copy * sourceStride;
        const uint64_t outputAddress = destination.address() + copy * outputStride;
        for (const TileSet::Tile& tile : set.tiles) {
            list.push_back(
                {{sourceAddress + tile.sourceOffset, outputAddress + tile.outputOffset, tile.compressedSize, tile.size},
                 kMethodGdeflate});
            if (copy == 0) checksums.push_back(sluiceTileChecksum(set.expected.data() + tile.outputOffset, tile.size));
        }
    }
    for (uint32_t copy = 1; copy < copies; ++copy) {
        checksums.insert(checksums.end(), checksums.begin(),
                         checksums.begin() + static_cast<ptrdiff_t>(set.tiles.size()));
    }
    device.upload(regions.whole(), list.data(), list.size() * sizeof list[0]);
    device.upload(expected.whole(), checksums.data(), checksums.size() * 4);
}

uint64_t Scene::bytesOf(uint32_t tileCount) const
{
    uint64_t bytes = tileCount / set.tiles.size() * set.outputBytes;
    for (size_t i = 0; i < tileCount % set.tiles.size(); ++i)
        bytes += set.tiles[i].size;
    return bytes;
}

void Scene::checkOutput(const std::string& who) const
{
    std::vector<uint8_t> bytes(static_cast<size_t>(outputStride));
    for (uint32_t copy = 0; copy < copies; ++copy) {
        device.download(destination.part(copy * outputStride, outputStride), bytes.data(), outputStride);
        for (size_t i = 0; i < set.tiles.size(); ++i) {
            const TileSet::Tile& tile = set.tiles[i];
            if (std::memcmp(bytes.data() + tile.outputOffset, set.expected.data() + tile.outputOffset, tile.size) !=
                0) {
                throw Failure{exitDevice, "bench: " + who + " gdeflate: tile " + std::to_string(i) + " of copy " + std::to_string(copy) +
                                              ": wrong bytes"};
            }
        }
    }
}

void Scene::checkStatus(const std::string& who) const
{
    std::vector<uint32_t> words(tilesOf(copies) + size_t{2});
    device.download(status.whole(), words.data(), words.size() * 4);
    for (uint32_t i = 0; i < tilesOf(copies); ++i) {
        if (words[i] != SLUICE_TILE_OK) {
            throw Failure{exitDevice, "bench: " + who + ": tile " + std::to_string(i % set.tiles.size()) + ": " +
                                          sluiceGetTileStatusText(words[i])};
        }
    }
    if (words[tilesOf(copies)] != 0) throw Failure{exitDevice, "bench: " + who + ": the summary counts failed tiles"};
}

// Decodes so many regions from those of copy `first` on.
using RecordBatch = std::function<void(SluiceCommands commands, uint32_t first, uint32_t tileCount)>;

BenchRow timeBatch(const Scene& scene, uint32_t tileCount, const std::string& who, const RecordBatch& record)
{
    const uint32_t tilesOfCopy = scene.tilesOf(1), step = (tileCount + tilesOfCopy - 1) / tilesOfCopy;
    const uint32_t groups = scene.copies / step; // run after run takes the next one
    BenchRow row;
    row.kernel = "gdeflate";
    row.bytes = scene.bytesOf(tileCount);
    row.size = sizeText(row.bytes);
    row.who = who;
    row.timing = scene.device.time(
        1, [&](SluiceCommands commands, uint32_t run) { record(commands, run % groups * step, tileCount); });
    return row;
}

RecordBatch recordOurs(const Scene& scene, const BenchBuffer& scratch)
{
    return [&scene, &scratch](SluiceCommands commands, uint32_t first, uint32_t tileCount) {
        SluiceGdeflateInfo info = {};
        info.maxRegionCount = tileCount;
        info.regionStride = kStride;
        info.regions = scene.regionsFrom(first, tileCount);
        info.regionCount = scene.count.whole();
        info.source = scene.source.whole();
        info.destination = scene.destination.whole();
        info.status = scene.status.whole();
        info.scratch = scratch.whole();
        require(sluiceCmdGdeflate(scene.device.context(), commands, &info), "gdeflate");
    };
}

BenchBuffer decodeScratch(const Scene& scene)
{
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = scene.tilesOf(scene.copies);
    info.regionStride = kStride;
    SluiceRequirements requirements = {};
    require(sluiceGetGdeflateRequirements(scene.device.context(), &info, &requirements), "gdeflate requirements");
    return scene.device.allocate(requirements.scratchSize);
}

// The tiles must be decoded and their statuses OK.
BenchRow timeChecksum(const Scene& scene)
{
    const auto record = [&scene](SluiceCommands commands, uint32_t) {
        SluiceChecksumInfo info = {};
        info.maxRegionCount = scene.tilesOf(scene.copies);
        info.regionStride = kStride;
        info.regions = scene.regions.whole();
        info.destination = scene.destination.whole();
        info.expected = scene.expected.whole();
        info.status = scene.status.whole();
        require(sluiceCmdChecksum(scene.device.context(), commands, &info), "checksum");
    };
    scene.device.runOnce(record);
    scene.checkStatus("sluice checksum");
    BenchRow row;
    row.kernel = "checksum";
    row.size = sizeText(scene.copies * scene.set.outputBytes);
    row.who = "sluice";
    row.bytes = scene.copies * scene.set.outputBytes;
    row.timing = scene.device.time(1, record);
    return row;
}

} // namespace

uint64_t decodeInputLimit(const BenchDevice& device)
{
    if (device.isGpu()) return 256u << 20;
    return device.properties().backend == SLUICE_BACKEND_CPU ? 32u << 20 : 2u << 20;
}

void benchGdeflate(const BenchDevice& device, const TileSet& tiles, BenchReport& report)
{
    const Scene scene(device, tiles);
    const BenchBuffer scratch = decodeScratch(scene);

    struct Contender {
        std::string who;
        bool isPeer;
        RecordBatch record;
    };
    std::vector<Contender> contenders = {{"sluice", false, recordOurs(scene, scratch)}};
    const std::vector<std::unique_ptr<DriverDecoder>> drivers = makeDriverDecoders(device, scene.tilesOf(scene.copies));
    for (const std::unique_ptr<DriverDecoder>& driver : drivers) {
        DriverDecoder* decoder = driver.get();
        contenders.push_back(
            {decoder->name(), true, [&scene, decoder](SluiceCommands commands, uint32_t first, uint32_t tileCount) {
                 const uint64_t list = sluiceGetAddress(scene.device.handle(), scene.regionsFrom(first, tileCount));
                 decoder->record(commands, list, scene.count.address(), tileCount);
             }});
    }

    // Everybody decodes everything once, over poisoned memory; ours last, so that its output is what is checksummed.
    const uint32_t allTiles = scene.tilesOf(scene.copies);
    scene.setCount(allTiles);
    for (size_t i = contenders.size(); i-- != 0;) {
        scene.poison();
        device.runOnce([&](SluiceCommands commands, uint32_t) { contenders[i].record(commands, 0, allTiles); });
        if (!contenders[i].isPeer) scene.checkStatus(contenders[i].who);
        scene.checkOutput(contenders[i].who);
    }
    const BenchRow checksum = timeChecksum(scene);

    // A handful of tiles, whose slowest one is what takes time; the set once, a few times, many times.
    std::vector<uint32_t> batches;
    if (device.isGpu() && scene.tilesOf(1) > kFewTiles) batches.push_back(kFewTiles);
    batches.push_back(scene.tilesOf(1));
    if (scene.copies > 4) batches.push_back(scene.tilesOf(4));
    if (scene.copies > 1) batches.push_back(allTiles);
    for (const uint32_t tileCount : batches) {
        scene.setCount(tileCount);
        std::vector<BenchRow> rows;
        for (const Contender& contender : contenders) {
            rows.push_back(timeBatch(scene, tileCount, contender.who, contender.record));
            rows.back().isPeer = contender.isPeer;
        }
        report.addGroup(rows);
    }
    if (drivers.empty()) {
        report.addMissing("gdeflate", "VK_NV/EXT_memory_decompression",
                          device.properties().backend == SLUICE_BACKEND_VULKAN ? "the device does not offer it"
                                                                               : "Vulkan only");
    }
    report.addGroup({checksum});
}

} // namespace sluice
