// SPDX-License-Identifier: MIT OR Apache-2.0
// Ends the fused product: an invocation adds up the tiles' parts of one row of the matrix, in the
// order of tiles, so that the same weights and the same x give the same y. The first invocation
// resets the counter of tiles for the next product.
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
        uint part = row - tile * kTile / p.columns; // rows of the matrix that the tile has before
                                                    // this one
        sum += Floats(p.sums).f[tile * p.sumsPerTile + part];
    }
    Floats(p.y).f[row] = sum;
}
