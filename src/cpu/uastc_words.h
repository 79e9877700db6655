// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles for the host the UASTC code that GLSL and CUDA share (kernels/uastc_targets.h).
#pragma once

#include "layout/base.h"

namespace sluice {
namespace {

constexpr u32 funnelRight(u32 low, u32 high, u32 shift)
{
    return u32((uint64_t(high) << 32 | low) >> (shift & 31));
}
constexpr u32 reverseBits(u32 word)
{
    word = (word & 0x55555555u) << 1 | (word >> 1 & 0x55555555u);
    word = (word & 0x33333333u) << 2 | (word >> 2 & 0x33333333u);
    word = (word & 0x0f0f0f0fu) << 4 | (word >> 4 & 0x0f0f0f0fu);
    return word >> 24 | (word >> 8 & 0xff00u) | (word & 0xff00u) << 8 | word << 24;
}

} // namespace
} // namespace sluice

#include "kernels/uastc_targets.h"
