// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks lists of filtered tiles and the sections of a tile. The reference and the fast decoder pass
// in the function that undoes the records of one section.
#pragma once

#include <sluice/sluice_filter.h>

#include "formats/filter.h"
#include "formulas/filter.h"
#include "cpu/regions.h"

namespace sluice::cpu {

// Undoes a section of `size` bytes that consists of the packets of a Targa image. A packet is a
// header byte and pixels. The filtered form has all headers first, and then all pixels as records.
// The pixels are first undone to the end of the section. From there they are moved to their
// packets, in order, so that no pixel is overwritten before it has been moved. Returns false if the
// headers do not match the size.
template <typename UndoRecords>
bool undoPackets(const FilterSection& section, const uint8_t* filtered, uint32_t size,
                 uint8_t* packets, UndoRecords undoRecords)
{
    const uint32_t stride = section.stride();
    uint32_t count = 0; // the number of packets, which together have exactly `size` bytes
    for (uint32_t bytes = 0; bytes != size; ++count) {
        bytes += filterPacketBytes(filtered[count], stride); // count <= bytes, so it is in bounds
        if (bytes > size) return false;
    }
    undoRecords(section, filtered + count, size - count, packets + count);
    const uint8_t* from = packets + count;
    for (uint32_t p = 0; p < count; ++p) {
        const uint32_t bytes = filterPacketStored(filtered[p]) * stride;
        *packets++ = filtered[p];
        std::memmove(packets, from, bytes);
        packets += bytes;
        from += bytes;
    }
    return true;
}

// Undoes the sections of a tile and returns the tile's status. undoRecords(section, filtered, size,
// records) undoes the filtered bytes of one section, and copies an incomplete record at its end.
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

// Undoes the filter of one tile of a list, and returns the tile's status. The status is BAD_REGION
// if an address or a size is not allowed.
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

// Undoes the filters of a list of tiles. Skips tiles that have not been decoded or have failed.
// undo: a function with the arguments of undoFilter.
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
