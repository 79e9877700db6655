// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <vector>

#include <sluice/sluice_archive.h>
#include <sluice/sluice_float.h>

#include "formats/integers.h"

namespace sluice {

// Encodes tiles of codec FLOAT, each with a code of its own (docs/format.md 6.5).
class FloatTileEncoder {
public:
    // Like TileEncoders::encode.
    SluiceStatus encode(const SluiceArchiveSegment& segment, const u8* bytes, u32 size,
                        std::vector<u8>& out);

private:
    u32 m_words[SLUICE_FLOAT_TILE_BOUND];
};

// A whole tensor, with the parts that sluice_float.h asks for.
struct FloatTensor {
    u32 type = 0;
    u64 count = 0;
    std::vector<u8> lengths, raw;
    std::vector<u32> words, index;

    SluiceStatus encode(u32 elementType, const u8* elements, u64 elementCount);
    // Appends the parts, each at a multiple of 16. Returns where they are; the rest of the
    // description is the caller's.
    SluiceFloatTensor appendTo(std::vector<u8>& source) const;
};

} // namespace sluice
