// SPDX-License-Identifier: MIT OR Apache-2.0
// y = W x for a matrix W in memory. A lane group multiplies four rows of the matrix at once. So
// each element of x is loaded once for four rows, and four loads of 512 bytes are under way at a
// time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/lanes.glsl"
#include "lib/loops.glsl"
#include "lib/units.glsl"
#include "product.glsl"

const uint kRows = 4u;

void main()
{
    uint first = (gl_WorkGroupID.x * kGroupsPerWorkgroup + lgIndex()) * kRows;
    uvec2 rows[kRows];
    vec2 sums[kRows];
    SLUICE_UNROLL
    for (uint i = 0u; i < kRows; ++i) {
        // If fewer than four rows are left, the lane group reads the last row of the matrix several
        // times.
        rows[i] = add64(p.weights, mul64(min(first + i, p.rows - 1u), 2u * p.columns));
        sums[i] = vec2(0.0);
    }
    for (uint at = 0u; at < p.columns; at += 256u) {
        uint column = at + 8u * lgLane();
        if (column >= p.columns) continue;
        uvec4 weights[kRows];
        SLUICE_UNROLL
        for (uint i = 0u; i < kRows; ++i)
            weights[i] = UnitsIn(rows[i]).v[column >> 3];
        SLUICE_UNROLL
        for (uint i = 0u; i < kRows; ++i)
            sums[i] = multiplyAdd(weights[i], column, sums[i]);
    }
    SLUICE_UNROLL
    for (uint i = 0u; i < kRows; ++i) {
        float sum = groupSum(sums[i].x + sums[i].y);
        if (lgLane() == 0u && first + i < p.rows) Floats(p.y).f[first + i] = sum;
    }
}
