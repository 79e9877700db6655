// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans and reductions.
#ifndef SLUICE_LAYOUT_SCAN_H
#define SLUICE_LAYOUT_SCAN_H

#include "lookback.h"

SLUICE_LAYOUT_BEGIN

// An invocation of scan.comp has this many elements of a tile.
#define SLUICE_SCAN_PER_INVOCATION 16u
#define SLUICE_SCAN_RING_ROWS 3u // of four values, in scan_ring.comp
// How the workgroups of a scan come by their tiles.
#define SLUICE_SCAN_BY_NUMBER 0u // each has the tile of its own number, not counting the scanner
#define SLUICE_SCAN_BY_TICKET 1u // each takes the next tile that none has, again and again
#define SLUICE_SCAN_BY_RING 2u   // as by ticket, and a tile waits while the next ones are loaded
// These say what a scan or reduction returns.
#define SLUICE_KIND_EXCLUSIVE 0u
#define SLUICE_KIND_INCLUSIVE 1u
#define SLUICE_KIND_REDUCE 2u   // reduce.comp: one value
#define SLUICE_KIND_PARTIALS 3u // reduce.comp: what comes before each tile
// These say what the kernels compute; minima and maxima of all types are maxima of unsigned keys.
#define SLUICE_SCAN_OP_SUM 0u
#define SLUICE_SCAN_OP_MAX 1u
#define SLUICE_SCAN_OP_SUM_F32 2u

// Push constants of scan.comp, scan64.comp, reduce.comp and reduce64.comp.
struct ScanParams {
    SLUICE_ADDRESS input_;
    SLUICE_ADDRESS output_;
    SLUICE_ADDRESS heads;       // one bit an element; segmented scans
    SLUICE_ADDRESS countBuffer; // 0: maxCount counts
    SLUICE_ADDRESS total;       // 0: not written
    SLUICE_ADDRESS scratch;
    u32 maxCount;
    u32 kind;
    u32 polls;      // look-back
    u32 flip;       // xor that turns values into the keys of an unsigned maximum
    u32 isFloat;    // 1: keys are those of f32
    u32 workgroups; // dispatched
    u32 schedule;   // scans: SLUICE_SCAN_BY_
    u32 share;      // scans by ticket: a workgroup takes at most this many tiles
    u32 scanner;    // scans: 1: workgroup 0 is a scanner
};

SLUICE_LAYOUT_END
#endif
