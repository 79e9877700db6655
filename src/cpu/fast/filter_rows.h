// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes the predictors that look at the row above: gradient, median and average. The records of a
// section form rows of `width` records; a record's *place* is its index in its row. Each value
// depends on its left neighbour, so a loop over one row is bound by latency. To hide it, four rows
// are undone together, each one value behind the row above it.
#pragma once

#include "cpu/fast/filter_values.h"

#include <algorithm>

namespace sluice::cpu::fast {

// The predictors. Each guesses a value from its left neighbour, the value above it (`up`) and the
// value above to the left (`upLeft`). Signed values are passed with their sign bit flipped, so that
// comparing them as unsigned numbers gives the right order.
struct Gradient {
    static uint32_t guess(uint32_t left, uint32_t up, uint32_t upLeft)
    {
        return left + up - upLeft;
    }
};
struct Median {
    static uint32_t guess(uint32_t left, uint32_t up, uint32_t upLeft)
    {
        // The guess is left + up - upLeft, limited to the range from `low` to `high`. That sum may
        // wrap around, so upLeft is limited instead, which gives the same.
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

// Undoes the prediction of one column of a section. The values have the unsigned type T.
template <typename T, typename Predictor>
class RowLoop {
public:
    RowLoop(const FilterSection& section, const FilterColumn& column, const Residuals<T>& residuals,
            const Values<T>& values)
        : m_width(section.width), m_firstPlace(section.first), m_residuals(residuals),
          m_values(values), m_bias(column.isSigned() ? 1u << (column.bits() - 1) : 0)
    {
    }

    // Undoes the column's `count` values. Four complete rows are undone together where possible.
    void undo(uint32_t count)
    {
        uint32_t i = 0, place = m_firstPlace;
        while (i < count) {
            if (place == 0 && i >= m_width && count - i >= kRows * m_width) {
                undoRows(i);
                i += kRows * m_width;
                continue;
            }
            // Undo up to the end of the row, or up to the end of the first m_width records, which
            // have nothing above them.
            uint32_t end = std::min(count, i + m_width - place);
            if (i < m_width) end = std::min(end, m_width);
            undoSome(i, end, place != 0);
            place = place + end - i == m_width ? 0 : place + end - i;
            i = end;
        }
    }

private:
    static constexpr uint32_t kRows = 4;

    // biased() reads the value of record i, and flips its sign bit if the column is signed. store()
    // flips the bit back and writes the value.
    uint32_t biased(uint32_t i) const { return T(m_values.get(i) ^ m_bias); }
    void store(uint8_t* to, uint32_t value) const { storeValue(to, T(value ^ m_bias)); }

    // Undoes the records begin .. end - 1, which lie in one row. Either all of them have a record
    // above them, or none of them has. hasLeft: `begin` is not the first record of its row. A
    // neighbour that does not exist, such as the one before record 0, counts as 0.
    void undoSome(uint32_t begin, uint32_t end, bool hasLeft)
    {
        const bool hasUp = begin >= m_width;
        const uint32_t zero = m_bias; // the value of a neighbour that does not exist
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

    // One of the four rows that are undone together.
    struct Row {
        uint8_t* to;            // where the next value is written
        uint32_t value, upLeft; // the last value undone, and the value above it
        T* residuals;
    };

    // Undoes four complete rows from record `begin` on, which is the first of its row and has a
    // complete row above it. Each row is one value behind the row above it: in step t, row k undoes
    // its value t - k, and the value above that one was undone by row k - 1 in step t - 1.
    void undoRows(uint32_t begin)
    {
        const uint32_t steps = m_width + kRows - 1;
        T residuals[kRows][kChunk]; // step t of row k uses residuals[k][t - first]
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
            // In the first and in the last kRows - 1 steps, some rows have nothing to undo.
            uint32_t t = first;
            for (; t < std::min(end, kRows - 1); ++t)
                step(rows, above, t, t - first);
            const uint32_t whole = std::min(end, m_width);
            if (t < whole) t = wholeSteps(rows, above, t, whole, first);
            for (; t < end; ++t)
                step(rows, above, t, t - first);
        }
    }

    // Does step t, in which some rows may have no value to undo.
    //   above  the next value above row 0
    //   at     the index of the step's residuals
    // The rows go from last to first, because row k needs rows[k - 1].value from the step before.
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
    // Undoes a row's next value. up: the value above it; at: the index of its residual.
    void advance(Row& row, uint32_t up, uint32_t at)
    {
        row.value = T(Predictor::guess(row.value, up, row.upLeft) + row.residuals[at]);
        row.upLeft = up;
        store(row.to, row.value);
        row.to += m_values.stride;
    }

    // Does the steps t .. end - 1, in which every row has a value to undo. Returns `end`. first:
    // the step of residual 0 of each row. The rows are copied to local variables, so that they stay
    // in registers: v is a row's last value, c the value above that one, r the row's residuals.
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

    // Records per row, and the index of record 0 in its row.
    const uint32_t m_width, m_firstPlace;
    const Residuals<T>& m_residuals;
    const Values<T> m_values;
    const uint32_t m_bias; // the sign bit for signed values, otherwise 0
};

} // namespace sluice::cpu::fast
