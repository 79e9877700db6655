// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks the sections of a filtered tile, and lists of such tiles, with any function that undoes the
// records of a section.
#pragma once

#include <sluice/sluice_filter.h>

#include "formats/filter.h"
#include "formats/tga_packets.h"
#include "cpu/regions.h"

namespace sluice::cpu {

// Puts packets together from all headers followed by all pixels. The pixels are undone into the end
// of the section and moved forward from there, which never overwrites pixels that are still to be
// moved.
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

// Undoes a tile's sections. undoRecords(section, filtered, size, records) undoes one section from
// its filtered bytes, and copies a rest that is too short for a record.
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

// `undo` is a function like undoFilter.
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
