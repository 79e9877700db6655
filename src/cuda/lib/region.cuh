// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and checks the list of regions of a decode (RegionParams, GstdParams), and writes the
// tiles' statuses. Hostile lists are rejected here: a kernel must not access any byte of a region
// before sourceAllowed and destinationAllowed have returned true. shaders/lib/region.glsl does the
// same in GLSL.
#pragma once

#include "cuda/lib/launch.cuh"

namespace sluice {

// Returns the number of regions: the number in device memory, if there is one, but never more than
// the list has room for.
template <typename Params>
__device__ uint32_t regionCount(const Params& params)
{
    const uint32_t* count = pointerFrom<const uint32_t>(params.regionCount);
    return count == nullptr ? params.maxRegionCount : min(*count, params.maxRegionCount);
}

// An entry of the list of regions (SluiceRegion).
struct Region {
    uint64_t source, destination, sourceSize, size;
};

// Loads a region word by word. If the stride is an odd number of words, every second region is only
// 4-byte aligned, so 64-bit loads would be misaligned.
template <typename Params>
__device__ Region loadRegion(const Params& params, uint32_t index)
{
    const uint32_t* words = pointerFrom<const uint32_t>(params.regions) +
                            static_cast<uint64_t>(params.regionStride / 4) * index;
    const auto load = [words](uint32_t at) {
        return static_cast<uint64_t>(words[at + 1]) << 32 | words[at];
    };
    return Region{load(0), load(2), load(4), load(6)};
}

// Returns whether [address, address + size) is wholly inside a buffer. No sum here can overflow.
__device__ inline bool insideBuffer(uint64_t address, uint64_t size, U64Pair buffer,
                                    U64Pair bufferSize)
{
    const uint64_t start = u64From(buffer), length = u64From(bufferSize);
    return address >= start && address - start <= length && size <= length - (address - start);
}

// Returns whether the source has 1 to `most` bytes and lies inside the source buffer. It may have
// any alignment.
template <typename Params>
__device__ bool sourceInside(const Params& params, const Region& region, uint64_t most)
{
    return region.sourceSize - 1 < most &&
           insideBuffer(region.source, region.sourceSize, params.source, params.sourceSize);
}

// Returns whether the source is 4-byte aligned, has 1 to `most` bytes and lies inside the source
// buffer.
template <typename Params>
__device__ bool sourceAllowed(const Params& params, const Region& region, uint64_t most)
{
    return region.source % 4 == 0 && region.sourceSize - 1 < most &&
           insideBuffer(region.source, region.sourceSize, params.source, params.sourceSize);
}

// Returns true if the output is 4-byte aligned, has 1 to `most` bytes, and lies inside `range`.
__device__ inline bool outputInside(const Region& region, uint64_t most, U64Pair range,
                                    U64Pair rangeSize)
{
    return region.destination % 4 == 0 && region.size - 1 < most &&
           insideBuffer(region.destination, region.size, range, rangeSize);
}

// Returns what outputInside returns for the destination buffer.
template <typename Params>
__device__ bool destinationAllowed(const Params& params, const Region& region, uint64_t most)
{
    return outputInside(region, most, params.destination, params.destinationSize);
}

// Writes the final status of item `index` of `count`. A failure is also added to the summary behind
// the statuses: the number of failures, and the first item that failed. One lane calls this.
__device__ inline void writeStatus(U64Pair statuses, uint32_t count, uint32_t index,
                                   uint32_t status)
{
    uint32_t* list = pointerFrom<uint32_t>(statuses);
    list[index] = status;
    if (status == SLUICE_ST_OK) return;
    atomicAdd(&list[count], 1u);
    atomicMin(&list[count + 1], index);
}

template <typename Params>
__device__ void writeStatus(const Params& params, uint32_t index, uint32_t status)
{
    writeStatus(params.status, params.maxRegionCount, index, status);
}

} // namespace sluice
