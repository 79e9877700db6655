// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws depth only. Colours are drawn after all depth, so only visible pixels run world.frag and
// report which levels they want.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "push.glsl"

layout(location = 0) in vec3 position;

invariant gl_Position;

void main() { gl_Position = viewProjection * vec4(position, 1.0); }
