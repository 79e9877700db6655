// SPDX-License-Identifier: MIT OR Apache-2.0
// Batches of tiles of any codec: this file writes their lists and records their commands.
#include "api/checks.h"
#include "api/plan_regions.h"
#include "api/plan_tiles.h"

#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>
#include <sluice/sluice_zstd.h>

#include <cstring>

#include "formats/archive_layout.h"
#include "formats/float_tile.h"

using namespace sluice;

namespace {

constexpr const char* kTotalsRule = "are the totals of these tiles";

// The layout of a batch, and the commands that decode it. Every public function for batches builds
// its own Batch, from the same arguments.
class Batch {
public:
    Batch(SluiceContext context, const SluiceTilesInfo& info, const SluiceTileTotals& totals)
        : m_context(context), m_info(info), m_totals(totals), m_layout(layoutOf(totals, info.flags))
    {
        if (context != nullptr) addScratch();
    }

    const TilesLayout& layout() const { return m_layout; }
    void check(CallChecker& check) const;
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
    SluiceRequirements decodeRequirements(uint32_t kind, uint32_t list) const;
    uint32_t decodeFlags() const
    {
        return (m_info.flags & SLUICE_TILES_NEVER_STORED) == 0
                   ? uint32_t(SLUICE_DECODE_STORED_IF_EQUAL)
                   : 0u;
    }
    ListTotals totalsOf(uint32_t kind, uint32_t list) const
    {
        return sluice::totalsOf(m_totals, kind, list);
    }
    bool isEmpty(uint32_t kind, uint32_t list) const { return totalsOf(kind, list).tiles == 0; }
    SluiceBuffer destinationOf(uint32_t filtered) const
    {
        return filtered != 0 ? partOf(m_info.scratch, m_layout.filtered, m_totals.filteredSize)
                             : m_info.destination;
    }
    SluiceBuffer statusOf(uint32_t kind, uint32_t list) const
    {
        return partOf(m_info.results, m_layout.lists[kind][list].status,
                      (uint64_t(totalsOf(kind, list).tiles) + kSummaryWords) * 4);
    }
    SluiceGdeflateInfo gdeflate(TileKind kind, uint32_t filtered) const;
    SluiceGstdInfo gstd() const;
    SluiceZstdInfo zstd(uint32_t filtered) const;
    SluiceFilterInfo filter(uint32_t kind) const;
    SluiceFloatDecodeInfo floats(uint32_t filtered) const;
    SluiceChecksumInfo checksum(uint32_t kind, uint32_t list) const;
    SluiceStatus recordDecode(SluiceCommands commands, uint32_t kind, uint32_t list) const;

    SluiceContext m_context;
    const SluiceTilesInfo& m_info;
    const SluiceTileTotals& m_totals;
    TilesLayout m_layout;
};

SluiceRequirements Batch::decodeRequirements(uint32_t kind, uint32_t list) const
{
    const Backend& backend = *m_context->backend;
    switch (kind) {
    case kFloatKind: return kNoScratch;
    case kGstdKind: return backend.gstdRequirements(gstd());
#if SLUICE_HAVE_ZSTD
    case kZstdKind: return backend.zstdRequirements(zstd(list));
#endif
    default: return backend.gdeflateRequirements(gdeflate(TileKind(kind), list));
    }
}

// Adds scratch to the layout. Commands of a batch may run at the same time, so each command gets a
// range of its own.
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
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        for (uint32_t list = 0; list < 2; ++list) {
            if (isEmpty(kind, list)) continue;
            TileLists& lists = m_layout.lists[kind][list];
            take(decodeRequirements(kind, list), lists.decodeScratch, lists.decodeScratchSize);
            if (totalsOf(kind, list).filtered != 0) {
                take(m_context->backend->filterRequirements(filter(kind)), lists.filterScratch,
                     lists.filterScratchSize);
            }
        }
    }
}

// Returns the decode of a list of GDeflate tiles or of large tiles. A large tile is decoded as
// several regions, its parts. It has a single checksum, which a later command compares.
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

SluiceGstdInfo Batch::gstd() const
{
    const TileLists& lists = m_layout.lists[kGstdKind][0];
    const ListTotals of = totalsOf(kGstdKind, 0);
    const uint64_t count = of.tiles;
    SluiceGstdInfo decode = {};
    decode.maxRegionCount = uint32_t(count);
    decode.regionStride = sizeof(SluiceRegion);
    decode.flags = decodeFlags();
    decode.maxTileSize = gstdTileBytesOf(m_totals);
    decode.tilesAtOnce = gstdTilesAtOnce(m_totals, m_info.gstdTilesAtOnce);
    decode.regions = partOf(m_info.control, lists.decodes, count * sizeof(SluiceRegion));
    decode.source = m_info.source;
    decode.destination = m_info.destination;
    if (of.filtered != 0)
        decode.secondDestination = destinationOf(1);
    else if ((m_info.flags & SLUICE_TILES_UNCHECKED) == 0)
        decode.expected = partOf(m_info.control, lists.expected, count * 4);
    decode.status = statusOf(kGstdKind, 0);
    decode.scratch = partOf(m_info.scratch, lists.decodeScratch, lists.decodeScratchSize);
    return decode;
}

// Returns the decode of a list of Zstandard tiles. The checksums inside the frames are compared
// only if the tiles have no checksums of their own.
SluiceZstdInfo Batch::zstd(uint32_t filtered) const
{
    const TileLists& lists = m_layout.lists[kZstdKind][filtered];
    const uint64_t count = m_totals.counts[kZstdKind][filtered];
    SluiceZstdInfo decode = {};
    decode.maxRegionCount = uint32_t(count);
    decode.regionStride = sizeof(SluiceRegion);
    decode.flags = (m_info.flags & SLUICE_TILES_UNCHECKED) != 0 ? SLUICE_ZSTD_CHECKSUMS : 0;
    decode.maxRegionSize = std::clamp(m_totals.largestZstd, 1u, SLUICE_ZSTD_MAX_REGION_SIZE);
    decode.regionsAtOnce =
        zstdTilesAtOnce(uint32_t(count), m_info.gstdTilesAtOnce, [&](uint32_t regionsAtOnce) {
            decode.regionsAtOnce = regionsAtOnce;
            return m_context->backend->zstdRequirements(decode).scratchSize;
        });
    decode.regions = partOf(m_info.control, lists.decodes, count * sizeof(SluiceRegion));
    decode.source = m_info.source;
    decode.destination = destinationOf(filtered);
    decode.status = statusOf(kZstdKind, filtered);
    decode.scratch = partOf(m_info.scratch, lists.decodeScratch, lists.decodeScratchSize);
    return decode;
}

SluiceFilterInfo Batch::filter(uint32_t kind) const
{
    const uint32_t list = listOf(kind, 1);
    const TileLists& lists = m_layout.lists[kind][list];
    const ListTotals of = totalsOf(kind, list);
    SluiceFilterInfo undo = {};
    undo.maxTileCount = of.filtered;
    undo.statusCount = of.tiles;
    undo.maxTileSize = uint32_t(alignUp(std::max(m_totals.largestFiltered[kind], 1u), 4));
    undo.tiles =
        partOf(m_info.control, lists.filters, uint64_t(of.filtered) * sizeof(SluiceFilterTile));
    undo.descriptions = partOf(m_info.control, m_layout.descriptions, m_totals.descriptionSize);
    undo.source = destinationOf(1);
    undo.destination = m_info.destination;
    undo.status = statusOf(kind, list);
    undo.scratch = partOf(m_info.scratch, lists.filterScratch, lists.filterScratchSize);
    return undo;
}

// Returns the command that decodes a list of float tiles. The totals have only an upper bound of
// the number of parts. sluicePrepareTiles writes the exact number to resultsHost, at the end of the
// list that has each tile's first part.
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

SluiceChecksumInfo Batch::checksum(uint32_t kind, uint32_t list) const
{
    const TileLists& lists = m_layout.lists[kind][list];
    const uint64_t count = totalsOf(kind, list).tiles;
    SluiceChecksumInfo compare = {};
    compare.maxRegionCount = uint32_t(count);
    compare.regionStride = sizeof(SluiceRegion);
    compare.regions = partOf(m_info.control, lists.finals, count * sizeof(SluiceRegion));
    compare.destination = m_info.destination;
    compare.expected = partOf(m_info.control, lists.expected, count * 4);
    compare.status = statusOf(kind, list);
    return compare;
}

void Batch::check(CallChecker& check) const
{
    check.buffer(SLUICE_NAMED(m_info.source), 0, 1);
    check.buffer(SLUICE_NAMED(m_info.destination), 0, 1);
    check.buffer(SLUICE_NAMED(m_info.control), m_layout.sizes.controlSize, kListAlignment);
    check.buffer(SLUICE_NAMED(m_info.results), m_layout.sizes.resultsSize, kListAlignment);
    if (m_layout.sizes.scratchSize != 0)
        check.buffer(SLUICE_NAMED(m_info.scratch), m_layout.sizes.scratchSize,
                     m_layout.sizes.scratchAlignment);
}

SluiceStatus Batch::recordDecode(SluiceCommands commands, uint32_t kind, uint32_t list) const
{
    if (kind == kGstdKind) {
        const SluiceGstdInfo decode = gstd();
        if (totalsOf(kind, list).filtered == 0) return sluiceCmdGstd(m_context, commands, &decode);
        const SluiceFilterInfo undo = filter(kind);
        return sluiceCmdGstdFilter(m_context, commands, &decode, &undo);
    }
    SluiceStatus status = SLUICE_ERROR_UNSUPPORTED;
    if (kind == kFloatKind) {
#if SLUICE_HAVE_WEIGHTS
        const SluiceFloatDecodeInfo decode = floats(list);
        status = sluiceCmdFloatDecode(m_context, commands, &decode);
#endif
    } else if (kind == kZstdKind) {
#if SLUICE_HAVE_ZSTD
        const SluiceZstdInfo decode = zstd(list);
        status = sluiceCmdZstd(m_context, commands, &decode);
#endif
    } else {
        const SluiceGdeflateInfo decode = gdeflate(TileKind(kind), list);
        status = sluiceCmdGdeflate(m_context, commands, &decode);
    }
    if (status != SLUICE_OK || list == 0) return status;
    const SluiceFilterInfo undo = filter(kind);
    status = sluiceCmdBarrier(m_context, commands);
    return status == SLUICE_OK ? sluiceCmdFilter(m_context, commands, &undo) : status;
}

// Records all commands. The commands of one list form a chain (Backend::cmdSideBySide): they depend
// on each other, but not on commands of other lists.
SluiceStatus Batch::record(SluiceCommands commands) const
{
    SluiceStatus status = SLUICE_OK;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        for (uint32_t list = 0; list < 2; ++list) {
            const ListTotals of = totalsOf(kind, list);
            if (status != SLUICE_OK || of.tiles == 0) continue;
            m_context->backend->nextChain(commands);
            status = recordDecode(commands, kind, list);
            if (status != SLUICE_OK || !needsChecksum(of, kind, m_info.flags)) continue;
            const SluiceChecksumInfo compare = checksum(kind, list);
            status = sluiceCmdBarrier(m_context, commands);
            if (status == SLUICE_OK) status = sluiceCmdChecksum(m_context, commands, &compare);
        }
    }
    return status;
}

// Counts the tiles of a batch, unless the caller has passed their totals.
void countTiles(ArgumentChecker& check, const SluiceTilesInfo& info, SluiceTileTotals& totals)
{
    check.flags(SLUICE_NAMED(info.flags), SLUICE_TILES_UNCHECKED | SLUICE_TILES_NEVER_STORED);
    check.require(SLUICE_NAMED(info.tiles), info.tileCount == 0 || info.tiles != nullptr,
                  "is not NULL");
    if (!check.isOk()) return;
    if (info.totals != nullptr) {
        totals = *info.totals;
        check.require(SLUICE_NAMED(info.totals), totals.tileCount == info.tileCount,
                      "has tileCount (limit) tiles", SLUICE_ERROR_ARGUMENT, info.tileCount);
        return;
    }
    for (uint32_t i = 0; i < info.tileCount; ++i) {
        PlacedTile placed;
        check.at(i);
        if (!placeTile(check, totals, info.tiles[i], placed)) return;
    }
    check.at(ArgumentChecker::kNoIndex);
}

// Returns whether the lists, which were laid out by `totals`, have room for the tiles up to this
// one. The check is needed because the caller may have passed totals of other tiles.
// soFar: the totals of the tiles up to this one.
bool isInside(const SluiceTileTotals& soFar, const PlacedTile& placed,
              const SluiceTileTotals& totals)
{
    return soFar.counts[placed.kind][placed.filtered] <=
               totals.counts[placed.kind][placed.filtered] &&
           soFar.parts[placed.kind][placed.filtered] <=
               totals.parts[placed.kind][placed.filtered] &&
           soFar.largestGstd <= totals.largestGstd && soFar.largestZstd <= totals.largestZstd &&
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
    uint32_t m_parts[SLUICE_TILE_KINDS][2] = {}; // parts written so far
};

void ListWriter::write(const SluiceTile& tile, const PlacedTile& placed)
{
    const uint32_t list = listOf(placed.kind, placed.filtered), index = indexOf(m_totals, placed);
    const TileLists& lists = m_batch.layout().lists[placed.kind][list];
    const uint64_t final = m_destination + tile.destinationOffset;
    const uint64_t output = placed.filtered != 0 ? m_filtered + placed.filteredOffset : final;
    const SluiceRegion region = {m_source + tile.sourceOffset, output, tile.storedSize, tile.size};
    if (hasParts(placed.kind))
        writeParts(tile, placed, output);
    else
        m_batch.control<SluiceRegion>(lists.decodes)[index] = region;
    if ((m_info.flags & SLUICE_TILES_UNCHECKED) == 0)
        m_batch.control<uint32_t>(lists.expected)[index] = tile.checksum;
    if (needsChecksum(totalsOf(m_totals, placed.kind, list), placed.kind, m_info.flags)) {
        m_batch.control<SluiceRegion>(lists.finals)[index] = {region.srcAddress, final,
                                                              tile.storedSize, tile.size};
    }
    if (placed.filtered == 0) return;
    m_batch.control<SluiceFilterTile>(lists.filters)[placed.index] = {
        output, final, tile.size, placed.descriptionOffset, tile.filterSize, index};
    if (placed.isNewDescription) {
        std::memcpy(
            m_batch.control<uint8_t>(m_batch.layout().descriptions + placed.descriptionOffset),
            tile.filter, tile.filterSize);
    }
}

// Writes the parts of a tile, and the tile's first status. The decode writes a status for each
// part, but none for the tile. So the tile's own status begins as UNVERIFIED, which makes the
// checksum and filter commands treat the tile as decoded.
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

// Writes the tensor of a float tile. If the tile's head is invalid, writes an empty tensor and
// returns false.
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

SluiceStatus sluiceGetTilesRequirements(SluiceContext context, const SluiceTilesInfo* info,
                                        const SluiceTileTotals* totals,
                                        SluiceTilesRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(totals)) ||
        !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    SluiceTilesInfo blank = {};
    blank.flags = info->flags;
    blank.gstdTilesAtOnce = info->gstdTilesAtOnce;
    *requirements = Batch(context, blank, *totals).layout().sizes;
    return SLUICE_OK;
}

SluiceStatus sluicePrepareTiles(SluiceContext context, const SluiceTilesInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    SluiceTileTotals totals = {};
    countTiles(check, *info, totals);
    if (!check.isOk() || info->tileCount == 0) return check.status();
    check.given(SLUICE_NAMED(info->controlHost));
    check.given(SLUICE_NAMED(info->resultsHost));
    // The exact numbers of parts are not in resultsHost yet. If resultsHost is NULL, the layout
    // uses upper bounds instead.
    SluiceTilesInfo measured = *info;
    measured.resultsHost = nullptr;
    Batch(context, measured, totals).check(check);
    if (!check.isOk()) return check.status();
    const Batch batch(context, *info, totals);
    ListWriter writer(context, *info, totals, batch);
    SluiceTileTotals soFar = {};
    for (uint32_t i = 0; i < info->tileCount; ++i) {
        PlacedTile placed;
        check.at(i);
        if (!placeTile(check, soFar, info->tiles[i], placed)) return check.status();
        check.require(SLUICE_NAMED(info->totals), isInside(soFar, placed, totals), kTotalsRule);
        if (!check.isOk()) return check.status();
        writer.write(info->tiles[i], placed);
    }
    check.at(ArgumentChecker::kNoIndex);
    check.require(SLUICE_NAMED(info->totals),
                  std::memcmp(soFar.counts, totals.counts, sizeof totals.counts) == 0 &&
                      std::memcmp(soFar.parts, totals.parts, sizeof totals.parts) == 0,
                  kTotalsRule);
    if (check.isOk()) writer.finish();
    return check.status();
}

namespace {

// Compares batch `at` with those before it. Batches that run side by side must have separate
// scratch and results. They may share a destination, where they write different bytes.
void checkApart(CallChecker& check, const SluiceTilesInfo* infos, uint32_t at)
{
    const SluiceTilesInfo& info = infos[at];
    for (uint32_t other = 0; other < at; ++other) {
        check.require(SLUICE_NAMED(info.scratch), !overlap(info.scratch, infos[other].scratch),
                      "does not overlap that of another batch");
        check.require(SLUICE_NAMED(info.results), !overlap(info.results, infos[other].results),
                      "does not overlap that of another batch");
    }
}

struct BatchList {
    SluiceContext context;
    const SluiceTilesInfo* infos;
    uint32_t count;
    SluiceTileTotals totals[SLUICE_TILES_TOGETHER]; // of each batch; checkBatches counts them
};

void checkBatches(CallChecker& check, SluiceCommands commands, BatchList& list)
{
    for (uint32_t i = 0; i < list.count && check.isOk(); ++i) {
        const SluiceTilesInfo& info = list.infos[i];
        SluiceTileTotals& totals = list.totals[i];
        totals = {};
        countTiles(check, info, totals);
        if (!check.isOk() || info.tileCount == 0) continue;
        check.given(SLUICE_NAMED(info.resultsHost));
        check.command(commands, sluiceGetTilesKernels(&totals));
        checkApart(check, list.infos, i);
        if (check.isOk()) Batch(list.context, info, totals).check(check);
    }
}

// Records batches whose arguments have been checked.
SluiceStatus recordBatches(const void* user, SluiceCommands commands)
{
    const BatchList& list = *static_cast<const BatchList*>(user);
    SluiceStatus status = SLUICE_OK;
    for (uint32_t i = 0; i < list.count && status == SLUICE_OK; ++i)
        if (list.infos[i].tileCount != 0)
            status = Batch(list.context, list.infos[i], list.totals[i]).record(commands);
    return status;
}

// Checks the arguments of sluiceCmdTiles or sluiceCmdTilesTogether, and records the batches.
SluiceStatus runBatches(CallChecker& check, SluiceContext context, SluiceCommands commands,
                        const SluiceTilesInfo* infos, uint32_t infoCount)
{
    BatchList list;
    list.context = context;
    list.infos = infos;
    list.count = infoCount;
    checkBatches(check, commands, list);
    if (!check.isOk()) return check.status();
    return context->backend->cmdSideBySide(commands, recordBatches, &list);
}

} // namespace

SluiceStatus sluiceCmdTilesTogether(SluiceContext context, SluiceCommands commands,
                                    const SluiceTilesInfo* infos, uint32_t infoCount)
{
    CallChecker check(context, __func__);
    if (!check.isOk()) return check.status();
    check.atMost(SLUICE_NAMED(infoCount), SLUICE_TILES_TOGETHER);
    check.require(SLUICE_NAMED(infos), infos != nullptr || infoCount == 0, "is not NULL");
    return check.isOk() ? runBatches(check, context, commands, infos, infoCount) : check.status();
}

SluiceStatus sluiceCmdTiles(SluiceContext context, SluiceCommands commands,
                            const SluiceTilesInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    return runBatches(check, context, commands, info, 1);
}

SluiceStatus sluiceGetTileResults(const SluiceTilesInfo* info, uint32_t* statuses, uint32_t* failed)
{
    ArgumentChecker check(Reporter{}, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    SluiceTileTotals totals = {};
    countTiles(check, *info, totals);
    if (info->tileCount != 0) {
        check.given(SLUICE_NAMED(statuses));
        check.given(SLUICE_NAMED(info->resultsHost));
    }
    if (!check.isOk()) return check.status();
    const Batch batch(nullptr, *info, totals);
    if (info->results.size < batch.layout().sizes.resultsSize) return SLUICE_ERROR_BUFFER_SIZE;
    SluiceTileTotals soFar = {};
    uint32_t bad = 0;
    for (uint32_t i = 0; i < info->tileCount; ++i) {
        PlacedTile placed;
        if (!placeTile(check, soFar, info->tiles[i], placed)) return check.status();
        if (!isInside(soFar, placed, totals)) return SLUICE_ERROR_ARGUMENT;
        const uint32_t list = listOf(placed.kind, placed.filtered);
        const TileLists& lists = batch.layout().lists[placed.kind][list];
        uint32_t result = batch.results(lists.status)[indexOf(totals, placed)];
        if (hasParts(placed.kind) && result != SLUICE_TILE_BAD_REGION) {
            const uint32_t* first = batch.results(lists.firstParts) + placed.index;
            const uint32_t most = totals.parts[placed.kind][placed.filtered];
            for (uint32_t part = first[0]; part < std::min(first[1], most); ++part) {
                const uint32_t one = batch.results(lists.partStatus)[part];
                if (one != SLUICE_TILE_OK) result = one;
            }
            // A tile that is decoded in parts begins as UNVERIFIED, which a checksum command turns
            // into OK. If there is no such command, do it here.
            if (result == SLUICE_TILE_UNVERIFIED &&
                !needsChecksum(totalsOf(totals, placed.kind, list), placed.kind, info->flags))
                result = SLUICE_TILE_OK;
        }
        statuses[i] = result;
        bad += result != SLUICE_TILE_OK ? 1u : 0u;
    }
    if (failed != nullptr) *failed = bad;
    return SLUICE_OK;
}
