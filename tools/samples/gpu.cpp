// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/gpu.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int runSample(const char* name, const std::function<void()>& run)
{
    try {
        run();
        return EXIT_SUCCESS;
    } catch (const NoDevice& reason) {
        std::fprintf(stderr, "%s: not run: %s\n", name, reason.what());
        return 77;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return EXIT_FAILURE;
    }
}

Gpu::Gpu(uint32_t kernels, const std::string& device, const std::string& tier)
{
    const std::string selector = device.empty() ? "vulkan" : "vulkan:" + device;
    SluiceDeviceInfo info = {};
    info.selector = selector.c_str();
    info.tier = tier.c_str();
    info.kernels = kernels;
    info.graphicsQueue = 1;
    SluiceDevice opened = nullptr;
    const char* why = nullptr;
    const SluiceStatus status = sluiceOpenDevice(&info, &opened, &why);
    if (status == SLUICE_ERROR_UNSUPPORTED) throw NoDevice(why);
    if (status != SLUICE_OK) throw std::runtime_error(why);
    m_device.reset(opened);
    sluiceGetContextInfo(sluice(), &m_chosen);
    SluiceDeviceProperties about = {};
    sluiceGetDeviceProperties(opened, &about);
    m_features = about.features;
    if (about.apiVersion < VK_API_VERSION_1_3)
        throw NoDevice("the Vulkan device knows no Vulkan 1.3");

    m_engine = std::make_unique<sluice::VulkanEngine>(sluice::engineInfo(opened));
    m_pipelines = std::make_unique<sluice::ComputePipelines>(m_engine->info());
    m_properties13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
    m_properties.pNext = &m_properties13;
    m_pipelines->getProperties(m_properties);
}

// Takes memory that the host can write, to keep the samples simple. (An engine would also have
// memory that only the device can reach, and would copy data to it.)
Buffer Gpu::allocate(uint64_t size)
{
    using Memory = sluice::VulkanEngine::Memory;
    const bool hasWindow = m_engine->hasMapped(std::max<uint64_t>(size, 1u << 29));
    return m_engine->allocate(size, hasWindow ? Memory::mapped : Memory::upload);
}

double Gpu::submit()
{
    m_engine->barrier(m_commands); // so that the host sees the results
    m_engine->submit();
    m_engine->waitIdle();
    return m_engine->milliseconds(m_engine->lastValue());
}

bool Gpu::isEmulated() const { return std::strncmp(m_chosen.tier, "emu", 3) == 0; }

VkPipeline Gpu::createLanePipeline(const uint32_t* code, size_t bytes, uint32_t workgroup)
{
    const uint32_t constants[] = {workgroup, m_chosen.subgroupSize};
    const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof constants, constants};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {};
    size.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
    size.requiredSubgroupSize = m_chosen.subgroupSize;
    VkPipelineShaderStageCreateInfo stage = {};
    stage.pSpecializationInfo = &specialization;
    const auto has = [this](const char* feature) {
        return !isEmulated() && m_features.find(feature) != std::string::npos;
    };
    const bool canRequire =
        (m_properties13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    if (has("computeFullSubgroups"))
        stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    if (has("subgroupSizeControl") && canRequire) stage.pNext = &size;
    return m_pipelines->make(code, bytes, stage);
}

uint32_t Gpu::laneWorkgroup() const
{
    const uint32_t subgroup = m_chosen.subgroupSize;
    if (isEmulated() || subgroup < 32) return std::max(32u, subgroup);
    // On an H200 the decoder of float_tile.glsl is fastest in workgroups of 1,024 invocations. They
    // are used only where the device has as much shared memory as that file says they take.
    const VkPhysicalDeviceLimits& limits = m_properties.properties.limits;
    const bool fits =
        subgroup == 32 && limits.maxComputeSharedMemorySize >= 17808 + 768 * (1024 / 32);
    return std::min({fits ? 1024u : 512u,
                     limits.maxComputeWorkGroupInvocations / subgroup * subgroup,
                     m_properties13.maxComputeWorkgroupSubgroups * subgroup});
}
