// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads an image file whose levels are plain bytes, for encoders.
#pragma once

#include <vector>

#include <sluice/sluice_image.h>

#include "formats/integers.h"

namespace sluice {

// The most ranges of a file, so that memory is bounded; bytes behind them are not filtered.
constexpr uint32_t kMaxParts = 65536;

constexpr uint64_t kImageTile = 65536; // smaller levels share tiles

// Contiguous bytes: a level, or one of its images if other levels lie between them.
struct ImageRun {
    uint64_t offset, size;
    uint32_t image, level;
};

struct ImageFile {
    SluiceImageInfo info;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];

    // Returns false if it is no image file, or one with a scheme.
    bool parse(const uint8_t* bytes, uint64_t size);
    // Returns the ranges image by image, the largest level first; of very many images only the
    // first ones.
    std::vector<ImageRun> runs() const;
    // Returns where tiles must begin, in order, so that a level of kImageTile bytes or more has
    // tiles of its own; multiples of 4 inside a file of `size` bytes.
    std::vector<uint64_t> cuts(uint64_t size) const;
};

} // namespace sluice
