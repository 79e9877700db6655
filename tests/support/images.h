// SPDX-License-Identifier: MIT OR Apache-2.0
// Made-up images, and the KTX2 and DDS files of them: a writer that shares nothing with the readers
// but the table of formats.
#pragma once

#include <sluice/sluice_image.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sluice::test {

using Bytes = std::vector<uint8_t>;

struct TestImage {
    uint32_t format = 37;                      // VkFormat
    uint32_t width = 1, height = 0, depth = 0; // 0: the image does not have this dimension
    uint32_t layers = 0;                       // 0: no array
    uint32_t faces = 1;
    uint32_t levels = 1; // 0: one, and the others are to be made
    bool premultiplied = false;

    // slices[level][image][slice], image = layer * faces + face.
    std::vector<std::vector<std::vector<Bytes>>> slices;

    TestImage() = default;
    // With noise in its slices.
    TestImage(uint32_t vkFormat, uint32_t w, uint32_t h, uint32_t d, uint32_t layerCount,
              uint32_t faceCount, uint32_t levelCount);
    Bytes level(uint32_t i) const; // all its bytes as KTX2 has them
    std::string text() const;
};

// Packs the bytes of a level.
using Packer = std::function<Bytes(const Bytes&)>;
Bytes packZstd(const Bytes& bytes);
Bytes packZlib(const Bytes& bytes);

Bytes makeKtx2(const TestImage& image, uint32_t scheme = 0, const Packer& pack = nullptr);
// With the header of DX10; dxgi: of the format.
Bytes makeDds10(const TestImage& image, uint32_t dxgi);
// Without it; the pixel format is 8 words.
Bytes makeDds(const TestImage& image, const uint32_t (&pixelFormat)[8]);
constexpr uint32_t fourCC(const char (&text)[5])
{
    return uint32_t(text[0]) | uint32_t(text[1]) << 8 | uint32_t(text[2]) << 16 |
           uint32_t(text[3]) << 24;
}

// All numbers of the table of formats.
std::vector<uint32_t> allFormats();

struct ParsedImage {
    SluiceStatus status = SLUICE_ERROR_ARGUMENT;
    SluiceImageInfo info = {};
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS] = {};
};
// Reads a file whose first bytes alone are at hand, in a buffer of exactly that size.
ParsedImage parseImage(const Bytes& file, uint64_t fileSize);
inline ParsedImage parseImage(const Bytes& file) { return parseImage(file, file.size()); }

// Checks that a file without a scheme gives all slices of the image.
void checkSlices(const Bytes& file, const TestImage& image);

// Parses all that differ from `file` in one of the first `count` bytes, and all beginnings of it.
// Whatever is accepted must be consistent.
void checkMutations(const Bytes& file, size_t count);
void checkTruncations(const Bytes& file);
// Parses longer and longer beginnings, as `needed` asks for them; returns how many it took.
uint32_t checkNeeded(const Bytes& file);

// Shapes that both containers have; dimensions that are not there are 0.
std::vector<TestImage> allShapes(uint32_t format);

} // namespace sluice::test
