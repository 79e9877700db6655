// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the tiles of a batch, counts them, and gives each its place in the batch's lists.
#include "api/checks.h"
#include "layout/zstd.h"
#include "api/plan_tiles.h"

#include <algorithm>

#include "formats/archive_layout.h"

using namespace sluice;

namespace {

// Checks a tile. The caller has told the checker the tile's index (ArgumentChecker::at).
void checkTile(ArgumentChecker& check, const SluiceTile& tile)
{
    check.require(SLUICE_NAMED(tile.codec), tile.codec <= SLUICE_CODEC_ZSTD, "is a known codec",
                  SLUICE_ERROR_VERSION);
    check.require(SLUICE_NAMED(tile.codec),
                  (tile.codec != SLUICE_CODEC_FLOAT || SLUICE_HAVE_WEIGHTS) &&
                      (tile.codec != SLUICE_CODEC_ZSTD || SLUICE_HAVE_ZSTD),
                  "is a codec that this build has", SLUICE_ERROR_UNSUPPORTED);
    check.atLeast(SLUICE_NAMED(tile.storedSize), 1);
    check.atLeast(SLUICE_NAMED(tile.size), 1);
    check.atMost(SLUICE_NAMED(tile.size), tile.codec == SLUICE_CODEC_ZSTD && tile.filter == nullptr
                                              ? SLUICE_ZSTD_MAX_REGION_SIZE
                                              : SLUICE_FILTER_MAX_TILE);
    switch (tile.codec) {
    case SLUICE_CODEC_STORE:
        check.require(SLUICE_NAMED(tile.storedSize), tile.storedSize == tile.size,
                      "is the size of a stored tile (limit)", SLUICE_ERROR_ARGUMENT, tile.size);
        break;
    case SLUICE_CODEC_GDEFLATE:
        check.atMost(SLUICE_NAMED(tile.size), SLUICE_GD_TILE_BYTES);
        check.atMost(SLUICE_NAMED(tile.storedSize), SLUICE_GD_MAX_COMPRESSED);
        break;
    case SLUICE_CODEC_GSTD:
        check.atMost(SLUICE_NAMED(tile.size), SLUICE_GS_TILE_BYTES);
        check.atMost(SLUICE_NAMED(tile.storedSize), SLUICE_GS_MAX_COMPRESSED);
        break;
    case SLUICE_CODEC_ZSTD:
        check.atMost(SLUICE_NAMED(tile.storedSize), SLUICE_ZS_MAX_SOURCE);
        break;
    default: check.atMost(SLUICE_NAMED(tile.storedSize), 2 * SLUICE_FILTER_MAX_TILE);
    }
    check.require(SLUICE_NAMED(tile.filterSize), (tile.filterSize != 0) == (tile.filter != nullptr),
                  "is 0 if and only if filter is NULL");
    // These checks use masks. ArgumentChecker::multipleOf would divide by a number that is not
    // known at compile time, which takes as long as everything else that is done for a tile.
    check.require(SLUICE_NAMED(tile.filterSize), (tile.filterSize & 3) == 0, "is a multiple of 4");
    check.atMost(SLUICE_NAMED(tile.filterSize), SLUICE_FILTER_MAX_DESCRIPTION);
    check.require(SLUICE_NAMED(tile.sourceOffset), (tile.sourceOffset & 15) == 0,
                  "is a multiple of 16");
    const uint64_t beside = tile.codec == SLUICE_CODEC_FLOAT && tile.filter == nullptr ? 15 : 3;
    check.require(SLUICE_NAMED(tile.destinationOffset), (tile.destinationOffset & beside) == 0,
                  "is a multiple of the limit", SLUICE_ERROR_ARGUMENT, beside + 1);
}

// Sets the offset of the tile's filter in the list of descriptions. Neighbouring tiles mostly have
// the same filter, so it is first looked for among the latest SLUICE_TILE_FILTERS descriptions.
void placeDescription(SluiceTileTotals& totals, const SluiceTile& tile, PlacedTile& placed)
{
    const uint32_t known = std::min(totals.recentCount, SLUICE_TILE_FILTERS);
    for (uint32_t i = 0; i < known; ++i) {
        if (totals.recent[i] == tile.filter && totals.recentSize[i] == tile.filterSize) {
            placed.descriptionOffset = totals.recentOffset[i];
            return;
        }
    }
    placed.isNewDescription = true;
    placed.descriptionOffset = uint32_t(totals.descriptionSize);
    const uint32_t at = totals.recentCount++ % SLUICE_TILE_FILTERS;
    totals.recent[at] = tile.filter;
    totals.recentSize[at] = tile.filterSize;
    totals.recentOffset[at] = placed.descriptionOffset;
    totals.descriptionSize += tile.filterSize;
}

} // namespace

bool sluice::placeTile(ArgumentChecker& check, SluiceTileTotals& totals, const SluiceTile& tile,
                       PlacedTile& placed)
{
    checkTile(check, tile);
    check.require(SLUICE_NAMED(totals.tileCount), totals.tileCount < kMaxBatchTiles,
                  "is less than the limit before a tile is added", SLUICE_ERROR_ARGUMENT,
                  kMaxBatchTiles);
    check.require(SLUICE_NAMED(totals.descriptionSize),
                  totals.descriptionSize + tile.filterSize <= kMaxBatchDescriptions,
                  "is at most the limit after a tile is added", SLUICE_ERROR_ARGUMENT,
                  kMaxBatchDescriptions);
    if (!check.isOk()) return false;
    placed = {};
    placed.kind = kindOf(tile.codec, tile.size);
    placed.filtered = tile.filter != nullptr ? 1u : 0u;
    placed.index = totals.counts[placed.kind][placed.filtered]++;
    if (placed.kind == kGstdKind) totals.largestGstd = std::max(totals.largestGstd, tile.size);
    if (placed.kind == kZstdKind) totals.largestZstd = std::max(totals.largestZstd, tile.size);
    placed.parts = partsOf(placed.kind, tile.size);
    placed.firstPart = totals.parts[placed.kind][placed.filtered];
    totals.parts[placed.kind][placed.filtered] += placed.parts;
    if (placed.filtered != 0) {
        placed.filteredOffset = takeBytes(totals.filteredSize, tile.size);
        uint32_t& largest = totals.largestFiltered[placed.kind];
        largest = std::max(largest, tile.size);
        placeDescription(totals, tile, placed);
    }
    ++totals.tileCount;
    totals.bytesIn += tile.storedSize;
    totals.bytesOut += tile.size;
    return true;
}

SluiceStatus sluiceGetArchiveTile(const SluiceArchiveAsset* asset, const SluiceArchiveTile* record,
                                  uint64_t sourceOffset, uint64_t destinationOffset,
                                  SluiceTile* tile)
{
    if (asset == nullptr || record == nullptr || tile == nullptr) return SLUICE_ERROR_ARGUMENT;
    *tile = {sourceOffset,
             destinationOffset,
             record->storedSize,
             record->size,
             record->codec,
             record->checksum,
             nullptr,
             0};
    if (record->filterOffset == 0) return SLUICE_OK;
    const uint32_t at = record->filterOffset - 4;
    if (record->filterOffset < 4 || at % 4 != 0 || asset->tileParameters == nullptr ||
        asset->tileParameterSize < kItemHead || at > asset->tileParameterSize - kItemHead)
        return SLUICE_ERROR_FORMAT;
    const uint8_t* item = static_cast<const uint8_t*>(asset->tileParameters) + at;
    tile->filterSize = itemSize(item);
    tile->filter = item + kItemHead;
    return tile->filterSize <= asset->tileParameterSize - kItemHead - at ? SLUICE_OK
                                                                         : SLUICE_ERROR_FORMAT;
}

SluiceStatus sluiceAddTile(SluiceTileTotals* totals, const SluiceTile* tile)
{
    ArgumentChecker check(Reporter{}, __func__);
    PlacedTile placed;
    if (check.given(SLUICE_NAMED(totals)) && check.given(SLUICE_NAMED(tile)))
        placeTile(check, *totals, *tile, placed);
    return check.status();
}

uint32_t sluiceGetTilesKernels(const SluiceTileTotals* totals)
{
    if (totals == nullptr) return 0;
    constexpr uint32_t kKernels[SLUICE_TILE_KINDS] = {
        SLUICE_KERNELS_GDEFLATE_LINEAR, SLUICE_KERNELS_GSTD, SLUICE_KERNELS_ZSTD,
        SLUICE_KERNELS_FLOAT, SLUICE_KERNELS_GDEFLATE_LINEAR};
    uint32_t kernels = 0;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        const uint32_t(&counts)[2] = totals->counts[kind];
        if (counts[0] + counts[1] != 0) kernels |= kKernels[kind];
        if (counts[1] != 0) kernels |= SLUICE_KERNELS_FILTER;
        if (counts[1] != 0 || (counts[0] != 0 && hasNoChecksum(kind)))
            kernels |= SLUICE_KERNELS_CHECKSUM;
    }
    return kernels;
}
