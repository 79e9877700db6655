// SPDX-License-Identifier: MIT OR Apache-2.0
// A worker's encoders, one per codec. Each is created when the first tile needs it.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include <sluice/sluice_archive.h>

#include "formats/integers.h"
#include "encode/gstd/gstd_encoder.h"

namespace sluice {
namespace zstd {
class TileEncoder;
}

// Returns whether tiles can be encoded with the segment's codec, parameters and tile size.
bool isEncodable(const SluiceArchiveSegment& segment);

// Returns the size of a segment's next tile. `left`, which is not 0, is the number of bytes of the
// segment that are not cut into tiles yet.
uint32_t nextTileSize(const SluiceArchiveSegment& segment, uint64_t left);

// Returns the number of tiles of a whole segment.
uint64_t countTiles(const SluiceArchiveSegment& segment);

// Returns the smallest tileSizeLog2 of the archive format that covers the tile sizes of all
// segments.
uint32_t tileSizeLog2Of(const SluiceArchiveSegment* segments, uint32_t count);

// Keeps an encoder, and replaces it only when a tile needs other parameters.
template <typename Handle, typename Info>
class KeptEncoder {
public:
    using Create = SluiceStatus (*)(const Info*, Handle*);
    using Destroy = void (*)(Handle);

    KeptEncoder(Create create, Destroy destroy) : m_create(create), m_encoder(nullptr, destroy) {}

    SluiceStatus want(const Info& info);
    Handle get() const { return m_encoder.get(); }

private:
    Create m_create;
    std::unique_ptr<std::remove_pointer_t<Handle>, Destroy> m_encoder;
    Info m_info = {};
};

class TileEncoders {
public:
    TileEncoders();
    TileEncoders(TileEncoders&&) noexcept;
    ~TileEncoders();

    // Encodes a tile with segment.codec. `out` receives the encoded bytes; it becomes empty if the
    // codec cannot make the tile smaller, which is always so for STORE. The result depends only on
    // the segment's parameters and the bytes. `matches`, if not null, are the known matches of a
    // GSTD tile. May throw std::bad_alloc.
    SluiceStatus encode(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                        std::vector<uint8_t>& out,
                        const std::vector<SluiceGstdMatch>* matches = nullptr);
    // Encodes a tile that is already filtered, like encode(). `filter` describes the filter that
    // made `bytes`; a GSTD encoder searches for matches in a way that suits it.
    SluiceStatus encodeFiltered(const SluiceArchiveSegment& segment,
                                const std::vector<uint8_t>& filter, const uint8_t* bytes,
                                uint32_t size, std::vector<uint8_t>& out);
    // Estimates whether encode() may make the tile smaller than `limit` bytes. Returns true for
    // codecs that have no estimate.
    bool maySave(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                 size_t limit);

private:
    SluiceStatus encodeGdeflate(const SluiceArchiveSegment& segment, const uint8_t* bytes,
                                uint32_t size, std::vector<uint8_t>& out);
    SluiceStatus encodeGstd(const SluiceArchiveSegment& segment, const uint8_t* bytes,
                            uint32_t size, std::vector<uint8_t>& out, GstdContent content,
                            const std::vector<SluiceGstdMatch>* matches);

    KeptEncoder<SluiceGdeflateEncoder, SluiceGdeflateEncoderInfo> m_gdeflate;
    KeptEncoder<SluiceGstdEncoder, SluiceGstdEncoderInfo> m_gstd;
    std::unique_ptr<class FloatTileEncoder> m_float;
    std::unique_ptr<zstd::TileEncoder> m_zstd;
};

} // namespace sluice
