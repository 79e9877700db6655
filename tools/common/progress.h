// SPDX-License-Identifier: MIT OR Apache-2.0
// Shows a progress line on stderr if that is a terminal.
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
    // Replaces the line. The text must be ASCII, and is cut to the terminal's width.
    void show(std::string text);
    void clear(); // erases the line to make room for other text

private:
    bool m_enabled, m_shown = false;
};

// Returns the line of progress after `seconds`; `done` and `total` are in bytes, and total is 0 if
// it is unknown. The remaining time is left out until it can be estimated.
std::string progressText(const std::string& verb, uint64_t done, uint64_t total, double seconds);

class Progress {
public:
    // `verb` is for example "packing"; `total` is in bytes, or 0 if unknown.
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
