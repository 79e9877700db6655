// SPDX-License-Identifier: MIT OR Apache-2.0
// The commands that decode lists of tiles, for any function that decodes one tile.
#pragma once

#include "layout/gdeflate.h"
#include "layout/gstd.h"
#include "cpu/regions.h"

namespace sluice::cpu {

// decodeTile is a function like decodeGdeflateTile.
template <typename DecodeTile>
void gdeflateList(const SluiceGdeflateInfo& info, DecodeTile decodeTile)
{
    const auto decode = [&](const SluiceRegion& region) {
        if (info.rowBytes == 0)
            return decodeRegion(info.flags, region, pointer<uint8_t>(region.dstAddress),
                                decodeTile);
        uint8_t linear[SLUICE_GD_TILE_BYTES];
        const uint32_t status = decodeRegion(info.flags, region, linear, decodeTile);
        if (status == SLUICE_ST_OK)
            forEachRun(info, region, [&](uint8_t* run, size_t at, size_t count) {
                std::copy_n(linear + at, count, run);
            });
        return status;
    };
    decodeRegions(info, SLUICE_GD_MAX_COMPRESSED, SLUICE_GD_TILE_BYTES, decode);
}

// decodeTile is a function like decodeGstdTile.
template <typename DecodeTile>
void gstdList(const SluiceGstdInfo& info, DecodeTile decodeTile)
{
    decodeRegions(info, SLUICE_GS_MAX_COMPRESSED, SLUICE_GS_TILE_BYTES,
                  [&](const SluiceRegion& region) {
                      return decodeRegion(info.flags, region, pointer<uint8_t>(region.dstAddress),
                                          decodeTile);
                  });
}

} // namespace sluice::cpu
