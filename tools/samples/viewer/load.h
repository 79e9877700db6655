// SPDX-License-Identifier: MIT OR Apache-2.0
// A load that stands for a game's own work: every frame computes for some milliseconds, half of
// them in compute shaders before the frame is drawn, half in fragment shaders after the map. This
// shows what streaming costs a game that keeps the GPU busy.
#pragma once

#include "tools/samples/viewer/device.h"

namespace viewer {

class Load {
public:
    Load(Device& device, double milliseconds);
    ~Load();
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    // The load is useless GPU work: half of it computes, half draws. recordCompute and recordDraw
    // record one half each. Before recordDraw, the caller begins the render pass and binds a
    // pipeline of load.vert and load.frag with layout().
    void recordCompute(VkCommandBuffer commands) const;
    void recordDraw(VkCommandBuffer commands) const;
    VkPipelineLayout layout() const { return m_layout; }

    // Takes a frame's times, in milliseconds, and changes how much work the load is, until the load
    // is settled: it takes the wanted time. Until then, frames must draw nothing but the load.
    void adapt(double computeMilliseconds, double fragmentMilliseconds);
    bool isSettled() const { return m_agreeing >= kSettled; }
    // Returns the time that both halves took in the frame that settled the load.
    double milliseconds() const { return m_halves[0].measured + m_halves[1].measured; }

private:
    static constexpr uint32_t kSettled = 8; // frames in a row whose times are right

    struct Half {
        uint32_t rounds = 1; // iterations of work() in load.glsl
        double measured = 0; // milliseconds
    };
    bool adapt(Half& half, double measured) const;
    void push(VkCommandBuffer commands, const Half& half) const;

    Device& m_device;
    const double m_wanted; // milliseconds of a half
    Half m_halves[2];      // compute, fragment
    uint32_t m_agreeing = 0, m_stale = 0;
    Buffer m_sink;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    VkPipeline m_compute = VK_NULL_HANDLE;
};

} // namespace viewer
