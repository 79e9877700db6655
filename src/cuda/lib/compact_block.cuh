// SPDX-License-Identifier: MIT OR Apache-2.0
// Compaction by a block, a tile at a time. A tile's kept elements are gathered in shared memory and
// written from there, so that stores fill whole cache lines. A tile's place in the output is its
// *prefix*: how many elements all tiles before it keep.
#pragma once

#include "layout/compact.h"
#include "cuda/lib/compact_tile.cuh"
#include "cuda/lib/lookback.cuh"

namespace sluice {

// The bytes of shared memory that a tile takes. In each row a thread has 16 bytes or, for WIDE
// sizes (12 and 20 bytes), room for one element of 20 bytes.
constexpr uint32_t kCompactTileBytes = kCompactRows * 16 * kCompactThreads;
constexpr uint32_t kCompactWideTileBytes =
    kCompactRows * SLUICE_COMPACT_MAX_WORDS * 4 * kCompactThreads;

using CountLookback = Lookback<Sum<uint32_t>>;

// The shared memory of a block, except for the elements.
struct CompactShared {
    uint32_t warps[2][kCompactWarps]; // the warps' counts; rounds use the two in turn
    CountLookback::Shared looked;
};

// Holds the gathered kept elements of a tile, or a ring of tiles (compact_ring.cuh).
extern __shared__ __align__(128) uint8_t compactBytes[];

// Returns the word of scratch that holds the number of elements that all tiles keep. The first
// launch of a partition computes it.
__device__ inline uint32_t* keptWord(const CompactParams& params)
{
    return pointerFrom<LookbackHead>(params.scratch)->ofCommand;
}

// Stores the command's results: `kept`, the number of elements kept in all, and the argument of an
// indirect dispatch, which is kept / argumentDivisor, rounded up, and at most argumentLimit. The
// whole block calls it.
__device__ inline void storeResult(const CompactParams& params, uint32_t kept)
{
    if (threadIdx.x != 0) return;
    if (u64From(params.resultCount) != 0) *pointerFrom<uint32_t>(params.resultCount) = kept;
    const uint32_t divisor = params.argumentDivisor,
                   groups = kept / divisor + (kept % divisor != 0 ? 1u : 0u);
    if (u64From(params.argument) != 0)
        *pointerFrom<uint32_t>(params.argument) = min(groups, params.argumentLimit);
}

// Stores an element of `Words` words at `address` in shared memory and advances `address`, but only
// if `bit` is set in `bits`. This PTX becomes three instructions; C++ would become six.
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
    } else if constexpr (Words == 3) {
        SLUICE_PUT_IF("st.shared.u32 [%0], %4; @p st.shared.u32 [%0 + 4], %5; @p st.shared.u32 [%0 "
                      "+ 8], %6",
                      "r"(w[0]), "r"(w[1]), "r"(w[2]));
    } else if constexpr (Words == 5) {
        SLUICE_PUT_IF("st.shared.u32 [%0], %4; @p st.shared.u32 [%0 + 4], %5; @p st.shared.u32 [%0 "
                      "+ 8], %6; @p st.shared.u32 [%0 + 12], %7; @p st.shared.u32 [%0 + 16], %8",
                      "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(w[4]));
    } else {
        static_assert(Words == 4);
        SLUICE_PUT_IF("st.shared.v4.u32 [%0], {%4, %5, %6, %7}", "r"(w[0]), "r"(w[1]), "r"(w[2]),
                      "r"(w[3]));
    }
#undef SLUICE_PUT_IF
}

// The steps of a compaction. A block does one tile at a time.
template <uint32_t Bytes>
struct Compact {
    using Tile = CompactTile<Bytes>;
    using Elements = typename Tile::Elements;

    const CompactParams& params;
    CompactShared& shared;
    CountLookback& lookback;
    // The numbers of elements and of tiles of the input.
    uint32_t count;
    uint32_t tiles;

    // Calls put(place, row, i) for each kept element, which is element i of this thread's row
    // `row`; `place` is its index among the tile's kept elements. With Rejected, also calls put()
    // for the elements that are not kept; their places follow those of the kept ones.
    template <bool Rejected, typename Put>
    __device__ void gather(const Tile& tile, const Elements& e, Put put) const
    {
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row) {
            uint32_t rank = e.ranks[row];
#pragma unroll
            for (uint32_t i = 0; i < Tile::kPerRow; ++i) {
                const bool keep = (e.keep & 1u << (row * Tile::kPerRow + i)) != 0;
                if (keep) put(rank, row, i);
                if (Rejected && !keep && i < tile.rowSize(row))
                    put(e.kept + Tile::rowStart(row) + i - rank, row, i);
                if (keep) ++rank;
            }
        }
    }

    // Gathers the kept elements of a tile in shared memory, at `compacted`. With Rejected, the
    // elements that are not kept follow them.
    template <bool Rejected>
    __device__ void gatherElements(uint32_t* compacted, const Tile& tile, const Elements& e) const
    {
        if constexpr (Rejected) {
            gather<Rejected>(tile, e, [&](uint32_t place, uint32_t row, uint32_t i) {
#pragma unroll
                for (uint32_t k = 0; k < Tile::kWords; ++k)
                    compacted[place * Tile::kWords + k] = e.rows[row].w[i * Tile::kWords + k];
            });
        } else {
#pragma unroll
            for (uint32_t row = 0; row < Tile::kRows; ++row) {
                const uint32_t* first = compacted + e.ranks[row] * Tile::kWords;
                uint32_t address = sharedAddress(first);
#pragma unroll
                for (uint32_t i = 0; i < Tile::kPerRow; ++i) {
                    const uint32_t bit = 1u << (row * Tile::kPerRow + i);
                    putIf<Tile::kWords>(e.keep, bit, address, &e.rows[row].w[i * Tile::kWords]);
                }
            }
        }
    }

    // Gathers the indices of the elements in the way that gatherElements gathers the elements.
    template <bool Rejected>
    __device__ void gatherIndices(uint32_t* compacted, const Tile& tile, const Elements& e) const
    {
        gather<Rejected>(tile, e, [&](uint32_t place, uint32_t row, uint32_t i) {
            compacted[place] = tile.start + Tile::rowStart(row) + i;
        });
    }

    // Stores `words` words from shared memory to the output. In each step, a warp stores the words
    // of one aligned cache line of 128 bytes.
    __device__ void storeWords(const uint32_t* compacted, uint32_t* target, uint32_t words) const
    {
        const uint32_t lead =
            static_cast<uint32_t>(reinterpret_cast<uintptr_t>(target) / 4 % kWarpSize);
        for (uint32_t i = threadIdx.x; i < words + lead; i += kCompactThreads)
            if (i >= lead) __stcs(target + (i - lead), compacted[i - lead]);
    }

    // Packs elements of 1 or 2 bytes, each of which takes a word in shared memory, and stores them.
    // The first and the last word of the output may contain bytes that other blocks store, so bytes
    // of these two words are stored one by one.
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

    // Stores `number` gathered elements from position `to` of the output on, as far as its capacity
    // allows.
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

    // Stores `number` gathered indices from position `to` of the list of indices on, as far as its
    // capacity allows.
    __device__ void storeIndices(const uint32_t* compacted, uint32_t number, uint32_t to) const
    {
        storeWords(compacted, pointerFrom<uint32_t>(params.indices) + to,
                   min(number, params.indexCapacity - min(to, params.indexCapacity)));
    }

    // Looks back: returns how many elements all tiles before `index` keep. Tile `index` keeps
    // `kept` elements, and must have published this number. The whole block calls it.
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

    // Returns the position in the output of a tile's first rejected element. `prefix` is how many
    // elements all tiles before it keep. A partition writes rejected elements behind all kept ones.
    __device__ uint32_t rejectedStart(const Tile& tile, const Elements& e, uint32_t prefix) const
    {
        const uint32_t kept = gridDim.x > 1 ? __ldcg(keptWord(params)) : e.kept;
        return kept + tile.start - prefix;
    }

    // Gathers and writes a tile. The tiles before it keep `prefix` elements. With Rejected, the
    // elements that are not kept go to position rejectedAt of the output.
    template <bool Rejected>
    __device__ void emit(const Tile& tile, const Elements& e, uint32_t prefix,
                         uint32_t rejectedAt) const
    {
        uint32_t* compacted = reinterpret_cast<uint32_t*>(compactBytes);
        if (u64From(params.output_) != 0) {
            gatherElements<Rejected>(compacted, tile, e);
            __syncthreads();
            storeElements(compacted, e.kept, prefix);
            if (Rejected)
                storeElements(compacted + e.kept * Tile::kWords, tile.size - e.kept, rejectedAt);
            __syncthreads();
        }
        if (u64From(params.indices) != 0) {
            gatherIndices<Rejected>(compacted, tile, e);
            __syncthreads();
            storeIndices(compacted, e.kept, prefix);
            if (Rejected) storeIndices(compacted + e.kept, tile.size - e.kept, rejectedAt);
            __syncthreads();
        }
    }

    // Compacts tile `index`. If this is the block's `last` tile, the block needs no more counts of
    // other tiles after it, so it leaves the look-back before it stores the tile.
    __device__ void compactTile(uint32_t index, bool last)
    {
        const Tile tile(params, index, count);
        Elements e;
        tile.load(e);
        const bool inPlace = hasMode(params, SLUICE_COMPACT_MODE_IN_PLACE);
        if (inPlace) __threadfence(); // other blocks overwrite the input only after these reads
        Tile::rank(e, shared.warps[0]);
        uint32_t prefix = 0;
        if (gridDim.x > 1) {
            lookback.publish(index, e.kept, false, inPlace);
            prefix = keptBefore(index, e.kept);
        }
        const bool partition = hasMode(params, SLUICE_COMPACT_MODE_PARTITION);
        const uint32_t rejectedAt = partition ? rejectedStart(tile, e, prefix) : 0;
        if (last) lookback.leave(); // its atomic completes during the stores below
        if (partition) {
            emit<true>(tile, e, prefix, rejectedAt);
        } else {
            emit<false>(tile, e, prefix, 0);
        }
        if (index == tiles - 1) storeResult(params, prefix + e.kept);
        __syncthreads(); // the next tile may overwrite shared memory
    }

    // One block compacts all tiles, one after the other. A compaction in place needs this if blocks
    // must not wait for each other. Without waiting, a block would have to compute the counts of
    // earlier tiles itself, but their input may have been overwritten.
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

    // For a partition: adds up in scratch (keptWord) how many elements all tiles keep.
    __device__ void countAll() const
    {
        uint32_t kept = 0;
        for (uint32_t index = blockIdx.x; index < tiles; index += gridDim.x)
            kept += Tile(params, index, count).kept(shared.warps[0]);
        if (threadIdx.x == 0) atomicAdd(keptWord(params), kept);
    }
};

} // namespace sluice
