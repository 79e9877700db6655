// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench_page.h"

#include "bench_page_text.h"

namespace sluice {
namespace {

constexpr size_t kMostBytes = 4800000; // of rows; the rest of the page has some 15,000

// Text inside a script element of HTML must not end it. In JSON a "<" stands only in strings.
std::string scriptText(const std::string& json)
{
    std::string safe;
    for (const char c : json)
        safe += c == '<' ? "\\u003c" : std::string(1, c);
    return safe;
}

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
    return kBenchPageStart + ("{" + scriptText(figures.head)) +
           "\"left_out\": " + std::to_string(figures.rows.size() - shown) + ",\n\"rows\": [" +
           rows + "]}" + kBenchPageEnd;
}

} // namespace sluice
