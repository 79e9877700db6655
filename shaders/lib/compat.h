// SPDX-License-Identifier: MIT OR Apache-2.0
// Both GLSL and CUDA compile the files of lib/kernels, and the host compiles some of them. These
// files use only features that the languages share: unsigned arithmetic, structures, functions,
// arrays and loops. Where the spelling differs, they use the macros of this file. Functions that
// differ between the languages come from the includer: compat.glsl or src/cuda/lib/compat.cuh.
#ifndef SLUICE_COMPAT_H
#define SLUICE_COMPAT_H

#ifdef __cplusplus

#define SLUICE_KERNEL_BEGIN                                                                        \
    namespace sluice {                                                                             \
    namespace {
#define SLUICE_KERNEL_END                                                                          \
    }                                                                                              \
    }
#ifdef __CUDACC__
#define SLUICE_DEVICE __device__ inline
#else
#define SLUICE_DEVICE inline
#endif
#define SLUICE_CONSTANT constexpr
#define SLUICE_SHARED __shared__
#define SLUICE_SHARED_UNITS __shared__ alignas(16)
#define SLUICE_GENERIC(type) template <typename type>
#define SLUICE_IN(type) const type&
#define SLUICE_OUT(type, name) type& name
#define SLUICE_INOUT(type, name) type& name
#define SLUICE_AT(word) &(word)
#define SLUICE_PRAGMA(text) _Pragma(#text)
#define SLUICE_UNROLL SLUICE_PRAGMA(unroll)
#define SLUICE_UNROLL_BY(times) SLUICE_PRAGMA(unroll times)
#define SLUICE_DONT_UNROLL SLUICE_PRAGMA(unroll 1)
#define SLUICE_WHILE(limit, condition) while (condition)

#else // GLSL

#include "loops.glsl"

#define SLUICE_KERNEL_BEGIN
#define SLUICE_KERNEL_END
#define SLUICE_DEVICE
#define SLUICE_CONSTANT const
#define SLUICE_SHARED shared
#define SLUICE_SHARED_UNITS shared // read in units of 16 bytes
#define SLUICE_GENERIC(type)       // a type that the includer defines
#define SLUICE_IN(type) type
#define SLUICE_OUT(type, name) out type name
#define SLUICE_INOUT(type, name) inout type name
#define SLUICE_AT(word) word    // the argument of an atomic
#define SLUICE_UNROLL_BY(times) // GLSL has no hint for partial unrolling
// A loop whose condition fails after at most `limit` iterations. GLSL counts them as well, so that
// the loop ends on every driver.
#define SLUICE_WHILE(limit, condition) for (u32 round = 0u; round < limit && (condition); ++round)

#endif

#endif
