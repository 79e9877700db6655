// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests filters on a driver that leaves loops early, as lavapipe does (docs/portability.md).
#include "tests/support/filters.h"
#include "tests/support/short_runs.h"

#include <algorithm>
#include <string>

using namespace sluice::test;
using sluice::FilterPredictor;

namespace {

// Compares the outcome with that of the CPU, but a tile may be INTERNAL if a driver left a loop
// early. A tile must never be OK with wrong bytes, and the summary must count all failures. Returns
// the number of INTERNAL tiles.
uint32_t compareUnlessInternal(const FilterBatch& batch, const FilterOutcome& expected,
                               const FilterOutcome& found)
{
    uint32_t internals = 0, failed = 0, first = ~0u;
    for (uint32_t i = 0; i < batch.statusCount; ++i) {
        CAPTURE(i);
        const bool isInternal = found.status[i] == SLUICE_TILE_INTERNAL;
        internals += isInternal ? 1 : 0;
        if (!isInternal) REQUIRE(found.status[i] == expected.status[i]);
        if (found.status[i] == SLUICE_TILE_PENDING) continue; // as it was
        if (found.status[i] != SLUICE_TILE_OK) {
            ++failed;
            first = std::min(first, i);
            continue;
        }
        const auto at = std::ptrdiff_t(batch.tiles[i].region.dstAddress);
        REQUIRE(std::equal(expected.output.begin() + at,
                           expected.output.begin() + at + batch.tiles[i].region.size,
                           found.output.begin() + at));
    }
    CHECK(found.status[batch.statusCount] == failed);
    CHECK(found.status[batch.statusCount + 1] == first);
    // Only Vulkan drivers leave loops early.
    if (device().backend() != SLUICE_BACKEND_VULKAN) CHECK(internals == 0);
    return internals;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("filter: tiles whose loops a driver leaves early")
{
    std::mt19937 random = makeRandom(314);
    FilterBatch batch;
    // Adds a tile with as many short columns as it may have. Each takes a few iterations of loops.
    const auto add = [&](uint32_t log2Bytes, FilterPredictor predictor) {
        const uint32_t columns = 128u >> log2Bytes;
        const std::vector<SectionWords> sections(
            SLUICE_FILTER_MAX_COLUMNS / (columns + SLUICE_FILTER_SECTION_COLUMNS),
            records({columnRun(columns, log2Bytes, sluice::filterZigzag, predictor)}, 2 * 128));
        batch.add(describe(sections), randomBytes(random, 256 * sluice::kFilterMaxSections));
    };
    add(2, FilterPredictor::left);
    add(2, FilterPredictor::left3);
    batch.add(describe({rowsOf(10, {columnRun(1, 0, 0, FilterPredictor::median)})}),
              randomBytes(random, 1000));
    Device reference("cpu", "ref", 0);
    const FilterOutcome expected = undoFilters(reference, batch),
                        found = undoFilters(device(), batch);
    compareUnlessInternal(batch, expected, found);
    CHECK(found.status[batch.tiles.size() - 1] == SLUICE_TILE_OK);
}

TEST_CASE("filter: workgroups whose loops end before their last tile")
{
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    // These tiles have as many columns as is allowed, and hardly any bytes. A dozen of them need
    // more loop iterations than lavapipe makes in a dispatch, and a workgroup has 21, so the list
    // must be recorded in several dispatches. A few workgroups are enough to show that; the tiles
    // of all others are left alone.
    std::mt19937 random = makeRandom(315);
    std::vector<SectionWords> sections = asManyColumns(0, FilterPredictor::left, 0);
    sections.back() = records({columnRun(1, 0, 0, FilterPredictor::left)});
    const Words good = describe(sections);
    sections.back() = records({columnRun(1, 3, 0, FilterPredictor::left)});
    const Words bad = describe(sections);
    FilterBatch batch;
    for (uint32_t i = 0; i < 21 * SLUICE_FILTER_WORKGROUPS + 100; ++i) {
        batch.add(i % 7 == 3 ? bad : good, randomBytes(random, 12));
        batch.before.push_back(i % SLUICE_FILTER_WORKGROUPS < 14 ? SLUICE_TILE_OK
                                                                 : SLUICE_TILE_PENDING);
    }
    Device reference("cpu", "ref", 0);
    const FilterOutcome expected = undoFilters(reference, batch),
                        found = undoFilters(device(), batch);
    compareUnlessInternal(batch, expected, found);
    // The first tile of a workgroup is decoded in any case.
    CHECK(found.status[0] == SLUICE_TILE_OK);
    CHECK(found.status[3] == SLUICE_TILE_BAD_FILTER);
}

TEST_CASE("filter: descriptions with as many columns as there may be")
{
    // Few enough loop iterations for lavapipe, so nothing may be INTERNAL.
    std::mt19937 random = makeRandom(316);
    std::vector<SectionWords> sections = asManyColumns(0);
    FilterBatch batch;
    const Bytes tile = randomBytes(random, sizeOf(sections));
    batch.add(describe(sections), tile);
    sections.back() = records({columnRun(1, 3, 0, FilterPredictor::none)});
    batch.add(describe(sections), tile);
    Device reference("cpu", "ref", 0);
    const FilterOutcome expected = undoFilters(reference, batch);
    const FilterOutcome found = undoFilters(device(), batch);
    CHECK(compareUnlessInternal(batch, expected, found) == 0);
    CHECK(found.status[0] == SLUICE_TILE_OK);
    CHECK(found.status[1] == SLUICE_TILE_BAD_FILTER);
}

TEST_CASE("filter: more tiles than a dispatch takes")
{
    // 512 workgroups of at most 128 tiles each.
    if (device().backend() == SLUICE_BACKEND_VULKAN && std::string(device().info().tier) != "ext")
        return skipCase("tier ext has the same list, which takes long");
    if (skipsOtherSizes()) return;
    std::mt19937 random = makeRandom(317);
    const Words description = describe({records({columnRun(1, 0, 0, FilterPredictor::left)})});
    FilterBatch batch;
    for (uint32_t i = 0; i < 512 * 128 + 700; ++i)
        batch.add(description, randomBytes(random, 4 + i % 4));
    batch.before.assign(batch.tiles.size(), SLUICE_TILE_PENDING); // most of them are left alone
    for (size_t i = 0; i < batch.before.size(); i += 99)
        batch.before[i] = SLUICE_TILE_OK;
    Device reference("cpu", "ref", 0);
    const FilterOutcome expected = undoFilters(reference, batch);
    const FilterOutcome found = undoFilters(device(), batch);
    CHECK(compareUnlessInternal(batch, expected, found) == 0);
}

TEST_SUITE_END();
