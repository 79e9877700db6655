// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the levels of a texture from the picture in a file. This is all integer arithmetic and
// tables that do not depend on a machine's rounding, so the same picture gives the same bytes
// everywhere.
#pragma once

#include <vector>

#include <sluice/sluice_image.h>

#include "formats/integers.h"

namespace sluice {

constexpr uint32_t kMaxTextureExtent = 16384; // texels; larger pictures are refused

// A picture of 8 bits a channel.
struct Pixels {
    uint32_t width = 0, height = 0;
    uint32_t channels = 4; // of the file: 1 grey, 2 grey and alpha, 3 red, green, blue, 4 and alpha
    std::vector<uint8_t> rgba; // rows from the top, each from the left; missing alpha is 255
};

// Reads a Targa file: types 1, 2, 3, 9, 10 and 11 with 8, 15, 16, 24 and 32 bits, and every origin.
// Bytes that the header does not call alpha count as alpha all the same, unless all of them are 0,
// as writers of opaque pictures leave them. It takes the picture's memory: at most 128 * 4 bytes
// for each byte of the file, and at most `limit`; a larger picture is not read. `wanted`, which may
// be null, receives what a legal picture takes. Returns null, or says what is wrong with the file;
// then `pixels` is unspecified. Throws std::bad_alloc.
const char* readTga(const uint8_t* bytes, uint64_t size, Pixels& pixels,
                    uint64_t limit = UINT64_MAX, uint64_t* wanted = nullptr);

// Convert 8-bit sRGB values to light in 16 bits and back, both to the nearest.
uint32_t linearOfSrgb(uint8_t value);
uint8_t srgbOfLinear(uint32_t light);

// How texels are averaged. Alpha is averaged as it is.
enum class Averaging {
    colour, // as light, since values are sRGB, weighted with alpha
    linear, // as they are
    normals // as unit vectors of three channels, which averages are scaled to again
};

// Makes the first `count` levels below the largest one as RGBA8. A level has half the extents of
// the one above it, rounded down; along an odd extent each texel is the average of three, weighted
// by the area that it covers. Levels are made from levels of 16 bits. Throws std::bad_alloc.
std::vector<std::vector<uint8_t>> makeMips(const Pixels& top, Averaging averaging, uint32_t count);

// Makes a KTX2 file of one image without a scheme; its levels are zeros, to be filled.
//   info      format, width, height and levels are read; format: RGBA8, BC1, BC3, BC4 or BC5
//   swizzle   what a shader should read, of "rgba01"; empty: nothing is said
//   levels    receives where they are; room for info.levels of them
std::vector<uint8_t> makeKtx2(const SluiceImageInfo& info, const char* swizzle,
                              SluiceImageLevel* levels);

} // namespace sluice
