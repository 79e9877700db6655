// SPDX-License-Identifier: MIT OR Apache-2.0
// Times a pass over files: wall-clock time, and the CPU time of all threads of the process.
#pragma once

#include <functional>
#include <string>

#include "tools/bench/report.h"

namespace sluice {

struct StreamPass {
    double seconds = 0;    // wall-clock time
    double cpuSeconds = 0; // of all threads, in user mode and in the kernel
    uint64_t bytes = 0;    // output or, if files are only read, bytes read
};

// Measures wall-clock time and CPU time from its construction to finish().
class PassClock {
public:
    PassClock();
    StreamPass finish(uint64_t bytes) const;

private:
    double m_start, m_cpuStart;
};

double secondsNow(); // seconds of a monotonic clock

// Runs one pass to warm up, then eleven passes, or fewer (at least one) if kPassSeconds are over.
// Returns the median pass as a row, with the CPU seconds for each GB.
constexpr double kPassSeconds = 3;
BenchRow timePasses(const std::string& kernel, const std::string& size, const std::string& who,
                    const std::function<StreamPass()>& pass);
// Returns the rate of a row in bytes a second.
inline double rateOf(const BenchRow& row)
{
    return row.timing.median > 0 ? double(row.bytes) / (row.timing.median * 1e-3) : 0;
}

} // namespace sluice
