// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the queues of groups with a sorted set.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "stream/queue.h"

namespace {

using sluice::stream::kNotQueued;

struct Group {
    int32_t priority = 0;
    uint64_t sequence = 0;
    uint32_t place[2] = {kNotQueued, kNotQueued};
};

// The smallest one leaves the queue first.
using Order = std::tuple<int32_t, uint64_t, uint32_t>;
Order orderOf(const Group& group, uint32_t number)
{
    return {-group.priority, group.sequence, number};
}

} // namespace

TEST_CASE("stream queue: groups leave by priority, then in the order in which they came")
{
    constexpr uint32_t kGroups = 100, kSteps = 20000;
    std::vector<Group> groups(kGroups);
    // With 16 priorities many groups are in the heap; with one priority none is.
    for (const uint32_t priorities : {1u, 2u, 16u}) {
        CAPTURE(priorities);
        std::mt19937 random(priorities);
        const auto below = [&](uint32_t end) { return uint32_t(random() % end); };
        sluice::stream::PriorityQueue<Group, 1> queue;
        queue.reserve(kGroups);
        std::set<Order> model;
        uint64_t sequence = 0;
        uint32_t most = 0;
        const auto isIn = [&](uint32_t number) {
            return model.count(orderOf(groups[number], number)) != 0;
        };
        const auto leave = [&](uint32_t number) {
            model.erase(orderOf(groups[number], number));
            queue.remove(&groups[number]);
        };
        for (uint32_t step = 0; step < kSteps; ++step) {
            const uint32_t number = below(kGroups), what = below(8);
            Group& group = groups[number];
            if (what < 4 && !isIn(number)) {
                group.priority = int32_t(below(priorities));
                // Some groups come back with the number in the order that they had before.
                if (what != 0 || group.sequence == 0) group.sequence = ++sequence;
                model.insert(orderOf(group, number));
                queue.insert(&group);
                queue.insert(&group);
            } else if (what == 4) {
                leave(number); // even if it is not there
            } else if (what == 5 && isIn(number)) {
                model.erase(orderOf(group, number));
                group.priority = int32_t(below(priorities));
                model.insert(orderOf(group, number));
                queue.update(&group);
            } else if (what > 5 && !model.empty()) {
                leave(std::get<2>(*model.begin()));
            }
            most = std::max(most, uint32_t(model.size()));
            REQUIRE(queue.empty() == model.empty());
            REQUIRE(queue.top() ==
                    (model.empty() ? nullptr : &groups[std::get<2>(*model.begin())]));
        }
        CHECK(most > kGroups / 2);
        while (!model.empty()) {
            REQUIRE(queue.top() == &groups[std::get<2>(*model.begin())]);
            leave(std::get<2>(*model.begin()));
        }
        CHECK(queue.empty());
    }
}
