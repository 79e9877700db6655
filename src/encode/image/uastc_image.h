// SPDX-License-Identifier: MIT OR Apache-2.0
// What tools do with the blocks of UASTC images (docs/uastc.md): count them, make them smaller to
// compress, and turn whole KTX2 files into other formats.
#pragma once

#include <string>
#include <vector>

#include "encode/image/image_file.h"

namespace sluice {

constexpr uint32_t kUastcModeCount = 19;

struct UastcCounts {
    uint64_t blocks = 0, invalid = 0;
    uint64_t modes[kUastcModeCount] = {}; // of the valid blocks
};
// Adds the blocks of a level; size is a multiple of 16.
void countUastc(const uint8_t* blocks, uint64_t size, UastcCounts& counts);

// Zeroes the hints of all valid blocks. All targets that do not read them stay the same, bit for
// bit: R8G8B8A8, ASTC, BC7, BC4 and BC5.
void zeroUastcHints(uint8_t* blocks, uint64_t size);

// Returns the VkFormat that users name `name`: bc7, astc or rgba8.
uint32_t uastcFormatNamed(const std::string& name, bool isSrgb);

// Transcodes a KTX2 file of UASTC without supercompression, with its key/value data.
//   image    what parse() said of the file
//   format   the VkFormat of the new file: one of SluiceUastcInfo, or the one of its sRGB twin
//   invalid  receives how many blocks are invalid; they become magenta
// Returns no bytes if the levels are too large to be transcoded. Throws std::bad_alloc.
std::vector<uint8_t> transcodeKtx2(const std::vector<uint8_t>& file, const ImageFile& image,
                                   uint32_t format, uint64_t& invalid);

} // namespace sluice
