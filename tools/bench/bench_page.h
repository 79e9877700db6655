// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of `bench` as JSON and as a page (--html), which is one file that needs no network.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// The parts of the JSON file `{` head `"rows": [` rows `]}`, where rows are separated by commas.
// `head` holds the members before "rows", each followed by a comma. Each row is a JSON object.
struct BenchFigures {
    std::string head;
    std::vector<std::string> rows;
};

std::string benchJson(const BenchFigures& figures);
// Returns a page of at most 5 MB. If not all rows fit, the page omits the last rows and says how
// many they are.
std::string benchPage(const BenchFigures& figures);

} // namespace sluice
