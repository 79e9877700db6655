// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds what PNG and JPEG files say about their pixels beside them. Reads only what is there, and
// skips what it does not understand.
#pragma once

#include <string>

#include "tools/common/tool.h"

namespace sluice {

struct PictureMetadata {
    uint32_t orientation = 1; // of EXIF, 1 to 8; 1: as stored
    std::string colourSpace;  // what the file says of its colours, unless it is sRGB; may be empty
    // PNG: bytes until the end of its last whole chunk, and whether that is the end of a picture.
    size_t wholeBytes = 0;
    bool hasEnd = false;
};

PictureMetadata readPngMetadata(const Bytes& file);
PictureMetadata readJpegMetadata(const Bytes& file);

} // namespace sluice
