// SPDX-License-Identifier: MIT OR Apache-2.0
// Textures: their images, and the descriptors by which shaders find these. Every change of the
// resident levels makes a new image. The levels of the old image are copied into it, and finer
// levels are streamed. Then the new image's descriptor replaces the old one, and the old image is
// destroyed when no frame in flight can sample it.
#pragma once

#include "tools/samples/viewer/residency.h"
#include "tools/samples/viewer/image_sets.h"
#include "tools/samples/viewer/streaming.h"

namespace viewer {

// Holds what shaders know about a texture (world.frag).
struct TextureEntry {
    uint32_t slot;       // index of its descriptor
    uint32_t firstLevel; // first level in the image
    uint32_t size;       // of level 0 in texels: width, and height << 16
    uint32_t isSrgb;
};

struct TextureCounts {
    uint64_t raised = 0, lowered = 0, cancelled = 0, damaged = 0; // steps
    uint64_t peakBytes = 0;                                       // of images
};

constexpr uint32_t kMaxTextures = 4096;

class Textures {
public:
    Textures(Device& device, Streaming& streaming, const ResidencySettings& settings);
    ~Textures();
    Textures(const Textures&) = delete;
    Textures& operator=(const Textures&) = delete;

    // Returns a texture's number. A name that the archive lacks gets a grey texture.
    uint32_t find(const std::string& name);
    void setInUse(const std::vector<uint32_t>& textures, bool isInUse);
    bool haveTails(const std::vector<uint32_t>& textures) const;
    void wantEverything(bool isOn);
    bool isSettled() const { return m_residency.isSettled(); }

    // levels and pixels are what the GPU wrote for each texture in that frame, which is finished.
    void feedback(const uint32_t* levels, const uint32_t* pixels, uint64_t frame);
    void ended(const EndedGroup& group);
    // Creates and destroys images. `commands` must be submitted as part of `frame` and before its
    // draws. Frames up to finishedFrame are done.
    void update(VkCommandBuffer commands, uint64_t frame, uint64_t finishedFrame);
    void writeEntries(TextureEntry* entries) const; // kMaxTextures of them

    VkDescriptorSetLayout setLayout() const { return m_sets.layout(); }
    // Returns the descriptor set of a texture. If textures are bindless, all share one set.
    VkDescriptorSet set(uint32_t texture) const;

    uint32_t count() const { return uint32_t(m_textures.size()); }
    uint64_t usedBytes() const { return m_usedBytes; } // of images
    uint64_t wantedBytes() const { return m_residency.wantedBytes(); }
    uint32_t bias() const { return m_residency.bias(); }
    uint32_t missing() const; // textures whose wanted levels are under way
    uint32_t reduced() const; // textures that lack levels
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
        LevelImage tail, detail; // tail: all levels from tailLevel on; detail: finer ones too
        LevelImage coming;
        SluiceStreamGroup group = 0;
        int32_t priority = 0;
        bool isCancelled = false;

        const LevelImage& current() const { return detail.isThere() ? detail : tail; }
    };
    struct Retired {
        LevelImage image;
        uint64_t frame; // last frame that may use it
    };
    struct Copy {
        VkImage from, to;
        uint32_t fromLevels, toLevels; // of the images
        uint32_t levels;               // number of smallest levels to copy
        uint32_t width, height;        // of the largest level to copy
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
    std::vector<Texture> m_textures; // numbers as Residency has them; 0 is grey
    std::vector<uint8_t> m_grey;
    std::vector<Retired> m_retired;
    std::vector<Copy> m_copies;
    ImageSets m_sets; // one set per slot, or one for all
    std::vector<uint32_t> m_freeSlots;
    uint64_t m_usedBytes = 0, m_retiredBytes = 0;
    TextureCounts m_counts;
};

} // namespace viewer
