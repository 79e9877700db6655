// SPDX-License-Identifier: MIT OR Apache-2.0
// The last line that a verb prints, on a terminal or with -v: "26 files, 28.4 MB, 5.19 MB, 18.3 %,
// 7.0 s".
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tools/common/tool.h"

namespace sluice {

// Returns stored / plain in percent, which the tool calls the ratio everywhere; "-" if plain is 0.
std::string ratioText(uint64_t stored, uint64_t plain);

class Summary {
public:
    explicit Summary(const CommonOptions& common) : m_common(common) {}
    // Prints the line to stderr. `plain` is the size of the files in bytes, `stored` that of the
    // packed result.
    void print(uint64_t files, uint64_t plain, uint64_t stored) const;

private:
    using Clock = std::chrono::steady_clock;

    const CommonOptions& m_common;
    Clock::time_point m_start = Clock::now();
};

} // namespace sluice
