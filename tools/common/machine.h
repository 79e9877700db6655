// SPDX-License-Identifier: MIT OR Apache-2.0
// Describes the machine, the build and the devices for the report of a problem.
#pragma once

#include <string>
#include <vector>

#include <sluice/sluice_device.h>

namespace sluice {

struct MachineMember {
    std::string name, value;
    bool isNumber = false;
};
// Returns JSON members that describe the build and the machine: "sluice" (the version), "os" and so
// on. If asksDrivers is set, the function opens the Vulkan loader, and a member "vulkan" says
// whether that worked.
std::vector<MachineMember> machineMembers(bool asksDrivers);
// Returns the beginning of a JSON object: `{`, "schemaVersion" and the members that
// machineMembers() returns, with a comma after each.
std::string machineJson(bool asksDrivers);
// Returns a device as JSON members, separated by commas, without braces. Each member begins a line.
// `indent` is put at the start of every line.
std::string deviceMembers(const SluiceDeviceProperties& device, const std::string& indent);

// A tier (a variant of the kernels) that the device cannot run, and that would be better than the
// best tier it can run.
struct MissingTier {
    std::string tier, why;
    const char* costs; // what the device loses by running the next tier instead
};
std::vector<MissingTier> missingTiers(const SluiceDeviceProperties& device);

// Returns words separated by blanks as a JSON list: "a b" becomes ["a", "b"].
std::string jsonWords(const std::string& words);

} // namespace sluice
