// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/glob.h"

#include <cstddef>
#include <vector>

namespace sluice {
namespace {

constexpr auto kNone = std::string_view::npos;

} // namespace

bool matchesGlob(std::string_view pattern, std::string_view name)
{
    // states[p]: the pattern's first p bytes match what has been read of the name
    std::vector<char> states(pattern.size() + 1, 0), next;
    const auto isStar = [&](size_t p) { return p < pattern.size() && pattern[p] == '*'; };
    const auto skipStars = [&](std::vector<char>& reached) { // a star may match nothing
        for (size_t p = 0; p < pattern.size(); ++p)
            if (reached[p] != 0 && isStar(p)) reached[p + 1] = 1;
    };
    states[0] = 1;
    skipStars(states);
    for (const char byte : name) {
        next.assign(pattern.size() + 1, 0);
        bool any = false;
        for (size_t p = 0; p < pattern.size(); ++p) {
            if (states[p] == 0) continue;
            const bool deep = isStar(p) && (isStar(p + 1) || (p != 0 && isStar(p - 1)));
            if (isStar(p)) {
                if (byte != '/' || deep) next[p] = 1;
            } else if (pattern[p] == byte || (pattern[p] == '?' && byte != '/')) {
                next[p + 1] = 1;
            }
            any = any || next[p] != 0 || next[p + 1] != 0;
        }
        if (!any) return false;
        skipStars(next);
        states.swap(next);
    }
    return states[pattern.size()] != 0;
}

bool matchesPath(std::string_view pattern, std::string_view name)
{
    if (pattern.find('/') == kNone) {
        const size_t slash = name.rfind('/');
        if (slash != kNone) name.remove_prefix(slash + 1);
    }
    return matchesGlob(pattern, name);
}

} // namespace sluice
