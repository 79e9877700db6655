// SPDX-License-Identifier: MIT OR Apache-2.0
// Members that a header calls ignored, or that it gives no meaning in the case at hand, may hold
// anything. A test fills them with each of these values and compares with what zero gave.
#pragma once

#include <sluice/sluice.h>

#include <doctest/doctest.h>

#include <cstdint>

namespace sluice::test {

constexpr uint64_t kIgnoredValues[] = {1, 6, 17, 64, uint64_t{1} << 31, ~uint64_t{0}};

// An optional range that is not given: only its size is read.
inline SluiceBuffer absentRange(uint64_t value) { return {value, value, 0}; }
// A range that is not read at all.
inline SluiceBuffer unreadRange(uint64_t value) { return {value, value, value}; }
// An enumeration that is not read; all its values have 31 bits.
template <typename Enumeration>
Enumeration unreadValue(uint64_t value)
{
    return static_cast<Enumeration>(value & 0x7fffffff);
}

// run(value) fills the ignored members with the value, and returns everything that the call made.
template <typename Run>
void checkIgnored(const char* name, const Run& run)
{
    CAPTURE(name);
    const auto expected = run(uint64_t{0});
    for (const uint64_t value : kIgnoredValues) {
        CAPTURE(value);
        CHECK((run(value) == expected));
    }
}

} // namespace sluice::test
