// SPDX-License-Identifier: MIT OR Apache-2.0
// Says whether AVX2 can be used. Code with AVX2 is in functions marked SLUICE_AVX2. It is compiled
// only by GCC and Clang for x86-64, and runs only if hasAvx2() returns true. Otherwise portable
// code runs.
#pragma once

#if defined(__GNUC__) && defined(__x86_64__)
#define SLUICE_HAVE_AVX2 1
#define SLUICE_AVX2 __attribute__((target("avx2,popcnt")))
#include <immintrin.h>
#else
#define SLUICE_HAVE_AVX2 0
#endif

namespace sluice::cpu::fast {

inline bool hasAvx2()
{
#if SLUICE_HAVE_AVX2
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0;
#else
    return false;
#endif
}

} // namespace sluice::cpu::fast
