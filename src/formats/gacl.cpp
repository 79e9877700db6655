// SPDX-License-Identifier: MIT OR Apache-2.0
// Describes the transforms of DirectStorage's GACL as filters (docs/format.md, 8). A transform
// moves each part of a texture block to a stream of its own, which a filter does with a column that
// is not joined to others. A part of 6 bytes takes two columns, of 2 and 4 bytes, which are joined.
#include <sluice/sluice_filter.h>

#include "layout/filter.h"
#include "formats/little_endian.h"

namespace sluice {
namespace {

constexpr uint32_t kMostRuns = SLUICE_GACL_DESCRIPTION_SIZE / 4 - 2;

struct Transform {
    uint32_t number;
    uint32_t blockBytes;
    uint32_t together; // blocks move in groups of this many; those after the last full group stay
    uint32_t runCount;
    uint32_t runs[kMostRuns]; // words of the description
};

constexpr uint32_t run(uint32_t repeat, uint32_t log2Bytes, uint32_t flags = 0)
{
    return repeat | log2Bytes << 8 | flags << SLUICE_FILTER_FLAGS_AT;
}
constexpr uint32_t kJoined = SLUICE_FILTER_FLAG_JOINED;

constexpr Transform kTransforms[] = {
    {SLUICE_GACL_BC1, 8, 2, 2, {run(2, 1), run(1, 2)}},
    {SLUICE_GACL_BC3, 16, 4, 5, {run(2, 0), run(1, 1), run(1, 2, kJoined), run(2, 1), run(1, 2)}},
    {SLUICE_GACL_BC4, 8, 4, 3, {run(2, 0), run(1, 1), run(1, 2, kJoined)}},
    {SLUICE_GACL_BC5,
     16,
     4,
     6,
     {run(2, 0), run(1, 1), run(1, 2, kJoined), run(2, 0), run(1, 1), run(1, 2, kJoined)}},
    {SLUICE_GACL_NONE, 1, 0, 0, {}},
    {SLUICE_GACL_ZSTD_ONLY, 1, 0, 0, {}},
};

} // namespace
} // namespace sluice

using namespace sluice;

SluiceStatus sluiceDescribeGacl(uint32_t transform, uint32_t tileSize, void* description,
                                uint32_t* size)
{
    if (description == nullptr || size == nullptr || tileSize == 0 ||
        tileSize > SLUICE_FILTER_MAX_TILE)
        return SLUICE_ERROR_ARGUMENT;
    *size = 0;
    for (const Transform& one : kTransforms) {
        if (one.number != transform) continue;
        const uint32_t groupBytes = one.blockBytes * one.together;
        const uint32_t moved = groupBytes != 0 ? tileSize / groupBytes * groupBytes : 0;
        if (moved == 0) return SLUICE_OK;
        uint8_t* word = static_cast<uint8_t*>(description);
        const auto write = [&](uint32_t value) {
            storeLe32(word, value);
            word += 4;
        };
        write(SLUICE_FILTER_VERSION | 1u << 16);
        write(moved | one.runCount << 21);
        for (uint32_t i = 0; i < one.runCount; ++i)
            write(one.runs[i]);
        *size = 4 * (2 + one.runCount);
        return SLUICE_OK;
    }
    return SLUICE_ERROR_UNSUPPORTED;
}
