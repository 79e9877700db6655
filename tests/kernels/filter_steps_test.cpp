// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the limit on a tile's decoding steps, which wait for each other (docs/format.md, 8.6). It
// must be the same for checking a description, undoing a filter and planning one.
#include <sluice/sluice_filter.h>

#include "tests/support/filters.h"

#include <algorithm>

using namespace sluice::test;
using sluice::FilterPredictor;

namespace {

constexpr uint32_t kMost = SLUICE_FILTER_MAX_STEPS;

SluiceStatus check(const std::vector<SectionWords>& sections)
{
    const Words words = describe(sections);
    return sluiceCheckFilter(words.data(), 4 * words.size());
}

SectionWords sized(uint32_t records, uint32_t width, uint32_t columns, uint32_t log2Bytes,
                   FilterPredictor predictor)
{
    SectionWords section = rowsOf(width, {columnRun(columns, log2Bytes, 0, predictor)});
    section.size = records * (columns << log2Bytes);
    return section;
}

std::vector<FilterPredictor> wavePredictors()
{
    std::vector<FilterPredictor> found;
    for (const sluice::FilterPredictorRow& row : sluice::kFilterPredictors)
        if (SLUICE_PREDICTOR_IS_WAVE(row.number)) found.push_back(FilterPredictor(row.number));
    return found;
}

struct Shape {
    uint32_t records, width, columns, log2Bytes, first;
    bool isGood;
};
// Rows of one record, one row, a square, many columns, and a first record that adds a row.
const Shape kWaveShapes[] = {
    {kMost / 4 - 1, 1, 1, 0, 0, true},
    {kMost / 4, 1, 1, 0, 0, false},
    {kMost - 4, 1u << 20, 1, 0, 0, true},
    {kMost - 3, 1u << 20, 1, 0, 0, false},
    {kMost - 4, kMost, 1, 1, 0, true},
    {kMost - 3, kMost, 1, 1, 0, false},
    {kMost - 4, 1u << 20, 2, 2, 0, true},
    {kMost - 3, 1u << 20, 2, 2, 0, false},
    {kMost - 8, kMost, 1, 0, 12, true},
    {kMost - 7, kMost, 1, 0, 12, false},
    {kMost - 4, 4, 1, 0, 0, true},
    {kMost - 3, 4, 1, 0, 0, false},
    {kMost / 2 - 4, 1u << 20, 9, 0, 0, true},
    {kMost / 2 - 3, 1u << 20, 9, 0, 0, false},
    {kMost / 2 - 4, 1u << 20, 3, 2, 0, true},
    {kMost / 2 - 3, 1u << 20, 3, 2, 0, false},
    {1u << 16, 8192, 2, 0, 8191, true},
    {kMost / 4 - 1, 1, 8, 0, 0, true},
};
// UP is a sum down each column, so only the number of rows counts.
const Shape kUpShapes[] = {
    {kMost / 4, 1, 1, 0, 0, true},       {kMost / 4 + 1, 1, 1, 0, 0, false},
    {1u << 20, 1u << 20, 1, 0, 0, true}, {1u << 16, 16384, 8, 1, 5, true},
    {kMost / 2, 2, 4, 1, 0, true},       {kMost / 2 + 1, 2, 4, 1, 0, false},
    {kMost / 4, 2, 9, 0, 0, true},       {kMost / 4 + 1, 2, 9, 0, 0, false},
};

} // namespace

TEST_CASE("filter steps: what a description says of them")
{
    for (const FilterPredictor predictor : wavePredictors()) {
        CAPTURE(uint32_t(predictor));
        for (const Shape& shape : kWaveShapes) {
            CAPTURE(shape.records);
            CAPTURE(shape.width);
            SectionWords section =
                sized(shape.records, shape.width, shape.columns, shape.log2Bytes, predictor);
            section.first = shape.first;
            CHECK((check({section}) == SLUICE_OK) == shape.isGood);
        }
        // The steps of several sections add up.
        const SectionWords half = sized(kMost / 2 - 4, 1u << 20, 1, 0, predictor);
        CHECK(check({half, half}) == SLUICE_OK);
        CHECK(check({half, half, sized(1, 1, 1, 0, predictor)}) == SLUICE_ERROR_FORMAT);
        // Predictors that look only to the left take no steps, and a section without records takes
        // none.
        CHECK(check({half, half, sized(1u << 18, 1, 1, 0, FilterPredictor::left)}) == SLUICE_OK);
        CHECK(check({half, half, sized(0, 1, 1, 0, predictor)}) == SLUICE_OK);
        // A section with the rest of a tile can only be judged with the tile.
        SectionWords rest = sized(0, kMost, 1, 0, predictor);
        rest.size = sluice::kFilterRest;
        const Words words = describe({rest});
        CHECK(sluiceCheckFilter(words.data(), 4 * words.size()) == SLUICE_OK);
        for (const uint32_t size : {kMost - 4, kMost - 3}) {
            const Bytes filtered(size, 1);
            Bytes tile(size);
            const SluiceStatus expected = size == kMost - 4 ? SLUICE_OK : SLUICE_ERROR_FORMAT;
            CHECK(sluiceUndoFilter(words.data(), 4 * words.size(), filtered.data(), tile.data(),
                                   size) == expected);
            CHECK((sluiceApplyFilter(words.data(), 4 * words.size(), filtered.data(), tile.data(),
                                     size) == SLUICE_OK) == (size == kMost - 4));
        }
    }
}

TEST_CASE("filter steps: sums down columns")
{
    for (const Shape& shape : kUpShapes) {
        CAPTURE(shape.records);
        CAPTURE(shape.width);
        SectionWords section =
            sized(shape.records, shape.width, shape.columns, shape.log2Bytes, FilterPredictor::up);
        section.first = shape.first;
        CHECK((check({section}) == SLUICE_OK) == shape.isGood);
    }
    // Steps of UP add up with those of wavefront predictors.
    SectionWords both = rowsOf(
        2, {columnRun(8, 0, 0, FilterPredictor::up), columnRun(8, 0, 0, FilterPredictor::median)});
    both.size = 16 * (kMost / 4 - 2);
    CHECK(check({both}) == SLUICE_OK);
    both.size += 16;
    CHECK(check({both}) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("filter steps: columns of all sections")
{
    CHECK(check(asManyColumns(0)) == SLUICE_OK);
    CHECK(check(asManyColumns(1)) == SLUICE_ERROR_FORMAT);
    // A section counts as some columns, even if it has none.
    std::vector<SectionWords> sections = asManyColumns(0);
    sections.push_back(records({}, 0));
    CHECK(check(sections) == SLUICE_ERROR_FORMAT);
    sections.erase(sections.begin());
    CHECK(check(sections) == SLUICE_OK);
}

TEST_CASE("filter steps: plans stay within them")
{
    // Images that are wider or higher than the limit allows in one tile, in tiles of 1 MiB, with
    // every filter forced.
    std::mt19937 random = makeRandom(319);
    const Bytes bytes = smoothBytes(random, 3u << 19);
    for (const uint32_t width : {1u, 4u, 9u, 256u, 4096u, 16384u, 17408u, 100000u, 1u << 20}) {
        for (const uint32_t stride : {1u, 4u, 12u, 128u}) {
            CAPTURE(width);
            CAPTURE(stride);
            SluiceFilterPlanInfo info = {};
            info.layout = SLUICE_FILTER_LAYOUT_RECORDS;
            info.maxTileSize = 1u << 20;
            info.features = SLUICE_FILTER_UP | SLUICE_FILTER_GRADIENT | SLUICE_FILTER_MEDIAN;
            info.force = 1;
            info.stride = stride;
            info.columnSize = stride == 12 ? 4 : 1;
            info.rowRecords = width;
            SluiceFilterPlan plan = nullptr;
            REQUIRE(sluiceCreateFilterPlan(bytes.data(), bytes.size(), &info, &plan) == SLUICE_OK);
            uint32_t count = 0;
            const SluiceFilterSegment* segments = sluiceGetFilterSegments(plan, &count);
            uint64_t at = 0;
            bool looksUp = false;
            for (uint32_t s = 0; s < count; ++s) {
                const SluiceFilterSegment& segment = segments[s];
                for (uint64_t end = at + segment.size; at < end;) {
                    const uint32_t size = uint32_t(std::min<uint64_t>(segment.tileSize, end - at));
                    Bytes filtered(size), tile(size);
                    if (segment.description != nullptr) {
                        REQUIRE(sluiceApplyFilter(segment.description, segment.descriptionSize,
                                                  bytes.data() + at, filtered.data(),
                                                  size) == SLUICE_OK);
                        REQUIRE(sluiceUndoFilter(segment.description, segment.descriptionSize,
                                                 filtered.data(), tile.data(), size) == SLUICE_OK);
                        REQUIRE(std::equal(tile.begin(), tile.end(),
                                           bytes.begin() + std::ptrdiff_t(at)));
                        sluice::FilterReader reader(segment.description, segment.descriptionSize);
                        for (sluice::FilterSection section; reader.next(section);)
                            looksUp = looksUp || section.width != 0;
                    }
                    at += size;
                }
            }
            CHECK(at == bytes.size());
            // Images whose rows have at least 1/1024 of a tile can use predictors that read the row
            // above. (Above 8,192 pixels only UP.)
            if (width <= 16384 && width * stride >= 1024 && stride <= 8) CHECK(looksUp);
            sluiceDestroyFilterPlan(plan);
        }
    }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("filter steps: tiles at the limit, and past it")
{
    std::mt19937 random = makeRandom(318);
    FilterBatch batch;
    std::vector<bool> good;
    const auto add = [&](const std::vector<SectionWords>& sections, uint32_t size, bool isGood) {
        batch.add(describe(sections), randomBytes(random, size));
        good.push_back(isGood);
    };
    uint32_t turn = 0;
    const std::vector<FilterPredictor> predictors = wavePredictors();
    for (const Shape& shape : kWaveShapes) {
        for (uint32_t k = 0; k < (shape.isGood ? 1u : predictors.size()); ++k) {
            const FilterPredictor predictor = predictors[turn++ % predictors.size()];
            SectionWords section =
                sized(shape.records, shape.width, shape.columns, shape.log2Bytes, predictor);
            section.first = shape.first;
            const uint32_t size = section.size;
            add({section}, size + turn % 4, shape.isGood);
            // Adds the same records as the rest of a tile, after bytes that are not filtered.
            if (shape.isGood && turn % 3 != 0) continue;
            section.size = sluice::kFilterRest;
            add({records({}, 8), section}, 8 + size, shape.isGood);
        }
    }
    for (const Shape& shape : kUpShapes) {
        SectionWords section =
            sized(shape.records, shape.width, shape.columns, shape.log2Bytes, FilterPredictor::up);
        section.first = shape.first;
        if (section.size <= 1u << 18) add({section}, section.size, shape.isGood);
    }
    const SectionWords half = sized(kMost / 2 - 4, 1u << 20, 1, 0, FilterPredictor::median);
    add({half, half}, kMost - 8, true);
    add({half, half, sized(2, 2, 1, 1, FilterPredictor::up)}, kMost - 4, false);
    const std::vector<SectionWords> columns = asManyColumns(0);
    add(columns, sizeOf(columns), true);
    const std::vector<SectionWords> tooMany = asManyColumns(1);
    add(tooMany, sizeOf(tooMany), false);
    Device reference("cpu", "ref", 0);
    const FilterOutcome expected = undoFilters(reference, batch),
                        found = undoFilters(device(), batch);
    for (size_t i = 0; i < batch.tiles.size(); ++i) {
        CAPTURE(i);
        CHECK(expected.status[i] == (good[i] ? SLUICE_TILE_OK : SLUICE_TILE_BAD_FILTER));
        CHECK(found.status[i] == expected.status[i]);
        if (!good[i]) continue;
        const auto at = std::ptrdiff_t(batch.tiles[i].region.dstAddress);
        CHECK(std::equal(expected.output.begin() + at,
                         expected.output.begin() + at + batch.tiles[i].region.size,
                         found.output.begin() + at));
    }
}

TEST_SUITE_END();
