// SPDX-License-Identifier: MIT OR Apache-2.0
// A filter description (docs/format.md, 8), parsed and validated without allocating, and the
// arithmetic of filters in both directions.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_filter_encode.h>

#include "formulas/filter.h"
#include "formats/integers.h"

namespace sluice {

constexpr u32 kFilterVersion = SLUICE_FILTER_VERSION;
constexpr u32 kFilterMaxStride = SLUICE_FILTER_MAX_STRIDE;
constexpr u32 kFilterMaxTile = SLUICE_MAX_TILE_BYTES;
constexpr u32 kFilterMaxSections = SLUICE_FILTER_MAX_SECTIONS;
constexpr u32 kFilterMaxBytes = SLUICE_FILTER_DESCRIPTION_BYTES;
constexpr u32 kFilterRest = SLUICE_FILTER_REST;

enum class FilterPredictor : u8 {
#define SLUICE_ENUMERATOR(name, number, feature) name = number,
    SLUICE_PREDICTORS(SLUICE_ENUMERATOR)
#undef SLUICE_ENUMERATOR
    count = SLUICE_PREDICTOR_COUNT
};

struct FilterPredictorRow {
    u32 number;
    const char* name;
    u32 features; // SluiceFilterFeatures of which one lets encoders try it; 0: always
};
constexpr FilterPredictorRow kFilterPredictors[] = {
#define SLUICE_ROW(name, number, feature) {number, #name, feature},
    SLUICE_PREDICTORS(SLUICE_ROW)
#undef SLUICE_ROW
};

constexpr bool predictorsAreInOrder()
{
    u32 at = 0;
    for (const FilterPredictorRow& row : kFilterPredictors)
        if (row.number != at++) return false;
    return at == SLUICE_PREDICTOR_COUNT;
}
static_assert(predictorsAreInOrder(), "each predictor needs a row, in the order of the numbers");

constexpr const FilterPredictorRow& rowOf(FilterPredictor predictor)
{
    return kFilterPredictors[u32(predictor)];
}

constexpr bool needsRows(FilterPredictor predictor)
{
    return SLUICE_PREDICTOR_NEEDS_ROWS(u32(predictor));
}

// A predictor in a set of them.
constexpr u32 bitOf(FilterPredictor predictor) { return 1u << u32(predictor); }

enum FilterColumnFlags : u8 { // layout/filter.h says what they mean
    filterZigzag = SLUICE_FILTER_FLAG_ZIGZAG,
    filterSplit = SLUICE_FILTER_FLAG_SPLIT,
    filterJoined = SLUICE_FILTER_FLAG_JOINED,
    filterRotated = SLUICE_FILTER_FLAG_ROTATED,
    filterBlock = SLUICE_FILTER_FLAG_BLOCK,
};

struct FilterColumn {
    u8 bytes; // 1, 2 or 4
    FilterPredictor predictor;
    u8 flags;
    u8 base; // 0, or 1 + the column that is subtracted

    u32 bits() const { return 8u * bytes; }
    bool has(FilterColumnFlags flag) const { return (flags & flag) != 0; }
    bool isMapped() const { return (flags & (filterRotated | filterBlock)) != 0; }
    // Whether the median and the average take its values as signed numbers.
    bool isSigned() const { return bytes > 1 || base != 0; }
};

// Some bytes of a tile: records of columns, or plain bytes if there are no columns.
struct FilterSection {
    u32 size = kFilterRest; // bytes; kFilterRest only in the last section
    u32 width = 0;          // records of a row; 0: there are no rows
    u32 first = 0;          // place in its row of the first record
    bool tgaRle = false;    // the bytes are packets of a Targa file, and their pixels the records
    u32 columnCount = 0;
    FilterColumn columns[kFilterMaxStride] = {};

    // Where a column stands in its record.
    u32 offsetOf(u32 column) const
    {
        u32 sum = 0;
        for (u32 c = 0; c < column; ++c)
            sum += columns[c].bytes;
        return sum;
    }
    u32 stride() const { return offsetOf(columnCount); }
};

// Where a byte of each record stands in the filtered section: that of record i at start + i * step.
struct FilterPlane {
    u32 start, step;
};
// planes: one for each of the stride() bytes of a record.
void filterPlanes(const FilterSection& section, u32 recordCount, FilterPlane* planes);

// Reads a description section by section.
class FilterReader {
public:
    // description: size bytes, a multiple of 4, at most kFilterMaxBytes.
    FilterReader(const void* description, size_t size);

    // The next section; false at the end or at an error, which status() then tells.
    bool next(FilterSection& section);
    // Counts the steps of the section, which has `bytes` bytes; false once there are too many.
    bool addSteps(u32 bytes);
    // Errors: FORMAT (a rule is broken), VERSION (another version, or unknown predictors or flags).
    SluiceStatus status() const;

private:
    const u8* m_description;
    FilterReading m_reading = {};
    FilterSectionWords m_words = {}; // of the last section
};

// OK if every section is good. The steps of a section that takes what remains of a tile are counted
// with the tile, by forEachSection.
SluiceStatus checkFilter(const void* description, size_t size);

// Calls take(section, begin, bytes) for the sections of a tile of `size` bytes until it returns
// false; end receives where the last one ends. Returns false if it did, a section does not fit or
// there are too many steps.
template <typename Take>
bool forEachSection(FilterReader& reader, u32 size, u32& end, Take take)
{
    FilterSection section;
    for (end = 0; reader.next(section);) {
        const u32 bytes = section.size == kFilterRest ? size - end : section.size;
        if (bytes > size - end || !reader.addSteps(bytes) || !take(section, end, bytes))
            return false;
        end += bytes;
    }
    return true;
}

// The bits of a value.
constexpr u32 valueMask(u32 bits) { return 0xffffffffu >> (32 - bits); }

// What happens to a value before prediction (docs/format.md, 8.5), and the way back. A block's
// column of 16 bits is a colour of 5, 6 and 5 bits.
inline u32 mapValue(const FilterColumn& column, u32 value)
{
    const u32 bits = column.bits();
    if (column.has(filterRotated)) return (value << 1 | value >> (bits - 1)) & valueMask(bits);
    if (!column.has(filterBlock)) return value;
    if (bits != 16) return filterTransposeIndices(value);
    const u32 red = value >> 11, green = value >> 5 & 63;
    return red << 11 | ((green - 2 * red) & 63) << 5 | ((value - (green >> 1)) & 31);
}
inline u32 unmapValue(const FilterColumn& column, u32 value)
{
    const u32 bits = column.bits();
    if (column.has(filterRotated)) return (value >> 1 | value << (bits - 1)) & valueMask(bits);
    if (!column.has(filterBlock)) return value;
    return filterUnmapBlock(value, bits == 16);
}

inline u32 zigzag(u32 value, u32 bits)
{
    return (value << 1 ^ (0u - (value >> (bits - 1) & 1))) & valueMask(bits);
}

// The prediction of a wave, from values that may be signed.
inline u32 guessOf(FilterPredictor predictor, u32 left, u32 up, u32 upLeft, u32 bits, bool isSigned)
{
    const u32 bias = isSigned ? 1u << (bits - 1) : 0, mask = valueMask(bits);
    const u32 guess = filterGuess(u32(predictor), (left + bias) & mask, (up + bias) & mask,
                                  (upLeft + bias) & mask);
    return (guess - bias) & mask;
}

// Calls take(i, prediction) for i = 0 .. count - 1, in both directions alike. at(j) is the value of
// record j < i, which is known by then.
template <typename At, typename Take>
void predictAll(const FilterColumn& column, u32 count, u32 width, u32 first, At at, Take take)
{
    const FilterPredictor predictor = column.predictor;
    const u32 bits = column.bits();
    const bool isSigned = column.isSigned();
    const auto back = [&](u32 i, u32 distance) { return i >= distance ? at(i - distance) : 0u; };
    u32 place = first; // of record i in its row
    for (u32 i = 0; i < count; ++i) {
        u32 guess = 0;
        switch (predictor) {
        case FilterPredictor::none: break;
        case FilterPredictor::left: guess = back(i, 1); break;
        case FilterPredictor::left2: guess = 2 * back(i, 1) - back(i, 2); break;
        case FilterPredictor::left3: guess = 3 * back(i, 1) - 3 * back(i, 2) + back(i, 3); break;
        case FilterPredictor::up: guess = back(i, i >= width ? width : 1); break;
        default: {
            const u32 left = place != 0 ? back(i, 1) : 0, up = back(i, width);
            const u32 upLeft = place != 0 ? back(i, width + 1) : 0;
            guess = guessOf(predictor, left, up, upLeft, bits, isSigned);
            break;
        }
        }
        take(i, guess);
        place = place + 1 == width ? 0 : place + 1;
    }
}

} // namespace sluice
