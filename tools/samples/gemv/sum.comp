// SPDX-License-Identifier: MIT OR Apache-2.0
// Completes the fused product. An invocation adds up the sums that fused.comp has made of the parts
// of one row of the matrix. It takes them in the order of the tiles, so that the same input gives
// the same y. The first invocation resets the counter of tiles for the next product.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/lanes.glsl"
#include "lib/loops.glsl"
#include "lib/units.glsl"
#include "product.glsl"

const uint kTile = 8192u;

void main()
{
    uint row = gl_WorkGroupID.x * gl_WorkGroupSize.x + wgInvocation();
    if (row == 0u) WordsOut(p.counters).w[0] = 0u;
    if (row >= p.rows) return;
    uint begin = row * p.columns;
    float sum = 0.0;
    for (uint tile = begin / kTile; tile * kTile < begin + p.columns; tile++) {
        // Index of this row among the rows that have a part in the tile.
        uint part = row - tile * kTile / p.columns;
        sum += Floats(p.sums).f[tile * p.sumsPerTile + part];
    }
    Floats(p.y).f[row] = sum;
}
