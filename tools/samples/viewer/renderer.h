// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws a map into an image: depth; then colours, while visible pixels report which mip levels they
// want (feedback); then text. Frames are recorded while earlier ones run. A frame has one of
// kFramesInFlight slots; what the GPU writes for the host is read when that slot is used again.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tools/samples/viewer/load.h"
#include "tools/samples/viewer/map.h"

namespace viewer {

constexpr uint32_t kFramesInFlight = 2;
constexpr uint32_t kMaxLetters = 2048; // of all lines of text
constexpr uint32_t kPatterns = 16;     // after this many frames every pixel has reported once

struct FrameResult {
    uint64_t frame = 0;
    const uint32_t* levels = nullptr; // of each texture, the finest level wanted; kNotSeen: none
    const uint32_t* pixels = nullptr; // of each texture, how many pixels reported that they want it
    double milliseconds = 0;          // GPU time of the frame
    double streamingMilliseconds = 0; // GPU time of the batches in the frame
    double loadMilliseconds[2] = {};  // GPU time of the load in compute and in fragment shaders
};

class Renderer {
public:
    Renderer(Device& device, Textures& textures, LightmapSets& lightmaps, VkExtent2D size);
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    VkExtent2D size() const { return m_size; }
    // Returns the picture. After draw(), its layout is TRANSFER_SRC.
    VkImage image() const { return m_colour.image; }
    // Returns a timeline semaphore whose value is the number of the last finished frame.
    VkSemaphore semaphore() const { return m_semaphore; }
    uint64_t finishedFrame() const;

    // Begins the next frame. First waits for the frame that used the same buffers, kFramesInFlight
    // before. `result` receives what that frame reported; result.frame is 0 if there was none.
    VkCommandBuffer begin(FrameResult& result);
    uint64_t frame() const { return m_frame; } // number of the frame that is being recorded
    void streamingBegins() { mark(1); }        // call it before the streamer's commands
    void streamingEnds() { mark(2); }          // call it after the streamer's commands
    // Draws the map, which may be null, and the lines of text, in capital letters.
    void draw(const Map* map, const Pose& pose, const std::vector<std::string>& lines);
    // The semaphores of a frame; each may be VK_NULL_HANDLE. The frame waits until the window's
    // image is acquired (`acquired`), and until `streamed` reaches streamedValue: then the batches
    // have ended that loaded the frame's textures. The frame signals `drawn`.
    struct Sync {
        VkSemaphore acquired, drawn;
        VkSemaphore streamed;
        uint64_t streamedValue;
    };
    void submit(const Sync& sync);
    void waitIdle();
    // Adds useless work that takes the GPU this many milliseconds to every later frame, as if a
    // game were running. Frames must draw no map until load()->isSettled().
    void addLoad(double milliseconds);
    const Load* load() const { return m_load.get(); } // null: there is no load
    // Waits for the last frame. Returns its pixels, four bytes each.
    std::vector<uint8_t> readPixels();

private:
    // Timestamps of a frame: its begin, both ends of the streamer's commands, its end. If there is
    // a load (load.h), both ends of each of its halves follow.
    static constexpr uint32_t kTimes = 4, kTimesWithLoad = 8;
    struct Frame {
        VkCommandBuffer commands = VK_NULL_HANDLE;
        VkQueryPool times = VK_NULL_HANDLE;
        Buffer entries, letters, feedback; // in host memory; feedback is a copy of m_feedback
        VkDescriptorSet set = VK_NULL_HANDLE;
        uint64_t number = 0; // number of the frame; 0: not used yet
        bool hasLoad = false;
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
    VkPipeline makePipeline(VkShaderModule vertex, VkShaderModule fragment, VkPipelineLayout layout,
                            Cover cover, bool isDepthOnly, bool isOverlay);
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
    std::unique_ptr<Load> m_load;
    VkPipeline m_loadPipeline = VK_NULL_HANDLE;
    VkCommandPool m_pool = VK_NULL_HANDLE;
    VkSemaphore m_semaphore = VK_NULL_HANDLE;
    Buffer m_feedback; // for the current frame, in GPU memory
    Buffer m_pixels;
    Frame m_frames[kFramesInFlight];
    uint64_t m_frame = 0;
};

} // namespace viewer
