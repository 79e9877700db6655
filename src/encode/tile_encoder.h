// SPDX-License-Identifier: MIT OR Apache-2.0
// What a worker encodes tiles with: one encoder a codec, made when the first tile wants it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <sluice/sluice_archive.h>

namespace sluice {

class TileEncoder {
public:
    virtual ~TileEncoder() = default;

    // Encodes a tile of segment.codec. out: what is to be stored; empty if the codec has no way to
    // make it smaller. The result depends on the segment's parameters and the bytes alone. May
    // throw std::bad_alloc.
    virtual SluiceStatus encode(const SluiceArchiveSegment& segment, const uint8_t* bytes,
                                uint32_t size, std::vector<uint8_t>& out) = 0;
};

// Can tiles be encoded with these codec, parameters and tile size?
bool isEncodable(const SluiceArchiveSegment& segment);

// How the next tile of a segment is cut, of which `left` bytes, not 0, are not cut yet.
uint32_t nextTileSize(const SluiceArchiveSegment& segment, uint64_t left);

// How many tiles that makes.
uint64_t countTiles(const SluiceArchiveSegment& segment);

class TileEncoders {
public:
    TileEncoders();
    TileEncoders(TileEncoders&&) noexcept;
    ~TileEncoders();

    // As TileEncoder::encode; for STORE out is empty. matches: of a tile of GSTD, where they are
    // known.
    SluiceStatus encode(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                        std::vector<uint8_t>& out,
                        const std::vector<SluiceGstdMatch>* matches = nullptr);

private:
    std::unique_ptr<TileEncoder> gdeflate_, float_;
    std::unique_ptr<class GstdTileEncoder> gstd_;
};

} // namespace sluice
