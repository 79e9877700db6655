// SPDX-License-Identifier: MIT OR Apache-2.0
// Lets archive encoders use what they know about a Gstd tile beyond its bytes.
#pragma once

#include <sluice/sluice_encode.h>

namespace sluice {

// Says what most bytes of a tile are: unfiltered, or a filter's residuals.
enum class GstdContent {
    plain,
    bytes,    // of single bytes: images
    samples,  // of two bytes, not in rows: sounds
    vertices, // of two bytes, in rows: models, whose rows are frames
    words,    // of four bytes: tables, floats
    count
};

// Does what sluiceEncodeGstdTile does, with searches that suit the content.
SluiceStatus encodeGstdTile(SluiceGstdEncoder encoder, GstdContent content, const void* bytes,
                            size_t size, void* out, size_t capacity, size_t* outSize);

// Estimates the size of an encoded tile, in less time than encoding at a low level takes. Real
// levels make the tile at most an eighth smaller than the estimate.
SluiceStatus draftGstdTile(SluiceGstdEncoder encoder, const void* bytes, size_t size,
                           size_t* outSize);

} // namespace sluice
