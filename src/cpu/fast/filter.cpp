// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters as the reference does, column after column in the records themselves, but each
// kind of column has a loop of its own.
#include "cpu/fast/filter.h"

#include "formats/tga_packets.h"
#include "cpu/filter_list.h"
#include "cpu/fast/filter_rows.h"
#include "cpu/fast/filter_values.h"

namespace sluice::cpu::fast {
namespace {

// Calls take(i, residuals, n) for all records, n at a time.
template <typename T, typename Take>
inline void forEachChunk(const Residuals<T>& from, u32 begin, u32 count, Take take)
{
    T residuals[kChunk];
    for (u32 i = begin; i < count; i += kChunk) {
        const u32 n = std::min(kChunk, count - i);
        from.read(i, n, residuals);
        take(i, residuals, n);
    }
}

// Sums residuals kOrder times along the records; with order 0 not at all.
template <typename T, u32 kOrder>
void undoSums(const Residuals<T>& residuals, u32 count, const Values<T>& values)
{
    u32 first = 0, second = 0, third = 0; // the differences of orders 1 to 3
    const u32 stride = values.stride;
    forEachChunk(residuals, 0, count, [&](u32 i, const T* some, u32 n) {
        u8* to = values.at(i);
        for (u32 k = 0; k < n; ++k, to += stride) {
            u32 value = some[k];
            if (kOrder == 3) value = third += value;
            if (kOrder >= 2) value = second += value;
            if (kOrder >= 1) value = first += value;
            storeValue(to, T(value));
        }
    });
}

// The first row has nothing above it, so each of its values is predicted from the one before.
template <typename T>
void undoUp(const Residuals<T>& residuals, u32 count, u32 width, const Values<T>& values)
{
    const u32 firstRow = std::min(count, width);
    undoSums<T, 1>(residuals, firstRow, values);
    const size_t rowBytes = size_t(width) * values.stride;
    forEachChunk(residuals, firstRow, count, [&](u32 i, const T* some, u32 n) {
        u8* to = values.at(i);
        for (u32 k = 0; k < n; ++k, to += values.stride)
            storeValue(to, T(loadValue<T>(to - rowBytes) + some[k]));
    });
}

// Undoes any predictor, but more slowly than the other functions.
template <typename T>
void undoAny(const FilterSection& section, const FilterColumn& column,
             const Residuals<T>& residuals, u32 count, const Values<T>& values)
{
    T some[kChunk];
    predictAll(
        column, count, section.width, section.first,
        [&](u32 i) { return u32(loadValue<T>(values.at(i))); },
        [&](u32 i, u32 guess) {
            if (i % kChunk == 0) residuals.read(i, std::min(kChunk, count - i), some);
            storeValue(values.at(i), T(some[i % kChunk] + guess));
        });
}

// What the columns of a section have in common.
struct Records {
    const FilterSection& section;
    const u8* filtered;
    u8* records;
    u32 stride, count;
};

template <typename T>
void undoPrediction(const Records& all, const FilterColumn& column, const FilterPlane* planes,
                    u32 offset)
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

template <typename T>
void addBase(const Records& all, u32 offset, u32 baseOffset)
{
    u8* record = all.records;
    for (u32 i = 0; i < all.count; ++i, record += all.stride)
        storeValue(record + offset,
                   T(loadValue<T>(record + offset) + loadValue<T>(record + baseOffset)));
}

template <typename T>
void unmap(const Records& all, const FilterColumn& column, u32 offset)
{
    u8* value = all.records + offset;
    constexpr u32 kBits = 8 * sizeof(T);
    if (column.has(filterRotated)) {
        for (u32 i = 0; i < all.count; ++i, value += all.stride) {
            const u32 rotated = loadValue<T>(value);
            storeValue(value, T(rotated >> 1 | rotated << (kBits - 1)));
        }
        return;
    }
    for (u32 i = 0; i < all.count; ++i, value += all.stride)
        storeValue(value, T(filterUnmapBlock(loadValue<T>(value), kBits == 16)));
}

// Calls visit with a value of the column's type.
template <typename Visit>
void withType(u32 bytes, Visit visit)
{
    if (bytes == 1)
        visit(u8());
    else if (bytes == 2)
        visit(u16());
    else
        visit(u32());
}

void undoRecords(const FilterSection& section, const u8* filtered, u32 size, u8* records)
{
    const u32 stride = section.stride(), count = stride == 0 ? 0 : size / stride;
    const Records all = {section, filtered, records, stride, count};
    FilterPlane planes[kFilterMaxStride];
    filterPlanes(section, count, planes);
    u32 offsets[kFilterMaxStride];
    for (u32 c = 0, at = 0; c < section.columnCount; at += section.columns[c++].bytes) {
        offsets[c] = at;
        withType(section.columns[c].bytes, [&](auto type) {
            undoPrediction<decltype(type)>(all, section.columns[c], planes + at, at);
        });
    }
    // Bases are still in mapped form here, and so are the columns that they were subtracted from.
    for (u32 c = 0; c < section.columnCount; ++c) {
        const FilterColumn& column = section.columns[c];
        if (column.base == 0) continue;
        withType(column.bytes, [&](auto type) {
            addBase<decltype(type)>(all, offsets[c], offsets[column.base - 1]);
        });
    }
    for (u32 c = 0; c < section.columnCount; ++c) {
        const FilterColumn& column = section.columns[c];
        if (!column.isMapped()) continue;
        withType(column.bytes, [&](auto type) { unmap<decltype(type)>(all, column, offsets[c]); });
    }
    const size_t end = size_t(count) * stride;
    std::memcpy(records + end, filtered + end, size - end);
}

} // namespace

u32 undoFilter(const void* description, size_t descriptionSize, const u8* filtered, u32 size,
               u8* tile)
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
