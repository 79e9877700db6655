// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters, column after column as docs/format.md tells it.
#include <sluice/sluice_filter.h>

#include "filter_undo.h"

#include "../formats/little_endian.h"
#include "../formats/tga_packets.h"
#include "regions.h"

namespace sluice::cpu {
namespace {

// One column of an array of records.
struct Column {
    u8* from; // of record 0
    u32 stride, bytes;

    u32 get(u32 i) const { return u32(loadLe(from + size_t(i) * stride, bytes)); }
    void set(u32 i, u32 value) const { storeLe(from + size_t(i) * stride, value, bytes); }
};

// Makes values of residuals, which stand in planes.
void undoPrediction(const FilterSection& section, const FilterColumn& column,
                    const FilterPlane* planes, const u8* filtered, u32 count, const Column& values)
{
    predictAll(
        column, count, section.width, section.first, [&](u32 i) { return values.get(i); },
        [&](u32 i, u32 guess) {
            u32 residual = 0;
            for (u32 b = 0; b < column.bytes; ++b)
                residual |= u32(filtered[planes[b].start + size_t(i) * planes[b].step]) << 8 * b;
            if (column.has(filterZigzag))
                residual = filterUnzigzag(residual, valueMask(column.bits()));
            values.set(i, residual + guess);
        });
}

// Makes `size` bytes of records from their planes. What is too short for a record is copied.
void undoRecords(const FilterSection& section, const u8* filtered, u32 size, u8* records)
{
    const u32 stride = section.stride(), count = stride == 0 ? 0 : size / stride;
    FilterPlane planes[kFilterMaxStride];
    filterPlanes(section, count, planes);
    Column columns[kFilterMaxStride];
    for (u32 c = 0, at = 0; c < section.columnCount; at += section.columns[c++].bytes) {
        columns[c] = {records + at, stride, section.columns[c].bytes};
        undoPrediction(section, section.columns[c], planes + at, filtered, count, columns[c]);
    }
    // Bases are still mapped here, as the columns that were subtracted from them are.
    for (u32 c = 0; c < section.columnCount; ++c)
        for (u32 i = 0; section.columns[c].base != 0 && i < count; ++i)
            columns[c].set(i, columns[c].get(i) + columns[section.columns[c].base - 1].get(i));
    for (u32 c = 0; c < section.columnCount; ++c)
        for (u32 i = 0; section.columns[c].isMapped() && i < count; ++i)
            columns[c].set(i, unmapValue(section.columns[c], columns[c].get(i)));
    const size_t end = size_t(count) * stride;
    std::memcpy(records + end, filtered + end, size - end);
}

// Makes packets from their headers and then their pixels. The pixels are undone to the end of the
// section and moved forward from there, which never overtakes itself.
bool undoPackets(const FilterSection& section, const u8* filtered, u32 size, u8* packets)
{
    const u32 stride = section.stride();
    u32 count = 0;
    if (!countTgaPackets(filtered, size, stride, count)) return false;
    undoRecords(section, filtered + count, size - count, packets + count);
    const u8* from = packets + count;
    for (u32 p = 0; p < count; ++p) {
        const u32 bytes = tgaStored(filtered[p]) * stride;
        *packets++ = filtered[p];
        std::memmove(packets, from, bytes);
        packets += bytes;
        from += bytes;
    }
    return true;
}

} // namespace

u32 undoFilter(const void* description, size_t descriptionSize, const u8* filtered, u32 size,
               u8* tile)
{
    FilterReader reader(description, descriptionSize);
    u32 end = 0;
    const bool fits =
        forEachSection(reader, size, end, [&](const FilterSection& section, u32 begin, u32 bytes) {
            if (section.tgaRle) return undoPackets(section, filtered + begin, bytes, tile + begin);
            undoRecords(section, filtered + begin, bytes, tile + begin);
            return true;
        });
    if (!fits || reader.status() != SLUICE_OK) return SLUICE_ST_BAD_FILTER;
    std::memcpy(tile + end, filtered + end, size - end);
    return SLUICE_ST_OK;
}

static u32 undoTile(const SluiceFilterInfo& info, const SluiceFilterTile& tile)
{
    const u64 description =
        info.descriptions.handle + info.descriptions.offset + tile.descriptionOffset;
    const u64 addresses =
        tile.srcAddress | tile.dstAddress | tile.descriptionOffset | tile.descriptionSize;
    if (addresses % 4 != 0 || tile.size == 0 || tile.size > info.maxTileSize ||
        !inside(info.source, tile.srcAddress, tile.size) ||
        !inside(info.destination, tile.dstAddress, tile.size) ||
        !inside(info.descriptions, description, tile.descriptionSize))
        return SLUICE_ST_BAD_REGION;
    return undoFilter(pointer<const void>(description), tile.descriptionSize,
                      pointer<const u8>(tile.srcAddress), tile.size, pointer<u8>(tile.dstAddress));
}

void filter(const SluiceFilterInfo& info)
{
    const SluiceFilterTile* tiles = pointer<const SluiceFilterTile>(info.tiles);
    const u32 count = countOf(info.tileCount, info.maxTileCount);
    StatusWords status(info.status, info.statusCount);
    for (u32 i = 0; i < count; ++i) {
        if (tiles[i].statusIndex >= info.statusCount) continue;
        const u32 decoded = status.get(tiles[i].statusIndex);
        if (decoded != SLUICE_ST_OK && decoded != SLUICE_ST_UNVERIFIED) continue;
        const u32 result = undoTile(info, tiles[i]);
        if (result != SLUICE_ST_OK) status.set(tiles[i].statusIndex, result);
    }
}

} // namespace sluice::cpu
