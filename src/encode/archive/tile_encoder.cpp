// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_float.h>

#include "encode/archive/tile_encoder.h"

#include <algorithm>

#include "formats/archive_layout.h"
#include "formats/filter.h"
#include "encode/weights/float_tile_encoder.h"
#include "encode/zstd/zstd_encoder.h"

namespace sluice {

template <typename Handle, typename Info>
SluiceStatus KeptEncoder<Handle, Info>::want(const Info& info)
{
    if (m_encoder != nullptr && std::memcmp(&info, &m_info, sizeof info) == 0) return SLUICE_OK;
    m_info = info;
    m_encoder.reset(); // destroy the old one first: two at a time would take twice the memory
    Handle created = nullptr;
    const SluiceStatus status = m_create(&m_info, &created);
    m_encoder.reset(created);
    return status;
}

TileEncoders::TileEncoders()
    : m_gdeflate(sluiceCreateGdeflateEncoder, sluiceDestroyGdeflateEncoder),
      m_gstd(sluiceCreateGstdEncoder, sluiceDestroyGstdEncoder)
{
}
TileEncoders::TileEncoders(TileEncoders&&) noexcept = default;
TileEncoders::~TileEncoders() = default;

bool isEncodable(const SluiceArchiveSegment& segment)
{
    if (segment.tileSize < 4 || segment.tileSize % 4 != 0 ||
        segment.tileSize > maxTileBytes(segment.codec))
        return false;
    switch (segment.codec) {
    case SLUICE_CODEC_STORE: return true;
    case SLUICE_CODEC_GDEFLATE:
        return segment.level >= 1 && segment.level <= 12 &&
               segment.decodeSpeed <= SLUICE_GDEFLATE_MAX_DECODE_SPEED;
    case SLUICE_CODEC_GSTD:
        return segment.level >= 1 && segment.level <= SLUICE_GSTD_MAX_LEVEL &&
               segment.copyDepth <= SLUICE_GSTD_MAX_DEPTH;
    case SLUICE_CODEC_ZSTD: return segment.level >= 1 && segment.level <= SLUICE_ZSTD_MAX_LEVEL;
    case SLUICE_CODEC_FLOAT: return segment.floatType < SLUICE_FLOAT_TYPE_COUNT;
    default: return false;
    }
}

// A segment of floats may end inside an element. Its last bytes then form an extra tile, so that
// the tiles before end at a multiple of 4. Returns the size of the extra tile in bytes, or 0 if
// there is none. `left` is the number of bytes of the segment that are not cut into tiles yet.
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
    return divideUp<uint64_t>(segment.size - tail, segment.tileSize) + (tail != 0 ? 1 : 0);
}

uint32_t tileSizeLog2Of(const SluiceArchiveSegment* segments, uint32_t count)
{
    uint32_t bits = SLUICE_ARCHIVE_MIN_TILE_LOG2;
    for (uint32_t i = 0; i < count; ++i)
        while (segments[i].size != 0 && segments[i].tileSize > 1u << bits)
            ++bits;
    return bits;
}

SluiceStatus TileEncoders::encodeGdeflate(const SluiceArchiveSegment& segment, const uint8_t* bytes,
                                          uint32_t size, std::vector<uint8_t>& out)
{
    SluiceStatus status = m_gdeflate.want({segment.level, segment.decodeSpeed});
    if (status != SLUICE_OK) return status;
    out.resize(sluiceGdeflateTileBound(size));
    size_t encodedSize = 0;
    status = sluiceEncodeGdeflateTile(m_gdeflate.get(), bytes, size, out.data(), out.size(),
                                      &encodedSize);
    out.resize(encodedSize);
    return status;
}

SluiceStatus TileEncoders::encodeGstd(const SluiceArchiveSegment& segment, const uint8_t* bytes,
                                      uint32_t size, std::vector<uint8_t>& out, GstdContent content,
                                      const std::vector<SluiceGstdMatch>* matches)
{
    SluiceStatus status = m_gstd.want({segment.level, segment.copyDepth});
    if (status != SLUICE_OK) return status;
    out.resize(sluiceGstdTileBound(size));
    size_t encodedSize = 0;
    status = matches == nullptr
                 ? encodeGstdTile(m_gstd.get(), content, bytes, size, out.data(), out.size(),
                                  &encodedSize)
                 : sluiceEncodeGstdTileWithMatches(m_gstd.get(), bytes, size, matches->data(),
                                                   uint32_t(matches->size()), out.data(),
                                                   out.size(), &encodedSize);
    out.resize(encodedSize);
    return status;
}

namespace {

// Returns which kind of content (GstdContent) most bytes of a filtered tile have.
GstdContent contentOf(const std::vector<uint8_t>& filter, uint32_t size)
{
    uint32_t sums[uint32_t(GstdContent::count)] = {}, end = 0;
    FilterReader reader(filter.data(), filter.size());
    forEachSection(reader, size, end, [&](const FilterSection& section, uint32_t, uint32_t bytes) {
        const uint32_t stride = section.stride();
        for (uint32_t c = 0; c < section.columnCount; ++c) {
            const FilterColumn& column = section.columns[c];
            const GstdContent content = column.bytes == 1    ? GstdContent::bytes
                                        : column.bytes == 4  ? GstdContent::words
                                        : section.width == 0 ? GstdContent::samples
                                                             : GstdContent::vertices;
            sums[uint32_t(content)] += bytes / stride * column.bytes;
        }
        return true;
    });
    return GstdContent(std::max_element(sums, sums + uint32_t(GstdContent::count)) - sums);
}

} // namespace

SluiceStatus TileEncoders::encodeFiltered(const SluiceArchiveSegment& segment,
                                          const std::vector<uint8_t>& filter, const uint8_t* bytes,
                                          uint32_t size, std::vector<uint8_t>& out)
{
    return segment.codec == SLUICE_CODEC_GSTD
               ? encodeGstd(segment, bytes, size, out, contentOf(filter, size), nullptr)
               : encode(segment, bytes, size, out);
}

bool TileEncoders::maySave(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                           size_t limit)
{
    size_t draft = 0;
    if (segment.codec != SLUICE_CODEC_GSTD ||
        m_gstd.want({segment.level, segment.copyDepth}) != SLUICE_OK ||
        draftGstdTile(m_gstd.get(), bytes, size, &draft) != SLUICE_OK)
        return true;
    return draft - draft / 8 < limit;
}

SluiceStatus TileEncoders::encode(const SluiceArchiveSegment& segment, const uint8_t* bytes,
                                  uint32_t size, std::vector<uint8_t>& out,
                                  const std::vector<SluiceGstdMatch>* matches)
{
    switch (segment.codec) {
    case SLUICE_CODEC_STORE: out.clear(); return SLUICE_OK;
    case SLUICE_CODEC_GDEFLATE: return encodeGdeflate(segment, bytes, size, out);
    case SLUICE_CODEC_GSTD:
        return encodeGstd(segment, bytes, size, out, GstdContent::plain, matches);
    case SLUICE_CODEC_ZSTD:
        if (m_zstd == nullptr) m_zstd = std::make_unique<zstd::TileEncoder>();
        m_zstd->encode(segment.level, bytes, size, out);
        if (out.size() >= size) out.clear();
        return SLUICE_OK;
    case SLUICE_CODEC_FLOAT:
        if (m_float == nullptr) m_float = std::make_unique<FloatTileEncoder>();
        return m_float->encode(segment, bytes, size, out);
    default: return SLUICE_ERROR_ARGUMENT;
    }
}

} // namespace sluice
