// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout of a batch of tiles: the places of its lists in control, results and scratch. It is
// the same for every backend.
#pragma once

#include <sluice/sluice_filter.h>
#include <sluice/sluice_tiles.h>

#include "formats/integers.h"
#include "layout/gdeflate.h"
#include "layout/gstd.h"

namespace sluice {

enum TileKind : uint32_t {
    kGdeflateKind,
    kGstdKind,
    kFloatKind,
    kLargeKind
};
static_assert(kLargeKind + 1 == SLUICE_TILE_KINDS);

constexpr uint64_t kListAlignment = 16;
constexpr uint32_t kMaxBatchTiles = 1u << 20;
constexpr uint64_t kMaxBatchDescriptions = uint64_t(1) << 30;
constexpr uint32_t kSummaryWords = 2; // after the status words of every command

// Stored tiles go to a command of another codec whose tiles may be as large.
inline TileKind kindOf(uint32_t codec, uint32_t size)
{
    switch (codec) {
    case SLUICE_CODEC_GDEFLATE: return kGdeflateKind;
    case SLUICE_CODEC_GSTD: return kGstdKind;
    case SLUICE_CODEC_FLOAT: return kFloatKind;
    default:
        return size <= SLUICE_GD_TILE_BYTES   ? kGdeflateKind
               : size <= SLUICE_GS_TILE_BYTES ? kGstdKind
                                              : kLargeKind;
    }
}

// For the kernels, a tile of these kinds consists of several parts, each with a status. The parts
// of a float tile have SLUICE_FLOAT_TILE elements, which have at least a byte each. The parts of a
// large tile are its regions.
inline uint32_t partsOf(TileKind kind, uint32_t size)
{
    return kind == kFloatKind   ? divideUp(size, uint32_t(SLUICE_FLOAT_TILE))
           : kind == kLargeKind ? divideUp(size, uint32_t(SLUICE_GD_TILE_BYTES))
                                : 0;
}

// The checksums of these kinds are compared after the whole tile was decoded.
inline bool hasParts(uint32_t kind) { return kind >= kFloatKind; }

// The position of a tile in its batch.
struct PlacedTile {
    TileKind kind;
    uint32_t filtered;
    uint32_t index;             // among the tiles of its kind
    uint32_t firstPart, parts;  // parts: an upper bound
    uint64_t filteredOffset;    // if it is filtered
    uint32_t descriptionOffset; // if it is filtered
    bool isNewDescription;      // its bytes have to be written
};

// Adds the tile to the totals and returns its position. Errors: those of sluiceAddTile.
SluiceStatus placeTile(SluiceTileTotals& totals, const SluiceTile& tile, PlacedTile& placed);

// Byte ranges of the lists of one kind of tiles, with or without filters.
struct TileLists {
    // In control. `decodes` lists one region per tile, one tensor per float tile, or one region per
    // part.
    uint64_t decodes, expected, finals, filters;
    // In results.
    uint64_t status, partStatus, firstParts;
    // In scratch.
    uint64_t decodeScratch, decodeScratchSize, filterScratch, filterScratchSize;
};

struct TilesLayout {
    TileLists lists[SLUICE_TILE_KINDS][2];
    uint64_t descriptions; // in control
    uint64_t filtered;     // in scratch
    SluiceTilesRequirements sizes;
};

// Allocates the next `size` bytes, and returns their offset.
inline uint64_t takeBytes(uint64_t& end, uint64_t size)
{
    const uint64_t at = end;
    end += alignUp(size, kListAlignment);
    return at;
}

inline bool needsChecksum(uint32_t kind, uint32_t filtered, uint32_t flags)
{
    return (flags & SLUICE_TILES_UNCHECKED) == 0 && (filtered != 0 || hasParts(kind));
}

// Returns the layout without scratch, which depends on the backend.
inline TilesLayout layoutOf(const SluiceTileTotals& totals, uint32_t flags)
{
    TilesLayout layout = {};
    uint64_t &control = layout.sizes.controlSize, &results = layout.sizes.resultsSize;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        for (uint32_t filtered = 0; filtered < 2; ++filtered) {
            const uint64_t count = totals.counts[kind][filtered];
            const uint64_t parts = totals.parts[kind][filtered];
            if (count == 0) continue;
            TileLists& lists = layout.lists[kind][filtered];
            lists.decodes =
                takeBytes(control, kind == kFloatKind   ? count * sizeof(SluiceFloatTensor)
                                   : kind == kLargeKind ? parts * sizeof(SluiceRegion)
                                                        : count * sizeof(SluiceRegion));
            if ((flags & SLUICE_TILES_UNCHECKED) == 0)
                lists.expected = takeBytes(control, count * 4);
            if (needsChecksum(kind, filtered, flags))
                lists.finals = takeBytes(control, count * sizeof(SluiceRegion));
            if (filtered != 0) lists.filters = takeBytes(control, count * sizeof(SluiceFilterTile));
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
