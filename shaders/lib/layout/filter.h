// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters (docs/format.md, section 8).
#ifndef SLUICE_LAYOUT_FILTER_H
#define SLUICE_LAYOUT_FILTER_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Push constants of filter.comp. A tile in the list: SLUICE_FILTER_TILE_WORDS words, see
// SluiceFilterTile.
#define SLUICE_FILTER_TILE_WORDS 8u
#define SLUICE_FILTER_MAX_STRIDE 128u
#define SLUICE_FILTER_MAX_SECTIONS 255u
#define SLUICE_FILTER_REST 0x1fffffu
#define SLUICE_FILTER_WORKGROUPS 512u  // at most; each has scratch for one tile
#define SLUICE_FILTER_TICKET_BYTES 16u // behind all of that: the number of tiles taken in turn
// Bytes of scratch for the values of a section's columns, beyond its own: for each column 3 values
// at the begin, so that rows start at words, and up to 15 at the end.
#define SLUICE_FILTER_SLACK (18u * SLUICE_FILTER_MAX_STRIDE)
struct FilterParams {
    SLUICE_ADDRESS tiles;
    SLUICE_ADDRESS tileCount; // 0: none, maxTileCount counts
    SLUICE_ADDRESS descriptions;
    SLUICE_ADDRESS descriptionsSize;
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    SLUICE_ADDRESS scratch;
    u32 maxTileCount;
    u32 statusCount;
    u32 maxTileBytes;
    u32 scratchBytes; // of a workgroup
    u32 workgroups;
    u32 tickets; // 1: a workgroup that is done with a tile takes the next that none has; 0: one
                 // that lies `workgroups` further on
};

SLUICE_LAYOUT_END
#endif
