// SPDX-License-Identifier: MIT OR Apache-2.0
// Textures: their images, and the descriptors by which shaders find them. Whenever the levels in
// memory change, a new image is made. The old image's levels are copied into the new image, and
// finer levels are streamed. When all are there, shaders use the descriptor of the new image, and
// the old image is destroyed as soon as no frame in flight uses it.
#pragma once

#include <array>

#include <sluice/sluice_uastc.h>

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
    // How often a texture got finer levels (raised), gave some up (lowered), no longer needed
    // levels that were being loaded, or turned out to have damaged ones.
    uint64_t raised = 0, lowered = 0, cancelled = 0, damaged = 0;
    uint64_t peakBytes = 0; // most bytes of images so far
};

constexpr uint32_t kMaxTextures = 4096;
// Formats into which UASTC textures are transcoded. auto: the first of the others that the device
// can sample.
constexpr const char* kUastcChoices[] = {"auto", "bc", "astc", "rgba8"};

class Textures {
public:
    // `uastc` is the one of kUastcChoices into which textures in UASTC are transcoded.
    Textures(Device& device, Streaming& streaming, const ResidencySettings& settings,
             const std::string& uastc);
    ~Textures();
    Textures(const Textures&) = delete;
    Textures& operator=(const Textures&) = delete;

    // Returns the number of the texture with this name; that of the grey texture if there is none.
    uint32_t find(const std::string& name);
    void setInUse(const std::vector<uint32_t>& textures, bool isInUse);
    bool haveTails(const std::vector<uint32_t>& textures) const;
    void wantEverything(bool isOn);
    bool isSettled() const { return m_residency.isSettled(); }

    // Takes what the GPU reported in `frame`, which has finished: for each texture an entry of
    // `levels` and one of `pixels` (FrameResult).
    void feedback(const uint32_t* levels, const uint32_t* pixels, uint64_t frame);
    void ended(const EndedGroup& group);
    // Makes and destroys images. `commands` get the copies between them, and must be submitted in
    // `frame` before its draws. All frames up to finishedFrame are done.
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
        SluiceImageInfo info = {};    // format: that of the images, also if the file has UASTC
        SluiceUastcFormat uastc = {}; // what UASTC becomes; format 0: the file has no UASTC
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
        uint32_t levels;               // how many levels to copy, which are the smallest
        uint32_t width, height;        // texels of the largest level that is copied
    };

    void makeDefault();
    std::string chooseFormat(Texture& texture) const;
    LevelImage makeImage(const Texture& texture, uint32_t firstLevel);
    void destroy(LevelImage& image);
    void retire(LevelImage& image, uint64_t frame);
    void raise(uint32_t index, uint32_t level);
    void lower(uint32_t index, uint32_t level, uint64_t frame);
    void addCopy(const Texture& texture, const LevelImage& to);
    void recordCopies(VkCommandBuffer commands);

    Device& m_device;
    Streaming& m_streaming;
    const uint64_t m_budget;
    const std::string m_uastc;
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
