// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice devices: what is in the machine.
#include <cstdio>
#include <string>
#include <vector>

#include "device.h"

namespace sluice {

int runDevices(bool json, const CommonOptions&)
{
    const std::vector<SluiceDeviceProperties> devices = listDevices();
    if (json) {
        std::printf("[");
        for (const SluiceDeviceProperties& device : devices) {
            std::printf("%s\n {\"device\": \"%s\", \"name\": %s, \"driver\": %s, \"software\": %s, "
                        "\"memory\": %llu, "
                        "\"tiers\": %s}",
                        &device == &devices[0] ? "" : ",", deviceSelector(device).c_str(),
                        jsonText(device.name).c_str(), jsonText(device.driver).c_str(),
                        device.isSoftware != 0 ? "true" : "false", wide(device.memorySize),
                        jsonText(device.tiers).c_str());
        }
        std::printf("\n]\n");
        return exitOk;
    }
    for (const SluiceDeviceProperties& device : devices) {
        std::printf("%-10s %s\n", deviceSelector(device).c_str(), device.name);
        if (device.driver[0] != 0) {
            std::printf("%10s driver: %s\n", "", device.driver);
        }
        std::printf("%10s %s, tiers: %s", "", device.isSoftware != 0 ? "software" : "GPU",
                    device.tiers[0] != 0 ? device.tiers : "none");
        if (device.memorySize != 0) {
            std::printf(", %s of memory", sizeText(device.memorySize).c_str());
        }
        std::printf("\n");
    }
    return exitOk;
}

} // namespace sluice
