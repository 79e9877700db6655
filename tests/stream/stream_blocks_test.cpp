// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the blocks of rings: sizes, places, and that all of a ring can be had again.
#include "stream/blocks.h"

#include "tests/support/devices.h"

#include <map>

using sluice::stream::Blocks;
using namespace sluice::test;

namespace {

constexpr uint64_t kLeast = 65536, kUnit = 4 << 20;

} // namespace

TEST_CASE("stream blocks: the largest block is the largest power of two in the ring")
{
    for (uint64_t units = 1; units <= 20; ++units) {
        CAPTURE(units);
        Blocks blocks(units * kUnit + kUnit - 1, kLeast, kUnit);
        CHECK(blocks.capacity() == units * kUnit);
        uint64_t largest = kUnit;
        while (2 * largest <= units * kUnit)
            largest *= 2;
        CHECK(blocks.largest() == largest);
        CHECK(blocks.take(largest + 1) == Blocks::kNone);
        CHECK(blocks.take(largest) % largest == 0);
        CHECK(blocks.used() == largest);
    }
    Blocks none(kUnit - 1, kLeast, kUnit);
    CHECK(none.capacity() == 0);
    CHECK(none.take(1) == Blocks::kNone);
}

TEST_CASE("stream blocks: taken and given in any order, they never overlap and merge again")
{
    std::mt19937 random = makeRandom(51);
    for (uint64_t units = 1; units <= 9; ++units) {
        CAPTURE(units);
        Blocks blocks(units * kUnit, kLeast, kUnit);
        std::map<uint64_t, uint64_t> taken; // sizes by offset
        size_t overlaps = 0, misplaced = 0;
        for (int step = 0; step < 4000; ++step) {
            if (random() % 2 == 0 && !taken.empty()) {
                auto any = taken.begin();
                std::advance(any, random() % taken.size());
                blocks.give(any->first);
                taken.erase(any);
                continue;
            }
            const uint64_t size = 1 + random() % (kLeast << random() % 8);
            const uint64_t at = blocks.take(size), whole = blocks.blockSize(size);
            if (at == Blocks::kNone) continue;
            misplaced += at % whole != 0 || at + whole > blocks.capacity() ? 1 : 0;
            const auto next = taken.lower_bound(at);
            overlaps += next != taken.end() && next->first < at + whole ? 1 : 0;
            overlaps +=
                next != taken.begin() && std::prev(next)->first + std::prev(next)->second > at ? 1
                                                                                               : 0;
            taken[at] = whole;
        }
        CHECK(overlaps == 0);
        CHECK(misplaced == 0);
        for (const auto& one : taken)
            blocks.give(one.first);
        CHECK(blocks.used() == 0);
        // All of the ring is in blocks of a unit.
        for (uint64_t i = 0; i < units; ++i)
            CHECK(blocks.take(kUnit) != Blocks::kNone);
        CHECK(blocks.take(1) == Blocks::kNone);
    }
}
