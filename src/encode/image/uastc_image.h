// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions for UASTC images (docs/uastc.md): count their blocks, make them compress better, and
// transcode whole KTX2 files to other formats.
#pragma once

#include <string>
#include <vector>

#include "encode/image/image_file.h"

namespace sluice {

constexpr uint32_t kUastcModeCount = 19;

struct UastcCounts {
    uint64_t blocks = 0, invalid = 0;
    uint64_t modes[kUastcModeCount] = {}; // number of valid blocks by mode
};
// Counts the blocks of a level and adds them to `counts`. size: bytes, a multiple of 16.
void countUastc(const uint8_t* blocks, uint64_t size, UastcCounts& counts);

// Zeroes the hints of all valid blocks, which makes them compress better. The targets that do not
// read hints do not change: R8G8B8A8, ASTC, BC7, BC4 and BC5.
void zeroUastcHints(uint8_t* blocks, uint64_t size);

// Returns the VkFormat for a name that a user has given: bc7, astc or rgba8.
uint32_t uastcFormatNamed(const std::string& name, bool isSrgb);

// Transcodes a KTX2 file of UASTC without supercompression, with its key/value data.
//   image    the result of ImageFile::parse() for the file
//   format   the VkFormat of the new file: one that SluiceUastcInfo allows, or its sRGB variant
//   invalid  receives how many blocks are invalid; they become magenta
// Returns no bytes if the levels are too large to be transcoded. Throws std::bad_alloc.
std::vector<uint8_t> transcodeKtx2(const std::vector<uint8_t>& file, const ImageFile& image,
                                   uint32_t format, uint64_t& invalid);

} // namespace sluice
