// SPDX-License-Identifier: MIT OR Apache-2.0
// A filter description (docs/format.md, 8), parsed and validated. Nothing is allocated.
#pragma once

#include <sluice/sluice.h>

#include <cstddef>

#include "../../shaders/lib/formulas/filter.h"

namespace sluice {

constexpr uint32_t kFilterVersion = SLUICE_FILTER_VERSION;
constexpr uint32_t kFilterMaxStride = SLUICE_FILTER_MAX_STRIDE;
constexpr uint32_t kFilterMaxTile = SLUICE_MAX_TILE_BYTES;
constexpr uint32_t kFilterMaxSections = SLUICE_FILTER_MAX_SECTIONS;
constexpr uint32_t kFilterMaxBytes = SLUICE_FILTER_DESCRIPTION_BYTES;
constexpr uint32_t kFilterRest = SLUICE_FILTER_REST;

enum class FilterPredictor : uint8_t {
    none = SLUICE_PREDICTOR_NONE,
    left = SLUICE_PREDICTOR_LEFT,
    left2 = SLUICE_PREDICTOR_LEFT2,
    left3 = SLUICE_PREDICTOR_LEFT3,
    up = SLUICE_PREDICTOR_UP,
    gradient = SLUICE_PREDICTOR_GRADIENT,
    median = SLUICE_PREDICTOR_MEDIAN,
    average = SLUICE_PREDICTOR_AVERAGE,
    count = SLUICE_PREDICTOR_COUNT
};

enum FilterColumnFlags : uint8_t { // what they mean is said in layout/filter.h
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
    uint8_t base; // 0, or 1 + the column that is subtracted

    uint32_t bits() const { return 8u * bytes; }
    uint32_t mask() const { return 0xffffffffu >> (32 - bits()); }
    bool has(FilterColumnFlags flag) const { return (flags & flag) != 0; }
    // Whether the median and the average take its values as signed numbers.
    bool isSigned() const { return bytes > 1 || base != 0; }
};

// Some bytes of a tile: records of columns, or plain bytes if there are no columns.
struct FilterSection {
    uint32_t size = kFilterRest; // bytes; kFilterRest only in the last section
    uint32_t width = 0;          // records of a row; 0: there are no rows
    uint32_t first = 0;          // place in its row of the first record
    bool tgaRle = false;         // the bytes are packets of a Targa file; the records are the
                                 // pixels in them
    uint32_t columnCount = 0;
    FilterColumn columns[kFilterMaxStride] = {};

    uint32_t stride() const
    {
        uint32_t sum = 0;
        for (uint32_t c = 0; c < columnCount; ++c)
            sum += columns[c].bytes;
        return sum;
    }
};

inline bool needsRows(FilterPredictor predictor) { return predictor >= FilterPredictor::up; }

// Where a byte of each record stands in the filtered section: that of record i at start + i * step.
struct FilterPlane {
    uint32_t start, step;
};
// planes: of the stride() bytes of a record.
void filterPlanes(const FilterSection& section, uint32_t recordCount, FilterPlane* planes);

// Reads a description section by section.
class FilterReader {
public:
    // description: size bytes, a multiple of 4, at most kFilterMaxBytes.
    FilterReader(const void* description, size_t size);

    // The next section; false at the end or at an error, which status() then tells.
    bool next(FilterSection& section);
    // Errors: FORMAT (a rule is broken), VERSION (another version or unknown predictors or flags).
    SluiceStatus status() const { return status_; }

private:
    uint32_t word();
    bool fail(SluiceStatus status);
    bool readColumns(FilterSection& section, uint32_t runs);

    const uint8_t* at_;
    size_t words_; // that are left
    uint32_t sections_ = 0;
    SluiceStatus status_ = SLUICE_OK;
};

// OK if every section is good.
SluiceStatus checkFilter(const void* description, size_t size);

// Values of block columns (docs/format.md, 8.5). bits: 16, a colour of 5, 6 and 5 bits; 32, 4 x 4
// indices of 2 bits.
inline uint32_t mapBlock(uint32_t value, uint32_t bits)
{
    if (bits != 16) return filterTransposeIndices(value);
    const uint32_t red = value >> 11, green = value >> 5 & 63;
    return red << 11 | ((green - 2 * red) & 63) << 5 | ((value - (green >> 1)) & 31);
}
inline uint32_t unmapBlock(uint32_t value, uint32_t bits)
{
    return filterUnmapBlock(value, bits == 16);
}

// Predictions, the same for both directions. bits: of a value.
inline uint32_t zigzag(uint32_t value, uint32_t bits)
{
    return (value << 1 ^ (0u - (value >> (bits - 1) & 1))) & (0xffffffffu >> (32 - bits));
}
inline uint32_t unzigzag(uint32_t value, uint32_t bits)
{
    return filterUnzigzag(value, 0xffffffffu >> (32 - bits));
}
inline uint32_t rotateLeft(uint32_t value, uint32_t bits)
{
    return (value << 1 | value >> (bits - 1)) & (0xffffffffu >> (32 - bits));
}
inline uint32_t rotateRight(uint32_t value, uint32_t bits)
{
    return (value >> 1 | value << (bits - 1)) & (0xffffffffu >> (32 - bits));
}

// The prediction by `predictor`, gradient, median or average, from the neighbours' values.
inline uint32_t guessOf(FilterPredictor predictor, uint32_t left, uint32_t up, uint32_t upLeft,
                        uint32_t bits, bool isSigned)
{
    const uint32_t bias = isSigned ? 1u << (bits - 1) : 0, mask = 0xffffffffu >> (32 - bits);
    const uint32_t a = (left + bias) & mask, b = (up + bias) & mask, c = (upLeft + bias) & mask;
    const uint32_t guess = predictor == FilterPredictor::gradient ? filterGradient(a, b, c)
                           : predictor == FilterPredictor::median ? filterMedian(a, b, c)
                                                                  : filterAverage(a, b);
    return (guess - bias) & mask;
}

// Calls take(i, prediction) for i = 0 .. count - 1; at(j) is the value of record j < i, known when
// i comes.
template <typename At, typename Take>
void predictAll(const FilterColumn& predicted, uint32_t count, uint32_t width, uint32_t first,
                At at, Take take)
{
    const FilterPredictor predictor = predicted.predictor;
    const uint32_t bits = predicted.bits();
    const bool isSigned = predicted.isSigned();
    const auto back = [&](uint32_t i, uint32_t distance) {
        return i >= distance ? at(i - distance) : 0u;
    };
    uint32_t column = first; // of record i; for the predictors that look upwards
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t guess = 0;
        switch (predictor) {
        case FilterPredictor::left: guess = back(i, 1); break;
        case FilterPredictor::left2: guess = 2 * back(i, 1) - back(i, 2); break;
        case FilterPredictor::left3: guess = 3 * back(i, 1) - 3 * back(i, 2) + back(i, 3); break;
        case FilterPredictor::up: guess = back(i, i >= width ? width : 1); break;
        case FilterPredictor::gradient:
        case FilterPredictor::median:
        case FilterPredictor::average: {
            const uint32_t left = column != 0 ? back(i, 1) : 0, up = back(i, width);
            const uint32_t upLeft = column != 0 ? back(i, width + 1) : 0;
            guess = guessOf(predictor, left, up, upLeft, bits, isSigned);
            break;
        }
        default: break;
        }
        take(i, guess);
        column = column + 1 == width ? 0 : column + 1;
    }
}

} // namespace sluice
