// SPDX-License-Identifier: MIT OR Apache-2.0
// Host, GLSL and CUDA code compile the formulas of this folder. A formula uses only what all three
// languages have: functions of u32 and bool, and three macros. SLUICE_SELECT chooses without a
// branch in GLSL; SLUICE_MIN and SLUICE_MAX may evaluate their arguments twice.
#ifndef SLUICE_FORMULA_H
#define SLUICE_FORMULA_H

#include "../layout/base.h"

#if defined(__CUDACC__)
#define SLUICE_FORMULA __host__ __device__ constexpr
#elif defined(__cplusplus)
#define SLUICE_FORMULA constexpr
#else
#define SLUICE_FORMULA
#endif

#ifdef __cplusplus
#define SLUICE_SELECT(condition, yes, no) ((condition) ? (yes) : (no))
#define SLUICE_MIN(a, b) ((a) < (b) ? (a) : (b))
#define SLUICE_MAX(a, b) ((a) < (b) ? (b) : (a))
#else
#define SLUICE_SELECT(condition, yes, no) mix(no, yes, condition)
#define SLUICE_MIN(a, b) min(a, b)
#define SLUICE_MAX(a, b) max(a, b)
#endif

#endif
