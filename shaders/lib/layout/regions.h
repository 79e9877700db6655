// SPDX-License-Identifier: MIT OR Apache-2.0
// Region lists, the input of GDeflate, the checksum and the driver's decoder.
#ifndef SLUICE_LAYOUT_REGIONS_H
#define SLUICE_LAYOUT_REGIONS_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// RegionParams::flags and GstdParams::flags have the values of SluiceDecodeFlags.
#define SLUICE_FLAG_STORED_IF_EQUAL 1u
#define SLUICE_FLAG_BY_DRIVER 2u

// Push constants of gdeflate.comp, checksum.comp and driver_regions.comp (at most 128 bytes). The
// first dispatch of a decode, status.comp, uses the same block. src/api/plan_regions.h fills the
// last four members.
struct RegionParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: none, maxRegionCount counts
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize; // logical bytes, if the destination is a pitched view
    SLUICE_ADDRESS status;
    SLUICE_ADDRESS expected; // checksum.comp
    SLUICE_ADDRESS scratch;  // driver_regions.comp: the list
    u32 maxRegionCount;
    u32 regionStride; // bytes, a multiple of 4
    u32 flags;
    u32 rowBytes; // 0: linear; else logical byte b lies at b / rowBytes * rowPitch + b % rowBytes
                  // (lib/pitch.glsl)
    u32 rowPitch;
    u32 rowMagic; // n / rowBytes = (n * rowMagic >> 32) >> rowShift for n < 2^31
    u32 rowShift;
};

// driver_regions.comp writes a count, then regions of REGION_WORDS words each, starting at word
// LIST_AT.
#define SLUICE_DRIVER_LIST_AT 4u
#define SLUICE_DRIVER_REGION_WORDS 10u

SLUICE_LAYOUT_END
#endif
