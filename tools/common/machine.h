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
// Returns "sluice", "os" and so on. If asksDrivers is set, the Vulkan loader is opened and its
// state is added.
std::vector<MachineMember> machineMembers(bool asksDrivers);
// Returns what JSON begins with: a brace, schemaVersion and those members, a comma behind each.
std::string machineJson(bool asksDrivers);
// Returns the JSON members of a device without braces, one per line, with a comma after all but the
// last.
std::string deviceMembers(const SluiceDeviceProperties& device, const std::string& indent);

// A tier that a device cannot run, although it would be the better choice.
struct MissingTier {
    std::string tier, why;
    const char* costs; // what it costs the device to run the next tier instead
};
std::vector<MissingTier> missingTiers(const SluiceDeviceProperties& device);

// Returns words that are separated by blanks as a JSON list: "[\"a\", \"b\"]".
std::string jsonWords(const std::string& words);

} // namespace sluice
