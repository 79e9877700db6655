// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference for undoing filters (docs/format.md, section 8). It undoes one column after the
// other. A section of a tile is an array of *records*; a *column* is one field of all these
// records. A column's *residuals* are the differences between its values and the guesses of its
// predictor. In the filtered bytes each byte of a residual has a *plane*, which holds that byte of
// all records.
#include <sluice/sluice_filter.h>

#include "cpu/filter_undo.h"

#include "formats/little_endian.h"
#include "cpu/context.h"
#include "cpu/filter_list.h"

namespace sluice::cpu {
namespace {

// Where a column's values are in an array of records.
struct Column {
    uint8_t* from;          // the value in record 0
    uint32_t stride, bytes; // stride: bytes from record to record; bytes: of a value

    uint32_t get(uint32_t i) const { return uint32_t(loadLe(from + size_t(i) * stride, bytes)); }
    void set(uint32_t i, uint32_t value) const { storeLe(from + size_t(i) * stride, value, bytes); }
};

// Reads a column's residuals and turns them into values. planes: where the residuals are stored, a
// plane for each of their bytes; count: the number of records.
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
            if (column.has(filterZigzag))
                residual = filterUnzigzag(residual, valueMask(column.bits()));
            values.set(i, residual + guess);
        });
}

// Undoes the filter of one section of a tile: makes the section's `size` original bytes at
// `records` from the bytes at `filtered`. An incomplete record at the end is only copied.
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
    // Add the bases: a base is another column, whose value the encoder subtracted in each record.
    // After that, undo the mappings, which change each value by itself. This order is right because
    // the encoder mapped all values before it subtracted.
    for (uint32_t c = 0; c < section.columnCount; ++c)
        for (uint32_t i = 0; section.columns[c].base != 0 && i < count; ++i)
            columns[c].set(i, columns[c].get(i) + columns[section.columns[c].base - 1].get(i));
    for (uint32_t c = 0; c < section.columnCount; ++c)
        for (uint32_t i = 0; section.columns[c].isMapped() && i < count; ++i)
            columns[c].set(i, unmapValue(section.columns[c], columns[c].get(i)));
    const size_t end = size_t(count) * stride;
    std::memcpy(records + end, filtered + end, size - end);
}

} // namespace

uint32_t undoFilter(const void* description, size_t descriptionSize, const uint8_t* filtered,
                    uint32_t size, uint8_t* tile)
{
    return undoSections(description, descriptionSize, filtered, size, tile, undoRecords);
}

SluiceStatus ReferenceBackend::cmdFilter(SluiceCommands, const SluiceFilterInfo& info)
{
    filterList(info, undoFilter);
    return SLUICE_OK;
}

} // namespace sluice::cpu
