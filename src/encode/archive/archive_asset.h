// SPDX-License-Identifier: MIT OR Apache-2.0
// An asset as the archive writer receives it, and the checks of its arguments.
#pragma once

#include <sluice/sluice_archive.h>
#include <sluice/sluice_float.h>

#include <algorithm>
#include <string_view>

#include "formats/archive_layout.h"

namespace sluice {

constexpr uint64_t kMaxAssetSize = uint64_t(UINT32_MAX) * 65536;

inline SluiceArchiveSegment defaultSegment(const SluiceArchiveWriterInfo& info, uint64_t size)
{
    const uint32_t tileSize = info.codec == SLUICE_CODEC_STORE ? SLUICE_GD_TILE_BYTES
                              : info.codec == SLUICE_CODEC_GSTD && info.tileSize != 0
                                  ? info.tileSize
                                  : maxTileBytes(info.codec);
    return {size, info.codec,         tileSize,       info.level, info.decodeSpeed,
            0,    SLUICE_FLOAT_BYTES, info.copyDepth, 0};
}

// An asset's segments: those that the caller gave, or a single default segment.
struct Segments {
    const SluiceArchiveSegment* given;
    uint32_t count;
    SluiceArchiveSegment single;

    const SluiceArchiveSegment& operator[](uint32_t i) const
    {
        return given != nullptr ? given[i] : single;
    }
};

// Holds what the index says about every asset, whoever has encoded it.
struct AssetHead {
    std::string_view name;
    uint32_t type;
    uint64_t size;
    const uint8_t* parameters;
    uint32_t parameterSize;
    bool triesFilters; // tiles may have lost their filter
};

inline bool triesFilters(const SluiceEncodedAssetInfo& info) { return info.filterTrial != 0; }
inline bool triesFilters(const SluiceArchiveAssetInfo& info)
{
    return info.segments != nullptr && std::any_of(info.segments, info.segments + info.segmentCount,
                                                   [](const SluiceArchiveSegment& segment) {
                                                       return segment.filterTrial != 0 &&
                                                              segment.filterOffset != 0;
                                                   });
}

// The assets that share an extent. The list is empty if the extent belongs to a single asset.
struct Parts {
    const SluiceArchivePart* list = nullptr;
    uint32_t count = 0;

    bool isShare() const { return count != 0; }
};

inline AssetHead headOf(const SluiceArchivePart& part)
{
    return {{part.name, part.nameLength},
            part.type,
            part.size,
            static_cast<const uint8_t*>(part.parameters),
            part.parameterSize,
            false};
}

template <class Info>
AssetHead headOf(const Info& info, Parts parts = {})
{
    if (parts.isShare())
        return {{},
                0,
                info.size,
                static_cast<const uint8_t*>(info.parameters),
                info.parameterSize,
                triesFilters(info)};
    return {{info.name, info.nameLength},
            info.type,
            info.size,
            static_cast<const uint8_t*>(info.parameters),
            info.parameterSize,
            triesFilters(info)};
}

// Returns the item that describes the segment's filter, or NULL if there is none. The writer must
// have accepted the asset, since offsets are not checked here.
inline const uint8_t* filterItemOf(const SluiceArchiveAssetInfo& info,
                                   const SluiceArchiveSegment& segment)
{
    return segment.filterOffset == 0
               ? nullptr
               : static_cast<const uint8_t*>(info.parameters) + segment.filterOffset - 4;
}

// Returns whether a parameter block, which must have been checked, has filters as its only items.
inline bool areFilters(const uint8_t* items, uint32_t size)
{
    bool filters = size != 0;
    for (uint32_t at = 0; filters && at < size;
         at += kItemHead + uint32_t(alignUp(itemSize(items + at), 4)))
        filters = loadLe16(items + at) == kFilterItem;
    return filters;
}

// Checks a block as strictly as a reader (docs/format.md, 4.3), except that unknown kinds are
// accepted.
inline bool isEncodedTile(const SluiceEncodedAssetInfo& info, const SluiceArchiveTile& tile,
                          bool last)
{
    const bool goodSize = tile.codec == SLUICE_CODEC_STORE ? tile.storedSize == tile.size
                                                           : tile.storedSize < tile.size;
    return tile.size != 0 && tile.size <= 1u << info.tileSizeLog2 && (last || tile.size % 4 == 0) &&
           tile.codec <= SLUICE_CODEC_GSTD && tile.size <= maxTileBytes(tile.codec) &&
           tile.storedSize != 0 && goodSize &&
           (tile.filterOffset == 0 ||
            checkFilterItem(static_cast<const uint8_t*>(info.parameters), info.parameterSize,
                            tile.filterOffset) == SLUICE_OK);
}

} // namespace sluice
