// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects what is wrong with many files, so that a run tells all of it at once.
#pragma once

#include <string>

#include "tools/common/tool.h"

namespace sluice {

class Problems {
public:
    // Both texts may be anything; the message is safe to show.
    void add(const std::string& path, const std::string& why)
    {
        if (m_count++ < kMostLines) m_lines += "\n  " + printable(path) + ": " + printable(why);
    }
    // Throws a Failure if there is any problem. The message begins with `one`, or with how many
    // there are and `many`.
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
