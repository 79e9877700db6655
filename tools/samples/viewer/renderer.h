// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws a map into an image of the viewer's own: depth, then colours with the feedback of wanted
// levels, then text. Frames are recorded while earlier ones run; what the GPU wrote for the host is
// read when a frame's turn comes again.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tools/samples/viewer/map.h"

namespace viewer {

constexpr uint32_t kFramesInFlight = 2;
constexpr uint32_t kPatterns = 16; // frames until each pixel has said once what it wants

struct FrameResult {
    uint64_t frame = 0;
    const uint32_t* levels = nullptr; // of each texture, kNotSeen where no pixel wanted it
    const uint32_t* pixels = nullptr;
    double milliseconds = 0; // of the GPU: the frame, and what the streamer recorded into it
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
    VkSemaphore semaphore() const { return m_semaphore; } // of type timeline: frames that are done
    uint64_t finishedFrame() const;

    // Begins the next frame: waits for the one that had its place, and says what became of that;
    // result.frame is 0 if there was none.
    VkCommandBuffer begin(FrameResult& result);
    uint64_t frame() const { return m_frame; } // the one that is recorded
    void streamingBegins() { mark(1); }        // stand around what the streamer records
    void streamingEnds() { mark(2); }
    // map: may be NULL. lines: in capital letters.
    void draw(const Map* map, const Pose& pose, const std::vector<std::string>& lines);
    // A frame waits until a swapchain's image is acquired, and signals that it is drawn; it waits
    // for the streamer's batches whose textures it shows. Semaphores may be VK_NULL_HANDLE.
    struct Sync {
        VkSemaphore acquired, drawn;
        VkSemaphore streamed;
        uint64_t streamedValue;
    };
    void submit(const Sync& sync);
    void waitIdle();
    // Pixels of the last frame, four bytes each; waits.
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
    Buffer m_feedback; // of the frame under way
    Buffer m_pixels;
    Frame m_frames[kFramesInFlight];
    uint64_t m_frame = 0;
};

} // namespace viewer
