// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <vector>

#include <sluice/sluice_archive.h>

#include "../formats/integers.h"

namespace sluice {

// Encodes tiles of codec FLOAT, each with a code of its own (docs/format.md 6.5).
class FloatTileEncoder {
public:
    // As TileEncoders::encode.
    SluiceStatus encode(const SluiceArchiveSegment& segment, const u8* bytes, u32 size,
                        std::vector<u8>& out);

private:
    u32 m_words[SLUICE_FLOAT_TILE_BOUND];
};

} // namespace sluice
