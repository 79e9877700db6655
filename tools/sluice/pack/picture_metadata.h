// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the metadata of PNG and JPEG files that concern their pixels. Reads only what is there, and
// skips what it does not understand.
#pragma once

#include <string>

#include "tools/common/tool.h"

namespace sluice {

struct PictureMetadata {
    uint32_t orientation = 1; // EXIF orientation, 1 to 8; 1: as stored
    std::string colourSpace;  // the file's colour space; empty: sRGB, or not given
    // Only for a PNG: the offset where its last whole chunk ends, and whether that chunk is IEND.
    size_t wholeBytes = 0;
    bool hasEnd = false;
};

PictureMetadata readPngMetadata(const Bytes& file);
PictureMetadata readJpegMetadata(const Bytes& file);

} // namespace sluice
