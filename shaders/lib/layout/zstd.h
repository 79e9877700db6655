// SPDX-License-Identifier: MIT OR Apache-2.0
// Zstandard frames (RFC 8878; docs/format.md, section 12).
#ifndef SLUICE_LAYOUT_ZSTD_H
#define SLUICE_LAYOUT_ZSTD_H

#include "../formulas/formula.h"
#include "base.h"

SLUICE_LAYOUT_BEGIN

// Magic numbers. Skippable frames have any of 16, from SKIPPABLE_MAGIC on.
#define SLUICE_ZS_MAGIC 0xfd2fb528u
#define SLUICE_ZS_SKIPPABLE_MAGIC 0x184d2a50u
#define SLUICE_ZS_DICTIONARY_MAGIC 0xec30a437u

#define SLUICE_ZS_MAX_FRAMES 65536u // in a region, with skippable ones
// The most blocks of a frame that decodes to `bytes` bytes. In C++ `bytes` may have 64 bits.
#define SLUICE_ZS_EXTRA_BLOCKS 4096u
#define SLUICE_ZS_FRAME_BLOCKS(bytes) SLUICE_MIN(65536u, SLUICE_ZS_EXTRA_BLOCKS + (bytes) / 256u)
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
#define SLUICE_ZS_FOUR_STREAMS_LITERALS 6u // fewest literals of a block with four streams

// The three FSE tables that code a block's sequences, numbered in the order of their descriptions.
#define SLUICE_ZS_LITERAL_LENGTHS 0u
#define SLUICE_ZS_OFFSETS 1u
#define SLUICE_ZS_MATCH_LENGTHS 2u
#define SLUICE_ZS_TABLES 3u
// Modes of a table: how a block describes it.
#define SLUICE_ZS_PREDEFINED 0u
#define SLUICE_ZS_ONE_SYMBOL 1u
#define SLUICE_ZS_FSE 2u
#define SLUICE_ZS_REPEAT 3u
#define SLUICE_ZS_LITERAL_LENGTH_SYMBOLS 36u
#define SLUICE_ZS_OFFSET_SYMBOLS 32u
#define SLUICE_ZS_MATCH_LENGTH_SYMBOLS 53u
#define SLUICE_ZS_LENGTH_LOG 9u // largest log2 of the number of states of a table of lengths
#define SLUICE_ZS_OFFSET_LOG 8u
#define SLUICE_ZS_MAX_STATES 512u
#define SLUICE_ZS_MIN_MATCH 3u
#define SLUICE_ZS_REPEATS 3u
// The repeated offsets at the start of a frame, 1, 4 and 8: a byte each, the most recent one
// lowest.
#define SLUICE_ZS_FIRST_REPEATS 0x080401u

#define SLUICE_ZS_MAX_CODE_LENGTH 11u
#define SLUICE_ZS_DICTIONARY_CODE_LENGTH 12u // libzstd makes and reads dictionaries with such codes
#define SLUICE_ZS_WEIGHT_LOG 6u
#define SLUICE_ZS_MAX_WEIGHTS 255u // the last symbol's weight follows from the others

// The regions of a command are decoded in rounds, and those of a round in turns. The regions of a
// turn are decoded at the same time; a *slot* is the number of a region in its turn. If scratch has
// room for all regions of the round even if each needs as much as a region can, the round is one
// turn. Otherwise the round begins with a walk over the headers of all its regions, which finds
// what each of them needs, and each turn takes as many of the next regions as have room.
//
// Scratch of the decode on the GPU has these arrays. Those from `order` on begin at multiples of
// SLUICE_ZS_UNIT bytes after the turn's words.
//   dictionary  words SLUICE_ZS_DICTIONARY_*
//   turn        words SLUICE_ZS_TURN_*
//   order       a list of those blocks of the turn that have sequences or Huffman literals, most
//               sequences first. A word for each block: slot * maxBlocks + block
//   entries     SLUICE_ZS_ENTRY_BYTES for the symbols of an FSE description, for each lane group of
//               zstd_sequences, then for each lane group of zstd_literals
//   pool        for each region of the turn: blocks, literals, sequences, links (see below)
//   heads       words SLUICE_ZS_HEAD_* for each region of the round: how far each serial step has
//               come, the first fault, and where the region's part of the pool is
// A region's part of the pool has these arrays, each from a multiple of SLUICE_ZS_UNIT on:
//   blocks      words SLUICE_ZS_BLOCK_* for each block
//   literals    decoded Huffman literals; each stream begins at a multiple of 4 bytes
//   sequences   two words each. Bits 0-16: where the sequence begins in the block's output (first
//               word), the number of the block's literals before it (second word). Bits 17-31:
//               the lower (first word) and the upper 15 bits of its offset
//   links       only if regions are so large that zstd_bytes makes their bytes: a word for each
//               byte, SLUICE_ZS_VALUE | its value, or the position of the byte that it copies
struct ZstdParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: there are maxRegionCount regions
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    SLUICE_ADDRESS scratch;
    SLUICE_ADDRESS dictionary;
    u32 maxRegionCount;
    u32 regionStride;
    u32 flags;
    u32 firstRegion, roundRegions; // the round's first region, and how many it has
    u32 slots;                     // the most regions of a turn
    u32 fullSlots;                 // this many regions have room in the pool, whatever they need
    u32 maxRegionBytes, maxBlocks;
    u32 groups; // the lane groups that share the blocks of a turn, divided by `slots`
    u32 pass;
    u32 dictionarySize; // 0: there is none
    u32 begin;          // how many dispatches of the same step came before; zstd_bytes: first word
    u32 spread;         // if a turn has this many blocks, teams decode several blocks at once
};
#define SLUICE_ZS_FLAG_CHECKSUMS 1u
#define SLUICE_ZS_FLAG_LINKS 2u          // zstd_bytes makes the bytes
#define SLUICE_ZS_MAX_SOURCE 0x7fffffffu // bytes of a region

// Values of `pass`. A serial step takes several dispatches; flags mark the first and the last of
// them.
#define SLUICE_ZS_FIRST 1u
#define SLUICE_ZS_LAST 2u
// For zstd_walk: it only finds out how much scratch the round's regions need.
#define SLUICE_ZS_MEASURE 4u
// For zstd_bytes: link each byte to its source, follow the links, or write the bytes.
#define SLUICE_ZS_LINK 0u
#define SLUICE_ZS_FOLLOW 1u
#define SLUICE_ZS_FINISH 2u
// zstd_place. BEGIN chooses the regions of a turn, those that the next dispatches decode side by
// side; with FIRST, it is the first turn of a round. COUNT and ORDER sort the turn's blocks before
// their sequences and literals are decoded.
#define SLUICE_ZS_BEGIN 4u
#define SLUICE_ZS_COUNT 8u
#define SLUICE_ZS_ORDER 16u
// For zstd_literals: it reads the dictionary; with 0 it decodes literals.
#define SLUICE_ZS_READ_DICTIONARY 1u

// The most loop iterations of a serial step, which has one invocation per region, in a dispatch.
// Each block and each frame takes one; in zstd_hash also every SLUICE_ZS_HASH_BYTES bytes. More
// than 65,535 would not work on lavapipe, where a subgroup then leaves its loops
// (docs/portability.md).
#define SLUICE_ZS_SERIAL_TURNS 8192u
#define SLUICE_ZS_HASH_TURNS 4096u
#define SLUICE_ZS_HASH_BYTES 128u
// The most loop iterations of zstd_expand in a dispatch: each makes a group of bytes or passes an
// empty block. A group takes up to 44 iterations of inner loops.
#define SLUICE_ZS_EXPAND_TURNS 1024u
#define SLUICE_ZS_EXPAND_BYTES 8u // bytes of a group that an invocation makes
#define SLUICE_ZS_HOPS 8u         // links that a pass follows for each byte
// How many times a lane group decodes in a dispatch: the literals of one block each time, or the
// sequences of several blocks at once. A full block takes up to 19,300 loop iterations; the
// sequences of four full blocks at once take twice as many.
#define SLUICE_ZS_BLOCK_TURNS 2u

#define SLUICE_ZS_HEAD_BYTES 256u
#define SLUICE_ZS_BLOCK_WORDS 24u
#define SLUICE_ZS_ENTRY_BYTES 256u   // 64 words, one per symbol; no table has more
#define SLUICE_ZS_LITERALS_EXTRA 16u // padding per block: streams begin at multiples of 4

// Arrays in scratch are measured in units. UNIT is the size of a unit; the other macros return how
// many units an array takes.
#define SLUICE_ZS_UNIT 256u // bytes
#define SLUICE_ZS_ORDER_UNITS(fullSlots, maxBlocks) (((fullSlots) * (maxBlocks) + 63u) / 64u)
#define SLUICE_ZS_BLOCK_UNITS(blocks) (((blocks)*4u * SLUICE_ZS_BLOCK_WORDS + 255u) / 256u)
#define SLUICE_ZS_LITERAL_UNITS(bytes) (((bytes) + 255u) / 256u)
#define SLUICE_ZS_SEQUENCE_UNITS(sequences) (((sequences) + 31u) / 32u)
// The most literals, sequences and units of scratch that a region needs, if it has at most this
// many bytes and blocks.
#define SLUICE_ZS_MOST_LITERALS(bytes, blocks)                                                     \
    (((bytes) + 3u) / 4u * 4u + SLUICE_ZS_LITERALS_EXTRA * (blocks))
#define SLUICE_ZS_MOST_SEQUENCES(bytes) ((bytes) / SLUICE_ZS_MIN_MATCH + 1u)
#define SLUICE_ZS_MOST_UNITS(bytes, blocks, flags)                                                 \
    (SLUICE_ZS_BLOCK_UNITS(blocks) +                                                               \
     SLUICE_ZS_LITERAL_UNITS(SLUICE_ZS_MOST_LITERALS(bytes, blocks)) +                             \
     SLUICE_ZS_SEQUENCE_UNITS(SLUICE_ZS_MOST_SEQUENCES(bytes)) +                                   \
     (((flags)&SLUICE_ZS_FLAG_LINKS) != 0u ? ((bytes) + 63u) / 64u : 0u))

// The turn's words serve to sort its blocks into 32 bins by their numbers of sequences, largest
// first: how many blocks each bin has, and how many of them already have an entry in the list
// (`order`). The last bin has the blocks without sequences. Other words say which regions of the
// round the turn has, and which one is the next turn's first.
#define SLUICE_ZS_TURN_BYTES 512u
#define SLUICE_ZS_TURN_BINS 0u
#define SLUICE_ZS_TURN_PLACED 32u
#define SLUICE_ZS_TURN_FIRST 64u
#define SLUICE_ZS_TURN_COUNT 65u
#define SLUICE_ZS_TURN_NEXT 66u
#define SLUICE_ZS_BINS 32u
// The invocations of the passes COUNT and ORDER for a slot. Each of them has at most 256 blocks.
#define SLUICE_ZS_ORDER_THREADS(maxBlocks) ((maxBlocks) > 65536u ? 4096u : 256u)
#define SLUICE_ZS_NO_BLOCK 0xffffffffu // in place of an entry of the list of blocks
// The bytes of shared memory that zstd_sequences takes: CHAIN_BYTES for each block that a team
// decodes at once (a chain), and TABLE_BYTES for each lane group, which builds tables there.
#define SLUICE_ZS_CHAIN_BYTES 6764u
#define SLUICE_ZS_TABLE_BYTES 2048u
// Returns the number of teams that share the work of `groups` lane groups. A team decodes up to
// `chains` blocks at once.
#define SLUICE_ZS_TEAMS(groups, chains) (((groups) + (chains)-1u) / (chains))
#define SLUICE_ZS_NOT_DECODED 0xffffffffu // SLUICE_ZS_BLOCK_TAKEN before sequences are decoded

// The size of the words that say what the decoder has found in the dictionary, and their indices.
#define SLUICE_ZS_DICTIONARY_BYTES 256u
#define SLUICE_ZS_DICTIONARY_STATUS 0u
#define SLUICE_ZS_DICTIONARY_ID 1u
#define SLUICE_ZS_DICTIONARY_HAS_TABLES 2u
#define SLUICE_ZS_DICTIONARY_CONTENT 3u // offset in the dictionary where its content begins
#define SLUICE_ZS_DICTIONARY_TABLES 4u  // three words: offsets of table descriptions
#define SLUICE_ZS_DICTIONARY_REPEATS 7u // three words
#define SLUICE_ZS_DICTIONARY_HEADER 8u  // bytes before the tree of a trained dictionary
// Where the number of the block that owns a tree or a table is stored, this stands for the
// dictionary.
#define SLUICE_ZS_OWNER_DICTIONARY 0xffffffffu

// A fault as a word: from bit 30 on the phase of docs/format.md, 12.3, minus 1; from bit 10 on the
// block; from bit 4 on the order of the checks in the block; and the status. SLUICE_ZS_HEAD_FAULT
// is the minimum of a region's faults, so it does not depend on which is found first. Faults of the
// region itself, of headers, and INTERNAL are a status alone.
#define SLUICE_ZS_NO_FAULT 0xffffffffu
#define SLUICE_ZS_FAULT(phase, block, order, status)                                               \
    ((phase) << 30 | (block) << 10 | (order) << 4 | (status))
#define SLUICE_ZS_PHASE_TABLES 1u
#define SLUICE_ZS_PHASE_SYMBOLS 2u
#define SLUICE_ZS_PHASE_OUTPUT 3u

#define SLUICE_ZS_HEAD_FAULT 0u
#define SLUICE_ZS_HEAD_DONE 1u // 1: zstd_walk has ended
#define SLUICE_ZS_HEAD_AT 2u   // offset of zstd_walk in the source
#define SLUICE_ZS_HEAD_FRAMES 3u
#define SLUICE_ZS_HEAD_BLOCKS 4u
#define SLUICE_ZS_HEAD_LEAST 5u // the blocks so far decode to at least this many bytes
#define SLUICE_ZS_HEAD_FLAGS 6u // SLUICE_ZS_IN_FRAME ...
#define SLUICE_ZS_HEAD_FRAME_BLOCKS 7u
#define SLUICE_ZS_HEAD_MAX_FRAME_BLOCKS 8u
#define SLUICE_ZS_HEAD_CONTENT_SIZE 9u
#define SLUICE_ZS_HEAD_BLOCK_MAXIMUM 10u
#define SLUICE_ZS_HEAD_LITERALS 11u  // bytes of the region's literals given to blocks so far
#define SLUICE_ZS_HEAD_SEQUENCES 12u // sequences of the region given to blocks so far
#define SLUICE_ZS_HEAD_OWNERS 13u    // four words: blocks that own the current tree and tables
#define SLUICE_ZS_HEAD_PLACED 17u    // blocks whose offset in the output is known
#define SLUICE_ZS_HEAD_POSITION 18u  // bytes of output of these blocks
#define SLUICE_ZS_HEAD_FRAME_BEGIN 19u
#define SLUICE_ZS_HEAD_REPEATS 20u       // three words
#define SLUICE_ZS_HEAD_HASH_BLOCK 23u    // blocks that zstd_hash is done with
#define SLUICE_ZS_HEAD_HASH_AT 24u       // bytes of the frame that are hashed, or NOT_HASHING
#define SLUICE_ZS_HEAD_HASH 26u          // eight words: the accumulators
#define SLUICE_ZS_HEAD_EXPAND_BLOCK 34u  // blocks whose bytes zstd_expand has made
#define SLUICE_ZS_HEAD_EXPAND_AT 35u     // bytes of output that it has made
#define SLUICE_ZS_HEAD_EXPAND_NEXT 36u   // the sequence of the next byte in its block
#define SLUICE_ZS_HEAD_POOL_AT 37u       // first unit of the pool that the region has
#define SLUICE_ZS_HEAD_BLOCK_ROOM 38u    // its blocks, at least 1
#define SLUICE_ZS_HEAD_LITERAL_UNITS 39u // at least 1, like the next
#define SLUICE_ZS_HEAD_SEQUENCE_UNITS 40u
#define SLUICE_ZS_NOT_HASHING 0xffffffffu

// Flags of the frame in which the walk over a region's headers is.
#define SLUICE_ZS_IN_FRAME 1u
#define SLUICE_ZS_HAS_SIZE 2u
#define SLUICE_ZS_HAS_CHECKSUM 4u
#define SLUICE_ZS_HAS_TREE 8u
#define SLUICE_ZS_HAS_TABLES 16u

#define SLUICE_ZS_BLOCK_CONTENT 0u // offset in the source, like BLOCK_LITERALS and BLOCK_TABLES
#define SLUICE_ZS_BLOCK_INFO 1u    // see below
#define SLUICE_ZS_BLOCK_SIZE 2u    // decoded size if raw or RLE; otherwise number of literals
#define SLUICE_ZS_BLOCK_SEQUENCES 3u
#define SLUICE_ZS_BLOCK_LITERALS 4u
#define SLUICE_ZS_BLOCK_LITERAL_BYTES 5u
#define SLUICE_ZS_BLOCK_TABLES 6u
#define SLUICE_ZS_BLOCK_TABLE_BYTES 7u
#define SLUICE_ZS_BLOCK_LITERALS_AT 8u   // byte offset in the region's literals
#define SLUICE_ZS_BLOCK_SEQUENCES_AT 9u  // index in the region's sequences
#define SLUICE_ZS_BLOCK_OWNERS 10u       // four words: blocks that own its tree and its tables
#define SLUICE_ZS_BLOCK_CONTENT_SIZE 14u // of the frame, as its header says
#define SLUICE_ZS_BLOCK_CHECKSUM 15u     // offset of the frame's checksum, or 0
// TAKEN, MATCHES: how many literals the sequences take, and the bytes of their matches. REPEATS:
// three repeated offsets, after the block (with markers, see below); zstd_place replaces them by
// those before the block.
#define SLUICE_ZS_BLOCK_TAKEN 16u
#define SLUICE_ZS_BLOCK_MATCHES 17u
#define SLUICE_ZS_BLOCK_REPEATS 18u
#define SLUICE_ZS_BLOCK_BEGIN 21u // offset in the output
#define SLUICE_ZS_BLOCK_FRAME_BEGIN 22u

// Bits of SLUICE_ZS_BLOCK_INFO: from bit 0 on the kind of block, from bit 2 on the kind of its
// literals, from bit 4 on the modes of the three tables, then flags, and from bit 14 on the most
// bytes of a block of the frame.
#define SLUICE_ZS_INFO_LITERALS 2u
#define SLUICE_ZS_INFO_MODES 4u
#define SLUICE_ZS_INFO_FIRST 1024u // the first block of its frame
#define SLUICE_ZS_INFO_LAST 2048u
#define SLUICE_ZS_INFO_FOUR_STREAMS 4096u
#define SLUICE_ZS_INFO_HAS_SIZE 8192u
#define SLUICE_ZS_INFO_MAXIMUM 14u

// Offsets are kept in 30 bits. SLUICE_ZS_MARKERS + 65,536 * k + n is no offset but a marker: it
// stands for repeated offset k (0, 1, 2) at the beginning of the block, minus n. Values from
// SLUICE_ZS_TOO_FAR on are offsets that reach too far.
#define SLUICE_ZS_MARKERS SLUICE_ZS_MAX_HISTORY
#define SLUICE_ZS_TOO_FAR (SLUICE_ZS_MARKERS + 3u * 65536u)

#define SLUICE_ZS_VALUE 0x80000000u // flag of a link: the byte's value is known

SLUICE_LAYOUT_END
#endif
