// SPDX-License-Identifier: MIT OR Apache-2.0
// The limits and parameters of FSE tables (RFC 8878, 4.1).
#ifndef SLUICE_LAYOUT_FSE_H
#define SLUICE_LAYOUT_FSE_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Limits, flags and push constants of fse_tables.comp.
#define SLUICE_FSE_LANES 32u
#define SLUICE_FSE_FLAG_COUNTS 1u
#define SLUICE_FSE_LOG_MIN 5u
#define SLUICE_FSE_LOG_MAX 9u
#define SLUICE_FSE_SYMBOLS 256u
struct FseTablesParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: maxRegionCount is the number of regions
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    u32 maxRegionCount;
    u32 regionStride; // bytes, a multiple of 4
    u32 flags;
    u32 maxSymbols;
    u32 maxLog;
    u32 tablesPerGroup; // tables that a lane group builds, 1 .. 32
};

SLUICE_LAYOUT_END
#endif
