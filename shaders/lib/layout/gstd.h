// SPDX-License-Identifier: MIT OR Apache-2.0
// The limits, numbers and parameters of Gstd (docs/format.md, section 7).
#ifndef SLUICE_LAYOUT_GSTD_H
#define SLUICE_LAYOUT_GSTD_H

#include "regions.h"

SLUICE_LAYOUT_BEGIN

#define SLUICE_GS_LANES 32u
#define SLUICE_GS_TILE_BYTES 262144u
#define SLUICE_GS_MAX_COMPRESSED 262400u
#define SLUICE_GS_PART_BYTES 65536u
#define SLUICE_GS_MAX_PARTS 16u
#define SLUICE_GS_LANE_GROUPS 16u // this many lane groups decode the symbols of a tile
// A part has at most one sequence for every 4 bytes of its output.
#define SLUICE_GS_BYTES_PER_SEQUENCE 4u
// The format cuts a tile into groups of this many bytes. Each part except the last ends where a
// group ends. The tile's header says how deeply the copies inside a group may depend on each other.
#define SLUICE_GS_GROUP 512u
#define SLUICE_GS_MIN_MATCH 3u
#define SLUICE_GS_PART_HEADER 4u // the 16-bit words of a coded part's header
// The kinds of parts, and how a coded part stores its literals.
#define SLUICE_GS_PLAIN 0u
#define SLUICE_GS_RUN 1u
#define SLUICE_GS_CODED 2u
#define SLUICE_GS_LITERALS_RANS 0u
#define SLUICE_GS_LITERALS_HUFFMAN 1u
#define SLUICE_GS_LITERALS_PLAIN 2u
#define SLUICE_GS_LITERALS_ONE 3u
// A table has 2^log slots; these are the limits of `log`. A prefix code has at most MAX_CODE_LENGTH
// bits. A symbol's number of slots is described by one of CLASSES classes, which is read with a
// table of 2^CLASS_LOG slots (docs/format.md, 7.3).
#define SLUICE_GS_MIN_LOG 5u
#define SLUICE_GS_MAX_LITERAL_LOG 11u
#define SLUICE_GS_MAX_SEQUENCE_LOG 10u
#define SLUICE_GS_MAX_CODE_LENGTH 11u
#define SLUICE_GS_CLASSES 13u
#define SLUICE_GS_CLASS_LOG 6u
// The number of symbols of each table of sequences. A length symbol below 2^DIRECT_LOG is the
// length itself (for matches, the length - MIN_MATCH); higher symbols have extra bits.
#define SLUICE_GS_LITERAL_LENGTHS 40u
#define SLUICE_GS_LITERAL_DIRECT_LOG 4u
#define SLUICE_GS_MATCH_LENGTHS 54u
#define SLUICE_GS_MATCH_DIRECT_LOG 5u
#define SLUICE_GS_OFFSETS 38u
#define SLUICE_GS_MAX_MODULUS 64u
#define SLUICE_GS_REPEATS 3u
// The list of recent offsets with which a part begins: 1, 4 and 8, a byte each, the most recent one
// lowest.
#define SLUICE_GS_FIRST_REPEATS 0x080401u

// While a tile is decoded, it has a *slot* of scratch. Word 0 of the slot is the tile's status. The
// words from PARTS_AT on are the statuses of its parts. From SEQUENCES_AT on stand *records*, two
// words for each sequence. In the first word, the low half is the byte of the part at which the
// sequence's output begins, and the upper half is the number of the sequence's first literal. The
// second word is the offset. The records of part i, whose output begins at byte b of the tile,
// begin at record b / 4 + i. One more record after a part's last one says where its sequences end.
#define SLUICE_GS_SLOTS 512u
#define SLUICE_GS_PARTS_AT 16u
#define SLUICE_GS_SEQUENCES_AT 32u
// The size of a slot for tiles of up to `bytes` bytes, a multiple of 8.
#define SLUICE_GS_SLOT_BYTES(bytes) (256u + 2u * (bytes))

// Push constants of gstd_symbols.comp and gstd_expand.comp. A dispatch works on tiles [firstTile,
// firstTile + tileCount) of the list, each of which has a slot of scratch.
struct GstdParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: maxRegionCount is the number of regions
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS secondDestination;
    SLUICE_ADDRESS secondDestinationSize; // 0: there is only one destination
    SLUICE_ADDRESS status;
    SLUICE_ADDRESS scratch;
    u32 maxRegionCount;
    u32 regionStride; // bytes, a multiple of 4
    u32 flags;
    u32 firstTile;
    u32 tileCount;
    u32 maxTileBytes; // a slot has room for a tile of this size, a multiple of 8
};

SLUICE_LAYOUT_END
#endif
