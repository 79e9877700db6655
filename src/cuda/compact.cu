// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction in one pass with decoupled look-back.
//
// A tile's kept elements are gathered in shared memory and written from there, so that stores fill
// whole lines.
//
// Where there are many tiles, a block takes one after the other through a ring in shared memory:
// when a tile has arrived, its count is published and the tile compacted where it stands; it is
// written kAhead tiles later. By then what lies before it is known, so nobody waits for long. Tiles
// that are not whole, or not 16-byte aligned, are done one at a time.
//
// For the commonest cases, elements of 4 bytes chosen by a comparison of whole numbers or by bytes,
// there is a ring that loads to registers instead: a third fewer instructions, for which three
// blocks a multiprocessor are enough.
#include <algorithm>

#include "kernels.h"
#include "lib/bulk_copy.cuh"
#include "lib/compact_tile.cuh"
#include "lib/launch.cuh"
#include "lib/lookback.cuh"
#include "tuning.h"

namespace sluice {
namespace {

constexpr uint32_t kTileBytes = kCompactRows * kRowWords * 4 * kCompactThreads; // in shared memory
// the last 16 are those before the tile
constexpr uint32_t kLeadBytes = 128;
constexpr uint32_t kStages = 3;
[[maybe_unused]] constexpr uint32_t kAhead = 2;
constexpr uint32_t kRingBytes = kStages * (kLeadBytes + kTileBytes);

constexpr uint32_t kWordStages = 4;
constexpr uint32_t kWordRingBytes = kWordStages * kTileBytes;

using CountLookback = Lookback<Sum<uint32_t>>;

struct CompactShared {
    uint32_t warps[2][kCompactWarps]; // used in turn
    CountLookback::Shared looked;
};

// The tile that is being compacted, or the ring of them.
extern __shared__ __align__(128) unsigned char compactBytes[];

// The word of scratch that counts what is kept: partition: by all tiles; SERIAL: so far.
__device__ uint32_t* keptWord(const CompactParams& params)
{
    return pointerFrom<LookbackHead>(params.scratch)->unused;
}

__device__ void storeResult(const CompactParams& params, uint32_t kept)
{
    if (threadIdx.x != 0) return;
    if (u64From(params.resultCount) != 0) *pointerFrom<uint32_t>(params.resultCount) = kept;
    const uint32_t divisor = params.argumentDivisor,
                   groups = kept / divisor + (kept % divisor != 0 ? 1u : 0u);
    if (u64From(params.argument) != 0)
        *pointerFrom<uint32_t>(params.argument) = min(groups, params.argumentLimit);
}

// Stores an element in shared memory if a bit of `bits` is set, and moves the address on: three
// instructions, where the compiler makes six of the same in C++.
template <uint32_t Words>
__device__ inline void putIf(uint32_t bits, uint32_t bit, uint32_t& address, const uint32_t* w)
{
#define SLUICE_PUT_IF(store, ...)                                                                  \
    asm volatile("{ .reg .u32 t; .reg .pred p; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; @p " store  \
                 "; @p add.u32 %0, %0, %3; }"                                                      \
                 : "+r"(address)                                                                   \
                 : "r"(bits), "r"(bit), "r"(4 * Words), __VA_ARGS__                                \
                 : "memory")
    if constexpr (Words == 1) {
        SLUICE_PUT_IF("st.shared.u32 [%0], %4", "r"(w[0]));
    } else if constexpr (Words == 2) {
        SLUICE_PUT_IF("st.shared.v2.u32 [%0], {%4, %5}", "r"(w[0]), "r"(w[1]));
    } else {
        SLUICE_PUT_IF("st.shared.v4.u32 [%0], {%4, %5, %6, %7}", "r"(w[0]), "r"(w[1]), "r"(w[2]),
                      "r"(w[3]));
    }
#undef SLUICE_PUT_IF
}

// What all tiles of a compaction have in common.
template <uint32_t Bytes>
struct Compact {
    using Tile = CompactTile<Bytes>;
    using Elements = typename Tile::Elements;

    const CompactParams& params;
    CompactShared& shared;
    CountLookback& lookback;
    uint32_t count;
    uint32_t tiles;

    // From registers to shared memory: what is kept to the front, the rest, if it is wanted,
    // behind.

    // Rest: what is not kept, too.
    template <bool Rest, typename Put>
    __device__ void gather(const Tile& tile, const Elements& e, Put put) const
    {
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row) {
            uint32_t rank = e.ranks[row];
#pragma unroll
            for (uint32_t i = 0; i < Tile::kPerRow; ++i) {
                const bool keep = (e.keep & 1u << (row * Tile::kPerRow + i)) != 0;
                if (keep) put(rank, row, i);
                if (Rest && !keep && i < tile.rowSize(row))
                    put(e.kept + Tile::rowStart(row) + i - rank, row, i);
                if (keep) ++rank;
            }
        }
    }

    template <bool Rest>
    __device__ void gatherElements(uint32_t* compacted, const Tile& tile, const Elements& e) const
    {
        if constexpr (Rest) {
            gather<Rest>(tile, e, [&](uint32_t place, uint32_t row, uint32_t i) {
#pragma unroll
                for (uint32_t k = 0; k < Tile::kWords; ++k)
                    compacted[place * Tile::kWords + k] = e.rows[row].w[i * Tile::kWords + k];
            });
        } else {
#pragma unroll
            for (uint32_t row = 0; row < Tile::kRows; ++row) {
                const uint32_t* first = compacted + e.ranks[row] * Tile::kWords;
                uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(first));
#pragma unroll
                for (uint32_t i = 0; i < Tile::kPerRow; ++i) {
                    const uint32_t bit = 1u << (row * Tile::kPerRow + i);
                    putIf<Tile::kWords>(e.keep, bit, address, &e.rows[row].w[i * Tile::kWords]);
                }
            }
        }
    }

    template <bool Rest>
    __device__ void gatherIndices(uint32_t* compacted, const Tile& tile, const Elements& e) const
    {
        gather<Rest>(tile, e, [&](uint32_t place, uint32_t row, uint32_t i) {
            compacted[place] = tile.start + Tile::rowStart(row) + i;
        });
    }

    // From shared memory to where it belongs. The first lane starts a line.

    __device__ void storeWords(const uint32_t* compacted, uint32_t* target, uint32_t words) const
    {
        const uint32_t lead =
            static_cast<uint32_t>(reinterpret_cast<uintptr_t>(target) / 4 % kWarpSize);
        for (uint32_t i = threadIdx.x; i < words + lead; i += kCompactThreads)
            if (i >= lead) __stcs(target + (i - lead), compacted[i - lead]);
    }

    // Elements of 1 and 2 bytes, packed into words; byte by byte at the ends, which other blocks
    // may share.
    __device__ void storeSmall(const uint32_t* compacted, uint8_t* target, uint32_t elements) const
    {
        const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(target) % 4);
        const uint32_t bytes = lead + elements * Bytes;
        for (uint32_t at = threadIdx.x * 4; at < bytes; at += kCompactThreads * 4) {
            const uint32_t begin = at == 0 ? lead : 0, end = min(bytes - at, 4u);
            uint32_t value = 0;
#pragma unroll
            for (uint32_t b = 0; b < 4; b += Bytes)
                if (b >= begin && b < end) value |= compacted[(at + b - lead) / Bytes] << 8 * b;
            uint8_t* word = target - lead + at;
            if (begin == 0 && end == 4) {
                *reinterpret_cast<uint32_t*>(word) = value;
            } else {
                for (uint32_t b = begin; b < end; ++b)
                    word[b] = static_cast<uint8_t>(value >> 8 * b);
            }
        }
    }

    // `number` compacted elements to position `to` of the output, as far as they fit.
    __device__ void storeElements(const uint32_t* compacted, uint32_t number, uint32_t to) const
    {
        const uint32_t fits = min(number, params.capacity - min(to, params.capacity));
        uint8_t* target = pointerFrom<uint8_t>(params.output_) + static_cast<uint64_t>(to) * Bytes;
        if constexpr (Tile::kSmall) {
            storeSmall(compacted, target, fits);
        } else {
            storeWords(compacted, reinterpret_cast<uint32_t*>(target), fits * Tile::kWords);
        }
    }

    __device__ void storeIndices(const uint32_t* compacted, uint32_t number, uint32_t to) const
    {
        storeWords(compacted, pointerFrom<uint32_t>(params.indices) + to,
                   min(number, params.indexCapacity - min(to, params.indexCapacity)));
    }

    // How many elements the tiles before `index` keep. By the whole block; the tile's count is
    // published.
    __device__ uint32_t keptBefore(uint32_t index, uint32_t kept) const
    {
        const auto recompute = [&](uint32_t missing, uint32_t& value) {
            value = Tile(params, missing, count).kept(shared.warps[0]);
            return false;
        };
        return lookback.wait(index, kept, false, params.polls,
                             hasMode(params, SLUICE_COMPACT_MODE_IN_PLACE),
                             hasMode(params, SLUICE_COMPACT_MODE_SCANNER), recompute);
    }

    // Where a partition's elements that are not kept go: behind all that are.
    __device__ uint32_t restStart(const Tile& tile, const Elements& e, uint32_t prefix) const
    {
        const uint32_t kept = gridDim.x > 1 ? __ldcg(keptWord(params)) : e.kept;
        return kept + tile.start - prefix;
    }

    // Writes a tile; the tiles before it keep `prefix` elements. restAt: Rest: where those that are
    // not kept go.
    template <bool Rest>
    __device__ void emit(const Tile& tile, const Elements& e, uint32_t prefix,
                         uint32_t restAt) const
    {
        uint32_t* compacted = reinterpret_cast<uint32_t*>(compactBytes);
        if (u64From(params.output_) != 0) {
            gatherElements<Rest>(compacted, tile, e);
            __syncthreads();
            storeElements(compacted, e.kept, prefix);
            if (Rest) storeElements(compacted + e.kept * Tile::kWords, tile.size - e.kept, restAt);
            __syncthreads();
        }
        if (u64From(params.indices) != 0) {
            gatherIndices<Rest>(compacted, tile, e);
            __syncthreads();
            storeIndices(compacted, e.kept, prefix);
            if (Rest) storeIndices(compacted + e.kept, tile.size - e.kept, restAt);
            __syncthreads();
        }
    }

    // last: the block's last tile, after which it leaves the look-back.
    __device__ void one(uint32_t index, bool last)
    {
        const Tile tile(params, index, count);
        Elements e;
        tile.load(e);
        const bool inPlace = hasMode(params, SLUICE_COMPACT_MODE_IN_PLACE);
        if (inPlace) __threadfence(); // read before others learn that it may be overwritten
        Tile::rank(e, shared.warps[0]);
        uint32_t prefix = 0;
        if (gridDim.x > 1) {
            lookback.publish(index, e.kept, false, inPlace);
            prefix = keptBefore(index, e.kept);
        }
        const bool partition = hasMode(params, SLUICE_COMPACT_MODE_PARTITION);
        const uint32_t restAt = partition ? restStart(tile, e, prefix) : 0;
        if (last) lookback.leave(); // its latency passes behind the stores
        if (partition) {
            emit<true>(tile, e, prefix, restAt);
        } else {
            emit<false>(tile, e, prefix, 0);
        }
        if (index == tiles - 1) storeResult(params, prefix + e.kept);
        __syncthreads(); // before shared memory is written again
    }

#if __CUDA_ARCH__ >= 900
    struct Ring {
        uint64_t arrived[kStages];
        uint32_t tickets[kStages];
        uint32_t kept[kStages];
    };

    // By one thread: has the tile of a ticket loaded, if it is a whole one.
    __device__ void load(Ring& ring, uint32_t stage, uint32_t ticket, uint32_t wholeTiles) const
    {
        if (ticket >= wholeTiles) return;
        const Tile tile(params, ticket, count);
        if (!tile.readsElements()) return;
        const uint32_t lead = ticket != 0 ? 16 : 0;
        copyBulk(stageOf(stage) - lead, tile.bytes() - lead, Tile::kElements * Bytes + lead,
                 &ring.arrived[stage]);
    }

    static __device__ unsigned char* stageOf(uint32_t stage)
    {
        return compactBytes + stage * (kLeadBytes + kTileBytes) + kLeadBytes;
    }

    // Takes whole tiles until there are no more. Returns the first ticket that was for none.
    __device__ uint32_t whole(uint32_t wholeTiles) const
    {
        __shared__ Ring ring;
        const bool elements = u64From(params.output_) != 0;
        // not thread 0, which publishes and waits
        const bool loads = threadIdx.x == kCompactThreads - 1;
        uint32_t latest = 0; // of that thread: its last ticket
        if (loads) {
            for (uint32_t stage = 0; stage < kStages; ++stage)
                initBarrier(&ring.arrived[stage]);
            fenceCopyEngine();
            // One after the other, so that blocks that start together take turns.
            for (uint32_t stage = 0; stage < kStages; ++stage) {
                if (latest < wholeTiles) latest = lookback.takeAlone();
                ring.tickets[stage] = latest;
                load(ring, stage, latest, wholeTiles);
            }
        }
        __syncthreads();

        uint32_t newest = 0, oldest = 0, parity = 0; // stages; parity of the newest
        typename Tile::Selectors selectors = {};     // of the newest
        if (ring.tickets[0] < wholeTiles)
            selectors = Tile(params, ring.tickets[0], count).loadSelectors();
        for (uint32_t round = 0; round < kAhead || ring.tickets[oldest] < wholeTiles; ++round) {
            const uint32_t arriving = ring.tickets[newest], leaving = ring.tickets[oldest];
            const bool starting = arriving < wholeTiles, finishing = round >= kAhead;
            typename CountLookback::Seen seen = {};
            if (finishing) {
                seen = lookback.peek(leaving);
                // Known by the time that its tile can be loaded.
                if (loads && latest < wholeTiles) latest = lookback.takeAlone();
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
                    gatherElements<false>(compacted, tile, e);
                } else {
                    gatherIndices<false>(compacted, tile, e);
                }
            }
            if (finishing) {
                // not before publishing: others wait for that
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
                oldest = oldest + 1 == kStages ? 0 : oldest + 1;
            }
            newest = newest + 1 == kStages ? 0 : newest + 1;
            parity ^= newest == 0 ? 1 : 0;
            const uint32_t following = ring.tickets[newest];
            if (following < wholeTiles) selectors = Tile(params, following, count).loadSelectors();
        }
        return ring.tickets[oldest];
    }

    // Writes the tile `index` that stands compacted in a stage. By the whole block, after await().
    __device__ void finish(const Ring& ring, uint32_t stage, uint32_t index) const
    {
        const uint32_t kept = ring.kept[stage];
        uint32_t prefix = shared.looked.value;
        if (shared.looked.next != 0) {
            __syncthreads(); // all have read that
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

    __device__ void all()
    {
        if (hasMode(params, SLUICE_COMPACT_MODE_DIRECT)) {
            const uint32_t index =
                blockIdx.x - (hasMode(params, SLUICE_COMPACT_MODE_SCANNER) ? 1 : 0);
            if (index < tiles) {
                one(index, true);
            } else {
                lookback.leave();
            }
            return;
        }
        uint32_t index;
#if __CUDA_ARCH__ >= 900
        if (hasMode(params, SLUICE_COMPACT_MODE_AHEAD)) {
            index = whole(count / Tile::kElements);
        } else {
            index = lookback.ticket();
        }
#else
        index = lookback.ticket();
#endif
        while (index < tiles) {
            one(index, false);
            index = lookback.ticket();
        }
        lookback.leave();
    }

    // One block, one tile after the other: the only way in place where no block may wait for
    // another.
    __device__ void serial()
    {
        uint32_t prefix = 0;
        for (uint32_t index = 0; index < tiles; ++index) {
            const Tile tile(params, index, count);
            Elements e;
            tile.load(e);
            Tile::rank(e, shared.warps[0]);
            emit<false>(tile, e, prefix, 0);
            prefix += e.kept;
        }
        storeResult(params, prefix);
    }

    __device__ void countAll() const
    {
        uint32_t kept = 0;
        for (uint32_t index = blockIdx.x; index < tiles; index += gridDim.x)
            kept += Tile(params, index, count).kept(shared.warps[0]);
        if (threadIdx.x == 0) atomicAdd(keptWord(params), kept);
    }
};

#if __CUDA_ARCH__ >= 900
// Whole tiles of elements of 4 bytes, 16-byte aligned. A tile's count is published in the round
// that it arrives in, and it is written kDelay rounds later. Block 0 is the scanner, and does the
// last tile, whole or not.
//
// Bytes: a test of bytes instead of a comparison of whole numbers.
template <bool Bytes>
struct WordRing : Compact<4> {
    static constexpr uint32_t kRows = Tile::kRows;
    static constexpr uint32_t kDelay = kWordStages - 1;
    static constexpr uint32_t kOpen = kDelay + 3; // tiles that a block may have begun when it
                                                  // leaves the ring

    struct Shared {
        uint32_t totals[2][kCompactWarps]; // all by rounds in turn, so that one barrier a round is
                                           // enough
        uint32_t ready[2][kCompactWarps];  // the scanner's
        uint32_t tickets[2];
        uint32_t late[2]; // somebody's place did not come in the round before
        uint32_t open[kOpen];
    };

    __device__ uint64_t* states() const
    {
        return reinterpret_cast<uint64_t*>(pointerFrom<LookbackHead>(params.scratch) + 1);
    }

    // By the last thread. Adds 1, which the compiler must not know: what is the same in all lanes
    // it adds for all of them at once, and the warp waits for the result in this place.
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

    // As Lookback::scan, two tiles a thread; stops for good where somebody had to look back.
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
            const uint32_t open = firstLane(theirs != kWarpSize); // the first warp that misses one
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

    // One tile where the scanner did not come. publishes: nobody has published it yet.
    __device__ void alone(uint32_t index, bool publishes) const
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

    struct Rows {
        uint4 rows[kRows];
        uint32_t selectors[kRows];
    };

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

    // Four bits of a byte for each row.
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

    // `number` elements from shared memory to position `to`, as far as they fit.
    __device__ void store(const uint32_t* compacted, uint32_t number, uint32_t to) const
    {
        const uint32_t fits = min(number, params.capacity - min(to, params.capacity));
        // below 0: large
        const uint32_t lead = (params.output_.lo / 4 + to) % kWarpSize, at = threadIdx.x - lead;
        const uint32_t* from = compacted + static_cast<int>(at);
        uint32_t* target = pointerFrom<uint32_t>(params.output_) + to + static_cast<int>(at);
        constexpr uint32_t kAlways = 2; // more is rare where few are kept
#pragma unroll
        for (uint32_t i = 0; i < kAlways; ++i)
            if (at + i * kCompactThreads < fits)
                __stcs(target + i * kCompactThreads, from[i * kCompactThreads]);
        if (fits + lead > kAlways * kCompactThreads) {
#pragma unroll
            for (uint32_t i = kAlways; i < kRows * 4 + 1; ++i)
                if (at + i * kCompactThreads < fits)
                    __stcs(target + i * kCompactThreads, from[i * kCompactThreads]);
        }
    }

    __device__ void wholeOnes(Shared& ring, uint32_t wholeTiles) const
    {
        const bool takes = threadIdx.x == kCompactThreads - 1; // not thread 0, which publishes
        if (threadIdx.x < 2) ring.late[threadIdx.x] = 0;
        uint32_t taken = 0;
        if (takes) ring.tickets[0] = take();
        __syncthreads();
        uint32_t ticket = ring.tickets[0], turn = 1, stage = 0;
        if (takes && ticket < wholeTiles) taken = take();
        uint32_t waiting[kDelay + 1], counts[kDelay]; // the tiles of the rounds before
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
                reinterpret_cast<const uint32_t*>(compactBytes + stage * kTileBytes);
            const uint32_t start = static_cast<uint32_t>(__cvta_generic_to_shared(compacted));
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
            taken = following; // known by the time that its tile can be loaded
            if (takes && following < wholeTiles) taken = take();
            for (uint32_t i = 0; i < params.polls && (seen >> 32) != kTileWhole; ++i)
                seen = loadRelaxed(states() + (leaving - 1));
            const bool comes = (seen >> 32) == kTileWhole;
            if (!comes) ring.late[turn ^ 1] = 1;
            stage = stage + 1 == kWordStages ? 0 : stage + 1;
            store(reinterpret_cast<const uint32_t*>(compactBytes + stage * kTileBytes),
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
        // One after the other from the one on that was late.
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
                alone(index, i >= kOpen - 2);
            } else if (i >= kOpen) {
                break;
            }
        }
    }
};
#endif

// For WordRing; see wordRing().
template <bool Bytes>
__global__ void __launch_bounds__(kCompactThreads, kCompactWordBlocksPerProcessor)
    compactWordsKernel(const __grid_constant__ CompactParams params)
{
#if __CUDA_ARCH__ >= 900
    __shared__ CompactShared shared;
    __shared__ typename WordRing<Bytes>::Shared ring;
    const uint32_t count = elementCount(params),
                   wholeTiles = (max(count, 1u) - 1) / CompactTile<4>::kElements;
    CountLookback lookback(shared.looked, params.scratch);
    WordRing<Bytes> compact{{params, shared, lookback, count, wholeTiles + 1}};
    if (blockIdx.x == 0) {
        compact.scan(ring, wholeTiles);
        compact.one(wholeTiles, true);
    } else {
        compact.wholeOnes(ring, wholeTiles);
        lookback.leave();
    }
    lookback.clean(wholeTiles + 1);
#endif
}

// So short that programmatic dependent launch pays.
__host__ __device__ inline bool isShort(const CompactParams& params)
{
    return (params.mode & SLUICE_COMPACT_MODE_DIRECT) != 0;
}

template <uint32_t Bytes>
__global__ void __launch_bounds__(kCompactThreads, kCompactBlocksPerProcessor)
    compactKernel(const __grid_constant__ CompactParams params)
{
    __shared__ CompactShared shared;
    waitForPreviousLaunch();
    if (isShort(params)) letNextLaunchBegin();
    const uint32_t count = elementCount(params);
    // an empty input has one empty tile
    const uint32_t tiles = max(CompactTile<Bytes>::count(count), 1u);
    CountLookback lookback(shared.looked, params.scratch);
    Compact<Bytes> compact{params, shared, lookback, count, tiles};
    if (hasMode(params, SLUICE_COMPACT_MODE_COUNT)) {
        compact.countAll();
    } else if (hasMode(params, SLUICE_COMPACT_MODE_SERIAL)) {
        compact.serial();
    } else if (gridDim.x == 1) {
        compact.one(0, false);
    } else {
        if (hasMode(params, SLUICE_COMPACT_MODE_SCANNER) && blockIdx.x == 0) {
            lookback.scan(tiles, params.polls);
            lookback.leave();
        } else {
            compact.all();
        }
        lookback.clean(tiles);
    }
}

using CompactKernel = void (*)(CompactParams);

CompactKernel kernelFor(uint32_t elementSize)
{
    switch (elementSize) {
    case 1: return compactKernel<1>;
    case 2: return compactKernel<2>;
    case 8: return compactKernel<8>;
    case 16: return compactKernel<16>;
    default: return compactKernel<4>;
    }
}

} // namespace

bool compactsWords(const CompactParams& params)
{
    const uint32_t test = params.mode & SLUICE_COMPACT_MODE_TEST;
    const uint32_t notCompared = SLUICE_COMPACT_MODE_INVERT | SLUICE_COMPACT_MODE_F32;
    return u64From(params.output_) != 0 &&
           (test == SLUICE_COMPACT_TEST_BYTES ||
            (test == SLUICE_COMPACT_TEST_COMPARE && (params.mode & notCompared) == 0));
}

uint32_t compactTileElements(uint32_t elementSize)
{
    return kTileBytes / std::max(elementSize, 4u);
}

cudaError_t loadCompact(CudaTraits& traits)
{
    cudaError_t error = cudaSuccess;
    for (const uint32_t size : {1u, 2u, 4u, 8u, 16u}) {
        if (error != cudaSuccess) break;
        const void* kernel = reinterpret_cast<const void*>(kernelFor(size));
        cudaFuncAttributes attributes;
        error = cudaFuncGetAttributes(&attributes, kernel);
        traits.sm90 = traits.sm90 && error == cudaSuccess && isSm90(attributes);
        if (error == cudaSuccess && traits.sm90)
            error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         kRingBytes);
    }
    for (const auto kernel : {compactWordsKernel<false>, compactWordsKernel<true>}) {
        if (error == cudaSuccess && traits.sm90)
            error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         kWordRingBytes);
    }
    return error;
}

cudaError_t launchCompactWords(cudaStream_t stream, const CompactParams& params)
{
    const bool bytes = (params.mode & SLUICE_COMPACT_MODE_TEST) == SLUICE_COMPACT_TEST_BYTES;
    return launch(stream, bytes ? compactWordsKernel<true> : compactWordsKernel<false>,
                  params.workgroups, kCompactThreads, params, kWordRingBytes);
}

cudaError_t launchCompact(cudaStream_t stream, uint32_t elementSize, const CompactParams& params,
                          bool programmatic)
{
    const bool ring = (params.mode & SLUICE_COMPACT_MODE_AHEAD) != 0;
    return launch(stream, kernelFor(elementSize), params.workgroups, kCompactThreads, params,
                  ring ? kRingBytes : kTileBytes, programmatic && isShort(params));
}

} // namespace sluice
