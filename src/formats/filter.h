// SPDX-License-Identifier: MIT OR Apache-2.0
// Parses and validates filter descriptions (docs/format.md, 8), without allocating. It also has the
// arithmetic with which filters are applied and undone. A section is a range of a tile that
// consists of records; a column is the value at one place of every record; a plane holds one byte
// of every record.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_filter_encode.h>

#include "formulas/filter.h"
#include "formats/integers.h"

namespace sluice {

constexpr uint32_t kFilterVersion = SLUICE_FILTER_VERSION;
constexpr uint32_t kFilterMaxStride = SLUICE_FILTER_MAX_STRIDE;
constexpr uint32_t kFilterMaxTile = SLUICE_MAX_TILE_BYTES;
constexpr uint32_t kFilterMaxSections = SLUICE_FILTER_MAX_SECTIONS;
constexpr uint32_t kFilterMaxBytes = SLUICE_FILTER_DESCRIPTION_BYTES;
constexpr uint32_t kFilterRest = SLUICE_FILTER_REST;

enum class FilterPredictor : uint8_t {
#define SLUICE_ENUMERATOR(name, number, feature) name = number,
    SLUICE_PREDICTORS(SLUICE_ENUMERATOR)
#undef SLUICE_ENUMERATOR
    count = SLUICE_PREDICTOR_COUNT
};

struct FilterPredictorRow {
    uint32_t number;
    const char* name;
    // Encoders try the predictor if one of these SluiceFilterFeatures is on; 0: they always do.
    uint32_t features;
};
constexpr FilterPredictorRow kFilterPredictors[] = {
#define SLUICE_ROW(name, number, feature) {number, #name, feature},
    SLUICE_PREDICTORS(SLUICE_ROW)
#undef SLUICE_ROW
};

constexpr bool predictorsAreInOrder()
{
    uint32_t at = 0;
    for (const FilterPredictorRow& row : kFilterPredictors)
        if (row.number != at++) return false;
    return at == SLUICE_PREDICTOR_COUNT;
}
static_assert(predictorsAreInOrder(), "each predictor needs a row, in the order of the numbers");

constexpr const FilterPredictorRow& rowOf(FilterPredictor predictor)
{
    return kFilterPredictors[uint32_t(predictor)];
}

constexpr bool needsRows(FilterPredictor predictor)
{
    return SLUICE_PREDICTOR_NEEDS_ROWS(uint32_t(predictor));
}

// Returns the bit that stands for a predictor in a set of predictors.
constexpr uint32_t bitOf(FilterPredictor predictor) { return 1u << uint32_t(predictor); }

enum FilterColumnFlags : uint8_t { // see layout/filter.h
    filterZigzag = SLUICE_FILTER_FLAG_ZIGZAG,
    filterSplit = SLUICE_FILTER_FLAG_SPLIT,
    filterJoined = SLUICE_FILTER_FLAG_JOINED,
    filterRotated = SLUICE_FILTER_FLAG_ROTATED,
    filterBlock = SLUICE_FILTER_FLAG_BLOCK,
};

struct FilterColumn {
    uint8_t bytes; // 1, 2 or 4
    FilterPredictor predictor;
    uint8_t flags;
    uint8_t base; // 0: none; otherwise 1 + the index of the column that is subtracted

    uint32_t bits() const { return 8u * bytes; }
    bool has(FilterColumnFlags flag) const { return (flags & flag) != 0; }
    bool isMapped() const { return (flags & (filterRotated | filterBlock)) != 0; }
    // Returns whether the predictors median and average compare the column's values as signed
    // numbers.
    bool isSigned() const { return bytes > 1 || base != 0; }
};

// A range of a tile. It consists of records or, if it has no columns, of plain bytes.
struct FilterSection {
    uint32_t size = kFilterRest; // bytes; kFilterRest: up to the end of the tile
    uint32_t width = 0;          // records per row; 0 if there are no rows
    uint32_t first = 0;          // position of the first record in its row
    bool tgaRle = false;         // the section has Targa packets, whose pixels are the records
    uint32_t columnCount = 0;
    FilterColumn columns[kFilterMaxStride] = {};

    // Returns the byte offset of a column in a record.
    uint32_t offsetOf(uint32_t column) const
    {
        uint32_t sum = 0;
        for (uint32_t c = 0; c < column; ++c)
            sum += columns[c].bytes;
        return sum;
    }
    uint32_t stride() const { return offsetOf(columnCount); }
};

// The places of one byte of every record in a filtered section. The byte of record i is at offset
// start + i * step.
struct FilterPlane {
    uint32_t start, step;
};
// Computes the planes of a section, one for each byte of a record. planes: room for
// section.stride() planes.
void filterPlanes(const FilterSection& section, uint32_t recordCount, FilterPlane* planes);

// Reads the description of a filter, section by section.
class FilterReader {
public:
    // `description` has `size` bytes, a multiple of 4 and at most kFilterMaxBytes.
    FilterReader(const void* description, size_t size);

    // Reads the next section. Returns false at the end or after an error; status() says which.
    bool next(FilterSection& section);
    // Adds the steps of the section that was read last to those of the tile. bytes: the size of
    // that section. Steps measure how long decoding takes (docs/format.md, 8.6). Returns false if
    // the tile has more steps than are allowed.
    bool addSteps(uint32_t bytes);
    // Errors: FORMAT (a rule is broken), VERSION (another version, or unknown predictors or flags).
    SluiceStatus status() const;

private:
    const uint8_t* m_description;
    FilterReading m_reading = {};
    FilterSectionWords m_words = {}; // words of the section that was read last
};

// Returns OK if every section of a description is valid. The steps (addSteps) of a section of size
// kFilterRest are not counted here, because they depend on the tile; forEachSection counts them.
SluiceStatus checkFilter(const void* description, size_t size);

// Calls take(section, begin, bytes) for each section of a tile of `size` bytes. Sets `end` to the
// end of the last section. Stops and returns false if take() returns false, if a section does not
// fit into the tile, or if the sections need too many steps (addSteps).
template <typename Take>
bool forEachSection(FilterReader& reader, uint32_t size, uint32_t& end, Take take)
{
    FilterSection section;
    for (end = 0; reader.next(section);) {
        const uint32_t bytes = section.size == kFilterRest ? size - end : section.size;
        if (bytes > size - end || !reader.addSteps(bytes) || !take(section, end, bytes))
            return false;
        end += bytes;
    }
    return true;
}

// Returns a mask of the low `bits` bits.
constexpr uint32_t valueMask(uint32_t bits) { return 0xffffffffu >> (32 - bits); }

// mapValue transforms a value before prediction (docs/format.md, 8.5); unmapValue transforms it
// back. In a column of compressed texture blocks a 16-bit value is a colour with 5, 6 and 5 bits,
// and a 32-bit value has the indices of the block's texels.
inline uint32_t mapValue(const FilterColumn& column, uint32_t value)
{
    const uint32_t bits = column.bits();
    if (column.has(filterRotated)) return (value << 1 | value >> (bits - 1)) & valueMask(bits);
    if (!column.has(filterBlock)) return value;
    if (bits != 16) return filterTransposeIndices(value);
    const uint32_t red = value >> 11, green = value >> 5 & 63;
    return red << 11 | ((green - 2 * red) & 63) << 5 | ((value - (green >> 1)) & 31);
}
inline uint32_t unmapValue(const FilterColumn& column, uint32_t value)
{
    const uint32_t bits = column.bits();
    if (column.has(filterRotated)) return (value >> 1 | value << (bits - 1)) & valueMask(bits);
    if (!column.has(filterBlock)) return value;
    return filterUnmapBlock(value, bits == 16);
}

inline uint32_t zigzag(uint32_t value, uint32_t bits)
{
    return (value << 1 ^ (0u - (value >> (bits - 1) & 1))) & valueMask(bits);
}

// Returns the prediction of gradient, median or average, which read the row above. isSigned: the
// predictor compares the neighbours as signed numbers.
inline uint32_t guessOf(FilterPredictor predictor, uint32_t left, uint32_t up, uint32_t upLeft,
                        uint32_t bits, bool isSigned)
{
    const uint32_t bias = isSigned ? 1u << (bits - 1) : 0, mask = valueMask(bits);
    const uint32_t guess = filterGuess(uint32_t(predictor), (left + bias) & mask,
                                       (up + bias) & mask, (upLeft + bias) & mask);
    return (guess - bias) & mask;
}

// Calls take(i, prediction) for each record i = 0 .. count - 1. at(j) returns the value of record j
// and is called only for j < i. So a caller can also undo a filter: its take(i, prediction) makes
// the value of record i.
template <typename At, typename Take>
void predictAll(const FilterColumn& column, uint32_t count, uint32_t width, uint32_t first, At at,
                Take take)
{
    const FilterPredictor predictor = column.predictor;
    const uint32_t bits = column.bits();
    const bool isSigned = column.isSigned();
    const auto back = [&](uint32_t i, uint32_t distance) {
        return i >= distance ? at(i - distance) : 0u;
    };
    uint32_t place = first; // position of record i in its row
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t guess = 0;
        switch (predictor) {
        case FilterPredictor::none: break;
        case FilterPredictor::left: guess = back(i, 1); break;
        case FilterPredictor::left2: guess = 2 * back(i, 1) - back(i, 2); break;
        case FilterPredictor::left3: guess = 3 * back(i, 1) - 3 * back(i, 2) + back(i, 3); break;
        case FilterPredictor::up: guess = back(i, i >= width ? width : 1); break;
        default: {
            const uint32_t left = place != 0 ? back(i, 1) : 0, up = back(i, width);
            const uint32_t upLeft = place != 0 ? back(i, width + 1) : 0;
            guess = guessOf(predictor, left, up, upLeft, bits, isSigned);
            break;
        }
        }
        take(i, guess);
        place = place + 1 == width ? 0 : place + 1;
    }
}

} // namespace sluice
