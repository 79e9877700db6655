// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes mip levels, each the average of the level above it. A level is widened to 16 bits a channel
// (sRGB colours become linear light), averaged, and narrowed to 8 bits again at the end.
#include <algorithm>
#include <array>
#include <cmath>

#include "encode/image/texture.h"

namespace sluice {
namespace {

constexpr uint32_t kOne = 65535; // the 16-bit number that stands for 1.0, of light and of alpha

// Converts an sRGB value of 0.0 .. 1.0 to linear light. std::pow may differ in its last bits
// between C libraries. The tables below round its results to integers, and no result lies close
// enough to a rounding boundary for those bits to matter; a test checks that.
double lightOf(double value)
{
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

struct SrgbTables {
    std::array<uint16_t, 256> linear;
    std::array<uint8_t, kOne + 1> encoded;

    SrgbTables()
    {
        for (uint32_t i = 0; i < 256; ++i)
            linear[i] = uint16_t(std::lround(lightOf(i / 255.0) * kOne));
        uint32_t value = 0;
        for (uint32_t light = 0; light <= kOne; ++light) {
            while (value < 255 && light > lightOf((value + 0.5) / 255) * kOne)
                ++value;
            encoded[light] = uint8_t(value);
        }
    }
};

const SrgbTables& srgbTables()
{
    static const SrgbTables tables;
    return tables;
}

// The texels along one axis of the level above that make one texel of the new level, with weights.
struct Taps {
    uint32_t first, count;
    uint32_t weights[3];
};

// Returns the taps of texel `i`; `extent` is the width or height of the level above. The weights of
// each texel add up to weightSum(extent).
Taps tapsOf(uint32_t extent, uint32_t i)
{
    if (extent == 1) return {0, 1, {1, 0, 0}};
    if (extent % 2 == 0) return {2 * i, 2, {1, 1, 0}};
    const uint32_t half = extent / 2;
    return {2 * i, 3, {half - i, half, i + 1}};
}

uint64_t weightSum(uint32_t extent) { return extent == 1 ? 1 : extent % 2 == 0 ? 2 : extent; }

// A level with four channels of 16 bits a texel.
struct WideLevel {
    uint32_t width, height;
    std::vector<uint16_t> texels;
};

uint64_t squareRoot(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = uint64_t(1) << 31; bit != 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= value) root += bit;
    return root;
}

// Divides and rounds to the nearest integer, halves away from 0. The divisor is positive.
int64_t divideSigned(int64_t value, int64_t divisor)
{
    return value >= 0 ? (value + divisor / 2) / divisor : -((-value + divisor / 2) / divisor);
}

// Scales a normal to length 1. Its three channels store -1 .. 1 as 0 .. kOne.
void normalize(uint16_t* texel)
{
    int64_t vector[3];
    uint64_t squares = 0;
    for (uint32_t c = 0; c < 3; ++c) {
        vector[c] = 2 * int64_t(texel[c]) - kOne;
        squares += uint64_t(vector[c] * vector[c]);
    }
    const int64_t length = int64_t(squareRoot(squares));
    if (length == 0) return;
    for (uint32_t c = 0; c < 3; ++c) {
        const int64_t unit = divideSigned(vector[c] * kOne, length);
        texel[c] = uint16_t(std::clamp<int64_t>((unit + kOne + 1) / 2, 0, kOne));
    }
}

class MipMaker {
public:
    explicit MipMaker(Averaging averaging) : m_averaging(averaging) {}

    // Makes a level from the level above it, which is width x height. row(y, slot) returns row y of
    // that level; its memory may be reused when row() is called with the same slot, 0 to 2, again.
    template <typename Row>
    WideLevel halve(uint32_t width, uint32_t height, const Row& row) const
    {
        WideLevel level = {std::max(1u, width / 2), std::max(1u, height / 2), {}};
        level.texels.resize(size_t(level.width) * level.height * 4);
        const uint64_t total = weightSum(width) * weightSum(height);
        for (uint32_t y = 0; y < level.height; ++y) {
            const Taps down = tapsOf(height, y);
            const uint16_t* rows[3] = {};
            for (uint32_t i = 0; i < down.count; ++i)
                rows[i] = row(down.first + i, i);
            for (uint32_t x = 0; x < level.width; ++x) {
                uint16_t* const to = &level.texels[(size_t(y) * level.width + x) * 4];
                average(rows, down, tapsOf(width, x), total, to);
                if (m_averaging == Averaging::normals) normalize(to);
            }
        }
        return level;
    }

    void widen(const uint8_t* from, uint32_t texels, uint16_t* to) const
    {
        const SrgbTables& tables = srgbTables();
        for (uint32_t i = 0; i < 4 * texels; ++i)
            to[i] = isColour(i) ? tables.linear[from[i]] : uint16_t(from[i] * 257);
    }
    std::vector<uint8_t> narrow(const WideLevel& level) const
    {
        const SrgbTables& tables = srgbTables();
        std::vector<uint8_t> bytes(level.texels.size());
        for (size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = isColour(i) ? tables.encoded[level.texels[i]]
                                   : uint8_t((level.texels[i] + 128u) / 257);
        return bytes;
    }

private:
    bool isColour(size_t i) const
    {
        return i % 4 != 3 &&
               (m_averaging == Averaging::colour || m_averaging == Averaging::premultiplied);
    }

    // Stores the weighted average of up to 3 x 3 texels in `to`. 64 bits suffice: the weights add
    // up to less than 2^28, and alpha times colour is below 2^32.
    void average(const uint16_t* const* rows, const Taps& down, const Taps& across, uint64_t total,
                 uint16_t* to) const
    {
        const bool weighs = m_averaging == Averaging::colour;
        uint64_t alphaSum = 0, weighted[3] = {}, plain[3] = {};
        for (uint32_t i = 0; i < down.count; ++i) {
            for (uint32_t j = 0; j < across.count; ++j) {
                const uint16_t* texel = rows[i] + 4 * size_t(across.first + j);
                const uint64_t weight = uint64_t(down.weights[i]) * across.weights[j],
                               alpha = weight * texel[3];
                alphaSum += alpha;
                for (uint32_t c = 0; c < 3; ++c) {
                    weighted[c] += alpha * texel[c];
                    plain[c] += weight * texel[c];
                }
            }
        }
        for (uint32_t c = 0; c < 3; ++c)
            to[c] = uint16_t(weighs && alphaSum != 0 ? (weighted[c] + alphaSum / 2) / alphaSum
                                                     : (plain[c] + total / 2) / total);
        to[3] = uint16_t((alphaSum + total / 2) / total);
    }

    Averaging m_averaging;
};

} // namespace

uint32_t linearOfSrgb(uint8_t value) { return srgbTables().linear[value]; }

uint8_t srgbOfLinear(uint32_t light) { return srgbTables().encoded[std::min(light, kOne)]; }

std::vector<std::vector<uint8_t>> makeMips(const Pixels& top, Averaging averaging, uint32_t count)
{
    std::vector<std::vector<uint8_t>> mips;
    if (count == 0) return mips;
    const MipMaker maker(averaging);
    const size_t topRow = size_t(top.width) * 4;
    std::vector<uint16_t> wide(3 * topRow);
    WideLevel level = maker.halve(top.width, top.height, [&](uint32_t y, uint32_t wanted) {
        uint16_t* const row = &wide[wanted * topRow];
        maker.widen(&top.rgba[y * topRow], top.width, row);
        return row;
    });
    mips.push_back(maker.narrow(level));
    while (mips.size() < count) {
        const size_t row = size_t(level.width) * 4;
        level = maker.halve(level.width, level.height,
                            [&](uint32_t y, uint32_t) { return &level.texels[y * row]; });
        mips.push_back(maker.narrow(level));
    }
    return mips;
}

} // namespace sluice
