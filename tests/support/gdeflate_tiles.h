// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes lists of GDeflate tiles on a device, compares them with the CPU reference, and reads the
// golden streams.
#pragma once

#include "tests/support/devices.h"

#include <memory>

namespace sluice::test {

// Holds a compressed tile. `size` is the number of bytes that it shall decode to.
struct Tile {
    std::string name;
    Bytes compressed;
    uint32_t size;
};

// Returns a tile of `size` random literals in one fixed block.
Tile literalTile(uint32_t size, std::mt19937& random);

struct DecodedTile {
    uint32_t status;
    Bytes bytes; // undefined unless the status is OK
};

enum class TileCodec {
    gdeflate,
    gstd
};

// Decodes with the CPU reference, on as many threads as there are cores.
std::vector<DecodedTile> decodeOnHost(const std::vector<Tile>& tiles,
                                      TileCodec codec = TileCodec::gdeflate);

// Decodes all tiles in one command. If the kernel depends on the number of tiles, decodes them
// again with room for more and for very many; all results must be the same. Checks the summary, and
// that no byte between the tiles has changed.
std::vector<DecodedTile> decodeOnDevice(Device& device, const std::vector<Tile>& tiles,
                                        TileCodec codec = TileCodec::gdeflate,
                                        Buffer* gstdScratch = nullptr);

// Returns Gstd scratch for so many tiles at once that the kernel for many tiles is chosen. Returns
// null if there is only one kernel.
std::unique_ptr<Buffer> gstdScratchForMany(Device& device);

// Decodes on the device and with the reference. Every status, and every byte of tiles that are OK,
// must be the same. Returns what the reference gives. gstdScratch: what gstdScratchForMany returns;
// Gstd tiles are decoded once more with it, all at once. It may be null.
std::vector<DecodedTile> decodeAndCompare(Device& device, const std::vector<Tile>& tiles,
                                          TileCodec codec = TileCodec::gdeflate,
                                          Buffer* gstdScratch = nullptr);

// Holds a golden stream of tests/data: a tile stream of the reference encoder, cut into tiles.
struct GoldenStream {
    std::string name;
    std::vector<Tile> tiles;
    uint64_t size;  // bytes of all tiles
    uint64_t xxh64; // of all bytes, with seed 0
};
std::vector<GoldenStream> goldenStreams();

} // namespace sluice::test
