// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace sluice {
namespace {

#ifdef SLUICE_HAVE_CUDA
constexpr bool builtWithCuda = true;
#else
constexpr bool builtWithCuda = false;
#endif

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return char(std::tolower(uint8_t(c))); });
    return text;
}

bool isNumber(const std::string& text)
{
    return !text.empty() && text.size() < 10 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Names of the table of tiers, of every backend.
bool isTierName(const std::string& tier)
{
    static const char* const names[] = {"base",  "ext",   "emu4",   "emu8",   "emu16",
                                        "emu32", "emu64", "emu128", "native", "ref"};
    return std::any_of(std::begin(names), std::end(names),
                       [&](const char* name) { return tier == name; });
}

bool runsTier(const SluiceDeviceProperties& device, const std::string& tier)
{
    const std::string tiers = std::string(" ") + device.tiers + " ";
    return tier.empty() ? device.tiers[0] != 0 : tiers.find(" " + tier + " ") != std::string::npos;
}

// The CPU without a look at any driver.
SluiceDeviceProperties cpuProperties()
{
    SluiceDeviceInfo info = {};
    info.selector = "cpu";
    SluiceDevice device = nullptr;
    SluiceDeviceProperties properties = {};
    const char* error = nullptr;
    if (sluiceOpenDevice(&info, &device, &error) != SLUICE_OK ||
        sluiceGetDeviceProperties(device, &properties) != SLUICE_OK) {
        throw Failure{exitDevice,
                      std::string("cpu: ") + (error != nullptr ? error : "no properties")};
    }
    sluiceCloseDevice(device);
    return properties;
}

} // namespace

std::vector<SluiceDeviceProperties> listDevices()
{
    uint32_t count = 0;
    std::vector<SluiceDeviceProperties> devices;
    do { // a device may appear between two calls
        devices.resize(count);
        if (sluiceEnumerateDevices(devices.data(), &count) != SLUICE_OK) {
            throw Failure{exitDevice, "the devices cannot be listed"};
        }
    } while (count > devices.size());
    devices.resize(count);
    return devices;
}

std::string deviceSelector(const SluiceDeviceProperties& properties)
{
    switch (properties.backend) {
    case SLUICE_BACKEND_VULKAN: return "vulkan:" + std::to_string(properties.index);
    case SLUICE_BACKEND_CUDA: return "cuda:" + std::to_string(properties.index);
    default: return "cpu";
    }
}

std::vector<SluiceDeviceProperties> matchDevices(const std::string& selector,
                                                 const std::string& tier)
{
    const size_t colon = selector.find(':');
    const std::string kind = selector.substr(0, colon);
    const std::string text = colon == std::string::npos ? "" : selector.substr(colon + 1);
    const bool plain = colon == std::string::npos;
    const bool valid =
        plain ? kind == "auto" || kind == "cpu" || kind == "vulkan" || kind == "cuda"
              : (kind == "vulkan" && !text.empty()) || (kind == "cuda" && isNumber(text));
    if (!valid) {
        throw Failure{exitUsage,
                      "--device " + selector +
                          ": use auto, cpu, vulkan, vulkan:N, vulkan:TEXT, cuda or cuda:N"};
    }
    if (kind == "cuda" && !builtWithCuda) {
        throw Failure{exitUnsupported,
                      "--device " + selector + ": this sluice was built without CUDA"};
    }
    if (kind == "cpu") {
        return {cpuProperties()};
    }
    std::vector<SluiceDeviceProperties> matches;
    for (const SluiceDeviceProperties& device : listDevices()) {
        const char* backend = device.backend == SLUICE_BACKEND_VULKAN ? "vulkan"
                              : device.backend == SLUICE_BACKEND_CUDA ? "cuda"
                                                                      : "cpu";
        const bool named = lower(device.name).find(lower(text)) != std::string::npos ||
                           lower(device.driver).find(lower(text)) != std::string::npos;
        const bool fits = plain            ? true
                          : isNumber(text) ? std::to_string(device.index) == text
                                           : named;
        if (kind == "auto" ? device.backend != SLUICE_BACKEND_VULKAN || device.isSoftware == 0
                           : kind == backend && fits) {
            matches.push_back(device);
        }
    }
    if (matches.empty()) {
        throw Failure{exitDevice, "--device " + selector +
                                      ": no such device; 'sluice devices' lists what there is"};
    }
    if (plain) { // the choice is ours: one that can do it, and a GPU before a software device
        std::stable_sort(matches.begin(), matches.end(), [&](const auto& a, const auto& b) {
            const bool aRuns = runsTier(a, tier), bRuns = runsTier(b, tier);
            return aRuns != bRuns ? aRuns : a.isSoftware < b.isSoftware;
        });
    }
    return matches;
}

ToolDevice::ToolDevice(const DeviceOptions& options, const CommonOptions& common, uint32_t kernels)
{
    if (!options.tier.empty() && !isTierName(options.tier)) {
        throw Failure{exitUsage,
                      "--tier " + options.tier + ": use base, ext, emu4 ... emu128, native or ref"};
    }
    const std::vector<SluiceDeviceProperties> matches = matchDevices(options.device, options.tier);
    if (common.verbosity > 0 && matches.size() > 1) {
        for (const SluiceDeviceProperties& match : matches) {
            std::fprintf(stderr, "%s %s: %s (%s)\n",
                         &match == &matches[0] ? "taking  " : "matching",
                         deviceSelector(match).c_str(), match.name, match.driver);
        }
    }
    SluiceDeviceInfo info = {};
    const std::string selector = deviceSelector(matches[0]);
    info.selector = selector.c_str();
    info.tier = options.tier.empty() ? nullptr : options.tier.c_str();
    info.kernels = kernels;
    info.tuning = common.tuning.empty() ? nullptr : common.tuning.c_str();
    SluiceDevice opened = nullptr;
    const char* error = nullptr;
    const SluiceStatus status = sluiceOpenDevice(&info, &opened, &error);
    if (status != SLUICE_OK) {
        const int code = status == SLUICE_ERROR_UNSUPPORTED ? exitUnsupported
                         : status == SLUICE_ERROR_ARGUMENT  ? exitUsage
                                                            : exitDevice;
        throw Failure{code,
                      selector + ": " + (error != nullptr ? error : sluiceGetStatusText(status))};
    }
    device_.reset(opened);
    check(sluiceGetDeviceProperties(opened, &properties_), "properties");
    check(sluiceGetContextInfo(context(), &info_), "context");
    if (common.verbosity > 1 && info_.report != nullptr) {
        std::fprintf(stderr, "%s", info_.report);
    }
}

void ToolDevice::check(SluiceStatus status, const char* what) const
{
    if (status != SLUICE_OK) {
        throw Failure{status == SLUICE_ERROR_UNSUPPORTED ? exitUnsupported : exitDevice,
                      std::string(properties_.name) + ": " + what + ": " +
                          sluiceGetStatusText(status)};
    }
}

SluiceBuffer DeviceBuffer::reserve(uint64_t size)
{
    if (size > buffer_.size) {
        sluiceRelease(device_.handle(), buffer_);
        buffer_ = {};
        device_.check(sluiceAllocate(device_.handle(), size, &buffer_), "memory");
    }
    SluiceBuffer range = buffer_;
    range.size = size;
    return range;
}

} // namespace sluice
