// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/filter/filter_residuals.h"

#include "formats/little_endian.h"

#include <algorithm>
#include <type_traits>

namespace sluice {
namespace {

template <typename T>
T loadValue(const uint8_t* from)
{
    if constexpr (sizeof(T) == 1) return *from;
    if constexpr (sizeof(T) == 2) return T(loadLe16(from));
    if constexpr (sizeof(T) == 4) return loadLe32(from);
}

template <typename T>
void readMapped(const FilterSection& section, uint32_t column, const uint8_t* records,
                uint32_t count, std::vector<T>& values)
{
    const FilterColumn& description = section.columns[column];
    const uint32_t stride = section.stride();
    const uint8_t* from = records + section.offsetOf(column);
    values.resize(count);
    for (uint32_t i = 0; i < count; ++i, from += stride)
        values[i] = loadValue<T>(from);
    if (!description.isMapped()) return;
    for (T& value : values)
        value = T(mapValue(description, value));
}

// guessMedian and guessAverage return the value that the predictors median and average guess from
// neighbouring values of type T. Compared is T, or its signed counterpart if values are signed.
template <typename T, typename Compared>
T guessMedian(T left, T up, T upLeft)
{
    const Compared a = Compared(left), b = Compared(up), c = Compared(upLeft);
    const Compared low = std::min(a, b), high = std::max(a, b);
    return c >= high ? T(low) : c <= low ? T(high) : T(left + up - upLeft);
}
template <typename T, typename Compared>
T guessAverage(T left, T up)
{
    constexpr T bias = std::is_signed_v<Compared> ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
    const T a = T(left ^ bias), b = T(up ^ bias);
    return T(T(a & b) + T(T(a ^ b) >> 1)) ^ bias;
}

// Computes the residuals of `count` consecutive records. Each of them must have every neighbour
// that the predictor reads. For a predictor that reads the left neighbour and the row above, the
// records must lie in one row and not include the row's first record.
template <typename T, typename Compared>
void predictRun(FilterPredictor predictor, const T* at, uint32_t count, uint32_t width,
                T* residuals)
{
    const auto each = [&](auto guess) {
        for (uint32_t i = 0; i < count; ++i)
            residuals[i] = T(at[i] - guess(at + i));
    };
    const size_t row = width;
    switch (predictor) {
    case FilterPredictor::none: std::copy_n(at, count, residuals); break;
    case FilterPredictor::left: each([](const T* v) { return v[-1]; }); break;
    case FilterPredictor::left2: each([](const T* v) { return T(2u * v[-1] - v[-2]); }); break;
    case FilterPredictor::left3:
        each([](const T* v) { return T(3u * v[-1] - 3u * v[-2] + v[-3]); });
        break;
    case FilterPredictor::up: each([row](const T* v) { return *(v - row); }); break;
    case FilterPredictor::gradient:
        each([row](const T* v) { return T(v[-1] + *(v - row) - *(v - row - 1)); });
        break;
    case FilterPredictor::average:
        each([row](const T* v) { return guessAverage<T, Compared>(v[-1], *(v - row)); });
        break;
    default:
        each([row](const T* v) {
            return guessMedian<T, Compared>(v[-1], *(v - row), *(v - row - 1));
        });
    }
}

// Stores byte kByte of each residual in the plane for that byte; `begin` is the first record's
// index.
template <uint32_t kByte, typename T>
void storeByte(const T* residuals, uint32_t begin, uint32_t count, const FilterPlane& plane,
               uint8_t* to)
{
    const size_t step = plane.step;
    uint8_t* const at = to + plane.start + begin * step;
    if (step == 1) {
        for (uint32_t i = 0; i < count; ++i)
            at[i] = uint8_t(residuals[i] >> 8 * kByte);
    } else {
        for (uint32_t i = 0; i < count; ++i)
            at[i * step] = uint8_t(residuals[i] >> 8 * kByte);
    }
}

// Stores the residuals of `count` records from `begin` on, each byte in its plane. If isZigzag is
// set, they are stored in zigzag form, which overwrites `residuals`.
template <typename T>
void store(T* residuals, uint32_t begin, uint32_t count, bool isZigzag, const FilterPlane* planes,
           uint8_t* to)
{
    constexpr uint32_t bits = 8 * sizeof(T);
    if (isZigzag) {
        for (uint32_t i = 0; i < count; ++i)
            residuals[i] = T(T(residuals[i] << 1) ^ T(0u - T(residuals[i] >> (bits - 1))));
    }
    storeByte<0>(residuals, begin, count, planes[0], to);
    if constexpr (sizeof(T) > 1) storeByte<1>(residuals, begin, count, planes[1], to);
    if constexpr (sizeof(T) > 2) {
        storeByte<2>(residuals, begin, count, planes[2], to);
        storeByte<3>(residuals, begin, count, planes[3], to);
    }
}

// Returns how many records at the beginning lack a neighbour that the predictor may read. Returns
// UINT32_MAX for a predictor that predictRun has no loop for: predictAll then computes all records.
uint32_t headOf(FilterPredictor predictor, uint32_t width)
{
    if (predictor > FilterPredictor::average) return UINT32_MAX;
    if (predictor == FilterPredictor::up) return width;
    return needsRows(predictor) ? width + 1 : 3;
}

template <typename T, typename Compared>
void writeAs(const FilterSection& section, const FilterColumn& column, const std::vector<T>& values,
             const FilterPlane* planes, uint8_t* to)
{
    constexpr uint32_t kChunk = 1024;
    const uint32_t count = uint32_t(values.size()), width = section.width;
    const bool isZigzag = column.has(filterZigzag);
    T residuals[kChunk];
    const uint32_t head = std::min(count, headOf(column.predictor, width));
    const auto storeAt = [&](uint32_t i, uint32_t n) {
        store(residuals, i, n, isZigzag, planes, to);
    };
    predictAll(
        column, head, width, section.first, [&](uint32_t i) { return uint32_t(values[i]); },
        [&](uint32_t i, uint32_t guess) {
            residuals[i % kChunk] = T(values[i] - guess);
            if (i % kChunk == kChunk - 1 || i + 1 == head)
                storeAt(i / kChunk * kChunk, i % kChunk + 1);
        });
    const bool isWave = SLUICE_PREDICTOR_IS_WAVE(uint32_t(column.predictor));
    for (uint32_t i = head; i < count;) {
        uint32_t run = std::min(count - i, kChunk);
        const uint32_t place = isWave ? (section.first + i) % width : 1;
        if (isWave) run = std::min(run, place == 0 ? 1 : width - place);
        if (place == 0) { // a row's first record has no left neighbour
            residuals[0] = T(values[i] - guessOf(column.predictor, 0, values[i - width], 0,
                                                 column.bits(), column.isSigned()));
        } else {
            predictRun<T, Compared>(column.predictor, values.data() + i, run, width, residuals);
        }
        storeAt(i, run);
        i += run;
    }
}

} // namespace

template <typename T>
void ColumnValues::readAs(const FilterSection& section, uint32_t column, const uint8_t* records)
{
    std::vector<T>& values = std::get<std::vector<T>>(m_values);
    readMapped(section, column, records, m_count, values);
    if (section.columns[column].base == 0) return;
    std::vector<T> base;
    readMapped(section, section.columns[column].base - 1u, records, m_count, base);
    for (uint32_t i = 0; i < m_count; ++i)
        values[i] = T(values[i] - base[i]);
}

void ColumnValues::read(const FilterSection& section, uint32_t column, const uint8_t* records,
                        uint32_t count)
{
    m_count = count;
    switch (section.columns[column].bytes) {
    case 1: readAs<uint8_t>(section, column, records); break;
    case 2: readAs<uint16_t>(section, column, records); break;
    default: readAs<uint32_t>(section, column, records);
    }
}

void ColumnValues::writeResiduals(const FilterSection& section, const FilterColumn& column,
                                  const FilterPlane* planes, uint8_t* to) const
{
    const auto& [bytes, halves, words] = m_values;
    if (column.bytes == 2) {
        writeAs<uint16_t, int16_t>(section, column, halves, planes, to);
    } else if (column.bytes == 4) {
        writeAs<uint32_t, int32_t>(section, column, words, planes, to);
    } else if (column.isSigned()) {
        writeAs<uint8_t, int8_t>(section, column, bytes, planes, to);
    } else {
        writeAs<uint8_t, uint8_t>(section, column, bytes, planes, to);
    }
}

} // namespace sluice
