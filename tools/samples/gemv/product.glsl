// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that the products share. Include lanes.glsl, loops.glsl and units.glsl before this file.

layout(push_constant, std430) uniform Push
{
    uvec2 tensor;             // a SluiceFloatTensor: the encoded matrix
    uvec2 source, sourceSize; // the buffer that it lies in
    uvec2 weights;            // the decoded matrix, bf16
    uvec2 x, y;               // f32
    uvec2 sums;               // sumsPerTile for each tile: one per matrix row that it has a part of
    uvec2 counters;           // tiles taken, tiles failed
    uint rows, columns;       // columns: a multiple of 8
    uint tiles, sumsPerTile;
}
p;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Vectors { vec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float f[]; };

// Adds the products of 8 weights, two per word, and x[column] .. x[column + 7]. Even and odd
// columns are summed separately, so that there are two independent chains of additions.
vec2 multiplyAdd(uvec4 weights, uint column, vec2 sums)
{
    vec4 x[2];
    x[0] = Vectors(p.x).v[column >> 2];
    x[1] = Vectors(p.x).v[(column >> 2) + 1u];
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i) {
        sums.x += uintBitsToFloat(weights[i] << 16) * x[i >> 1][2u * (i & 1u)];
        sums.y += uintBitsToFloat(weights[i] & 0xffff0000u) * x[i >> 1][2u * (i & 1u) + 1u];
    }
    return sums;
}

// Returns the sum over the lanes of the group, always added in the same order.
float groupSum(float value)
{
    SLUICE_UNROLL
    for (uint i = 0u; i < 5u; ++i) {
        lgShare(floatBitsToUint(value));
        value += uintBitsToFloat(lgShared(lgLane() ^ 1u << i));
    }
    return value;
}
