// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts between 64-bit values and the pairs of 32-bit words that kernel parameters have.
#pragma once

#include "layout/base.h"

namespace sluice {

inline U64Pair pair(uint64_t value) { return {uint32_t(value), uint32_t(value >> 32)}; }
inline uint64_t fromPair(U64Pair value) { return uint64_t{value.hi} << 32 | value.lo; }

} // namespace sluice
