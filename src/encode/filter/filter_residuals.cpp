// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/filter/filter_residuals.h"

#include "formats/little_endian.h"

#include <algorithm>
#include <type_traits>

namespace sluice {
namespace {

template <typename T>
T loadValue(const u8* from)
{
    if constexpr (sizeof(T) == 1) return *from;
    if constexpr (sizeof(T) == 2) return T(loadLe16(from));
    if constexpr (sizeof(T) == 4) return loadLe32(from);
}

template <typename T>
void readMapped(const FilterSection& section, u32 column, const u8* records, u32 count,
                std::vector<T>& values)
{
    const FilterColumn& description = section.columns[column];
    const u32 stride = section.stride();
    const u8* from = records + section.offsetOf(column);
    values.resize(count);
    for (u32 i = 0; i < count; ++i, from += stride)
        values[i] = loadValue<T>(from);
    if (!description.isMapped()) return;
    for (T& value : values)
        value = T(mapValue(description, value));
}

// This does what guessOf does, in the type of the values: comparisons are signed if `Compared` is.
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

// Computes the residuals of `count` records from `begin` on. If the predictor needs rows, they lie
// in one row behind its first record; they have all the neighbours that it reads.
template <typename T, typename Compared>
void predictRun(FilterPredictor predictor, const T* at, u32 count, u32 width, T* residuals)
{
    const auto each = [&](auto guess) {
        for (u32 i = 0; i < count; ++i)
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

// Puts one byte of each residual into its plane.
template <u32 kByte, typename T>
void storeByte(const T* residuals, u32 begin, u32 count, const FilterPlane& plane, u8* to)
{
    const size_t step = plane.step;
    u8* const at = to + plane.start + begin * step;
    if (step == 1) {
        for (u32 i = 0; i < count; ++i)
            at[i] = u8(residuals[i] >> 8 * kByte);
    } else {
        for (u32 i = 0; i < count; ++i)
            at[i * step] = u8(residuals[i] >> 8 * kByte);
    }
}

// Puts residuals into their planes.
template <typename T>
void store(T* residuals, u32 begin, u32 count, bool isZigzag, const FilterPlane* planes, u8* to)
{
    constexpr u32 bits = 8 * sizeof(T);
    if (isZigzag) {
        for (u32 i = 0; i < count; ++i)
            residuals[i] = T(T(residuals[i] << 1) ^ T(0u - T(residuals[i] >> (bits - 1))));
    }
    storeByte<0>(residuals, begin, count, planes[0], to);
    if constexpr (sizeof(T) > 1) storeByte<1>(residuals, begin, count, planes[1], to);
    if constexpr (sizeof(T) > 2) {
        storeByte<2>(residuals, begin, count, planes[2], to);
        storeByte<3>(residuals, begin, count, planes[3], to);
    }
}

// Returns how many of the first records lack a neighbour that the predictor may read; all of them
// if predictRun has no loop for it.
u32 headOf(FilterPredictor predictor, u32 width)
{
    if (predictor > FilterPredictor::average) return UINT32_MAX;
    if (predictor == FilterPredictor::up) return width;
    return needsRows(predictor) ? width + 1 : 3;
}

template <typename T, typename Compared>
void writeAs(const FilterSection& section, const FilterColumn& column, const std::vector<T>& values,
             const FilterPlane* planes, u8* to)
{
    constexpr u32 kChunk = 1024;
    const u32 count = u32(values.size()), width = section.width;
    const bool isZigzag = column.has(filterZigzag);
    T residuals[kChunk];
    const u32 head = std::min(count, headOf(column.predictor, width));
    const auto storeAt = [&](u32 i, u32 n) { store(residuals, i, n, isZigzag, planes, to); };
    predictAll(
        column, head, width, section.first, [&](u32 i) { return u32(values[i]); },
        [&](u32 i, u32 guess) {
            residuals[i % kChunk] = T(values[i] - guess);
            if (i % kChunk == kChunk - 1 || i + 1 == head)
                storeAt(i / kChunk * kChunk, i % kChunk + 1);
        });
    const bool isWave = SLUICE_PREDICTOR_IS_WAVE(u32(column.predictor));
    for (u32 i = head; i < count;) {
        u32 run = std::min(count - i, kChunk);
        const u32 place = isWave ? (section.first + i) % width : 1;
        if (isWave) run = std::min(run, place == 0 ? 1 : width - place);
        if (place == 0) { // what is left of it is not its neighbour
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
void ColumnValues::readAs(const FilterSection& section, u32 column, const u8* records)
{
    std::vector<T>& values = std::get<std::vector<T>>(m_values);
    readMapped(section, column, records, m_count, values);
    if (section.columns[column].base == 0) return;
    std::vector<T> base;
    readMapped(section, section.columns[column].base - 1u, records, m_count, base);
    for (u32 i = 0; i < m_count; ++i)
        values[i] = T(values[i] - base[i]);
}

void ColumnValues::read(const FilterSection& section, u32 column, const u8* records, u32 count)
{
    m_count = count;
    switch (section.columns[column].bytes) {
    case 1: readAs<u8>(section, column, records); break;
    case 2: readAs<u16>(section, column, records); break;
    default: readAs<u32>(section, column, records);
    }
}

void ColumnValues::writeResiduals(const FilterSection& section, const FilterColumn& column,
                                  const FilterPlane* planes, u8* to) const
{
    const auto& [bytes, halves, words] = m_values;
    if (column.bytes == 2) {
        writeAs<u16, int16_t>(section, column, halves, planes, to);
    } else if (column.bytes == 4) {
        writeAs<u32, int32_t>(section, column, words, planes, to);
    } else if (column.isSigned()) {
        writeAs<u8, int8_t>(section, column, bytes, planes, to);
    } else {
        writeAs<u8, u8>(section, column, bytes, planes, to);
    }
}

} // namespace sluice
