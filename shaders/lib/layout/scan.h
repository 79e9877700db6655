// SPDX-License-Identifier: MIT OR Apache-2.0
// The numbers and parameters of scans and reductions.
#ifndef SLUICE_LAYOUT_SCAN_H
#define SLUICE_LAYOUT_SCAN_H

#include "lookback.h"

SLUICE_LAYOUT_BEGIN

// How many elements of a tile one invocation of scan.comp holds.
#define SLUICE_SCAN_PER_INVOCATION 16u
// How many rows of four elements one invocation of scan_ring.comp holds.
#define SLUICE_SCAN_RING_ROWS 3u
// The ways in which the workgroups of a scan get their tiles.
#define SLUICE_SCAN_BY_NUMBER 0u // workgroup i takes tile i; a scanner is not counted
#define SLUICE_SCAN_BY_TICKET 1u // each takes the next free tile, until there are no more
#define SLUICE_SCAN_BY_RING 2u   // like BY_TICKET, but a workgroup loads several tiles ahead
// The kinds of results of a scan or a reduction.
#define SLUICE_KIND_EXCLUSIVE 0u
#define SLUICE_KIND_INCLUSIVE 1u
#define SLUICE_KIND_REDUCE 2u // reduce.comp: one value for all elements
// reduce.comp replaces the partial result of each tile by the result of all elements before the
// tile.
#define SLUICE_KIND_PARTIALS 3u
// The operations of the kernels. Minima and maxima of all types are computed as maxima of unsigned
// keys.
#define SLUICE_SCAN_OP_SUM 0u
#define SLUICE_SCAN_OP_MAX 1u
#define SLUICE_SCAN_OP_SUM_F32 2u

// Push constants of scan.comp, scan64.comp, reduce.comp and reduce64.comp.
struct ScanParams {
    SLUICE_ADDRESS input_;
    SLUICE_ADDRESS output_;
    SLUICE_ADDRESS heads;       // for segmented scans: a bit for each element
    SLUICE_ADDRESS countBuffer; // 0: maxCount is the number of elements
    SLUICE_ADDRESS total;       // 0: not written
    SLUICE_ADDRESS scratch;
    u32 maxCount;
    u32 kind;
    u32 polls;      // a look-back polls a tile's state this often, then gives up on it
    u32 flip;       // xor with this makes a value a key for an unsigned maximum
    u32 isFloat;    // 1: elements are f32
    u32 workgroups; // how many are dispatched
    u32 schedule;   // for scans: SLUICE_SCAN_BY_*
    u32 share;      // for scans by ticket: a workgroup takes at most this many tiles
    u32 scanner;    // for scans: 1 if workgroup 0 is a scanner (lib/lookback.glsl)
};

SLUICE_LAYOUT_END
#endif
