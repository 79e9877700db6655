// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans and reductions.
#ifndef SLUICE_LAYOUT_SCAN_H
#define SLUICE_LAYOUT_SCAN_H

#include "lookback.h"

SLUICE_LAYOUT_BEGIN

// The scan family. Elements of one invocation in a tile:
#define SLUICE_SCAN_PER_INVOCATION 16u
#define SLUICE_SCAN_RING_ROWS 3u    // of four values, in scan_ring.comp
#define SLUICE_KIND_EXCLUSIVE 0u
#define SLUICE_KIND_INCLUSIVE 1u
#define SLUICE_KIND_REDUCE 2u          // reduce.comp: one value
#define SLUICE_KIND_PARTIALS 3u        // reduce.comp: what comes before each tile
// What the kernels compute; minima and maxima of all types are maxima of unsigned keys.
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
    u32 flip;       // xor of a maximum's keys
    u32 isFloat;    // keys of f32
    u32 workgroups; // dispatched
    u32 share;      // scans: tiles of one workgroup at most; CUDA: 0: a tile each; more than 1:
                    // through the ring
    u32 scanner;    // scans: workgroup 0 is a scanner
    u32 gridX;
};

SLUICE_LAYOUT_END
#endif
