// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reload/test_device.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/device_vulkan.h"

namespace sluice::dev {

VulkanTuning tuningForEveryPipeline(const DeviceTraits& device, VulkanTuning tuning)
{
    const auto atLeast = [](uint32_t& value, uint32_t least) { value = std::max(value, least); };
    atLeast(tuning.gdeflate.fewTiles, 1);
    atLeast(tuning.gdeflate.manyTiles, 1);
    atLeast(tuning.gstd.fewTiles, 1);
    atLeast(tuning.filter.fewTiles, 1);
    tuning.intervalSpecialized = 1;
    // Workgroups of a ring kernel wait for each other, so ring kernels run only on devices where
    // started workgroups make progress.
    if (device.hasNativeLaneGroups() && device.forwardProgress) {
        atLeast(tuning.scan.ringWorkgroups, 2);
        atLeast(tuning.compact.ringWorkgroups, 2);
    }
    return tuning;
}

VulkanBackend* vulkanBackend(SluiceContext context)
{
    SluiceContextInfo info = {};
    if (sluiceGetContextInfo(context, &info) != SLUICE_OK || info.backend != SLUICE_BACKEND_VULKAN)
        return nullptr;
    return static_cast<VulkanBackend*>(context->backend);
}

SluiceStatus TestDevice::open(const char* selector, const VulkanBackend& program,
                              const char*& error)
{
    SluiceContextInfo wanted = {};
    program.contextInfo(wanted);
    SluiceDeviceInfo open = {};
    open.selector = selector;
    open.tier = wanted.tier;
    open.graphicsQueue = program.traits().ampleSharedMemory ? 0 : 1;
    if (const SluiceStatus status = sluiceOpenDevice(&open, &m_device, nullptr)) {
        error = "the device for self-tests cannot be opened with the context's tier";
        return status;
    }
    VulkanHandles handles = {};
    if (!vulkanHandles(m_device, handles)) {
        error = "the device for self-tests is not a Vulkan device";
        close();
        return SLUICE_ERROR_UNSUPPORTED;
    }
    m_info = handles.contextInfo;
    if (!program.traits().isEmulated()) m_info.requiredSubgroupSize = wanted.subgroupSize;
    m_info.recorder = record;
    m_info.recorderUser = this;
    const VulkanTuning tuning = tuningForEveryPipeline(program.traits(), program.tuning());
    m_tuning.resize(writeTuning(tuning, nullptr, 0));
    writeTuning(tuning, m_tuning.data(), m_tuning.size() + 1);
    m_info.tuning = m_tuning.c_str();
    SluiceContext context = nullptr;
    if (sluiceCreateVulkanContext(&m_info, &context, &error) != SLUICE_OK) {
        error = "the device for self-tests has another subgroup size than the context";
        close();
        return SLUICE_ERROR_UNSUPPORTED;
    }
    std::swap(m_device->device->context, context);
    sluiceDestroyContext(context);
    return SLUICE_OK;
}

void TestDevice::close()
{
    if (m_device == nullptr) return;
    sluiceCloseDevice(m_device);
    m_device = nullptr;
}

VulkanBackend* TestDevice::use(uint32_t kernels, const char*& error)
{
    const SluiceContext context = sluiceGetDeviceContext(m_device);
    const SluicePipelinesInfo wanted = {kernels, 0, 0};
    std::atomic<SluiceStatus> failed{SLUICE_OK};
    const auto work = [&] {
        const SluiceStatus status = sluiceCreatePipelines(context, &wanted, nullptr);
        if (status != SLUICE_OK) failed = status;
    };
    std::vector<std::thread> threads;
    const uint32_t processors = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
    for (uint32_t i = 1; i < processors; ++i)
        threads.emplace_back(work);
    work();
    for (std::thread& thread : threads)
        thread.join();
    if (failed != SLUICE_OK) error = sluiceGetStatusText(failed);
    return failed == SLUICE_OK ? vulkanBackend(context) : nullptr;
}

void TestDevice::record(void* user, VkCommandBuffer, const char* pipeline,
                        const SluiceVulkanAccess*, uint32_t)
{
    static_cast<TestDevice*>(user)->m_dispatched.insert(pipeline);
}

} // namespace sluice::dev
