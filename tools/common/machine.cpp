// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/machine.h"

#include <memory>
#include <sstream>

#include "tools/common/device.h"
#include "device/vulkan_instance.h"
#include "tools/common/platform.h"

namespace sluice {
namespace {

std::string compilerText()
{
#if defined(__clang__)
    return formatText("Clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
    return formatText("GCC %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
    return "unknown";
#endif
}

constexpr const char* kNoByteStores = "bytes at the edges of words are written by atomics";
constexpr const char* kNoSubgroups =
    "where subgroups vary in size, lanes talk through shared memory, not by subgroup operations";
constexpr const char* kNoDriverDecoder = "the driver decodes no GDeflate by this extension";
// The names that SluiceDeviceProperties::features may contain, and for each name what is lost or
// slower on a device without that feature.
constexpr struct {
    const char *name, *costs;
} kFeatures[] = {
    {"bufferDeviceAddress", "the device cannot be used"},
    {"storageBuffer8BitAccess", kNoByteStores},
    {"subgroupSizeControl", kNoSubgroups},
    {"computeFullSubgroups", kNoSubgroups},
    {"shaderInt64", "the float codec does without shifts of 64 bits, which it uses on NVIDIA"},
    {"VK_NV_memory_decompression", kNoDriverDecoder},
    {"VK_EXT_memory_decompression", kNoDriverDecoder},
    {"VK_EXT_external_memory_host", "a streamer's ring cannot lie in memory of an engine's own"},
};

// Returns "available", or why Vulkan cannot be used.
std::string vulkanText()
{
    std::unique_ptr<VulkanInstance> instance;
    std::string error;
    if (VulkanInstance::create(nullptr, instance, error) == SLUICE_OK) return "available";
    return error.empty() ? "not available" : error;
}

} // namespace

std::string jsonWords(const std::string& words)
{
    std::istringstream stream(words);
    std::string text;
    for (std::string word; stream >> word;)
        text += (text.empty() ? "" : ", ") + jsonText(word);
    return "[" + text + "]";
}

std::string machineJson(bool asksDrivers)
{
    std::string text = "{\n  \"schemaVersion\": 1,\n";
    for (const MachineMember& member : machineMembers(asksDrivers))
        text += "  " + jsonText(member.name) + ": " +
                (member.isNumber ? member.value : jsonText(member.value)) + ",\n";
    return text;
}

std::vector<MachineMember> machineMembers(bool asksDrivers)
{
#ifdef SLUICE_HAVE_CUDA
    const char* const cuda = "built in";
#else
    const char* const cuda = "not built in";
#endif
    std::vector<MachineMember> members = {
        {"sluice",
         formatText("%u.%u.%u", SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR, SLUICE_VERSION_PATCH)},
        {"compiler", compilerText()},
        {"os", systemText()},
        {"processor", processorText()},
        {"cores", std::to_string(threadCount(0)), true},
        {"cuda", cuda}};
    if (asksDrivers) members.push_back({"vulkan", vulkanText()});
    return members;
}

std::vector<MissingTier> missingTiers(const SluiceDeviceProperties& device)
{
    std::istringstream lines(device.missing);
    std::vector<MissingTier> missing;
    for (std::string line; std::getline(lines, line);) {
        const size_t colon = line.find(": ");
        if (colon == std::string::npos) continue; // cut off at the end of the array `missing`
        const std::string tier = line.substr(0, colon);
        missing.push_back({tier, line.substr(colon + 2),
                           tier == "ext" ? kNoByteStores
                           : tier == "base"
                               ? "lanes talk through shared memory, not by subgroup operations"
                               : "the device cannot be used"});
    }
    return missing;
}

namespace {

std::string featureMembers(const SluiceDeviceProperties& device, const std::string& indent)
{
    const std::string has = std::string(" ") + device.features + " ";
    std::string features, absent;
    for (const auto& [name, costs] : kFeatures) {
        if (has.find(std::string(" ") + name + " ") != std::string::npos)
            features += (features.empty() ? "\n" : ",\n") + indent + "  " + jsonText(name);
        else
            absent += (absent.empty() ? "\n" : ",\n") + indent +
                      "  {\"feature\": " + jsonText(name) + ",\n" + indent + "   \"costs\":\n" +
                      indent + "   " + jsonText(costs) + "}";
    }
    return indent + "\"features\": [" + features + "],\n" + indent + "\"absent\": [" + absent +
           "],\n";
}

} // namespace

std::string deviceMembers(const SluiceDeviceProperties& device, const std::string& indent)
{
    std::string text = indent + "\"device\": " + jsonText(deviceSelector(device)) + ",\n";
    text += indent + "\"name\": " + jsonText(device.name) + ",\n";
    text += indent + "\"driver\": " + jsonText(device.driver) + ",\n";
    text += indent + "\"api\": " + jsonText(apiText(device)) + ",\n";
    text += indent +
            formatText("\"vendorId\": %u, \"deviceId\": %u,\n", device.vendorId, device.deviceId);
    text += indent + "\"software\": " + (device.isSoftware != 0 ? "true" : "false") + ",\n";
    text += indent + formatText("\"memory\": %llu,\n", wide(device.memorySize));
    text += indent + "\"tiers\": " + jsonWords(device.tiers) + ",\n";
    if (device.backend == SLUICE_BACKEND_VULKAN) text += featureMembers(device, indent);
    text += indent + "\"missing\": [";
    const char* separator = "";
    for (const MissingTier& one : missingTiers(device)) {
        text += separator + ("\n" + indent) + "  {\"tier\": " + jsonText(one.tier) + ",\n" +
                indent + "   \"why\":\n" + indent + "   " + jsonText(one.why) + ",\n" + indent +
                "   \"costs\": " + jsonText(one.costs) + "}";
        separator = ",";
    }
    return text + "]";
}

} // namespace sluice
