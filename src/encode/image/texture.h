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
    // Remarks on what the file says about its pixels, with "; " between them. `obeyed`: properties
    // that `rgba` already takes into account; `ignored`: properties that it does not.
    std::string obeyed, ignored;
    std::string colourSpace; // colour space in the file, unless sRGB; not applied
};
// Adds to Pixels::obeyed or Pixels::ignored.
void addRemark(std::string& remarks, const std::string& remark);

// Reads a Targa file: types 1, 2, 3, 9, 10 and 11 with 8, 15, 16, 24 and 32 bits, and every origin.
// If there is an extension area, its attributes type says what alpha means. Without one, the fourth
// byte of a 32-bit pixel counts as alpha even if the header does not say so, but alpha that is 0 in
// every pixel is ignored, since many writers of opaque pictures store that. Pixels behind the last
// one of the picture are dropped.
//
// Takes at most 128 * 4 bytes of memory for each byte of the file. A picture of more than `limit`
// bytes is refused. If `wanted` is not null, it receives the bytes that the picture takes. Returns
// null, or a text that says what is wrong with the file; then `pixels` is unspecified. Throws
// std::bad_alloc.
const char* readTga(const uint8_t* bytes, uint64_t size, Pixels& pixels,
                    uint64_t limit = UINT64_MAX, uint64_t* wanted = nullptr);

// Convert between an 8-bit sRGB value and linear light, 0 .. 65535. Both round to the nearest.
uint32_t linearOfSrgb(uint8_t value);
uint8_t srgbOfLinear(uint32_t light);

// How the colour channels are averaged. Alpha is always the plain average.
enum class Averaging {
    colour,        // converted from sRGB to linear light, and weighted with alpha
    premultiplied, // averaged as linear light too, but not weighted: alpha is in the colours
    linear,        // as plain numbers
    normals        // as vectors in red, green and blue, which are scaled to length 1 again
};

// Turns and mirrors a picture according to an EXIF orientation of 1 to 8. Other numbers have no
// effect. Throws std::bad_alloc.
void turnPixels(Pixels& pixels, uint32_t orientation);

// Makes the `count` levels below `top` as RGBA8, the largest first. A level has half the extents of
// the level above it, rounded down. Along an even extent a texel is the average of two texels above
// it, along an odd extent of three, weighted by how much of each it covers. Each level is made from
// a 16-bit version of the level above it, so that rounding does not add up. Throws std::bad_alloc.
std::vector<std::vector<uint8_t>> makeMips(const Pixels& top, Averaging averaging, uint32_t count);

// Makes a KTX2 file of one image without supercompression. The caller fills its levels, which are
// zeros.
//   info      format (RGBA8, BC1, BC3, BC4 or BC5), width, height, levels and PREMULTIPLIED are
//             read
//   swizzle   which channels a shader should read, four of "rgba01"; empty: not written
//   levels    receives where the levels are; has room for info.levels of them
std::vector<uint8_t> makeKtx2(const SluiceImageInfo& info, const char* swizzle,
                              SluiceImageLevel* levels);
// Makes a KTX2 file of an image of any shape. pairs: the key/value data as the file stores them.
//   info   as sluiceParseImage describes it; the format may also be BC7 or ASTC of 4 x 4 texels
std::vector<uint8_t> makeKtx2File(const SluiceImageInfo& info, const std::vector<uint8_t>& pairs,
                                  SluiceImageLevel* levels);

} // namespace sluice
