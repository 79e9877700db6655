// SPDX-License-Identifier: MIT OR Apache-2.0
// Prepares a decode by the Vulkan driver, which checks nothing and reports nothing. Each invocation
// checks a region and sets its status. Valid regions are appended to the driver's list, in any
// order. A VkDecompressMemoryRegionNV of that list begins like a VkDecompressMemoryRegionEXT.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout/gdeflate.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"

layout(push_constant, std430) uniform Push { RegionParams p; };
#include "lib/region.glsl"

void main() {
    uint group = wgIndex();
    uint index = group * gl_WorkGroupSize.x + wgInvocation();
    if (index >= regionCount()) return;
    Region region = loadRegion(index);
    if (!sourceAllowed(region, SLUICE_GD_MAX_COMPRESSED) ||
        !destinationAllowed(region, SLUICE_GD_TILE_BYTES)) {
        writeStatus(p.status, p.maxRegionCount, index, SLUICE_ST_BAD_REGION);
        return;
    }
    WordsOut(p.status).w[index] = SLUICE_ST_UNVERIFIED;
    uint place = atomicAdd(WordsOut(p.scratch).w[0], 1u);
    // maxRegionCount is at most 2^24, so the index fits in 32 bits.
    uint at = SLUICE_DRIVER_LIST_AT + place * SLUICE_DRIVER_REGION_WORDS;
    WordsOut list = WordsOut(p.scratch);
    list.w[at] = region.source.x;
    list.w[at + 1u] = region.source.y;
    list.w[at + 2u] = region.destination.x;
    list.w[at + 3u] = region.destination.y;
    list.w[at + 4u] = region.sourceSize.x;
    list.w[at + 5u] = 0u;
    list.w[at + 6u] = region.size.x;
    list.w[at + 7u] = 0u;
    // The method of decompression: GDeflate 1.0.
    list.w[at + 8u] = 1u;
    list.w[at + 9u] = 0u;
}
