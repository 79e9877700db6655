// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice selftest: golden vectors of GDeflate, and made-up data through all other kernels, on every
// tier of a device.
#include <algorithm>
#include <cstdio>
#include <sstream>

#include "selftest.h"

namespace sluice {
namespace {

constexpr struct {
    const char* name;
    bool (*test)(const ToolDevice& device);
} kKernels[] = {{"scan", testScan},         {"compact", testCompact},
                {"reduce", testReduce},     {"intervals", testIntervals},
                {"bulk", testBulk},         {"gdeflate", testGdeflate},
                {"checksum", testChecksum}, {"tile_streams", testTileStreams},
                {"gstd", testGstd},         {"filter", testFilter},
                {"float", testFloat},       {"fse_tables", testFseTables},
                {"df11", testDf11}};

struct TierResult {
    std::string device, name, tier;
    std::string notRun; // why, if it was not run
    std::vector<std::pair<const char*, bool>> kernels;

    bool passed() const
    {
        return notRun.empty() && std::all_of(kernels.begin(), kernels.end(),
                                             [](const auto& kernel) { return kernel.second; });
    }
};

TierResult testTier(const SluiceDeviceProperties& properties, const std::string& tier,
                    const CommonOptions& common)
{
    TierResult result = {deviceSelector(properties), properties.name, tier, {}, {}};
    try {
        const ToolDevice device({result.device, tier}, common);
        for (const auto& kernel : kKernels)
            result.kernels.emplace_back(kernel.name, kernel.test(device));
    } catch (const Failure& failure) { // a lost device, say; the others are still worth a try
        if (failure.code == exitUsage) throw;
        result.notRun = failure.text;
        result.kernels.clear();
    }
    return result;
}

void print(const TierResult& result)
{
    std::printf("%-10s %-7s", result.device.c_str(), result.tier.c_str());
    for (const auto& [kernel, ok] : result.kernels) {
        std::printf(" %s %s ", kernel, ok ? "ok" : "FAILED");
    }
    std::printf("%s %s\n", result.notRun.empty() ? "" : (" not run: " + result.notRun).c_str(),
                result.name.c_str());
    std::fflush(stdout);
}

void printJson(const std::vector<TierResult>& results)
{
    std::printf("[");
    for (const TierResult& result : results) {
        std::printf("%s\n {\"device\": \"%s\", \"name\": %s, \"tier\": \"%s\"",
                    &result == &results[0] ? "" : ",", result.device.c_str(),
                    jsonText(result.name).c_str(), result.tier.c_str());
        if (!result.notRun.empty()) {
            std::printf(", \"notRun\": %s", jsonText(result.notRun).c_str());
        }
        for (const auto& [kernel, ok] : result.kernels) {
            std::printf(", \"%s\": %s", kernel, ok ? "true" : "false");
        }
        std::printf("}");
    }
    std::printf("\n]\n");
}

} // namespace

int runSelftest(const DeviceOptions& options, bool json, const CommonOptions& common)
{
    const bool all = options.device == "all";
    std::vector<SluiceDeviceProperties> devices =
        all ? listDevices() : matchDevices(options.device, "");
    if (!all) {
        devices.resize(1);
    }
    std::vector<TierResult> results;
    const auto add = [&](const TierResult& result) {
        results.push_back(result);
        if (!json && !common.quiet) print(result);
    };
    for (const SluiceDeviceProperties& properties : devices) {
        const size_t first = results.size();
        std::istringstream tiers(properties.tiers);
        for (std::string tier; tiers >> tier;)
            add(testTier(properties, tier, common));
        if (results.size() != first) continue;
        add({deviceSelector(properties),
             properties.name,
             "none",
             "the device can run no tier",
             {}});
        if (!all) return exitUnsupported;
    }
    if (json) {
        printJson(results);
    }
    const bool passed = std::all_of(results.begin(), results.end(), [](const TierResult& result) {
        return result.tier == "none" || result.passed();
    });
    return passed ? exitOk : exitDevice;
}

} // namespace sluice
