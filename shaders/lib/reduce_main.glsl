// SPDX-License-Identifier: MIT OR Apache-2.0
// reduce.comp and reduce64.comp: each workgroup combines its share of the input, and the last one
// to finish combines the results of all, in order. No workgroup waits for another.
//
// The kind REDUCE writes the result. PARTIALS is the first half of an f32 scan: it has one tile per
// workgroup and leaves each tile's prefix in scratch. Scratch is laid out like that of a look-back,
// with partial results in place of states. A reduction leaves scratch zero. src/cuda/reduce.cu
// describes how CUDA differs.
#include "loops.glsl"
#include "lib/scan_tile.glsl"
#include "lib/partials.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) buffer ReduceHead {
    coherent uint ticket; // reductions take none
    coherent uint done;
};

shared uint sDone;

// Joins the elements of every p.workgroups-th tile, in the same order in every run.
Run shareRun(uint workgroup, uint count) {
    Run own = kNoRun, total, subgroupTotal;
    uint tiles = tileCount(count);
    for (uint index = workgroup; index < tiles; index += p.workgroups) {
        Tile tile = tileAt(index, count);
        Row rows[kRows];
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++)
            rows[row] = loadRow(tile, row);
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++)
            own = join(own, rowRun(rows[row], 0u));
    }
    sgExclusiveRun(own, subgroupTotal);
    wgRunsBefore(subgroupTotal, total);
    return total;
}

void combinePartials() {
    Run carry = kNoRun;
    for (uint start = 0u; start < p.workgroups; start += gl_WorkGroupSize.x) {
        uint index = start + wgInvocation();
        bool exists = index < p.workgroups;
        Run own = kNoRun, subgroupTotal, total;
        if (exists) own = loadPartial(p.scratch, index);
        Run before = sgExclusiveRun(own, subgroupTotal);
        before = join(join(carry, wgRunsBefore(subgroupTotal, total)), before);
        carry = join(carry, total);
        if (exists)
            storePartial(p.scratch, index, p.kind == SLUICE_KIND_PARTIALS ? before : kNoRun);
    }
    if (wgInvocation() == 0u) {
        if (p.kind == SLUICE_KIND_REDUCE)
            storeValue(p.total, 0u,
                       kOperation == SLUICE_SCAN_OP_MAX ? decode(carry.value) : carry.value);
        ReduceHead(p.scratch).done = 0u;
    }
}

void reduceMain() {
    uint workgroup = wgIndex();
    if (workgroup >= p.workgroups) return; // see wgIndex

    uint count = elementCount();
    Run run;
    if (kSegmented || p.kind == SLUICE_KIND_PARTIALS)
        run = tileRun(tileAt(workgroup, count));
    else
        run = shareRun(workgroup, count);
    if (wgInvocation() == 0u) storePartial(p.scratch, workgroup, run);
    memoryBarrierBuffer();
    if (wgInvocation() == 0u) sDone = atomicAdd(ReduceHead(p.scratch).done, 1u);
    wgBarrierShared();
    if (sDone + 1u == p.workgroups) {
        memoryBarrierBuffer();
        combinePartials();
    }
}
