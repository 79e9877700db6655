// SPDX-License-Identifier: MIT OR Apache-2.0
// The specialization constants of all kernels. A constant has the same number in all kernels, so
// that a row of the pipeline registry (src/vulkan/registry.h) can name those that it sets.
#ifndef SLUICE_LAYOUT_CONSTANTS_H
#define SLUICE_LAYOUT_CONSTANTS_H

// The invocations of a workgroup.
#define SLUICE_CONSTANT_WORKGROUP_SIZE 0
// The lanes of a subgroup, by hardware or emulated.
#define SLUICE_CONSTANT_SUBGROUP_SIZE 1
// 1 if plain stores to memory are visible to the subgroup, and after a barrier to the workgroup,
// without coherent accesses (gdeflate, gstd_expand, filter).
#define SLUICE_CONSTANT_PLAIN_STORES_VISIBLE 2
// 1 if two subgroups share a tile of GDeflate, one for each stage of the decode.
#define SLUICE_CONSTANT_GDEFLATE_PAIRED 3
// Says when rows of GDeflate's output have padding. 0: if the push constant rowBytes is not 0; 1:
// never; 2: always.
#define SLUICE_CONSTANT_GDEFLATE_PITCH 4
// The shared memory that a tile of GDeflate gets. 0: 3 KB; 1: 5 KB; 2: 9 KB.
#define SLUICE_CONSTANT_GDEFLATE_ROOM 5
// The operation of a scan, one of SLUICE_SCAN_OP_*.
#define SLUICE_CONSTANT_SCAN_OPERATION 6
// 1 if the scan is segmented: head flags begin new segments.
#define SLUICE_CONSTANT_SCAN_SEGMENTED 7
// How many rounds a tile of scan_ring waits in shared memory for its prefix. A workgroup loads one
// tile in each round.
#define SLUICE_CONSTANT_SCAN_RING_SHARED 8
// How many rounds a tile of scan_ring waits in registers before it moves to shared memory.
#define SLUICE_CONSTANT_SCAN_RING_REGISTERS 9
// The size of an element in bytes; 0: the push constants have it (compact of WIDE sizes,
// interval_expand).
#define SLUICE_CONSTANT_ELEMENT_BYTES 10
// The kind of a compaction by words: what it tests and writes, 0 to 3 (kKind in
// lib/compact_words.glsl).
#define SLUICE_CONSTANT_COMPACT_KIND 11
// The number of tiles of compact_ring that wait in shared memory.
#define SLUICE_CONSTANT_COMPACT_RING_TILES 12
// The number of units of 16 bytes that an invocation of interval_move has in flight.
#define SLUICE_CONSTANT_INTERVAL_UNITS_AT_ONCE 13
// 1 if interval_move copies words that a run fills only in part byte by byte, which suits short
// runs.
#define SLUICE_CONSTANT_INTERVAL_WORDS_AT_ONCE 14
// 1 if interval_move stores the edges of runs byte by byte, which suits short runs.
#define SLUICE_CONSTANT_INTERVAL_BYTES_APART 15
// The group of targets of a UASTC transcoder, one of SLUICE_UA_GROUP_*.
#define SLUICE_CONSTANT_UASTC_GROUP 16
// The most blocks whose sequences a team of lane groups of zstd_sequences decodes at once.
#define SLUICE_CONSTANT_ZSTD_CHAINS 17

#endif
