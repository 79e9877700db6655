// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes lists of GDeflate tiles on a device and compares them with the CPU reference; reads the
// golden streams.
#pragma once

#include "tests/support/devices.h"

#include <memory>

namespace sluice::test {

// A compressed tile and how many bytes it is said to decode to.
struct Tile {
    std::string name;
    Bytes compressed;
    uint32_t size;
};

// A tile of `size` random literals in one static block.
Tile literalTile(uint32_t size, std::mt19937& random);

struct DecodedTile {
    uint32_t status;
    Bytes bytes; // meaningful if the status is OK
};

enum class TileCodec {
    gdeflate,
    gstd
};

// The CPU reference, on as many threads as there are cores.
std::vector<DecodedTile> decodeOnHost(const std::vector<Tile>& tiles,
                                      TileCodec codec = TileCodec::gdeflate);

// Decodes all tiles in one command; where the number of tiles chooses the kernel, again with room
// for more and for very many, and all must agree. Checks that the summary fits the statuses and
// that no byte between the tiles changed.
std::vector<DecodedTile> decodeOnDevice(Device& device, const std::vector<Tile>& tiles,
                                        TileCodec codec = TileCodec::gdeflate,
                                        Buffer* gstdScratch = nullptr);

// Scratch of Gstd for so many tiles at once that the kernel for many of them is chosen; null where
// there is one kernel.
std::unique_ptr<Buffer> gstdScratchForMany(Device& device);

// Decodes on both; every status, and every byte of tiles that are OK, must agree. Returns what the
// reference says. gstdScratch: as above, with which Gstd tiles are decoded again, all at once; may
// be null.
std::vector<DecodedTile> decodeAndCompare(Device& device, const std::vector<Tile>& tiles,
                                          TileCodec codec = TileCodec::gdeflate,
                                          Buffer* gstdScratch = nullptr);

// A golden stream of tests/data: a tile stream of the reference encoder, cut into tiles.
struct GoldenStream {
    std::string name;
    std::vector<Tile> tiles;
    uint64_t size;  // bytes of all tiles
    uint64_t xxh64; // of all bytes, seed 0
};
std::vector<GoldenStream> goldenStreams();

} // namespace sluice::test
