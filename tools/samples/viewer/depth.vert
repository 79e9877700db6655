// SPDX-License-Identifier: MIT OR Apache-2.0
// Depth first, so that in the pass that follows only what is seen says which levels it wants.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "push.glsl"

layout(location = 0) in vec3 position;

invariant gl_Position;

void main() { gl_Position = viewProjection * vec4(position, 1.0); }
