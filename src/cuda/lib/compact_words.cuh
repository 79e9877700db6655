// SPDX-License-Identifier: MIT OR Apache-2.0
// Compaction of many elements in the commonest case: elements of 4 bytes, 16-byte aligned, selected
// by an integer comparison or by bytes. Tiles pass through a ring, like that of compact_ring.cuh:
// while a tile waits for its place in the output, the block works on the next tiles. But tiles are
// loaded into registers, not into shared memory. That takes a third fewer instructions, and three
// blocks per processor are enough.
#pragma once

#include "layout/compact.h"
#include "cuda/tuning.h"
#include "cuda/lib/compact_block.cuh"

namespace sluice {

constexpr uint32_t kCompactWordRingBytes = kCompactWordStages * kCompactTileBytes;

#if __CUDA_ARCH__ >= 900
// The *ring* is shared memory for kCompactWordStages tiles. In the round in which a tile arrives,
// the block publishes how many of the tile's elements are kept. It writes the tile kDelay rounds
// later, when the *prefix* is known: how many elements all tiles before it keep. Block 0 is the
// *scanner*, which adds up the counts for all blocks; it also compacts the last tile, which may be
// incomplete. `Bytes` is true if the test is by bytes, and false if it is by comparison. A *ticket*
// is the number of a tile that a block has taken.
template <bool Bytes>
struct CompactWords : Compact<4> {
    static constexpr uint32_t kRows = Tile::kRows;
    static constexpr uint32_t kDelay = kCompactWordStages - 1;
    // The most tiles that a block still has to finish when a prefix comes too late: kDelay + 1 that
    // it has not written yet and two whose tickets it has taken.
    static constexpr uint32_t kOpen = kDelay + 3;

    struct Shared {
        // Even and odd rounds have arrays of their own, so that one barrier per round is enough.
        uint32_t totals[2][kCompactWarps];
        uint32_t ready[2][kCompactWarps]; // the scanner's lanes whose two tiles have published
        uint32_t tickets[2];
        uint32_t late[2]; // set if a tile's prefix was too late in the round before
        uint32_t open[kOpen];
    };

    __device__ uint64_t* states() const
    {
        return reinterpret_cast<uint64_t*>(pointerFrom<LookbackHead>(params.scratch) + 1);
    }

    // Takes the next ticket. Only the last thread calls it, so the addend below is 1. It is not
    // written as a constant, because the compiler would then combine the atomics of all lanes into
    // one, and the whole warp would wait here for the result.
    __device__ uint32_t take() const
    {
        uint32_t result;
        asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
                     : "=r"(result)
                     : "l"(pointerFrom<uint32_t>(params.scratch)),
                       "r"(kCompactThreads - threadIdx.x)
                     : "memory");
        return result;
    }

    // The scanner's work: turns the tiles' counts into prefixes, like Lookback::scan, but two tiles
    // per thread at a time. It stops for good at a tile whose block has looked back itself, because
    // the state of that tile is no longer a count.
    __device__ void scan(Shared& ring, uint32_t wholeTiles) const
    {
        const uint32_t lane = laneIndex(), warp = warpIndex();
        uint32_t carry = 0, turn = 0;
        for (uint32_t first = 0, idle = 0; first < wholeTiles && idle <= params.polls; turn ^= 1) {
            const uint32_t at = first + 2 * threadIdx.x;
            uint64_t a = 0, b = 0;
            if (at + 1 < wholeTiles) {
                loadRelaxed2(states() + at, a, b);
            } else if (at < wholeTiles) {
                a = loadRelaxed(states() + at);
                b = static_cast<uint64_t>(kTileOwn) << 32;
            }
            const uint32_t ready = firstLane((a >> 32) != kTileOwn || (b >> 32) != kTileOwn);
            const uint32_t sum = static_cast<uint32_t>(a) + static_cast<uint32_t>(b),
                           value = lane < ready ? sum : 0;
            const uint32_t inclusive = warpInclusiveSum(value);
            if (lane == 0) ring.ready[turn][warp] = ready;
            if (lane == kWarpSize - 1) ring.totals[turn][warp] = inclusive;
            __syncthreads();
            const uint32_t theirs = lane < kCompactWarps ? ring.ready[turn][lane] : 0;
            // The first warp in which a count is missing; 32 if none is missing.
            const uint32_t open = firstLane(theirs != kWarpSize);
            const uint32_t total =
                lane < kCompactWarps && lane <= open ? ring.totals[turn][lane] : 0;
            const uint32_t all = warpInclusiveSum(total);
            const uint32_t below = __shfl_sync(kAllLanes, all - total, static_cast<int>(warp));
            if (warp <= open && lane < ready) {
                const uint64_t whole = static_cast<uint64_t>(kTileWhole) << 32;
                const uint32_t end = carry + below + inclusive;
                const uint64_t firstEnd = whole | (end - static_cast<uint32_t>(b));
                if (at + 1 < wholeTiles) {
                    storeRelaxed2(states() + at, firstEnd, whole | end);
                } else if (at < wholeTiles) {
                    storeRelaxed(states() + at, firstEnd);
                }
            }
            carry += __shfl_sync(kAllLanes, all, static_cast<int>(kWarpSize - 1));
            const uint32_t taken = 2 * warpSum(lane <= open ? theirs : 0);
            first += taken;
            idle = taken != 0 ? 0 : idle + 1;
        }
    }

    // Compacts a tile whose prefix the scanner did not provide in time. `publishes` says that the
    // tile's count has not been published yet.
    __device__ void compactLate(uint32_t index, bool publishes) const
    {
        const Tile tile(params, index, count);
        Elements e;
        tile.load(e);
        Tile::rank(e, shared.warps[0]);
        if (publishes) lookback.publish(index, e.kept, false, false);
        const auto recompute = [&](uint32_t missing, uint32_t& value) {
            value = Tile(params, missing, count).kept(shared.warps[0]);
            return false;
        };
        emit<false>(tile, e,
                    lookback.wait(index, e.kept, false, params.polls, false, false, recompute), 0);
    }

    // The elements of a tile that a thread holds, four per row, and for the test by bytes the bytes
    // that select them.
    struct Rows {
        uint4 rows[kRows];
        uint32_t selectors[kRows];
    };

    // Starts to load whole tile `index`. No thread waits here, because nothing uses the values yet.
    __device__ void load(Rows& next, uint32_t index) const
    {
        const uint32_t at =
            index * (Tile::kElements / 4) + warpIndex() * (kRows * kWarpSize) + laneIndex();
        const uint4* rows = pointerFrom<const uint4>(params.input_) + at;
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row)
            next.rows[row] = __ldcs(rows + kWarpSize * row);
        if constexpr (Bytes) {
            const uint32_t* selectors = pointerFrom<const uint32_t>(params.selectors) + at;
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row)
                next.selectors[row] = __ldcs(selectors + kWarpSize * row);
        }
    }

    // Returns a mask of the kept elements: byte r has four bits, for the elements of row r.
    __device__ uint32_t kept(const Rows& next) const
    {
        uint32_t keep = 0;
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row) {
            uint32_t bits;
            if constexpr (Bytes) {
                const uint32_t s = next.selectors[row];
                bits = ((((s & 0x7f7f7f7fu) + 0x7f7f7f7fu) | s) >> 7 & 0x01010101u) * 0x10204080u >>
                       28;
            } else {
                const uint4 v = next.rows[row];
                const uint32_t low = params.low.lo, span = params.span.lo;
                bits = static_cast<uint32_t>(v.x - low <= span) |
                       static_cast<uint32_t>(v.y - low <= span) << 1 |
                       static_cast<uint32_t>(v.z - low <= span) << 2 |
                       static_cast<uint32_t>(v.w - low <= span) << 3;
            }
            keep |= bits << 8 * row;
        }
        return Bytes && hasMode(params, SLUICE_COMPACT_MODE_INVERT) ? keep ^ 0x0f0f0f0fu : keep;
    }

    // Stores `number` elements from shared memory at position `to` of the output, except those
    // beyond its capacity. Each warp begins at a cache line, so that stores fill whole lines.
    __device__ void store(const uint32_t* compacted, uint32_t number, uint32_t to) const
    {
        const uint32_t fits = min(number, params.capacity - min(to, params.capacity));
        // In the first `lead` threads `at` is negative, that is, very large as a uint32_t, so the
        // tests fail.
        const uint32_t lead = (params.output_.lo / 4 + to) % kWarpSize, at = threadIdx.x - lead;
        const uint32_t* from = compacted + static_cast<int>(at);
        uint32_t* target = pointerFrom<uint32_t>(params.output_) + to + static_cast<int>(at);
        // Each thread tests for its first two stores. If the tile keeps so few elements that no
        // thread has more than two, all other stores are skipped together.
        constexpr uint32_t always = 2;
#pragma unroll
        for (uint32_t i = 0; i < always; ++i)
            if (at + i * kCompactThreads < fits)
                __stcs(target + i * kCompactThreads, from[i * kCompactThreads]);
        if (fits + lead > always * kCompactThreads) {
#pragma unroll
            for (uint32_t i = always; i < kRows * 4 + 1; ++i)
                if (at + i * kCompactThreads < fits)
                    __stcs(target + i * kCompactThreads, from[i * kCompactThreads]);
        }
    }

    // Compacts whole tiles through the ring until none is left or a prefix does not come in time.
    __device__ void compactWholeTiles(Shared& ring, uint32_t wholeTiles) const
    {
        // The last thread takes tickets, because thread 0 publishes counts.
        const bool takes = threadIdx.x == kCompactThreads - 1;
        if (threadIdx.x < 2) ring.late[threadIdx.x] = 0;
        uint32_t taken = 0;
        if (takes) ring.tickets[0] = take();
        __syncthreads();
        uint32_t ticket = ring.tickets[0], turn = 1, stage = 0;
        if (takes && ticket < wholeTiles) taken = take();
        // The tiles of the latest rounds, the newest first, and how many elements each keeps.
        uint32_t waiting[kDelay + 1], counts[kDelay];
#pragma unroll
        for (uint32_t i = 0; i < kDelay; ++i) {
            waiting[i] = ~0u;
            counts[i] = 0;
        }
        waiting[kDelay] = ~0u;
        Rows next;
        load(next, ticket < wholeTiles ? ticket : 0);
        bool late;
        uint32_t following;
        for (uint32_t round = 0;; ++round) {
            // `leaving` is the tile that this round stores.
            const uint32_t leaving = waiting[kDelay - 1], keep = kept(next);
            uint32_t sums = keep - (keep >> 1 & 0x05050505u);
            sums = (sums & 0x03030303u) + (sums >> 2 & 0x03030303u);
            const uint32_t inclusive = warpInclusiveSum(sums), before = inclusive - sums;
            const uint32_t totals =
                __shfl_sync(kAllLanes, inclusive, static_cast<int>(kWarpSize - 1));
            if (laneIndex() == 0) ring.totals[turn][warpIndex()] = __dp4a(totals, 0x01010101u, 0u);
            if (takes) ring.tickets[turn] = taken;
            __syncthreads();

            following = ring.tickets[turn];
            late = ring.late[turn] != 0;
            if (late || (round >= kDelay && leaving >= wholeTiles)) break;
            const uint32_t own = ring.totals[turn][laneIndex() % kCompactWarps];
            const uint32_t sum = warpInclusiveSum<kCompactWarps>(own);
            const uint32_t all = __shfl_sync(kAllLanes, sum, static_cast<int>(kCompactWarps - 1));
            uint32_t place = __shfl_sync(kAllLanes, sum - own, static_cast<int>(warpIndex()));
            if (threadIdx.x == 0 && ticket < wholeTiles)
                storeRelaxed(states() + ticket, static_cast<uint64_t>(kTileOwn) << 32 | all);
            const bool stores = leaving < wholeTiles;
            uint64_t seen = static_cast<uint64_t>(kTileWhole) << 32;
            if (stores && leaving != 0) seen = loadRelaxed(states() + (leaving - 1));
            const uint32_t* compacted =
                reinterpret_cast<const uint32_t*>(compactBytes + stage * kCompactTileBytes);
            const uint32_t start = sharedAddress(compacted);
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row) {
                uint32_t address = start + 4 * (place + (before >> 8 * row & 0xff));
                place += totals >> 8 * row & 0xff;
                const uint4 v = next.rows[row];
                putIf<1>(keep, 1u << 8 * row, address, &v.x);
                putIf<1>(keep, 2u << 8 * row, address, &v.y);
                putIf<1>(keep, 4u << 8 * row, address, &v.z);
                putIf<1>(keep, 8u << 8 * row, address, &v.w);
            }
            load(next, following < wholeTiles ? following : 0);
            // The result of this atomic is not needed before the next round, so no thread waits for
            // it here.
            taken = following;
            if (takes && following < wholeTiles) taken = take();
            for (uint32_t i = 0; i < params.polls && (seen >> 32) != kTileWhole; ++i)
                seen = loadRelaxed(states() + (leaving - 1));
            const bool comes = (seen >> 32) == kTileWhole;
            if (!comes) ring.late[turn ^ 1] = 1;
            stage = stage + 1 == kCompactWordStages ? 0 : stage + 1;
            store(reinterpret_cast<const uint32_t*>(compactBytes + stage * kCompactTileBytes),
                  comes && stores ? counts[kDelay - 1] : 0, static_cast<uint32_t>(seen));
            turn ^= 1;
#pragma unroll
            for (uint32_t i = kDelay; i > 0; --i) {
                waiting[i] = waiting[i - 1];
                if (i < kDelay) counts[i] = counts[i - 1];
            }
            waiting[0] = ticket;
            counts[0] = all;
            ticket = following;
        }
        if (!late) return;
        // A prefix was late: compact the block's open tiles one after the other, beginning with the
        // tile of that prefix.
        if (threadIdx.x == 0) {
#pragma unroll
            for (uint32_t i = 0; i <= kDelay; ++i)
                ring.open[kDelay - i] = waiting[i];
            ring.open[kOpen - 2] = ticket;
            ring.open[kOpen - 1] = following;
        }
        __syncthreads();
        for (uint32_t i = 0;; ++i) {
            const uint32_t index = i < kOpen ? ring.open[i] : lookback.ticket();
            if (index < wholeTiles) {
                compactLate(index, i >= kOpen - 2);
            } else if (i >= kOpen) {
                break;
            }
        }
    }
};
#endif

} // namespace sluice
