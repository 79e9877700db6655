// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

#include "bench_peers.h"
#include "bench_rows.h"

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

void writeFile(const std::string& path, const std::string& text)
{
    std::FILE* file = std::fopen(path.c_str(), "wb");
    bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (file != nullptr && std::fclose(file) != 0) written = false;
    if (!written) throw BenchFailure{kExitIo, path + ": cannot be written"};
}

void runRows(const BenchOptions& options)
{
    const auto wanted = [&options](const char* kernel) {
        return std::string(kernel).find(options.filter) != std::string::npos;
    };
    if (!wanted("copy") && !wanted("scan") && !wanted("compact") && !wanted("gdeflate")) {
        throw BenchFailure{kExitUsage, "--filter " + options.filter + ": no kernel of that name (copy, scan, compact, gdeflate)"};
    }

    const BenchDevice device(options.device);
    TileSet tiles;
    if (wanted("gdeflate")) tiles = loadTileSet(options.input, decodeInputLimit(device));

    std::FILE* table = options.json == "-" ? stderr : stdout;
    BenchReport report(table);
    report.printHeader(device, tiles.tiles.empty() ? nullptr : &tiles);
    benchCopy(device, report);
    if (wanted("scan") || wanted("compact")) {
        const std::unique_ptr<BenchDevice> twin = openCudaTwin(device);
        const bool isCuda = device.properties().backend == SLUICE_BACKEND_CUDA && cubIsBuiltIn();
        const BenchDevice* cuda = isCuda ? &device : twin.get();
        if (wanted("scan")) benchScan(device, cuda, report);
        if (wanted("compact")) benchCompact(device, cuda, report);
    }
    if (wanted("gdeflate")) benchGdeflate(device, tiles, report);

    if (options.json == "-") {
        std::fputs(report.json(device, tiles.description).c_str(), stdout);
    } else if (!options.json.empty()) {
        writeFile(options.json, report.json(device, tiles.description));
    }
}

} // namespace

int runBench(const BenchOptions& options)
{
    try {
        runRows(options);
        return 0;
    } catch (const BenchFailure& failure) {
        std::fprintf(stderr, "sluice bench: %s\n", failure.text.c_str());
        return failure.exitCode;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sluice bench: %s\n", error.what());
        return kExitDevice;
    }
}

} // namespace sluice
