// SPDX-License-Identifier: MIT OR Apache-2.0
// An image file whose levels are plain bytes, as encoders see it.
#pragma once

#include <vector>

#include <sluice/sluice_image.h>

#include "formats/integers.h"

namespace sluice {

// Of a file, so that memory is bounded; what follows them is not filtered.
constexpr u32 kMaxParts = 65536;

constexpr u64 kImageTile = 65536; // smaller levels share tiles

// Bytes that stand together: a level, or one of its images where other levels stand between them.
struct ImageRun {
    u64 offset, size;
    u32 image, level;
};

struct ImageFile {
    SluiceImageInfo info;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];

    // False if it is no image file, or one with a scheme.
    bool parse(const u8* bytes, u64 size);
    // Image by image, the largest level first; of very many images only the first.
    std::vector<ImageRun> runs() const;
    // Where tiles must begin, in order, so that a level of kImageTile bytes has tiles of its own;
    // multiples of 4 inside a file of `size` bytes.
    std::vector<u64> cuts(u64 size) const;
};

} // namespace sluice
