// SPDX-License-Identifier: MIT OR Apache-2.0
// The GDeflate tiles that the benchmark decodes, and the bytes that must come out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// Tiles laid out as they go to the device: every tile starts 16-byte aligned in source, its output in expected.
struct TileSet {
    struct Tile {
        uint64_t sourceOffset, outputOffset;
        uint32_t compressedSize, size;
    };
    std::string description;
    std::vector<Tile> tiles;
    std::vector<uint8_t> source;
    std::vector<uint8_t> expected;
    uint64_t compressedBytes = 0; // without the gaps
    uint64_t outputBytes = 0;
};

// path: a tile stream, a .sluice archive or any other file, which is packed at level 12 and decodeSpeed; empty: made-up
// data, packed likewise.
// About maxOutput bytes of output at most; the description says so where a file has more. Throws a Failure.
TileSet loadTileSet(const std::string& path, uint64_t maxOutput, uint32_t decodeSpeed);

} // namespace sluice
