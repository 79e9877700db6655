// SPDX-License-Identifier: MIT OR Apache-2.0
// DFloat11 and ECF8: the limits and forms of units (docs/format.md, 5).
#ifndef SLUICE_LAYOUT_DF11_H
#define SLUICE_LAYOUT_DF11_H

#include "base.h"

// The names and values are those of sluice_df11.h. If a value differed, code that includes both
// headers would not compile.
#define SLUICE_DF11_BLOCK_BYTES 4096u
#define SLUICE_DF11_WINDOWS 512u
#define SLUICE_DF11_MIN_ROWS 2u
#define SLUICE_DF11_MAX_ROWS 18u
#define SLUICE_DF11_MAX_SIZE 0x7fffffffu

SLUICE_LAYOUT_BEGIN

#define SLUICE_DF11_WINDOW_BITS 64u
#define SLUICE_DF11_MAX_BLOCK_ELEMENTS 32768u // codes have at least one bit
#define SLUICE_DF11_ROW_BYTES 256u
#define SLUICE_DF11_POINTER 240u // entries of a row from this value up lead to another row

// The two forms of units. KIND is the value of SluiceDf11Kind. CODE_BYTES is the largest number of
// stream bytes that decoding a code looks at, GAP_BITS is the width of a window's gap, and
// POSITION_BYTES is the size of a block's position.
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

// A unit in the list: SluiceDf11Unit.
struct Df11Unit {
    SLUICE_ADDRESS luts; // offsets in the source, as are the next four
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
#define SLUICE_DF11_FIRST_BLOCK_WORD 16u // of a unit

struct Df11Params {
    SLUICE_ADDRESS units;
    SLUICE_ADDRESS unitCount; // 0: none, maxUnitCount counts
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
