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
    m_recorder.barrier(recordingOf(commands),
                       VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
                           VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                       VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                           VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                           VK_ACCESS_INDIRECT_COMMAND_READ_BIT,
                       true);
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdSideBySide(SluiceCommands commands, RecordChains record,
                                          const void* user)
{
    SideBySide collected;
    collected.commands = recordingOf(commands).commands;
    const SluiceStatus status = record(user, collecting(collected));
    if (status == SLUICE_OK) m_recorder.flush(collected, false);
    return status;
}

} // namespace sluice

SluiceStatus sluiceCreateVulkanContext(const SluiceVulkanContextInfo* info, SluiceContext* context,
                                       const char** report)
{
    const sluice::Reporter reporter =
        info != nullptr ? sluice::Reporter{info->report, info->reportUser} : sluice::Reporter{};
    sluice::ArgumentChecker check(reporter, __func__);
    const char* unused;
    const char*& reason = report != nullptr ? *report : unused;
    reason = "a required argument is NULL";
    if (!check.given(SLUICE_NAMED(context))) return check.status();
    *context = nullptr;
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.given(SLUICE_NAMED(info->getInstanceProcAddr));
    check.given(SLUICE_NAMED(info->instance));
    check.given(SLUICE_NAMED(info->physicalDevice));
    check.given(SLUICE_NAMED(info->device));
    check.require(SLUICE_NAMED(info->enabledExtensions),
                  info->enabledExtensionCount == 0 || info->enabledExtensions != nullptr,
                  "is not NULL");
    if (!check.isOk()) return check.status();
    try {
        std::unique_ptr<sluice::VulkanBackend> backend;
        const SluiceStatus status = sluice::VulkanBackend::create(*info, backend, &reason);
        if (status != SLUICE_OK) return status;
        auto made = std::make_unique<SluiceContext_T>();
        made->backend = backend.release();
        made->reporter = reporter;
        *context = made.release();
        return SLUICE_OK;
    } catch (const std::bad_alloc&) {
        reason = "out of host memory";
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}
