// SPDX-License-Identifier: MIT OR Apache-2.0
// Common parts of the shaders of the products. Include lanes.glsl, loops.glsl and units.glsl first.

layout(push_constant, std430) uniform Push
{
    uvec2 tensor;             // address of a SluiceFloatTensor: the encoded matrix
    uvec2 source, sourceSize; // address and bytes of the buffer that holds the encoded matrix
    uvec2 weights;            // address of the decoded matrix, bf16
    uvec2 x, y;               // addresses of the vectors, f32
    // Address of f32 sums. Each tile has sumsPerTile of them, one for each matrix row that has a
    // part in the tile.
    uvec2 sums;
    uvec2 counters;     // two words: tiles taken, tiles failed
    uint rows, columns; // columns is a multiple of 8
    uint tiles, sumsPerTile;
}
p;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Vectors { vec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float f[]; };

// Adds the products of 8 weights (two in a word) with x[column] .. x[column + 7] to `sums`. Even
// and odd columns have sums of their own, so that there are two independent chains of additions.
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

// Returns the sum over the lanes of the group. The order of additions is fixed, so that results
// repeat bit by bit.
float groupSum(float value)
{
    SLUICE_UNROLL
    for (uint i = 0u; i < 5u; ++i) {
        lgShare(floatBitsToUint(value));
        value += uintBitsToFloat(lgShared(lgLane() ^ 1u << i));
    }
    return value;
}
