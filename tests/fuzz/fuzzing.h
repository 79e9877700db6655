// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzz targets share an assertion and a limit on what an input costs.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace sluice::fuzz {

inline void require(bool condition)
{
    if (!condition) std::abort();
}

// Ends the program if what is done while it lives takes more processor time than its bytes explain.
// SECURITY.md promises 20 s for 10 MB; two seconds more are for sanitizers and for what is the same
// for every input.
class CostLimit {
public:
    explicit CostLimit(uint64_t bytes) { moreBytes(bytes); }
    ~CostLimit() { require(std::clock() - m_start <= std::clock_t(m_seconds * CLOCKS_PER_SEC)); }
    CostLimit(const CostLimit&) = delete;
    CostLimit& operator=(const CostLimit&) = delete;
    // Output that was asked for may be paid for too.
    void moreBytes(uint64_t bytes) { m_seconds += 2e-6 * double(bytes); }

private:
    std::clock_t m_start = std::clock();
    double m_seconds = 2;
};

} // namespace sluice::fuzz
