// SPDX-License-Identifier: MIT OR Apache-2.0
// The tiles that the benchmark decodes, and the bytes that must come out.
#pragma once

#include <string>
#include <vector>

#include "tools/common/codecs.h"
#include "tools/common/decoder.h"

namespace sluice {

// Tiles of one codec laid out as they go to the device: every tile starts 16-byte aligned in
// source, its output in expected.
struct TileSet {
    struct Tile {
        uint64_t sourceOffset, outputOffset;
        uint32_t compressedSize, size;
        uint32_t filterOffset, filterSize; // where filters has its description; size 0: none
        uint32_t checksum;
    };
    std::string description;
    SluiceCodec codec = SLUICE_CODEC_GSTD;
    std::vector<Tile> tiles;
    Bytes source, filters, expected;
    uint64_t compressedBytes = 0; // without the gaps; with descriptions of filters
    uint64_t outputBytes = 0;
};

// path: a tile stream, a .sluice archive or any other file, which is packed at level 12 and
// decodeSpeed, with GSTD as `sluice pack` packs it; empty: made-up data, packed likewise. codec:
// gdeflate or gstd; tiles of other codecs are left out, stored ones too, which say nothing about a
// decoder. None may be left. About maxOutput bytes of output at most; the description says so where
// a file has more. Throws a Failure.
TileSet loadTileSet(const std::string& path, const Codec& codec, uint64_t maxOutput,
                    uint32_t decodeSpeed);

// A made-up picture of 24 bits a pixel, a .tga file, packed by Gstd as above: with filters, which
// made-up data has no use for.
TileSet loadPicture(uint64_t maxOutput);

// Bytes that nobody has made: a quarter each of text-like words, records of floats and indices,
// smooth pixels, and noise in a small alphabet.
Bytes makeUpContent(size_t size);

struct HostTile {
    ContainerTile tile; // whose offset counts nothing here
    const uint8_t* stored;
    uint8_t* output;
};
// Decodes tiles by the CPU reference, on all cores, and compares checksums if there are any. Throws
// a Failure that starts with `place`.
void decodeOnHost(const std::vector<HostTile>& tiles, bool hasChecksums, const std::string& place);

} // namespace sluice
