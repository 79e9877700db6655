// SPDX-License-Identifier: MIT OR Apache-2.0
// An asset as the archive writer receives it, and checks of the caller's arguments.
#pragma once

#include <sluice/sluice_archive.h>
#include <sluice/sluice_float.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "formats/archive_layout.h"

namespace sluice {

constexpr uint64_t kMaxAssetSize = uint64_t(UINT32_MAX) * 65536;

inline SluiceArchiveSegment defaultSegment(const SluiceArchiveWriterInfo& info, uint64_t size)
{
    const uint32_t tileSize =
        info.codec == SLUICE_CODEC_STORE ? SLUICE_GD_TILE_BYTES
        : maxTileBytes(info.codec) == SLUICE_GS_TILE_BYTES && info.tileSize != 0
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

// Holds what the archive's index says about an asset, no matter if the writer encodes the asset's
// tiles or receives them encoded.
struct AssetHead {
    std::string_view name;
    uint32_t type;
    uint64_t size;
    const uint8_t* parameters;
    uint32_t parameterSize;
    bool triesFilters;      // some tiles may be stored without their filter
    uint32_t newCodecs = 0; // bit set of codecs: an item that names them is added to the parameters
};

constexpr uint32_t kCodecsItemBytes = kItemHead + 4;
// The set of codecs, a bit for each, that an asset must name in its parameters if one of its tiles
// uses them (docs/format.md, 4.5).
constexpr uint32_t kNamedCodecs = 1u << SLUICE_CODEC_ZSTD;

inline bool triesFilters(const SluiceEncodedAssetInfo& info) { return info.filterTrial != 0; }
inline bool triesFilters(const SluiceArchiveAssetInfo& info)
{
    return info.segments != nullptr && std::any_of(info.segments, info.segments + info.segmentCount,
                                                   [](const SluiceArchiveSegment& segment) {
                                                       return segment.filterTrial != 0 &&
                                                              segment.filterOffset != 0;
                                                   });
}

// The parts of a share: several assets whose bytes lie one after the other in common tiles. The
// list is empty for an asset with tiles of its own.
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

// Returns the item of the parameter block that describes the segment's filter, or NULL if there is
// none. filterOffset is not checked here: that happens when the writer accepts the asset.
inline const uint8_t* filterItemOf(const SluiceArchiveAssetInfo& info,
                                   const SluiceArchiveSegment& segment)
{
    return segment.filterOffset == 0
               ? nullptr
               : static_cast<const uint8_t*>(info.parameters) + segment.filterOffset - 4;
}

// Returns whether a parameter block has an item whose kind makes isAny(kind) true. The block must
// be valid, since sizes of items are not checked here.
template <class IsAny>
bool hasItem(const uint8_t* items, uint32_t size, IsAny isAny)
{
    for (uint32_t at = 0; at < size; at += kItemHead + uint32_t(alignUp(itemSize(items + at), 4)))
        if (isAny(loadLe16(items + at))) return true;
    return false;
}
inline bool namesCodecs(const uint8_t* items, uint32_t size)
{
    return hasItem(items, size, [](uint32_t kind) { return kind == kCodecsItem; });
}

// Returns the codecs that segments or tiles use, as a bit set. Empty segments do not count.
template <class Item>
uint32_t codecsOf(const Item* items, uint32_t count)
{
    uint32_t codecs = 0;
    for (uint32_t i = 0; i < count; ++i)
        codecs |= items[i].size != 0 ? 1u << items[i].codec : 0;
    return codecs;
}
// Returns a copy of the head for an asset whose tiles use `codecs`. Sets newCodecs to those of them
// that the archive must name, unless the asset's parameters, which must be valid, name codecs.
inline AssetHead withCodecs(AssetHead head, uint32_t codecs)
{
    if (!namesCodecs(head.parameters, head.parameterSize)) head.newCodecs = codecs & kNamedCodecs;
    return head;
}
// Returns the items of the asset's parameter block: the caller's, then one that names newCodecs.
inline std::vector<uint8_t> itemsOf(const AssetHead& head)
{
    std::vector<uint8_t> items(head.parameters, head.parameters + head.parameterSize);
    if (head.newCodecs == 0) return items;
    uint8_t item[kCodecsItemBytes] = {kCodecsItem};
    storeLe32(item + 4, 4);
    storeLe32(item + kItemHead, head.newCodecs);
    items.insert(items.end(), item, item + kCodecsItemBytes);
    return items;
}

// Returns whether a parameter block has items, and all of them are filters.
inline bool areFilters(const uint8_t* items, uint32_t size)
{
    return size != 0 && !hasItem(items, size, [](uint32_t kind) { return kind != kFilterItem; });
}
// Returns whether all items of a parameter block describe tiles. The block of a share (tiles that
// several assets use) may not have other items.
inline bool areOfTiles(const uint8_t* items, uint32_t size)
{
    return !hasItem(items, size,
                    [](uint32_t kind) { return kind != kFilterItem && kind != kCodecsItem; });
}

// Checks an encoded tile as strictly as a reader checks its record (docs/format.md, 4.3).
inline bool isEncodedTile(const SluiceEncodedAssetInfo& info, const SluiceArchiveTile& tile,
                          bool last)
{
    const bool goodSize = tile.codec == SLUICE_CODEC_STORE ? tile.storedSize == tile.size
                                                           : tile.storedSize < tile.size;
    return tile.size != 0 && tile.size <= 1u << info.tileSizeLog2 && (last || tile.size % 4 == 0) &&
           tile.codec <= SLUICE_CODEC_ZSTD && tile.size <= maxTileBytes(tile.codec) &&
           tile.storedSize != 0 && goodSize &&
           (tile.filterOffset == 0 ||
            checkFilterItem(static_cast<const uint8_t*>(info.parameters), info.parameterSize,
                            tile.filterOffset) == SLUICE_OK);
}

} // namespace sluice
