// SPDX-License-Identifier: MIT OR Apache-2.0
// The half of the load (load.h) that runs in fragment shaders. The picture stays the same.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "load.glsl"

layout(location = 0) out vec4 shaded;

void main()
{
    uint result = work(uint(gl_FragCoord.x) + 16384u * uint(gl_FragCoord.y));
    // Blended with eight bits a channel, an alpha of 1/1024 changes nothing.
    shaded = vec4(0.0, 0.0, 0.0, result == 0u ? 1.0 / 1024.0 : 0.0);
}
