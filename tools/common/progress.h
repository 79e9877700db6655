// SPDX-License-Identifier: MIT OR Apache-2.0
// A progress line on stderr if that is a terminal; nothing otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sluice {

class StatusLine {
public:
    explicit StatusLine(bool quiet);
    ~StatusLine() { clear(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    bool isShown() const { return m_enabled; }
    // Replaces the line shown before. The text is cut to the terminal's width and must be ASCII.
    void show(std::string text);
    void clear(); // erases the line to make room for other text

private:
    bool m_enabled, m_shown = false;
};

class Progress {
public:
    // verb: "packing"; total in bytes, 0 if unknown
    Progress(std::string verb, uint64_t total, bool quiet);

    void advance(uint64_t bytes);
    void clear() { m_line.clear(); }

private:
    using Clock = std::chrono::steady_clock;

    void print(Clock::time_point now);

    StatusLine m_line;
    std::string m_verb;
    uint64_t m_total;
    uint64_t m_done = 0;
    Clock::time_point m_start, m_last;
};

} // namespace sluice
