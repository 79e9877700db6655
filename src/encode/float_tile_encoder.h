// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <sluice/sluice_encode.h>

#include "tile_encoder.h"

namespace sluice {

class FloatTileEncoder : public TileEncoder {
public:
    SluiceStatus encode(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                        std::vector<uint8_t>& out) override;

private:
    uint32_t words_[SLUICE_FLOAT_TILE_BOUND];
};

} // namespace sluice
