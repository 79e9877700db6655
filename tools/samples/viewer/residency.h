// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides which mip levels of which textures are in memory. This code knows numbers only and no
// Vulkan: the caller makes images and reports what became of each step.
//
// The GPU reports the finest level of each texture that a pixel wanted. A texture gets finer levels
// (is raised) as soon as they are wanted. They stop being wanted only when no pixel has wanted them
// for lowerAfter frames, so that looking away for a moment costs nothing. Levels that are not
// wanted stay until their memory is needed. The texture that has not been seen for longest loses
// such levels (is lowered) first. If the wanted levels do not fit into the budget, all textures
// become coarser by the same number of levels, the bias. A texture's tail, its smallest levels,
// stays as long as the texture is in use.
#pragma once

#include <cstdint>
#include <vector>

namespace viewer {

constexpr uint32_t kNotSeen = 0xffffffff; // no pixel wanted the texture
constexpr uint32_t kLevelBands = 5;       // number of classes: lacking 0, 1, 2, 3, or more levels

struct ResidencySettings {
    uint64_t budget = 0;        // bytes of all images, including those that wait to be destroyed
    uint32_t lowerAfter = 90;   // frames for which a texture keeps levels that no pixel wants
    uint32_t stepsPerFrame = 8; // most images made in a frame
};

struct ResidencyStep {
    enum Kind {
        raise,
        lower,
        cancel
    } kind;
    uint32_t texture;
    uint32_t level; // first level in memory after the step; levels(texture) if none stays
};

class Residency {
public:
    explicit Residency(const ResidencySettings& settings) : m_settings(settings) {}

    // Adds a texture and returns its number. bytesFrom[k] is how many bytes an image with level k
    // and all smaller levels takes. `tail` is the first of the small levels that stay while it is
    // in use.
    uint32_t add(std::vector<uint64_t> bytesFrom, uint32_t tail);
    // If a texture is not in use, its smallest levels (the tail) may leave memory too.
    void setInUse(uint32_t texture, bool isInUse) { m_textures[texture].isInUse = isInUse; }
    // If on, level 0 of every texture in use is wanted, whatever the feedback and the budget are.
    void wantEverything(bool isOn) { m_wantsEverything = isOn; }

    // Takes a frame's feedback about a texture: the finest level that a pixel wanted, and how many
    // of the reporting pixels wanted the texture.
    void feedback(uint32_t texture, uint32_t level, uint32_t pixels, uint64_t frame);

    // Returns the steps to take now. usedBytes is the size of all images, soonFreeBytes that of the
    // images that will be destroyed when the GPU is done with them. The caller calls lowered() for
    // a step that lowers a texture; for one that raises it, started() and later finished() or
    // failed().
    const std::vector<ResidencyStep>& plan(uint64_t usedBytes, uint64_t soonFreeBytes);
    void started(uint32_t texture, uint32_t level) { m_textures[texture].coming = level; }
    void finished(uint32_t texture, bool isThere);
    // Says that the levels that were being loaded are damaged, so that only coarser ones are used.
    void failed(uint32_t texture);
    void lowered(uint32_t texture, uint32_t level);

    // Returns how urgently a texture is loaded: the number of its missing levels times (1 + the
    // number of pixels that wanted it). Textures that lack even their tail come before all others.
    int32_t priority(uint32_t texture) const;
    // Returns whether everything wanted is in memory.
    bool isSettled() const;
    uint32_t resident(uint32_t texture) const { return m_textures[texture].resident; }
    bool isBusy(uint32_t texture) const { return m_textures[texture].isBusy(); }
    bool isDamaged(uint32_t texture) const { return m_textures[texture].best != 0; }
    uint32_t levels(uint32_t texture) const { return m_textures[texture].levels(); }
    uint32_t bias() const { return m_bias; }
    uint64_t wantedBytes() const { return m_wantedBytes; }

private:
    struct Texture {
        std::vector<uint64_t> bytesFrom;
        uint32_t tail;
        uint32_t resident, coming; // first levels; coming == resident: nothing is under way
        uint32_t wanted;           // first wanted level; it becomes coarser only after lowerAfter
        uint32_t finest;           // the finest level wanted since frame `since`
        uint64_t since, seen;      // frame numbers
        uint32_t pixels;
        uint32_t best; // the first level not known to be damaged
        bool isInUse;

        uint32_t levels() const { return uint32_t(bytesFrom.size()); }
        uint64_t bytes(uint32_t level) const { return level < levels() ? bytesFrom[level] : 0; }
        bool isBusy() const { return coming != resident; }
    };

    uint32_t target(const Texture& texture, uint32_t bias) const;
    uint32_t target(const Texture& texture) const { return target(texture, m_bias); }
    uint64_t bytesWith(uint32_t bias) const;
    void chooseBias();
    void raiseAll(uint64_t free, uint64_t soonFree);
    uint64_t makeRoom(uint64_t bytes, uint64_t& free);

    ResidencySettings m_settings;
    std::vector<Texture> m_textures;
    std::vector<ResidencyStep> m_steps;
    std::vector<uint32_t> m_order;
    uint32_t m_bias = 0;
    uint64_t m_wantedBytes = 0;
    bool m_wantsEverything = false;
};

} // namespace viewer
