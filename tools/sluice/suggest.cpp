// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/suggest.h"

#include <algorithm>
#include <numeric>

namespace sluice {
namespace {

// Returns how many letters of `a` must be changed, added, removed or swapped with the next letter
// to turn `a` into `b`.
size_t distance(const std::string& a, const std::string& b)
{
    std::vector<size_t> before, row(b.size() + 1), next(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t(0));
    for (size_t i = 0; i < a.size(); ++i) {
        next[0] = i + 1;
        for (size_t k = 0; k < b.size(); ++k) {
            next[k + 1] = std::min({row[k] + (a[i] == b[k] ? 0 : 1), row[k + 1] + 1, next[k] + 1});
            if (i != 0 && k != 0 && a[i] == b[k - 1] && a[i - 1] == b[k])
                next[k + 1] = std::min(next[k + 1], before[k - 1] + 1);
        }
        before = row;
        row.swap(next);
    }
    return row[b.size()];
}

} // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& names)
{
    constexpr size_t kLongest = 64; // longer words are not compared
    if (word.size() > kLongest) return "";
    size_t nearest = std::max<size_t>(word.size() / 3, 1) + 1;
    std::string found;
    for (const std::string& name : names) {
        const bool isStart = word.size() > 2 && name.compare(0, word.size(), word) == 0;
        const size_t away = isStart ? 1 : distance(word, name);
        if (away >= nearest) continue;
        nearest = away;
        found = name;
    }
    return found.empty() ? "" : " (did you mean '" + found + "'?)";
}

} // namespace sluice
