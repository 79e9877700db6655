// SPDX-License-Identifier: MIT OR Apache-2.0
// Gathers what a report of a problem needs to say of the machine, the build and the devices.
#pragma once

#include <string>
#include <vector>

#include <sluice/sluice_device.h>

namespace sluice {

struct MachineMember {
    std::string name, value;
    bool isNumber = false;
};
// "sluice", "os" and so on. asksDrivers: whether Vulkan's loader may be opened to say what it says.
std::vector<MachineMember> machineMembers(bool asksDrivers);
// Returns what JSON begins with: a brace, schemaVersion and those members, a comma behind each.
std::string machineJson(bool asksDrivers);
// A device's members, without braces, a line each, all but the last with a comma behind it.
std::string deviceMembers(const SluiceDeviceProperties& device, const std::string& indent);

// A tier that a device cannot run, although it would be the better one.
struct MissingTier {
    std::string tier, why;
    const char* costs; // what a device pays that runs the next one
};
std::vector<MissingTier> missingTiers(const SluiceDeviceProperties& device);

// "[\"a\", \"b\"]" of words with blanks between them.
std::string jsonWords(const std::string& words);

} // namespace sluice
