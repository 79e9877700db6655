// SPDX-License-Identifier: MIT OR Apache-2.0
// A progress line on stderr, where that is a terminal; nothing otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sluice {

class Progress {
public:
    // verb: "packing"; total in bytes, 0 if unknown
    Progress(std::string verb, uint64_t total, bool quiet);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void advance(uint64_t bytes);
    void clear(); // wipes the line, for other text

private:
    using Clock = std::chrono::steady_clock;

    void print(Clock::time_point now);

    std::string m_verb;
    uint64_t m_total;
    uint64_t m_done = 0;
    bool m_enabled;
    bool m_shown = false;
    Clock::time_point m_start, m_last;
};

} // namespace sluice
