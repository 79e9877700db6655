// SPDX-License-Identifier: MIT OR Apache-2.0
// The specialization constants of all kernels. Each constant has the same id in all kernels, so
// that a row of the pipeline registry (src/vulkan/registry.h) can name the constants that it sets.
#ifndef SLUICE_LAYOUT_CONSTANTS_H
#define SLUICE_LAYOUT_CONSTANTS_H

// Invocations of a workgroup.
#define SLUICE_CONSTANT_WORKGROUP_SIZE 0
// Lanes of a subgroup, hardware or emulated.
#define SLUICE_CONSTANT_SUBGROUP_SIZE 1
// Says whether plain stores to memory are visible to the subgroup, and behind a barrier to the
// workgroup, without coherent accesses (gdeflate, gstd_expand, filter).
#define SLUICE_CONSTANT_PLAIN_STORES_VISIBLE 2
// Says whether two subgroups share a tile, one for each stage of the decode.
#define SLUICE_CONSTANT_GDEFLATE_PAIRED 3
// Says whether rows have padding: 0 means that rowBytes tells, 1 never, 2 always.
#define SLUICE_CONSTANT_GDEFLATE_PITCH 4
// The size class of a tile's shared memory: 0 is 3 KB, 1 is 5 KB, 2 is 9 KB.
#define SLUICE_CONSTANT_GDEFLATE_ROOM 5
// One of SLUICE_SCAN_OP_.
#define SLUICE_CONSTANT_SCAN_OPERATION 6
// Says whether head flags begin new sums.
#define SLUICE_CONSTANT_SCAN_SEGMENTED 7
// Rounds of scan_ring that wait in shared memory.
#define SLUICE_CONSTANT_SCAN_RING_SHARED 8
// Rounds of scan_ring that wait in registers.
#define SLUICE_CONSTANT_SCAN_RING_REGISTERS 9
// Bytes of an element; 0 reads the size from the parameters (compact, interval_expand).
#define SLUICE_CONSTANT_ELEMENT_BYTES 10
// Says what a compaction by words tests: one of SLUICE_COMPACT_KIND_.
#define SLUICE_CONSTANT_COMPACT_KIND 11
// Tiles of compact_ring that wait in shared memory.
#define SLUICE_CONSTANT_COMPACT_RING_TILES 12
// Units of 16 bytes that an invocation of interval_move has in flight.
#define SLUICE_CONSTANT_INTERVAL_UNITS_AT_ONCE 13
// Words that an invocation of interval_move has in flight.
#define SLUICE_CONSTANT_INTERVAL_WORDS_AT_ONCE 14
// Says whether interval_move stores edges byte by byte, which suits short runs.
#define SLUICE_CONSTANT_INTERVAL_BYTES_APART 15

#endif
