// SPDX-License-Identifier: MIT OR Apache-2.0
// The files of lib/kernels are one text that GLSL and CUDA compile. They keep to what both
// languages have (unsigned arithmetic, structures, functions, arrays, loops) and use the names of
// this file for what the languages spell differently. CUDA gets here the names that lanes.glsl and
// memory.glsl give GLSL; a lane group is a warp there, and a workgroup is a block.
#ifndef SLUICE_COMPAT_H
#define SLUICE_COMPAT_H

#ifdef __CUDACC__

#include "../../src/cuda/lib/launch.cuh"
#include "../../src/cuda/lib/warp.cuh"

#define SLUICE_KERNEL_BEGIN                                                                        \
    namespace sluice {                                                                             \
    namespace {
#define SLUICE_KERNEL_END                                                                          \
    }                                                                                              \
    }
#define SLUICE_DEVICE __device__ inline
#define SLUICE_CONSTANT constexpr
#define SLUICE_SHARED __shared__
#define SLUICE_OUT(type, name) type& name
#define SLUICE_INOUT(type, name) type& name
#define SLUICE_UNROLL _Pragma("unroll")
#define SLUICE_DONT_UNROLL _Pragma("unroll 1")

namespace sluice {

typedef uint64_t u64; // an address or a size

__device__ inline u64 u64Of(u64pair value) { return u64From(value); }

__device__ inline void storeWord(u64 base, u32 index, u32 value) {
    reinterpret_cast<u32*>(static_cast<uintptr_t>(base))[index] = value;
}

} // namespace sluice

#else // GLSL

#include "lanes.glsl"
#include "memory.glsl"

#define SLUICE_KERNEL_BEGIN
#define SLUICE_KERNEL_END
#define SLUICE_DEVICE
#define SLUICE_CONSTANT const
#define SLUICE_SHARED shared
#define SLUICE_OUT(type, name) out type name
#define SLUICE_INOUT(type, name) inout type name
#define SLUICE_UNROLL [[unroll]]
#define SLUICE_DONT_UNROLL [[dont_unroll]]

#define u64 uvec2
#define u64Of(value) value

void storeWord(u64 base, u32 index, u32 value) { WordsOut(base).w[index] = value; }

#endif

#endif
