// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice devices`: lists the devices of the machine.
#include <cstdio>
#include <string>
#include <vector>

#include "tools/common/device.h"
#include "tools/common/machine.h"

namespace sluice {
namespace {

void printJson(const std::vector<SluiceDeviceProperties>& devices, bool asksDrivers)
{
    std::printf("%s  \"devices\": [", machineJson(asksDrivers).c_str());
    const char* separator = "\n    {\n";
    for (const SluiceDeviceProperties& device : devices) {
        std::printf("%s%s\n    }", separator, deviceMembers(device, "      ").c_str());
        separator = ",\n    {\n";
    }
    std::printf("\n  ]\n}\n");
}

void print(const SluiceDeviceProperties& device)
{
    std::printf("%-10s %s\n", deviceSelector(device).c_str(), device.name);
    if (device.driver[0] != 0)
        std::printf("%10s driver: %s, %s\n", "", device.driver, apiText(device).c_str());
    std::printf("%10s %s, tiers: %s", "", device.isSoftware != 0 ? "software" : "GPU",
                device.tiers[0] != 0 ? device.tiers : "none");
    if (device.memorySize != 0) std::printf(", %s of memory", sizeText(device.memorySize).c_str());
    std::printf("\n");
    for (const MissingTier& one : missingTiers(device))
        std::printf("%10s not %s: %s\n%10s   so %s\n", "", one.tier.c_str(), one.why.c_str(), "",
                    one.costs);
}

} // namespace

int runDevices(const std::string& wanted, bool json, const CommonOptions& common)
{
    std::vector<SluiceDeviceProperties> devices =
        wanted.empty() ? listDevices() : matchDevices(wanted, "");
    if (!wanted.empty()) devices.resize(1);
    const bool asksDrivers = wanted != "cpu";
    if (json) {
        printJson(devices, asksDrivers);
        return exitOk;
    }
    if (common.verbosity > 0) {
        for (const MachineMember& member : machineMembers(asksDrivers))
            std::printf("%-10s %s\n", member.name.c_str(), member.value.c_str());
    }
    for (const SluiceDeviceProperties& device : devices)
        print(device);
    return exitOk;
}

} // namespace sluice
