// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes Gstd tiles. libzstd finds the sequences (literals, then a match), which are divided into
// parts, and each part gets the entropy tables that suit it.
#include "formats/little_endian.h"
#include "formats/errors.h"
#include "encode/gstd/gstd_encoder.h"
#include "encode/gstd/gstd_part.h"

namespace sluice::gstd {
namespace {

constexpr uint32_t kContents = uint32_t(GstdContent::count);

// How a level searches for matches, depending on what a tile contains. The encoder encodes the
// result of each search whose level is not 0, and keeps the smallest stream.
constexpr uint32_t kSearches = 2;
struct Level {
    Effort effort;
    Search searches[kContents][kSearches];
};

constexpr Effort kFast = {10, 10, 9, 9, false};
constexpr Effort kMedium = {9, 11, 9, 9, true};
constexpr Effort kThorough = {8, 11, 8, 10, true};
// For literals, tables of 2^8 and 2^9 slots hardly save anything over larger ones, so they are not
// tried.
constexpr Effort kDefault = {10, 11, 8, 10, true};

// Returns a level whose searches take the first or the longest match, without regard to costs.
//   zstd    zstd's level
//   also    a second level to try for filtered images, where a more thorough search often chooses
//           worse matches; 0: none
//   models  the level for filtered models; 0: `zstd`
// Filtered bytes have cheap literals, so matches of 4 or 5 bytes would make such tiles up to 5 %
// larger; minMatch 6 excludes them.
constexpr Level upTo8(const Effort& effort, int zstd, int also = 0, int models = 0)
{
    const Search plain = {zstd, 0, 0, 0}, filtered = {zstd, 0, 0, 6}, second = {also, 0, 0, 6},
                 vertices = {models != 0 ? models : zstd, 0, 0, 6};
    return {effort, {{plain}, {filtered, second}, {filtered}, {vertices}, {filtered}}};
}

// libzstd's numbers for its match finders (ZSTD_strategy).
constexpr uint32_t kLazy2 = 5, kBtlazy2 = 6, kBtopt = 7, kBtultra = 8;

// On average, no level makes tiles larger than the level before it, whatever they contain. Sounds
// have so few matches that a lazy search is as good as an optimal parser. For filtered models a
// lazy search makes tiles 0.6 % larger, but takes a third of the time.
constexpr Level kLevels[SLUICE_GSTD_MAX_LEVEL + 1] = {
    {},
    upTo8(kFast, 1),
    upTo8(kFast, 3),
    upTo8(kFast, 4),
    upTo8(kFast, 5),
    upTo8(kFast, 7),
    upTo8(kMedium, 7),
    upTo8(kMedium, 10, 7, 8),
    upTo8(kMedium, 11, 7, 10),
    {kDefault,
     {{{13, 0, 0, 0}},
      {{15, kBtopt, 1, 6}},
      {{11, kBtlazy2, 5, 6}},
      {{9, kLazy2, 5, 6}},
      {{15, kBtopt, 4, 4}}}},
    {kThorough,
     {{{16, 0, 0, 0}},
      {{16, kBtopt, 4, 6}},
      {{16, kBtopt, 4, 4}},
      {{16, kBtopt, 4, 5}},
      {{16, kBtopt, 5, 4}}}},
    {kThorough,
     {{{18, 0, 0, 0}},
      {{16, kBtopt, 4, 6}, {16, kBtopt, 5, 4}},
      {{19, kBtultra, 5, 4}},
      {{19, kBtopt, 6, 5}},
      {{19, kBtultra, 6, 4}}}},
    {kThorough,
     {{{19, 0, 0, 0}},
      {{19, kBtopt, 7, 6}, {19, kBtultra, 5, 4}},
      {{19, kBtultra, 5, 4}, {19, kBtopt, 4, 6}},
      {{19, kBtopt, 8, 5}, {19, kBtopt, 8, 6}},
      {{19, kBtultra, 6, 4}, {19, kBtultra, 8, 3}}}},
};

// Optimal parsers take the first long match that they find, so tiles that consist of long matches
// become larger. If a tile shrinks to less than 1/kSearchedAgain of its size, the search of level
// kLazyLevel is tried too.
constexpr uint32_t kSearchedAgain = 8;
constexpr uint32_t kLazyLevel = 8;

// The level whose search draftGstdTile uses to estimate sizes.
constexpr Level kDraft = kLevels[5];

constexpr uint32_t kDefaultDepth = 4;

class TileEncoder {
public:
    explicit TileEncoder(const SluiceGstdEncoderInfo& info)
        : m_level(kLevels[info.level]), m_depth(info.depth == 0 ? kDefaultDepth : info.depth),
          m_finder(m_depth)
    {
    }

    // Encodes a tile. Returns the stream, which stays valid until the next call.
    const std::vector<uint16_t>& encode(const uint8_t* tile, uint32_t size, GstdContent content)
    {
        m_best.clear();
        for (const Search& search : m_level.searches[uint32_t(content)])
            if (search.level != 0) keepBest(tile, size, search);
        if (&m_level > &kLevels[kLazyLevel] && 2 * m_best.size() < size / kSearchedAgain)
            keepBest(tile, size, kLevels[kLazyLevel].searches[uint32_t(content)][0]);
        return m_best;
    }

    // Encodes a tile with the given matches. Returns an empty stream if they do not fit the tile.
    const std::vector<uint16_t>& encode(const uint8_t* tile, uint32_t size,
                                        const SluiceGstdMatch* matches, uint32_t matchCount)
    {
        m_words.clear();
        if (m_finder.useMatches(tile, size, matches, matchCount, m_found))
            write(tile, m_level.effort);
        return m_words;
    }

    // Estimates how many 16-bit words the tile would take at a low level.
    size_t draft(const uint8_t* tile, uint32_t size)
    {
        m_finder.find(tile, size, kDraft.searches[uint32_t(GstdContent::plain)][0], m_found);
        m_parts.beginTile(kDraft.effort);
        size_t words = 2;
        for (const PartSequences& part : m_found)
            words += 2 + m_parts.estimate(tile, part);
        return words;
    }

private:
    // Encodes the tile with this search. Keeps the stream in m_best if m_best is empty or larger.
    void keepBest(const uint8_t* tile, uint32_t size, const Search& search)
    {
        m_finder.find(tile, size, search, m_found);
        write(tile, m_level.effort);
        if (m_best.empty() || m_words.size() < m_best.size()) m_best.swap(m_words);
    }

    // Encodes the parts in m_found into m_words.
    void write(const uint8_t* tile, const Effort& effort)
    {
        m_words.clear();
        const uint32_t count = uint32_t(m_found.size());
        add32((count - 1) | (m_depth - 1) << 4);
        for (uint32_t i = 0; i < count; ++i)
            add32(0);
        m_parts.beginTile(effort);
        for (uint32_t i = 0; i < count; ++i) {
            const size_t begin = m_words.size();
            m_parts.encode(tile, m_found[i], m_words);
            m_words[2 + 2 * i] = uint16_t(m_found[i].size - 1);
            m_words[3 + 2 * i] = uint16_t(m_words.size() - begin - 1);
        }
    }

    void add32(uint32_t value)
    {
        m_words.push_back(uint16_t(value));
        m_words.push_back(uint16_t(value >> 16));
    }

    const Level& m_level;
    uint32_t m_depth;
    SequenceFinder m_finder;
    PartEncoder m_parts;
    std::vector<PartSequences> m_found;
    std::vector<uint16_t> m_words, m_best;
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

namespace {

bool isTile(SluiceGstdEncoder encoder, const void* bytes, size_t size, const size_t* outSize)
{
    return encoder != nullptr && bytes != nullptr && outSize != nullptr && size != 0 &&
           size <= SLUICE_GS_TILE_BYTES;
}

// Calls encode(bytes, size) and stores the words that it returns in `out`.
template <typename Encode>
SluiceStatus encodeTile(SluiceGstdEncoder encoder, const void* bytes, size_t size, void* out,
                        size_t capacity, size_t* outSize, Encode encode)
{
    if (!isTile(encoder, bytes, size, outSize) || out == nullptr) return SLUICE_ERROR_ARGUMENT;
    *outSize = 0;
    return withoutExceptions([&] {
        const std::vector<uint16_t>& words =
            encode(static_cast<const uint8_t*>(bytes), uint32_t(size));
        if (words.empty()) return SLUICE_ERROR_ARGUMENT;
        if (capacity < words.size() * 2) return SLUICE_ERROR_BUFFER_SIZE;
        for (size_t i = 0; i < words.size(); ++i)
            storeLe16(static_cast<uint8_t*>(out) + 2 * i, words[i]);
        *outSize = words.size() * 2;
        return SLUICE_OK;
    });
}

} // namespace

SluiceStatus sluiceEncodeGstdTile(SluiceGstdEncoder encoder, const void* bytes, size_t size,
                                  void* out, size_t capacity, size_t* outSize)
{
    return encodeGstdTile(encoder, GstdContent::plain, bytes, size, out, capacity, outSize);
}

SluiceStatus sluice::encodeGstdTile(SluiceGstdEncoder encoder, GstdContent content,
                                    const void* bytes, size_t size, void* out, size_t capacity,
                                    size_t* outSize)
{
    return encodeTile(encoder, bytes, size, out, capacity, outSize,
                      [&](const uint8_t* tile, uint32_t tileSize) -> const std::vector<uint16_t>& {
                          return encoder->encoder.encode(tile, tileSize, content);
                      });
}

SluiceStatus sluice::draftGstdTile(SluiceGstdEncoder encoder, const void* bytes, size_t size,
                                   size_t* outSize)
{
    if (!isTile(encoder, bytes, size, outSize)) return SLUICE_ERROR_ARGUMENT;
    return withoutExceptions([&] {
        *outSize = 2 * encoder->encoder.draft(static_cast<const uint8_t*>(bytes), uint32_t(size));
        return SLUICE_OK;
    });
}

SluiceStatus sluiceEncodeGstdTileWithMatches(SluiceGstdEncoder encoder, const void* bytes,
                                             size_t size, const SluiceGstdMatch* matches,
                                             uint32_t matchCount, void* out, size_t capacity,
                                             size_t* outSize)
{
    const SluiceGstdMatch none = {};
    if (matches == nullptr && matchCount != 0) return SLUICE_ERROR_ARGUMENT;
    return encodeTile(encoder, bytes, size, out, capacity, outSize,
                      [&](const uint8_t* tile, uint32_t tileSize) -> const std::vector<uint16_t>& {
                          return encoder->encoder.encode(
                              tile, tileSize, matches == nullptr ? &none : matches, matchCount);
                      });
}
