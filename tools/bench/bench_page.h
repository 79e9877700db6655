// SPDX-License-Identifier: MIT OR Apache-2.0
// The page of bench --html: one file that needs no network.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// The figures as JSON: `head` are the members of an object but "rows", each with a comma behind it;
// rows are objects.
struct BenchFigures {
    std::string head;
    std::vector<std::string> rows;
};

std::string benchJson(const BenchFigures& figures);
// A page of at most 5 MB: rows that are too many are counted in it, and left out.
std::string benchPage(const BenchFigures& figures);

} // namespace sluice
