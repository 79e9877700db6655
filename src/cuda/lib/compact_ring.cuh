// SPDX-License-Identifier: MIT OR Apache-2.0
// Compaction of many tiles: a block takes one after the other through a ring in shared memory. When
// a tile has arrived, its count is published and the tile compacted where it stands; it is written
// kCompactAhead tiles later. By then what lies before it is known, so nobody waits for long. Tiles
// that are not whole, or not 16-byte aligned, are done one at a time.
#pragma once

#include "layout/compact.h"
#include "cuda/tuning.h"
#include "cuda/lib/bulk_copy.cuh"
#include "cuda/lib/compact_block.cuh"

namespace sluice {

constexpr uint32_t kCompactLeadBytes = 128; // the last 16 of them are those before the tile
constexpr uint32_t kCompactRingBytes = kCompactStages * (kCompactLeadBytes + kCompactTileBytes);

template <uint32_t Bytes>
struct CompactRing : Compact<Bytes> {
    using Base = Compact<Bytes>;
    using Base::compactTile;
    using Base::count;
    using Base::keptBefore;
    using Base::lookback;
    using Base::params;
    using Base::shared;
    using Base::storeElements;
    using Base::storeIndices;
    using Base::tiles;
    using typename Base::Elements;
    using typename Base::Tile;

#if __CUDA_ARCH__ >= 900
    struct Ring {
        uint64_t arrived[kCompactStages];
        uint32_t tickets[kCompactStages];
        uint32_t kept[kCompactStages];
    };

    // One thread starts to load the tile of a ticket, if that tile is whole.
    __device__ void load(Ring& ring, uint32_t stage, uint32_t ticket, uint32_t wholeTiles) const
    {
        if (ticket >= wholeTiles) return;
        const Tile tile(params, ticket, count);
        if (!tile.readsElements()) return;
        const uint32_t lead = ticket != 0 ? 16 : 0;
        copyBulk(stageOf(stage) - lead, tile.bytes() - lead, Tile::kElements * Bytes + lead,
                 &ring.arrived[stage]);
    }

    static __device__ uint8_t* stageOf(uint32_t stage)
    {
        return compactBytes + stage * (kCompactLeadBytes + kCompactTileBytes) + kCompactLeadBytes;
    }

    // Takes whole tiles until there are no more. Returns the first ticket beyond them.
    __device__ uint32_t compactWholeTiles(uint32_t wholeTiles) const
    {
        __shared__ Ring ring;
        const bool elements = u64From(params.output_) != 0;
        // This is not the thread that publishes and waits.
        const bool loads = threadIdx.x == kCompactThreads - 1;
        uint32_t latest = 0; // that thread's last ticket
        if (loads) {
            for (uint32_t stage = 0; stage < kCompactStages; ++stage)
                initBarrier(&ring.arrived[stage]);
            fenceCopyEngine();
            // Tickets are taken one by one, so that blocks that start together take turns.
            for (uint32_t stage = 0; stage < kCompactStages; ++stage) {
                if (latest < wholeTiles) latest = lookback.take();
                ring.tickets[stage] = latest;
                load(ring, stage, latest, wholeTiles);
            }
        }
        __syncthreads();

        uint32_t newest = 0, oldest = 0;         // stages
        uint32_t parity = 0;                     // of the newest stage's barrier
        typename Tile::Selectors selectors = {}; // of the newest tile
        if (ring.tickets[0] < wholeTiles)
            selectors = Tile(params, ring.tickets[0], count).loadSelectors();
        for (uint32_t round = 0; round < kCompactAhead || ring.tickets[oldest] < wholeTiles;
             ++round) {
            const uint32_t arriving = ring.tickets[newest], leaving = ring.tickets[oldest];
            const bool starting = arriving < wholeTiles, finishing = round >= kCompactAhead;
            typename CountLookback::Seen seen = {};
            if (finishing) {
                seen = lookback.peek(leaving);
                // The ticket is known by the time that its tile can be loaded.
                if (loads && latest < wholeTiles) latest = lookback.take();
            }
            const Tile tile(params, min(arriving, wholeTiles - 1), count);
            Elements e;
            e.keep = 0;
            if (starting) {
                if (tile.readsElements()) {
                    waitBarrier(&ring.arrived[newest], parity);
                    tile.loadRows(e, stageOf(newest));
                }
                tile.setKeep(e, selectors, stageOf(newest));
            }
            Tile::rank(e, shared.warps[round & 1]);
            if (starting) {
                lookback.publish(arriving, e.kept, false, false);
                if (threadIdx.x == 0) ring.kept[newest] = e.kept;
                uint32_t* compacted = reinterpret_cast<uint32_t*>(stageOf(newest));
                if (elements) {
                    this->template gatherElements<false>(compacted, tile, e);
                } else {
                    this->template gatherIndices<false>(compacted, tile, e);
                }
            }
            if (finishing) {
                // Publishing comes first, because other blocks wait for it.
                lookback.await(leaving, params.polls, seen);
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
            if (following < wholeTiles) selectors = Tile(params, following, count).loadSelectors();
        }
        return ring.tickets[oldest];
    }

    // Writes tile `index`, which stands compacted in a stage. The whole block calls it after
    // await().
    __device__ void finish(const Ring& ring, uint32_t stage, uint32_t index) const
    {
        const uint32_t kept = ring.kept[stage];
        uint32_t prefix = shared.looked.value;
        if (shared.looked.next != 0) {
            __syncthreads(); // all threads have read the prefix
            prefix = keptBefore(index, kept);
        }
        const uint32_t* compacted = reinterpret_cast<const uint32_t*>(stageOf(stage));
        if (u64From(params.output_) != 0) {
            storeElements(compacted, kept, prefix);
        } else {
            storeIndices(compacted, kept, prefix);
        }
        if (index == tiles - 1) storeResult(params, prefix + kept);
    }
#endif

    __device__ void compactAll()
    {
        if (hasMode(params, SLUICE_COMPACT_MODE_DIRECT)) {
            const uint32_t index =
                blockIdx.x - (hasMode(params, SLUICE_COMPACT_MODE_SCANNER) ? 1 : 0);
            if (index < tiles) {
                compactTile(index, true);
            } else {
                lookback.leave();
            }
            return;
        }
        uint32_t index;
#if __CUDA_ARCH__ >= 900
        if (hasMode(params, SLUICE_COMPACT_MODE_AHEAD)) {
            index = compactWholeTiles(count / Tile::kElements);
        } else {
            index = lookback.ticket();
        }
#else
        index = lookback.ticket();
#endif
        while (index < tiles) {
            compactTile(index, false);
            index = lookback.ticket();
        }
        lookback.leave();
    }
};

} // namespace sluice
