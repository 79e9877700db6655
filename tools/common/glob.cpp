// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/glob.h"

#include <cstddef>
#include <vector>

namespace sluice {
namespace {

constexpr auto kNone = std::string_view::npos;

// Returns true if the pattern matches the whole name. If `folders` is set, returns true if the
// pattern matches the part of the name before any of its '/', which is the path of a folder.
bool matches(std::string_view pattern, std::string_view name, bool folders)
{
    // states[p] is 1 if the first p bytes of the pattern match all bytes of the name that have been
    // read.
    std::vector<char> states(pattern.size() + 1, 0), next;
    const auto isStar = [&](size_t p) { return p < pattern.size() && pattern[p] == '*'; };
    const auto skipStars = [&](std::vector<char>& reached) { // a star may match nothing
        for (size_t p = 0; p < pattern.size(); ++p)
            if (reached[p] != 0 && isStar(p)) reached[p + 1] = 1;
    };
    states[0] = 1;
    skipStars(states);
    for (const char byte : name) {
        if (folders && byte == '/' && states[pattern.size()] != 0) return true;
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
    return !folders && states[pattern.size()] != 0;
}

} // namespace

bool matchesGlob(std::string_view pattern, std::string_view name)
{
    return matches(pattern, name, false);
}

bool matchesPath(std::string_view pattern, std::string_view name)
{
    bool folders = false;
    for (; pattern.substr(0, 2) == "./"; pattern.remove_prefix(2)) {
    }
    for (; pattern.size() > 1 && pattern.back() == '/'; pattern.remove_suffix(1))
        folders = true;
    if (pattern.find('/') != kNone) return matches(pattern, name, folders);
    size_t begin = 0;
    for (size_t slash; (slash = name.find('/', begin)) != kNone; begin = slash + 1)
        if (folders && matchesGlob(pattern, name.substr(begin, slash - begin))) return true;
    return !folders && matchesGlob(pattern, name.substr(begin));
}

} // namespace sluice
