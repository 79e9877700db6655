// SPDX-License-Identifier: MIT OR Apache-2.0
// Computes the residuals of a column of records: the differences between its values and their
// predictions. Planning a filter tries many predictors, so there is a loop for each width of
// values, which compilers vectorise.
#pragma once

#include "formats/filter.h"

#include <tuple>
#include <vector>

namespace sluice {

// The values of a column before prediction. Only the vector whose elements are as wide as the
// column is used.
class ColumnValues {
public:
    // Reads the column's values from `count` records, maps them and subtracts the base column, as
    // section.columns[column] says.
    void read(const FilterSection& section, uint32_t column, const uint8_t* records,
              uint32_t count);
    uint32_t count() const { return m_count; }
    // Writes the residuals of the column that was read. `column` may have another predictor and
    // another zigzag flag. Byte b of record i goes to to[planes[b].start + i * planes[b].step].
    void writeResiduals(const FilterSection& section, const FilterColumn& column,
                        const FilterPlane* planes, uint8_t* to) const;

private:
    template <typename T>
    void readAs(const FilterSection& section, uint32_t column, const uint8_t* records);

    std::tuple<std::vector<uint8_t>, std::vector<uint16_t>, std::vector<uint32_t>> m_values;
    uint32_t m_count = 0;
};

} // namespace sluice
