// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and checks the region list of a decode. Hostile lists are rejected here: a kernel must not
// access any byte of a region before sourceAllowed and destinationAllowed have returned true.
// src/cuda/lib/region.cuh is the same in CUDA.
//
// The includer declares its push constants before it includes this file. They are named `p` and
// have the members of RegionParams that are used here (GstdParams and FseTablesParams have them
// too).
#ifndef SLUICE_REGION_GLSL
#define SLUICE_REGION_GLSL

#include "memory.glsl"

struct Region { // SluiceRegion
    uvec2 source, destination, sourceSize, size;
};

uint regionCount() { return countOf(p.regionCount, p.maxRegionCount); }

Region loadRegion(uint index) {
    WordsIn list = WordsIn(add64(p.regions, mul64(index, p.regionStride)));
    return Region(uvec2(list.w[0], list.w[1]), uvec2(list.w[2], list.w[3]),
                  uvec2(list.w[4], list.w[5]), uvec2(list.w[6], list.w[7]));
}

// Returns whether the source has 1 to `most` bytes and lies inside the source buffer, at any
// alignment.
bool sourceInside(Region region, uint most) {
    return region.sourceSize.y == 0u && region.sourceSize.x - 1u < most &&
           inside64(region.source, region.sourceSize, p.source, p.sourceSize);
}

// Does the same for a source that must be 4-byte aligned.
bool sourceAllowed(Region region, uint most) {
    return (region.source.x & 3u) == 0u && sourceInside(region, most);
}

// Returns whether the destination is 4-byte aligned, has 1 to `most` bytes and lies inside the
// destination buffer.
bool destinationAllowed(Region region, uint most) {
    return (region.destination.x & 3u) == 0u && region.size.y == 0u && region.size.x - 1u < most &&
           inside64(region.destination, region.size, p.destination, p.destinationSize);
}

#endif // SLUICE_REGION_GLSL
