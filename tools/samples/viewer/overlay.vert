// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws one letter per instance, as two triangles.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "push.glsl"

layout(set = 0, binding = 2, std430) readonly buffer Letters
{
    uint letters[]; // character - 32 | column << 8 | row << 20
};

layout(location = 0) out vec2 at; // place in the letter's cell of 4 x 6 dots
layout(location = 1) flat out uint letter;

void main()
{
    uint packed = letters[gl_InstanceIndex];
    // Corners of both triangles: 0 1 2, 3 2 1.
    uint corner = gl_VertexIndex < 3 ? gl_VertexIndex : 6 - gl_VertexIndex;
    vec2 unit = vec2(corner & 1u, corner >> 1);
    letter = packed & 0xffu;
    at = unit * vec2(4.0, 6.0);
    vec2 place = vec2(packed >> 8 & 0xfffu, packed >> 20) + unit;
    gl_Position = vec4(place * cell - 1.0, 0.0, 1.0);
}
