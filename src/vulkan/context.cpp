// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/context.h"

#include <new>

namespace sluice {

SluiceStatus VulkanBackend::create(const SluiceVulkanContextInfo& info,
                                   std::unique_ptr<VulkanBackend>& backend, const char** reason)
{
    backend.reset(new VulkanBackend(info));
    const SluiceStatus status = backend->m_machine.open(info, reason);
    return status != SLUICE_OK ? status : backend->m_pipelines.prepare(reason);
}

void VulkanBackend::contextInfo(SluiceContextInfo& info) const
{
    info.backend = SLUICE_BACKEND_VULKAN;
    info.tier = m_machine.tierName();
    info.subgroupSize = m_machine.traits.subgroupSize;
    info.byteStores = m_machine.tier == SLUICE_VULKAN_TIER_EXT ? 1 : 0;
    info.report = m_machine.report.c_str();
    info.driverRegionLimit = m_machine.driver.regionLimit;
    info.kernels = m_pipelines.readyKernels();
    info.refusedKernels = m_pipelines.refusedKernels();
}

SluiceStatus VulkanBackend::cmdBarrier(SluiceCommands commands)
{
    m_recorder.barrier(commandBuffer(commands),
                       VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
                           VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                       VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                           VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                           VK_ACCESS_INDIRECT_COMMAND_READ_BIT,
                       true);
    return SLUICE_OK;
}

} // namespace sluice

SluiceStatus sluiceCreateVulkanContext(const SluiceVulkanContextInfo* info, SluiceContext* context,
                                       const char** report)
{
    const char* unused;
    const char*& reason = report != nullptr ? *report : unused;
    reason = "a required argument is NULL";
    if (context == nullptr) {
        return SLUICE_ERROR_ARGUMENT;
    }
    *context = nullptr;
    if (info == nullptr || info->getInstanceProcAddr == nullptr ||
        info->instance == VK_NULL_HANDLE || info->physicalDevice == VK_NULL_HANDLE ||
        info->device == VK_NULL_HANDLE ||
        (info->enabledExtensionCount != 0 && info->enabledExtensions == nullptr)) {
        return SLUICE_ERROR_ARGUMENT;
    }
    try {
        std::unique_ptr<sluice::VulkanBackend> backend;
        const SluiceStatus status = sluice::VulkanBackend::create(*info, backend, &reason);
        if (status != SLUICE_OK) {
            return status;
        }
        auto made = std::make_unique<SluiceContext_T>();
        made->backend = backend.release();
        *context = made.release();
        return SLUICE_OK;
    } catch (const std::bad_alloc&) {
        reason = "out of host memory";
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}
