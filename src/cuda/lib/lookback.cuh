// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoupled look-back: one pass over the tiles of an input, each tile needing the combined value of
// all tiles before it. See shaders/lib/lookback.glsl for the method, the scratch and the papers. A
// state's value is cut into pieces of 32 bits, each in a 64-bit word of its own together with the
// state: words need not become visible together.
//
// An operation is one of runs.cuh, on uint32_t or uint64_t: Sum<uint32_t>, say. It must be
// commutative.
#pragma once

#include "launch.cuh"
#include "runs.cuh"

namespace sluice {

constexpr uint32_t kTileOwn = 1;   // published: the tile's own value
constexpr uint32_t kTileWhole = 2; // published: the value of this tile and all before it

struct LookbackHead {
    uint32_t ticket;
    uint32_t done;
    uint32_t unused[2];
};
static_assert(sizeof(LookbackHead) == SLUICE_LOOKBACK_HEAD,
              "the head's size is part of the requirements");

// What one tile has published.
template <typename Value>
struct LookbackState {
    uint32_t state; // 0: nothing yet
    Value value;
};

__device__ inline uint64_t loadRelaxed(const uint64_t* word)
{
    uint64_t value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}
__device__ inline void storeRelaxed(uint64_t* word, uint64_t value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}
__device__ inline void loadRelaxed2(const uint64_t* words, uint64_t& first, uint64_t& second)
{
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(first), "=l"(second)
                 : "l"(words)
                 : "memory");
}
__device__ inline void storeRelaxed2(uint64_t* words, uint64_t first, uint64_t second)
{
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(words), "l"(first),
                 "l"(second)
                 : "memory");
}

template <typename Value>
__device__ inline LookbackState<Value> loadState(const uint64_t* states, uint32_t tile)
{
    if constexpr (sizeof(Value) == 4) {
        const uint64_t word = loadRelaxed(states + tile);
        return {static_cast<uint32_t>(word >> 32), static_cast<Value>(word)};
    } else {
        uint64_t low, high;
        loadRelaxed2(states + 2ull * tile, low, high);
        const uint32_t state = static_cast<uint32_t>(low >> 32);
        const bool complete = state == static_cast<uint32_t>(high >> 32);
        return {complete ? state : 0u,
                static_cast<Value>(low & 0xffffffffu) | static_cast<Value>(high) << 32};
    }
}

template <typename Value>
__device__ inline void storeState(uint64_t* states, uint32_t tile, Value value, uint32_t state)
{
    const uint64_t tag = static_cast<uint64_t>(state) << 32;
    if constexpr (sizeof(Value) == 4) {
        storeRelaxed(states + tile, tag | value);
    } else {
        storeRelaxed2(states + 2ull * tile, tag | (value & 0xffffffffu), tag | value >> 32);
    }
}

// The first lane that holds `condition`; 32 if none does.
__device__ inline uint32_t firstLane(bool condition)
{
    const uint32_t lanes = __ballot_sync(kAllLanes, condition);
    return lanes == 0 ? kWarpSize : static_cast<uint32_t>(__ffs(static_cast<int>(lanes)) - 1);
}

// One block's view of a look-back, in shared memory.
template <typename Op>
class Lookback {
public:
    using Value = typename Op::Value;

    // Tiles that the scanner's warps look at: how many have published, up to the first that has
    // not, and their run.
    using OneRun = Run<Op, true>;
    struct ScannedWarp {
        OneRun run;
        uint32_t ready;
    };
    static constexpr uint32_t kMaxWarps = 16;

    struct Shared {
        Value value;
        uint32_t next;
        uint32_t ticket;
        uint32_t left;                     // not `ticket`, which others may still read
        ScannedWarp scanned[2][kMaxWarps]; // used in turn, so that one barrier is enough
    };

    __device__ Lookback(Shared& sharedState, u64pair scratch)
        : shared(sharedState), head(pointerFrom<LookbackHead>(scratch)),
          states(reinterpret_cast<uint64_t*>(head + 1))
    {
    }

    // Takes the next tile. By one thread; or by the block, where the result counts in thread 0.
    __device__ uint32_t takeAlone() { return atomicAdd(&head->ticket, 1u); }
    __device__ uint32_t take() { return threadIdx.x == 0 ? takeAlone() : 0; }

    // Takes the next tile. By the whole block, once.
    __device__ uint32_t ticket()
    {
        const uint32_t taken = take();
        if (threadIdx.x == 0) shared.ticket = taken;
        __syncthreads();
        return shared.ticket;
    }

    // Publishes the value of `tile`. By the whole block.
    //   own      the tile's value, needed in thread 0 only
    //   final    nothing before the tile counts for the tiles after it
    //   inPlace  the caller will overwrite the tile's input
    __device__ void publish(uint32_t tile, Value own, bool final, bool inPlace)
    {
        store(tile, own, final || tile == 0 ? kTileWhole : kTileOwn);
        // In place: whoever computes this tile for itself must not meet its overwritten input
        // without seeing this state.
        if (inPlace && threadIdx.x == 0) __threadfence();
    }

    // Returns the combined value of all tiles before `tile`, whose own value is published. By the
    // whole block.
    //   own, final, inPlace  as for publish
    //   polls      how often to look at a tile that has published nothing; SLUICE_LOOKBACK_NEVER:
    //              look at none
    //   scanned    block 0 is a scanner
    //   recompute  bool (uint32_t tile, Value& value): computes a tile's value from the input, by
    //              the whole block; true if nothing before that tile counts
    template <typename Recompute>
    __device__ Value wait(uint32_t tile, Value own, bool final, uint32_t polls, bool inPlace,
                          bool scanned, Recompute recompute)
    {
        final = final || tile == 0;
        if (inPlace && polls == SLUICE_LOOKBACK_NEVER) polls = 0; // a finished tile's input is gone
        Value before = Op::identity();
        uint32_t next = tile;
        while (next != 0) {
            if (threadIdx.x < kWarpSize) {
                if (scanned) {
                    await(tile, polls, peek(tile));
                } else if (poll(next, before, polls) == 0 && threadIdx.x == 0 && !final) {
                    store(tile, Op::combine(shared.value, own), kTileWhole);
                }
            }
            __syncthreads();
            before = shared.value;
            next = shared.next;
            if (next == 0) break;

            if (!scanned) {
                Value value;
                const bool whole = recompute(next - 1, value);
                if (!inPlace || isUnpublished(next - 1)) {
                    before = Op::combine(value, before);
                    next = whole ? 0 : next - 1;
                }
                if (next == 0 && !final) store(tile, Op::combine(before, own), kTileWhole);
            }
            scanned = false; // it did not come
            __syncthreads(); // before `shared` is written again
        }
        return before;
    }

    // In thread 0: what is known now of the tiles before `tile`, for await().
    using Seen = LookbackState<Value>;
    __device__ Seen peek(uint32_t tile) const
    {
        const Seen nothing = {kTileWhole, Op::identity()};
        return threadIdx.x == 0 && tile != 0 ? loadState<Value>(states, tile - 1) : nothing;
    }

    // By thread 0: waits for the scanner to have come to `tile`. Leaves in `shared` the tile's
    // prefix and how many tiles are still missing, 0 or all.
    __device__ void await(uint32_t tile, uint32_t polls, Seen seen)
    {
        if (threadIdx.x != 0) return;
        for (uint32_t i = 0; i < polls && seen.state != kTileWhole; ++i)
            seen = loadState<Value>(states, tile - 1);
        const bool found = seen.state == kTileWhole;
        shared.value = found ? seen.value : Op::identity();
        shared.next = found ? 0 : tile;
    }

    // Both in one. By the whole block.
    template <typename Recompute>
    __device__ Value prefix(uint32_t tile, Value own, bool final, uint32_t polls, bool inPlace,
                            Recompute recompute)
    {
        publish(tile, own, final, inPlace);
        return wait(tile, own, final, polls, inPlace, false, recompute);
    }

    // The scanner, by the whole of block 0: turns what tiles have published of themselves into what
    // lies up to their end, a tile a thread at a time. Gives up where nothing comes for long.
    __device__ void scan(uint32_t tiles, uint32_t polls)
    {
        OneRun carry;
        uint32_t turn = 0;
        for (uint32_t base = 0, idle = 0; base < tiles && idle <= polls; turn ^= 1) {
            const uint32_t at = base + threadIdx.x;
            LookbackState<Value> seen = {0, Op::identity()};
            if (at < tiles) seen = loadState<Value>(states, at);
            const uint32_t ready = firstLane(seen.state == 0); // what comes behind has to wait
            const OneRun run = inclusiveRun(OneRun{seen.value, seen.state == kTileWhole});
            ScannedWarp& warp = shared.scanned[turn][warpIndex()];
            if (laneIndex() + 1 == ready) warp.run = run;
            if (laneIndex() == 0) warp.ready = ready;
            __syncthreads();

            OneRun before;
            bool open = true, mine = false; // all warps so far are ready to their ends
            uint32_t taken = 0;
            for (uint32_t i = 0; i < blockDim.x / kWarpSize; ++i) {
                if (i == warpIndex()) {
                    before = carry;
                    mine = open;
                }
                const uint32_t here = open ? shared.scanned[turn][i].ready : 0;
                if (here != 0) carry = join(carry, shared.scanned[turn][i].run);
                taken += here;
                open = here == kWarpSize;
            }
            if (mine && laneIndex() < ready && seen.state != kTileWhole)
                storeState(states, at, join(before, run).value, kTileWhole);
            base += taken;
            idle = taken != 0 ? 0 : idle + 1;
        }
    }

    // Says that this block neither reads nor writes a state any more. By the whole block, once; its
    // latency passes while the block does something else, up to clean().
    __device__ void leave()
    {
        __syncthreads();
        if (threadIdx.x != blockDim.x - 1) return;
        __threadfence(); // what was published is there before it is cleared
        shared.left = atomicAdd(&head->done, 1u);
    }

    // The last block to leave clears the scratch. By the whole block.
    __device__ void clean(uint32_t tiles)
    {
        __syncthreads();
        if (shared.left + 1 != gridDim.x) return;
        const uint32_t words = 2 + tiles * static_cast<uint32_t>(sizeof(Value) / 4);
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < words / 2; i += blockDim.x)
            reinterpret_cast<uint4*>(head)[i] = make_uint4(0, 0, 0, 0);
        if (threadIdx.x == 0 && words % 2 != 0) reinterpret_cast<uint64_t*>(head)[words - 1] = 0;
    }

private:
    // The lanes up to this one, joined. Heads are rare.
    static __device__ OneRun inclusiveRun(OneRun run)
    {
        if (firstLane(run.head) == kWarpSize) {
            Run<Op, false> unused;
            const Value below = warpExclusiveRun(Run<Op, false>{run.value, false}, unused).value;
            return {Op::combine(below, run.value), false};
        }
        OneRun unused;
        return join(warpExclusiveRun(run, unused), run);
    }

    __device__ void store(uint32_t tile, Value value, uint32_t state)
    {
        if (threadIdx.x == 0) storeState(states, tile, value, state);
    }

    // By one warp: adds to `before` what the tiles below `next` have published. Leaves in `shared`
    // the sum and how many tiles are still missing, which it returns too; the last of them did not
    // publish in time.
    __device__ uint32_t poll(uint32_t next, Value before, uint32_t polls)
    {
        const uint32_t lane = laneIndex();
        for (uint32_t idle = 0; next != 0 && polls != SLUICE_LOOKBACK_NEVER && idle <= polls;) {
            // before the first tile there is nothing
            LookbackState<Value> seen = {kTileWhole, Op::identity()};
            if (lane < next) seen = loadState<Value>(states, next - 1 - lane);
            const uint32_t missing = firstLane(seen.state == 0),
                           whole = firstLane(seen.state == kTileWhole);
            const uint32_t taken = min(missing, whole + 1);
            before = Op::combine(
                warpRun(Run<Op, false>{lane < taken ? seen.value : Op::identity(), false}).value,
                before);
            next = whole < missing ? 0 : next - taken;
            idle = taken != 0 ? 0 : idle + 1;
        }
        if (lane == 0) {
            shared.value = before;
            shared.next = next;
        }
        return next;
    }

    // In place, after a tile was computed from the input: if it has published meanwhile, that input
    // may be gone.
    __device__ bool isUnpublished(uint32_t tile)
    {
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) shared.next = loadState<Value>(states, tile).state;
        __syncthreads();
        return shared.next == 0;
    }

    Shared& shared;
    LookbackHead* head;
    uint64_t* states;
};

} // namespace sluice
