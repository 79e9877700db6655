// SPDX-License-Identifier: MIT OR Apache-2.0
// Batches of tiles of any codec: counting them, writing their lists, recording their commands.
#include "api/checks.h"
#include "api/plan_regions.h"
#include "api/plan_tiles.h"

#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>

#include <cstring>

#include "formats/archive_layout.h"
#include "formats/float_tile.h"

using namespace sluice;

namespace {

bool validSizes(const SluiceTile& tile)
{
    if (tile.size == 0 || tile.storedSize == 0 || tile.size > SLUICE_FILTER_MAX_TILE) return false;
    switch (tile.codec) {
    case SLUICE_CODEC_STORE: return tile.storedSize == tile.size;
    case SLUICE_CODEC_GDEFLATE:
        return tile.size <= SLUICE_GD_TILE_BYTES && tile.storedSize <= SLUICE_GD_MAX_COMPRESSED;
    case SLUICE_CODEC_GSTD:
        return tile.size <= SLUICE_GS_TILE_BYTES && tile.storedSize <= SLUICE_GS_MAX_COMPRESSED;
    default: return tile.storedSize <= 2 * SLUICE_FILTER_MAX_TILE;
    }
}

SluiceStatus checkTile(const SluiceTile& tile)
{
    if (tile.codec > SLUICE_CODEC_GSTD) return SLUICE_ERROR_VERSION;
    if (tile.codec == SLUICE_CODEC_FLOAT && (kBuiltKernels & SLUICE_KERNELS_FLOAT) == 0)
        return SLUICE_ERROR_UNSUPPORTED;
    const bool validFilter = tile.filter == nullptr
                                 ? tile.filterSize == 0
                                 : tile.filterSize != 0 && tile.filterSize % 4 == 0 &&
                                       tile.filterSize <= SLUICE_FILTER_MAX_DESCRIPTION;
    // A mask is used instead of a remainder, because a division would take as long as everything
    // else that is done per tile.
    const uint64_t beside = tile.codec == SLUICE_CODEC_FLOAT && tile.filter == nullptr ? 15 : 3;
    return validSizes(tile) && validFilter && tile.sourceOffset % 16 == 0 &&
                   (tile.destinationOffset & beside) == 0
               ? SLUICE_OK
               : SLUICE_ERROR_ARGUMENT;
}

// Looks for the description among the most recent ones, because neighbouring tiles mostly share
// one.
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

// Holds what the calls for one batch share: its layout, and the ranges that follow from it.
class Batch {
public:
    Batch(SluiceContext context, const SluiceTilesInfo& info, const SluiceTileTotals& totals)
        : m_context(context), m_info(info), m_totals(totals), m_layout(layoutOf(totals, info.flags))
    {
        if (context != nullptr) addScratch();
    }

    const TilesLayout& layout() const { return m_layout; }
    SluiceStatus check() const;
    SluiceStatus record(SluiceCommands commands) const;

    template <class T>
    T* control(uint64_t offset) const
    {
        return reinterpret_cast<T*>(static_cast<uint8_t*>(m_info.controlHost) + offset);
    }
    uint32_t* results(uint64_t offset) const
    {
        return reinterpret_cast<uint32_t*>(static_cast<uint8_t*>(m_info.resultsHost) + offset);
    }

private:
    void addScratch();
    uint32_t decodeFlags() const
    {
        return (m_info.flags & SLUICE_TILES_NEVER_STORED) == 0
                   ? uint32_t(SLUICE_DECODE_STORED_IF_EQUAL)
                   : 0u;
    }
    bool isEmpty(uint32_t kind, uint32_t filtered) const
    {
        return m_totals.counts[kind][filtered] == 0;
    }
    SluiceBuffer destinationOf(uint32_t filtered) const
    {
        return filtered != 0 ? partOf(m_info.scratch, m_layout.filtered, m_totals.filteredSize)
                             : m_info.destination;
    }
    SluiceBuffer statusOf(uint32_t kind, uint32_t filtered) const
    {
        return partOf(m_info.results, m_layout.lists[kind][filtered].status,
                      (uint64_t(m_totals.counts[kind][filtered]) + kSummaryWords) * 4);
    }
    SluiceGdeflateInfo gdeflate(TileKind kind, uint32_t filtered) const;
    SluiceGstdInfo gstd(uint32_t filtered) const;
    SluiceFilterInfo filter(uint32_t kind) const;
    SluiceFloatDecodeInfo floats(uint32_t filtered) const;
    SluiceChecksumInfo checksum(uint32_t kind, uint32_t filtered) const;
    SluiceStatus recordDecodes(SluiceCommands commands) const;
    SluiceStatus recordFilters(SluiceCommands commands) const;
    SluiceStatus recordChecksums(SluiceCommands commands) const;

    SluiceContext m_context;
    const SluiceTilesInfo& m_info;
    const SluiceTileTotals& m_totals;
    TilesLayout m_layout;
};

// The commands of a batch may run at the same time, so each has a scratch range of its own.
void Batch::addScratch()
{
    uint64_t& size = m_layout.sizes.scratchSize;
    m_layout.sizes.scratchAlignment = kListAlignment;
    m_layout.filtered = takeBytes(size, m_totals.filteredSize);
    const auto take = [&](const SluiceRequirements& required, uint64_t& at, uint64_t& bytes) {
        uint64_t& alignment = m_layout.sizes.scratchAlignment;
        alignment = std::max(alignment, required.scratchAlignment);
        size = alignUp(size, std::max<uint64_t>(required.scratchAlignment, 1));
        bytes = required.scratchSize;
        at = takeBytes(size, bytes);
    };
    const Backend& backend = *m_context->backend;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        for (uint32_t filtered = 0; filtered < 2; ++filtered) {
            if (isEmpty(kind, filtered)) continue;
            TileLists& lists = m_layout.lists[kind][filtered];
            take(kind == kGstdKind ? backend.gstdRequirements(gstd(filtered))
                 : kind == kFloatKind
                     ? kNoScratch
                     : backend.gdeflateRequirements(gdeflate(TileKind(kind), filtered)),
                 lists.decodeScratch, lists.decodeScratchSize);
            if (filtered != 0) {
                take(backend.filterRequirements(filter(kind)), lists.filterScratch,
                     lists.filterScratchSize);
            }
        }
    }
}

// The parts of a large tile are its regions. They share one checksum.
SluiceGdeflateInfo Batch::gdeflate(TileKind kind, uint32_t filtered) const
{
    const TileLists& lists = m_layout.lists[kind][filtered];
    const bool isLarge = kind == kLargeKind;
    const uint64_t count =
        isLarge ? m_totals.parts[kind][filtered] : m_totals.counts[kind][filtered];
    SluiceGdeflateInfo decode = {};
    decode.maxRegionCount = uint32_t(count);
    decode.regionStride = sizeof(SluiceRegion);
    decode.flags = isLarge ? uint32_t(SLUICE_DECODE_STORED_IF_EQUAL) : decodeFlags();
    decode.regions = partOf(m_info.control, lists.decodes, count * sizeof(SluiceRegion));
    decode.source = m_info.source;
    decode.destination = destinationOf(filtered);
    if (!isLarge && filtered == 0 && (m_info.flags & SLUICE_TILES_UNCHECKED) == 0)
        decode.expected = partOf(m_info.control, lists.expected, count * 4);
    decode.status = isLarge ? partOf(m_info.results, lists.partStatus, (count + kSummaryWords) * 4)
                            : statusOf(kind, filtered);
    decode.scratch = partOf(m_info.scratch, lists.decodeScratch, lists.decodeScratchSize);
    return decode;
}

SluiceGstdInfo Batch::gstd(uint32_t filtered) const
{
    const TileLists& lists = m_layout.lists[kGstdKind][filtered];
    const uint64_t count = m_totals.counts[kGstdKind][filtered];
    SluiceGstdInfo decode = {};
    decode.maxRegionCount = uint32_t(count);
    decode.regionStride = sizeof(SluiceRegion);
    decode.flags = decodeFlags();
    decode.tilesAtOnce = m_info.gstdTilesAtOnce;
    decode.regions = partOf(m_info.control, lists.decodes, count * sizeof(SluiceRegion));
    decode.source = m_info.source;
    decode.destination = destinationOf(filtered);
    if (filtered == 0 && (m_info.flags & SLUICE_TILES_UNCHECKED) == 0)
        decode.expected = partOf(m_info.control, lists.expected, count * 4);
    decode.status = statusOf(kGstdKind, filtered);
    decode.scratch = partOf(m_info.scratch, lists.decodeScratch, lists.decodeScratchSize);
    return decode;
}

SluiceFilterInfo Batch::filter(uint32_t kind) const
{
    const TileLists& lists = m_layout.lists[kind][1];
    const uint32_t count = m_totals.counts[kind][1];
    SluiceFilterInfo undo = {};
    undo.maxTileCount = undo.statusCount = count;
    undo.maxTileSize = uint32_t(alignUp(std::max(m_totals.largestFiltered[kind], 1u), 4));
    undo.tiles = partOf(m_info.control, lists.filters, uint64_t(count) * sizeof(SluiceFilterTile));
    undo.descriptions = partOf(m_info.control, m_layout.descriptions, m_totals.descriptionSize);
    undo.source = destinationOf(1);
    undo.destination = m_info.destination;
    undo.status = statusOf(kind, 1);
    undo.scratch = partOf(m_info.scratch, lists.filterScratch, lists.filterScratchSize);
    return undo;
}

// sluicePrepareTiles has written the number of parts after the list of first parts.
SluiceFloatDecodeInfo Batch::floats(uint32_t filtered) const
{
    const TileLists& lists = m_layout.lists[kFloatKind][filtered];
    const uint64_t count = m_totals.counts[kFloatKind][filtered];
    SluiceFloatDecodeInfo decode = {};
    decode.tensorCount = uint32_t(count);
    decode.tileCount = m_totals.parts[kFloatKind][filtered];
    if (m_info.resultsHost != nullptr)
        decode.tileCount = std::min(decode.tileCount, results(lists.firstParts)[count]);
    decode.tensors = partOf(m_info.control, lists.decodes, count * sizeof(SluiceFloatTensor));
    decode.source = m_info.source;
    decode.destination = destinationOf(filtered);
    decode.status = partOf(m_info.results, lists.partStatus,
                           (uint64_t(m_totals.parts[kFloatKind][filtered]) + kSummaryWords) * 4);
    decode.scratch = partOf(m_info.scratch, lists.decodeScratch, lists.decodeScratchSize);
    return decode;
}

SluiceChecksumInfo Batch::checksum(uint32_t kind, uint32_t filtered) const
{
    const TileLists& lists = m_layout.lists[kind][filtered];
    const uint64_t count = m_totals.counts[kind][filtered];
    SluiceChecksumInfo compare = {};
    compare.maxRegionCount = uint32_t(count);
    compare.regionStride = sizeof(SluiceRegion);
    compare.regions = partOf(m_info.control, lists.finals, count * sizeof(SluiceRegion));
    compare.destination = m_info.destination;
    compare.expected = partOf(m_info.control, lists.expected, count * 4);
    compare.status = statusOf(kind, filtered);
    return compare;
}

SluiceStatus Batch::check() const
{
    RangeChecker ranges(backendOf(m_context) != SLUICE_BACKEND_VULKAN);
    ranges.buffer(m_info.source, 0, 1);
    ranges.buffer(m_info.destination, 0, 1);
    ranges.buffer(m_info.control, m_layout.sizes.controlSize, kListAlignment);
    ranges.buffer(m_info.results, m_layout.sizes.resultsSize, kListAlignment);
    if (m_layout.sizes.scratchSize != 0)
        ranges.buffer(m_info.scratch, m_layout.sizes.scratchSize, m_layout.sizes.scratchAlignment);
    return ranges.status();
}

SluiceStatus Batch::recordDecodes(SluiceCommands commands) const
{
    SluiceStatus status = SLUICE_OK;
    for (uint32_t filtered = 0; filtered < 2; ++filtered) {
        for (const TileKind kind : {kGdeflateKind, kLargeKind}) {
            if (status != SLUICE_OK || isEmpty(kind, filtered)) continue;
            const SluiceGdeflateInfo decode = gdeflate(kind, filtered);
            status = sluiceCmdGdeflate(m_context, commands, &decode);
        }
        if (status == SLUICE_OK && !isEmpty(kGstdKind, filtered)) {
            const SluiceGstdInfo decode = gstd(filtered);
            const SluiceFilterInfo undo = filtered != 0 ? filter(kGstdKind) : SluiceFilterInfo{};
            status = filtered != 0 ? sluiceCmdGstdFilter(m_context, commands, &decode, &undo)
                                   : sluiceCmdGstd(m_context, commands, &decode);
        }
#if SLUICE_HAVE_WEIGHTS
        if (status == SLUICE_OK && !isEmpty(kFloatKind, filtered)) {
            const SluiceFloatDecodeInfo decode = floats(filtered);
            status = sluiceCmdFloatDecode(m_context, commands, &decode);
        }
#endif
    }
    return status;
}

// The decode of Gstd tiles undoes their filters itself. The other kinds run one after the other,
// because a batch rarely has tiles of more than one of them.
SluiceStatus Batch::recordFilters(SluiceCommands commands) const
{
    SluiceStatus status = SLUICE_OK;
    for (const TileKind kind : {kGdeflateKind, kFloatKind, kLargeKind}) {
        if (status != SLUICE_OK || isEmpty(kind, 1)) continue;
        const SluiceFilterInfo undo = filter(kind);
        status = sluiceCmdBarrier(m_context, commands);
        if (status == SLUICE_OK) status = sluiceCmdFilter(m_context, commands, &undo);
    }
    return status;
}

SluiceStatus Batch::recordChecksums(SluiceCommands commands) const
{
    SluiceStatus status = SLUICE_OK;
    bool isFirst = true;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        for (uint32_t filtered = 0; filtered < 2; ++filtered) {
            if (status != SLUICE_OK || isEmpty(kind, filtered) ||
                !needsChecksum(kind, filtered, m_info.flags))
                continue;
            const SluiceChecksumInfo compare = checksum(kind, filtered);
            if (isFirst) status = sluiceCmdBarrier(m_context, commands);
            isFirst = false;
            if (status == SLUICE_OK) status = sluiceCmdChecksum(m_context, commands, &compare);
        }
    }
    return status;
}

SluiceStatus Batch::record(SluiceCommands commands) const
{
    SluiceStatus status = recordDecodes(commands);
    if (status == SLUICE_OK) status = recordFilters(commands);
    return status == SLUICE_OK ? recordChecksums(commands) : status;
}

// Counts the tiles of a batch, unless the caller has passed their totals.
SluiceStatus countTiles(const SluiceTilesInfo& info, SluiceTileTotals& totals)
{
    constexpr uint32_t kFlags = SLUICE_TILES_UNCHECKED | SLUICE_TILES_NEVER_STORED;
    if ((info.flags & ~kFlags) != 0 || (info.tileCount != 0 && info.tiles == nullptr))
        return SLUICE_ERROR_ARGUMENT;
    if (info.totals != nullptr) {
        totals = *info.totals;
        return totals.tileCount == info.tileCount ? SLUICE_OK : SLUICE_ERROR_ARGUMENT;
    }
    for (uint32_t i = 0; i < info.tileCount; ++i) {
        const SluiceStatus status = sluiceAddTile(&totals, &info.tiles[i]);
        if (status != SLUICE_OK) return status;
    }
    return SLUICE_OK;
}

// Checks that the tiles counted so far fit into the lists. The totals come from the caller, and may
// belong to other tiles.
bool isInside(const SluiceTileTotals& soFar, const PlacedTile& placed,
              const SluiceTileTotals& totals)
{
    return soFar.counts[placed.kind][placed.filtered] <=
               totals.counts[placed.kind][placed.filtered] &&
           soFar.parts[placed.kind][placed.filtered] <=
               totals.parts[placed.kind][placed.filtered] &&
           soFar.filteredSize <= totals.filteredSize &&
           soFar.descriptionSize <= totals.descriptionSize &&
           soFar.largestFiltered[placed.kind] <= totals.largestFiltered[placed.kind];
}

// Writes the lists of a batch, one tile at a time.
class ListWriter {
public:
    ListWriter(SluiceContext context, const SluiceTilesInfo& info, const SluiceTileTotals& totals,
               const Batch& batch)
        : m_info(info), m_totals(totals), m_batch(batch),
          m_source(context->backend->deviceAddress(info.source)),
          m_destination(context->backend->deviceAddress(info.destination)),
          m_filtered(context->backend->deviceAddress(info.scratch) + batch.layout().filtered)
    {
    }

    void write(const SluiceTile& tile, const PlacedTile& placed);
    void finish();

private:
    void writeParts(const SluiceTile& tile, const PlacedTile& placed, uint64_t output);
    bool writeTensor(const SluiceTile& tile, const PlacedTile& placed, uint64_t output);

    const SluiceTilesInfo& m_info;
    const SluiceTileTotals& m_totals;
    const Batch& m_batch;
    uint64_t m_source, m_destination, m_filtered;
    uint32_t m_parts[SLUICE_TILE_KINDS][2] = {}; // written so far
};

void ListWriter::write(const SluiceTile& tile, const PlacedTile& placed)
{
    const TileLists& lists = m_batch.layout().lists[placed.kind][placed.filtered];
    const uint64_t final = m_destination + tile.destinationOffset;
    const uint64_t output = placed.filtered != 0 ? m_filtered + placed.filteredOffset : final;
    const SluiceRegion region = {m_source + tile.sourceOffset, output, tile.storedSize, tile.size};
    if (hasParts(placed.kind))
        writeParts(tile, placed, output);
    else
        m_batch.control<SluiceRegion>(lists.decodes)[placed.index] = region;
    if ((m_info.flags & SLUICE_TILES_UNCHECKED) == 0)
        m_batch.control<uint32_t>(lists.expected)[placed.index] = tile.checksum;
    if (needsChecksum(placed.kind, placed.filtered, m_info.flags)) {
        m_batch.control<SluiceRegion>(lists.finals)[placed.index] = {region.srcAddress, final,
                                                                     tile.storedSize, tile.size};
    }
    if (placed.filtered == 0) return;
    m_batch.control<SluiceFilterTile>(lists.filters)[placed.index] = {
        output, final, tile.size, placed.descriptionOffset, tile.filterSize, placed.index};
    if (placed.isNewDescription) {
        std::memcpy(
            m_batch.control<uint8_t>(m_batch.layout().descriptions + placed.descriptionOffset),
            tile.filter, tile.filterSize);
    }
}

// The decode writes a status per part. A tile's own status starts with the value that the checksum
// and the filter accept as "decoded".
void ListWriter::writeParts(const SluiceTile& tile, const PlacedTile& placed, uint64_t output)
{
    const TileLists& lists = m_batch.layout().lists[placed.kind][placed.filtered];
    uint32_t& next = m_parts[placed.kind][placed.filtered];
    m_batch.results(lists.firstParts)[placed.index] = next;
    uint32_t status = SLUICE_TILE_UNVERIFIED;
    if (placed.kind == kFloatKind) {
        if (!writeTensor(tile, placed, output)) status = SLUICE_TILE_BAD_REGION;
    } else {
        for (uint32_t done = 0; done < tile.size; done += SLUICE_GD_TILE_BYTES) {
            const uint64_t bytes = std::min<uint32_t>(tile.size - done, SLUICE_GD_TILE_BYTES);
            m_batch.control<SluiceRegion>(lists.decodes)[next++] = {
                m_source + tile.sourceOffset + done, output + done, bytes, bytes};
        }
    }
    m_batch.results(lists.status)[placed.index] = status;
}

// Writes a float tile's tensor. If the tile's header is invalid, writes an empty tensor and returns
// false.
bool ListWriter::writeTensor([[maybe_unused]] const SluiceTile& tile, const PlacedTile& placed,
                             [[maybe_unused]] uint64_t output)
{
    SluiceFloatTensor tensor = {};
    uint32_t& next = m_parts[kFloatKind][placed.filtered];
    bool isGood = false;
#if SLUICE_HAVE_WEIGHTS
    const uint64_t inside = m_info.source.size;
    isGood =
        m_info.sourceHost != nullptr && tile.sourceOffset <= inside &&
        tile.storedSize <= inside - tile.sourceOffset &&
        tile.storedSize >= floats::tileHeaderBytes &&
        sluiceParseFloatTile(static_cast<const uint8_t*>(m_info.sourceHost) + tile.sourceOffset,
                             tile.storedSize, tile.size, &tensor) == SLUICE_OK;
    if (isGood) {
        const uint64_t address = m_source + tile.sourceOffset;
        for (uint64_t* part : {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw})
            *part += address;
        tensor.output = output;
        tensor.firstTile = next;
        next += uint32_t(divideUp<uint64_t>(tensor.count, SLUICE_FLOAT_TILE));
    }
#endif
    if (!isGood) {
        tensor = {};
        tensor.firstTile = next;
    }
    const TileLists& lists = m_batch.layout().lists[kFloatKind][placed.filtered];
    m_batch.control<SluiceFloatTensor>(lists.decodes)[placed.index] = tensor;
    return isGood;
}

void ListWriter::finish()
{
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        for (uint32_t filtered = 0; filtered < 2; ++filtered) {
            const uint32_t count = m_totals.counts[kind][filtered];
            if (count == 0 || !hasParts(kind)) continue;
            const TileLists& lists = m_batch.layout().lists[kind][filtered];
            m_batch.results(lists.firstParts)[count] = m_parts[kind][filtered];
            uint32_t* summary = m_batch.results(lists.status) + count;
            summary[0] = 0;
            summary[1] = 0xffffffffu;
        }
    }
}

} // namespace

SluiceStatus sluice::placeTile(SluiceTileTotals& totals, const SluiceTile& tile, PlacedTile& placed)
{
    const SluiceStatus status = checkTile(tile);
    if (status != SLUICE_OK) return status;
    if (totals.tileCount >= kMaxBatchTiles ||
        totals.descriptionSize + tile.filterSize > kMaxBatchDescriptions)
        return SLUICE_ERROR_ARGUMENT;
    placed = {};
    placed.kind = kindOf(tile.codec, tile.size);
    placed.filtered = tile.filter != nullptr ? 1u : 0u;
    placed.index = totals.counts[placed.kind][placed.filtered]++;
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
    return SLUICE_OK;
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
    PlacedTile placed;
    return totals == nullptr || tile == nullptr ? SLUICE_ERROR_ARGUMENT
                                                : placeTile(*totals, *tile, placed);
}

uint32_t sluiceGetTilesKernels(const SluiceTileTotals* totals)
{
    if (totals == nullptr) return 0;
    constexpr uint32_t kKernels[SLUICE_TILE_KINDS] = {SLUICE_KERNELS_GDEFLATE_LINEAR,
                                                      SLUICE_KERNELS_GSTD, SLUICE_KERNELS_FLOAT,
                                                      SLUICE_KERNELS_GDEFLATE_LINEAR};
    uint32_t kernels = 0;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        const uint32_t(&counts)[2] = totals->counts[kind];
        if (counts[0] + counts[1] != 0) kernels |= kKernels[kind];
        if (counts[1] != 0) kernels |= SLUICE_KERNELS_FILTER;
        if (counts[1] != 0 || (counts[0] != 0 && hasParts(kind)))
            kernels |= SLUICE_KERNELS_CHECKSUM;
    }
    return kernels;
}

SluiceStatus sluiceGetTilesRequirements(SluiceContext context, const SluiceTilesInfo* info,
                                        const SluiceTileTotals* totals,
                                        SluiceTilesRequirements* requirements)
{
    if (context == nullptr || info == nullptr || totals == nullptr || requirements == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    SluiceTilesInfo blank = {};
    blank.flags = info->flags;
    blank.gstdTilesAtOnce = info->gstdTilesAtOnce;
    *requirements = Batch(context, blank, *totals).layout().sizes;
    return SLUICE_OK;
}

SluiceStatus sluicePrepareTiles(SluiceContext context, const SluiceTilesInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    SluiceTileTotals totals = {};
    SluiceStatus status = countTiles(*info, totals);
    if (status != SLUICE_OK || info->tileCount == 0) return status;
    if (info->controlHost == nullptr || info->resultsHost == nullptr) return SLUICE_ERROR_ARGUMENT;
    SluiceTilesInfo measured = *info; // the numbers of parts are not written yet
    measured.resultsHost = nullptr;
    status = Batch(context, measured, totals).check();
    if (status != SLUICE_OK) return status;
    const Batch batch(context, *info, totals);
    ListWriter writer(context, *info, totals, batch);
    SluiceTileTotals soFar = {};
    for (uint32_t i = 0; i < info->tileCount; ++i) {
        PlacedTile placed;
        status = placeTile(soFar, info->tiles[i], placed);
        if (status != SLUICE_OK) return status;
        if (!isInside(soFar, placed, totals)) return SLUICE_ERROR_ARGUMENT;
        writer.write(info->tiles[i], placed);
    }
    if (std::memcmp(soFar.counts, totals.counts, sizeof totals.counts) != 0 ||
        std::memcmp(soFar.parts, totals.parts, sizeof totals.parts) != 0)
        return SLUICE_ERROR_ARGUMENT;
    writer.finish();
    return SLUICE_OK;
}

SluiceStatus sluiceCmdTiles(SluiceContext context, SluiceCommands commands,
                            const SluiceTilesInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    SluiceTileTotals totals = {};
    SluiceStatus status = countTiles(*info, totals);
    if (status != SLUICE_OK || info->tileCount == 0) return status;
    if (info->resultsHost == nullptr) return SLUICE_ERROR_ARGUMENT;
    const Batch batch(context, *info, totals);
    status = checkerFor(context, commands, sluiceGetTilesKernels(&totals)).status();
    if (status == SLUICE_OK) status = batch.check();
    return status == SLUICE_OK ? batch.record(commands) : status;
}

SluiceStatus sluiceGetTileResults(const SluiceTilesInfo* info, uint32_t* statuses, uint32_t* failed)
{
    if (info == nullptr || (info->tileCount != 0 && statuses == nullptr))
        return SLUICE_ERROR_ARGUMENT;
    SluiceTileTotals totals = {};
    const SluiceStatus status = countTiles(*info, totals);
    if (status != SLUICE_OK) return status;
    if (info->tileCount != 0 && info->resultsHost == nullptr) return SLUICE_ERROR_ARGUMENT;
    const Batch batch(nullptr, *info, totals);
    if (info->results.size < batch.layout().sizes.resultsSize) return SLUICE_ERROR_BUFFER_SIZE;
    SluiceTileTotals soFar = {};
    uint32_t bad = 0;
    for (uint32_t i = 0; i < info->tileCount; ++i) {
        PlacedTile placed;
        const SluiceStatus placing = placeTile(soFar, info->tiles[i], placed);
        if (placing != SLUICE_OK) return placing;
        if (!isInside(soFar, placed, totals)) return SLUICE_ERROR_ARGUMENT;
        const TileLists& lists = batch.layout().lists[placed.kind][placed.filtered];
        uint32_t result = batch.results(lists.status)[placed.index];
        if (hasParts(placed.kind) && result != SLUICE_TILE_BAD_REGION) {
            const uint32_t* first = batch.results(lists.firstParts) + placed.index;
            const uint32_t most = totals.parts[placed.kind][placed.filtered];
            for (uint32_t part = first[0]; part < std::min(first[1], most); ++part) {
                const uint32_t one = batch.results(lists.partStatus)[part];
                if (one != SLUICE_TILE_OK) result = one;
            }
            // Without a checksum, no later command would set the status to OK.
            if (result == SLUICE_TILE_UNVERIFIED &&
                !needsChecksum(placed.kind, placed.filtered, info->flags))
                result = SLUICE_TILE_OK;
        }
        statuses[i] = result;
        bad += result != SLUICE_TILE_OK ? 1u : 0u;
    }
    if (failed != nullptr) *failed = bad;
    return SLUICE_OK;
}
