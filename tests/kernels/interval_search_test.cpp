// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_interval.h>

#include "tests/support/intervals.h"

using namespace sluice::test;

namespace {

struct SearchResult {
    Words sources, ranks, result;
};

SearchResult search(const Words& counts, bool asOffsets, size_t sourceRoom, size_t rankRoom)
{
    IntervalList list(counts, asOffsets, false);
    Buffer sources(device(), sourceRoom * 4), ranks(device(), rankRoom * 4), result(device(), 8);
    Buffer scratch = list.scratch();
    SluiceIntervalSearchInfo info = {};
    info.intervals = list.intervals;
    info.sources = sources.range();
    info.ranks = ranks.range();
    info.result = result.range();
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalSearch(device().context(), commands, &info) == SLUICE_OK);
    });
    return {sources.words(), ranks.words(), result.words()};
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("interval_search: the demonstration")
{
    const Words expected = {0,  0,  1,  1,  1,  1,  1,  2,  2,  2,  2,  2,  2,  2,  3,  3,  3,
                            3,  3,  3,  3,  3,  3,  3,  3,  3,  3,  3,  3,  3,  5,  8,  8,  8,
                            8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  9,  9,  9,  9,  9,  9,
                            9,  9,  9,  9,  10, 10, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
                            11, 11, 11, 11, 12, 12, 13, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
                            14, 15, 15, 16, 18, 18, 18, 18, 18, 19, 19, 19, 19, 19, 19};
    CHECK((search(demo::kExpandCounts, false, 100, 100).sources == expected));
    // The scans that the demos print are the offsets of their intervals.
    CHECK((offsetsOf(demo::kExpandCounts) == Words{0,  2,  7,  14, 30, 30, 31, 31, 31, 45, 55,
                                                   58, 72, 74, 75, 86, 88, 89, 89, 94, 100}));
    CHECK((offsetsOf(demo::kMoveCounts) == Words{0,  3,  12, 13, 22, 30, 35, 45, 47, 52, 54,
                                                 62, 68, 73, 75, 79, 79, 87, 89, 94, 100}));
    CHECK((search(demo::kExpandCounts, true, 100, 100).sources == expected));
}

TEST_CASE("interval_search: every distribution; sources, ranks, or both; truncated")
{
    std::mt19937 random = makeRandom(61);
    for (const Words& counts : distributions(20000, random)) {
        Words sources, ranks;
        for (uint32_t i = 0; i < counts.size(); ++i) {
            for (uint32_t k = 0; k < counts[i]; ++k) {
                sources.push_back(i);
                ranks.push_back(k);
            }
        }
        const uint32_t total = uint32_t(sources.size());
        const SearchResult both = search(counts, random() % 2 != 0, total + 1, total + 3);
        Words padded = sources;
        padded.push_back(kPoisonWord);
        CHECK((both.sources == padded));
        padded = ranks;
        padded.resize(total + 3, kPoisonWord);
        CHECK((both.ranks == padded));
        CHECK((both.result == Words{total, 0}));
        if (total == 0) continue;

        const uint32_t room = 1 + total / 2;
        sources.resize(room);
        ranks.resize(room);
        const uint32_t flags = room < total ? uint32_t(SLUICE_INTERVAL_TRUNCATED) : 0u;
        const SearchResult one = search(counts, false, room, 0),
                           other = search(counts, true, 0, room);
        CHECK((one.sources == sources));
        CHECK((one.result == Words{total, flags}));
        CHECK((other.ranks == ranks));
        CHECK((other.result == Words{total, flags}));
    }
}

TEST_SUITE_END();
