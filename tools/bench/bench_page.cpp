// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/bench_page.h"

#include "tools/common/html_page.h"

#include "texts/bench_page.h"

namespace sluice {
namespace {

constexpr size_t kMostBytes = 4800000; // for the rows; the page has about 25,000 bytes more

} // namespace

std::string benchJson(const BenchFigures& figures)
{
    std::string text = "{\n" + figures.head + "  \"rows\": [";
    for (size_t i = 0; i < figures.rows.size(); ++i)
        text += (i == 0 ? "\n    " : ",\n    ") + figures.rows[i];
    return text + "\n  ]\n}\n";
}

std::string benchPage(const BenchFigures& figures)
{
    std::string rows;
    size_t shown = 0;
    for (; shown < figures.rows.size(); ++shown) {
        const std::string row = scriptText(figures.rows[shown]);
        if (rows.size() + row.size() > kMostBytes) break;
        rows += (shown == 0 ? "\n" : ",\n") + row;
    }
    return htmlPage(kBenchPage, "{" + scriptText(figures.head) +
                                    "\"left_out\": " + std::to_string(figures.rows.size() - shown) +
                                    ",\n\"rows\": [" + rows + "]}");
}

} // namespace sluice
