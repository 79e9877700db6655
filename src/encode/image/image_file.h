// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds where the mip levels of a DDS or KTX2 file lie, so that encoders can filter and cut them. A
// run is a range of the file that holds one level, or one image of a level: a layer or a cube face.
#pragma once

#include <vector>

#include <sluice/sluice_image.h>

#include "formats/integers.h"

namespace sluice {

// The most runs (ImageRun) or filter parts of a file. This bounds memory if a file has very many
// layers; the bytes after the last run are then stored unfiltered.
constexpr uint32_t kMaxParts = 65536;

constexpr uint64_t kImageTile = 65536; // bytes; smaller levels share tiles

// A level, or a single image of it in a container that puts other levels between its images (DDS).
struct ImageRun {
    uint64_t offset, size;
    uint32_t image, level;
};

struct ImageFile {
    SluiceImageInfo info;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];

    // Returns false if this is no valid image file, or if its levels are supercompressed.
    bool parse(const uint8_t* bytes, uint64_t size);
    // Returns up to kMaxParts runs, image by image, and within an image from the largest level
    // down.
    std::vector<ImageRun> runs() const;
    // Returns, in ascending order, the offsets at which tiles must begin so that a level of
    // kImageTile bytes or more has tiles of its own. They lie inside a file of `size` bytes and are
    // rounded down to multiples of 4.
    std::vector<uint64_t> cuts(uint64_t size) const;
};

} // namespace sluice
