// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "bench_peers.h"
#include "bench_rows.h"
#include "files.h"

namespace sluice {
namespace {

// CUB needs CUDA: the device itself, or the CUDA device with the same name as a Vulkan one.
std::unique_ptr<BenchDevice> openCudaTwin(const BenchDevice& device)
{
    if (!cubIsBuiltIn() || device.properties().backend != SLUICE_BACKEND_VULKAN || !device.isGpu()) return nullptr;
    uint32_t count = 0;
    if (sluiceEnumerateDevices(nullptr, &count) != SLUICE_OK) return nullptr;
    std::vector<SluiceDeviceProperties> devices(count);
    if (sluiceEnumerateDevices(devices.data(), &count) != SLUICE_OK) return nullptr;
    devices.resize(std::min<size_t>(devices.size(), count));
    for (const SluiceDeviceProperties& other : devices) {
        if (other.backend == SLUICE_BACKEND_CUDA && std::strcmp(other.name, device.properties().name) == 0) {
            return std::make_unique<BenchDevice>("cuda:" + std::to_string(other.index));
        }
    }
    return nullptr;
}

} // namespace

int runBench(const BenchOptions& options)
{
    const auto wanted = [&options](const char* kernel) {
        return std::string(kernel).find(options.filter) != std::string::npos;
    };
    const bool decode = wanted("gdeflate") || wanted("checksum"), streams = wanted("tile streams");
    bool intervals = false, compacts = false;
    for (const char* kernel : {"compact compare", "compact bytes", "compact calls", "compact sweep", "compact kinds"})
        compacts = compacts || wanted(kernel);
    for (const char* kernel : {"interval move", "interval bytes", "interval hard", "interval sweep", "interval expand",
                               "interval search", "bulk remove", "bulk insert"})
        intervals = intervals || wanted(kernel);
    if (!wanted("copy") && !wanted("scan") && !wanted("scan kinds") && !compacts && !intervals && !decode && !streams && !wanted("float") && !wanted("df11")) {
        throw Failure{exitUsage, "--filter " + options.filter +
                                     ": the kernels are copy, scan, scan kinds, compact compare, bytes, calls, sweep and kinds, interval move, bytes, hard, sweep, "
                                     "expand and search, bulk remove and insert, gdeflate, checksum, tile streams, float, df11"};
    }
    if (!options.json.empty()) checkOverwrite(options.json, options.force); // before minutes of work, not after

    const BenchDevice device(options.device);
    TileSet tiles;
    if (decode || streams) tiles = loadTileSet(options.input, decodeInputLimit(device), options.decodeSpeed);

    BenchReport report(options.verbosity < 0 ? nullptr : options.json == "-" ? stderr : stdout);
    report.printHeader(device, tiles.tiles.empty() ? nullptr : &tiles);
    benchCopy(device, report);
    if (wanted("scan") || wanted("scan kinds") || compacts || intervals) {
        const std::unique_ptr<BenchDevice> twin = openCudaTwin(device);
        const bool isCuda = device.properties().backend == SLUICE_BACKEND_CUDA && cubIsBuiltIn();
        const BenchDevice* cuda = isCuda ? &device : twin.get();
        if (wanted("scan")) benchScan(device, cuda, report);
        if (wanted("scan kinds")) benchScanKinds(device, report);
        if (compacts) benchCompact(device, cuda, wanted, report);
        if (intervals) benchInterval(device, cuda, wanted, report);
    }
    if (decode) benchGdeflate(device, tiles, report);
    if (streams) benchTileStreams(device, tiles, report);
    if (wanted("float")) benchFloat(device, report);
    if (wanted("df11")) benchDf11(device, report);

    if (!options.json.empty()) {
        const std::string text = report.json(device, tiles.description);
        OutputFile file(options.json, options.force);
        file.write(0, text.data(), text.size());
        file.commit();
    }
    return exitOk;
}

} // namespace sluice
