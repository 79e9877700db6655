// SPDX-License-Identifier: MIT OR Apache-2.0
// Gstd tiles: sequences from libzstd, each part with the tables that suit it.
#include <sluice/sluice_encode.h>

#include "gstd_part.h"

#include <algorithm>
#include <new>

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

constexpr uint32_t kDefaultDepth = 4;

class TileEncoder {
public:
    explicit TileEncoder(const SluiceGstdEncoderInfo& info)
        : depth_(info.depth == 0 ? kDefaultDepth : info.depth),
          finder_(kLevels[info.level].zstd, depth_), parts_(kLevels[info.level].effort)
    {
    }

    // Returns the stream; an empty one if the matches, if there are any, are wrong.
    const std::vector<uint16_t>& encode(const uint8_t* tile, uint32_t size,
                                        const SluiceGstdMatch* matches, uint32_t matchCount)
    {
        words_.clear();
        if (matches == nullptr) {
            finder_.find(tile, size, found_);
        } else if (!finder_.useMatches(tile, size, matches, matchCount, found_)) {
            return words_;
        }
        const uint32_t count = static_cast<uint32_t>(found_.size());
        add32((count - 1) | (depth_ - 1) << 4);
        for (uint32_t i = 0; i < count; ++i)
            add32(0);
        parts_.beginTile();
        for (uint32_t i = 0; i < count; ++i) {
            const size_t begin = words_.size();
            parts_.encode(tile, found_[i], words_);
            words_[2 + 2 * size_t{i}] = static_cast<uint16_t>(found_[i].size - 1);
            words_[3 + 2 * size_t{i}] = static_cast<uint16_t>(words_.size() - begin - 1);
        }
        return words_;
    }

private:
    void add32(uint32_t value)
    {
        words_.push_back(static_cast<uint16_t>(value));
        words_.push_back(static_cast<uint16_t>(value >> 16));
    }

    uint32_t depth_;
    SequenceFinder finder_;
    PartEncoder parts_;
    std::vector<PartSequences> found_;
    std::vector<uint16_t> words_;
};

} // namespace
} // namespace sluice::gstd

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
    try {
        *encoder = new SluiceGstdEncoder_T{TileEncoder(*info)};
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    return SLUICE_OK;
}

void sluiceDestroyGstdEncoder(SluiceGstdEncoder encoder) { delete encoder; }

size_t sluiceGstdTileBound(size_t size)
{
    if (size == 0 || size > SLUICE_GS_TILE_BYTES) return 0;
    const size_t parts =
        std::min<size_t>((size + SLUICE_GS_GROUP - 1) / SLUICE_GS_GROUP, SLUICE_GS_MAX_PARTS);
    return 4 + parts * 6 + (size + 1) / 2 * 2;
}

static SluiceStatus encodeTile(SluiceGstdEncoder encoder, const void* bytes, size_t size,
                               const SluiceGstdMatch* matches, uint32_t matchCount, void* out,
                               size_t capacity, size_t* outSize)
{
    if (encoder == nullptr || bytes == nullptr || out == nullptr || outSize == nullptr ||
        size == 0 || size > SLUICE_GS_TILE_BYTES)
        return SLUICE_ERROR_ARGUMENT;
    *outSize = 0;
    try {
        const std::vector<uint16_t>& words = encoder->encoder.encode(
            static_cast<const uint8_t*>(bytes), static_cast<uint32_t>(size), matches, matchCount);
        if (words.empty()) return SLUICE_ERROR_ARGUMENT;
        if (capacity < words.size() * 2) return SLUICE_ERROR_BUFFER_SIZE;
        uint8_t* to = static_cast<uint8_t*>(out);
        for (const uint16_t word : words) {
            *to++ = static_cast<uint8_t>(word);
            *to++ = static_cast<uint8_t>(word >> 8);
        }
        *outSize = words.size() * 2;
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    return SLUICE_OK;
}

SluiceStatus sluiceEncodeGstdTile(SluiceGstdEncoder encoder, const void* bytes, size_t size,
                                  void* out, size_t capacity, size_t* outSize)
{
    return encodeTile(encoder, bytes, size, nullptr, 0, out, capacity, outSize);
}

SluiceStatus sluiceEncodeGstdTileWithMatches(SluiceGstdEncoder encoder, const void* bytes,
                                             size_t size, const SluiceGstdMatch* matches,
                                             uint32_t matchCount, void* out, size_t capacity,
                                             size_t* outSize)
{
    const SluiceGstdMatch none = {};
    if (matches == nullptr && matchCount != 0) return SLUICE_ERROR_ARGUMENT;
    return encodeTile(encoder, bytes, size, matches == nullptr ? &none : matches, matchCount, out,
                      capacity, outSize);
}
