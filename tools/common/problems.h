// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects the problems of many files, so that the user sees all of them at once.
#pragma once

#include <string>

#include "tools/common/tool.h"

namespace sluice {

class Problems {
public:
    // Both texts may contain anything, because the message passes through printable().
    void add(const std::string& path, const std::string& why)
    {
        if (m_count++ < kMostLines) m_lines += "\n  " + printable(path) + ": " + printable(why);
    }
    // Throws a Failure if there is any problem. The message begins with `one` for a single problem,
    // otherwise with their number and `many`.
    void check(int code, const std::string& one, const std::string& many) const
    {
        if (m_count == 0) return;
        std::string text = m_count == 1 ? one : std::to_string(m_count) + " " + many;
        text += ":" + m_lines;
        if (m_count > kMostLines)
            text += "\n  and " + std::to_string(m_count - kMostLines) + " more";
        throw Failure{code, text};
    }

private:
    static constexpr uint64_t kMostLines = 20;

    uint64_t m_count = 0;
    std::string m_lines;
};

} // namespace sluice
