// SPDX-License-Identifier: MIT OR Apache-2.0
// The limits and structures of DFloat11 and ECF8 units (docs/format.md, 5).
#ifndef SLUICE_LAYOUT_DF11_H
#define SLUICE_LAYOUT_DF11_H

#include "base.h"

// These macros have the names and values of those in sluice_df11.h. Code that includes both headers
// compiles only as long as the values are equal.
#define SLUICE_DF11_BLOCK_BYTES 4096u
#define SLUICE_DF11_WINDOWS 512u
#define SLUICE_DF11_MIN_ROWS 2u
#define SLUICE_DF11_MAX_ROWS 18u
#define SLUICE_DF11_MAX_SIZE 0x7fffffffu

SLUICE_LAYOUT_BEGIN

#define SLUICE_DF11_WINDOW_BITS 64u
// A code has at least one bit, so a block has at most as many elements as bits.
#define SLUICE_DF11_MAX_BLOCK_ELEMENTS 32768u
#define SLUICE_DF11_ROW_BYTES 256u
// An entry of a look-up row that is at least this value is a pointer to another row
// (docs/format.md, 5).
#define SLUICE_DF11_POINTER 240u

// The two kinds of units. KIND is the value of SluiceDf11Kind, CODE_BYTES the number of bytes of
// the longest code, GAP_BITS the bits of a window's gap, POSITION_BYTES the bytes of a block's
// position.
#define SLUICE_DF11_KIND_BF16 1u
#define SLUICE_DF11_BF16_CODE_BYTES 4u
#define SLUICE_DF11_BF16_GAP_BITS 5u
#define SLUICE_DF11_BF16_POSITION_BYTES 4u
#define SLUICE_DF11_BF16_MAX_SYMBOL 239u
#define SLUICE_DF11_BF16_ELEMENT_BYTES 2u
#define SLUICE_DF11_KIND_FP8 2u
#define SLUICE_DF11_FP8_CODE_BYTES 2u
#define SLUICE_DF11_FP8_GAP_BITS 4u
#define SLUICE_DF11_FP8_POSITION_BYTES 8u
#define SLUICE_DF11_FP8_MAX_SYMBOL 15u
#define SLUICE_DF11_FP8_ELEMENT_BYTES 1u

// An entry of the list of units: SluiceDf11Unit.
struct Df11Unit {
    // These five are offsets in the source, in bytes.
    SLUICE_ADDRESS luts;
    SLUICE_ADDRESS encoded;
    SLUICE_ADDRESS signMantissa;
    SLUICE_ADDRESS positions;
    SLUICE_ADDRESS gaps;
    SLUICE_ADDRESS destination;
    u32 kind;
    u32 rows;
    u32 elements;
    u32 encodedSize;
    u32 firstBlock;
    u32 reserved;
};

#define SLUICE_DF11_UNIT_BYTES 72u
#define SLUICE_DF11_FIRST_BLOCK_WORD 16u // the index of firstBlock among the words of a Df11Unit

struct Df11Params {
    SLUICE_ADDRESS units;
    SLUICE_ADDRESS unitCount; // 0: maxUnitCount is the number of units
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    u32 maxUnitCount;
    u32 maxBlockCount;
    u32 blocksPerWorkgroup;
};

SLUICE_LAYOUT_END
#endif
