// SPDX-License-Identifier: MIT OR Apache-2.0
// Textures: their images, and the descriptors by which shaders find them. Whenever the levels in
// memory change, a new image is made. The old image's levels are copied into the new image, and
// finer levels are streamed. When all are there, shaders use the descriptor of the new image, and
// the old image is destroyed as soon as no frame in flight uses it.
#pragma once

#include <array>

#include "tools/samples/viewer/residency.h"
#include "tools/samples/viewer/image_sets.h"
#include "tools/samples/viewer/streaming.h"

namespace viewer {

// The data that shaders have about a texture (world.frag).
struct TextureEntry {
    uint32_t slot;       // index of its image's descriptor
    uint32_t firstLevel; // first level that the image has
    uint32_t size;       // texels of level 0: width | height << 16
    uint32_t isSrgb;
};

struct TextureCounts {
    // How often a texture got finer levels, gave some up, no longer needed levels that were under
    // way, or had damaged ones.
    uint64_t raised = 0, lowered = 0, cancelled = 0, damaged = 0;
    uint64_t peakBytes = 0; // most bytes of images so far
};

constexpr uint32_t kMaxTextures = 4096;

class Textures {
public:
    Textures(Device& device, Streaming& streaming, const ResidencySettings& settings);
    ~Textures();
    Textures(const Textures&) = delete;
    Textures& operator=(const Textures&) = delete;

    // Returns the number of the texture with this name; that of the grey texture if there is none.
    uint32_t find(const std::string& name);
    void setInUse(const std::vector<uint32_t>& textures, bool isInUse);
    bool haveTails(const std::vector<uint32_t>& textures) const;
    void wantEverything(bool isOn);
    bool isSettled() const { return m_residency.isSettled(); }

    // `levels` and `pixels` are what the GPU wrote in `frame`, which has finished, for each
    // texture.
    void feedback(const uint32_t* levels, const uint32_t* pixels, uint64_t frame);
    void ended(const EndedGroup& group);
    // Makes and destroys images. `commands` must be submitted with `frame`, before its draws. All
    // frames up to finishedFrame are done.
    void update(VkCommandBuffer commands, uint64_t frame, uint64_t finishedFrame);
    void writeEntries(TextureEntry* entries) const; // `entries` has room for kMaxTextures

    VkDescriptorSetLayout setLayout() const { return m_sets.layout(); }
    // Returns the descriptor set of a texture; all textures have the same one if they are bindless.
    VkDescriptorSet set(uint32_t texture) const;

    uint32_t count() const { return uint32_t(m_textures.size()); }
    uint64_t usedBytes() const { return m_usedBytes; } // bytes of all images
    uint64_t wantedBytes() const { return m_residency.wantedBytes(); }
    uint32_t bias() const { return m_residency.bias(); }
    uint32_t missing() const; // textures for which wanted levels are under way
    uint32_t reduced() const; // textures without all of their levels
    // Returns how many textures lack 0, 1, 2, 3, and 4 or more of their largest levels. Textures
    // without any level are not counted.
    std::array<uint32_t, kLevelBands> byLevel() const;
    const TextureCounts& counts() const { return m_counts; }

private:
    struct LevelImage {
        Image image;
        uint32_t firstLevel = 0;
        uint32_t slot = 0;
        bool isThere() const { return image.image != VK_NULL_HANDLE; }
    };
    struct Texture {
        uint32_t asset = 0;
        SluiceImageInfo info = {};
        uint32_t tailLevel = 0;
        LevelImage tail, detail; // tail: the levels from tailLevel on; detail: finer levels too
        LevelImage coming;
        SluiceStreamGroup group = 0;
        int32_t priority = 0;
        bool isCancelled = false;

        const LevelImage& current() const { return detail.isThere() ? detail : tail; }
    };
    struct Retired {
        LevelImage image;
        uint64_t frame; // the last frame that may use it
    };
    struct Copy {
        VkImage from, to;
        uint32_t fromLevels, toLevels; // number of levels in both images
        uint32_t levels;               // how many levels, the smallest, to copy
        uint32_t width, height;        // of the largest level that is copied
    };

    void makeDefault();
    LevelImage makeImage(const SluiceImageInfo& info, uint32_t firstLevel);
    void destroy(LevelImage& image);
    void retire(LevelImage& image, uint64_t frame);
    void raise(uint32_t index, uint32_t level);
    void lower(uint32_t index, uint32_t level, uint64_t frame);
    void addCopy(const Texture& texture, const LevelImage& to);
    void recordCopies(VkCommandBuffer commands);

    Device& m_device;
    Streaming& m_streaming;
    const uint64_t m_budget;
    bool m_wantsEverything = false;
    Residency m_residency;
    std::map<std::string, uint32_t> m_byName;
    std::vector<Texture> m_textures; // indexed by the numbers of Residency; 0 is grey
    std::vector<uint8_t> m_grey;
    std::vector<Retired> m_retired;
    std::vector<Copy> m_copies;
    ImageSets m_sets; // one for each slot, or one for all
    std::vector<uint32_t> m_freeSlots;
    uint64_t m_usedBytes = 0, m_retiredBytes = 0;
    TextureCounts m_counts;
};

} // namespace viewer
