// SPDX-License-Identifier: MIT OR Apache-2.0
// Compaction.
#ifndef SLUICE_LAYOUT_COMPACT_H
#define SLUICE_LAYOUT_COMPACT_H

#include "lookback.h"

SLUICE_LAYOUT_BEGIN

// On Vulkan an invocation of compact.comp holds this many bytes of a tile, in four rows. An element
// of 1 or 2 bytes takes 4 bytes there.
#define SLUICE_COMPACT_BYTES_PER_INVOCATION 64u
#define SLUICE_COMPACT_ROWS 4u
#define SLUICE_COMPACT_RING_ROWS 2u // compact_ring.comp
#define SLUICE_COMPACT_CALL_ROWS 4u // compact_call.comp
// The values are those of SluiceCompactTest.
#define SLUICE_COMPACT_TEST_BYTES 0u
#define SLUICE_COMPACT_TEST_MASK 1u
#define SLUICE_COMPACT_TEST_COMPARE 2u
#define SLUICE_COMPACT_TEST_NON_ZERO 3u
#define SLUICE_COMPACT_TEST_UNIQUE 4u
// Bits of CompactParams::mode other than the test.
#define SLUICE_COMPACT_MODE_TEST 7u
#define SLUICE_COMPACT_MODE_INVERT 8u  // keep the elements that the test does not select
#define SLUICE_COMPACT_MODE_F32 16u    // keys are those of f32
#define SLUICE_COMPACT_MODE_DIRECT 32u // workgroup i takes tile i, without a ticket
#define SLUICE_COMPACT_MODE_PARTITION 64u
#define SLUICE_COMPACT_MODE_COUNT 128u // the first dispatch of a partition only counts
// One workgroup does all tiles, starting at tile `first`. Scratch holds the number of elements that
// it has kept so far.
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
    u32 share;      // a workgroup takes at most this many tiles
    u32 argumentDivisor;
    u32 argumentLimit;
    u32 first; // SERIAL
};

SLUICE_LAYOUT_END
#endif
