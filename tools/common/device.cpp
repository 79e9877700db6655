// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/device.h"

#include <algorithm>
#include <cctype>
#include <thread>

namespace sluice {
namespace {

#ifdef SLUICE_HAVE_CUDA
constexpr bool kBuiltWithCuda = true;
#else
constexpr bool kBuiltWithCuda = false;
#endif

bool isNumber(const std::string& text)
{
    return !text.empty() && text.size() < 10 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool hasWord(const std::string& list, const std::string& word)
{
    return word.find(' ') == std::string::npos &&
           (" " + list + " ").find(" " + word + " ") != std::string::npos;
}

// Returns the properties of the CPU. Unlike listDevices(), this asks no driver.
SluiceDeviceProperties cpuProperties()
{
    SluiceDeviceInfo info = {};
    info.selector = "cpu";
    return ToolDevice(info, "cpu: ").properties();
}

} // namespace

std::vector<SluiceDeviceProperties> listDevices()
{
    uint32_t count = 0;
    std::vector<SluiceDeviceProperties> devices;
    do { // repeat if a device appeared between the calls
        devices.resize(count);
        if (sluiceEnumerateDevices(devices.data(), &count) != SLUICE_OK)
            throw Failure{exitDevice, "the devices cannot be listed"};
    } while (count > devices.size());
    devices.resize(count);
    return devices;
}

std::string apiText(const SluiceDeviceProperties& properties)
{
    const uint32_t version = properties.apiVersion;
    // apiVersion is packed as VK_MAKE_API_VERSION does it, on CUDA as 1000 * major + 10 * minor.
    switch (properties.backend) {
    case SLUICE_BACKEND_VULKAN:
        return formatText("Vulkan %u.%u.%u", version >> 22 & 127, version >> 12 & 1023,
                          version & 4095);
    case SLUICE_BACKEND_CUDA: return formatText("CUDA %u.%u", version / 1000, version % 1000 / 10);
    default: return "";
    }
}

const char* backendName(SluiceBackend backend)
{
    return backend == SLUICE_BACKEND_VULKAN ? "vulkan"
           : backend == SLUICE_BACKEND_CUDA ? "cuda"
                                            : "cpu";
}

std::string deviceSelector(const SluiceDeviceProperties& properties)
{
    const std::string name = backendName(properties.backend);
    return name == "cpu" ? name : name + ":" + std::to_string(properties.index);
}

void checkTierName(const std::string& tier)
{
    if (!tier.empty() && !hasWord(kTierNames, tier))
        throw Failure{exitUsage,
                      "--tier " + tier + ": use base, ext, emu4 ... emu128, native, fast or ref"};
}

bool runsTier(const SluiceDeviceProperties& device, const std::string& tier)
{
    return tier.empty() ? device.tiers[0] != 0 : hasWord(device.tiers, tier);
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
    if (!valid)
        throw Failure{exitUsage,
                      "--device " + selector +
                          ": use auto, cpu, vulkan, vulkan:N, vulkan:TEXT, cuda or cuda:N"};
    if (kind == "cuda" && !kBuiltWithCuda)
        throw Failure{exitUnsupported,
                      "--device " + selector + ": this sluice was built without CUDA"};
    if (kind == "cpu") return {cpuProperties()};
    std::vector<SluiceDeviceProperties> matches;
    for (const SluiceDeviceProperties& device : listDevices()) {
        const bool named = lower(device.name).find(lower(text)) != std::string::npos ||
                           lower(device.driver).find(lower(text)) != std::string::npos;
        const bool fits = plain            ? true
                          : isNumber(text) ? std::to_string(device.index) == text
                                           : named;
        if (kind == "auto" ? device.backend != SLUICE_BACKEND_VULKAN || device.isSoftware == 0
                           : kind == backendName(device.backend) && fits) {
            matches.push_back(device);
        }
    }
    if (matches.empty())
        throw Failure{exitDevice, "--device " + selector +
                                      ": no such device; 'sluice devices' lists what there is"};
    if (plain) { // devices that run the tier come first, and among those GPUs come first
        std::stable_sort(matches.begin(), matches.end(), [&](const auto& a, const auto& b) {
            const bool aRuns = runsTier(a, tier), bRuns = runsTier(b, tier);
            return aRuns != bRuns ? aRuns : a.isSoftware < b.isSoftware;
        });
    }
    return matches;
}

uint32_t pipelineThreads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 16u); }

uint32_t pipelineFlagsFor(uint64_t decodedSize)
{
    constexpr uint64_t kPays = uint64_t(4) << 30;
    return decodedSize < kPays ? +SLUICE_PIPELINES_NECESSARY : 0u;
}

ToolDevice::ToolDevice(const DeviceOptions& options, const CommonOptions& common, uint32_t kernels,
                       uint32_t pipelineFlags)
{
    checkTierName(options.tier);
    const std::vector<SluiceDeviceProperties> matches = matchDevices(options.device, options.tier);
    if (common.verbosity > 0 && matches.size() > 1) {
        for (const SluiceDeviceProperties& match : matches)
            printMessage("%s %s: %s (%s)\n", &match == &matches[0] ? "taking  " : "matching",
                         deviceSelector(match).c_str(), match.name, match.driver);
    }
    if (options.device == "auto" && matches[0].isSoftware != 0 && !common.quiet)
        printMessage("sluice: there is no GPU that can do this; taking %s (%s)\n",
                     deviceSelector(matches[0]).c_str(), matches[0].name);
    SluiceDeviceInfo info = {};
    const std::string selector = deviceSelector(matches[0]);
    info.selector = selector.c_str();
    info.tier = options.tier.empty() ? nullptr : options.tier.c_str();
    info.kernels = kernels;
    info.pipelineFlags = pipelineFlags;
    info.pipelineThreads = pipelineThreads();
    info.pipelineCache = "";
    info.tuning = common.tuning.empty() ? nullptr : common.tuning.c_str();
    open(info, selector + ": ", exitUnsupported);
    if (m_properties.backend == SLUICE_BACKEND_CPU) m_threads = threadCount(options.threads);
    if (common.verbosity > 1 && m_info.report != nullptr) printMessage("%s", m_info.report);
}

void ToolDevice::open(const SluiceDeviceInfo& info, const std::string& place, int absent)
{
    SluiceDevice opened = nullptr;
    const char* error = nullptr;
    const SluiceStatus status = sluiceOpenDevice(&info, &opened, &error);
    if (status != SLUICE_OK) {
        const int code = status == SLUICE_ERROR_UNSUPPORTED ? absent
                         : status == SLUICE_ERROR_ARGUMENT  ? exitUsage
                                                            : exitDevice;
        throw Failure{code, place + (error != nullptr ? error : sluiceGetStatusText(status))};
    }
    m_device.reset(opened);
    check(sluiceGetDeviceProperties(opened, &m_properties), "properties");
    check(sluiceGetContextInfo(context(), &m_info), "context");
}

void ToolDevice::check(SluiceStatus status, const std::string& what) const
{
    if (status != SLUICE_OK)
        throw Failure{status == SLUICE_ERROR_UNSUPPORTED ? exitUnsupported : exitDevice,
                      m_properties.name + (": " + what) + ": " + sluiceGetStatusText(status)};
}

double ToolDevice::run(const Record& record) const
{
    SluiceCommands commands = nullptr;
    double milliseconds = 0;
    check(sluiceBegin(handle(), &commands), "begin");
    record(commands);
    check(sluiceSubmit(handle(), commands, &milliseconds), "submit");
    return milliseconds;
}

DeviceBuffer::~DeviceBuffer()
{
    if (m_buffer.size != 0) sluiceRelease(m_device->handle(), m_buffer);
}

SluiceBuffer DeviceBuffer::reserve(uint64_t size)
{
    if (size > m_buffer.size) {
        sluiceRelease(m_device->handle(), m_buffer);
        m_buffer = {};
        m_device->check(sluiceAllocate(m_device->handle(), size, &m_buffer), "memory");
    }
    return part(0, size);
}

} // namespace sluice
