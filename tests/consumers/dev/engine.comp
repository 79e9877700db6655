// SPDX-License-Identifier: MIT OR Apache-2.0
// A shader of an engine, built from sluice's parts: exclusive sums of a workgroup's numbers.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "lib/scan.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Numbers { uint n[]; };
layout(push_constant, std430) uniform Push { uvec2 numbers; };

void main()
{
    uint total, value = Numbers(numbers).n[wgInvocation()];
    Numbers(numbers).n[wgInvocation()] = wgExclusiveAdd(value, total);
}
