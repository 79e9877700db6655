// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/tga.h"

#include <algorithm>
#include <random>

namespace sluice::test {
namespace {

using Bytes = std::vector<uint8_t>;

void append16(Bytes& to, uint32_t value)
{
    to.push_back(uint8_t(value));
    to.push_back(uint8_t(value >> 8));
}

// Adds a colour of 15 to 32 bits. rgba receives what a reader must return for it.
void addColour(Bytes& to, uint32_t bits, bool hasAlpha, uint32_t random, uint8_t* rgba)
{
    if (bits <= 16) {
        append16(to, random);
        const uint32_t shifts[] = {10, 5, 0};
        for (int c = 0; c < 3; ++c) {
            const uint32_t five = random >> shifts[c] & 31;
            rgba[c] = uint8_t(five * 8 + five / 4);
        }
        rgba[3] = hasAlpha ? uint8_t((random >> 15 & 1) * 255) : 255;
        return;
    }
    for (int c = 0; c < 4; ++c)
        rgba[c] = uint8_t(random >> 8 * c);
    to.insert(to.end(), {rgba[2], rgba[1], rgba[0]});
    if (bits == 32)
        to.push_back(rgba[3]);
    else
        rgba[3] = 255;
}

} // namespace

std::string TgaKind::text() const
{
    return "type " + std::to_string(type) + ", bits " + std::to_string(bits) + ", map " +
           std::to_string(mapBits) + ", alpha " + std::to_string(alphaBits);
}

uint32_t TgaKind::channels() const
{
    if ((type & 7) == 3) return bits == 16 ? 2 : 1;
    const uint32_t depth = (type & 7) == 1 ? mapBits : bits;
    return depth == 32 || (depth == 16 && alphaBits == 1) ? 4 : 3;
}

std::vector<TgaKind> allTgaKinds()
{
    std::vector<TgaKind> kinds;
    for (const int packed : {0, 8}) {
        const auto add = [&](int type, int bits, int mapBits, int alphaBits) {
            kinds.push_back(
                {uint8_t(type | packed), uint8_t(bits), uint8_t(mapBits), uint8_t(alphaBits)});
        };
        for (const int mapBits : {15, 16, 24, 32})
            for (const int bits : {8, 16})
                add(1, bits, mapBits, mapBits == 32 ? 8 : 0);
        add(1, 8, 16, 1);
        add(1, 8, 15, 1); // 15 bits have no room for alpha
        for (const int bits : {15, 16, 24, 32})
            add(2, bits, 0, bits == 32 ? 8 : 0);
        add(2, 16, 0, 1);
        add(2, 24, 24, 0); // it has a map that is not used
        add(3, 8, 0, 0);
        add(3, 16, 0, 8);
    }
    return kinds;
}

TestTga::TestTga(const TgaKind& kind, uint32_t width, uint32_t height, uint8_t origin)
{
    std::mt19937 random(width * 31 + kind.type * 7 + kind.bits);
    constexpr uint32_t mapCount = 11;
    const uint32_t mapFirst = kind.type % 8 == 1 && kind.bits == 16 ? 300 : 0;
    file = {3, uint8_t(kind.mapBits != 0), kind.type};
    append16(file, mapFirst);
    append16(file, kind.mapBits != 0 ? mapCount : 0);
    file.push_back(kind.mapBits);
    append16(file, 0);
    append16(file, 0);
    append16(file, width);
    append16(file, height);
    file.push_back(kind.bits);
    file.push_back(uint8_t(kind.alphaBits | origin));
    file.insert(file.end(), {'a', 'b', 'c'}); // the identification
    Bytes map(4 * mapCount);
    for (uint32_t i = 0; kind.mapBits != 0 && i < mapCount; ++i)
        addColour(file, kind.mapBits, kind.alphaBits != 0 && kind.mapBits != 15, uint32_t(random()),
                  &map[4 * i]);

    // The pixels in the file's order, each as the bytes of the file, with repetitions.
    std::vector<Bytes> pixels(size_t(width) * height);
    Bytes shown(4 * pixels.size());
    for (size_t i = 0; i < pixels.size(); ++i) {
        uint8_t* const texel = &shown[4 * i];
        if (i != 0 && random() % 4 != 0) {
            pixels[i] = pixels[i - 1];
            std::copy(texel - 4, texel, texel);
        } else if ((kind.type & 7) == 1) {
            const uint32_t index = uint32_t(random() % mapCount);
            pixels[i].push_back(uint8_t(mapFirst + index));
            if (kind.bits == 16) pixels[i].push_back(uint8_t((mapFirst + index) >> 8));
            std::copy(&map[4 * index], &map[4 * index] + 4, texel);
        } else if ((kind.type & 7) == 3) {
            const uint8_t grey = uint8_t(random()), alpha = uint8_t(random());
            pixels[i].push_back(grey);
            if (kind.bits == 16) pixels[i].push_back(alpha);
            texel[0] = texel[1] = texel[2] = grey;
            texel[3] = kind.bits == 16 ? alpha : 255;
        } else {
            addColour(pixels[i], kind.bits, kind.alphaBits != 0,
                      uint32_t(random()) | 1u << 24 | (i == 0 ? 1u << 15 : 0), texel);
        }
    }
    for (size_t i = 0; i < pixels.size();) {
        size_t same = 1, other = 1;
        while (i + same < pixels.size() && same < 128 && pixels[i + same] == pixels[i])
            ++same;
        while (i + other < pixels.size() && other < 128 &&
               pixels[i + other] != pixels[i + other - 1])
            ++other;
        const bool isRun = same > 1;
        const size_t count = isRun ? same : other;
        if ((kind.type & 8) != 0) file.push_back(uint8_t(count - 1 + (isRun ? 128 : 0)));
        for (size_t j = 0; j < ((kind.type & 8) != 0 && isRun ? 1 : count); ++j)
            file.insert(file.end(), pixels[i + j].begin(), pixels[i + j].end());
        i += count;
    }
    rgba.resize(shown.size());
    for (uint32_t y = 0; y < height; ++y) {
        for (uint32_t x = 0; x < width; ++x) {
            const uint32_t row = (origin & 32) != 0 ? y : height - 1 - y,
                           column = (origin & 16) != 0 ? width - 1 - x : x;
            const uint8_t* const from = &shown[4 * (size_t(row) * width + column)];
            std::copy(from, from + 4, &rgba[4 * (size_t(y) * width + x)]);
        }
    }
}

} // namespace sluice::test
