// SPDX-License-Identifier: MIT OR Apache-2.0
// The half of the load (load.h) that runs in compute shaders.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "load.glsl"

layout(local_size_x = 128) in;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Sink { uint word; };

void main()
{
    uint result = work(gl_GlobalInvocationID.x);
    if (result == 0u) Sink(sink).word = result;
}
