// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>

#include <sluice/sluice_gstd.h>

#include "peers.h"
#include "rows.h"
#include "stream.h"
#include "tools/sluice/files.h"

namespace sluice {
namespace {

// CUB needs CUDA: this opens the CUDA device that has the same name as a Vulkan one.
std::unique_ptr<BenchDevice> openCudaTwin(const BenchDevice& device)
{
    if (!cubIsBuiltIn() || device.backend() != SLUICE_BACKEND_VULKAN || !device.isGpu())
        return nullptr;
    for (const SluiceDeviceProperties& other : listDevices()) {
        if (other.backend == SLUICE_BACKEND_CUDA &&
            std::strcmp(other.name, device.properties().name) == 0) {
            return std::make_unique<BenchDevice>(deviceSelector(other));
        }
    }
    return nullptr;
}

// Does the name contain one of the filters? Without filters all are wanted.
bool isWanted(const std::vector<std::string>& filters, const std::string& kernel)
{
    return filters.empty() ||
           std::any_of(filters.begin(), filters.end(), [&](const std::string& filter) {
               return kernel.find(filter) != std::string::npos;
           });
}

constexpr uint32_t kGstdKernels = SLUICE_KERNELS_GSTD | SLUICE_KERNELS_FILTER;
constexpr uint32_t kTileKernels =
    kGstdKernels | SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_FLOAT | SLUICE_KERNELS_CHECKSUM;
constexpr struct {
    const char* name;
    uint32_t uses; // SluiceKernels
} kKernels[] = {{"copy", 0},
                {"scan", SLUICE_KERNELS_SCAN},
                {"scan kinds", SLUICE_KERNELS_SCAN},
                {"reduce", SLUICE_KERNELS_SCAN},
                {"compact compare", SLUICE_KERNELS_COMPACT},
                {"compact bytes", SLUICE_KERNELS_COMPACT},
                {"compact calls", SLUICE_KERNELS_COMPACT},
                {"compact sweep", SLUICE_KERNELS_COMPACT},
                {"compact kinds", SLUICE_KERNELS_COMPACT},
                {"interval move", SLUICE_KERNELS_INTERVAL},
                {"interval bytes", SLUICE_KERNELS_INTERVAL},
                {"interval gather", SLUICE_KERNELS_INTERVAL},
                {"interval scatter", SLUICE_KERNELS_INTERVAL},
                {"interval expand", SLUICE_KERNELS_INTERVAL},
                {"interval search", SLUICE_KERNELS_INTERVAL},
                {"interval kinds", SLUICE_KERNELS_INTERVAL},
                {"interval hard", SLUICE_KERNELS_INTERVAL},
                {"interval sweep", SLUICE_KERNELS_INTERVAL},
                {"bulk remove", SLUICE_KERNELS_INTERVAL},
                {"bulk insert", SLUICE_KERNELS_INTERVAL},
                {"bulk sweep", SLUICE_KERNELS_INTERVAL},
                {"gdeflate", SLUICE_KERNELS_GDEFLATE},
                {"checksum", SLUICE_KERNELS_GDEFLATE},
                {"tile streams", SLUICE_KERNELS_TILE_STREAMS},
                {"cpu decode", 0},
                {"gstd", kGstdKernels},
                {"gstd filters", kGstdKernels},
                {"gstd passes", kGstdKernels},
                {"filter", kGstdKernels},
                {"fse tables", SLUICE_KERNELS_FSE},
                {"float bf16", SLUICE_KERNELS_FLOAT},
                {"float f16", SLUICE_KERNELS_FLOAT},
                {"float f32", SLUICE_KERNELS_FLOAT},
                {"float e4m3", SLUICE_KERNELS_FLOAT},
                {"float e4m3 dense", SLUICE_KERNELS_FLOAT},
                {"float e5m2", SLUICE_KERNELS_FLOAT},
                {"float huff", SLUICE_KERNELS_FLOAT},
                {"float encode", 0},
                {"df11 bf16", SLUICE_KERNELS_DF11},
                {"df11 ecf8", SLUICE_KERNELS_DF11},
                {"df11 encode", 0},
                {"stream host", 0},
                {"stream read", 0},
                {"stream decode", kTileKernels},
                {"stream bulk", kTileKernels},
                {"stream latency", kTileKernels},
                {"stream batches", kTileKernels},
                {"stream cancel", kTileKernels},
                // Only if a filter names it: nothing that a change of speed shows in.
                {"worst", kGstdKernels | SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_FLOAT}};

// Filters in the case of the names above. DFloat11 has a shorter one there, and "tile streams" are
// not meant by "stream".
std::vector<std::string> plainFilters(std::vector<std::string> filters)
{
    for (std::string& filter : filters) {
        std::transform(filter.begin(), filter.end(), filter.begin(),
                       [](unsigned char c) { return char(std::tolower(c)); });
        if (filter == "dfloat11") filter = "df11 bf16";
        if (filter == "stream") filter = "stream ";
    }
    return filters;
}

bool anyWanted(const Wanted& wanted, const char* prefix)
{
    return std::any_of(std::begin(kKernels), std::end(kKernels), [&](const auto& kernel) {
        return std::strncmp(kernel.name, prefix, std::strlen(prefix)) == 0 && wanted(kernel.name);
    });
}

bool anyButStreams(const Wanted& wanted)
{
    return std::any_of(std::begin(kKernels), std::end(kKernels), [&](const auto& kernel) {
        return std::strncmp(kernel.name, "stream ", 7) != 0 && wanted(kernel.name);
    });
}

// The SluiceKernels to make pipelines for: all of them take a quarter of a minute where no driver's
// cache has them.
uint32_t kernelsOf(const Wanted& wanted)
{
    uint32_t uses = 0;
    for (const auto& kernel : kKernels)
        uses |= wanted(kernel.name) ? kernel.uses : 0;
    return uses != 0 ? uses : uint32_t(SLUICE_KERNELS_FSE); // 0 would be all
}

void checkFilters(const std::vector<std::string>& filters)
{
    for (const std::string& filter : filters) {
        if (std::none_of(std::begin(kKernels), std::end(kKernels),
                         [&](const auto& kernel) { return isWanted({filter}, kernel.name); }))
            throw Failure{exitUsage, "--filter " + filter +
                                         ": no kernel's name contains that; they are " +
                                         benchKernels()};
    }
}

// The rows of decoders, input by input: each takes what it can. Every input must be of use, and if
// they were asked for by a filter, so must the float codec and DFloat11 each find one; without
// filters they fall back to made-up weights.
void benchInputs(const BenchDevice& device, const BenchOptions& options, const Wanted& wanted,
                 BenchReport& report)
{
    const bool decode = wanted("gdeflate") || wanted("checksum"), streams = wanted("tile streams");
    const bool gstd = anyWanted(wanted, "gstd") || wanted("filter");
    // Rows of the CPU stand among those of the CPU, or where they were asked for.
    const bool cpu = wanted("cpu decode") &&
                     (device.backend() == SLUICE_BACKEND_CPU || !options.filters.empty());
    const bool floats = anyWanted(wanted, "float"), df11 = anyWanted(wanted, "df11");
    bool hadFloats = false, hadDf11 = false;
    Words tilesAtOnce = options.tilesAtOnce;
    if (tilesAtOnce.empty()) tilesAtOnce = {SLUICE_GSTD_SLOTS};
    if (options.tilesAtOnce.empty() && device.isGpu())
        tilesAtOnce = {SLUICE_GSTD_SLOTS, 2048, 4096};
    const std::vector<std::string> inputs =
        options.inputs.empty() ? std::vector<std::string>{""} : options.inputs;
    for (const std::string& input : inputs) {
        bool any = false;
        const auto load = [&](const char* codec, uint32_t decodeSpeed) {
            TileSet tiles =
                loadTileSet(input, codecNamed(codec), decodeInputLimit(device), decodeSpeed);
            any = any || !tiles.tiles.empty();
            report.beginInput(tiles, codec);
            return tiles;
        };
        if (decode || streams || cpu) {
            const TileSet tiles = load("gdeflate", options.decodeSpeed);
            if (decode && !tiles.tiles.empty()) benchGdeflate(device, tiles, report);
            if (streams && !tiles.tiles.empty()) benchTileStreams(device, tiles, report);
            if (cpu && !tiles.tiles.empty()) benchCpuDecode(tiles, report);
        }
        if (gstd || cpu) {
            const TileSet tiles = load("gstd", 0);
            if (cpu && !tiles.tiles.empty()) benchCpuDecode(tiles, report);
            if (gstd && !tiles.tiles.empty()) benchGstd(device, tiles, tilesAtOnce, wanted, report);
        }
        if (!input.empty()) {
            const bool isFloats = floats && benchFloatFile(device, input, wanted, report);
            const bool isDf11 = df11 && benchDf11File(device, input, wanted, report);
            any = any || isFloats || isDf11;
            hadFloats = hadFloats || isFloats;
            hadDf11 = hadDf11 || isDf11;
            if (!any)
                throw Failure{exitFormat, input + ": holds nothing that the chosen kernels take"};
        }
    }
    report.endInputs();
    const bool mustFind = !options.inputs.empty() && !options.filters.empty();
    const std::string none = "no input holds what the chosen rows of ";
    if (mustFind && floats && !hadFloats) throw Failure{exitFormat, none + "the float codec take"};
    if (mustFind && df11 && !hadDf11) throw Failure{exitFormat, none + "DFloat11 or ECF8 take"};
    if (floats && !hadFloats) benchFloat(device, wanted, report);
    if (df11 && !hadDf11) benchDf11(device, wanted, report);
}

} // namespace

std::string benchKernels()
{
    std::string names;
    for (const auto& kernel : kKernels)
        names += std::string(names.empty() ? "" : ", ") + kernel.name;
    return names;
}

int runBench(const BenchOptions& options)
{
    const std::vector<std::string> filters = plainFilters(options.filters);
    const Wanted wanted = [&](const char* kernel) { return isWanted(filters, kernel); };
    checkFilters(filters);
    // This is better said before minutes of work than after.
    if (!options.json.empty()) checkOverwrite(options.json, options.force);

    const BenchDevice device(options.device, kernelsOf(wanted), options.graphicsQueue,
                             options.tuning);
    // It also keeps the GPU's clocks up: without a CUDA context an H200 (driver 580) falls from
    // 1,980 to 345 MHz whenever it idles, as while the CPU checks a result, and what ran next was
    // measured two to four times too slow.
    const std::unique_ptr<BenchDevice> twin = openCudaTwin(device);
    BenchReport report(options.verbosity < 0 ? nullptr : options.json == "-" ? stderr : stdout);
    report.printHeader(device);
    benchCopy(device, report);
    const bool compacts = anyWanted(wanted, "compact");
    const bool intervals = anyWanted(wanted, "interval") || anyWanted(wanted, "bulk");
    const bool scans = anyWanted(wanted, "scan") || wanted("reduce");
    if (scans || compacts || intervals || wanted("fse tables")) {
        const bool isCuda = device.backend() == SLUICE_BACKEND_CUDA && cubIsBuiltIn();
        const BenchDevice* cuda = isCuda ? &device : twin.get();
        if (scans) benchScan(device, cuda, wanted, report);
        if (compacts) benchCompact(device, cuda, wanted, report);
        if (intervals) benchInterval(device, cuda, wanted, report);
        if (wanted("fse tables")) benchFse(device, cuda, report);
    }
    if (!filters.empty() && wanted("worst")) benchWorst(device, report);
    benchStream(device, options, wanted, report);
    if (anyButStreams(wanted)) benchInputs(device, options, wanted, report);

    if (!options.json.empty()) {
        const std::string text = report.json(device);
        OutputFile file(options.json, options.force);
        file.write(0, text.data(), text.size());
        file.commit();
    }
    return exitOk;
}

} // namespace sluice
