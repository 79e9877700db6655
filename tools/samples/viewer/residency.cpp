// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/residency.h"

#include <algorithm>
#include <utility>

namespace viewer {

namespace {

constexpr int32_t kTailPriority = 1 << 30;
constexpr uint32_t kMaxBias = 16;

} // namespace

uint32_t Residency::add(std::vector<uint64_t> bytesFrom, uint32_t tail)
{
    const uint32_t levels = uint32_t(bytesFrom.size());
    m_textures.push_back(
        {std::move(bytesFrom), tail, levels, levels, tail, tail, 0, 0, 0, 0, false});
    return uint32_t(m_textures.size() - 1);
}

void Residency::feedback(uint32_t texture, uint32_t level, uint32_t pixels, uint64_t frame)
{
    Texture& t = m_textures[texture];
    if (level != kNotSeen) {
        t.seen = frame;
        level = std::min(level, t.tail);
        t.finest = std::min(t.finest, level);
    }
    t.pixels = pixels != 0 ? pixels : t.pixels / 2;
    if (t.finest < t.wanted || frame >= t.since + m_settings.lowerAfter) {
        t.wanted = t.finest;
        t.finest = t.tail;
        t.since = frame;
    } else if (level == t.wanted) {
        t.since = frame;
        t.finest = t.tail;
    }
}

uint32_t Residency::target(const Texture& texture, uint32_t bias) const
{
    if (!texture.isInUse) return texture.levels();
    const uint32_t wanted = m_wantsEverything ? 0 : std::min(texture.wanted + bias, texture.tail);
    return std::max(wanted, texture.best);
}

// Returns how many bytes all wanted levels would take if textures were coarser by `bias` levels.
// The tail (the smallest levels) is an image of its own, so its bytes are added to those of the
// detail.
uint64_t Residency::bytesWith(uint32_t bias) const
{
    uint64_t bytes = 0;
    for (const Texture& texture : m_textures) {
        if (!texture.isInUse) continue;
        const uint32_t level = target(texture, bias);
        bytes += texture.bytes(texture.tail) + (level < texture.tail ? texture.bytes(level) : 0);
    }
    return bytes;
}

// Raises the bias (by how many levels all textures are coarser) until the wanted levels fit into
// 3/4 of the budget. The rest is for images that exist twice while a texture changes. Lowers the
// bias by one only if 1/8 of the 3/4 stays free; otherwise it could change in every frame.
void Residency::chooseBias()
{
    const uint64_t most = m_settings.budget / 4 * 3;
    if (m_wantsEverything) m_bias = 0;
    while (!m_wantsEverything && m_bias < kMaxBias && bytesWith(m_bias) > most)
        ++m_bias;
    if (m_bias > 0 && bytesWith(m_bias - 1) <= most - most / 8) --m_bias;
    m_wantedBytes = bytesWith(m_bias);
}

// Adds steps that lower textures: those with more levels than their target get a smaller image or
// none. Stops when these steps free `bytes` bytes. Returns how many bytes they free. `free` is the
// memory that is free now; the function subtracts from it what the smaller images take.
uint64_t Residency::makeRoom(uint64_t bytes, uint64_t& free)
{
    std::vector<uint32_t> surplus;
    for (uint32_t i = 0; i < m_textures.size(); ++i) {
        const Texture& texture = m_textures[i];
        if (!texture.isBusy() && texture.resident < target(texture)) surplus.push_back(i);
    }
    std::sort(surplus.begin(), surplus.end(), [this](uint32_t a, uint32_t b) {
        const Texture &left = m_textures[a], &right = m_textures[b];
        return std::pair(left.isInUse, left.seen) < std::pair(right.isInUse, right.seen);
    });
    uint64_t freed = 0;
    for (const uint32_t index : surplus) {
        if (freed >= bytes) break;
        const Texture& texture = m_textures[index];
        uint32_t level = target(texture);
        // The smaller image needs memory too, unless only the tail is left, which is an image of
        // its own. If there is not enough memory, the texture keeps only its tail.
        uint64_t cost = level < texture.tail ? texture.bytes(level) : 0;
        if (cost > free) {
            level = texture.tail;
            cost = 0;
        }
        free -= cost;
        const uint64_t before = texture.bytes(texture.resident);
        freed += before > cost ? before - cost : 0;
        m_steps.push_back({ResidencyStep::lower, index, level});
    }
    return freed;
}

void Residency::raiseAll(uint64_t free, uint64_t soonFree)
{
    for (const uint32_t index : m_order) {
        if (m_steps.size() >= m_settings.stepsPerFrame) return;
        const Texture& texture = m_textures[index];
        const bool isFirst = texture.resident == texture.levels();
        const uint32_t level = isFirst ? std::max(texture.tail, texture.best) : target(texture);
        const uint64_t cost = texture.bytes(level);
        if (cost <= free) {
            free -= cost;
            m_steps.push_back({ResidencyStep::raise, index, level});
            continue;
        }
        // Stop here: less urgent textures must not take the memory that is about to become free.
        if (cost <= free + soonFree || makeRoom(cost - free - soonFree, free) != 0) return;
    }
}

const std::vector<ResidencyStep>& Residency::plan(uint64_t usedBytes, uint64_t soonFreeBytes)
{
    m_steps.clear();
    m_order.clear();
    chooseBias();
    for (uint32_t i = 0; i < m_textures.size(); ++i) {
        const Texture& texture = m_textures[i];
        if (texture.isBusy()) {
            // The camera has turned away, so the levels under way are not wanted any more.
            const bool isTail = texture.coming == texture.tail;
            if (texture.coming < target(texture) && !(isTail && texture.isInUse))
                m_steps.push_back({ResidencyStep::cancel, i, texture.coming});
        } else if (target(texture) < texture.resident) {
            m_order.push_back(i);
        }
    }
    std::stable_sort(m_order.begin(), m_order.end(),
                     [this](uint32_t a, uint32_t b) { return priority(a) > priority(b); });
    const uint64_t budget = m_wantsEverything ? UINT64_MAX : m_settings.budget;
    raiseAll(budget > usedBytes ? budget - usedBytes : 0, soonFreeBytes);
    return m_steps;
}

void Residency::finished(uint32_t texture, bool isThere)
{
    Texture& t = m_textures[texture];
    if (isThere) t.resident = t.coming;
    t.coming = t.resident;
}

void Residency::failed(uint32_t texture)
{
    Texture& t = m_textures[texture];
    t.best = std::max(t.best, t.coming + 1);
    finished(texture, false);
}

void Residency::lowered(uint32_t texture, uint32_t level)
{
    m_textures[texture].resident = m_textures[texture].coming = level;
}

int32_t Residency::priority(uint32_t texture) const
{
    const Texture& t = m_textures[texture];
    if (t.resident == t.levels()) return kTailPriority;
    const uint32_t level = target(t);
    const uint64_t missing = level < t.resident ? t.resident - level : 0;
    return int32_t(std::min<uint64_t>(missing * (t.pixels + 1), kTailPriority - 1));
}

bool Residency::isSettled() const
{
    return std::all_of(m_textures.begin(), m_textures.end(), [this](const Texture& texture) {
        return !texture.isBusy() && texture.resident <= target(texture);
    });
}

} // namespace viewer
