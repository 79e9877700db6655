// SPDX-License-Identifier: MIT OR Apache-2.0
// The GDeflate rows: our decoder and the driver's decode the same tiles. Another row is about the
// checksum of what they decoded.
#include <sluice/sluice_gdeflate.h>

#include "tools/bench/rows.h"
#include "tools/bench/scene.h"

namespace sluice {
namespace {

constexpr uint32_t kFewTiles = 64;

using RecordBatch =
    std::function<void(SluiceCommands commands, uint32_t first, uint32_t tileCount)>;

struct Contender {
    std::string who;
    bool isPeer;
    RecordBatch record;
};

SluiceGdeflateInfo infoOf(const Scene& scene, uint32_t first, uint32_t tileCount)
{
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = tileCount;
    info.regionStride = Scene::kStride;
    info.regions = scene.regionsFrom(first, tileCount);
    info.regionCount = scene.count.whole();
    info.source = scene.source.whole();
    info.destination = scene.destination.whole();
    info.status = scene.status.whole();
    return info;
}

RecordBatch recordOurs(const Scene& scene, const DeviceBuffer& scratch)
{
    return [&](SluiceCommands commands, uint32_t first, uint32_t tileCount) {
        SluiceGdeflateInfo info = infoOf(scene, first, tileCount);
        info.scratch = scratch.whole();
        require(sluiceCmdGdeflate(scene.device.context(), commands, &info), "gdeflate");
    };
}

RecordBatch recordDriver(const Scene& scene, const DriverPeer& decoder)
{
    return [&](SluiceCommands commands, uint32_t first, uint32_t tileCount) {
        const uint64_t list = scene.device.address(scene.regionsFrom(first, tileCount));
        decoder.record(commands, list, scene.count.address(), tileCount);
    };
}

BenchRow timeChecksum(const Scene& scene)
{
    const auto record = [&](SluiceCommands commands, uint32_t) {
        SluiceChecksumInfo info = {};
        info.maxRegionCount = scene.allTiles();
        info.regionStride = Scene::kStride;
        info.regions = scene.regions.whole();
        info.destination = scene.destination.whole();
        info.expected = scene.expected.whole();
        info.status = scene.status.whole();
        require(sluiceCmdChecksum(scene.device.context(), commands, &info), "checksum");
    };
    scene.device.runOnce(record);
    scene.checkStatus("sluice checksum");
    return scene.time("checksum", "sluice", scene.allTiles(), record);
}

} // namespace

uint64_t decodeInputLimit(const BenchDevice& device)
{
    if (device.isGpu()) return 256u << 20;
    return device.backend() == SLUICE_BACKEND_CPU ? 32u << 20 : 2u << 20;
}

void benchGdeflate(const BenchDevice& device, const TileSet& tiles, BenchReport& report)
{
    const Scene scene(device, tiles);
    const DeviceBuffer scratch =
        device.allocateScratch(sluiceGetGdeflateRequirements, infoOf(scene, 0, scene.allTiles()));
    std::vector<Contender> contenders = {{"sluice", false, recordOurs(scene, scratch)}};
    const std::vector<DriverPeer> drivers = makeDriverDecoders(device, scene.allTiles());
    for (const DriverPeer& driver : drivers)
        contenders.push_back({driver.name, true, recordDriver(scene, driver)});

    // Each decoder decodes all tiles once, into memory with a pattern. Our decoder is the last,
    // because the checksum row works on its output.
    scene.setCount(scene.allTiles());
    for (size_t i = contenders.size(); i-- != 0;) {
        scene.poison();
        device.runOnce([&](SluiceCommands commands, uint32_t) {
            contenders[i].record(commands, 0, scene.allTiles());
        });
        if (!contenders[i].isPeer) scene.checkStatus(contenders[i].who + " gdeflate");
        scene.checkOutput(contenders[i].who + " gdeflate");
    }
    const BenchRow checksum = timeChecksum(scene);

    for (const uint32_t tileCount : report.budget().ordered(scene.batches(kFewTiles))) {
        if (!report.hasTime("gdeflate", sizeText(scene.bytesOf(tileCount)))) continue;
        scene.setCount(tileCount);
        std::vector<BenchRow> rows;
        for (const Contender& contender : contenders) {
            rows.push_back(scene.time("gdeflate", contender.who, tileCount,
                                      [&](SluiceCommands commands, uint32_t first) {
                                          contender.record(commands, first, tileCount);
                                      }));
            rows.back().isPeer = contender.isPeer;
        }
        report.addGroup(rows);
    }
    if (drivers.empty()) {
        report.addMissing("gdeflate", "VK_NV/EXT_memory_decompression",
                          device.backend() == SLUICE_BACKEND_VULKAN ? "the device does not offer it"
                                                                    : "Vulkan only");
    }
    report.addGroup({checksum});
}

} // namespace sluice
