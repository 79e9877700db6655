// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes blocks of BC1, BC3, BC4 and BC5, by libsquish.
#pragma once

#include <cstdint>

#include <sluice/sluice_image.h>

namespace sluice {

bool hasBlockEncoder(); // false if the build lacks libsquish

// Encodes a level of RGBA8. A block depends only on its own 16 texels, so the result does not
// depend on the number of threads. Throws std::bad_alloc.
//   weighted  BC3: texels that are nearly transparent may have wrong colours
//   thorough  tries all orders of colours: 2 dB better for BC1 and BC3, and 40 times as slow
//   format    BC1, BC3, BC4 (made of red) or BC5 (of red and green), sRGB or not
//   blocks    receives the level, laid out as sluiceGetImageLevel says
void encodeBlocks(const uint8_t* rgba, uint32_t width, uint32_t height,
                  const SluiceImageFormat& format, bool weighted, bool thorough, uint32_t threads,
                  uint8_t* blocks);

} // namespace sluice
