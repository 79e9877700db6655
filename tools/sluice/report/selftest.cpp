// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice selftest`: runs the cases of src/selftest and decodes known files, on every tier of a
// device.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>

#include "tools/common/decoder.h"
#include "texts/golden_vectors.h" // made from tests/data
#include "tools/common/machine.h"
#include "tools/common/progress.h"
#include "selftest/cases.h"

namespace sluice {
namespace {

using selftest::SelfTestCases;
using selftest::SelfTestRow;

// A file of tests/data, and the checksum (sluiceTileChecksum) of all that it decodes to.
struct GoldenVector {
    const char* kernel;
    Bytes file;
    uint32_t checksum;
};

template <size_t Size>
GoldenVector golden(const char* kernel, const uint8_t (&bytes)[Size], uint32_t checksum)
{
    return {kernel, Bytes(bytes, bytes + Size), checksum};
}

std::vector<GoldenVector> goldenVectors()
{
    return {golden("gdeflate", kGolden_one_byte_bin_l12_gdeflate, 0x29ec80fb),
            golden("gdeflate", kGolden_zeros_one_tile_bin_l12_gdeflate, 0x3c1eb7e4),
            golden("gdeflate", kGolden_runs_bin_l12_gdeflate, 0x6a528ee8),
            golden("gdeflate", kGolden_noise_bin_l0_gdeflate, 0xc346d010),
            golden("gdeflate", kGolden_tile_plus_one_bin_l12_gdeflate, 0xb2370422),
            golden("gstd", kGolden_gstd_plain_l6_d4_sluice, 0xf0f61b9b),
            golden("filter", kGolden_gstd_filters_forced_sluice, 0x9c295107)};
}

struct KernelResult {
    const char* kernel;
    bool passed;
};

class TierTest {
public:
    TierTest(const SluiceDeviceProperties& tested, std::string testedTier)
        : properties(tested), device(deviceSelector(tested)), tier(std::move(testedTier))
    {
    }

    // Runs all tests on this tier. The progress line shows which test is running.
    void run(SelfTestCases& cases, const CommonOptions& common, StatusLine& line);
    bool passed() const
    {
        return notRun.empty() && std::all_of(kernels.begin(), kernels.end(),
                                             [](const KernelResult& one) { return one.passed; });
    }
    void print() const;
    void printJson() const;

    const SluiceDeviceProperties properties;
    std::string device, tier;
    std::string notRun; // why the tier did not run; empty: it ran
    std::vector<KernelResult> kernels;
    std::vector<std::string> differences;

private:
    void add(const char* kernel, const std::string& difference);
};

// Adds a result. `difference` says what is wrong; empty if nothing is.
void TierTest::add(const char* kernel, const std::string& difference)
{
    const bool passed = difference.empty();
    if (!passed) differences.push_back(kernel + (": " + difference));
    if (!passed)
        printMessage("%s %s: %s: %s\n", device.c_str(), tier.c_str(), kernel, difference.c_str());
    const auto known = std::find_if(kernels.begin(), kernels.end(), [&](const KernelResult& one) {
        return one.kernel == std::string(kernel);
    });
    if (known == kernels.end())
        kernels.push_back({kernel, passed});
    else
        known->passed = known->passed && passed;
}

std::string checksumDifference(uint32_t checksum, uint32_t wanted)
{
    return checksum == wanted ? ""
                              : formatText("the results' checksum is 0x%08x, and 0x%08x was noted",
                                           checksum, wanted);
}

std::string caseDifference(SelfTestCases& cases, const SelfTestRow& test, const ToolDevice& device)
{
    std::string difference;
    SluiceContextInfo info = {};
    device.check(sluiceGetContextInfo(device.context(), &info), test.kernel);
    if (info.tier != std::string("ref")) {
        const SluiceStatus status = cases.compare(test.which, device.handle(), difference);
        if (status != SLUICE_ERROR_UNSUPPORTED) device.check(status, test.kernel);
    } else if (test.checksum != 0) { // the reference, against which others are compared
        Words words;
        device.check(cases.run(test.which, device.handle(), words), test.kernel);
        difference =
            checksumDifference(sluiceTileChecksum(words.data(), words.size() * 4), test.checksum);
    }
    return difference;
}

std::string goldenDifference(const GoldenVector& vector, const ToolDevice& device)
{
    const Container container(std::make_unique<InputFile>("golden vector", vector.file));
    Bytes content;
    uint32_t failed = 0;
    Decoder decoder(device, [&](const DecodeTile& tile, uint32_t status, const uint8_t* bytes) {
        failed += status != SLUICE_TILE_OK && status != SLUICE_TILE_UNVERIFIED ? 1 : 0;
        content.insert(content.end(), bytes, bytes + tile.tile.size);
    });
    for (uint32_t asset = 0; asset < container.assetCount(); ++asset) {
        container.forEachTile(asset, [&](uint32_t number, const ContainerTile& tile) {
            container.file().read(tile.offset,
                                  decoder.add({tile, container.isArchive(), asset, number}),
                                  tile.storedSize);
        });
    }
    decoder.flush();
    return failed != 0 ? "tiles of a golden vector do not decode"
                       : checksumDifference(sluiceTileChecksum(content.data(), content.size()),
                                            vector.checksum);
}

void TierTest::run(SelfTestCases& cases, const CommonOptions& common, StatusLine& line)
{
    const std::vector<GoldenVector> vectors = goldenVectors();
    const size_t count = std::size(selftest::kSelfTests) + vectors.size();
    size_t number = 0;
    const auto tell = [&](const char* kernel) {
        line.show(formatText("testing %s %s: %s, %zu of %zu", device.c_str(), tier.c_str(), kernel,
                             ++number, count));
    };
    try {
        line.show("opening " + device + " " + tier);
        const ToolDevice opened({device, tier}, common,
                                uint32_t(SLUICE_KERNELS_ALL) | SLUICE_KERNELS_ZSTD |
                                    SLUICE_KERNELS_UASTC);
        for (const SelfTestRow& test : selftest::kSelfTests) {
            tell(test.kernel);
            add(test.kernel, caseDifference(cases, test, opened));
        }
        for (const GoldenVector& vector : vectors) {
            tell(vector.kernel);
            add(vector.kernel, goldenDifference(vector, opened));
        }
        // A failure may be a lost device. Other tiers and devices are still worth a try.
    } catch (const Failure& failure) {
        if (failure.code == exitUsage) throw;
        notRun = failure.text;
        kernels.clear();
    }
    line.clear();
}

void TierTest::print() const
{
    std::printf("%-10s %-7s", device.c_str(), tier.c_str());
    for (const KernelResult& one : kernels) {
        std::printf(" %s %s ", one.kernel, one.passed ? "ok" : "FAILED");
    }
    std::printf("%s %s\n", notRun.empty() ? "" : (" not run: " + notRun).c_str(), properties.name);
    std::fflush(stdout);
}

void TierTest::printJson() const
{
    std::printf("    {\n%s,\n      \"tier\": %s,\n      \"passed\": %s,\n",
                deviceMembers(properties, "      ").c_str(), jsonText(tier).c_str(),
                passed() ? "true" : "false");
    if (!notRun.empty()) std::printf("      \"notRun\": %s,\n", jsonText(notRun).c_str());
    std::printf("      \"kernels\": {");
    for (const KernelResult& one : kernels)
        std::printf("%s\n        \"%s\": %s", &one == &kernels[0] ? "" : ",", one.kernel,
                    one.passed ? "true" : "false");
    std::printf("}");
    for (const std::string& one : differences)
        std::printf("%s\n        %s", &one == &differences[0] ? ",\n      \"differences\": [" : ",",
                    jsonText(one).c_str());
    std::printf("%s\n    }", differences.empty() ? "" : "]");
}

} // namespace

int runSelftest(const DeviceOptions& options, bool json, const CommonOptions& common)
{
    const bool all = options.device == "all";
    checkTierName(options.tier);
    std::vector<SluiceDeviceProperties> devices =
        all ? listDevices() : matchDevices(options.device, options.tier);
    if (!all) {
        devices.resize(1);
    }
    if (!options.tier.empty() && std::none_of(devices.begin(), devices.end(), [&](const auto& one) {
            return runsTier(one, options.tier);
        }))
        throw Failure{exitUnsupported,
                      "--tier " + options.tier + ": " +
                          (all ? "no device runs it"
                               : deviceSelector(devices[0]) + " runs " + devices[0].tiers)};
    const bool printsLines = !json && !common.quiet;
    if (printsLines) {
        printMessage("comparing results with the CPU reference's, its own with noted checksums, "
                     "and golden vectors of gdeflate, gstd and filter\n");
    }
    if (json) std::printf("%s  \"results\": [", machineJson(options.device != "cpu").c_str());
    SelfTestCases cases;
    StatusLine line(common.quiet);
    bool passed = true, printed = false;
    int absent = exitOk;
    const auto print = [&](const TierTest& test) {
        if (json) {
            std::printf(printed ? ",\n" : "\n");
            printed = true;
            test.printJson();
        } else if (printsLines) {
            test.print();
        }
    };
    for (const SluiceDeviceProperties& properties : devices) {
        std::istringstream tiers(properties.tiers);
        bool any = false;
        for (std::string tier; tiers >> tier; any = true) {
            if (!options.tier.empty() && tier != options.tier) continue;
            TierTest test(properties, tier);
            test.run(cases, common, line);
            print(test);
            passed = passed && test.passed();
        }
        if (any) continue;
        TierTest none(properties, "none");
        none.notRun = "the device can run no tier";
        print(none);
        absent = all ? exitOk : exitUnsupported;
    }
    if (json)
        std::printf("\n  ],\n  \"passed\": %s\n}\n", passed && absent == exitOk ? "true" : "false");
    return passed ? absent : exitDevice;
}

} // namespace sluice
