// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes the Gstd tiles of archives, whose writer knows what the bytes of a tile are.
#pragma once

#include <sluice/sluice_encode.h>

namespace sluice {

// Says whether most bytes of a tile are unfiltered, or what a filter leaves (residuals).
enum class GstdContent {
    plain,
    bytes,    // residuals of single bytes: images
    samples,  // residuals of two bytes, not in rows: sounds
    vertices, // residuals of two bytes, in rows: models; a row is a frame
    words,    // residuals of four bytes: tables, floats
    count
};

// Encodes a tile. Unlike sluiceEncodeGstdTile, it searches for matches in a way that suits
// `content`.
SluiceStatus encodeGstdTile(SluiceGstdEncoder encoder, GstdContent content, const void* bytes,
                            size_t size, void* out, size_t capacity, size_t* outSize);

// Estimates the size of an encoded tile, faster than encoding it at a low compression
// level. The encoded tile
// is at most an eighth smaller than the estimate.
SluiceStatus draftGstdTile(SluiceGstdEncoder encoder, const void* bytes, size_t size,
                           size_t* outSize);

} // namespace sluice
