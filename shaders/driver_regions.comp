// SPDX-License-Identifier: MIT OR Apache-2.0
// For a decode by the Vulkan driver, which checks nothing and reports nothing: copies the regions
// that are allowed to a list of the driver's (VkDecompressMemoryRegionNV, which begins like
// VkDecompressMemoryRegionEXT), in any order, and gives every region its status. One invocation a
// region.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"

layout(push_constant, std430) uniform Push { RegionParams p; };

void main() {
    uint group = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    uint index = group * gl_WorkGroupSize.x + wgInvocation();
    uint count = p.maxRegionCount;
    if (p.regionCount != uvec2(0u)) count = min(count, WordsIn(p.regionCount).w[0]);
    if (index >= count) return;

    WordsIn region = WordsIn(add64(p.regions, mul64(index, p.regionStride)));
    uvec2 source = uvec2(region.w[0], region.w[1]), destination = uvec2(region.w[2], region.w[3]);
    uvec2 sourceSize = uvec2(region.w[4], region.w[5]), size = uvec2(region.w[6], region.w[7]);
    bool allowed = ((source.x | destination.x) & 3u) == 0u && sourceSize.y == 0u && size.y == 0u &&
                   sourceSize.x - 1u < SLUICE_GD_MAX_COMPRESSED &&
                   size.x - 1u < SLUICE_GD_TILE_BYTES &&
                   inside64(source, sourceSize, p.source, p.sourceSize) &&
                   inside64(destination, size, p.destination, p.destinationSize);
    WordsOut(p.status).w[index] = allowed ? SLUICE_ST_UNVERIFIED : SLUICE_ST_BAD_REGION;
    if (!allowed) {
        atomicAdd(WordsOut(p.status).w[p.maxRegionCount], 1u);
        atomicMin(WordsOut(p.status).w[p.maxRegionCount + 1u], index);
        return;
    }
    uint place = atomicAdd(WordsOut(p.scratch).w[0], 1u);
    // maxRegionCount is at most 2^24
    uint at = SLUICE_DRIVER_LIST_AT + place * SLUICE_DRIVER_REGION_WORDS;
    WordsOut list = WordsOut(p.scratch);
    list.w[at] = source.x;
    list.w[at + 1u] = source.y;
    list.w[at + 2u] = destination.x;
    list.w[at + 3u] = destination.y;
    list.w[at + 4u] = sourceSize.x;
    list.w[at + 5u] = 0u;
    list.w[at + 6u] = size.x;
    list.w[at + 7u] = 0u;
    list.w[at + 8u] = 1u; // the method: GDeflate 1.0
    list.w[at + 9u] = 0u;
}
