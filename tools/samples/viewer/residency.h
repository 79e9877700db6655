// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides which mip levels of which textures are in memory. It works on plain numbers without
// Vulkan: the caller makes the images and reports the result of each step.
//
// The GPU reports for each texture the finest level that a pixel wanted. A texture is raised as
// soon as a finer level is wanted. Its wanted level drops only after some seconds, so that looking
// away for a moment costs nothing. Levels that are no longer wanted stay until their memory is
// needed; textures that were seen longest ago are lowered first. If the wanted levels alone exceed
// the budget, all textures get coarser by the same bias, regardless of their order.
#pragma once

#include <cstdint>
#include <vector>

namespace viewer {

constexpr uint32_t kNotSeen = 0xffffffff; // a level that no pixel wanted

struct ResidencySettings {
    uint64_t budget = 0;        // bytes of images, including old ones that still wait for the GPU
    uint32_t lowerAfter = 90;   // frames
    uint32_t stepsPerFrame = 8; // most images made per frame
};

struct ResidencyStep {
    enum Kind {
        raise,
        lower,
        cancel
    } kind;
    uint32_t texture;
    uint32_t level; // first resident level after the step; the number of levels: none
};

class Residency {
public:
    explicit Residency(const ResidencySettings& settings) : m_settings(settings) {}

    // bytesFrom[k] is the bytes of an image with level k and all smaller levels. `tail` is the
    // first level that stays resident as long as the texture is in use.
    uint32_t add(std::vector<uint64_t> bytesFrom, uint32_t tail);
    // Textures that are not in use may lose all of their levels.
    void setInUse(uint32_t texture, bool isInUse) { m_textures[texture].isInUse = isInUse; }
    // Wants level 0 of all textures in use, regardless of the feedback and the budget.
    void wantEverything(bool isOn) { m_wantsEverything = isOn; }

    // Takes what a frame's pixels wanted: the finest level, and how many of the sampled pixels
    // wanted the texture.
    void feedback(uint32_t texture, uint32_t level, uint32_t pixels, uint64_t frame);

    // Returns the steps to take now. usedBytes is the size of all images, soonFreeBytes that of
    // retired images that wait for the GPU. The caller must answer each step by started() and later
    // finished() or failed(), or by lowered().
    const std::vector<ResidencyStep>& plan(uint64_t usedBytes, uint64_t soonFreeBytes);
    void started(uint32_t texture, uint32_t level) { m_textures[texture].coming = level; }
    void finished(uint32_t texture, bool isThere);
    // The levels under way are damaged, so only coarser ones can be used.
    void failed(uint32_t texture);
    void lowered(uint32_t texture, uint32_t level);

    // Returns the number of missing levels times the share of the screen. Tails come before
    // everything else.
    int32_t priority(uint32_t texture) const;
    // Returns whether everything that is wanted is resident.
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
        uint32_t resident, coming; // coming == resident: nothing is under way
        uint32_t wanted;           // with hysteresis
        uint32_t finest;           // wanted since `since`
        uint64_t since, seen;      // frames
        uint32_t pixels;
        uint32_t best; // the first level that is not known to be damaged
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
