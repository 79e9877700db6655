// SPDX-License-Identifier: MIT OR Apache-2.0
// scan.comp and scan64.comp: prefix sums, minima and maxima in one pass with decoupled look-back, a tile a workgroup.
// Sums of f32 depend on the order of their additions: there the tiles' sums are added up beforehand, in a fixed order, by
// reduce.comp.
#include "lib/scan_tile.glsl"
#include "lib/partials.glsl"

#define SLUICE_LOOKBACK_OPERATION
#ifdef SLUICE_VALUE64
#define SLUICE_LOOKBACK_WIDE
#endif
const Value kLookbackIdentity = kIdentity;
Value lookbackCombine(Value a, Value b) { return combine(a, b); }
#ifndef SLUICE_EMU
Value lookbackCombineLanes(Value value) {
#ifdef SLUICE_VALUE64
    [[unroll]] for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1)
        value = combine(value, subgroupShuffle(value, gl_SubgroupInvocationID ^ reach));
    return value;
#else
    return kOperation == SLUICE_SCAN_OP_SUM ? subgroupAdd(value) : subgroupMax(value);
#endif
}
#endif
#include "lib/lookback.glsl"

bool lookbackTile(uint index, out Value value) {
    Run total = tileRun(tileAt(index, elementCount()));
    value = total.value;
    return total.head;
}

void main() {
    uint workgroup = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    if (workgroup >= p.workgroups)
        return; // the grid is a rectangle and may have some more

    uint count = elementCount();
    uint tiles = max(tileCount(count), 1u); // an empty input has one empty tile, which writes the total
    bool ordered = kOperation == SLUICE_SCAN_OP_SUM_F32;
    uint index = ordered ? workgroup : lookbackTicket(p.scratch);
    uint left = 0u;
    if (index < tiles) {
        Tile tile = tileAt(index, count);
        Row rows[kRows];
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            rows[row] = loadRow(tile, row);

        // starts[row]: all of the subgroup's elements before this invocation's.
        Run starts[kRows], own = kNoRun, total;
        uint heads[kRows];
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            Run rowTotal;
            heads[row] = rowHeads(tile, row);
            starts[row] = join(own, sgExclusiveRun(rowRun(rows[row], heads[row]), rowTotal));
            own = join(own, rowTotal);
        }
        Run before = wgRunsBefore(own, total);

        Value prefix;
        if (ordered) {
            prefix = p.workgroups > 1u ? loadPartial(p.scratch, index).value : kIdentity;
        } else {
            prefix = lookbackPrefix(p.scratch, index, total.value, total.head, p.polls, p.input_ == p.output_);
        }
        before = join(Run(prefix, false), before);

        uvec2 target = add64(p.output_, mul64(index, kTile * kValueBytes));
        bool inclusive = p.kind == SLUICE_KIND_INCLUSIVE;
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            Run running = join(before, starts[row]);
            [[unroll]] for (uint i = 0u; i < kPerRow; i++) {
                Value value = rows[row].x[i];
                bool head = kSegmented && (heads[row] >> i & 1u) != 0u;
                Run next = join(running, Run(value, head));
                rows[row].x[i] = inclusive ? next.value : head ? kIdentity : running.value;
                running = next;
            }
            storeRow(tile, target, row, rows[row]);
        }
        if (index == tiles - 1u && wgInvocation() == 0u && p.total != uvec2(0u)) {
            Value all = join(Run(prefix, false), total).value;
            storeValue(p.total, 0u, kOperation == SLUICE_SCAN_OP_MAX ? decode(all) : all);
        }
    }
    if (!ordered) {
        left = lookbackLeave(p.scratch);
        lookbackClean(p.scratch, left, p.workgroups, tiles);
    } else if (p.workgroups > 1u) {
        // The scratch of a scan is left as it was found: zero.
        wgBarrierShared();
        if (wgInvocation() == 0u)
            storePartial(p.scratch, index, kNoRun);
    }
}
