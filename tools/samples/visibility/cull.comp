// SPDX-License-Identifier: MIT OR Apache-2.0
// Sets a bit for each visible instance; an invocation handles 32 instances. Spheres and planes are
// integers, so that the CPU computes exactly the same bits when it checks them.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 64) in;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Spheres
{
    ivec4 centreRadius[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Mask
{
    uint words[];
};

layout(push_constant, std430) uniform Push
{
    // A point p is inside if dot(p, plane.xyz) + plane.w >= 0. The normals have a length of about
    // 64, so the sum is about 64 times the distance.
    ivec4 planes[4];
    uvec2 spheres;
    uvec2 mask;
    uint instances;
};

bool isVisible(ivec4 sphere)
{
    bool visible = true;
    for (uint i = 0u; i < 4u; ++i) {
        ivec3 product = sphere.xyz * planes[i].xyz;
        visible = visible && product.x + product.y + product.z + planes[i].w >= -64 * sphere.w;
    }
    return visible;
}

void main()
{
    uint first = gl_GlobalInvocationID.x * 32u, word = 0u;
    if (first >= instances) return;
    for (uint i = 0u; i < min(32u, instances - first); ++i)
        word |= isVisible(Spheres(spheres).centreRadius[first + i]) ? 1u << i : 0u;
    Mask(mask).words[gl_GlobalInvocationID.x] = word;
}
