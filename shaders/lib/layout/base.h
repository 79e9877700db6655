// SPDX-License-Identifier: MIT OR Apache-2.0
// The headers of this folder have the limits, flags, parameter structures and constants that C++,
// CUDA and GLSL share: each stands once, and all three languages include the same file. The headers
// contain only #define and plain structures of 32-bit members. This header has what all of them
// need.
#ifndef SLUICE_LAYOUT_BASE_H
#define SLUICE_LAYOUT_BASE_H

#ifdef __cplusplus
#include <stdint.h>
#define SLUICE_LAYOUT_BEGIN namespace sluice {
#define SLUICE_LAYOUT_END }
namespace sluice {
typedef uint32_t u32;
// A 64-bit number for devices without 64-bit integers.
struct U64Pair {
    u32 lo, hi;
};
} // namespace sluice
#define SLUICE_ADDRESS U64Pair
#else
#define SLUICE_LAYOUT_BEGIN
#define SLUICE_LAYOUT_END
#define u32 uint
#define SLUICE_ADDRESS uvec2
#endif

// The statuses of tiles have the values of SluiceTileStatus, which src/api checks at compile time.
#define SLUICE_ST_PENDING 0u
#define SLUICE_ST_OK 1u
#define SLUICE_ST_BAD_REGION 2u
#define SLUICE_ST_TRUNCATED 3u
#define SLUICE_ST_BAD_CODE 4u
#define SLUICE_ST_BAD_OFFSET 5u
#define SLUICE_ST_TOO_LONG 6u
#define SLUICE_ST_TOO_SHORT 7u
#define SLUICE_ST_LIMIT 8u
#define SLUICE_ST_INTERNAL 9u
#define SLUICE_ST_BAD_CHECKSUM 10u
#define SLUICE_ST_UNVERIFIED 11u
#define SLUICE_ST_BAD_INDEX 12u
#define SLUICE_ST_BAD_FILTER 13u
#define SLUICE_ST_UNSUPPORTED 14u

// The most bytes of a tile that has a checksum.
#define SLUICE_MAX_TILE_BYTES 1048576u

// A Vulkan device need not accept more than 65,535 workgroups along x. So a long list of workgroups
// is dispatched as rows of this many, one row for each y; wgIndex() in lanes.glsl returns a
// workgroup's number in the list.
#define SLUICE_MAX_GRID 32768u

#endif
