// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that the fast loops give the same residuals as the predictors' formulas, record by record.
#include <doctest/doctest.h>

#include <random>

#include "encode/filter/filter_residuals.h"
#include "formats/little_endian.h"

namespace sluice::test {
namespace {

uint32_t valueAt(const std::vector<uint8_t>& records, const FilterSection& section, uint32_t column,
                 uint32_t i)
{
    const FilterColumn& description = section.columns[column];
    const uint8_t* from = &records[i * section.stride() + section.offsetOf(column)];
    uint32_t value = 0;
    for (uint32_t b = 0; b < description.bytes; ++b)
        value |= uint32_t(from[b]) << 8 * b;
    value = mapValue(description, value);
    if (description.base == 0) return value;
    return (value - valueAt(records, section, description.base - 1u, i)) &
           valueMask(description.bits());
}

// Returns a column's residuals as the formulas give them, each byte in its plane.
std::vector<uint8_t> expected(const std::vector<uint8_t>& records, const FilterSection& section,
                              uint32_t column, uint32_t count, const FilterPlane* planes,
                              size_t size)
{
    const FilterColumn& description = section.columns[column];
    std::vector<uint8_t> filtered(size, 0xee);
    predictAll(
        description, count, section.width, section.first,
        [&](uint32_t i) { return valueAt(records, section, column, i); },
        [&](uint32_t i, uint32_t guess) {
            uint32_t residual =
                (valueAt(records, section, column, i) - guess) & valueMask(description.bits());
            if (description.has(filterZigzag)) residual = zigzag(residual, description.bits());
            for (uint32_t b = 0; b < description.bytes; ++b)
                filtered[planes[b].start + i * planes[b].step] = uint8_t(residual >> 8 * b);
        });
    return filtered;
}

} // namespace

TEST_CASE("filter residuals: loops and formulas agree")
{
    std::mt19937 random(11);
    const uint32_t shapes[][3] = {// records, records in a row, place of the first record in its row
                                  {1, 4, 0},       {3, 4, 2},      {5, 4, 3},       {64, 4, 1},
                                  {1000, 31, 0},   {1000, 31, 30}, {5000, 1500, 7}, {3000, 2999, 0},
                                  {2100, 2500, 3}, {2048, 1024, 0}};
    for (const uint32_t(&shape)[3] : shapes) {
        const uint32_t count = shape[0], width = shape[1], first = shape[2];
        for (const uint8_t bytes : {uint8_t(1), uint8_t(2), uint8_t(4)}) {
            for (uint32_t p = 0; p < uint32_t(FilterPredictor::count); ++p) {
                for (uint32_t variant = 0; variant < 16; ++variant) {
                    FilterSection section;
                    section.columnCount = 2;
                    const bool rows = needsRows(FilterPredictor(p));
                    section.width = rows ? width : 0;
                    section.first = rows ? first : 0;
                    const bool split = (variant & 4) != 0;
                    const uint32_t flags = (variant & 1) * uint32_t(filterZigzag) |
                                           (split ? filterSplit : 0) |
                                           ((variant & 8) != 0 ? uint32_t(filterRotated) : 0);
                    section.columns[0] = {bytes, FilterPredictor::none, 0, 0};
                    section.columns[1] = {bytes, FilterPredictor(p), uint8_t(flags),
                                          uint8_t((variant & 2) != 0 ? 1 : 0)};
                    CAPTURE(count);
                    CAPTURE(width);
                    CAPTURE(first);
                    CAPTURE(int(bytes));
                    CAPTURE(p);
                    CAPTURE(variant);
                    std::vector<uint8_t> records(size_t(count) * 2 * bytes);
                    for (uint8_t& byte : records)
                        byte = uint8_t(random() % 3 == 0 ? random() : random() % 4 * 0x55);
                    FilterPlane planes[8];
                    filterPlanes(section, count, planes);
                    const std::vector<uint8_t> wanted =
                        expected(records, section, 1, count, planes + bytes, records.size());
                    std::vector<uint8_t> made(records.size(), 0xee);
                    ColumnValues values;
                    values.read(section, 1, records.data(), count);
                    REQUIRE(values.count() == count);
                    values.writeResiduals(section, section.columns[1], planes + bytes, made.data());
                    REQUIRE(made == wanted);
                }
            }
        }
    }
}

} // namespace sluice::test
