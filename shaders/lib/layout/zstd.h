// SPDX-License-Identifier: MIT OR Apache-2.0
// Zstandard frames (RFC 8878; docs/format.md, section 12).
#ifndef SLUICE_LAYOUT_ZSTD_H
#define SLUICE_LAYOUT_ZSTD_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Magic numbers; a skippable frame may have any of 16.
#define SLUICE_ZS_MAGIC 0xfd2fb528u
#define SLUICE_ZS_SKIPPABLE_MAGIC 0x184d2a50u
#define SLUICE_ZS_DICTIONARY_MAGIC 0xec30a437u

#define SLUICE_ZS_MAX_FRAMES 65536u // of a region, skippable ones too
// A frame has at most (size / BYTES_PER_BLOCK + EXTRA_BLOCKS) blocks.
#define SLUICE_ZS_MAX_BLOCKS 65536u
#define SLUICE_ZS_EXTRA_BLOCKS 4096u
#define SLUICE_ZS_BYTES_PER_BLOCK 256u
#define SLUICE_ZS_MAX_HISTORY 1073479680u // a frame and its dictionary: 2^30 - 2^18 bytes
#define SLUICE_ZS_BLOCK_BYTES 131072u     // at most, before and after decoding
#define SLUICE_ZS_MIN_WINDOW 1024u

// Kinds of blocks, and of their literals.
#define SLUICE_ZS_RAW 0u
#define SLUICE_ZS_RLE 1u
#define SLUICE_ZS_COMPRESSED 2u
#define SLUICE_ZS_LITERALS_RAW 0u
#define SLUICE_ZS_LITERALS_RLE 1u
#define SLUICE_ZS_LITERALS_HUFFMAN 2u
#define SLUICE_ZS_LITERALS_TREELESS 3u
#define SLUICE_ZS_FOUR_STREAMS_LITERALS 6u // four streams have at least this many literals

// A block has three tables of sequences, in this order.
#define SLUICE_ZS_LITERAL_LENGTHS 0u
#define SLUICE_ZS_OFFSETS 1u
#define SLUICE_ZS_MATCH_LENGTHS 2u
#define SLUICE_ZS_TABLES 3u
// These say what describes a table.
#define SLUICE_ZS_PREDEFINED 0u
#define SLUICE_ZS_ONE_SYMBOL 1u
#define SLUICE_ZS_FSE 2u
#define SLUICE_ZS_REPEAT 3u
#define SLUICE_ZS_LITERAL_LENGTH_SYMBOLS 36u
#define SLUICE_ZS_OFFSET_SYMBOLS 32u
#define SLUICE_ZS_MATCH_LENGTH_SYMBOLS 53u
#define SLUICE_ZS_LENGTH_LOG 9u // of both kinds of lengths
#define SLUICE_ZS_OFFSET_LOG 8u
#define SLUICE_ZS_MAX_STATES 512u
#define SLUICE_ZS_MIN_MATCH 3u
#define SLUICE_ZS_REPEATS 3u
#define SLUICE_ZS_FIRST_REPEATS 0x080401u // a byte each

#define SLUICE_ZS_MAX_CODE_LENGTH 11u
#define SLUICE_ZS_DICTIONARY_CODE_LENGTH 12u // libzstd makes and reads dictionaries with such codes
#define SLUICE_ZS_WEIGHT_LOG 6u
#define SLUICE_ZS_MAX_WEIGHTS 255u // the weight of the last symbol follows from the others

SLUICE_LAYOUT_END
#endif
