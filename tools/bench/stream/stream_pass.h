// SPDX-License-Identifier: MIT OR Apache-2.0
// Passes over files, by the clock and by the seconds that all threads of the process spend.
#pragma once

#include <functional>
#include <string>

#include "tools/bench/report.h"

namespace sluice {

struct StreamPass {
    double seconds = 0;    // of the clock
    double cpuSeconds = 0; // of all threads, in the program and in the kernel
    uint64_t bytes = 0;    // of output; of reads alone: read
};

// Measures what runs between its construction and finish.
class PassClock {
public:
    PassClock();
    StreamPass finish(uint64_t bytes) const;

private:
    double m_start, m_cpuStart;
};

double secondsNow(); // of a clock that never goes back

// Runs passes, eleven of them or as many as take kPassSeconds, one at least, after one that does
// not count. The row is that of the median, and says how many processor seconds a GB took.
constexpr double kPassSeconds = 3;
BenchRow timePasses(const std::string& kernel, const std::string& size, const std::string& who,
                    const std::function<StreamPass()>& pass);
// The rate of a row in bytes a second.
inline double rateOf(const BenchRow& row)
{
    return row.timing.median > 0 ? double(row.bytes) / (row.timing.median * 1e-3) : 0;
}

} // namespace sluice
