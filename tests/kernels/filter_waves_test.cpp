// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests predictors that use the row above, in sections of every shape. By the shape, kernels choose
// which lanes do what and whether several subgroups share a column.
#include "tests/support/filters.h"

#include <algorithm>
#include <string>

using namespace sluice::test;
using sluice::FilterPredictor;

namespace {

struct Shape {
    uint32_t width, rows, lastRow; // full rows, and the number of records in one more row
};
// Single rows, narrow rows, and widths around the sizes of a subgroup and of a group of four. Some
// have so many rows that kernels do them in several bands.
const Shape kShapes[] = {
    {1, 0, 1},    {1, 1, 0},      {1, 4000, 0},    {2, 3, 1},        {3, 4000, 2},  {4, 33, 0},
    {7, 0, 5},    {31, 31, 7},    {32, 32, 0},     {33, 70, 32},     {40, 1, 1},    {63, 65, 0},
    {90, 5, 89},  {97, 1, 0},     {128, 40, 3},    {200, 70, 1},     {257, 129, 5}, {1000, 35, 999},
    {3001, 2, 0}, {4100, 34, 17}, {8000, 1, 7999}, {20000, 0, 9000},
};

struct Columns {
    uint32_t count, log2Bytes;
};
const Columns kColumns[] = {{1, 0}, {1, 1}, {1, 2}, {2, 1}, {3, 0},
                            {5, 2}, {8, 0}, {9, 1}, {17, 0}};

constexpr uint32_t kMaxTile = 1u << 20;

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("filter waves: every shape")
{
    std::mt19937 random = makeRandom(331);
    const uint32_t most = uint32_t(environmentNumber("SLUICE_MUTATIONS", 100)) * 400;
    std::vector<FilterPredictor> predictors;
    for (const sluice::FilterPredictorRow& row : sluice::kFilterPredictors)
        if (needsRows(FilterPredictor(row.number)))
            predictors.push_back(FilterPredictor(row.number));
    FilterBatch batch;
    batch.maxTileSize = kMaxTile;
    uint32_t turn = 0, tried = 0;
    for (const Shape& shape : kShapes) {
        for (const Columns& columns : kColumns) {
            const FilterPredictor predictor = predictors[turn++ % predictors.size()];
            // The section's first record may be in the middle of a row.
            const uint32_t first = turn % 3 == 0 ? uint32_t(random() % shape.width) : 0;
            const uint32_t records = shape.width * shape.rows + shape.lastRow,
                           bytes = records * (columns.count << columns.log2Bytes);
            if (bytes > most) continue;
            const uint32_t flags = uint32_t(random() % 4); // bit 0: zigzag; bit 1: split
            SectionWords section = rowsOf(shape.width, {});
            section.first = first;
            section.size = bytes;
            // Columns of one run take the same predictor. The last column is a run of its own with
            // another predictor and a base.
            section.runs = {columnRun(columns.count, columns.log2Bytes, flags, predictor)};
            if (columns.count > 1)
                section.runs = {columnRun(columns.count - 1, columns.log2Bytes, flags, predictor),
                                columnRun(1, columns.log2Bytes, flags,
                                          predictors[random() % predictors.size()], 1)};
            const Words description = describe({section});
            if (sluiceCheckFilter(description.data(), 4 * description.size()) != SLUICE_OK)
                continue;
            const uint32_t behind = uint32_t(random() % 5);
            const Bytes filtered = turn % 2 == 0 ? randomBytes(random, bytes + behind)
                                                 : smoothBytes(random, bytes + behind);
            batch.add(description, filtered);
            ++tried;
        }
    }
    REQUIRE(tried > 50); // shapes of more bytes than `most` are left out
    Device reference("cpu", "ref", 0);
    const FilterOutcome expected = undoFilters(reference, batch),
                        found = undoFilters(device(), batch);
    for (size_t i = 0; i < batch.tiles.size(); ++i) {
        CAPTURE(i);
        char text[200];
        REQUIRE(sluiceGetFilterText(batch.tiles[i].description.data(),
                                    4 * batch.tiles[i].description.size(), text,
                                    sizeof text) == SLUICE_OK);
        CAPTURE(std::string(text));
        REQUIRE(expected.status[i] == SLUICE_TILE_OK);
        CHECK(found.status[i] == SLUICE_TILE_OK);
        const auto at = std::ptrdiff_t(batch.tiles[i].region.dstAddress);
        CHECK(std::equal(expected.output.begin() + at,
                         expected.output.begin() + at + batch.tiles[i].region.size,
                         found.output.begin() + at));
    }
}

TEST_SUITE_END();
