// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters undone, column after column as docs/format.md tells it.
#include <sluice/sluice_filter.h>

#include "filter_undo.h"

#include "../formats/tga_packets.h"
#include "regions.h"

#include <cstring>

namespace sluice::cpu {
namespace {

// One column of an array of records.
struct Column {
    uint8_t* from; // of record 0
    uint32_t stride, bytes;

    uint32_t get(uint32_t i) const
    {
        uint32_t value = 0;
        for (uint32_t b = 0; b < bytes; ++b)
            value |= uint32_t(from[size_t(i) * stride + b]) << 8 * b;
        return value;
    }
    void set(uint32_t i, uint32_t value) const
    {
        for (uint32_t b = 0; b < bytes; ++b)
            from[size_t(i) * stride + b] = uint8_t(value >> 8 * b);
    }
};

// Values from residuals, which stand in planes.
void undoPrediction(const FilterSection& section, const FilterColumn& column,
                    const FilterPlane* planes, const uint8_t* filtered, uint32_t count,
                    const Column& values)
{
    predictAll(
        column, count, section.width, section.first, [&](uint32_t i) { return values.get(i); },
        [&](uint32_t i, uint32_t guess) {
            uint32_t residual = 0;
            for (uint32_t b = 0; b < column.bytes; ++b)
                residual |= uint32_t(filtered[planes[b].start + size_t(i) * planes[b].step])
                            << 8 * b;
            if (column.has(filterZigzag)) residual = unzigzag(residual, column.bits());
            values.set(i, residual + guess);
        });
}

// `size` bytes of records at `records`, from their planes; what is too short for a record is
// copied.
void undoRecords(const FilterSection& section, const uint8_t* filtered, uint32_t size,
                 uint8_t* records)
{
    const uint32_t stride = section.stride(), count = stride == 0 ? 0 : size / stride;
    FilterPlane planes[kFilterMaxStride];
    filterPlanes(section, count, planes);
    Column columns[kFilterMaxStride];
    for (uint32_t c = 0, at = 0; c < section.columnCount; at += section.columns[c++].bytes) {
        columns[c] = {records + at, stride, section.columns[c].bytes};
        undoPrediction(section, section.columns[c], planes + at, filtered, count, columns[c]);
    }
    for (uint32_t c = 0; c < section.columnCount; ++c)
        for (uint32_t i = 0; section.columns[c].base != 0 && i < count; ++i)
            columns[c].set(i, columns[c].get(i) + columns[section.columns[c].base - 1].get(i));
    for (uint32_t c = 0; c < section.columnCount; ++c) {
        const uint32_t bits = section.columns[c].bits();
        for (uint32_t i = 0; section.columns[c].has(filterRotated) && i < count; ++i)
            columns[c].set(i, rotateRight(columns[c].get(i), bits));
        for (uint32_t i = 0; section.columns[c].has(filterBlock) && i < count; ++i)
            columns[c].set(i, unmapBlock(columns[c].get(i), bits));
    }
    std::memcpy(records + size_t(count) * stride, filtered + size_t(count) * stride,
                size - size_t(count) * stride);
}

// Packets from their headers and then their pixels. The pixels are undone to the end of the section
// and moved forward from there, which never overtakes itself.
bool undoPackets(const FilterSection& section, const uint8_t* filtered, uint32_t size,
                 uint8_t* packets)
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

} // namespace

uint32_t undoFilter(const void* description, size_t descriptionSize, const uint8_t* filtered,
                    uint32_t size, uint8_t* tile)
{
    FilterReader reader(description, descriptionSize);
    FilterSection section;
    while (reader.next(section)) {
        const uint32_t bytes = section.size == kFilterRest ? size : section.size;
        if (bytes > size) return SLUICE_TILE_BAD_FILTER;
        if (!section.tgaRle) {
            undoRecords(section, filtered, bytes, tile);
        } else if (!undoPackets(section, filtered, bytes, tile)) {
            return SLUICE_TILE_BAD_FILTER;
        }
        filtered += bytes;
        tile += bytes;
        size -= bytes;
    }
    if (reader.status() != SLUICE_OK) return SLUICE_TILE_BAD_FILTER;
    std::memcpy(tile, filtered, size);
    return SLUICE_TILE_OK;
}

namespace {

uint32_t undoTile(const SluiceFilterInfo& info, const SluiceFilterTile& tile)
{
    const uint64_t description =
        info.descriptions.handle + info.descriptions.offset + tile.descriptionOffset;
    const bool aligned =
        (tile.srcAddress | tile.dstAddress | tile.descriptionOffset | tile.descriptionSize) % 4 ==
        0;
    if (!aligned || tile.size == 0 || tile.size > info.maxTileSize ||
        !inside(info.source, tile.srcAddress, tile.size) ||
        !inside(info.destination, tile.dstAddress, tile.size) ||
        !inside(info.descriptions, description, tile.descriptionSize))
        return SLUICE_TILE_BAD_REGION;
    return undoFilter(reinterpret_cast<const void*>(uintptr_t(description)), tile.descriptionSize,
                      reinterpret_cast<const uint8_t*>(uintptr_t(tile.srcAddress)), tile.size,
                      reinterpret_cast<uint8_t*>(uintptr_t(tile.dstAddress)));
}

} // namespace

void filter(const SluiceFilterInfo& info)
{
    const SluiceFilterTile* tiles = pointer<const SluiceFilterTile>(info.tiles);
    uint32_t count = info.maxTileCount;
    if (info.tileCount.size != 0) count = std::min(count, *pointer<const u32>(info.tileCount));
    StatusWords status(info.status, info.statusCount);
    for (uint32_t i = 0; i < count; ++i) {
        if (tiles[i].statusIndex >= info.statusCount) continue;
        const uint32_t decoded = status.get(tiles[i].statusIndex);
        if (decoded != SLUICE_TILE_OK && decoded != SLUICE_TILE_UNVERIFIED) continue;
        const uint32_t result = undoTile(info, tiles[i]);
        if (result != SLUICE_TILE_OK) status.set(tiles[i].statusIndex, result);
    }
}

} // namespace sluice::cpu
