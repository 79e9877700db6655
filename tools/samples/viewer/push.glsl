// SPDX-License-Identifier: MIT OR Apache-2.0
// The push constants of all shaders of a frame. renderer.h has the same structure.
layout(push_constant, std430) uniform Push
{
    mat4 viewProjection;
    vec2 cell;    // size of an overlay's letter in clip space, which is from -1 to 1
    uint pattern; // which pixel of each 4 x 4 reports feedback in this frame
};
