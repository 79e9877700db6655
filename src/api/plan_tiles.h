// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout of a batch of tiles, the same for every backend: where its lists lie in its control,
// results and scratch memory. The tiles are divided into lists by kind (the command that decodes
// them) and by whether they have a filter.
#pragma once

#include <algorithm>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_tiles.h>

#include "formats/integers.h"
#include "api/arguments.h"
#include "layout/gdeflate.h"
#include "layout/gstd.h"

namespace sluice {

enum TileKind : uint32_t {
    kGdeflateKind,
    kGstdKind,
    kZstdKind,
    kFloatKind,
    kLargeKind
};
static_assert(kLargeKind + 1 == SLUICE_TILE_KINDS);

constexpr uint64_t kListAlignment = 16;
constexpr uint32_t kMaxBatchTiles = 1u << 20;
constexpr uint64_t kMaxBatchDescriptions = uint64_t(1) << 30;
constexpr uint32_t kSummaryWords = 2; // words of a command's summary, after its status words

// Returns a tile's kind. A stored tile is copied by the GDeflate command or, if it is larger than a
// GDeflate tile can be, by the Gstd command. Still larger stored tiles have a kind of their own.
inline TileKind kindOf(uint32_t codec, uint32_t size)
{
    switch (codec) {
    case SLUICE_CODEC_GDEFLATE: return kGdeflateKind;
    case SLUICE_CODEC_GSTD: return kGstdKind;
    case SLUICE_CODEC_ZSTD: return kZstdKind;
    case SLUICE_CODEC_FLOAT: return kFloatKind;
    default:
        return size <= SLUICE_GD_TILE_BYTES   ? kGdeflateKind
               : size <= SLUICE_GS_TILE_BYTES ? kGstdKind
                                              : kLargeKind;
    }
}

// Returns an upper bound of the number of parts of a tile of this kind. Float tiles and large tiles
// are decoded in parts, each of which has a status. A part of a float tile has SLUICE_FLOAT_TILE
// elements, which have at least one byte each. A part of a large tile is a region of up to
// SLUICE_GD_TILE_BYTES bytes.
inline uint32_t partsOf(TileKind kind, uint32_t size)
{
    return kind == kFloatKind   ? divideUp(size, uint32_t(SLUICE_FLOAT_TILE))
           : kind == kLargeKind ? divideUp(size, uint32_t(SLUICE_GD_TILE_BYTES))
                                : 0;
}

// Returns whether the tiles of a kind are decoded in parts. Their checksums are compared by a later
// command, when all parts have been decoded.
inline bool hasParts(uint32_t kind) { return kind >= kFloatKind; }
// Returns whether the decode of a kind cannot compare the checksums of tiles.
inline bool hasNoChecksum(uint32_t kind) { return kind == kZstdKind || hasParts(kind); }

// The place of a tile in its batch.
struct PlacedTile {
    TileKind kind;
    uint32_t filtered;         // 1: the tile has a filter
    uint32_t index;            // its number among the tiles with the same `kind` and `filtered`
    uint32_t firstPart, parts; // of the parts in its list; `parts` is an upper bound
    // If the tile has a filter: the offsets of its filtered bytes, from the start of all filtered
    // bytes in scratch, and of the filter's description in the list of descriptions.
    uint64_t filteredOffset;
    uint32_t descriptionOffset;
    bool isNewDescription; // the description must still be written to that list
};

// Adds the tile to the totals and sets its place. If the checker refuses the tile, for one of the
// errors of sluiceAddTile, returns false and leaves the totals as they are.
bool placeTile(ArgumentChecker& check, SluiceTileTotals& totals, const SluiceTile& tile,
               PlacedTile& placed);

// Returns the number of a tile's list among those of its kind. The tiles of a kind form two lists:
// list 0 without filters, list 1 with filters. Gstd tiles form list 0 alone, in which tiles without
// filters come first. The reason: a decode takes at least as long as its slowest tile, so decoding
// two short lists one after the other would take up to twice as long as one list.
inline uint32_t listOf(uint32_t kind, uint32_t filtered)
{
    return kind == kGstdKind ? 0 : filtered;
}

// Returns the tile size, in bytes, for which a Gstd decode makes its slots (a slot is the scratch
// of a tile): that of the batch's largest tile. Slots for tiles of the largest legal size would
// waste scratch.
inline uint32_t gstdTileBytesOf(const SluiceTileTotals& totals)
{
    return std::clamp(uint32_t(alignUp(totals.largestGstd, 8)), 8u, SLUICE_GS_TILE_BYTES);
}
// Returns the bytes of scratch that gstdTilesAtOnce of SluiceTilesInfo stands for: that many slots
// for Gstd tiles of 256 KiB.
inline uint64_t slotBytes(uint32_t gstdTilesAtOnce)
{
    return uint64_t(gstdTilesAtOnce == 0 ? SLUICE_GS_SLOTS : gstdTilesAtOnce) *
           SLUICE_GS_SLOT_BYTES(SLUICE_GS_TILE_BYTES);
}
// Returns how many Gstd tiles can be decoded at once with slotBytes(wanted) bytes of scratch. If
// the batch's largest tile is below 256 KiB, slots are smaller, and more of them fit.
inline uint32_t gstdTilesAtOnce(const SluiceTileTotals& totals, uint32_t wanted)
{
    return uint32_t(
        std::min<uint64_t>(slotBytes(wanted) / SLUICE_GS_SLOT_BYTES(gstdTileBytesOf(totals)), ~0u));
}
// Returns the largest regionsAtOnce, from 1 to `tiles`, with which a Zstandard decode needs at most
// slotBytes(wanted) bytes of scratch. scratchOf(regionsAtOnce) returns what it needs.
template <typename ScratchOf>
uint32_t zstdTilesAtOnce(uint32_t tiles, uint32_t wanted, const ScratchOf& scratchOf)
{
    uint32_t fits = 1, most = std::max(tiles, 1u);
    while (fits < most) {
        const uint32_t middle = fits + (most - fits + 1) / 2;
        if (scratchOf(middle) <= slotBytes(wanted))
            fits = middle;
        else
            most = middle - 1;
    }
    return fits;
}

// The counts of one list: all its tiles, its tiles with a filter, and the parts of all its tiles.
struct ListTotals {
    uint32_t tiles, filtered, parts;
};
inline ListTotals totalsOf(const SluiceTileTotals& totals, uint32_t kind, uint32_t list)
{
    const uint32_t(&counts)[2] = totals.counts[kind];
    if (kind == kGstdKind)
        return list == 0 ? ListTotals{counts[0] + counts[1], counts[1], 0} : ListTotals{};
    return {counts[list], list != 0 ? counts[list] : 0, totals.parts[kind][list]};
}

// Returns a tile's index in its list. In the list of Gstd tiles, those with filters come after the
// others. The totals are those of the whole batch.
inline uint32_t indexOf(const SluiceTileTotals& totals, const PlacedTile& placed)
{
    const bool isBehind = placed.kind == kGstdKind && placed.filtered != 0;
    return placed.index + (isBehind ? totals.counts[placed.kind][0] : 0);
}

// Offsets, in bytes, of the arrays of one list.
struct TileLists {
    // In control memory. `decodes` has a region for each tile (float tiles: a tensor for each tile;
    // large tiles: a region for each part). `expected` has the checksums, `finals` the regions that
    // the checksum command compares, and `filters` the SluiceFilterTiles.
    uint64_t decodes, expected, finals, filters;
    // In results memory: the statuses of tiles, the statuses of parts, and the index of each tile's
    // first part.
    uint64_t status, partStatus, firstParts;
    // In scratch memory: the ranges (offset and size) of the decode and of the filter command.
    uint64_t decodeScratch, decodeScratchSize, filterScratch, filterScratchSize;
};

struct TilesLayout {
    TileLists lists[SLUICE_TILE_KINDS][2];
    uint64_t descriptions; // in control memory
    uint64_t filtered;     // in scratch: bytes that are decoded, but still filtered
    SluiceTilesRequirements sizes;
};

// Takes the next `size` bytes, and returns their offset.
inline uint64_t takeBytes(uint64_t& end, uint64_t size)
{
    const uint64_t at = end;
    end += alignUp(size, kListAlignment);
    return at;
}

// Returns whether a list's checksums are compared by a command of their own, after the filters.
inline bool needsChecksum(const ListTotals& list, uint32_t kind, uint32_t flags)
{
    return (flags & SLUICE_TILES_UNCHECKED) == 0 && (list.filtered != 0 || hasNoChecksum(kind));
}

// Returns the layout of control and results memory. The layout of scratch depends on the backend,
// so Batch::addScratch (tiles.cpp) adds it.
inline TilesLayout layoutOf(const SluiceTileTotals& totals, uint32_t flags)
{
    TilesLayout layout = {};
    uint64_t &control = layout.sizes.controlSize, &results = layout.sizes.resultsSize;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        for (uint32_t list = 0; list < 2; ++list) {
            const ListTotals of = totalsOf(totals, kind, list);
            const uint64_t count = of.tiles, parts = of.parts;
            if (count == 0) continue;
            TileLists& lists = layout.lists[kind][list];
            lists.decodes =
                takeBytes(control, kind == kFloatKind   ? count * sizeof(SluiceFloatTensor)
                                   : kind == kLargeKind ? parts * sizeof(SluiceRegion)
                                                        : count * sizeof(SluiceRegion));
            if ((flags & SLUICE_TILES_UNCHECKED) == 0)
                lists.expected = takeBytes(control, count * 4);
            if (needsChecksum(of, kind, flags))
                lists.finals = takeBytes(control, count * sizeof(SluiceRegion));
            lists.filters = takeBytes(control, of.filtered * sizeof(SluiceFilterTile));
            lists.status = takeBytes(results, (count + kSummaryWords) * 4);
            if (!hasParts(kind)) continue;
            lists.partStatus = takeBytes(results, (parts + kSummaryWords) * 4);
            lists.firstParts = takeBytes(results, (count + 1) * 4);
        }
    }
    layout.descriptions = takeBytes(control, totals.descriptionSize);
    return layout;
}

} // namespace sluice
