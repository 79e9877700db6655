// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the commands that decode lists of tiles. The reference and the fast decoders pass in the
// function that decodes one tile.
#pragma once

#include "layout/gdeflate.h"
#include "layout/gstd.h"
#include "api/plan_gstd.h"
#include "cpu/regions.h"

namespace sluice::cpu {

// Runs a GDeflate command. decodeTile has the arguments of decodeGdeflateTile. If the destination
// has rows with gaps between them, a tile is first decoded to the array `linear`.
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
    decodeRegions(info, {}, SLUICE_GD_MAX_COMPRESSED, SLUICE_GD_TILE_BYTES, decode);
}

// Runs a Gstd command. decodeTile has the arguments of decodeGstdTile.
template <typename DecodeTile>
void gstdList(const SluiceGstdInfo& info, DecodeTile decodeTile)
{
    decodeRegions(info, info.secondDestination, SLUICE_GS_MAX_COMPRESSED, gstdTileBytes(info),
                  [&](const SluiceRegion& region) {
                      return decodeRegion(info.flags, region, pointer<uint8_t>(region.dstAddress),
                                          decodeTile);
                  });
}

} // namespace sluice::cpu
