// SPDX-License-Identifier: MIT OR Apache-2.0
// Lets GLSL and CUDA compile the same text, the files of lib/kernels; the host compiles some of
// them, too. Such a text uses what the three languages share: unsigned arithmetic, structures,
// functions, arrays and loops. Where the languages spell something differently, it uses a macro of
// this file. Where they need different code, it calls a function of compat.glsl or
// src/cuda/lib/compat.cuh. The includer of the text includes one of these two files.
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
// SLUICE_TABLE(name, count) words SLUICE_TABLE_END defines a table of constants.
#ifdef __CUDACC__
#define SLUICE_TABLE(name, count) __constant__ const u32 name[count] = {
#else
#define SLUICE_TABLE(name, count) constexpr u32 name[count] = {
#endif
#define SLUICE_TABLE_END                                                                           \
    }                                                                                              \
    ;
#define SLUICE_SHARED __shared__
#define SLUICE_SHARED_UNITS __shared__ alignas(16)
#define SLUICE_GENERIC(type) template <typename type>
#define SLUICE_IN(type) const type&
#define SLUICE_OUT(type, name) type& name
#define SLUICE_INOUT(type, name) type& name
#define SLUICE_AT(word) &(word)
#define SLUICE_PRAGMA(text) _Pragma(#text)
#ifdef __CUDACC__
#define SLUICE_UNROLL SLUICE_PRAGMA(unroll)
#define SLUICE_UNROLL_BY(times) SLUICE_PRAGMA(unroll times)
#define SLUICE_DONT_UNROLL SLUICE_PRAGMA(unroll 1)
#elif defined(__GNUC__) && !defined(__clang__)
#define SLUICE_UNROLL SLUICE_PRAGMA(GCC unroll 16)
#define SLUICE_UNROLL_BY(times) SLUICE_PRAGMA(GCC unroll times)
#define SLUICE_DONT_UNROLL SLUICE_PRAGMA(GCC unroll 1)
#else
#define SLUICE_UNROLL
#define SLUICE_UNROLL_BY(times)
#define SLUICE_DONT_UNROLL
#endif
#define SLUICE_WHILE(limit, condition) while (condition)

#else // GLSL

#include "loops.glsl"

#define SLUICE_KERNEL_BEGIN
#define SLUICE_KERNEL_END
#define SLUICE_DEVICE
#define SLUICE_CONSTANT const
#define SLUICE_TABLE(name, count) const u32 name[count] = u32[](
#define SLUICE_TABLE_END                                                                           \
    )                                                                                              \
    ;
#define SLUICE_SHARED shared
#define SLUICE_SHARED_UNITS shared // shared memory that is also read in units of 16 bytes
#define SLUICE_GENERIC(type)       // a template in C++; in GLSL the includer defines `type`
#define SLUICE_IN(type) type
#define SLUICE_OUT(type, name) out type name
#define SLUICE_INOUT(type, name) inout type name
#define SLUICE_AT(word) word    // what atomics take: the word; in CUDA, its address
#define SLUICE_UNROLL_BY(times) // GLSL has no hint for partial unrolling
// Loops while `condition` holds. The text that uses this guarantees that the loop ends after at
// most `limit` iterations. GLSL counts the iterations all the same, so that the bound of a shader's
// loop does not depend on data.
#define SLUICE_WHILE(limit, condition) for (u32 round = 0u; round < limit && (condition); ++round)

#endif

#endif
