// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and checks the list of regions of a decode. Hostile lists are rejected here: a kernel must
// not access any byte of a region before sourceAllowed and destinationAllowed have returned true.
// src/cuda/lib/region.cuh is the same in CUDA.
//
// The includer must declare its push constants before it includes this file. They must be named
// `p`, and have those members of RegionParams that are used here (GstdParams and FseTablesParams
// have them).
#ifndef SLUICE_REGION_GLSL
#define SLUICE_REGION_GLSL

#include "memory.glsl"

// An entry of the list of regions: a SluiceRegion.
struct Region {
    uvec2 source, destination, sourceSize, size;
};

uint regionCount() { return countOf(p.regionCount, p.maxRegionCount); }

Region loadRegion(uint index) {
    WordsIn list = WordsIn(add64(p.regions, mul64(index, p.regionStride)));
    return Region(uvec2(list.w[0], list.w[1]), uvec2(list.w[2], list.w[3]),
                  uvec2(list.w[4], list.w[5]), uvec2(list.w[6], list.w[7]));
}

// Returns whether the source has 1 to `most` bytes and lies inside the source buffer. It may have
// any alignment.
bool sourceInside(Region region, uint most) {
    return region.sourceSize.y == 0u && region.sourceSize.x - 1u < most &&
           inside64(region.source, region.sourceSize, p.source, p.sourceSize);
}

// Returns whether the source is 4-byte aligned and sourceInside(region, most) is true.
bool sourceAllowed(Region region, uint most) {
    return (region.source.x & 3u) == 0u && sourceInside(region, most);
}

// Returns whether the output is 4-byte aligned, has 1 to `most` bytes and lies inside the
// `rangeSize` bytes at the address `range`.
bool outputInside(Region region, uint most, uvec2 range, uvec2 rangeSize) {
    return (region.destination.x & 3u) == 0u && region.size.y == 0u && region.size.x - 1u < most &&
           inside64(region.destination, region.size, range, rangeSize);
}

// Returns whether outputInside is true for the destination buffer.
bool destinationAllowed(Region region, uint most) {
    return outputInside(region, most, p.destination, p.destinationSize);
}

#endif // SLUICE_REGION_GLSL
