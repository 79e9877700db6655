// SPDX-License-Identifier: MIT OR Apache-2.0
// The parts that all plans of region lists share: parameters, pitched destinations, and the
// checksum command that a decode includes.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>

#include "layout/regions.h"
#include "api/address.h"

#include <algorithm>

namespace sluice {

// Returns how many bytes a pitched destination of `size` bytes holds, without the padding of its
// rows.
inline uint64_t logicalSize(uint64_t size, uint32_t rowBytes, uint32_t rowPitch)
{
    return rowBytes == 0
               ? size
               : size / rowPitch * rowBytes + std::min<uint64_t>(size % rowPitch, rowBytes);
}

// Sets the buffers that every decode reads and writes. addressOf(buffer) returns a device address,
// 0 for an empty range.
template <typename Params, typename Info, typename AddressOf>
void setRanges(Params& params, const Info& info, const AddressOf& addressOf)
{
    params.source = pair(addressOf(info.source));
    params.sourceSize = pair(info.source.size);
    params.destination = pair(addressOf(info.destination));
    params.destinationSize = pair(info.destination.size);
    params.status = pair(addressOf(info.status));
}

// Sets the buffers, the region list and the flags of a command that decodes a region list.
template <typename Params, typename Info, typename AddressOf>
void setRegionList(Params& params, const Info& info, const AddressOf& addressOf)
{
    setRanges(params, info, addressOf);
    params.regions = pair(addressOf(info.regions));
    params.regionCount = pair(addressOf(info.regionCount));
    params.maxRegionCount = info.maxRegionCount;
    params.regionStride = info.regionStride;
    params.flags = info.flags;
}

// Sets rowMagic and rowShift, with which kernels divide by rowBytes: they multiply and shift
// (Granlund, Montgomery: Division by Invariant Integers using Multiplication, PLDI 1994). The
// quotient is exact for dividends below 2^31. A dividend is the sum of an offset in a row (below
// 2^30) and an offset in a tile, which is smaller.
inline void setRowPitch(RegionParams& params, uint32_t rowBytes, uint32_t rowPitch)
{
    params.rowBytes = rowBytes;
    params.rowPitch = rowPitch;
    if (rowBytes == 0) return;
    uint32_t bits = 2; // rowBytes is at least 4
    while ((uint64_t(1) << bits) < rowBytes)
        ++bits;
    params.rowMagic = uint32_t((uint64_t(1) << (31 + bits)) / rowBytes + 1);
    params.rowShift = bits - 1;
}

// Returns the parameters that a decode and a checksum have in common. addressOf(buffer) returns a
// device address, 0 for an empty range.
template <typename AddressOf>
RegionParams regionParams(const SluiceChecksumInfo& list, const AddressOf& addressOf)
{
    RegionParams params = {};
    params.regions = pair(addressOf(list.regions));
    params.regionCount = pair(addressOf(list.regionCount));
    params.destination = pair(addressOf(list.destination));
    params.destinationSize = pair(logicalSize(list.destination.size, list.rowBytes, list.rowPitch));
    params.status = pair(addressOf(list.status));
    params.expected = pair(addressOf(list.expected));
    params.maxRegionCount = list.maxRegionCount;
    params.regionStride = list.regionStride;
    setRowPitch(params, list.rowBytes, list.rowPitch);
    return params;
}

// Returns the checksum command that runs after a decode for which the caller gave `expected`. It
// describes a linear destination, without rows.
template <typename Info>
SluiceChecksumInfo linearChecksumOf(const Info& info)
{
    SluiceChecksumInfo checksum = {};
    checksum.maxRegionCount = info.maxRegionCount;
    checksum.regionStride = info.regionStride;
    checksum.regions = info.regions;
    checksum.regionCount = info.regionCount;
    checksum.destination = info.destination;
    checksum.expected = info.expected;
    checksum.status = info.status;
    return checksum;
}

inline SluiceChecksumInfo checksumOf(const SluiceGstdInfo& info) { return linearChecksumOf(info); }

inline SluiceChecksumInfo checksumOf(const SluiceGdeflateInfo& info)
{
    SluiceChecksumInfo checksum = linearChecksumOf(info);
    checksum.rowBytes = info.rowBytes;
    checksum.rowPitch = info.rowPitch;
    return checksum;
}

inline SluiceBuffer partOf(const SluiceBuffer& buffer, uint64_t offset, uint64_t size)
{
    return {buffer.handle, buffer.offset + offset, size};
}

} // namespace sluice
