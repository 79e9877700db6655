// SPDX-License-Identifier: MIT OR Apache-2.0
// The values of one column of records, and their residuals. Each width of a value has its own
// loops, which compilers vectorise, because plans of filters try many predictors.
#pragma once

#include "formats/filter.h"

#include <tuple>
#include <vector>

namespace sluice {

// The values of a column before prediction, in the vector of their type.
class ColumnValues {
public:
    // Reads the values, maps them and subtracts their base. There are `count` records.
    void read(const FilterSection& section, uint32_t column, const uint8_t* records,
              uint32_t count);
    uint32_t count() const { return m_count; }
    // Writes them as residuals, each byte to its plane below `to`. Only the predictor and zigzag of
    // `column` may differ from those of the column that was read.
    void writeResiduals(const FilterSection& section, const FilterColumn& column,
                        const FilterPlane* planes, uint8_t* to) const;

private:
    template <typename T>
    void readAs(const FilterSection& section, uint32_t column, const uint8_t* records);

    std::tuple<std::vector<uint8_t>, std::vector<uint16_t>, std::vector<uint32_t>> m_values;
    uint32_t m_count = 0;
};

} // namespace sluice
