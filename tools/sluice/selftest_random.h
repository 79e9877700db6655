// SPDX-License-Identifier: MIT OR Apache-2.0
// What the parts of sluice selftest make their data up from.
#pragma once

#include <cstdint>

namespace sluice {

class Random { // the same everywhere: a linear congruential generator
public:
    explicit Random(uint32_t seed) : state_(seed) {}

    uint32_t next()
    {
        state_ = state_ * 1664525u + 1013904223u;
        return state_ >> 8;
    }

private:
    uint32_t state_;
};

} // namespace sluice
