// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/load.h"

#include <algorithm>
#include <cmath>

#include "tools/samples/viewer/renderer.h"

#include "load_comp.h"

namespace viewer {

namespace {

// Enough workgroups that even the largest GPUs run them in many waves, one after the other. The
// last wave, which does not fill the GPU, takes only a small part of the time.
constexpr uint32_t kWorkgroups = 16384;
constexpr uint32_t kMostRounds = 1u << 20;
constexpr double kTolerance = 0.05;
constexpr VkShaderStageFlags kStages = VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;

struct Push {
    VkDeviceAddress sink;
    uint32_t rounds;
};
constexpr uint32_t kPushBytes = 12; // the size in load.glsl; Push has padding at its end

} // namespace

Load::Load(Device& device, double milliseconds) : m_device(device), m_wanted(milliseconds / 2)
{
    m_sink = device.engine().allocate(256, Memory::local);
    const VkPushConstantRange range = {kStages, 0, kPushBytes};
    VkPipelineLayoutCreateInfo layout = {};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    require(vkCreatePipelineLayout(device.get(), &layout, nullptr, &m_layout),
            "vkCreatePipelineLayout");
    VkComputePipelineCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = device.makeShader(load_comp, sizeof load_comp);
    info.stage.pName = "main";
    info.layout = m_layout;
    const VkResult made =
        vkCreateComputePipelines(device.get(), VK_NULL_HANDLE, 1, &info, nullptr, &m_compute);
    vkDestroyShaderModule(device.get(), info.stage.module, nullptr);
    require(made, "vkCreateComputePipelines");
}

Load::~Load()
{
    vkDestroyPipeline(m_device.get(), m_compute, nullptr);
    vkDestroyPipelineLayout(m_device.get(), m_layout, nullptr);
    m_device.engine().release(m_sink);
}

void Load::push(VkCommandBuffer commands, const Half& half) const
{
    const Push push = {m_sink.address, half.rounds};
    vkCmdPushConstants(commands, m_layout, kStages, 0, kPushBytes, &push);
}

void Load::recordCompute(VkCommandBuffer commands) const
{
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, m_compute);
    push(commands, m_halves[0]);
    vkCmdDispatch(commands, kWorkgroups, 1, 1);
}

void Load::recordDraw(VkCommandBuffer commands) const
{
    push(commands, m_halves[1]);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

// Changes half.rounds, the number of iterations, if this half of the load did not take the wanted
// time. Returns true if the number stays: the time is right, or no other number comes closer to it.
bool Load::adapt(Half& half, double measured) const
{
    half.measured = measured;
    const double ratio = measured > 0 ? m_wanted / measured : 4;
    if (std::fabs(ratio - 1) <= kTolerance) return true;
    const uint32_t before = half.rounds;
    half.rounds = uint32_t(std::lround(double(before) * std::clamp(ratio, 0.25, 4.0)));
    half.rounds = std::clamp(half.rounds, 1u, kMostRounds);
    return half.rounds == before;
}

void Load::adapt(double computeMilliseconds, double fragmentMilliseconds)
{
    if (isSettled()) return;
    // The next frames were recorded with the old numbers of rounds, so their times say nothing
    // about the present ones.
    if (m_stale != 0) {
        --m_stale;
        return;
    }
    const bool isComputeRight = adapt(m_halves[0], computeMilliseconds);
    const bool isFragmentRight = adapt(m_halves[1], fragmentMilliseconds);
    if (isComputeRight && isFragmentRight) {
        ++m_agreeing;
    } else {
        m_agreeing = 0;
        m_stale = kFramesInFlight;
    }
}

} // namespace viewer
