// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include "tests/support/devices.h"

#include "tests/support/replaced_shaders.h"
#include "tests/support/short_runs.h"
#ifdef SLUICE_HAVE_CUDA
#include "cuda/context.h"
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace sluice::test {
namespace {

constexpr uint64_t kGuardBytes = 256;
constexpr uint8_t kGuardValue = 0xC5;

Device* currentDevice = nullptr;
bool isCaseSkipped = false;

} // namespace

Device::Device(const std::string& selector, const std::string& tier, uint32_t validation,
               uint32_t kernels, const char* tuning)
    : m_opened(selector)
{
    SluiceDeviceInfo deviceInfo = {};
    deviceInfo.selector = m_opened.c_str();
    deviceInfo.tier = tier.c_str();
    deviceInfo.validation = validation;
    deviceInfo.checkBarriers = 1;
    deviceInfo.tuning = tuning != nullptr ? tuning : std::getenv("SLUICE_TEST_TUNING");
    deviceInfo.kernels = kernels;
    deviceInfo.pipelineThreads = 2;
    deviceInfo.message = [](void* user, const char* text) {
        static_cast<Device*>(user)->m_messages.append(text).append("\n");
    };
    deviceInfo.messageUser = this;
    const char* text = nullptr;
    const SluiceStatus status = sluiceOpenDevice(&deviceInfo, &m_handle, &text);
    if (status != SLUICE_OK) {
        m_handle = nullptr;
        m_error = text != nullptr ? text : sluiceGetStatusText(status);
        return;
    }
    const char* folder = std::getenv("SLUICE_TEST_SHADERS");
    SluiceContextInfo opened = {};
    sluiceGetContextInfo(context(), &opened);
    if (folder == nullptr || *folder == '\0' || opened.backend != SLUICE_BACKEND_VULKAN) return;
    auto& own = static_cast<VulkanBackend&>(*context()->backend);
    const std::string error =
        replaceShaders(own, folder, kernels == SLUICE_KERNELS_ALL, m_replacedShaders);
    if (error.empty()) return;
    m_error = "SLUICE_TEST_SHADERS: " + error;
    close();
}

Device::~Device() { close(); }

void Device::close()
{
    if (m_handle != nullptr) sluiceCloseDevice(m_handle);
    m_handle = nullptr;
}

std::string Device::takeMessages() { return std::exchange(m_messages, std::string()); }

SluiceContextInfo Device::info() const
{
    SluiceContextInfo result = {};
    REQUIRE(sluiceGetContextInfo(context(), &result) == SLUICE_OK);
    return result;
}

void Device::run(const std::function<void(SluiceCommands)>& record)
{
    SluiceCommands commands = nullptr;
    REQUIRE(sluiceBegin(m_handle, &commands) == SLUICE_OK);
    record(commands);
    REQUIRE(sluiceSubmit(m_handle, commands, nullptr) == SLUICE_OK);
    checkMessages();
}

void Device::checkMessages() { CHECK(takeMessages() == ""); }

void skipCase(const char* reason)
{
    MESSAGE("not run: " << std::string(reason));
    isCaseSkipped = true;
}

namespace {

SluiceDeviceProperties propertiesOfDevice()
{
    SluiceDeviceProperties properties = {};
    sluiceGetDeviceProperties(device().get(), &properties);
    return properties;
}

bool isShortRunOn(const char* driver)
{
    return environmentNumber("SLUICE_MUTATIONS", 100) < 1000 &&
           std::string(propertiesOfDevice().name).find(driver) != std::string::npos;
}

} // namespace

bool isSoftware() { return propertiesOfDevice().isSoftware != 0; }

bool skipsSlowCompiler()
{
    if (!isShortRunOn("SwiftShader")) return false;
    skipCase("SLUICE_MUTATIONS of 1,000 and more runs it on SwiftShader");
    return true;
}

bool skipsOtherSizes()
{
    const SluiceContextInfo info = device().info();
    const bool emulated = std::string(info.tier).rfind("emu", 0) == 0;
    const bool isOther = isShortRunOn("SwiftShader")
                             ? emulated
                             : isShortRunOn("llvmpipe") && info.subgroupSize != (emulated ? 32 : 8);
    if (!isOther) return false;
    skipCase("SLUICE_MUTATIONS of 1,000 and more runs it with this size of subgroups");
    return true;
}

bool takeSkippedCase() { return std::exchange(isCaseSkipped, false); }

namespace {

// Calls function(backend) with the Vulkan or CUDA backend. Returns false on the CPU.
template <typename Function>
bool withBackend(Device& device, const Function& function)
{
    Backend* const backend = device.context()->backend;
    switch (device.backend()) {
    case SLUICE_BACKEND_VULKAN: function(static_cast<VulkanBackend&>(*backend)); return true;
#ifdef SLUICE_HAVE_CUDA
    case SLUICE_BACKEND_CUDA: function(static_cast<CudaBackend&>(*backend)); return true;
#endif
    default: return false;
    }
}

// Sets these members of the backend's tuning and returns the whole tuning as it was before.
std::string exchangeRow(Device& device, const char* vulkanRow, const char* cudaRow)
{
    std::string before;
    const bool isVulkan = device.backend() == SLUICE_BACKEND_VULKAN;
    withBackend(device, [&](auto& backend) {
        auto tuning = backend.tuning();
        before.resize(writeTuning(tuning, nullptr, 0) + 1);
        before.resize(writeTuning(tuning, before.data(), before.size()));
        REQUIRE(readTuning(isVulkan ? vulkanRow : cudaRow, tuning) == SLUICE_OK);
        backend.setTuning(tuning);
    });
    return before;
}

std::string rowOfPolls(uint32_t polls)
{
    return polls == kUsualPolls ? "" : "lookback.polls=" + std::to_string(polls);
}

} // namespace

PlannedBy::PlannedBy(Device& device, const char* vulkanRow, const char* cudaRow)
    : m_device(device), m_before(exchangeRow(device, vulkanRow, cudaRow))
{
}

PlannedBy::~PlannedBy() { exchangeRow(m_device, m_before.c_str(), m_before.c_str()); }

uint32_t reduceTileElements(Device& device)
{
    uint32_t elements = 1 << 12; // the CPU has no tiles
#ifdef SLUICE_HAVE_CUDA
    if (device.backend() == SLUICE_BACKEND_CUDA) return kReduceThreads * kReduceLoads * 4;
#endif
    withBackend(device, [&](auto& backend) {
        elements = backend.scanMachine(SluiceScanInfo()).tileElements;
    });
    return elements;
}

LookbackPolls::LookbackPolls(Device& device, uint32_t polls)
    : PlannedBy(device, rowOfPolls(polls).c_str(), rowOfPolls(polls).c_str())
{
}

uint32_t scanRingElements(Device& device)
{
    uint32_t elements = 0;
    SluiceScanInfo info = {};
    withBackend(device, [&](auto& backend) {
        const ScanMachine machine = backend.scanMachine(info);
        elements = machine.ringTiles * machine.ringElements;
    });
    return elements;
}

uint32_t compactRingElements(Device& device)
{
    uint32_t elements = 0;
    SluiceCompactInfo info = {};
    info.elementSize = 4;
    withBackend(device, [&](auto& backend) {
        const CompactMachine machine = backend.compactMachine(info);
        elements = machine.ringTiles * machine.ringElements;
    });
    return elements;
}

Device& device()
{
    REQUIRE(currentDevice != nullptr);
    return *currentDevice;
}

void setDevice(Device* current) { currentDevice = current; }

Buffer::Buffer(Device& device, uint64_t size) : m_owner(device) { allocate(nullptr, size); }

Buffer::Buffer(Device& device, const Bytes& content) : m_owner(device)
{
    allocate(content.data(), content.size());
}

Buffer::Buffer(Device& device, const Words& content) : m_owner(device)
{
    allocate(content.data(), content.size() * 4);
}

Buffer::~Buffer()
{
    if (m_whole.size != 0) sluiceRelease(m_owner.get(), m_whole);
}

void Buffer::allocate(const void* content, uint64_t size)
{
    m_contentSize = size;
    Bytes bytes(size_t(size + 2 * kGuardBytes), kGuardValue);
    std::fill_n(bytes.data() + kGuardBytes, size, kPoison);
    if (content != nullptr && size != 0)
        std::memcpy(bytes.data() + kGuardBytes, content, size_t(size));
    REQUIRE(sluiceAllocate(m_owner.get(), bytes.size(), &m_whole) == SLUICE_OK);
    REQUIRE(sluiceUpload(m_owner.get(), m_whole, bytes.data(), bytes.size()) == SLUICE_OK);
}

SluiceBuffer Buffer::range() const
{
    return {m_whole.handle, m_whole.offset + kGuardBytes, m_contentSize};
}

uint64_t Buffer::address() const { return sluiceGetAddress(m_owner.get(), range()); }

Bytes Buffer::bytes()
{
    Bytes all(size_t(m_contentSize + 2 * kGuardBytes));
    REQUIRE(sluiceDownload(m_owner.get(), m_whole, all.data(), all.size()) == SLUICE_OK);
    const auto isGuard = [](uint8_t byte) { return byte == kGuardValue; };
    CHECK(std::all_of(all.begin(), all.begin() + kGuardBytes, isGuard));
    CHECK(std::all_of(all.end() - kGuardBytes, all.end(), isGuard));
    return Bytes(all.begin() + kGuardBytes, all.end() - kGuardBytes);
}

Words Buffer::words()
{
    const Bytes content = bytes();
    Words result(content.size() / 4);
    if (!result.empty()) std::memcpy(result.data(), content.data(), result.size() * 4);
    return result;
}

Buffer makeScratch(Device& device, const SluiceRequirements& requirements)
{
    // Buffers are 256-byte aligned, also with guard zones.
    REQUIRE(requirements.scratchAlignment <= 256);
    if (requirements.zeroedScratch != 0)
        return Buffer(device, Bytes(size_t(requirements.scratchSize)));
    return Buffer(device, requirements.scratchSize);
}

bool hasKernelsByCount(const Device& device)
{
    const SluiceContextInfo info = device.info();
    if (info.backend == SLUICE_BACKEND_CUDA) return true;
    return info.backend == SLUICE_BACKEND_VULKAN && info.subgroupSize == 32 &&
           std::string(info.tier).rfind("emu", 0) != 0;
}

uint32_t environmentNumber(const char* name, uint32_t otherwise)
{
    const char* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? uint32_t(std::strtoul(text, nullptr, 10)) : otherwise;
}

std::mt19937 makeRandom(uint32_t salt)
{
    return std::mt19937(environmentNumber("SLUICE_SEED", 1) * 1000003u + salt);
}

} // namespace sluice::test
