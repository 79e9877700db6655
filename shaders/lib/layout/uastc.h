// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcoding of UASTC blocks (docs/uastc.md).
#ifndef SLUICE_LAYOUT_UASTC_H
#define SLUICE_LAYOUT_UASTC_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

#define SLUICE_UA_BLOCK_BYTES 16u
// EACH: the blocks that an invocation transcodes to a target of `group` in kernels whose workgroups
// sort blocks; MOST_EACH is its maximum. In other kernels, an invocation transcodes one block.
#define SLUICE_UA_EACH(group) ((group) <= SLUICE_UA_GROUP_RGBA8 ? SLUICE_UA_MOST_EACH : 1u)
#define SLUICE_UA_MOST_EACH 4u
#define SLUICE_UA_MAX_BLOCKS 16777216u // of a region
#define SLUICE_UA_MAX_SIDE 67108864u   // of a region, in texels: MAX_BLOCKS blocks in a row

// The targets. Pipelines are made for groups of targets that have most of their code in common.
#define SLUICE_UA_BC7 0u
#define SLUICE_UA_ASTC 1u
#define SLUICE_UA_RGBA8 2u
#define SLUICE_UA_BC1 3u
#define SLUICE_UA_BC3 4u
#define SLUICE_UA_BC4 5u
#define SLUICE_UA_BC5 6u // has R and G
#define SLUICE_UA_BC5_RA 7u
#define SLUICE_UA_ETC1 8u
#define SLUICE_UA_ETC2 9u // with alpha

#define SLUICE_UA_GROUP_BC7 0u
#define SLUICE_UA_GROUP_ASTC 1u
#define SLUICE_UA_GROUP_RGBA8 2u
#define SLUICE_UA_GROUP_BC 3u
#define SLUICE_UA_GROUP_ETC 4u

// The two lower words of a block of opaque magenta, which replaces every invalid block. The two
// upper words are 0. The block's hints for ETC1 are the colour (31, 0, 31), table 0 and selector 2.
#define SLUICE_UA_MAGENTA_X (0x17u | 255u << 5 | 255u << 21 | 7u << 29)
#define SLUICE_UA_MAGENTA_Y (31u | (1u | 2u << 4 | 31u << 6 | 31u << 16) << 5)

// The size of an entry of the list of regions, SluiceUastcRegion.
#define SLUICE_UA_REGION_BYTES 24u

// The words that each region has in scratch; a command clears them first. ENDED counts the
// workgroups that have ended, and gets a flag ANY_* if one of them found an invalid block or was
// stopped early. INVALID counts invalid blocks. FIRST is the bitwise complement of the lowest index
// of an invalid block, so that 0 means none.
#define SLUICE_UA_ENDED 0u
#define SLUICE_UA_INVALID 1u
#define SLUICE_UA_FIRST 2u
#define SLUICE_UA_SCRATCH_WORDS 4u
#define SLUICE_UA_ANY_INVALID 0x80000000u
#define SLUICE_UA_ANY_STOPPED 0x40000000u // a driver left a loop early

// Push constants of uastc.comp.
struct UastcParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: maxRegionCount is the number of regions
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    SLUICE_ADDRESS invalid; // two words for each region (uastcEndRegion); 0: not written
    SLUICE_ADDRESS scratch;
    u32 maxRegionCount;
    u32 regionStride; // bytes, a multiple of 4
    u32 target;
    u32 maxBlocks; // of a region
    u32 pieces;    // workgroups for each region
    u32 inPlace;   // 1: source and destination are the same range
};

SLUICE_LAYOUT_END
#endif
