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

    std::string verb_;
    uint64_t total_;
    uint64_t done_ = 0;
    bool enabled_;
    bool shown_ = false;
    Clock::time_point start_, last_;
};

} // namespace sluice
