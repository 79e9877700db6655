// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks regions of Zstandard frames and decodes them with a decoder that the caller passes in.
#pragma once

#include <sluice/sluice_zstd.h>

#include <memory>

#include "api/plan_zstd.h"
#include "cpu/regions.h"
#include "cpu/zstd.h"
#include "formats/errors.h"

namespace sluice::cpu {

// Decodes the regions of a command. decode(const ZstdRegion&) decodes one region and returns a
// ZstdOutcome. May throw std::bad_alloc.
template <class Decode>
void decodeZstdList(const SluiceZstdInfo& info, Decode decode)
{
    const auto dictionary = std::make_unique<zstd::Dictionary>();
    uint32_t status = SLUICE_ST_OK; // the dictionary's status; an error fails all regions
    if (info.dictionary.size != 0)
        status = zstd::readDictionary(pointer<const uint8_t>(info.dictionary),
                                      size_t(info.dictionary.size), *dictionary);
    forEachRegion(info, [&](const SluiceRegion& region) -> uint32_t {
        if (region.compressedSize == 0 || region.compressedSize > SLUICE_ZS_MAX_SOURCE ||
            !inside(info.source, region.srcAddress, region.compressedSize) ||
            region.dstAddress % 4 != 0 || region.decompressedSize > info.maxRegionSize ||
            !inside(info.destination, region.dstAddress, region.decompressedSize))
            return SLUICE_ST_BAD_REGION;
        if (status != SLUICE_ST_OK) return status;
        ZstdRegion frames = {};
        frames.source = pointer<const uint8_t>(region.srcAddress);
        frames.sourceSize = size_t(region.compressedSize);
        frames.destination = pointer<uint8_t>(region.dstAddress);
        frames.size = size_t(region.decompressedSize);
        frames.checksums = (info.flags & SLUICE_ZSTD_CHECKSUMS) != 0;
        frames.maxBlocks = zstdMaxBlocks(info);
        frames.dictionary = dictionary.get();
        return decode(frames).status;
    });
}

// Decodes the regions of a command. Returns OUT_OF_MEMORY where decodeZstdList throws.
template <class Decode>
SluiceStatus zstdList(const SluiceZstdInfo& info, Decode decode)
{
    return withoutExceptions([&] {
        decodeZstdList(info, decode);
        return SLUICE_OK;
    });
}

} // namespace sluice::cpu
