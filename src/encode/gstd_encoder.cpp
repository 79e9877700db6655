// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes Gstd tiles: sequences come from libzstd, and each part gets the tables that suit it.
#include "../formats/little_endian.h"
#include "../formats/errors.h"
#include "gstd_part.h"

namespace sluice::gstd {
namespace {

struct Level {
    int zstd;
    Effort effort;
};

constexpr Effort kFast = {10, 10, 9, 9, false};
constexpr Effort kThorough = {8, 11, 8, 10, true};

constexpr Level kLevels[SLUICE_GSTD_MAX_LEVEL + 1] = {
    {},
    {1, kFast},
    {2, kFast},
    {3, kFast},
    {5, kFast},
    {6, kFast},
    {7, {9, 11, 9, 9, true}},
    {9, {9, 11, 9, 9, true}},
    {11, {9, 11, 9, 9, true}},
    {13, kThorough},
    {16, kThorough},
    {18, kThorough},
    {19, kThorough},
};

constexpr u32 kDefaultDepth = 4;

class TileEncoder {
public:
    explicit TileEncoder(const SluiceGstdEncoderInfo& info)
        : m_depth(info.depth == 0 ? kDefaultDepth : info.depth),
          m_finder(kLevels[info.level].zstd, m_depth), m_parts(kLevels[info.level].effort)
    {
    }

    // Returns the stream, an empty one if the matches are wrong. matches may be NULL.
    const std::vector<u16>& encode(const u8* tile, u32 size, const SluiceGstdMatch* matches,
                                   u32 matchCount)
    {
        m_words.clear();
        if (matches == nullptr) {
            m_finder.find(tile, size, m_found);
        } else if (!m_finder.useMatches(tile, size, matches, matchCount, m_found)) {
            return m_words;
        }
        const u32 count = u32(m_found.size());
        add32((count - 1) | (m_depth - 1) << 4);
        for (u32 i = 0; i < count; ++i)
            add32(0);
        m_parts.beginTile();
        for (u32 i = 0; i < count; ++i) {
            const size_t begin = m_words.size();
            m_parts.encode(tile, m_found[i], m_words);
            m_words[2 + 2 * i] = u16(m_found[i].size - 1);
            m_words[3 + 2 * i] = u16(m_words.size() - begin - 1);
        }
        return m_words;
    }

private:
    void add32(u32 value)
    {
        m_words.push_back(u16(value));
        m_words.push_back(u16(value >> 16));
    }

    u32 m_depth;
    SequenceFinder m_finder;
    PartEncoder m_parts;
    std::vector<PartSequences> m_found;
    std::vector<u16> m_words;
};

} // namespace
} // namespace sluice::gstd

using namespace sluice;
using namespace sluice::gstd;

struct SluiceGstdEncoder_T {
    TileEncoder encoder;
};

SluiceStatus sluiceCreateGstdEncoder(const SluiceGstdEncoderInfo* info, SluiceGstdEncoder* encoder)
{
    if (encoder == nullptr) return SLUICE_ERROR_ARGUMENT;
    *encoder = nullptr;
    if (info == nullptr || info->level < 1 || info->level > SLUICE_GSTD_MAX_LEVEL ||
        info->depth > SLUICE_GSTD_MAX_DEPTH)
        return SLUICE_ERROR_ARGUMENT;
    return withoutExceptions([&] {
        *encoder = new SluiceGstdEncoder_T{TileEncoder(*info)};
        return SLUICE_OK;
    });
}

void sluiceDestroyGstdEncoder(SluiceGstdEncoder encoder) { delete encoder; }

size_t sluiceGstdTileBound(size_t size)
{
    if (size == 0 || size > SLUICE_GS_TILE_BYTES) return 0;
    const size_t parts =
        std::min<size_t>(divideUp<size_t>(size, SLUICE_GS_GROUP), SLUICE_GS_MAX_PARTS);
    return 4 + parts * 6 + divideUp<size_t>(size, 2) * 2;
}

static SluiceStatus encodeTile(SluiceGstdEncoder encoder, const void* bytes, size_t size,
                               const SluiceGstdMatch* matches, u32 matchCount, void* out,
                               size_t capacity, size_t* outSize)
{
    if (encoder == nullptr || bytes == nullptr || out == nullptr || outSize == nullptr ||
        size == 0 || size > SLUICE_GS_TILE_BYTES)
        return SLUICE_ERROR_ARGUMENT;
    *outSize = 0;
    return withoutExceptions([&] {
        const std::vector<u16>& words =
            encoder->encoder.encode(static_cast<const u8*>(bytes), u32(size), matches, matchCount);
        if (words.empty()) return SLUICE_ERROR_ARGUMENT;
        if (capacity < words.size() * 2) return SLUICE_ERROR_BUFFER_SIZE;
        for (size_t i = 0; i < words.size(); ++i)
            storeLe16(static_cast<u8*>(out) + 2 * i, words[i]);
        *outSize = words.size() * 2;
        return SLUICE_OK;
    });
}

SluiceStatus sluiceEncodeGstdTile(SluiceGstdEncoder encoder, const void* bytes, size_t size,
                                  void* out, size_t capacity, size_t* outSize)
{
    return encodeTile(encoder, bytes, size, nullptr, 0, out, capacity, outSize);
}

SluiceStatus sluiceEncodeGstdTileWithMatches(SluiceGstdEncoder encoder, const void* bytes,
                                             size_t size, const SluiceGstdMatch* matches,
                                             u32 matchCount, void* out, size_t capacity,
                                             size_t* outSize)
{
    const SluiceGstdMatch none = {};
    if (matches == nullptr && matchCount != 0) return SLUICE_ERROR_ARGUMENT;
    return encodeTile(encoder, bytes, size, matches == nullptr ? &none : matches, matchCount, out,
                      capacity, outSize);
}
