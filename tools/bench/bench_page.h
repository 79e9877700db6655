// SPDX-License-Identifier: MIT OR Apache-2.0
// The page of bench --html: one file that needs no network.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// The figures as JSON. `head` is the members of an object except "rows", with a comma after each;
// `rows` are objects.
struct BenchFigures {
    std::string head;
    std::vector<std::string> rows;
};

std::string benchJson(const BenchFigures& figures);
// Returns a page of at most 5 MB. It leaves out rows that do not fit, and says how many.
std::string benchPage(const BenchFigures& figures);

} // namespace sluice
