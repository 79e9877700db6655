// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what decoders may use beyond portable C++: AVX2 on x86-64, in separate functions that run
// only if the processor has it. Otherwise, and with other compilers, the portable code runs.
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
