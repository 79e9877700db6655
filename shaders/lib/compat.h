// SPDX-License-Identifier: MIT OR Apache-2.0
// The files of lib/kernels are one text that GLSL and CUDA compile, and the host some of them. They
// keep to what the languages have in common (unsigned arithmetic, structures, functions, arrays,
// loops); what these spell differently has the names of this file. Functions that each language has
// for itself are brought by the includer: compat.glsl and src/cuda/lib/compat.cuh.
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
#define SLUICE_SHARED_UNITS shared // which units of 16 bytes are loaded from
#define SLUICE_GENERIC(type)       // a type that the includer defines
#define SLUICE_IN(type) type
#define SLUICE_OUT(type, name) out type name
#define SLUICE_INOUT(type, name) inout type name
#define SLUICE_AT(word) word    // the argument of an atomic
#define SLUICE_UNROLL_BY(times) // GLSL has no hint for a part of a loop
// A loop that ends by itself after at most `limit` rounds; GLSL counts them all the same.
#define SLUICE_WHILE(limit, condition) for (u32 round = 0u; round < limit && (condition); ++round)

#endif

#endif
