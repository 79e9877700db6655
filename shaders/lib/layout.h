// SPDX-License-Identifier: MIT OR Apache-2.0
// Data layouts and limits that the host, GLSL and CUDA share. Only #define and plain structs of
// 32-bit members: this file is included by C++, CUDA and GLSL alike.
#ifndef SLUICE_LAYOUT_H
#define SLUICE_LAYOUT_H

#ifdef __cplusplus
#include <stdint.h>
namespace sluice {
typedef uint32_t u32;
struct u64pair {
    u32 lo, hi;
}; // a 64-bit value for devices without 64-bit integers
#define SLUICE_ADDRESS u64pair
#else
#define u32 uint
#define SLUICE_ADDRESS uvec2
#endif

// Tile statuses; the same values as SluiceTileStatus (checked at compile time in src/api).
#define SLUICE_ST_PENDING 0u
#define SLUICE_ST_OK 1u
#define SLUICE_ST_BAD_REGION 2u
#define SLUICE_ST_TRUNCATED 3u
#define SLUICE_ST_BAD_CODE 4u
#define SLUICE_ST_BAD_OFFSET 5u
#define SLUICE_ST_TOO_LONG 6u
#define SLUICE_ST_TOO_SHORT 7u
#define SLUICE_ST_LIMIT 8u
#define SLUICE_ST_INTERNAL 9u
#define SLUICE_ST_BAD_CHECKSUM 10u
#define SLUICE_ST_UNVERIFIED 11u
#define SLUICE_ST_BAD_INDEX 12u
#define SLUICE_ST_BAD_FILTER 13u

// GDeflate 1.0
#define SLUICE_GD_LANES 32u
#define SLUICE_GD_TILE_BYTES 65536u
#define SLUICE_GD_MAX_COMPRESSED 131072u
#define SLUICE_GD_MAX_BLOCKS 256u
#define SLUICE_GD_LITLEN_SYMS 288u
#define SLUICE_GD_DIST_SYMS 32u

// Gstd, docs/format.md section 7
#define SLUICE_GS_LANES 32u
#define SLUICE_GS_TILE_BYTES 262144u
#define SLUICE_GS_MAX_COMPRESSED 262400u
#define SLUICE_GS_PART_BYTES 65536u
#define SLUICE_GS_MAX_PARTS 16u
#define SLUICE_GS_LANE_GROUPS 16u       // that decode symbols of a tile
#define SLUICE_GS_BYTES_PER_SEQUENCE 4u // a part has one sequence for so many bytes at most
// bytes of a tile among which copies are nested at most as deep as the tile says; parts end at such
#define SLUICE_GS_GROUP 512u
#define SLUICE_GS_MIN_MATCH 3u
#define SLUICE_GS_PART_HEADER 4u // 16-bit words
#define SLUICE_GS_PLAIN 0u       // kinds of parts
#define SLUICE_GS_RUN 1u
#define SLUICE_GS_CODED 2u
#define SLUICE_GS_LITERALS_RANS 0u
#define SLUICE_GS_LITERALS_HUFFMAN 1u
#define SLUICE_GS_LITERALS_PLAIN 2u
#define SLUICE_GS_LITERALS_ONE 3u
#define SLUICE_GS_MIN_LOG 5u // of the sum of a table's frequencies
#define SLUICE_GS_MAX_LITERAL_LOG 11u
#define SLUICE_GS_MAX_SEQUENCE_LOG 10u
#define SLUICE_GS_MAX_CODE_LENGTH 11u
#define SLUICE_GS_CLASSES 13u
#define SLUICE_GS_CLASS_LOG 6u
#define SLUICE_GS_LITERAL_LENGTHS 40u // symbols
#define SLUICE_GS_MATCH_LENGTHS 54u
#define SLUICE_GS_OFFSETS 38u
#define SLUICE_GS_MAX_MODULUS 64u
#define SLUICE_GS_REPEATS 3u
#define SLUICE_GS_FIRST_REPEATS 0x080401u // a byte each

// Scratch of a tile that is being decoded, in words: its status; from PARTS on for each part its
// status; then two words a sequence, those of a part and an end from its first byte / 4 + its
// number on. A sequence: where its output begins in the part, in the upper half its first literal;
// its offset.
#define SLUICE_GS_SLOTS 512u
#define SLUICE_GS_PARTS_AT 16u
#define SLUICE_GS_SEQUENCES_AT 32u
#define SLUICE_GS_SLOT_WORDS 131136u

// The largest tile that there are checksums of.
#define SLUICE_MAX_TILE_BYTES 1048576u

#define SLUICE_FLAG_STORED_IF_EQUAL 1u
#define SLUICE_FLAG_BY_DRIVER 2u

// Vulkan folds a linear list of workgroups into (x, y): x is at most this, the index is y * gridX +
// x.
#define SLUICE_MAX_GRID 32768u

// Push constants of gdeflate.comp, checksum.comp and driver_regions.comp (at most 128 bytes). The
// first dispatch of a decode, status.comp, uses the same block. src/api/region_params.h fills the
// last four members.
struct RegionParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: none, maxRegionCount counts
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize; // logical bytes, if the destination is a pitched view
    SLUICE_ADDRESS status;
    SLUICE_ADDRESS expected; // checksum.comp
    SLUICE_ADDRESS scratch;  // driver_regions.comp: the list
    u32 maxRegionCount;
    u32 regionStride; // bytes, a multiple of 4
    u32 flags;
    u32 gridX;    // workgroups along x
    u32 rowBytes; // 0: linear; else logical byte b lies at b / rowBytes * rowPitch + b % rowBytes
                  // (lib/pitch.glsl)
    u32 rowPitch;
    u32 rowMagic; // n / rowBytes = (n * rowMagic >> 32) >> rowShift for n < 2^31
    u32 rowShift;
};

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
    u32 gridX; // workgroups along x
    u32 firstTile;
    u32 tileCount;
};

// Push constants of fse_tables.comp.
#define SLUICE_FSE_LANES 32u
#define SLUICE_FSE_FLAG_COUNTS 1u
#define SLUICE_FSE_LOG_MIN 5u
#define SLUICE_FSE_LOG_MAX 9u
#define SLUICE_FSE_SYMBOLS 256u
struct FseTablesParams {
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS regionCount; // 0: none, maxRegionCount counts
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    u32 maxRegionCount;
    u32 regionStride; // bytes, a multiple of 4
    u32 flags;
    u32 gridX; // workgroups along x
    u32 maxSymbols;
    u32 maxLog;
    u32 tablesPerGroup; // 1 .. 32 tables of a lane group
};

// Push constants of float_decode.comp. A tensor in the list: 16 words, see SluiceFloatTensor.
#define SLUICE_FLOAT_TENSOR_WORDS 16u
struct FloatDecodeParams {
    SLUICE_ADDRESS tensors;
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    u32 tensorCount;
    u32 tileCount;
    u32 tilesPerWorkgroup;
    u32 gridX;
};

// Push constants of df11.comp. A unit in the list: 18 words, see SluiceDf11Unit.
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
    u32 gridX;
};

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
    u32 gridX;
    u32 tickets; // 1: a workgroup that is done with a tile takes the next that none has; on Vulkan
                 // only
};

// driver_regions.comp writes a count, then from this many words on regions of so many words each.
#define SLUICE_DRIVER_LIST_AT 4u
#define SLUICE_DRIVER_REGION_WORDS 10u

// Statuses of a tile stream; the same values as SluiceStreamStatus.
#define SLUICE_STREAM_ST_PENDING 0u
#define SLUICE_STREAM_ST_OK 1u
#define SLUICE_STREAM_ST_BAD_RANGE 2u
#define SLUICE_STREAM_ST_TRUNCATED 3u
#define SLUICE_STREAM_ST_BAD_HEADER 4u
#define SLUICE_STREAM_ST_BAD_TABLE 5u
#define SLUICE_STREAM_ST_NO_SPACE 6u
#define SLUICE_STREAM_ST_NO_TILES 7u
#define SLUICE_STREAM_ST_BAD_TILE 8u
#define SLUICE_STREAM_ST_UNVERIFIED 9u

// Passes of tile_streams.comp
// header and table of each stream: its status, and its tiles into counts
#define SLUICE_STREAMS_CHECK 0u
#define SLUICE_STREAMS_WRITE 1u   // counts are the first tiles now: the regions
#define SLUICE_STREAMS_VERDICT 2u // after the decode: what became of each stream

// Push constants of tile_streams.comp.
struct TileStreamsParams {
    SLUICE_ADDRESS streams;
    SLUICE_ADDRESS streamCount; // 0: none, maxStreamCount counts
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize; // logical bytes
    SLUICE_ADDRESS results;         // 4 words a stream, then 4 of summary
    SLUICE_ADDRESS counts;          // a word a stream
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS status; // of the tiles
    SLUICE_ADDRESS zeroed; // the scan's scratch, which CHECK clears
    u32 zeroedWords;       // at most 128 a stream, and 128 if there are none
    u32 maxStreamCount;
    u32 maxTileCount;
    u32 pass;
    u32 gridX;
};

// Scratch of a single-pass look-back: a head of two counters, then one state a tile (twice as large
// for 64-bit values).
#define SLUICE_LOOKBACK_HEAD 16u
#define SLUICE_LOOKBACK_STATE 8u
// How often a workgroup looks at a tile that has published nothing before it computes that tile
// itself, and how often the scanner looks before it ends: where a workgroup that has started is
// known to go on, and where it is not.
#define SLUICE_LOOKBACK_POLLS 4096u
#define SLUICE_LOOKBACK_POLLS_UNSURE 64u
#define SLUICE_LOOKBACK_SCANNER_TILES 64u // from so many tiles on there is a scanner
#define SLUICE_LOOKBACK_NEVER 0xffffffffu // for tests: reads no state at all

// The scan family. Elements of one invocation in a tile:
#define SLUICE_SCAN_PER_INVOCATION 16u
#define SLUICE_SCAN_RING_ROWS 3u    // of four values, in scan_ring.comp
#define SLUICE_SCAN_WORKGROUPS 256u // Vulkan: so many workgroups take one tile each
// more tiles are shared out among these, so many to each at most
#define SLUICE_SCAN_SHARE 128u
#define SLUICE_KIND_EXCLUSIVE 0u
#define SLUICE_KIND_INCLUSIVE 1u
#define SLUICE_KIND_REDUCE 2u          // reduce.comp: one value
#define SLUICE_KIND_PARTIALS 3u        // reduce.comp: what comes before each tile
#define SLUICE_REDUCE_WORKGROUPS 4096u // at most, for REDUCE
// What the kernels compute; minima and maxima of all types are maxima of unsigned keys.
#define SLUICE_SCAN_OP_SUM 0u
#define SLUICE_SCAN_OP_MAX 1u
#define SLUICE_SCAN_OP_SUM_F32 2u

// Push constants of scan.comp, scan64.comp, reduce.comp and reduce64.comp.
struct ScanParams {
    SLUICE_ADDRESS input_;
    SLUICE_ADDRESS output_;
    SLUICE_ADDRESS heads;       // one bit an element; segmented scans
    SLUICE_ADDRESS countBuffer; // 0: maxCount counts
    SLUICE_ADDRESS total;       // 0: not written
    SLUICE_ADDRESS scratch;
    u32 maxCount;
    u32 kind;
    u32 polls;      // look-back
    u32 flip;       // xor of a maximum's keys
    u32 isFloat;    // keys of f32
    u32 workgroups; // dispatched
    u32 share;      // scans: tiles of one workgroup at most; CUDA: 0: a tile each; more than 1:
                    // through the ring
    u32 scanner;    // scans: workgroup 0 is a scanner
    u32 gridX;
};

// Compaction. On Vulkan an invocation holds so many bytes of a tile (elements of 1 and 2 bytes
// count as 4), in four rows.
#define SLUICE_COMPACT_BYTES_PER_INVOCATION 64u
#define SLUICE_COMPACT_ROWS 4u
#define SLUICE_COMPACT_RING_ROWS 2u   // compact_ring.comp
#define SLUICE_COMPACT_CALL_ROWS 4u   // compact_call.comp
#define SLUICE_COMPACT_CALL_TILES 64u // at most
// Vulkan: so many workgroups at most, and so many tiles to each at most where a workgroup may be
// stopped for its length.
#define SLUICE_COMPACT_WORKGROUPS 512u
#define SLUICE_COMPACT_SHARE 128u
// In place without waiting one workgroup does this many tiles a dispatch.
#define SLUICE_COMPACT_SERIAL_TILES 2048u
// How often a workgroup looks at a missing tile where that one cannot be computed instead, because
// it may be overwritten.
#define SLUICE_COMPACT_POLLS_IN_PLACE 0x400000u
// Tests; the same values as SluiceCompactTest.
#define SLUICE_COMPACT_TEST_BYTES 0u
#define SLUICE_COMPACT_TEST_MASK 1u
#define SLUICE_COMPACT_TEST_COMPARE 2u
#define SLUICE_COMPACT_TEST_NON_ZERO 3u
#define SLUICE_COMPACT_TEST_UNIQUE 4u
// Bits of CompactParams::mode beside the test.
#define SLUICE_COMPACT_MODE_TEST 7u
#define SLUICE_COMPACT_MODE_INVERT 8u  // keep what the test does not select
#define SLUICE_COMPACT_MODE_F32 16u    // keys of f32
#define SLUICE_COMPACT_MODE_DIRECT 32u // a tile a workgroup, without tickets
#define SLUICE_COMPACT_MODE_PARTITION 64u
#define SLUICE_COMPACT_MODE_COUNT 128u // only count: the first dispatch of a partition
// one workgroup, from tile `first` on; scratch holds what it has kept so far
#define SLUICE_COMPACT_MODE_SERIAL 256u
#define SLUICE_COMPACT_MODE_SCANNER 512u // workgroup 0 is a scanner
#define SLUICE_COMPACT_MODE_AHEAD 1024u  // a workgroup works on two tiles at a time
#define SLUICE_COMPACT_MODE_IN_PLACE 2048u

// Push constants of compact.comp. COMPARE selects keys k with k - low <= span.
struct CompactParams {
    SLUICE_ADDRESS input_;
    SLUICE_ADDRESS selectors;
    SLUICE_ADDRESS output_;     // 0: none
    SLUICE_ADDRESS indices;     // 0: none
    SLUICE_ADDRESS countBuffer; // 0: maxCount counts
    SLUICE_ADDRESS resultCount; // 0: not written
    SLUICE_ADDRESS argument;    // 0: not written
    SLUICE_ADDRESS scratch;
    SLUICE_ADDRESS low;
    SLUICE_ADDRESS span;
    u32 maxCount;
    u32 capacity;      // elements that fit in output
    u32 indexCapacity; // and in indices
    u32 mode;
    u32 polls;
    u32 workgroups; // dispatched
    u32 share;      // tiles of one workgroup at most
    u32 gridX;
    u32 argumentDivisor;
    u32 argumentLimit;
    u32 first; // SERIAL
};

// Passes of interval_plan.comp
#define SLUICE_PASS_REDUCE 0u
#define SLUICE_PASS_APPLY 1u

// Intervals. Of every so many counts one prefix sum is kept.
#define SLUICE_INTERVAL_BATCH 128u
// A workgroup of interval_plan.comp sums this many counts at a time, and there are at most so many
// groups of them.
#define SLUICE_INTERVAL_ROUND 2048u
#define SLUICE_INTERVAL_MAX_GROUPS 1024u
// Words of scratch: the sum of all counts, the prefix sum of each group, then of each batch within
// its group.
#define SLUICE_INTERVAL_GROUPS_AT 1u
#define SLUICE_INTERVAL_BATCHES_AT 1025u
// Bytes of a share, which a lane group works on, and shares a workgroup where lane groups are
// subgroups.
#define SLUICE_INTERVAL_TILE_BYTES 16384u
// Moves: large shares first, then small ones, so that all end at the same time.
#define SLUICE_INTERVAL_LARGE_BYTES 65536u
#define SLUICE_INTERVAL_SMALL_BYTES 8192u
#define SLUICE_INTERVAL_TAIL_BYTES 134217728u // in small shares
#define SLUICE_INTERVAL_EXPAND_BYTES 24576u   // interval_expand.comp
#define SLUICE_INTERVAL_SHARES 4u
#define SLUICE_INTERVAL_SHORT_BYTES 160u // on average: runs are short
// An interval counts for as many elements as make these bytes (one at least) when work is shared
// out.
#define SLUICE_INTERVAL_COST_BYTES 32u

// What IntervalParams::counts holds: lengths, offsets of CSR form, or the sorted indices of a bulk
// operation.
#define SLUICE_INTERVAL_COUNTS 0u
#define SLUICE_INTERVAL_OFFSETS 1u
#define SLUICE_INTERVAL_REMOVED 2u
#define SLUICE_INTERVAL_INSERTED 3u

// IntervalParams::kind; the first three are those of SluiceIntervalMoveKind.
#define SLUICE_INTERVAL_KIND_MOVE 0u
#define SLUICE_INTERVAL_KIND_GATHER 1u
#define SLUICE_INTERVAL_KIND_SCATTER 2u
#define SLUICE_INTERVAL_KIND_REMOVE 3u
#define SLUICE_INTERVAL_KIND_INSERT 4u

// The same values as SluiceIntervalFlags.
#define SLUICE_INTERVAL_FLAG_SATURATED 1u
#define SLUICE_INTERVAL_FLAG_TRUNCATED 2u
#define SLUICE_INTERVAL_FLAG_SKIPPED 4u

// Push constants of interval_*.comp.
struct IntervalParams {
    SLUICE_ADDRESS counts;      // or offsets, or indices (see form)
    SLUICE_ADDRESS countBuffer; // 0: maxCount counts
    SLUICE_ADDRESS prefixes;    // scratch
    SLUICE_ADDRESS gather;      // search: ranks; insert: the inserted items
    SLUICE_ADDRESS scatter;     // bulk: the item count in GPU memory, 0: itemCount counts
    SLUICE_ADDRESS source;      // expand: values
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination; // search: sources
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS result_; // 0: not written
    u32 maxCount;           // intervals; bulk: indices
    u32 itemCount;          // bulk
    u32 capacity;           // elements that fit in destination
    u32 form;               // form | kind << 8 | pass << 16 | (64-bit positions ? 1 << 24 : 0)
    u32 elementSize;
    u32 tile;      // elements of a small share, the intervals' own cost included
    u32 large;     // of a large share; those come first
    u32 tail;      // about so many elements at the end are in small shares
    u32 window;    // elements of a round at most
    u32 groupSize; // counts a group, a multiple of SLUICE_INTERVAL_ROUND
    u32 gridX;
};

#ifdef __cplusplus
} // namespace sluice
#endif
#endif
