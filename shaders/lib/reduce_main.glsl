// SPDX-License-Identifier: MIT OR Apache-2.0
// Reductions of 32-bit and 64-bit values (reduce.comp, reduce64.comp). Each workgroup combines its
// share of the input. The last workgroup to finish combines the results of all workgroups, always
// in the same order. No workgroup waits for another.
//
// p.kind chooses what is done. REDUCE writes the result. PARTIALS is the first half of an f32 scan:
// there is one tile per workgroup, and the prefix of each tile stays in scratch. Scratch has the
// layout of a look-back, with partial results in place of states (partials.glsl). After REDUCE it
// is zero again. src/cuda/reduce.cu says how CUDA differs.
#include "loops.glsl"
#include "lib/scan_tile.glsl"
#include "lib/partials.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) buffer ReduceHead {
    coherent uint ticket; // for scans; reductions take no tickets
    coherent uint done;
};

shared uint sDone;

// Combines the elements of every p.workgroups-th tile, from tile `workgroup` on. Their order is the
// same in every execution, so sums of f32 are reproducible. The result is valid in all invocations.
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

// Combines the partial results of all workgroups. The last workgroup to finish calls this.
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
    // A dispatch may have surplus workgroups (wgIndex).
    if (workgroup >= p.workgroups) return;

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
