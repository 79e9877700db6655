// SPDX-License-Identifier: MIT OR Apache-2.0
// Zstandard frames (RFC 8878; docs/format.md, section 12).
#ifndef SLUICE_LAYOUT_ZSTD_H
#define SLUICE_LAYOUT_ZSTD_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Magic numbers. Skippable frames have any of 16, from SKIPPABLE_MAGIC on.
#define SLUICE_ZS_MAGIC 0xfd2fb528u
#define SLUICE_ZS_SKIPPABLE_MAGIC 0x184d2a50u
#define SLUICE_ZS_DICTIONARY_MAGIC 0xec30a437u

#define SLUICE_ZS_MAX_FRAMES 65536u // in a region, with skippable ones
// A frame has at most (size / BYTES_PER_BLOCK + EXTRA_BLOCKS) blocks.
#define SLUICE_ZS_MAX_BLOCKS 65536u
#define SLUICE_ZS_EXTRA_BLOCKS 4096u
#define SLUICE_ZS_BYTES_PER_BLOCK 256u
#define SLUICE_ZS_MAX_HISTORY 1073479680u // bytes of a frame and its dictionary: 2^30 - 2^18
#define SLUICE_ZS_BLOCK_BYTES 131072u     // most bytes of a block, coded or decoded
#define SLUICE_ZS_MIN_WINDOW 1024u

// Kinds of blocks, and of their literals.
#define SLUICE_ZS_RAW 0u
#define SLUICE_ZS_RLE 1u
#define SLUICE_ZS_COMPRESSED 2u
#define SLUICE_ZS_LITERALS_RAW 0u
#define SLUICE_ZS_LITERALS_RLE 1u
#define SLUICE_ZS_LITERALS_HUFFMAN 2u
#define SLUICE_ZS_LITERALS_TREELESS 3u
#define SLUICE_ZS_FOUR_STREAMS_LITERALS 6u // literals in four streams are at least this many

// The numbers of a block's three tables of sequences, in the order in which it describes them.
#define SLUICE_ZS_LITERAL_LENGTHS 0u
#define SLUICE_ZS_OFFSETS 1u
#define SLUICE_ZS_MATCH_LENGTHS 2u
#define SLUICE_ZS_TABLES 3u
// The ways in which a block says what a table is.
#define SLUICE_ZS_PREDEFINED 0u
#define SLUICE_ZS_ONE_SYMBOL 1u
#define SLUICE_ZS_FSE 2u
#define SLUICE_ZS_REPEAT 3u
#define SLUICE_ZS_LITERAL_LENGTH_SYMBOLS 36u
#define SLUICE_ZS_OFFSET_SYMBOLS 32u
#define SLUICE_ZS_MATCH_LENGTH_SYMBOLS 53u
#define SLUICE_ZS_LENGTH_LOG 9u // most log2 of the states of both tables of lengths
#define SLUICE_ZS_OFFSET_LOG 8u
#define SLUICE_ZS_MAX_STATES 512u
#define SLUICE_ZS_MIN_MATCH 3u
#define SLUICE_ZS_REPEATS 3u
// The repeated offsets at the start of a frame: 1, 4 and 8, a byte each, the latest one lowest.
#define SLUICE_ZS_FIRST_REPEATS 0x080401u

#define SLUICE_ZS_MAX_CODE_LENGTH 11u
#define SLUICE_ZS_DICTIONARY_CODE_LENGTH 12u // libzstd makes and reads dictionaries with such codes
#define SLUICE_ZS_WEIGHT_LOG 6u
#define SLUICE_ZS_MAX_WEIGHTS 255u // the last symbol's weight follows from the others

// The decode of regions on the GPU. Scratch begins with the words SLUICE_ZS_DICTIONARY_*, behind
// which are slots. A region being decoded has a slot with these parts:
//   head       words SLUICE_ZS_HEAD_*: where the serial steps are, and the first fault
//   blocks     words SLUICE_ZS_BLOCK_* for each block
//   order      a word for each block; those of all slots are the list of the turn's blocks with
//              sequences, those with most of them first: slot * maxBlocks + block
//   entries    of descriptions of FSE tables, for each lane group of sequences and of literals
//   literals   those with a Huffman code; each stream begins at a multiple of 4 bytes
//   sequences  two words each: bits 0-16 the place of the sequence's first byte in the block, bits
//              17-31 the lower half of the offset; bits 0-16 the number of literals before it, bits
//              17-31 the upper half of the offset
//   links      if regions are so large that zstd_bytes makes their bytes, a word for each:
//              SLUICE_ZS_VALUE | its value, or the place that it is a copy of
struct ZstdParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: there is none; maxRegionCount is the number
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    SLUICE_ADDRESS scratch;
    SLUICE_ADDRESS slotBytes;
    SLUICE_ADDRESS dictionary;
    u32 maxRegionCount;
    u32 regionStride;
    u32 flags;
    u32 firstRegion, slots; // the regions of the turn
    u32 maxRegionBytes, maxBlocks;
    u32 groups; // lane groups that share the blocks of a region
    u32 pass;
    u32 dictionarySize; // 0: there is none
    u32 begin;          // the first block, or word of all regions' output, that a dispatch takes
    u32 spread;         // number of blocks from which on lane groups get more than one chain
};
#define SLUICE_ZS_FLAG_CHECKSUMS 1u
#define SLUICE_ZS_MAX_SOURCE 0x7fffffffu // bytes of a region

// Values of `pass`. Serial steps take several dispatches: flags for the first and the last one.
#define SLUICE_ZS_FIRST 1u
#define SLUICE_ZS_LAST 2u
// zstd_bytes: links each byte to its source, follows the links, writes the bytes.
#define SLUICE_ZS_LINK 0u
#define SLUICE_ZS_FOLLOW 1u
#define SLUICE_ZS_FINISH 2u
// zstd_place: steps before sequences, which sort blocks.
#define SLUICE_ZS_CLEAR 4u
#define SLUICE_ZS_COUNT 8u
#define SLUICE_ZS_ORDER 16u
// zstd_literals: reads the dictionary; otherwise 0.
#define SLUICE_ZS_READ_DICTIONARY 1u

// The most turns of the loop of a serial step in a dispatch: one for each block and frame; in
// zstd_hash also one for each SLUICE_ZS_HASH_BYTES bytes. A subgroup makes no more than 65,535
// turns on lavapipe (docs/portability.md).
#define SLUICE_ZS_SERIAL_TURNS 8192u
#define SLUICE_ZS_HASH_TURNS 4096u
#define SLUICE_ZS_HASH_BYTES 128u
// The most groups of bytes and blocks that zstd_expand takes in a dispatch. A group has up to 44
// turns of other loops.
#define SLUICE_ZS_EXPAND_TURNS 1024u
#define SLUICE_ZS_EXPAND_BYTES 8u // of an invocation
#define SLUICE_ZS_HOPS 8u         // how many links a pass follows
// How often a lane group decodes blocks in a dispatch: one of literals, or several of sequences. A
// full block has up to 19,300 turns of loops, four of sequences together twice as many.
#define SLUICE_ZS_BLOCK_TURNS 2u

#define SLUICE_ZS_HEAD_BYTES 256u
#define SLUICE_ZS_BLOCK_WORDS 24u
#define SLUICE_ZS_ENTRY_BYTES 256u   // 64 words; no code here has more symbols
#define SLUICE_ZS_LITERALS_EXTRA 16u // bytes a block, since streams begin at multiples of 4
#define SLUICE_ZS_ORDER_AT(maxBlocks)                                                              \
    (SLUICE_ZS_HEAD_BYTES + 4u * SLUICE_ZS_BLOCK_WORDS * (maxBlocks))
#define SLUICE_ZS_ENTRIES_AT(maxBlocks) (SLUICE_ZS_ORDER_AT(maxBlocks) + 4u * (maxBlocks))

// The words of a turn stand behind those of the dictionary. They say how many blocks have as many
// sequences as each of 32 bins stands for, the longest first, and how many of these have a place in
// the order.
#define SLUICE_ZS_TURN_BYTES 256u
#define SLUICE_ZS_TURN_BINS 0u
#define SLUICE_ZS_TURN_PLACED 32u
#define SLUICE_ZS_BINS 32u
// Shared memory of the sequences' step: of a chain, and for what a lane group builds tables in.
#define SLUICE_ZS_CHAIN_BYTES 6240u
#define SLUICE_ZS_TABLE_BYTES 2048u
// A dispatch has a team for each `chains` of its lane groups.
#define SLUICE_ZS_TEAMS(groups, chains) (((groups) + (chains)-1u) / (chains))
#define SLUICE_ZS_NOT_DECODED 0xffffffffu // SLUICE_ZS_BLOCK_TAKEN before sequences are decoded

// Words that say what the decoder has found in the dictionary, and how many bytes they take.
#define SLUICE_ZS_DICTIONARY_BYTES 256u
#define SLUICE_ZS_DICTIONARY_STATUS 0u
#define SLUICE_ZS_DICTIONARY_ID 1u
#define SLUICE_ZS_DICTIONARY_HAS_TABLES 2u
#define SLUICE_ZS_DICTIONARY_CONTENT 3u // the offset in the dictionary; the rest of it is content
#define SLUICE_ZS_DICTIONARY_TABLES 4u  // three words: offsets in the dictionary
#define SLUICE_ZS_DICTIONARY_REPEATS 7u // three words
#define SLUICE_ZS_DICTIONARY_HEADER 8u  // bytes before the tree of a trained dictionary
// Stands for the dictionary where a block is named that owns a tree or tables.
#define SLUICE_ZS_OWNER_DICTIONARY 0xffffffffu

// The first fault of a region (SLUICE_ZS_HEAD_FAULT) is the least of these words, so that all lanes
// agree on it: from bit 30 on the phase, from bit 10 on the block, from bit 4 on the order in the
// block, and the status. A status without a phase, block and order comes from the region itself.
#define SLUICE_ZS_NO_FAULT 0xffffffffu
#define SLUICE_ZS_FAULT(phase, block, order, status)                                               \
    ((phase) << 30 | (block) << 10 | (order) << 4 | (status))
#define SLUICE_ZS_PHASE_TABLES 1u
#define SLUICE_ZS_PHASE_SYMBOLS 2u
#define SLUICE_ZS_PHASE_OUTPUT 3u

#define SLUICE_ZS_HEAD_FAULT 0u
#define SLUICE_ZS_HEAD_DONE 1u // the walk has come to the end
#define SLUICE_ZS_HEAD_AT 2u   // in the source
#define SLUICE_ZS_HEAD_FRAMES 3u
#define SLUICE_ZS_HEAD_BLOCKS 4u
#define SLUICE_ZS_HEAD_LEAST 5u // bytes that the blocks so far decode to at least
#define SLUICE_ZS_HEAD_FLAGS 6u // SLUICE_ZS_IN_FRAME ...
#define SLUICE_ZS_HEAD_FRAME_BLOCKS 7u
#define SLUICE_ZS_HEAD_MAX_FRAME_BLOCKS 8u
#define SLUICE_ZS_HEAD_CONTENT_SIZE 9u
#define SLUICE_ZS_HEAD_BLOCK_MAXIMUM 10u
#define SLUICE_ZS_HEAD_LITERALS 11u  // bytes of the slot's literals that have a block
#define SLUICE_ZS_HEAD_SEQUENCES 12u // the same of its sequences
#define SLUICE_ZS_HEAD_OWNERS 13u    // four words: blocks with the tree and the tables in use
#define SLUICE_ZS_HEAD_PLACED 17u    // blocks whose place in the output is known
#define SLUICE_ZS_HEAD_POSITION 18u  // bytes of output before the next of them
#define SLUICE_ZS_HEAD_FRAME_BEGIN 19u
#define SLUICE_ZS_HEAD_REPEATS 20u      // three words
#define SLUICE_ZS_HEAD_HASH_BLOCK 23u   // blocks whose checksum is done
#define SLUICE_ZS_HEAD_HASH_AT 24u      // bytes of the frame that are hashed, or NOT_HASHING
#define SLUICE_ZS_HEAD_HASH 26u         // eight words: the accumulators
#define SLUICE_ZS_HEAD_EXPAND_BLOCK 34u // blocks whose bytes are made
#define SLUICE_ZS_HEAD_EXPAND_AT 35u    // bytes that are
#define SLUICE_ZS_HEAD_EXPAND_NEXT 36u  // the sequence of the next byte
#define SLUICE_ZS_NOT_HASHING 0xffffffffu

// Flags of the frame that is being walked.
#define SLUICE_ZS_IN_FRAME 1u
#define SLUICE_ZS_HAS_SIZE 2u
#define SLUICE_ZS_HAS_CHECKSUM 4u
#define SLUICE_ZS_HAS_TREE 8u
#define SLUICE_ZS_HAS_TABLES 16u

#define SLUICE_ZS_BLOCK_CONTENT 0u // offsets in the source
#define SLUICE_ZS_BLOCK_INFO 1u    // see below
#define SLUICE_ZS_BLOCK_SIZE 2u    // of raw and RLE blocks; number of literals of others
#define SLUICE_ZS_BLOCK_SEQUENCES 3u
#define SLUICE_ZS_BLOCK_LITERALS 4u
#define SLUICE_ZS_BLOCK_LITERAL_BYTES 5u
#define SLUICE_ZS_BLOCK_TABLES 6u
#define SLUICE_ZS_BLOCK_TABLE_BYTES 7u
#define SLUICE_ZS_BLOCK_LITERALS_AT 8u   // in the slot's literals
#define SLUICE_ZS_BLOCK_SEQUENCES_AT 9u  // in the slot's sequences
#define SLUICE_ZS_BLOCK_OWNERS 10u       // four words: blocks with its tree and tables
#define SLUICE_ZS_BLOCK_CONTENT_SIZE 14u // of the frame, as its header says
#define SLUICE_ZS_BLOCK_CHECKSUM 15u     // of the frame, in its last block
// Literals and bytes of matches that the sequences take; then what the block makes of the repeated
// offsets (three words), and later what they are when it begins.
#define SLUICE_ZS_BLOCK_TAKEN 16u
#define SLUICE_ZS_BLOCK_MATCHES 17u
#define SLUICE_ZS_BLOCK_REPEATS 18u
#define SLUICE_ZS_BLOCK_BEGIN 21u // place in the output
#define SLUICE_ZS_BLOCK_FRAME_BEGIN 22u

// Bits of SLUICE_ZS_BLOCK_INFO: from bit 0 on the kind of block, from bit 2 on that of its
// literals, from bit 4 on the modes of the three tables, and flags; from bit 14 on the block
// maximum of the frame.
#define SLUICE_ZS_INFO_LITERALS 2u
#define SLUICE_ZS_INFO_MODES 4u
#define SLUICE_ZS_INFO_FIRST 1024u // the first block of its frame
#define SLUICE_ZS_INFO_LAST 2048u
#define SLUICE_ZS_INFO_FOUR_STREAMS 4096u
#define SLUICE_ZS_INFO_HAS_SIZE 8192u
#define SLUICE_ZS_INFO_MAXIMUM 14u

// Offsets of 30 bits. Those from SLUICE_ZS_MARKERS on are no offsets: the first three times 65,536
// stand for one of the three repeated offsets of the blocks before, minus a number; all others
// reach too far.
#define SLUICE_ZS_MARKERS SLUICE_ZS_MAX_HISTORY
#define SLUICE_ZS_TOO_FAR (SLUICE_ZS_MARKERS + 3u * 65536u)

#define SLUICE_ZS_VALUE 0x80000000u

SLUICE_LAYOUT_END
#endif
