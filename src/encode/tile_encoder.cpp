// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tile_encoder.h"

#include <algorithm>

#include <sluice/sluice_encode.h>

#include "float_tile_encoder.h"

namespace sluice {
namespace {

constexpr uint32_t maxTileBytes = 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2;
constexpr uint32_t maxGdeflateTileBytes = 65536, maxGstdTileBytes = 262144;

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

class GstdTileEncoder {
public:
    SluiceStatus encode(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                        std::vector<uint8_t>& out, const std::vector<SluiceGstdMatch>* matches)
    {
        if (encoder_ == nullptr || segment.level != info_.level || segment.copyDepth != info_.depth) {
            SluiceGstdEncoder made = nullptr;
            info_ = {segment.level, segment.copyDepth};
            encoder_.reset(); // first: two of them would take twice the memory
            const SluiceStatus status = sluiceCreateGstdEncoder(&info_, &made);
            if (status != SLUICE_OK) {
                return status;
            }
            encoder_.reset(made);
        }
        out.resize(sluiceGstdTileBound(size));
        size_t encodedSize = 0;
        const SluiceStatus status =
            matches == nullptr
                ? sluiceEncodeGstdTile(encoder_.get(), bytes, size, out.data(), out.size(), &encodedSize)
                : sluiceEncodeGstdTileWithMatches(encoder_.get(), bytes, size, matches->data(),
                                                  static_cast<uint32_t>(matches->size()), out.data(), out.size(),
                                                  &encodedSize);
        out.resize(encodedSize);
        return status;
    }

private:
    std::unique_ptr<SluiceGstdEncoder_T, decltype(&sluiceDestroyGstdEncoder)> encoder_{nullptr,
                                                                                       sluiceDestroyGstdEncoder};
    SluiceGstdEncoderInfo info_ = {};
};

TileEncoders::TileEncoders() = default;
TileEncoders::TileEncoders(TileEncoders&&) noexcept = default;
TileEncoders::~TileEncoders() = default;

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
    case SLUICE_CODEC_GSTD:
        return segment.tileSize <= maxGstdTileBytes && segment.level >= 1 && segment.level <= SLUICE_GSTD_MAX_LEVEL &&
               segment.copyDepth <= SLUICE_GSTD_MAX_DEPTH;
    case SLUICE_CODEC_FLOAT:
        return segment.floatType < SLUICE_FLOAT_TYPE_COUNT;
    default:
        return false;
    }
}

// What ends a segment without being a whole element, and all that follows the last multiple of 4 then: tiles that
// others follow are such multiples.
static uint32_t tailSize(const SluiceArchiveSegment& segment, uint64_t left)
{
    const bool whole = segment.codec != SLUICE_CODEC_FLOAT || left % sluiceFloatElementSize(segment.floatType) == 0;
    return whole ? 0 : uint32_t(left % 4);
}

uint32_t nextTileSize(const SluiceArchiveSegment& segment, uint64_t left)
{
    const uint64_t whole = left - tailSize(segment, left);
    return uint32_t(std::min<uint64_t>(segment.tileSize, whole != 0 ? whole : left));
}

uint64_t countTiles(const SluiceArchiveSegment& segment)
{
    const uint32_t tail = tailSize(segment, segment.size);
    const uint64_t whole = segment.size - tail;
    return whole / segment.tileSize + (whole % segment.tileSize != 0 ? 1 : 0) + (tail != 0 ? 1 : 0);
}

SluiceStatus TileEncoders::encode(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                                  std::vector<uint8_t>& out, const std::vector<SluiceGstdMatch>* matches)
{
    switch (segment.codec) {
    case SLUICE_CODEC_STORE:
        out.clear();
        return SLUICE_OK;
    case SLUICE_CODEC_GDEFLATE:
        return makeOnce<GdeflateTileEncoder>(gdeflate_).encode(segment, bytes, size, out);
    case SLUICE_CODEC_GSTD:
        if (gstd_ == nullptr) gstd_ = std::make_unique<GstdTileEncoder>();
        return gstd_->encode(segment, bytes, size, out, matches);
    case SLUICE_CODEC_FLOAT:
        return makeOnce<FloatTileEncoder>(float_).encode(segment, bytes, size, out);
    default:
        return SLUICE_ERROR_ARGUMENT;
    }
}

} // namespace sluice
