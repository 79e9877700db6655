// SPDX-License-Identifier: MIT OR Apache-2.0
// What fuzz targets share: an assertion, and a limit on the time that an input takes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace sluice::fuzz {

inline void require(bool condition)
{
    if (!condition) std::abort();
}

// Ends the program if the time between its construction and destruction exceeds what the number of
// bytes explains. SECURITY.md promises 20 s of processor time for 10 MB; two seconds more are for
// sanitizers and for work that every input has.
class CostLimit {
public:
    explicit CostLimit(uint64_t bytes) { moreBytes(bytes); }
    ~CostLimit() { require(std::clock() - m_start <= std::clock_t(m_seconds * CLOCKS_PER_SEC)); }
    CostLimit(const CostLimit&) = delete;
    CostLimit& operator=(const CostLimit&) = delete;
    // Allows more time, since output that was asked for also takes time.
    void moreBytes(uint64_t bytes) { m_seconds += 2e-6 * double(bytes); }

private:
    std::clock_t m_start = std::clock();
    double m_seconds = 2;
};

} // namespace sluice::fuzz
