// SPDX-License-Identifier: MIT OR Apache-2.0
// Mip levels, each the average of the level above it.
#include <algorithm>
#include <array>
#include <cmath>

#include "encode/image/texture.h"

namespace sluice {
namespace {

constexpr u32 kOne = 65535; // light and alpha of 1.0

// Returns the light of a value of sRGB, 0.0 .. 1.0. Libraries round powers differently, but no
// result that is used here lies so close to the middle between two integers that this matters; a
// test checks that.
double lightOf(double value)
{
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

struct SrgbTables {
    std::array<u16, 256> linear;
    std::array<u8, kOne + 1> encoded;

    SrgbTables()
    {
        for (u32 i = 0; i < 256; ++i)
            linear[i] = u16(std::lround(lightOf(i / 255.0) * kOne));
        u32 value = 0;
        for (u32 light = 0; light <= kOne; ++light) {
            while (value < 255 && light > lightOf((value + 0.5) / 255) * kOne)
                ++value;
            encoded[light] = u8(value);
        }
    }
};

const SrgbTables& srgbTables()
{
    static const SrgbTables tables;
    return tables;
}

// The texels of the level above that a texel covers in one direction.
struct Taps {
    u32 first, count;
    u32 weights[3];
};

// extent is that of the level above. The weights' sum is the same for all texels: 1, 2 or an odd
// extent.
Taps tapsOf(u32 extent, u32 i)
{
    if (extent == 1) return {0, 1, {1, 0, 0}};
    if (extent % 2 == 0) return {2 * i, 2, {1, 1, 0}};
    const u32 half = extent / 2;
    return {2 * i, 3, {half - i, half, i + 1}};
}

u64 weightSum(u32 extent) { return extent == 1 ? 1 : extent % 2 == 0 ? 2 : extent; }

// Texels of four channels of 16 bits.
struct WideLevel {
    u32 width, height;
    std::vector<u16> texels;
};

u64 squareRoot(u64 value)
{
    u64 root = 0;
    for (u64 bit = u64(1) << 31; bit != 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= value) root += bit;
    return root;
}

// Divides to the nearest; divisor is more than 0.
int64_t divideSigned(int64_t value, int64_t divisor)
{
    return value >= 0 ? (value + divisor / 2) / divisor : -((-value + divisor / 2) / divisor);
}

// Turns three channels, 0 .. kOne for -1 .. 1, into a unit vector.
void normalize(u16* texel)
{
    int64_t vector[3];
    u64 squares = 0;
    for (u32 c = 0; c < 3; ++c) {
        vector[c] = 2 * int64_t(texel[c]) - kOne;
        squares += u64(vector[c] * vector[c]);
    }
    const int64_t length = int64_t(squareRoot(squares));
    if (length == 0) return;
    for (u32 c = 0; c < 3; ++c) {
        const int64_t unit = divideSigned(vector[c] * kOne, length);
        texel[c] = u16(std::clamp<int64_t>((unit + kOne + 1) / 2, 0, kOne));
    }
}

class MipMaker {
public:
    explicit MipMaker(Averaging averaging) : m_averaging(averaging) {}

    // Makes a level from the one above it; row(y, wanted) returns the latter's rows, of which three
    // are in use at a time.
    template <typename Row>
    WideLevel halve(u32 width, u32 height, const Row& row) const
    {
        WideLevel level = {std::max(1u, width / 2), std::max(1u, height / 2), {}};
        level.texels.resize(size_t(level.width) * level.height * 4);
        const u64 total = weightSum(width) * weightSum(height);
        for (u32 y = 0; y < level.height; ++y) {
            const Taps down = tapsOf(height, y);
            const u16* rows[3] = {};
            for (u32 i = 0; i < down.count; ++i)
                rows[i] = row(down.first + i, i);
            for (u32 x = 0; x < level.width; ++x) {
                u16* const to = &level.texels[(size_t(y) * level.width + x) * 4];
                average(rows, down, tapsOf(width, x), total, to);
                if (m_averaging == Averaging::normals) normalize(to);
            }
        }
        return level;
    }

    void widen(const u8* from, u32 texels, u16* to) const
    {
        const SrgbTables& tables = srgbTables();
        for (u32 i = 0; i < 4 * texels; ++i)
            to[i] = isColour(i) ? tables.linear[from[i]] : u16(from[i] * 257);
    }
    std::vector<u8> narrow(const WideLevel& level) const
    {
        const SrgbTables& tables = srgbTables();
        std::vector<u8> bytes(level.texels.size());
        for (size_t i = 0; i < bytes.size(); ++i)
            bytes[i] =
                isColour(i) ? tables.encoded[level.texels[i]] : u8((level.texels[i] + 128u) / 257);
        return bytes;
    }

private:
    bool isColour(size_t i) const { return m_averaging == Averaging::colour && i % 4 != 3; }

    // Sums stay below 2^28 (weights) * 2^32 (alpha and colour).
    void average(const u16* const* rows, const Taps& down, const Taps& across, u64 total,
                 u16* to) const
    {
        const bool weighs = m_averaging == Averaging::colour;
        u64 alphaSum = 0, weighted[3] = {}, plain[3] = {};
        for (u32 i = 0; i < down.count; ++i) {
            for (u32 j = 0; j < across.count; ++j) {
                const u16* texel = rows[i] + 4 * size_t(across.first + j);
                const u64 weight = u64(down.weights[i]) * across.weights[j],
                          alpha = weight * texel[3];
                alphaSum += alpha;
                for (u32 c = 0; c < 3; ++c) {
                    weighted[c] += alpha * texel[c];
                    plain[c] += weight * texel[c];
                }
            }
        }
        for (u32 c = 0; c < 3; ++c)
            to[c] = u16(weighs && alphaSum != 0 ? (weighted[c] + alphaSum / 2) / alphaSum
                                                : (plain[c] + total / 2) / total);
        to[3] = u16((alphaSum + total / 2) / total);
    }

    Averaging m_averaging;
};

} // namespace

u32 linearOfSrgb(u8 value) { return srgbTables().linear[value]; }

u8 srgbOfLinear(u32 light) { return srgbTables().encoded[std::min(light, kOne)]; }

std::vector<std::vector<u8>> makeMips(const Pixels& top, Averaging averaging, u32 count)
{
    std::vector<std::vector<u8>> mips;
    if (count == 0) return mips;
    const MipMaker maker(averaging);
    const size_t topRow = size_t(top.width) * 4;
    std::vector<u16> wide(3 * topRow);
    WideLevel level = maker.halve(top.width, top.height, [&](u32 y, u32 wanted) {
        u16* const row = &wide[wanted * topRow];
        maker.widen(&top.rgba[y * topRow], top.width, row);
        return row;
    });
    mips.push_back(maker.narrow(level));
    while (mips.size() < count) {
        const size_t row = size_t(level.width) * 4;
        level = maker.halve(level.width, level.height,
                            [&](u32 y, u32) { return &level.texels[y * row]; });
        mips.push_back(maker.narrow(level));
    }
    return mips;
}

} // namespace sluice
