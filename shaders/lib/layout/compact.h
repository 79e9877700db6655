// SPDX-License-Identifier: MIT OR Apache-2.0
// The limits, flags and parameters of compaction.
#ifndef SLUICE_LAYOUT_COMPACT_H
#define SLUICE_LAYOUT_COMPACT_H

#include "lookback.h"

SLUICE_LAYOUT_BEGIN

// IS_SIZE is true for the sizes that an element may have, in bytes. There is a kernel for each
// size, except that on Vulkan one pipeline takes both WIDE sizes: 12 and 20 bytes, the sizes of the
// commands of a mesh draw and of an indexed draw.
#define SLUICE_COMPACT_IS_WIDE(bytes) ((bytes) == 12u || (bytes) == 20u)
#define SLUICE_COMPACT_IS_SIZE(bytes)                                                              \
    ((bytes) == 1u || (bytes) == 2u || (bytes) == 4u || (bytes) == 8u || (bytes) == 16u ||         \
     SLUICE_COMPACT_IS_WIDE(bytes))
#define SLUICE_COMPACT_MAX_WORDS 5u // most 4-byte words of an element
// The number of elements in a *row*: consecutive elements that an invocation loads together. A row
// takes 16 bytes of registers, since an element of 1 or 2 bytes takes a whole register. A row of a
// WIDE size is one element.
#define SLUICE_COMPACT_ROW_ELEMENTS(bytes) ((bytes) <= 4u ? 4u : (bytes) == 8u ? 2u : 1u)

// An invocation of compact.comp holds this many bytes of a tile in registers, in four rows.
#define SLUICE_COMPACT_BYTES_PER_INVOCATION 64u
#define SLUICE_COMPACT_WIDE_BYTES_PER_INVOCATION 80u // for a WIDE size
#define SLUICE_COMPACT_ROWS 4u
#define SLUICE_COMPACT_RING_ROWS 2u // rows of an invocation of compact_ring.comp
#define SLUICE_COMPACT_CALL_ROWS 4u // rows of an invocation of compact_call.comp
// Tests, with the values of SluiceCompactTest.
#define SLUICE_COMPACT_TEST_BYTES 0u
#define SLUICE_COMPACT_TEST_MASK 1u
#define SLUICE_COMPACT_TEST_COMPARE 2u
#define SLUICE_COMPACT_TEST_NON_ZERO 3u
#define SLUICE_COMPACT_TEST_UNIQUE 4u
// CompactParams::mode has the test in its lowest bits, and these flags.
#define SLUICE_COMPACT_MODE_TEST 7u
#define SLUICE_COMPACT_MODE_INVERT 8u  // keep the elements that the test does not select
#define SLUICE_COMPACT_MODE_F32 16u    // COMPARE compares elements as f32 (see floatKey)
#define SLUICE_COMPACT_MODE_DIRECT 32u // workgroup i takes tile i; no tickets
#define SLUICE_COMPACT_MODE_PARTITION 64u
#define SLUICE_COMPACT_MODE_COUNT 128u // the first dispatch of a partition counts what is kept
// A single workgroup works through all tiles in order. On Vulkan, one dispatch takes only `share`
// of them, from tile `first` on. The number of elements kept so far waits in scratch for the next
// dispatch.
#define SLUICE_COMPACT_MODE_SERIAL 256u
#define SLUICE_COMPACT_MODE_SCANNER 512u // workgroup 0 only adds up the tiles' counts
#define SLUICE_COMPACT_MODE_AHEAD 1024u  // workgroups load tiles ahead of the one they write
#define SLUICE_COMPACT_MODE_IN_PLACE 2048u
#define SLUICE_COMPACT_MODE_WORDS 12u // from this bit on: number of words of a WIDE element

// Parameters of the kernels of compaction. The test COMPARE selects an element x if x - `low` is at
// most `span`, in unsigned arithmetic; for an f32, x is its key (floatKey).
struct CompactParams {
    SLUICE_ADDRESS input_;
    SLUICE_ADDRESS selectors;
    SLUICE_ADDRESS output_;     // 0: no elements are written
    SLUICE_ADDRESS indices;     // 0: no indices are written
    SLUICE_ADDRESS countBuffer; // 0: maxCount is the number of elements
    SLUICE_ADDRESS resultCount; // 0: not written
    SLUICE_ADDRESS argument;    // 0: not written
    SLUICE_ADDRESS scratch;
    SLUICE_ADDRESS low;
    SLUICE_ADDRESS span;
    u32 maxCount;
    u32 capacity;      // how many elements output_ has room for
    u32 indexCapacity; // how many indices `indices` has room for
    u32 mode;
    u32 polls;           // after this many loads of a tile's state, its count is computed again
    u32 workgroups;      // how many are dispatched
    u32 share;           // a workgroup takes at most this many tiles
    u32 argumentDivisor; // storeResult says how the argument is computed
    u32 argumentLimit;
    u32 first; // the first tile of a SERIAL dispatch
};

SLUICE_LAYOUT_END
#endif
