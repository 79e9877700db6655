// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the scan of small counts that takes one ballot for each of their bits
// (shaders/lib/scan.glsl). The kernels use it with one bit only, so this test has a shader of its
// own.
#include "tests/support/devices.h"
#include "scan_bits_base.h"
#include "scan_bits_emu.h"
#include "scan_bits_narrow.h"

#include "device/device_vulkan.h"
#include "vulkan/tiers.h"

#include <algorithm>

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr uint32_t kWorkgroup = 128, kRounds = 4;

// Makes and runs the test's shader with the subgroups of the device under test.
class BitScan {
public:
    explicit BitScan(uint32_t bits)
    {
        REQUIRE(vulkanHandles(device().get(), m_handles));
        load(m_createModule, "vkCreateShaderModule");
        load(m_destroyModule, "vkDestroyShaderModule");
        load(m_createLayout, "vkCreatePipelineLayout");
        load(m_destroyLayout, "vkDestroyPipelineLayout");
        load(m_createPipelines, "vkCreateComputePipelines");
        load(m_destroyPipeline, "vkDestroyPipeline");
        load(m_bind, "vkCmdBindPipeline");
        load(m_push, "vkCmdPushConstants");
        load(m_dispatch, "vkCmdDispatch");

        const SluiceContextInfo own = device().info();
        const bool emulated = std::string(own.tier).compare(0, 3, "emu") == 0,
                   narrow = own.subgroupSize < 32;
        VkShaderModuleCreateInfo moduleInfo = {};
        moduleInfo.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
        moduleInfo.codeSize = emulated ? sizeof scan_bits_emu
                              : narrow ? sizeof scan_bits_narrow
                                       : sizeof scan_bits_base;
        moduleInfo.pCode = emulated ? scan_bits_emu : narrow ? scan_bits_narrow : scan_bits_base;
        VkShaderModule module = VK_NULL_HANDLE;
        REQUIRE(m_createModule(vk(), &moduleInfo, nullptr, &module) == VK_SUCCESS);
        const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 16};
        VkPipelineLayoutCreateInfo layoutInfo = {};
        layoutInfo.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
        layoutInfo.pushConstantRangeCount = 1;
        layoutInfo.pPushConstantRanges = &range;
        REQUIRE(m_createLayout(vk(), &layoutInfo, nullptr, &m_layout) == VK_SUCCESS);

        // The pipeline is made as the library makes its own, with the context's subgroup size.
        const SluiceVulkanContextInfo& info = m_handles.contextInfo;
        const auto getProperties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
            info.getInstanceProcAddr(info.instance, "vkGetPhysicalDeviceProperties2"));
        const VulkanFeatures features =
            readEnabledFeatures(info.enabledFeatures, info.enabledFeatures10);
        const bool sizeControl = features.subgroupSizeControl;
        const VulkanProperties properties =
            readProperties(getProperties, info.physicalDevice, info.apiVersion, sizeControl);
        const uint32_t constants[3] = {kWorkgroup, own.subgroupSize, bits};
        const VkSpecializationMapEntry entries[3] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}};
        const VkSpecializationInfo specialization = {3, entries, sizeof constants, constants};
        VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {};
        size.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
        size.requiredSubgroupSize = own.subgroupSize;
        VkComputePipelineCreateInfo pipelineInfo = {};
        pipelineInfo.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
        pipelineInfo.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        pipelineInfo.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        pipelineInfo.stage.module = module;
        pipelineInfo.stage.pName = "main";
        pipelineInfo.stage.pSpecializationInfo = &specialization;
        pipelineInfo.layout = m_layout;
        if (!emulated && canChooseSize(features, properties)) pipelineInfo.stage.pNext = &size;
        if (!emulated && features.computeFullSubgroups)
            pipelineInfo.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
        REQUIRE(m_createPipelines(vk(), VK_NULL_HANDLE, 1, &pipelineInfo, nullptr, &m_pipeline) ==
                VK_SUCCESS);
        m_destroyModule(vk(), module, nullptr);
    }
    ~BitScan()
    {
        m_destroyPipeline(vk(), m_pipeline, nullptr);
        m_destroyLayout(vk(), m_layout, nullptr);
    }
    BitScan(const BitScan&) = delete;
    BitScan& operator=(const BitScan&) = delete;

    // values: those of all rounds of whole workgroups. Each subgroup's values are scanned by
    // themselves.
    void check(const Words& values)
    {
        const uint32_t lanes = device().info().subgroupSize;
        Words expected;
        for (size_t first = 0; first < values.size(); first += lanes) {
            uint32_t total = 0, before = 0;
            for (uint32_t lane = 0; lane < lanes; ++lane)
                total += values[first + lane];
            for (uint32_t lane = 0; lane < lanes; ++lane) {
                const uint32_t value = values[first + lane];
                expected.insert(expected.end(), {before, total, before + value});
                before += value;
            }
        }
        Buffer in(device(), values), out(device(), values.size() * 12);
        const uint64_t addresses[2] = {in.address(), out.address()};
        device().run([&](SluiceCommands commands) {
            const auto buffer = reinterpret_cast<VkCommandBuffer>(commands);
            m_bind(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, m_pipeline);
            m_push(buffer, m_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof addresses, addresses);
            m_dispatch(buffer, uint32_t(values.size() / (kWorkgroup * kRounds)), 1, 1);
        });
        CHECK((out.words() == expected));
    }

private:
    VkDevice vk() const { return m_handles.contextInfo.device; }
    template <typename Function>
    void load(Function& function, const char* name)
    {
        const SluiceVulkanContextInfo& info = m_handles.contextInfo;
        const auto getProc = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
            info.getInstanceProcAddr(info.instance, "vkGetDeviceProcAddr"));
        function = reinterpret_cast<Function>(getProc(info.device, name));
        REQUIRE((function != nullptr));
    }

    VulkanHandles m_handles = {};
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    VkPipeline m_pipeline = VK_NULL_HANDLE;
    PFN_vkCreateShaderModule m_createModule = nullptr;
    PFN_vkDestroyShaderModule m_destroyModule = nullptr;
    PFN_vkCreatePipelineLayout m_createLayout = nullptr;
    PFN_vkDestroyPipelineLayout m_destroyLayout = nullptr;
    PFN_vkCreateComputePipelines m_createPipelines = nullptr;
    PFN_vkDestroyPipeline m_destroyPipeline = nullptr;
    PFN_vkCmdBindPipeline m_bind = nullptr;
    PFN_vkCmdPushConstants m_push = nullptr;
    PFN_vkCmdDispatch m_dispatch = nullptr;
};

// Returns values where the first lanes of every subgroup have these counts and the other lanes have
// 0.
Words inEverySubgroup(const Words& counts)
{
    Words values(kWorkgroup * kRounds);
    for (size_t i = 0; i < values.size(); ++i) {
        const size_t lane = i % device().info().subgroupSize;
        values[i] = lane < counts.size() ? counts[lane] : 0;
    }
    return values;
}

Words randomBelow(uint32_t limit, uint32_t workgroups, std::mt19937& random)
{
    Words values(size_t(workgroups) * kWorkgroup * kRounds);
    for (uint32_t& value : values)
        value = uint32_t(random() % limit);
    return values;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("bit scan: the worked example of warp offsets, four full warps, and random counts")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return; // the other backends have no such scan
    std::mt19937 random = makeRandom(40);
    BitScan six(6);
    six.check(inEverySubgroup({16, 18, 17, 13})); // the sums before are 0, 16, 34, 51
    // The sums before are 0, 32, 64, 96. Counts up to 32 take six bits, not five.
    six.check(inEverySubgroup({32, 32, 32, 32}));
    six.check(Words(kWorkgroup * kRounds, 32));
    six.check(Words(kWorkgroup * kRounds, 63));
    six.check(Words(kWorkgroup * kRounds, 0));
    for (uint32_t i = 0; i < 20; ++i) {
        six.check(randomBelow(33, 3, random));
        six.check(randomBelow(64, 3, random));
    }
}

TEST_CASE("bit scan: counts of up to all lanes of a subgroup, at its number of bits")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return;
    std::mt19937 random = makeRandom(41);
    const uint32_t lanes = device().info().subgroupSize;
    uint32_t bits = 1; // becomes log2(lanes) + 1
    while (1u << (bits - 1) < lanes)
        ++bits;
    BitScan scan(bits), one(1);
    scan.check(Words(kWorkgroup * kRounds, lanes));
    one.check(Words(kWorkgroup * kRounds, 1));
    for (uint32_t i = 0; i < 10; ++i) {
        scan.check(randomBelow(lanes + 1, 3, random));
        one.check(randomBelow(2, 3, random));
    }
}

TEST_SUITE_END();
