// SPDX-License-Identifier: MIT OR Apache-2.0
// The parameters of kernels that work through a list of regions: GDeflate, the checksum and the
// driver's decoder.
#ifndef SLUICE_LAYOUT_REGIONS_H
#define SLUICE_LAYOUT_REGIONS_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Flags in RegionParams and GstdParams, which have the values of SluiceDecodeFlags.
#define SLUICE_FLAG_STORED_IF_EQUAL 1u
#define SLUICE_FLAG_BY_DRIVER 2u

// Push constants of gdeflate.comp, checksum.comp, driver_regions.comp, and of status.comp, which is
// the first dispatch of every decode. They take at most the 128 bytes that every device supports.
// src/api/plan_regions.h sets the last four members.
struct RegionParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: maxRegionCount is the number of regions
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize; // logical bytes, without padding of rows
    SLUICE_ADDRESS status;
    // For checksum.comp: address of the checksums that the tiles must have.
    SLUICE_ADDRESS expected;
    SLUICE_ADDRESS scratch; // for driver_regions.comp: the driver's list
    u32 maxRegionCount;
    u32 regionStride; // bytes, a multiple of 4
    u32 flags;
    // 0 if rows have no padding. Otherwise logical byte b of the destination lies at byte b /
    // rowBytes * rowPitch + b % rowBytes (lib/pitch.glsl).
    u32 rowBytes;
    u32 rowPitch;
    u32 rowMagic; // for n < 2^31, n / rowBytes is (n * rowMagic >> 32) >> rowShift
    u32 rowShift;
};

// In the list that driver_regions.comp writes, word 0 is the number of regions. The regions begin
// at word LIST_AT, REGION_WORDS words each.
#define SLUICE_DRIVER_LIST_AT 4u
#define SLUICE_DRIVER_REGION_WORDS 10u

SLUICE_LAYOUT_END
#endif
