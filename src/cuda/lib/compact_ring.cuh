// SPDX-License-Identifier: MIT OR Apache-2.0
// Compaction of many tiles. A block takes tile after tile through a *ring* of stages in shared
// memory. When a tile has arrived in its stage, the block counts its kept elements, publishes the
// count, and gathers the kept elements in the stage itself. It writes the tile kCompactAhead rounds
// later. By then the tile's *prefix*, how many elements all tiles before it keep, is usually known,
// so that no block waits for long. Tiles that are not whole, or not 16-byte aligned, are done one
// at a time. A *ticket* is the number of a tile that a block has taken.
#pragma once

#include "layout/compact.h"
#include "cuda/tuning.h"
#include "cuda/lib/bulk_copy.cuh"
#include "cuda/lib/compact_block.cuh"

namespace sluice {

// A stage has this many bytes before its tile, so that tiles begin at multiples of 128. The last 16
// of them are the input's bytes before the tile, with which the test UNIQUE compares the first
// element.
constexpr uint32_t kCompactLeadBytes = 128;
constexpr uint32_t kCompactRingBytes = kCompactStages * (kCompactLeadBytes + kCompactTileBytes);

template <uint32_t Bytes>
struct CompactRing {
    using Tile = CompactTile<Bytes>;
    using Elements = typename Tile::Elements;

    Compact<Bytes>& block; // compacts tiles one at a time

#if __CUDA_ARCH__ >= 900
    // For each stage: a barrier for the copy into it, the ticket of its tile, and how many elements
    // that tile keeps.
    struct Ring {
        uint64_t arrived[kCompactStages];
        uint32_t tickets[kCompactStages];
        uint32_t kept[kCompactStages];
    };

    // Starts to load the tile of a ticket into a stage. Does nothing if the ticket is not that of a
    // whole tile. One thread calls it.
    __device__ void load(Ring& ring, uint32_t stage, uint32_t ticket, uint32_t wholeTiles) const
    {
        if (ticket >= wholeTiles) return;
        const Tile tile(block.params, ticket, block.count);
        if (!tile.readsElements()) return;
        const uint32_t lead = ticket != 0 ? 16 : 0;
        copyBulk(stageOf(stage) - lead, tile.bytes() - lead, Tile::kElements * Bytes + lead,
                 &ring.arrived[stage]);
    }

    // Returns where the tile of a stage begins.
    static __device__ uint8_t* stageOf(uint32_t stage)
    {
        return compactBytes + stage * (kCompactLeadBytes + kCompactTileBytes) + kCompactLeadBytes;
    }

    // Compacts whole tiles until there are no more. Returns the block's first ticket that is not
    // that of a whole tile.
    __device__ uint32_t compactWholeTiles(uint32_t wholeTiles) const
    {
        __shared__ Ring ring;
        const bool elements = u64From(block.params.output_) != 0;
        // The last thread takes tickets and loads tiles, because thread 0 is busy with publishing
        // and waiting.
        const bool loads = threadIdx.x == kCompactThreads - 1;
        uint32_t latest = 0; // the last ticket that this thread has taken
        if (loads) {
            for (uint32_t stage = 0; stage < kCompactStages; ++stage)
                initBarrier(&ring.arrived[stage]);
            fenceCopyEngine();
            // Tickets are taken one at a time, so that blocks that start together get interleaved
            // tiles.
            for (uint32_t stage = 0; stage < kCompactStages; ++stage) {
                if (latest < wholeTiles) latest = block.lookback.take();
                ring.tickets[stage] = latest;
                load(ring, stage, latest, wholeTiles);
            }
        }
        __syncthreads();

        // The stages of the tile that arrives in this round and of the tile that is written in it.
        uint32_t newest = 0, oldest = 0;
        uint32_t parity = 0;                     // parity of the barrier of stage `newest`
        typename Tile::Selectors selectors = {}; // selectors of the tile that arrives next
        if (ring.tickets[0] < wholeTiles)
            selectors = Tile(block.params, ring.tickets[0], block.count).loadSelectors();
        for (uint32_t round = 0; round < kCompactAhead || ring.tickets[oldest] < wholeTiles;
             ++round) {
            const uint32_t arriving = ring.tickets[newest], leaving = ring.tickets[oldest];
            const bool starting = arriving < wholeTiles, finishing = round >= kCompactAhead;
            typename CountLookback::Seen seen = {};
            if (finishing) {
                seen = block.lookback.peek(leaving);
                // The result of this atomic is not needed before the end of the round, so no thread
                // waits for it here.
                if (loads && latest < wholeTiles) latest = block.lookback.take();
            }
            const Tile tile(block.params, min(arriving, wholeTiles - 1), block.count);
            Elements e;
            e.keep = 0;
            if (starting) {
                if (tile.readsElements()) {
                    waitBarrier(&ring.arrived[newest], parity);
                    tile.loadRows(e, stageOf(newest));
                }
                tile.setKeep(e, selectors, stageOf(newest));
            }
            Tile::rank(e, block.shared.warps[round & 1]);
            if (starting) {
                block.lookback.publish(arriving, e.kept, false, false);
                if (threadIdx.x == 0) ring.kept[newest] = e.kept;
                uint32_t* compacted = reinterpret_cast<uint32_t*>(stageOf(newest));
                if (elements) {
                    block.template gatherElements<false>(compacted, tile, e);
                } else {
                    block.template gatherIndices<false>(compacted, tile, e);
                }
            }
            if (finishing) {
                // This comes after publish(), because other blocks wait for the published count.
                block.lookback.await(leaving, block.params.polls, seen);
                __syncthreads();
                finish(ring, oldest, leaving);
                if (loads) ring.tickets[oldest] = latest;
            }
            __syncthreads();
            if (finishing) {
                if (loads) {
                    fenceCopyEngine();
                    load(ring, oldest, latest, wholeTiles);
                }
                oldest = oldest + 1 == kCompactStages ? 0 : oldest + 1;
            }
            newest = newest + 1 == kCompactStages ? 0 : newest + 1;
            parity ^= newest == 0 ? 1 : 0;
            const uint32_t following = ring.tickets[newest];
            if (following < wholeTiles)
                selectors = Tile(block.params, following, block.count).loadSelectors();
        }
        return ring.tickets[oldest];
    }

    // Writes tile `index`, whose kept elements are in stage `stage`. The whole block calls it after
    // await(), which has left the tile's prefix in shared memory unless the scanner, the block that
    // computes the prefixes, is late.
    __device__ void finish(const Ring& ring, uint32_t stage, uint32_t index) const
    {
        const uint32_t kept = ring.kept[stage];
        uint32_t prefix = block.shared.looked.value;
        if (block.shared.looked.next != 0) {
            __syncthreads(); // all threads have read the prefix
            prefix = block.keptBefore(index, kept);
        }
        const uint32_t* compacted = reinterpret_cast<const uint32_t*>(stageOf(stage));
        if (u64From(block.params.output_) != 0) {
            block.storeElements(compacted, kept, prefix);
        } else {
            block.storeIndices(compacted, kept, prefix);
        }
        if (index == block.tiles - 1) storeResult(block.params, prefix + kept);
    }
#endif

    // Compacts all tiles that the block takes.
    __device__ void compactAll()
    {
        if (hasMode(block.params, SLUICE_COMPACT_MODE_DIRECT)) {
            const uint32_t index =
                blockIdx.x - (hasMode(block.params, SLUICE_COMPACT_MODE_SCANNER) ? 1 : 0);
            if (index < block.tiles) {
                block.compactTile(index, true);
            } else {
                block.lookback.leave();
            }
            return;
        }
        uint32_t index;
#if __CUDA_ARCH__ >= 900
        // Tiles of WIDE sizes (12 and 20 bytes) do not fit into the ring's stages.
        if (!Tile::kWide && hasMode(block.params, SLUICE_COMPACT_MODE_AHEAD)) {
            index = compactWholeTiles(block.count / Tile::kElements);
        } else {
            index = block.lookback.ticket();
        }
#else
        index = block.lookback.ticket();
#endif
        while (index < block.tiles) {
            block.compactTile(index, false);
            index = block.lookback.ticket();
        }
        block.lookback.leave();
    }
};

} // namespace sluice
