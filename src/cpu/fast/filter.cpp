// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters, fast. Like the reference (../filter.cpp) it undoes one column after the other and
// writes the values straight into the tile's records. But each predictor and value size has a loop
// of its own.
//
// A *section* is a part of a tile that is an array of records; a *column* holds the bytes of one
// field of all its records. A column's *residuals*, the differences between its values and what its
// predictor guesses, stand in *planes* of the filtered bytes (docs/format.md, section 8).
#include "cpu/fast/filter.h"

#include "cpu/filter_list.h"
#include "cpu/fast/filter_rows.h"
#include "cpu/fast/filter_values.h"

namespace sluice::cpu::fast {
namespace {

// Reads the residuals of records begin .. count - 1 in chunks of at most kChunk. Calls
// take(i, residuals, n) for each chunk, which has the residuals of records i .. i + n - 1.
template <typename T, typename Take>
inline void forEachChunk(const Residuals<T>& from, uint32_t begin, uint32_t count, Take take)
{
    T residuals[kChunk];
    for (uint32_t i = begin; i < count; i += kChunk) {
        const uint32_t n = std::min(kChunk, count - i);
        from.read(i, n, residuals);
        take(i, residuals, n);
    }
}

// Undoes a predictor by prefix sums: replaces the residuals by their prefix sums, kOrder times.
// kOrder is 1 to 3 for the predictors left, left2 and left3, and 0 for columns without a predictor.
template <typename T, uint32_t kOrder>
void undoSums(const Residuals<T>& residuals, uint32_t count, const Values<T>& values)
{
    // The running sums. `first` is the last value; `second` the last difference of two values;
    // `third` the last difference of two such differences.
    uint32_t first = 0, second = 0, third = 0;
    const uint32_t stride = values.stride;
    forEachChunk(residuals, 0, count, [&](uint32_t i, const T* some, uint32_t n) {
        uint8_t* to = values.at(i);
        for (uint32_t k = 0; k < n; ++k, to += stride) {
            uint32_t value = some[k];
            if (kOrder == 3) value = third += value;
            if (kOrder >= 2) value = second += value;
            if (kOrder >= 1) value = first += value;
            storeValue(to, T(value));
        }
    });
}

// Undoes the predictor `up`, whose guess is the value one row above, `width` records before. The
// first row has no row above it, so there the guess is the previous value.
template <typename T>
void undoUp(const Residuals<T>& residuals, uint32_t count, uint32_t width, const Values<T>& values)
{
    const uint32_t firstRow = std::min(count, width);
    undoSums<T, 1>(residuals, firstRow, values);
    const size_t rowBytes = size_t(width) * values.stride;
    forEachChunk(residuals, firstRow, count, [&](uint32_t i, const T* some, uint32_t n) {
        uint8_t* to = values.at(i);
        for (uint32_t k = 0; k < n; ++k, to += values.stride)
            storeValue(to, T(loadValue<T>(to - rowBytes) + some[k]));
    });
}

// Undoes a predictor for which this file has no loop of its own, with the slower loop of the
// reference (predictAll).
template <typename T>
void undoAny(const FilterSection& section, const FilterColumn& column,
             const Residuals<T>& residuals, uint32_t count, const Values<T>& values)
{
    T some[kChunk];
    predictAll(
        column, count, section.width, section.first,
        [&](uint32_t i) { return uint32_t(loadValue<T>(values.at(i))); },
        [&](uint32_t i, uint32_t guess) {
            if (i % kChunk == 0) residuals.read(i, std::min(kChunk, count - i), some);
            storeValue(values.at(i), T(some[i % kChunk] + guess));
        });
}

// The data that the columns of a section share. stride: bytes of a record; count: number of
// records.
struct Records {
    const FilterSection& section;
    const uint8_t* filtered;
    uint8_t* records;
    uint32_t stride, count;
};

template <typename T>
void undoPrediction(const Records& all, const FilterColumn& column, const FilterPlane* planes,
                    uint32_t offset)
{
    const Residuals<T> residuals(column, planes, all.filtered);
    const Values<T> values = {all.records + offset, all.stride};
    switch (column.predictor) {
    case FilterPredictor::none: undoSums<T, 0>(residuals, all.count, values); break;
    case FilterPredictor::left: undoSums<T, 1>(residuals, all.count, values); break;
    case FilterPredictor::left2: undoSums<T, 2>(residuals, all.count, values); break;
    case FilterPredictor::left3: undoSums<T, 3>(residuals, all.count, values); break;
    case FilterPredictor::up: undoUp(residuals, all.count, all.section.width, values); break;
    case FilterPredictor::gradient:
        RowLoop<T, Gradient>(all.section, column, residuals, values).undo(all.count);
        break;
    case FilterPredictor::median:
        RowLoop<T, Median>(all.section, column, residuals, values).undo(all.count);
        break;
    case FilterPredictor::average:
        RowLoop<T, Average<T>>(all.section, column, residuals, values).undo(all.count);
        break;
    default: undoAny(all.section, column, residuals, all.count, values);
    }
}

// Adds to each value of a column the value of its *base*, another column, in the same record. The
// encoder has subtracted it. offset, baseOffset: byte offsets of the columns in a record.
template <typename T>
void addBase(const Records& all, uint32_t offset, uint32_t baseOffset)
{
    uint8_t* record = all.records;
    for (uint32_t i = 0; i < all.count; ++i, record += all.stride)
        storeValue(record + offset,
                   T(loadValue<T>(record + offset) + loadValue<T>(record + baseOffset)));
}

// Undoes a column's mapping, which the encoder has applied to each value separately. With
// filterRotated, values are rotated right by one bit. Otherwise the values are parts of compressed
// texture blocks, which are converted back to their stored form.
template <typename T>
void unmap(const Records& all, const FilterColumn& column, uint32_t offset)
{
    uint8_t* value = all.records + offset;
    constexpr uint32_t kBits = 8 * sizeof(T);
    if (column.has(filterRotated)) {
        for (uint32_t i = 0; i < all.count; ++i, value += all.stride) {
            const uint32_t rotated = loadValue<T>(value);
            storeValue(value, T(rotated >> 1 | rotated << (kBits - 1)));
        }
        return;
    }
    for (uint32_t i = 0; i < all.count; ++i, value += all.stride)
        storeValue(value, T(filterUnmapBlock(loadValue<T>(value), kBits == 16)));
}

// Calls visit(T()), where T is the unsigned type of `bytes` bytes.
template <typename Visit>
void withType(uint32_t bytes, Visit visit)
{
    if (bytes == 1)
        visit(uint8_t());
    else if (bytes == 2)
        visit(uint16_t());
    else
        visit(uint32_t());
}

// Undoes the filter of one section of a tile: makes the section's `size` original bytes at
// `records` from the bytes at `filtered`. An incomplete record at the end is only copied.
void undoRecords(const FilterSection& section, const uint8_t* filtered, uint32_t size,
                 uint8_t* records)
{
    const uint32_t stride = section.stride(), count = stride == 0 ? 0 : size / stride;
    const Records all = {section, filtered, records, stride, count};
    FilterPlane planes[kFilterMaxStride];
    filterPlanes(section, count, planes);
    uint32_t offsets[kFilterMaxStride];
    for (uint32_t c = 0, at = 0; c < section.columnCount; at += section.columns[c++].bytes) {
        offsets[c] = at;
        withType(section.columns[c].bytes, [&](auto type) {
            undoPrediction<decltype(type)>(all, section.columns[c], planes + at, at);
        });
    }
    // Add the bases before the mappings are undone, because the encoder subtracted mapped values
    // from mapped values.
    for (uint32_t c = 0; c < section.columnCount; ++c) {
        const FilterColumn& column = section.columns[c];
        if (column.base == 0) continue;
        withType(column.bytes, [&](auto type) {
            addBase<decltype(type)>(all, offsets[c], offsets[column.base - 1]);
        });
    }
    for (uint32_t c = 0; c < section.columnCount; ++c) {
        const FilterColumn& column = section.columns[c];
        if (!column.isMapped()) continue;
        withType(column.bytes, [&](auto type) { unmap<decltype(type)>(all, column, offsets[c]); });
    }
    const size_t end = size_t(count) * stride;
    std::memcpy(records + end, filtered + end, size - end);
}

} // namespace

uint32_t undoFilter(const void* description, size_t descriptionSize, const uint8_t* filtered,
                    uint32_t size, uint8_t* tile)
{
    return undoSections(description, descriptionSize, filtered, size, tile, undoRecords);
}

void filter(const SluiceFilterInfo& info) { filterList(info, undoFilter); }

} // namespace sluice::cpu::fast

SluiceStatus sluiceUndoFilter(const void* description, size_t size, const void* filtered,
                              void* tile, size_t tileSize)
{
    if (description == nullptr || filtered == nullptr || tile == nullptr || tileSize == 0 ||
        tileSize > SLUICE_FILTER_MAX_TILE)
        return SLUICE_ERROR_ARGUMENT;
    const SluiceStatus status = sluice::checkFilter(description, size);
    if (status != SLUICE_OK) return status;
    const uint32_t result =
        sluice::cpu::fast::undoFilter(description, size, static_cast<const uint8_t*>(filtered),
                                      uint32_t(tileSize), static_cast<uint8_t*>(tile));
    return result == SLUICE_TILE_OK ? SLUICE_OK : SLUICE_ERROR_FORMAT;
}
