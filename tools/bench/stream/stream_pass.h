// SPDX-License-Identifier: MIT OR Apache-2.0
// Passes over files, measured in wall-clock time and in the CPU time of all threads of the process.
#pragma once

#include <functional>
#include <string>

#include "tools/bench/report.h"

namespace sluice {

struct StreamPass {
    double seconds = 0;    // wall-clock time
    double cpuSeconds = 0; // of all threads, user and kernel
    uint64_t bytes = 0;    // of output; if only reads are measured, read
};

// Measures the time from its construction to finish.
class PassClock {
public:
    PassClock();
    StreamPass finish(uint64_t bytes) const;

private:
    double m_start, m_cpuStart;
};

double secondsNow(); // a monotonic clock

// Runs one pass that does not count, then eleven passes, or fewer once they take kPassSeconds, but
// at least one. The row is the median pass; it also says how many CPU seconds a GB took.
constexpr double kPassSeconds = 3;
BenchRow timePasses(const std::string& kernel, const std::string& size, const std::string& who,
                    const std::function<StreamPass()>& pass);
// Returns the rate of a row in bytes per second.
inline double rateOf(const BenchRow& row)
{
    return row.timing.median > 0 ? double(row.bytes) / (row.timing.median * 1e-3) : 0;
}

} // namespace sluice
