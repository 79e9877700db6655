// SPDX-License-Identifier: MIT OR Apache-2.0
// A plain copy, 16 bytes for each invocation, with which all rows are compared.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x_id = 0) in;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer From { uvec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer To { uvec4 v[]; };

layout(push_constant, std430) uniform Push
{
    uvec2 from;
    uvec2 to;
    uint count; // vectors of 16 bytes
    uint gridX; // number of workgroups along x
};

void main()
{
    uint index =
        (gl_WorkGroupID.y * gridX + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (index < count) To(to).v[index] = From(from).v[index];
}
