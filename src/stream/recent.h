// SPDX-License-Identifier: MIT OR Apache-2.0
// The last measurements of something, and their median. A few of them that are far off do not
// change the median, and it follows a lasting change once more than half of them are new.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::stream {

template <uint32_t kCount>
class Recent {
public:
    void add(double value) { m_values[m_added++ % kCount] = value; }
    // Returns `otherwise` if there are no measurements yet.
    double median(double otherwise) const
    {
        const uint32_t count = std::min(m_added, kCount);
        if (count == 0) return otherwise;
        double values[kCount];
        std::copy(m_values, m_values + count, values);
        std::nth_element(values, values + count / 2, values + count);
        return values[count / 2];
    }

private:
    double m_values[kCount] = {}; // a ring
    uint32_t m_added = 0;
};

} // namespace sluice::stream
