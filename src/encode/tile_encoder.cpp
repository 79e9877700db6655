// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tile_encoder.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include "float_tile_encoder.h"

namespace sluice {
namespace {

constexpr uint32_t maxTileBytes = 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2;
constexpr uint32_t maxGdeflateTileBytes = 65536, maxGstdTileBytes = 262144;

// The encoder of the tile before, for as long as tiles want the same of it.
template <typename Handle, typename Info>
class KeptEncoder {
public:
    using Create = SluiceStatus (*)(const Info*, Handle*);
    using Destroy = void (*)(Handle);

    KeptEncoder(Create create, Destroy destroy) : create_(create), encoder_(nullptr, destroy) {}

    SluiceStatus want(const Info& info)
    {
        if (encoder_ != nullptr && std::memcmp(&info, &info_, sizeof(info)) == 0) {
            return SLUICE_OK;
        }
        Handle made = nullptr;
        info_ = info;
        encoder_.reset(); // first: two of them would take twice the memory
        const SluiceStatus status = create_(&info_, &made);
        encoder_.reset(made);
        return status;
    }
    Handle get() const { return encoder_.get(); }

private:
    Create create_;
    std::unique_ptr<std::remove_pointer_t<Handle>, Destroy> encoder_;
    Info info_ = {};
};

class GdeflateTileEncoder : public TileEncoder {
public:
    SluiceStatus encode(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                        std::vector<uint8_t>& out) override
    {
        SluiceStatus status = encoder_.want({segment.level, segment.decodeSpeed});
        if (status != SLUICE_OK) {
            return status;
        }
        out.resize(sluiceGdeflateTileBound(size));
        size_t encodedSize = 0;
        status = sluiceEncodeGdeflateTile(encoder_.get(), bytes, size, out.data(), out.size(),
                                          &encodedSize);
        out.resize(encodedSize);
        return status;
    }

private:
    KeptEncoder<SluiceGdeflateEncoder, SluiceGdeflateEncoderInfo> encoder_{
        sluiceCreateGdeflateEncoder, sluiceDestroyGdeflateEncoder};
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
        SluiceStatus status = encoder_.want({segment.level, segment.copyDepth});
        if (status != SLUICE_OK) {
            return status;
        }
        out.resize(sluiceGstdTileBound(size));
        size_t encodedSize = 0;
        status = matches == nullptr
                     ? sluiceEncodeGstdTile(encoder_.get(), bytes, size, out.data(), out.size(),
                                            &encodedSize)
                     : sluiceEncodeGstdTileWithMatches(encoder_.get(), bytes, size, matches->data(),
                                                       static_cast<uint32_t>(matches->size()),
                                                       out.data(), out.size(), &encodedSize);
        out.resize(encodedSize);
        return status;
    }

private:
    KeptEncoder<SluiceGstdEncoder, SluiceGstdEncoderInfo> encoder_{sluiceCreateGstdEncoder,
                                                                   sluiceDestroyGstdEncoder};
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
    case SLUICE_CODEC_STORE: return true;
    case SLUICE_CODEC_GDEFLATE:
        return segment.tileSize <= maxGdeflateTileBytes && segment.level >= 1 &&
               segment.level <= 12 && segment.decodeSpeed <= SLUICE_GDEFLATE_MAX_DECODE_SPEED;
    case SLUICE_CODEC_GSTD:
        return segment.tileSize <= maxGstdTileBytes && segment.level >= 1 &&
               segment.level <= SLUICE_GSTD_MAX_LEVEL && segment.copyDepth <= SLUICE_GSTD_MAX_DEPTH;
    case SLUICE_CODEC_FLOAT: return segment.floatType < SLUICE_FLOAT_TYPE_COUNT;
    default: return false;
    }
}

// What ends a segment without being a whole element, and all that follows the last multiple of 4
// then: tiles that others follow are such multiples.
static uint32_t tailSize(const SluiceArchiveSegment& segment, uint64_t left)
{
    const bool whole = segment.codec != SLUICE_CODEC_FLOAT ||
                       left % sluiceFloatElementSize(segment.floatType) == 0;
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

SluiceStatus TileEncoders::encode(const SluiceArchiveSegment& segment, const uint8_t* bytes,
                                  uint32_t size, std::vector<uint8_t>& out,
                                  const std::vector<SluiceGstdMatch>* matches)
{
    switch (segment.codec) {
    case SLUICE_CODEC_STORE: out.clear(); return SLUICE_OK;
    case SLUICE_CODEC_GDEFLATE:
        return makeOnce<GdeflateTileEncoder>(gdeflate_).encode(segment, bytes, size, out);
    case SLUICE_CODEC_GSTD:
        if (gstd_ == nullptr) gstd_ = std::make_unique<GstdTileEncoder>();
        return gstd_->encode(segment, bytes, size, out, matches);
    case SLUICE_CODEC_FLOAT:
        return makeOnce<FloatTileEncoder>(float_).encode(segment, bytes, size, out);
    default: return SLUICE_ERROR_ARGUMENT;
    }
}

} // namespace sluice
