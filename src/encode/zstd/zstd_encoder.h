// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes tiles as standard Zstandard frames.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace sluice::zstd {

class TileEncoder {
public:
    // Throws std::bad_alloc.
    TileEncoder();
    ~TileEncoder();

    // Replaces `frame` by a frame of the tile, which may be larger than the tile. level: 1 ..
    // SLUICE_ZSTD_MAX_LEVEL. The result depends only on the bytes, the level and libzstd's version.
    void encode(uint32_t level, const uint8_t* tile, uint32_t size, std::vector<uint8_t>& frame);

private:
    struct State;

    std::unique_ptr<State> m_state;
};

} // namespace sluice::zstd
