// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes predictions from the row above. A value depends on its left neighbour through a chain of
// instructions, so four rows are undone at once to fill the waits, each one value behind the row
// above it.
#pragma once

#include "cpu/fast/filter_values.h"

#include <algorithm>

namespace sluice::cpu::fast {

// Predicts a value. Signed values come with their sign bit flipped, so that they compare as
// unsigned numbers. `up` and `upLeft` are the values above and above to the left.
struct Gradient {
    static uint32_t guess(uint32_t left, uint32_t up, uint32_t upLeft)
    {
        return left + up - upLeft;
    }
};
struct Median {
    static uint32_t guess(uint32_t left, uint32_t up, uint32_t upLeft)
    {
        // This clamps the gradient to the smaller and the larger neighbour without comparing the
        // gradient itself.
        const uint32_t low = std::min(left, up), high = std::max(left, up);
        return low + high - std::max(low, std::min(high, upLeft));
    }
};
template <typename T>
struct Average {
    static uint32_t guess(uint32_t left, uint32_t up, uint32_t)
    {
        return sizeof(T) < 4 ? (left + up) >> 1 : filterAverage(left, up);
    }
};

template <typename T, typename Predictor>
class RowLoop {
public:
    RowLoop(const FilterSection& section, const FilterColumn& column, const Residuals<T>& residuals,
            const Values<T>& values)
        : m_width(section.width), m_firstPlace(section.first), m_residuals(residuals),
          m_values(values), m_bias(column.isSigned() ? 1u << (column.bits() - 1) : 0)
    {
    }

    void undo(uint32_t count)
    {
        uint32_t i = 0, place = m_firstPlace;
        while (i < count) {
            if (place == 0 && i >= m_width && count - i >= kRows * m_width) {
                undoRows(i);
                i += kRows * m_width;
                continue;
            }
            // This goes to the end of the row, or to where there is something above.
            uint32_t end = std::min(count, i + m_width - place);
            if (i < m_width) end = std::min(end, m_width);
            undoSome(i, end, place != 0);
            place = place + end - i == m_width ? 0 : place + end - i;
            i = end;
        }
    }

private:
    static constexpr uint32_t kRows = 4;

    // Converts values to the form that the predictors take.
    uint32_t biased(uint32_t i) const { return T(m_values.get(i) ^ m_bias); }
    void store(uint8_t* to, uint32_t value) const { storeValue(to, T(value ^ m_bias)); }

    // Undoes a part of a row that lies below other records entirely or not at all. hasLeft says
    // that a record stands to its left in the row, in this section or before it.
    void undoSome(uint32_t begin, uint32_t end, bool hasLeft)
    {
        const bool hasUp = begin >= m_width;
        const uint32_t zero = m_bias; // a neighbour that is not there
        uint32_t left = hasLeft && begin >= 1 ? biased(begin - 1) : zero;
        uint32_t upLeft = hasLeft && begin >= m_width + 1 ? biased(begin - m_width - 1) : zero;
        T residuals[kChunk];
        while (begin < end) {
            const uint32_t count = std::min(kChunk, end - begin);
            m_residuals.read(begin, count, residuals);
            uint8_t* to = m_values.at(begin);
            const size_t rowBytes = size_t(m_width) * m_values.stride;
            for (uint32_t k = 0; k < count; ++k, to += m_values.stride) {
                const uint32_t up = hasUp ? T(loadValue<T>(to - rowBytes) ^ m_bias) : zero;
                left = T(Predictor::guess(left, up, upLeft) + residuals[k]);
                upLeft = up;
                store(to, left);
            }
            begin += count;
        }
    }

    struct Row {
        uint8_t* to;
        uint32_t value, upLeft; // the last value, and what stood above it
        T* residuals;
    };

    // Undoes whole rows below a whole row, from record `begin` on. In step t, row k is at place t -
    // k.
    void undoRows(uint32_t begin)
    {
        const uint32_t steps = m_width + kRows - 1;
        T residuals[kRows][kChunk];
        Row rows[kRows];
        for (uint32_t k = 0; k < kRows; ++k)
            rows[k] = {m_values.at(begin + k * m_width), m_bias, m_bias, residuals[k]};
        const uint8_t* above = m_values.at(begin - m_width);
        for (uint32_t first = 0; first < steps; first += kChunk) {
            const uint32_t end = std::min(steps, first + kChunk);
            for (uint32_t k = 0; k < kRows; ++k) {
                const uint32_t from = std::max(first, k) - k,
                               last = std::min(m_width, end - std::min(end, k));
                if (from < last)
                    m_residuals.read(begin + k * m_width + from, last - from,
                                     rows[k].residuals + (from + k - first));
            }
            uint32_t t = first;
            for (; t < std::min(end, kRows - 1); ++t)
                step(rows, above, t, t - first);
            const uint32_t whole = std::min(end, m_width);
            if (t < whole) t = wholeSteps(rows, above, t, whole, first);
            for (; t < end; ++t)
                step(rows, above, t, t - first);
        }
    }

    // Does a step at the beginning or end, in which some rows take no part.
    void step(Row* rows, const uint8_t*& above, uint32_t t, uint32_t at)
    {
        for (uint32_t k = kRows; k-- != 0;) {
            if (t < k || t - k >= m_width) continue;
            Row& row = rows[k];
            uint32_t up;
            if (k == 0) {
                up = T(loadValue<T>(above) ^ m_bias);
                above += m_values.stride;
            } else {
                up = rows[k - 1].value;
            }
            advance(row, up, at);
        }
    }
    void advance(Row& row, uint32_t up, uint32_t at)
    {
        row.value = T(Predictor::guess(row.value, up, row.upLeft) + row.residuals[at]);
        row.upLeft = up;
        store(row.to, row.value);
        row.to += m_values.stride;
    }

    // Does the steps in which all rows take part. Local variables stay in registers.
    uint32_t wholeSteps(Row* rows, const uint8_t*& above, uint32_t t, uint32_t end, uint32_t first)
    {
        const uint32_t stride = m_values.stride, bias = m_bias;
        const uint8_t* from = above;
        uint32_t v0 = rows[0].value, v1 = rows[1].value, v2 = rows[2].value, v3 = rows[3].value;
        uint32_t c0 = rows[0].upLeft, c1 = rows[1].upLeft, c2 = rows[2].upLeft, c3 = rows[3].upLeft;
        uint8_t *to0 = rows[0].to, *to1 = rows[1].to, *to2 = rows[2].to, *to3 = rows[3].to;
        const T *r0 = rows[0].residuals, *r1 = rows[1].residuals;
        const T *r2 = rows[2].residuals, *r3 = rows[3].residuals;
        for (; t < end; ++t) {
            const uint32_t at = t - first;
            const uint32_t n3 = T(Predictor::guess(v3, v2, c3) + r3[at]);
            const uint32_t n2 = T(Predictor::guess(v2, v1, c2) + r2[at]);
            const uint32_t n1 = T(Predictor::guess(v1, v0, c1) + r1[at]);
            const uint32_t up = T(loadValue<T>(from) ^ bias);
            const uint32_t n0 = T(Predictor::guess(v0, up, c0) + r0[at]);
            c3 = v2;
            c2 = v1;
            c1 = v0;
            c0 = up;
            v3 = n3;
            v2 = n2;
            v1 = n1;
            v0 = n0;
            storeValue(to3, T(v3 ^ bias));
            storeValue(to2, T(v2 ^ bias));
            storeValue(to1, T(v1 ^ bias));
            storeValue(to0, T(v0 ^ bias));
            from += stride;
            to0 += stride;
            to1 += stride;
            to2 += stride;
            to3 += stride;
        }
        above = from;
        const uint32_t values[kRows] = {v0, v1, v2, v3}, upLefts[kRows] = {c0, c1, c2, c3};
        uint8_t* const places[kRows] = {to0, to1, to2, to3};
        for (uint32_t k = 0; k < kRows; ++k) {
            rows[k].value = values[k];
            rows[k].upLeft = upLefts[k];
            rows[k].to = places[k];
        }
        return t;
    }

    const uint32_t m_width, m_firstPlace;
    const Residuals<T>& m_residuals;
    const Values<T> m_values;
    const uint32_t m_bias;
};

} // namespace sluice::cpu::fast
