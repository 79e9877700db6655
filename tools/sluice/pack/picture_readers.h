// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads pictures, by libraries. If the build lacks a library, its reader says so in the text that
// it returns.
#pragma once

#include <string>

#include "encode/image/texture.h"
#include "tools/sluice/pack/picture_metadata.h"

namespace sluice {

// Turns the picture as its EXIF orientation says. The colour space is only noted in `pixels`.
inline void obey(const PictureMetadata& metadata, Pixels& pixels)
{
    pixels.colourSpace = metadata.colourSpace;
    if (metadata.orientation == 1) return;
    turnPixels(pixels, metadata.orientation);
    addRemark(pixels.obeyed,
              formatText("turned, as its EXIF orientation, %u, says", metadata.orientation));
}

// readPng and readJpeg return an empty text, or say why the file is not read; then `pixels` is
// unspecified. They turn a picture as its EXIF says, but ignore gamma and colour profiles, as
// engines do, and note that in `pixels`. A file that is cut off after its last pixel is read.
// Besides the file they take at most `limit` bytes, including JPEG's coefficients; a larger picture
// is refused. They throw std::bad_alloc.
std::string readPng(const Bytes& file, uint64_t limit, Pixels& pixels);
std::string readJpeg(const Bytes& file, uint64_t limit, Pixels& pixels);

} // namespace sluice
