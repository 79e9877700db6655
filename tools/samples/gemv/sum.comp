// SPDX-License-Identifier: MIT OR Apache-2.0
// Finishes the fused product: an invocation adds up the tiles' sums for one row of the matrix. It
// does so in the order of the tiles, so that the same weights and the same x give the same y. The
// first invocation resets the tile counter for the next product.
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
