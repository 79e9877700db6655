// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists of regions, and their status words. A *region* says where the compressed bytes of a tile
// are, where in the destination its decoded bytes go, and the sizes of both.
#pragma once

#include "cpu/memory.h"

#include "layout/base.h"
#include "layout/regions.h"
#include "api/plan_regions.h"

#include <cstring>

namespace sluice::cpu {

// Returns whether the bytes [address, address + size) lie inside the buffer. No value of the
// arguments makes the computation overflow.
inline bool inside(const SluiceBuffer& buffer, uint64_t address, uint64_t size)
{
    // On every backend a buffer of size 0 counts as one at address 0, whatever its handle is.
    const uint64_t begin = buffer.size == 0 ? 0 : buffer.handle + buffer.offset;
    return address >= begin && address - begin <= buffer.size &&
           size <= buffer.size - (address - begin);
}

// Returns whether a region's compressed bytes are aligned, inside the source and at most maxSize
// long.
inline bool validSource(const SluiceBuffer& source, const SluiceRegion& region, uint64_t maxSize)
{
    return region.srcAddress % 4 == 0 && region.compressedSize >= 1 &&
           region.compressedSize <= maxSize &&
           inside(source, region.srcAddress, region.compressedSize);
}

// Returns whether a region's decoded bytes are aligned, inside the destination and at most maxSize
// long. If the destination has gaps between its rows (rowBytes, rowPitch), the region's address is
// counted as if there were no gaps.
inline bool validDestination(const SluiceChecksumInfo& list, const SluiceRegion& region,
                             uint64_t maxSize)
{
    SluiceBuffer logical = list.destination;
    logical.size = logicalSize(logical.size, list.rowBytes, list.rowPitch);
    return region.dstAddress % 4 == 0 && region.decompressedSize >= 1 &&
           region.decompressedSize <= maxSize &&
           inside(logical, region.dstAddress, region.decompressedSize);
}

// Calls visit(bytes, at, size) for each piece of a valid region that is contiguous in the
// destination: for the whole region, or for its piece in each row. at: the piece's offset in the
// tile.
template <typename Info, typename Visit>
void forEachRun(const Info& info, const SluiceRegion& region, Visit visit)
{
    const uint64_t base = info.destination.handle + info.destination.offset;
    const uint64_t start = region.dstAddress - base, size = region.decompressedSize;
    for (uint64_t at = 0; at < size;) {
        const uint64_t row = info.rowBytes == 0 ? 0 : (start + at) / info.rowBytes;
        const uint64_t column = start + at - row * info.rowBytes;
        const uint64_t run =
            info.rowBytes == 0 ? size : std::min(size - at, info.rowBytes - column);
        visit(pointer<uint8_t>(base + row * info.rowPitch + column), size_t(at), size_t(run));
        at += run;
    }
}

// Returns a copy of entry `index` of a list whose entries are `stride` bytes apart. It is a copy
// because the 64-bit members of an entry in the list need not be aligned.
template <typename T>
T entryAt(const SluiceBuffer& list, uint32_t index, uint32_t stride)
{
    T entry;
    std::memcpy(&entry, pointer<const uint8_t>(list) + uint64_t(index) * stride, sizeof entry);
    return entry;
}

// The status words of a command: one for each of `count` regions, then the number of failed
// regions, then the index of the first failed region, or ~0.
class StatusWords {
public:
    StatusWords(const SluiceBuffer& buffer, uint32_t count)
        : m_words(pointer<uint32_t>(buffer)), m_count(count)
    {
    }

    void reset()
    {
        std::fill_n(m_words, size_t(m_count) + 1, SLUICE_ST_PENDING);
        m_words[size_t(m_count) + 1] = ~0u;
    }

    uint32_t get(uint32_t index) const { return m_words[index]; }

    void set(uint32_t index, uint32_t status)
    {
        m_words[index] = status;
        if (status == SLUICE_ST_OK) return;
        ++m_words[m_count];
        m_words[size_t(m_count) + 1] = std::min(m_words[size_t(m_count) + 1], index);
    }

private:
    uint32_t* m_words;
    uint32_t m_count;
};

// Calls visit(region) for every region of a list, and stores the returned status.
template <typename Info, typename Visit>
void forEachRegion(const Info& info, Visit visit)
{
    StatusWords status(info.status, info.maxRegionCount);
    status.reset();
    const uint32_t count = countOf(info.regionCount, info.maxRegionCount);
    for (uint32_t i = 0; i < count; ++i)
        status.set(i, visit(entryAt<SluiceRegion>(info.regions, i, info.regionStride)));
}

void compareChecksums(const SluiceChecksumInfo& info); // runs the checksum command; in checksum.cpp

// Runs the command of a tile codec: calls decode(region) for the valid regions, gives the others
// BAD_REGION, and compares checksums if the command has any.
//   second                  a second destination in which regions may lie; may be empty
//   maxSourceSize, maxSize  bytes of the largest compressed and decoded tile
template <typename Info, typename Decode>
void decodeRegions(const Info& info, const SluiceBuffer& second, uint64_t maxSourceSize,
                   uint64_t maxSize, Decode decode)
{
    const SluiceChecksumInfo list = checksumOf(info);
    SluiceChecksumInfo secondList = {};
    secondList.destination = second;
    forEachRegion(info, [&](const SluiceRegion& region) -> uint32_t {
        return validSource(info.source, region, maxSourceSize) &&
                       (validDestination(list, region, maxSize) ||
                        validDestination(secondList, region, maxSize))
                   ? decode(region)
                   : SLUICE_ST_BAD_REGION;
    });
    if (info.expected.size != 0) compareChecksums(list);
}

// Decodes a valid region to `destination` with decodeTile. If the flags contain STORED_IF_EQUAL and
// the region's two sizes are equal, its bytes are not compressed, so they are only copied.
template <typename DecodeTile>
uint32_t decodeRegion(uint32_t flags, const SluiceRegion& region, uint8_t* destination,
                      DecodeTile decodeTile)
{
    const uint8_t* source = pointer<const uint8_t>(region.srcAddress);
    const size_t sourceSize = size_t(region.compressedSize), size = size_t(region.decompressedSize);
    if ((flags & SLUICE_FLAG_STORED_IF_EQUAL) == 0 || sourceSize != size)
        return decodeTile(source, sourceSize, destination, size);
    std::copy_n(source, size, destination);
    return SLUICE_ST_OK;
}

} // namespace sluice::cpu
