// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice bench`: reads the options, opens the device, and calls the functions of rows.h under a
// budget of time. A "kernel" here is a name such as "scan kinds" under which rows are printed and
// filtered.
#include "tools/bench/bench.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>

#include <sluice/sluice_gstd.h>

#include "tools/bench/budget.h"
#include "tools/bench/peers.h"
#include "tools/bench/rows.h"
#include "tools/bench/stream/stream.h"
#include "tools/common/zstd/zstd_file.h"

namespace sluice {
namespace {

// Our primitives are compared with CUB, which needs CUDA. For a Vulkan device, opens the CUDA
// device of the same name, on which CUB then runs. Returns null if there is none.
std::unique_ptr<BenchDevice> openCudaTwin(const BenchDevice& device)
{
    if (!cubIsBuiltIn() || device.backend() != SLUICE_BACKEND_VULKAN || !device.isGpu())
        return nullptr;
    for (const SluiceDeviceProperties& other : listDevices()) {
        if (other.backend == SLUICE_BACKEND_CUDA &&
            std::strcmp(other.name, device.properties().name) == 0) {
            auto twin = std::make_unique<BenchDevice>(deviceSelector(other));
            if (device.isBrief()) twin->setBrief();
            return twin;
        }
    }
    return nullptr;
}

// Returns whether a kernel is wanted: one of the filters is a part of its name or, after a '=',
// equals it. Without filters every kernel is wanted.
bool isWanted(const std::vector<std::string>& filters, const std::string& kernel)
{
    return filters.empty() ||
           std::any_of(filters.begin(), filters.end(), [&](const std::string& filter) {
               return filter[0] == '=' ? kernel == filter.substr(1)
                                       : kernel.find(filter) != std::string::npos;
           });
}

constexpr uint32_t kGstdKernels = SLUICE_KERNELS_GSTD | SLUICE_KERNELS_FILTER;
constexpr uint32_t kTileKernels =
    kGstdKernels | SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_FLOAT | SLUICE_KERNELS_CHECKSUM;
constexpr struct {
    const char* name;
    uint32_t uses; // set of SluiceKernels that it needs
    // About how many rows and variants the kernel has, by which the budget shares out the time. 0
    // rows: the kernel is measured together with another one, or only if a filter names it.
    uint32_t rows, variants;
} kKernels[] = {{"copy", 0, 0, 1},
                {"scan", SLUICE_KERNELS_SCAN, 6, 1},
                {"scan kinds", SLUICE_KERNELS_SCAN, 35, 10},
                {"reduce", SLUICE_KERNELS_SCAN, 24, 6},
                {"compact compare", SLUICE_KERNELS_COMPACT, 9, 1},
                {"compact bytes", SLUICE_KERNELS_COMPACT, 9, 1},
                {"compact calls", SLUICE_KERNELS_COMPACT, 12, 1},
                {"compact sweep", SLUICE_KERNELS_COMPACT, 25, 5},
                {"compact kinds", SLUICE_KERNELS_COMPACT, 17, 1},
                {"interval move", SLUICE_KERNELS_INTERVAL, 6, 1},
                {"interval bytes", SLUICE_KERNELS_INTERVAL, 5, 1},
                {"interval gather", SLUICE_KERNELS_INTERVAL, 5, 1},
                {"interval scatter", SLUICE_KERNELS_INTERVAL, 5, 1},
                {"interval expand", SLUICE_KERNELS_INTERVAL, 5, 1},
                {"interval search", SLUICE_KERNELS_INTERVAL, 5, 1},
                {"interval kinds", SLUICE_KERNELS_INTERVAL, 17, 1},
                {"interval hard", SLUICE_KERNELS_INTERVAL, 30, 5},
                {"interval sweep", SLUICE_KERNELS_INTERVAL, 30, 5},
                {"bulk remove", SLUICE_KERNELS_INTERVAL, 7, 1},
                {"bulk insert", SLUICE_KERNELS_INTERVAL, 7, 1},
                {"bulk sweep", SLUICE_KERNELS_INTERVAL, 8, 2},
                {"gdeflate", SLUICE_KERNELS_GDEFLATE, 12, 1},
                {"checksum", SLUICE_KERNELS_GDEFLATE, 0, 1},
                {"tile streams", SLUICE_KERNELS_TILE_STREAMS, 6, 1},
                {"cpu decode", 0, 24, 2},
                {"gstd", kGstdKernels, 24, 1},
                {"gstd filters", kGstdKernels, 0, 1},
                {"gstd passes", kGstdKernels, 0, 1},
                {"filter", kGstdKernels, 0, 1},
                // zstd and uastc are measured only if a filter names them: their pipelines are not
                // part of SLUICE_KERNELS_ALL.
                {"zstd", SLUICE_KERNELS_ZSTD, 0, 1},
                {"uastc", SLUICE_KERNELS_UASTC, 0, 1},
                {"fse tables", SLUICE_KERNELS_FSE, 10, 1},
                {"float bf16", SLUICE_KERNELS_FLOAT, 2, 1},
                {"float f16", SLUICE_KERNELS_FLOAT, 2, 1},
                {"float f32", SLUICE_KERNELS_FLOAT, 2, 1},
                {"float e4m3", SLUICE_KERNELS_FLOAT, 2, 1},
                {"float e4m3 dense", SLUICE_KERNELS_FLOAT, 2, 1},
                {"float e5m2", SLUICE_KERNELS_FLOAT, 2, 1},
                {"float huff", SLUICE_KERNELS_FLOAT, 2, 1},
                {"float encode", 0, 40, 1},
                {"df11 bf16", SLUICE_KERNELS_DF11, 2, 1},
                {"df11 ecf8", SLUICE_KERNELS_DF11, 2, 1},
                {"df11 encode", 0, 12, 1},
                {"stream host", 0, 2, 1},
                {"stream read", 0, 0, 1},
                {"stream decode", kTileKernels, 0, 1},
                {"stream bulk", kTileKernels, 0, 1},
                {"stream latency", kTileKernels, 0, 1},
                {"stream batches", kTileKernels, 0, 1},
                {"stream cancel", kTileKernels, 0, 1},
                // Measured only if a filter names it: worst cases do not show whether code became
                // faster.
                {"worst", kGstdKernels | SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_FLOAT, 0, 1}};

// Returns the filters in lower case and in the spelling of kKernels, where DFloat11 has a shorter
// name. "stream" becomes "stream ", so that it does not match "tile streams".
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

// Returns the set of SluiceKernels whose pipelines are needed.
uint32_t kernelsOf(const Wanted& wanted)
{
    uint32_t uses = 0;
    for (const auto& kernel : kKernels)
        uses |= wanted(kernel.name) ? kernel.uses : 0;
    return uses != 0 ? uses : uint32_t(SLUICE_KERNELS_FSE); // 0 would mean all pipelines
}

// Makes the pipelines of the wanted kernels whose names begin with one of these prefixes. The
// caller does so just before it measures these kernels, since compiling takes long if the driver
// has nothing cached. Returns false if no time is left to measure them.
bool makePipelines(const BenchDevice& device, const Wanted& wanted,
                   const std::vector<const char*>& prefixes, BenchReport& report)
{
    if (report.budget().isOver()) return false;
    report.showStep("what drivers compile");
    device.makePipelines(kernelsOf([&](const char* kernel) {
        return wanted(kernel) &&
               std::any_of(prefixes.begin(), prefixes.end(), [&](const char* one) {
                   return std::strncmp(kernel, one, std::strlen(one)) == 0;
               });
    }));
    return true;
}

// Returns true if the CPU's decoders are to be measured: the device is the CPU, or a filter names
// them.
bool wantsCpuDecode(const BenchDevice& device, const Wanted& wanted, bool isFiltered)
{
    return wanted("cpu decode") && (device.backend() == SLUICE_BACKEND_CPU || isFiltered);
}

void expectRows(const BenchDevice& device, const Wanted& wanted, bool isFiltered, Budget& budget)
{
    for (const auto& kernel : kKernels) {
        const bool isCpuDecode = std::strcmp(kernel.name, "cpu decode") == 0;
        if (kernel.rows != 0 &&
            (isCpuDecode ? wantsCpuDecode(device, wanted, isFiltered) : wanted(kernel.name)))
            budget.expect(kernel.name, kernel.rows, kernel.variants);
    }
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

// Returns how many bytes of made-up data can be packed in 1/16 of the time that is left. With
// hasPeers, the encoders of the peers must pack the same data within that time, too.
uint64_t madeUpSize(const BenchDevice& device, const char* codec, bool hasPeers,
                    const Budget& budget)
{
    constexpr uint64_t least = 1u << 20, unit = 256u << 10;
    const uint64_t most = decodeInputLimit(device), trial = least;
    if (!budget.isLimited() || most <= trial) return most;
    const auto start = std::chrono::steady_clock::now();
    loadTileSet("", codecNamed(codec), trial, 0);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const double rate = double(trial) / std::max(taken.count(), 1e-3) / (hasPeers ? 2 : 1);
    const double size = std::min(rate * budget.left() / 16, double(most));
    return std::max(uint64_t(std::max(size, 0.0)) / unit * unit, least);
}

// Measures the tiles of an archive that are Zstandard frames. Returns whether there are any.
bool benchZstdArchive(const BenchDevice& device, const std::string& input, const Wanted& wanted,
                      BenchReport& report)
{
    const TileSet frames = loadZstdTiles(input, decodeInputLimit(device));
    if (frames.tiles.empty()) return false;
    report.beginInput(frames, "zstd");
    if (makePipelines(device, wanted, {"zstd"}, report)) benchZstdTiles(device, frames, report);
    return true;
}

// Measures the decoders for each input in turn. Each decoder takes the inputs that it can read.
// Throws if no decoder can read an input, or if a filter names the float codec or DFloat11 and no
// input has weights. Without filters, those two decode made-up weights.
void benchInputs(const BenchDevice& device, const BenchOptions& options, const Wanted& wanted,
                 BenchReport& report)
{
    const bool decode = wanted("gdeflate") || wanted("checksum"), streams = wanted("tile streams");
    const bool gstd = anyWanted(wanted, "gstd") || wanted("filter");
    const bool zstd = wanted("zstd") && !options.filters.empty();
    const bool cpu = wantsCpuDecode(device, wanted, !options.filters.empty());
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
        if (wanted("zstd") && !input.empty()) {
            const auto file = openInput(input);
            if (ZstdFile::recognises(*file)) {
                if (makePipelines(device, wanted, {"zstd"}, report))
                    benchZstdFile(device, input, report);
                continue;
            }
            if (Container::recognises(*file)) any = benchZstdArchive(device, input, wanted, report);
        }
        const auto load = [&](const char* codec, uint32_t decodeSpeed) {
            report.showStep(std::string("packing for ") + codec);
            const uint64_t limit = input.empty() ? madeUpSize(device, codec, cpu, report.budget())
                                                 : decodeInputLimit(device);
            TileSet tiles = loadTileSet(input, codecNamed(codec), limit, decodeSpeed);
            any = any || !tiles.tiles.empty();
            report.beginInput(tiles, codec);
            return tiles;
        };
        if ((decode || streams || cpu) &&
            makePipelines(device, wanted, {"gdeflate", "checksum", "tile"}, report)) {
            const TileSet tiles = load("gdeflate", options.decodeSpeed);
            if (decode && !tiles.tiles.empty()) benchGdeflate(device, tiles, report);
            if (streams && !tiles.tiles.empty()) benchTileStreams(device, tiles, report);
            if (cpu && !tiles.tiles.empty()) benchCpuDecode(tiles, report);
        }
        std::vector<const char*> prefixes = {"gstd", "filter"};
        if (zstd) prefixes.push_back("zstd");
        if ((gstd || zstd || cpu) && makePipelines(device, wanted, prefixes, report)) {
            const TileSet tiles = load("gstd", 0);
            if (cpu && !tiles.tiles.empty()) benchCpuDecode(tiles, report);
            if (zstd && !tiles.tiles.empty()) benchZstd(device, tiles, report);
            if (gstd && !tiles.tiles.empty()) benchGstd(device, tiles, tilesAtOnce, wanted, report);
            if (input.empty() && !options.filters.empty() && wanted("gstd filters")) {
                const TileSet picture =
                    loadPicture(madeUpSize(device, "gstd", false, report.budget()));
                report.beginInput(picture, "gstd");
                benchGstd(device, picture, tilesAtOnce, wanted, report);
            }
        }
        if (!input.empty() && makePipelines(device, wanted, {"float", "df11"}, report)) {
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
    if (!makePipelines(device, wanted, {"float", "df11"}, report)) return;
    const bool mustFind = !options.inputs.empty() && !options.filters.empty();
    const std::string none = "no input holds what the chosen rows of ";
    if (mustFind && floats && !hadFloats) throw Failure{exitFormat, none + "the float codec take"};
    if (mustFind && df11 && !hadDf11) throw Failure{exitFormat, none + "DFloat11 or ECF8 take"};
    if (floats && !hadFloats) benchFloat(device, wanted, report);
    if (df11 && !hadDf11) benchDf11(device, wanted, report);
}

void benchPrimitives(const BenchDevice& device, const BenchDevice* twin, const Wanted& wanted,
                     BenchReport& report)
{
    const bool isCuda = device.backend() == SLUICE_BACKEND_CUDA && cubIsBuiltIn();
    const BenchDevice* const cuda = isCuda ? &device : twin;
    const bool scans = anyWanted(wanted, "scan") || wanted("reduce");
    const bool intervals = anyWanted(wanted, "interval") || anyWanted(wanted, "bulk");
    if (scans && makePipelines(device, wanted, {"scan", "reduce"}, report))
        benchScan(device, cuda, wanted, report);
    if (anyWanted(wanted, "compact") && makePipelines(device, wanted, {"compact"}, report))
        benchCompact(device, cuda, wanted, report);
    if (intervals && makePipelines(device, wanted, {"interval", "bulk"}, report))
        benchInterval(device, cuda, wanted, report);
    if (wanted("fse tables")) benchFse(device, cuda, report);
}

// Default time limit of a run without filters and inputs. The last row may exceed it a little.
constexpr double kWholeSeconds = 40;
constexpr double kBriefSeconds = 300; // under a shorter limit, less data is used

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
    refuseOwnInput(options.json, options.inputs);
    refuseOwnInput(options.html, options.inputs);
    refuseSameOutputs({options.json, options.html});
    // Open all files first: if one cannot be read or written, the user should know before minutes
    // of work.
    for (const std::string& input : options.inputs)
        if (!input.empty()) openInput(input);
    std::unique_ptr<OutputFile> json, html;
    if (!options.json.empty()) json = std::make_unique<OutputFile>(options.json, options.force);
    if (!options.html.empty()) html = std::make_unique<OutputFile>(options.html, options.force);

    const bool isWhole = filters.empty() && options.inputs.empty();
    const bool isPiped = options.json == "-" || options.html == "-";
    BenchReport report(options.verbosity < 0 ? nullptr
                       : isPiped             ? stderr
                                             : stdout,
                       Budget(options.seconds >= 0 ? options.seconds
                              : isWhole            ? kWholeSeconds
                                                   : 0));
    BenchDevice device(options.device, SLUICE_KERNELS_FSE, options.graphicsQueue, options.tuning);
    if (report.budget().isLimited() && report.budget().seconds() < kBriefSeconds) device.setBrief();
    // The twin's CUDA context also keeps the GPU's clocks high while Vulkan is measured. Without
    // it, an H200 (driver 580) falls from 1,980 to 345 MHz whenever it idles, for example while the
    // CPU checks a result; the next measurement then took two to four times too long.
    const std::unique_ptr<BenchDevice> twin = openCudaTwin(device);
    expectRows(device, wanted, !options.inputs.empty(), report.budget());
    report.printHeader(device);
    benchCopy(device, report);
    if (anyButStreams(wanted)) benchInputs(device, options, wanted, report);
    benchPrimitives(device, twin.get(), wanted, report);
    if (!filters.empty() && wanted("uastc") && makePipelines(device, wanted, {"uastc"}, report))
        benchUastc(device, report);
    // Budget::expect() announces no rows of "worst" and "stream", so time is not divided among
    // them: hasTime() is asked only once, before the first row.
    if (!filters.empty() && wanted("worst") && report.hasTime("worst", "") &&
        makePipelines(device, wanted, {"worst"}, report))
        benchWorst(device, report);
    if (anyWanted(wanted, "stream ") && report.hasTime("stream", "") &&
        (filters.empty() || makePipelines(device, wanted, {"stream "}, report)))
        benchStream(device, options, wanted, report);
    report.printCuts();

    const auto finish = [](const std::unique_ptr<OutputFile>& file, const std::string& text) {
        file->write(0, text.data(), text.size());
        file->commit();
    };
    if (json) finish(json, benchJson(report.figures(device)));
    if (html) finish(html, benchPage(report.figures(device)));
    return exitOk;
}

} // namespace sluice
