// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction in one pass with decoupled look-back.
//
// A tile's kept elements are gathered in shared memory and written from there, so that stores fill whole lines.
//
// Where there are many tiles, a block takes one after the other through a ring in shared memory: when a tile has
// arrived, its count is published and the tile compacted where it stands; it is written kAhead tiles later. By then
// what lies before it is known, so nobody waits for long. Tiles that are not whole, or not 16-byte aligned, are done
// one at a time.
#include <algorithm>

#include "kernels.h"
#include "lib/bulk_copy.cuh"
#include "lib/compact_tile.cuh"
#include "lib/launch.cuh"
#include "lib/lookback.cuh"

namespace sluice {
namespace {

constexpr uint32_t kBlocksPerProcessor = 4;
constexpr uint32_t kTileBytes = kCompactRows * kRowWords * 4 * kCompactThreads; // in shared memory
constexpr uint32_t kLeadBytes = 128;                                            // the last 16 are those before the tile
constexpr uint32_t kStages = 3;
[[maybe_unused]] constexpr uint32_t kAhead = 2;
constexpr uint32_t kRingBytes = kStages * (kLeadBytes + kTileBytes);

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
    const uint32_t divisor = params.argumentDivisor, groups = kept / divisor + (kept % divisor != 0 ? 1u : 0u);
    if (u64From(params.argument) != 0) *pointerFrom<uint32_t>(params.argument) = min(groups, params.argumentLimit);
}

// Stores an element in shared memory if a bit of `bits` is set, and moves the address on: three instructions, where the
// compiler makes six of the same in C++.
template <uint32_t Words>
__device__ inline void putIf(uint32_t bits, uint32_t bit, uint32_t& address, const uint32_t* w)
{
#define SLUICE_PUT_IF(store, ...)                                                                                      \
    asm volatile("{ .reg .u32 t; .reg .pred p; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; @p " store                      \
                 "; @p add.u32 %0, %0, %3; }"                                                                          \
                 : "+r"(address)                                                                                       \
                 : "r"(bits), "r"(bit), "r"(4 * Words), __VA_ARGS__                                                    \
                 : "memory")
    if constexpr (Words == 1) {
        SLUICE_PUT_IF("st.shared.u32 [%0], %4", "r"(w[0]));
    } else if constexpr (Words == 2) {
        SLUICE_PUT_IF("st.shared.v2.u32 [%0], {%4, %5}", "r"(w[0]), "r"(w[1]));
    } else {
        SLUICE_PUT_IF("st.shared.v4.u32 [%0], {%4, %5, %6, %7}", "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]));
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

    // From registers to shared memory: what is kept to the front, the rest, if it is wanted, behind.

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
                if (Rest && !keep && i < tile.rowSize(row)) put(e.kept + Tile::rowStart(row) + i - rank, row, i);
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
        const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(target) / 4 % kWarpSize);
        for (uint32_t i = threadIdx.x; i < words + lead; i += kCompactThreads)
            if (i >= lead) __stcs(target + (i - lead), compacted[i - lead]);
    }

    // Elements of 1 and 2 bytes, packed into words; byte by byte at the ends, which other blocks may share.
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

    // How many elements the tiles before `index` keep. By the whole block; the tile's count is published.
    __device__ uint32_t keptBefore(uint32_t index, uint32_t kept) const
    {
        const auto recompute = [&](uint32_t missing, uint32_t& value) {
            value = Tile(params, missing, count).kept(shared.warps[0]);
            return false;
        };
        return lookback.wait(index, kept, false, params.polls, hasMode(params, SLUICE_COMPACT_MODE_IN_PLACE),
                             hasMode(params, SLUICE_COMPACT_MODE_SCANNER), recompute);
    }

    // Where a partition's elements that are not kept go: behind all that are.
    __device__ uint32_t restStart(const Tile& tile, const Elements& e, uint32_t prefix) const
    {
        const uint32_t kept = gridDim.x > 1 ? __ldcg(keptWord(params)) : e.kept;
        return kept + tile.start - prefix;
    }

    // Writes a tile; the tiles before it keep `prefix` elements. restAt: Rest: where those that are not kept go.
    template <bool Rest>
    __device__ void emit(const Tile& tile, const Elements& e, uint32_t prefix, uint32_t restAt) const
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
        copyBulk(stageOf(stage) - lead, tile.bytes() - lead, Tile::kElements * Bytes + lead, &ring.arrived[stage]);
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
        const bool loads = threadIdx.x == kCompactThreads - 1; // not thread 0, which publishes and waits
        uint32_t latest = 0;                                   // of that thread: its last ticket
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
        if (ring.tickets[0] < wholeTiles) selectors = Tile(params, ring.tickets[0], count).loadSelectors();
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
                lookback.await(leaving, params.polls, seen); // not before publishing: others wait for that
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
            const uint32_t index = blockIdx.x - (hasMode(params, SLUICE_COMPACT_MODE_SCANNER) ? 1 : 0);
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

    // One block, one tile after the other: the only way in place where no block may wait for another.
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

template <uint32_t Bytes>
__global__ void __launch_bounds__(kCompactThreads, kBlocksPerProcessor)
    compactKernel(const __grid_constant__ CompactParams params)
{
    __shared__ CompactShared shared;
    const uint32_t count = elementCount(params);
    const uint32_t tiles = max(CompactTile<Bytes>::count(count), 1u); // an empty input has one empty tile
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
    case 1:
        return compactKernel<1>;
    case 2:
        return compactKernel<2>;
    case 8:
        return compactKernel<8>;
    case 16:
        return compactKernel<16>;
    default:
        return compactKernel<4>;
    }
}

} // namespace

uint32_t compactTileElements(uint32_t elementSize)
{
    return kTileBytes / std::max(elementSize, 4u);
}

cudaError_t loadCompact(CompactDevice& compactDevice)
{
    compactDevice = {};
    uint32_t processors = 0;
    cudaError_t error = countProcessors(processors);
    compactDevice.blocks = processors * kBlocksPerProcessor;
    for (const uint32_t size : {1u, 2u, 4u, 8u, 16u}) {
        if (error != cudaSuccess) break;
        const void* kernel = reinterpret_cast<const void*>(kernelFor(size));
        cudaFuncAttributes attributes;
        error = cudaFuncGetAttributes(&attributes, kernel);
        compactDevice.ring = isForHopper(attributes);
        if (error == cudaSuccess && compactDevice.ring)
            error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kRingBytes);
    }
    return error;
}

cudaError_t launchCompact(cudaStream_t stream, uint32_t elementSize, const CompactParams& params)
{
    const bool ring = (params.mode & SLUICE_COMPACT_MODE_AHEAD) != 0;
    return launch(stream, kernelFor(elementSize), params.workgroups, kCompactThreads, params,
                  ring ? kRingBytes : kTileBytes);
}

} // namespace sluice
