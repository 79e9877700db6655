// SPDX-License-Identifier: MIT OR Apache-2.0
// The C functions of the convenience layer (sluice_device.h). They list and choose devices, and
// forward everything else to the open device. A *selector* is a text that names a device, such as
// "auto" or "vulkan:1". A *tier* (docs/design.md) is a variant of all kernels that needs certain
// features of a device.
#include "device/device.h"

#include <cctype>
#include <charconv>
#include <cstring>
#include <new>
#include <sstream>

namespace sluice {

namespace {

// Lists the devices of all backends. With onlyCpu it lists the CPU alone and loads no driver.
DeviceList listDevices(bool onlyCpu = false)
{
    DeviceList list;
    if (!onlyCpu) {
        listVulkanDevices(list);
        listCudaDevices(list);
    }
    listCpuDevice(list);
    return list;
}

std::string lower(std::string text)
{
    for (char& c : text)
        c = char(std::tolower(uint8_t(c)));
    return text;
}

// Returns whether a device can run a tier or, if `tier` is empty, any tier.
bool runsTier(const SluiceDeviceProperties& device, const std::string& tier)
{
    std::istringstream tiers(device.tiers);
    std::string one;
    while (tiers >> one) {
        if (tier.empty() || one == tier) return true;
    }
    return false;
}

// Parses `text` as a decimal number. Returns false if anything in it does not belong to the number.
bool parseIndex(const std::string& text, uint32_t& index)
{
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), index);
    return code == std::errc() && end == text.data() + text.size();
}

// Returns the device that `selector` means, or nullptr if there is none. If the selector leaves a
// choice ("auto", "vulkan", "cuda"), only devices that can run `tier` are considered. If it names a
// device ("vulkan:1"), that device is returned even if it cannot run `tier`; openDevice then says
// so. An empty `tier` stands for any tier.
const SluiceDeviceProperties* selectDevice(const DeviceList& list, const std::string& selector,
                                           const std::string& tier)
{
    const auto find = [&](auto matches) -> const SluiceDeviceProperties* {
        const auto found = std::find_if(list.begin(), list.end(), matches);
        return found != list.end() ? &*found : nullptr;
    };
    const auto any = [&](SluiceBackend backend, bool software) {
        return find([&](const SluiceDeviceProperties& d) {
            return d.backend == backend && (d.isSoftware != 0) == software && runsTier(d, tier);
        });
    };
    const auto numbered = [&](SluiceBackend backend, uint32_t index) {
        return find([&](const SluiceDeviceProperties& d) {
            return d.backend == backend && d.index == index;
        });
    };
    if (selector == "cpu") return numbered(SLUICE_BACKEND_CPU, 0);
    if (selector == "cuda") return any(SLUICE_BACKEND_CUDA, false);
    if (selector == "auto" || selector == "vulkan") {
        const SluiceDeviceProperties* chosen = any(SLUICE_BACKEND_VULKAN, false);
        if (chosen == nullptr && selector == "vulkan") return any(SLUICE_BACKEND_VULKAN, true);
        if (chosen == nullptr) chosen = any(SLUICE_BACKEND_CUDA, false);
        return chosen != nullptr ? chosen : any(SLUICE_BACKEND_CPU, true);
    }
    uint32_t index = 0;
    if (selector.rfind("cuda:", 0) == 0)
        return parseIndex(selector.substr(5), index) ? numbered(SLUICE_BACKEND_CUDA, index)
                                                     : nullptr;
    // The selector passed isSelector, so it begins with "vulkan:", which is cut off here.
    const std::string text = lower(selector.substr(7));
    if (parseIndex(text, index)) return numbered(SLUICE_BACKEND_VULKAN, index);
    return find([&](const SluiceDeviceProperties& d) {
        return d.backend == SLUICE_BACKEND_VULKAN &&
               (lower(d.name).find(text) != std::string::npos ||
                lower(d.driver).find(text) != std::string::npos);
    });
}

// Returns whether the text has the form of a selector.
bool isSelector(const std::string& text)
{
    return text == "auto" || text == "cpu" || text == "vulkan" || text == "cuda" ||
           (text.rfind("vulkan:", 0) == 0 && text.size() > 7) ||
           (text.rfind("cuda:", 0) == 0 && text.size() > 5);
}

// Opens a device with the tier of `info`.
SluiceStatus openTier(const SluiceDeviceProperties& chosen, const SluiceDeviceInfo& info,
                      std::unique_ptr<Device>& device, std::string& error)
{
    const bool isAuto = info.tier == nullptr || std::strcmp(info.tier, "auto") == 0;
    switch (chosen.backend) {
    case SLUICE_BACKEND_VULKAN: return openVulkanDevice(chosen.index, info, device, error);
    case SLUICE_BACKEND_CUDA: return openCudaDevice(chosen.index, info, device, error);
    default: return openCpuDevice(isAuto ? nullptr : info.tier, device, error);
    }
}

// Opens a device with a tier whose self-test passes. If `tier` is empty, the device's tiers are
// tried from the best one on; otherwise `tier` alone. The tiers that failed are listed in
// Device::failedTiers or, if no tier passes, in `error`.
SluiceStatus openTested(const SluiceDeviceProperties& chosen, SluiceDeviceInfo info,
                        const std::string& tier, std::unique_ptr<Device>& device,
                        std::string& error)
{
    std::istringstream tiers(tier.empty() ? chosen.tiers : tier);
    std::string one, failedTiers;
    while (tiers >> one) {
        info.tier = one.c_str();
        SluiceStatus status = openTier(chosen, info, device, error);
        std::string failed;
        if (status == SLUICE_OK) status = testDevice(*device, failed);
        if (status != SLUICE_OK) {
            device.reset();
            return error.empty() ? fail(status, "the self-test could not run", error) : status;
        }
        if (failed.empty()) {
            device->failedTiers = failedTiers;
            return SLUICE_OK;
        }
        device.reset();
        failedTiers += one + ": the self-test of " + failed + " fails\n";
        // The tiers after emu32 emulate other subgroup sizes and are only for tests.
        if (one == "emu32") break;
    }
    // The error text has one line, so replace line ends by semicolons and drop the last one.
    failedTiers.resize(failedTiers.empty() ? 0 : failedTiers.size() - 1);
    std::replace(failedTiers.begin(), failedTiers.end(), '\n', ';');
    return fail(SLUICE_ERROR_UNSUPPORTED, failedTiers, error);
}

// Chooses and opens a device as `info` says.
SluiceStatus openDevice(const SluiceDeviceInfo& info, std::unique_ptr<Device>& device,
                        std::string& error)
{
    const std::string selector = info.selector != nullptr ? info.selector : "auto";
    std::string tier = info.tier != nullptr ? info.tier : "";
    if (tier == "auto") tier.clear();
    if (!isSelector(selector))
        return fail(
            SLUICE_ERROR_ARGUMENT,
            "'" + selector +
                "' is not a device: auto, cpu, vulkan, vulkan:N, vulkan:TEXT, cuda or cuda:N",
            error);
    // "cpu" loads no driver, because an installed driver may be broken.
    const DeviceList list = listDevices(selector == "cpu");
    const SluiceDeviceProperties* const chosen = selectDevice(list, selector, tier);
    if (chosen == nullptr)
        return fail(SLUICE_ERROR_UNSUPPORTED,
                    "no device matches '" + selector + "'" +
                        (tier.empty() ? "" : " and can run tier " + tier),
                    error);
    if (!runsTier(*chosen, tier))
        return fail(SLUICE_ERROR_UNSUPPORTED,
                    std::string(chosen->name) + " cannot run " +
                        (tier.empty() ? "any tier" : "tier " + tier),
                    error);
    return info.selfTest != 0 ? openTested(*chosen, info, tier, device, error)
                              : openTier(*chosen, info, device, error);
}

} // namespace
} // namespace sluice

using namespace sluice;

SluiceStatus sluiceEnumerateDevices(SluiceDeviceProperties* properties, uint32_t* count)
{
    if (count == nullptr || (properties == nullptr && *count != 0)) return SLUICE_ERROR_ARGUMENT;
    return withoutExceptions([&] {
        const DeviceList list = listDevices();
        const uint32_t found = uint32_t(list.size());
        std::copy_n(list.begin(), std::min(*count, found), properties);
        *count = found;
        return SLUICE_OK;
    });
}

SluiceStatus sluiceOpenDevice(const SluiceDeviceInfo* info, SluiceDevice* device,
                              const char** error)
{
    thread_local std::string text; // *error points into it until the thread's next call
    if (error != nullptr) *error = "";
    if (info == nullptr || device == nullptr) return SLUICE_ERROR_ARGUMENT;
    *device = nullptr;
    try {
        text.clear();
        auto opened = std::make_unique<SluiceDevice_T>();
        const SluiceStatus status = openDevice(*info, opened->device, text);
        if (status == SLUICE_OK) {
            *device = opened.release();
        } else if (error != nullptr) {
            *error = text.c_str();
        }
        return status;
    } catch (const std::bad_alloc&) {
        if (error != nullptr) *error = "out of host memory";
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}

void sluiceCloseDevice(SluiceDevice device) { delete device; }

SluiceContext sluiceGetDeviceContext(SluiceDevice device)
{
    return device != nullptr ? device->device->context : nullptr;
}

const char* sluiceGetDeviceSelfTest(SluiceDevice device)
{
    return device != nullptr ? device->device->failedTiers.c_str() : "";
}

SluiceStatus sluiceGetDeviceProperties(SluiceDevice device, SluiceDeviceProperties* properties)
{
    if (device == nullptr || properties == nullptr) return SLUICE_ERROR_ARGUMENT;
    *properties = device->device->properties;
    return SLUICE_OK;
}

SluiceStatus sluiceAllocate(SluiceDevice device, uint64_t size, SluiceBuffer* buffer)
{
    if (device == nullptr || buffer == nullptr) return SLUICE_ERROR_ARGUMENT;
    *buffer = {0, 0, 0};
    if (size == 0) return SLUICE_OK;
    if (size > UINT64_MAX / 2) return SLUICE_ERROR_OUT_OF_MEMORY;
    return withoutExceptions([&] { return device->device->allocate(size, *buffer); });
}

void sluiceRelease(SluiceDevice device, SluiceBuffer buffer)
{
    if (device != nullptr && buffer.handle != 0) device->device->release(buffer);
}

uint64_t sluiceGetAddress(SluiceDevice device, SluiceBuffer buffer)
{
    return device != nullptr && buffer.handle != 0 ? device->device->address(buffer) : 0;
}

SluiceStatus sluiceUpload(SluiceDevice device, SluiceBuffer buffer, const void* bytes,
                          uint64_t size)
{
    if (device == nullptr || size > buffer.size || (bytes == nullptr && size != 0))
        return SLUICE_ERROR_ARGUMENT;
    return size != 0 ? device->device->upload(buffer, bytes, size) : SLUICE_OK;
}

SluiceStatus sluiceDownload(SluiceDevice device, SluiceBuffer buffer, void* bytes, uint64_t size)
{
    if (device == nullptr || size > buffer.size || (bytes == nullptr && size != 0))
        return SLUICE_ERROR_ARGUMENT;
    return size != 0 ? device->device->download(buffer, bytes, size) : SLUICE_OK;
}

SluiceStatus sluiceBegin(SluiceDevice device, SluiceCommands* commands)
{
    if (device == nullptr || commands == nullptr) return SLUICE_ERROR_ARGUMENT;
    *commands = nullptr;
    return device->device->begin(*commands);
}

SluiceStatus sluiceSubmit(SluiceDevice device, SluiceCommands commands, double* gpuMilliseconds)
{
    if (device == nullptr) return SLUICE_ERROR_ARGUMENT;
    double ignored = 0;
    return device->device->submit(commands,
                                  gpuMilliseconds != nullptr ? *gpuMilliseconds : ignored);
}
