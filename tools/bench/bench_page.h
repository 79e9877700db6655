// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of `bench` as JSON and as a page (--html), which is one file that needs no network.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// The file is `{`, then `head`, then `"rows": [`, the rows with commas between, `]}`. So `head` is
// the other members with a comma after each, and each row is an object.
struct BenchFigures {
    std::string head;
    std::vector<std::string> rows;
};

std::string benchJson(const BenchFigures& figures);
// Returns a page of at most 5 MB. If not all rows fit, it leaves out the last ones and says how
// many.
std::string benchPage(const BenchFigures& figures);

} // namespace sluice
