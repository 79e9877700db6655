// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws a map into an image of the viewer's own: depth, then colours together with the feedback
// about wanted levels, then text. Frames are recorded while earlier ones run. The data that the GPU
// wrote for the host is read when the frame's place is used again.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tools/samples/viewer/map.h"

namespace viewer {

constexpr uint32_t kFramesInFlight = 2;
constexpr uint32_t kPatterns = 16; // frames until every pixel has reported once

struct FrameResult {
    uint64_t frame = 0;
    const uint32_t* levels = nullptr; // per texture; kNotSeen: no pixel wanted it
    const uint32_t* pixels = nullptr;
    double milliseconds = 0; // on the GPU: the frame and the batches recorded into it
    double streamingMilliseconds = 0;
};

class Renderer {
public:
    Renderer(Device& device, Textures& textures, LightmapSets& lightmaps, VkExtent2D size);
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    VkExtent2D size() const { return m_size; }
    VkImage image() const { return m_colour.image; }      // in layout TRANSFER_SRC after draw()
    VkSemaphore semaphore() const { return m_semaphore; } // timeline of finished frames
    uint64_t finishedFrame() const;

    // Begins the next frame. Waits for the frame that used its place before and returns that
    // frame's result; result.frame is 0 if there was none.
    VkCommandBuffer begin(FrameResult& result);
    uint64_t frame() const { return m_frame; } // the frame that is recorded now
    void streamingBegins() { mark(1); }        // these enclose the streamer's commands
    void streamingEnds() { mark(2); }
    // map may be nullptr. lines are in capital letters.
    void draw(const Map* map, const Pose& pose, const std::vector<std::string>& lines);
    // The semaphores of a frame. It waits until the swapchain's image is acquired and until the
    // batches of the textures that it shows are done, and signals when it is drawn. Any semaphore
    // may be VK_NULL_HANDLE.
    struct Sync {
        VkSemaphore acquired, drawn;
        VkSemaphore streamed;
        uint64_t streamedValue;
    };
    void submit(const Sync& sync);
    void waitIdle();
    // Waits for the last frame and returns its pixels, four bytes each.
    std::vector<uint8_t> readPixels();

private:
    struct Frame {
        VkCommandBuffer commands = VK_NULL_HANDLE;
        VkQueryPool times = VK_NULL_HANDLE;
        Buffer entries, letters, feedback; // host: feedback is what was copied from the GPU's
        VkDescriptorSet set = VK_NULL_HANDLE;
        uint64_t number = 0; // 0: never used
    };
    struct Push {
        std::array<float, 16> viewProjection;
        float cell[2];
        uint32_t pattern;
    };

    void createTargets();
    void createFrames();
    void createSets();
    void createPipelines(LightmapSets& lightmaps);
    VkPipeline makePipeline(VkShaderModule vertex, VkShaderModule fragment, Cover cover,
                            bool isDepthOnly, bool isOverlay);
    void mark(uint32_t query);
    void clearFeedback();
    void drawMap(const Map& map);
    void copyFeedback();
    uint32_t writeLetters(const std::vector<std::string>& lines);
    Frame& current() { return m_frames[m_frame % kFramesInFlight]; }

    Device& m_device;
    Textures& m_textures;
    const VkExtent2D m_size;
    Image m_colour, m_depth;
    VkFormat m_depthFormat = VK_FORMAT_D32_SFLOAT;
    VkRenderPass m_pass = VK_NULL_HANDLE;
    VkFramebuffer m_framebuffer = VK_NULL_HANDLE;
    VkDescriptorSetLayout m_frameLayout = VK_NULL_HANDLE;
    VkDescriptorPool m_descriptors = VK_NULL_HANDLE;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    VkPipeline m_depthPipeline = VK_NULL_HANDLE, m_overlayPipeline = VK_NULL_HANDLE;
    VkPipeline m_pipelines[uint32_t(Cover::count)] = {};
    VkCommandPool m_pool = VK_NULL_HANDLE;
    VkSemaphore m_semaphore = VK_NULL_HANDLE;
    Buffer m_feedback; // of the current frame
    Buffer m_pixels;
    Frame m_frames[kFramesInFlight];
    uint64_t m_frame = 0;
};

} // namespace viewer
