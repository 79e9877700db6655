// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tile_encoder.h"

#include <algorithm>

#include <sluice/sluice_encode.h>

namespace sluice {
namespace {

constexpr uint32_t maxTileBytes = 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2;
constexpr uint32_t maxGdeflateTileBytes = 65536;

class GdeflateTileEncoder : public TileEncoder {
public:
    SluiceStatus encode(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                        std::vector<uint8_t>& out) override
    {
        if (encoder_ == nullptr || segment.level != info_.level || segment.decodeSpeed != info_.decodeSpeed) {
            SluiceGdeflateEncoder made = nullptr;
            info_ = {segment.level, segment.decodeSpeed};
            encoder_.reset(); // first: two of them would take twice the memory
            const SluiceStatus status = sluiceCreateGdeflateEncoder(&info_, &made);
            if (status != SLUICE_OK) {
                return status;
            }
            encoder_.reset(made);
        }
        out.resize(sluiceGdeflateTileBound(size));
        size_t encodedSize = 0;
        const SluiceStatus status =
            sluiceEncodeGdeflateTile(encoder_.get(), bytes, size, out.data(), out.size(), &encodedSize);
        out.resize(encodedSize);
        return status;
    }

private:
    std::unique_ptr<SluiceGdeflateEncoder_T, decltype(&sluiceDestroyGdeflateEncoder)> encoder_{
        nullptr, sluiceDestroyGdeflateEncoder};
    SluiceGdeflateEncoderInfo info_ = {};
};

template <class Made>
TileEncoder& makeOnce(std::unique_ptr<TileEncoder>& encoder)
{
    if (encoder == nullptr) {
        encoder = std::make_unique<Made>();
    }
    return *encoder;
}

} // namespace

bool isEncodable(const SluiceArchiveSegment& segment)
{
    if (segment.tileSize < 4 || segment.tileSize > maxTileBytes || segment.tileSize % 4 != 0) {
        return false;
    }
    switch (segment.codec) {
    case SLUICE_CODEC_STORE:
        return true;
    case SLUICE_CODEC_GDEFLATE:
        return segment.tileSize <= maxGdeflateTileBytes && segment.level >= 1 && segment.level <= 12 &&
               segment.decodeSpeed <= SLUICE_GDEFLATE_MAX_DECODE_SPEED;
    default:
        return false;
    }
}

uint32_t nextTileSize(const SluiceArchiveSegment& segment, uint64_t left)
{
    return uint32_t(std::min<uint64_t>(segment.tileSize, left));
}

uint64_t countTiles(const SluiceArchiveSegment& segment)
{
    return segment.size / segment.tileSize + (segment.size % segment.tileSize != 0 ? 1 : 0);
}

SluiceStatus TileEncoders::encode(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                                  std::vector<uint8_t>& out)
{
    switch (segment.codec) {
    case SLUICE_CODEC_STORE:
        out.clear();
        return SLUICE_OK;
    case SLUICE_CODEC_GDEFLATE:
        return makeOnce<GdeflateTileEncoder>(gdeflate_).encode(segment, bytes, size, out);
    default:
        return SLUICE_ERROR_ARGUMENT;
    }
}

} // namespace sluice
