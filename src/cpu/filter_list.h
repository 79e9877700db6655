// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks the sections of a filtered tile, and lists of filtered tiles. The reference and the fast
// decoder pass in their own functions that undo the records of a section.
#pragma once

#include <sluice/sluice_filter.h>

#include "formats/filter.h"
#include "formats/tga_packets.h"
#include "cpu/regions.h"

namespace sluice::cpu {

// Assembles packets from the filtered form, which has all headers first and then all pixels. Pixels
// are undone to the end of the section and moved from there towards its start, in order. So they
// never overwrite pixels that have not been moved yet.
template <typename UndoRecords>
bool undoPackets(const FilterSection& section, const uint8_t* filtered, uint32_t size,
                 uint8_t* packets, UndoRecords undoRecords)
{
    const uint32_t stride = section.stride();
    uint32_t count = 0;
    if (!countTgaPackets(filtered, size, stride, count)) return false;
    undoRecords(section, filtered + count, size - count, packets + count);
    const uint8_t* from = packets + count;
    for (uint32_t p = 0; p < count; ++p) {
        const uint32_t bytes = tgaStored(filtered[p]) * stride;
        *packets++ = filtered[p];
        std::memmove(packets, from, bytes);
        packets += bytes;
        from += bytes;
    }
    return true;
}

// Undoes a tile's sections. undoRecords(section, filtered, size, records) must undo the filtered
// bytes of one section, and copy bytes at its end that are too few for a record.
template <typename UndoRecords>
uint32_t undoSections(const void* description, size_t descriptionSize, const uint8_t* filtered,
                      uint32_t size, uint8_t* tile, UndoRecords undoRecords)
{
    FilterReader reader(description, descriptionSize);
    uint32_t end = 0;
    const bool fits = forEachSection(
        reader, size, end, [&](const FilterSection& section, uint32_t begin, uint32_t bytes) {
            if (section.tgaRle)
                return undoPackets(section, filtered + begin, bytes, tile + begin, undoRecords);
            undoRecords(section, filtered + begin, bytes, tile + begin);
            return true;
        });
    if (!fits || reader.status() != SLUICE_OK) return SLUICE_ST_BAD_FILTER;
    std::memcpy(tile + end, filtered + end, size - end);
    return SLUICE_ST_OK;
}

template <typename Undo>
uint32_t undoTile(const SluiceFilterInfo& info, const SluiceFilterTile& tile, Undo undo)
{
    const uint64_t description =
        info.descriptions.handle + info.descriptions.offset + tile.descriptionOffset;
    const uint64_t addresses =
        tile.srcAddress | tile.dstAddress | tile.descriptionOffset | tile.descriptionSize;
    if (addresses % 4 != 0 || tile.size == 0 || tile.size > info.maxTileSize ||
        !inside(info.source, tile.srcAddress, tile.size) ||
        !inside(info.destination, tile.dstAddress, tile.size) ||
        !inside(info.descriptions, description, tile.descriptionSize))
        return SLUICE_ST_BAD_REGION;
    return undo(pointer<const void>(description), tile.descriptionSize,
                pointer<const uint8_t>(tile.srcAddress), tile.size,
                pointer<uint8_t>(tile.dstAddress));
}

// Undoes the filters of a list of tiles. `undo` has the signature of undoFilter.
template <typename Undo>
void filterList(const SluiceFilterInfo& info, Undo undo)
{
    const SluiceFilterTile* tiles = pointer<const SluiceFilterTile>(info.tiles);
    const uint32_t count = countOf(info.tileCount, info.maxTileCount);
    StatusWords status(info.status, info.statusCount);
    for (uint32_t i = 0; i < count; ++i) {
        if (tiles[i].statusIndex >= info.statusCount) continue;
        const uint32_t decoded = status.get(tiles[i].statusIndex);
        if (decoded != SLUICE_ST_OK && decoded != SLUICE_ST_UNVERIFIED) continue;
        const uint32_t result = undoTile(info, tiles[i], undo);
        if (result != SLUICE_ST_OK) status.set(tiles[i].statusIndex, result);
    }
}

} // namespace sluice::cpu
