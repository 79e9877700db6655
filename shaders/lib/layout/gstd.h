// SPDX-License-Identifier: MIT OR Apache-2.0
// Gstd (docs/format.md, section 7).
#ifndef SLUICE_LAYOUT_GSTD_H
#define SLUICE_LAYOUT_GSTD_H

#include "regions.h"

SLUICE_LAYOUT_BEGIN

#define SLUICE_GS_LANES 32u
#define SLUICE_GS_TILE_BYTES 262144u
#define SLUICE_GS_MAX_COMPRESSED 262400u
#define SLUICE_GS_PART_BYTES 65536u
#define SLUICE_GS_MAX_PARTS 16u
#define SLUICE_GS_LANE_GROUPS 16u       // lane groups decode the symbols of a tile
#define SLUICE_GS_BYTES_PER_SEQUENCE 4u // a part has at most one sequence for this many bytes
// A group is this many bytes of a tile. Within a group, copies depend on each other at most as
// deeply as the tile's header says. Parts end at multiples of a group.
#define SLUICE_GS_GROUP 512u
#define SLUICE_GS_MIN_MATCH 3u
#define SLUICE_GS_PART_HEADER 4u // 16-bit words
// Kinds of parts, and the ways in which a coded part stores its literals.
#define SLUICE_GS_PLAIN 0u
#define SLUICE_GS_RUN 1u
#define SLUICE_GS_CODED 2u
#define SLUICE_GS_LITERALS_RANS 0u
#define SLUICE_GS_LITERALS_HUFFMAN 1u
#define SLUICE_GS_LITERALS_PLAIN 2u
#define SLUICE_GS_LITERALS_ONE 3u
// Limits of log2 of the sum of a table's frequencies.
#define SLUICE_GS_MIN_LOG 5u
#define SLUICE_GS_MAX_LITERAL_LOG 11u
#define SLUICE_GS_MAX_SEQUENCE_LOG 10u
#define SLUICE_GS_MAX_CODE_LENGTH 11u
#define SLUICE_GS_CLASSES 13u
#define SLUICE_GS_CLASS_LOG 6u
// The sizes of the alphabets of a sequence. DIRECT_LOG is log2 of the number of symbols that are
// lengths themselves.
#define SLUICE_GS_LITERAL_LENGTHS 40u
#define SLUICE_GS_LITERAL_DIRECT_LOG 4u
#define SLUICE_GS_MATCH_LENGTHS 54u
#define SLUICE_GS_MATCH_DIRECT_LOG 5u
#define SLUICE_GS_OFFSETS 38u
#define SLUICE_GS_MAX_MODULUS 64u
#define SLUICE_GS_REPEATS 3u
#define SLUICE_GS_FIRST_REPEATS 0x080401u // a byte each

// The scratch of a tile that is being decoded is a slot. A slot holds the tile's status, the status
// of each part (starting at word PARTS_AT) and two words per sequence (starting at word
// SEQUENCES_AT). The first word of a sequence is where its output begins in the part, with the
// index of its first literal in the upper half; the second word is its offset. The sequences of a
// part, followed by an additional one that marks the end, begin at index (first byte / 4 + index of
// the part).
#define SLUICE_GS_SLOTS 512u
#define SLUICE_GS_PARTS_AT 16u
#define SLUICE_GS_SEQUENCES_AT 32u
#define SLUICE_GS_SLOT_WORDS 131136u

// Push constants of gstd_symbols.comp and gstd_expand.comp: tiles [firstTile, firstTile +
// tileCount) of the list, each with a slot of scratch.
struct GstdParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: none, maxRegionCount counts
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    SLUICE_ADDRESS scratch;
    u32 maxRegionCount;
    u32 regionStride; // bytes, a multiple of 4
    u32 flags;
    u32 firstTile;
    u32 tileCount;
};

SLUICE_LAYOUT_END
#endif
