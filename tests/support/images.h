// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes images, and KTX2 and DDS files of them. The writers share nothing with the readers except
// the table of formats.
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
    uint32_t layers = 0;                       // 0: it is not an array
    uint32_t faces = 1;
    uint32_t levels = 1; // 0: one, and readers shall make the others
    bool premultiplied = false;
    int channel = -1; // of the descriptor's only sample; -1: the descriptor has no samples

    // The bytes as slices[level][image][slice], where image is layer * faces + face.
    std::vector<std::vector<std::vector<Bytes>>> slices;

    TestImage() = default;
    // Makes an image whose slices are noise.
    TestImage(uint32_t vkFormat, uint32_t w, uint32_t h, uint32_t d, uint32_t layerCount,
              uint32_t faceCount, uint32_t levelCount);
    Bytes level(uint32_t i) const; // all bytes of the level, as KTX2 has them
    std::string text() const;
};

// Compresses the bytes of a level.
using Packer = std::function<Bytes(const Bytes&)>;
Bytes packZstd(const Bytes& bytes);
Bytes packZlib(const Bytes& bytes);

Bytes makeKtx2(const TestImage& image, uint32_t scheme = 0, const Packer& pack = nullptr);
// Makes a DDS file with the header of DX10. dxgi: the number of the format.
Bytes makeDds10(const TestImage& image, uint32_t dxgi);
// Makes a DDS file without the header of DX10. The pixel format is 8 words.
Bytes makeDds(const TestImage& image, const uint32_t (&pixelFormat)[8]);
constexpr uint32_t fourCC(const char (&text)[5])
{
    return uint32_t(text[0]) | uint32_t(text[1]) << 8 | uint32_t(text[2]) << 16 |
           uint32_t(text[3]) << 24;
}

// Returns the VkFormats of the whole table of formats.
std::vector<uint32_t> allFormats();

struct ParsedImage {
    SluiceStatus status = SLUICE_ERROR_ARGUMENT;
    SluiceImageInfo info = {};
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS] = {};
};
// Parses a file of `fileSize` bytes whose first bytes are `file`, from a buffer of exactly that
// size.
ParsedImage parseImage(const Bytes& file, uint64_t fileSize);
inline ParsedImage parseImage(const Bytes& file) { return parseImage(file, file.size()); }

// Checks that a file without a scheme has all slices of the image.
void checkSlices(const Bytes& file, const TestImage& image);

// checkMutations parses all files that differ from `file` in one of the first `count` bytes, and
// checkTruncations parses all beginnings of it. What is accepted must be consistent.
void checkMutations(const Bytes& file, size_t count);
void checkTruncations(const Bytes& file);
// Parses longer and longer beginnings of the file, as `needed` asks for them. Returns the number of
// calls.
uint32_t checkNeeded(const Bytes& file);

// Returns images of all shapes that both kinds of files have. A dimension that is not there is 0.
std::vector<TestImage> allShapes(uint32_t format);

} // namespace sluice::test
