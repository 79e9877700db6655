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
    static u32 guess(u32 left, u32 up, u32 upLeft) { return left + up - upLeft; }
};
struct Median {
    static u32 guess(u32 left, u32 up, u32 upLeft)
    {
        // This clamps the gradient to the smaller and the larger neighbour without comparing the
        // gradient itself.
        const u32 low = std::min(left, up), high = std::max(left, up);
        return low + high - std::max(low, std::min(high, upLeft));
    }
};
template <typename T>
struct Average {
    static u32 guess(u32 left, u32 up, u32)
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

    void undo(u32 count)
    {
        u32 i = 0, place = m_firstPlace;
        while (i < count) {
            if (place == 0 && i >= m_width && count - i >= kRows * m_width) {
                undoRows(i);
                i += kRows * m_width;
                continue;
            }
            // This goes to the end of the row, or to where there is something above.
            u32 end = std::min(count, i + m_width - place);
            if (i < m_width) end = std::min(end, m_width);
            undoSome(i, end, place != 0);
            place = place + end - i == m_width ? 0 : place + end - i;
            i = end;
        }
    }

private:
    static constexpr u32 kRows = 4;

    // Converts values to the form that the predictors take.
    u32 biased(u32 i) const { return T(m_values.get(i) ^ m_bias); }
    void store(u8* to, u32 value) const { storeValue(to, T(value ^ m_bias)); }

    // Undoes a part of a row that lies below other records entirely or not at all. hasLeft says
    // that a record stands to its left in the row, in this section or before it.
    void undoSome(u32 begin, u32 end, bool hasLeft)
    {
        const bool hasUp = begin >= m_width;
        const u32 zero = m_bias; // a neighbour that is not there
        u32 left = hasLeft && begin >= 1 ? biased(begin - 1) : zero;
        u32 upLeft = hasLeft && begin >= m_width + 1 ? biased(begin - m_width - 1) : zero;
        T residuals[kChunk];
        while (begin < end) {
            const u32 count = std::min(kChunk, end - begin);
            m_residuals.read(begin, count, residuals);
            u8* to = m_values.at(begin);
            const size_t rowBytes = size_t(m_width) * m_values.stride;
            for (u32 k = 0; k < count; ++k, to += m_values.stride) {
                const u32 up = hasUp ? T(loadValue<T>(to - rowBytes) ^ m_bias) : zero;
                left = T(Predictor::guess(left, up, upLeft) + residuals[k]);
                upLeft = up;
                store(to, left);
            }
            begin += count;
        }
    }

    struct Row {
        u8* to;
        u32 value, upLeft; // the last value, and what stood above it
        T* residuals;
    };

    // Undoes whole rows below a whole row, from record `begin` on. In step t, row k is at place t -
    // k.
    void undoRows(u32 begin)
    {
        const u32 steps = m_width + kRows - 1;
        T residuals[kRows][kChunk];
        Row rows[kRows];
        for (u32 k = 0; k < kRows; ++k)
            rows[k] = {m_values.at(begin + k * m_width), m_bias, m_bias, residuals[k]};
        const u8* above = m_values.at(begin - m_width);
        for (u32 first = 0; first < steps; first += kChunk) {
            const u32 end = std::min(steps, first + kChunk);
            for (u32 k = 0; k < kRows; ++k) {
                const u32 from = std::max(first, k) - k,
                          last = std::min(m_width, end - std::min(end, k));
                if (from < last)
                    m_residuals.read(begin + k * m_width + from, last - from,
                                     rows[k].residuals + (from + k - first));
            }
            u32 t = first;
            for (; t < std::min(end, kRows - 1); ++t)
                step(rows, above, t, t - first);
            const u32 whole = std::min(end, m_width);
            if (t < whole) t = wholeSteps(rows, above, t, whole, first);
            for (; t < end; ++t)
                step(rows, above, t, t - first);
        }
    }

    // Does a step at the beginning or end, in which some rows take no part.
    void step(Row* rows, const u8*& above, u32 t, u32 at)
    {
        for (u32 k = kRows; k-- != 0;) {
            if (t < k || t - k >= m_width) continue;
            Row& row = rows[k];
            u32 up;
            if (k == 0) {
                up = T(loadValue<T>(above) ^ m_bias);
                above += m_values.stride;
            } else {
                up = rows[k - 1].value;
            }
            advance(row, up, at);
        }
    }
    void advance(Row& row, u32 up, u32 at)
    {
        row.value = T(Predictor::guess(row.value, up, row.upLeft) + row.residuals[at]);
        row.upLeft = up;
        store(row.to, row.value);
        row.to += m_values.stride;
    }

    // Does the steps in which all rows take part. Local variables stay in registers.
    u32 wholeSteps(Row* rows, const u8*& above, u32 t, u32 end, u32 first)
    {
        const u32 stride = m_values.stride, bias = m_bias;
        const u8* from = above;
        u32 v0 = rows[0].value, v1 = rows[1].value, v2 = rows[2].value, v3 = rows[3].value;
        u32 c0 = rows[0].upLeft, c1 = rows[1].upLeft, c2 = rows[2].upLeft, c3 = rows[3].upLeft;
        u8 *to0 = rows[0].to, *to1 = rows[1].to, *to2 = rows[2].to, *to3 = rows[3].to;
        const T *r0 = rows[0].residuals, *r1 = rows[1].residuals;
        const T *r2 = rows[2].residuals, *r3 = rows[3].residuals;
        for (; t < end; ++t) {
            const u32 at = t - first;
            const u32 n3 = T(Predictor::guess(v3, v2, c3) + r3[at]);
            const u32 n2 = T(Predictor::guess(v2, v1, c2) + r2[at]);
            const u32 n1 = T(Predictor::guess(v1, v0, c1) + r1[at]);
            const u32 up = T(loadValue<T>(from) ^ bias);
            const u32 n0 = T(Predictor::guess(v0, up, c0) + r0[at]);
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
        const u32 values[kRows] = {v0, v1, v2, v3}, upLefts[kRows] = {c0, c1, c2, c3};
        u8* const places[kRows] = {to0, to1, to2, to3};
        for (u32 k = 0; k < kRows; ++k) {
            rows[k].value = values[k];
            rows[k].upLeft = upLefts[k];
            rows[k].to = places[k];
        }
        return t;
    }

    const u32 m_width, m_firstPlace;
    const Residuals<T>& m_residuals;
    const Values<T> m_values;
    const u32 m_bias;
};

} // namespace sluice::cpu::fast
