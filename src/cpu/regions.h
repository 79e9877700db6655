// SPDX-License-Identifier: MIT OR Apache-2.0
// Region lists and the status words that go with them.
#pragma once

#include "kernels.h"

#include "../../shaders/lib/layout.h"
#include "../api/plan_regions.h"

#include <algorithm>
#include <cstring>

namespace sluice::cpu {

// Whether [address, address + size) lies wholly inside the buffer; nothing overflows, whatever the
// values.
inline bool inside(const SluiceBuffer& buffer, uint64_t address, uint64_t size)
{
    const uint64_t begin = buffer.handle + buffer.offset;
    return address >= begin && address - begin <= buffer.size &&
           size <= buffer.size - (address - begin);
}

// Info: SluiceGdeflateInfo or SluiceChecksumInfo. The region's place is a logical one.
template <typename Info>
bool validDestination(const Info& info, const SluiceRegion& region, uint64_t maxSize)
{
    SluiceBuffer logical = info.destination;
    logical.size = logicalSize(logical.size, info.rowBytes, info.rowPitch);
    return region.dstAddress % 4 == 0 && region.decompressedSize >= 1 &&
           region.decompressedSize <= maxSize &&
           inside(logical, region.dstAddress, region.decompressedSize);
}

// Calls visit(bytes, at, size) for each run of a valid region's bytes that lie one after the other:
// at is where the run starts in the tile.
template <typename Info, typename Visit>
void forEachRun(const Info& info, const SluiceRegion& region, Visit visit)
{
    const uint64_t base = info.destination.handle + info.destination.offset;
    const uint64_t start = region.dstAddress - base, size = region.decompressedSize;
    for (uint64_t at = 0; at < size;) {
        const uint64_t b = start + at;
        const uint64_t row = info.rowBytes == 0 ? 0 : b / info.rowBytes,
                       column = b - row * info.rowBytes;
        const uint64_t run =
            info.rowBytes == 0 ? size : std::min(size - at, info.rowBytes - column);
        visit(reinterpret_cast<uint8_t*>(uintptr_t(base + row * info.rowPitch + column)),
              size_t(at), size_t(run));
        at += run;
    }
}

inline bool validSource(const SluiceBuffer& source, const SluiceRegion& region, uint64_t maxSize)
{
    return region.srcAddress % 4 == 0 && region.compressedSize >= 1 &&
           region.compressedSize <= maxSize &&
           inside(source, region.srcAddress, region.compressedSize);
}

// Info: SluiceGdeflateInfo or SluiceChecksumInfo.
template <typename Info>
u32 regionCount(const Info& info)
{
    return info.regionCount.size == 0
               ? info.maxRegionCount
               : std::min(info.maxRegionCount, *pointer<const u32>(info.regionCount));
}

// A copy: with a stride that is no multiple of 8 the list's 64-bit members are not aligned.
template <typename Info>
SluiceRegion region(const Info& info, u32 index)
{
    SluiceRegion result;
    std::memcpy(&result, pointer<const uint8_t>(info.regions) + uint64_t(index) * info.regionStride,
                sizeof result);
    return result;
}

// The status words: one a region, then how many failed, then the first that did.
class StatusWords {
public:
    StatusWords(const SluiceBuffer& buffer, u32 maxRegionCount)
        : words(pointer<u32>(buffer)), count(maxRegionCount)
    {
    }

    void reset()
    {
        std::fill_n(words, size_t(count) + 1, SLUICE_ST_PENDING);
        words[size_t(count) + 1] = ~0u;
    }

    u32 get(u32 index) const { return words[index]; }

    void set(u32 index, u32 status)
    {
        words[index] = status;
        if (status != SLUICE_ST_OK) {
            ++words[count];
            words[size_t(count) + 1] = std::min(words[size_t(count) + 1], index);
        }
    }

private:
    u32* words;
    u32 count;
};

} // namespace sluice::cpu
