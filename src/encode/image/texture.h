// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns a picture into the mip levels of a texture. Everything is integer arithmetic and tables
// that do not depend on a machine's rounding, so the same picture gives the same bytes everywhere.
#pragma once

#include <string>
#include <vector>

#include <sluice/sluice_image.h>

#include "formats/integers.h"

namespace sluice {

constexpr uint32_t kMaxTextureExtent = 16384; // in texels; larger pictures are refused

// A picture with 8 bits a channel, as RGBA.
struct Pixels {
    uint32_t width = 0, height = 0;
    uint32_t channels = 4;      // in the file: 1 grey, 2 grey + alpha, 3 RGB, 4 RGBA
    std::vector<uint8_t> rgba;  // from the top left, row by row; alpha is 255 if the file has none
    bool premultiplied = false; // the colours are multiplied by alpha
    // Both hold what the file says about its pixels, as parts of sentences with "; " between them:
    // `obeyed` what the pixels follow already, `ignored` what they do not follow.
    std::string obeyed, ignored;
    std::string colourSpace; // what it says of its colours, unless it is sRGB; ignored
};
// Adds to Pixels::obeyed or Pixels::ignored.
void addRemark(std::string& remarks, const std::string& remark);

// Reads a Targa file: types 1, 2, 3, 9, 10 and 11 with 8, 15, 16, 24 and 32 bits, and every origin.
// If there is an extension area, its attributes type says what alpha is. Without one, alpha that is
// 0 in every pixel has no meaning, since many writers of opaque pictures leave it so; and the
// fourth byte of a 32-bit pixel counts as alpha even if the header does not say so. What the last
// packet has beyond the last pixel is dropped. It takes at most 128 * 4 bytes of memory for each
// byte of the file, and a picture of more than `limit` bytes is refused. If `wanted` is not null,
// it receives the bytes that the picture takes. Returns null, or a text that says what is wrong
// with the file; then `pixels` is unspecified. Throws std::bad_alloc.
const char* readTga(const uint8_t* bytes, uint64_t size, Pixels& pixels,
                    uint64_t limit = UINT64_MAX, uint64_t* wanted = nullptr);

// Convert between an 8-bit sRGB value and linear light, 0 .. 65535. Both round to the nearest.
uint32_t linearOfSrgb(uint8_t value);
uint8_t srgbOfLinear(uint32_t light);

// How the colour channels are averaged. Alpha is always the plain average.
enum class Averaging {
    colour,        // converted from sRGB to linear light, and weighted with alpha
    premultiplied, // converted likewise, but not weighted, since alpha is in the colours already
    linear,        // as plain numbers
    normals        // as vectors in red, green and blue, which are scaled to length 1 again
};

// Turns a picture as an orientation of EXIF says, 1 to 8; another number changes nothing. Throws
// std::bad_alloc.
void turnPixels(Pixels& pixels, uint32_t orientation);

// Makes the `count` levels below `top` as RGBA8, the largest first. A level has half the extents of
// the level above it, rounded down. Along an even extent a texel is the average of two texels above
// it, along an odd extent of three, weighted by how much of each it covers. Each level is made from
// a 16-bit version of the level above it, so that rounding does not add up. Throws std::bad_alloc.
std::vector<std::vector<uint8_t>> makeMips(const Pixels& top, Averaging averaging, uint32_t count);

// Makes a KTX2 file of one image without supercompression. Its levels are zeros, for the caller to
// fill.
//   info      format (RGBA8, BC1, BC3, BC4 or BC5), width, height, levels and the flag PREMULTIPLIED
//             are read
//   swizzle   which channels a shader should read, four of "rgba01"; empty: not written
//   levels    receives where the levels are; has room for info.levels of them
std::vector<uint8_t> makeKtx2(const SluiceImageInfo& info, const char* swizzle,
                              SluiceImageLevel* levels);
// Makes a KTX2 file of an image of any shape, with these key/value data.
//   info   as sluiceParseImage describes it; the format may also be BC7 or ASTC of 4 x 4 texels
std::vector<uint8_t> makeKtx2File(const SluiceImageInfo& info, const std::vector<uint8_t>& pairs,
                                  SluiceImageLevel* levels);

} // namespace sluice
