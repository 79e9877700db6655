// SPDX-License-Identifier: MIT OR Apache-2.0
// The tiles that the benchmark decodes, and what they must decode to.
#pragma once

#include <string>
#include <vector>

#include "tools/common/codecs.h"
#include "tools/common/decoder.h"

namespace sluice {

// Tiles of one codec with their compressed bytes (`source`) and decoded bytes (`expected`), laid
// out as on the device: each tile begins at a multiple of 16 bytes in both.
struct TileSet {
    struct Tile {
        uint64_t sourceOffset, outputOffset;
        uint32_t compressedSize, size;
        uint32_t filterOffset, filterSize; // range in `filters`; size 0: no filter
        uint32_t checksum;
    };
    std::string description;
    SluiceCodec codec = SLUICE_CODEC_GSTD;
    std::vector<Tile> tiles;
    Bytes source, filters, expected;
    uint64_t compressedBytes = 0; // includes filter descriptions, but no gaps between tiles
    uint64_t outputBytes = 0;
};

// Opens an input, which several rows may read. Standard input and pipes can be read only once, so
// what came through them is kept in memory.
std::unique_ptr<InputFile> openInput(const std::string& path);

// Loads tiles with at most about maxOutput bytes of output; if the file has more, the description
// says so.
//
// `path` is a tile stream or a .sluice archive; any other file is packed, at level 12 and
// decodeSpeed for GDeflate, and as `sluice pack` does for Gstd. An empty path means made-up data,
// packed in the same way. `codec` is gdeflate, gstd or zstd; tiles of other codecs and stored tiles are
// left out, since they say nothing about the decoder. So the result may be empty. Throws a Failure.
TileSet loadTileSet(const std::string& path, const Codec& codec, uint64_t maxOutput,
                    uint32_t decodeSpeed);

// Returns the tiles of an archive that are Zstandard frames, as loadTileSet does, but without
// filters: `expected` is what the frames alone decode to. The result is empty if there are none.
TileSet loadZstdTiles(const std::string& path, uint64_t maxOutput);

// Returns a made-up picture (.tga, 24 bits a pixel), packed by Gstd as loadTileSet does. The
// picture is packed with filters, which do not make other made-up data smaller.
TileSet loadPicture(uint64_t maxOutput);

// Returns made-up bytes, a quarter each of: words as in a text, records of floats and indices,
// smooth pixels, and noise of few different values.
Bytes makeUpContent(size_t size);

struct HostTile {
    ContainerTile tile; // `offset` is not used
    const uint8_t* stored;
    uint8_t* output;
};
// Decodes tiles with the CPU reference, on all cores, and compares the checksums if there are any.
// Throws a Failure whose text begins with `place`.
void decodeOnHost(const std::vector<HostTile>& tiles, bool hasChecksums, const std::string& place);

} // namespace sluice
