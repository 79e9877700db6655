// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoupled look-back: a single pass over the tiles of an input, in which each tile needs the
// combined value of all tiles before it (its prefix). See shaders/lib/lookback.glsl for the method,
// the scratch and the papers. A state's value is cut into pieces of 32 bits, each in a 64-bit word
// together with the state, because words need not become visible together.
//
// An operation is one of runs.cuh on uint32_t or uint64_t, such as Sum<uint32_t>. It must be
// commutative.
#pragma once

#include "layout/lookback.h"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/runs.cuh"

namespace sluice {

constexpr uint32_t kTileOwn = 1;   // published: the tile's own value
constexpr uint32_t kTileWhole = 2; // published: the value of this tile and all before it

struct LookbackHead {
    uint32_t ticket;
    uint32_t done;
    uint32_t ofCommand[2]; // a command may use them; they are zero again at its end
};
static_assert(sizeof(LookbackHead) == SLUICE_LOOKBACK_HEAD,
              "the head's size is part of the requirements");

// The state that a tile has published.
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

// Returns the first lane whose `condition` is true; 32 if there is none.
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

    // Says how many of the tiles that a warp of the scanner looks at have published, up to the
    // first that has not, and holds their run.
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
        uint32_t left; // apart from `ticket`, which others may still read
        // Even and odd rounds have separate ones, so that one barrier is enough.
        ScannedWarp scanned[2][kMaxWarps];
    };

    __device__ Lookback(Shared& sharedState, U64Pair scratch)
        : m_shared(sharedState), m_head(pointerFrom<LookbackHead>(scratch)),
          m_states(reinterpret_cast<uint64_t*>(m_head + 1))
    {
    }

    // One thread takes the next tile.
    __device__ uint32_t take() { return atomicAdd(&m_head->ticket, 1u); }

    // The whole block takes the next tile.
    __device__ uint32_t ticket()
    {
        const uint32_t taken = threadIdx.x == 0 ? take() : 0;
        if (threadIdx.x == 0) m_shared.ticket = taken;
        __syncthreads();
        return m_shared.ticket;
    }

    // Publishes the value of `tile`. The whole block calls it.
    //   own      the tile's value, needed in thread 0 only
    //   final    nothing before the tile counts for the tiles after it
    //   inPlace  the caller will overwrite the tile's input
    __device__ void publish(uint32_t tile, Value own, bool final, bool inPlace)
    {
        store(tile, own, final || tile == 0 ? kTileWhole : kTileOwn);
        // In place, a block that computes this tile itself must not read overwritten input without
        // also seeing this state.
        if (inPlace && threadIdx.x == 0) __threadfence();
    }

    // Returns the combined value of all tiles before `tile`, whose own value is published already.
    // The whole block calls it.
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
                    store(tile, Op::combine(m_shared.value, own), kTileWhole);
                }
            }
            __syncthreads();
            before = m_shared.value;
            next = m_shared.next;
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
            scanned = false; // the scanner did not arrive in time
            __syncthreads(); // before m_shared is written again
        }
        return before;
    }

    // Looks once at what lies before `tile`, in thread 0, for await().
    using Seen = LookbackState<Value>;
    __device__ Seen peek(uint32_t tile) const
    {
        const Seen nothing = {kTileWhole, Op::identity()};
        return threadIdx.x == 0 && tile != 0 ? loadState<Value>(m_states, tile - 1) : nothing;
    }

    // Waits in thread 0 until the scanner has come to `tile`. Leaves in m_shared the tile's prefix
    // and how many tiles are still missing, 0 or all.
    __device__ void await(uint32_t tile, uint32_t polls, Seen seen)
    {
        if (threadIdx.x != 0) return;
        for (uint32_t i = 0; i < polls && seen.state != kTileWhole; ++i)
            seen = loadState<Value>(m_states, tile - 1);
        const bool found = seen.state == kTileWhole;
        m_shared.value = found ? seen.value : Op::identity();
        m_shared.next = found ? 0 : tile;
    }

    // Does publish() and wait(). The whole block calls it.
    template <typename Recompute>
    __device__ Value prefix(uint32_t tile, Value own, bool final, uint32_t polls, bool inPlace,
                            Recompute recompute)
    {
        publish(tile, own, final, inPlace);
        return wait(tile, own, final, polls, inPlace, false, recompute);
    }

    // All of block 0 scans: it replaces the tiles' own values by the values up to their ends, a
    // tile a thread at a time. It gives up if nothing comes for long.
    __device__ void scan(uint32_t tiles, uint32_t polls)
    {
        OneRun carry;
        uint32_t turn = 0;
        for (uint32_t base = 0, idle = 0; base < tiles && idle <= polls; turn ^= 1) {
            const uint32_t at = base + threadIdx.x;
            LookbackState<Value> seen = {0, Op::identity()};
            if (at < tiles) seen = loadState<Value>(m_states, at);
            const uint32_t ready = firstLane(seen.state == 0); // the tiles behind have to wait
            const OneRun run = inclusiveRun(OneRun{seen.value, seen.state == kTileWhole});
            ScannedWarp& warp = m_shared.scanned[turn][warpIndex()];
            if (laneIndex() + 1 == ready) warp.run = run;
            if (laneIndex() == 0) warp.ready = ready;
            __syncthreads();

            OneRun before;
            bool open = true, mine = false; // open: all warps so far are ready to their ends
            uint32_t taken = 0;
            for (uint32_t i = 0; i < blockDim.x / kWarpSize; ++i) {
                if (i == warpIndex()) {
                    before = carry;
                    mine = open;
                }
                const uint32_t here = open ? m_shared.scanned[turn][i].ready : 0;
                if (here != 0) carry = join(carry, m_shared.scanned[turn][i].run);
                taken += here;
                open = here == kWarpSize;
            }
            if (mine && laneIndex() < ready && seen.state != kTileWhole)
                storeState(m_states, at, join(before, run).value, kTileWhole);
            base += taken;
            idle = taken != 0 ? 0 : idle + 1;
        }
    }

    // Announces that this block no longer reads or writes states. The whole block calls it once,
    // and may do other work during the latency, until clean().
    __device__ void leave()
    {
        __syncthreads();
        if (threadIdx.x != blockDim.x - 1) return;
        __threadfence(); // states are stored before another block clears them
        m_shared.left = atomicAdd(&m_head->done, 1u);
    }

    // The last block to leave clears the scratch. The whole block calls it.
    __device__ void clean(uint32_t tiles)
    {
        __syncthreads();
        if (m_shared.left + 1 != gridDim.x) return;
        const uint32_t words = 2 + tiles * static_cast<uint32_t>(sizeof(Value) / 4);
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < words / 2; i += blockDim.x)
            reinterpret_cast<uint4*>(m_head)[i] = make_uint4(0, 0, 0, 0);
        if (threadIdx.x == 0 && words % 2 != 0) reinterpret_cast<uint64_t*>(m_head)[words - 1] = 0;
    }

private:
    // Joins the lanes up to this one. It assumes that heads are rare.
    static __device__ OneRun inclusiveRun(OneRun run)
    {
        if (firstLane(run.head) == kWarpSize) {
            Run<Op, false> total;
            const Value below = warpExclusiveRun(Run<Op, false>{run.value, false}, total).value;
            return {Op::combine(below, run.value), false};
        }
        OneRun total;
        return join(warpExclusiveRun(run, total), run);
    }

    __device__ void store(uint32_t tile, Value value, uint32_t state)
    {
        if (threadIdx.x == 0) storeState(m_states, tile, value, state);
    }

    // One warp adds to `before` what the tiles below `next` have published. It leaves in m_shared
    // the sum and how many tiles are still missing, and returns the latter; the last of those did
    // not publish in time.
    __device__ uint32_t poll(uint32_t next, Value before, uint32_t polls)
    {
        const uint32_t lane = laneIndex();
        for (uint32_t idle = 0; next != 0 && polls != SLUICE_LOOKBACK_NEVER && idle <= polls;) {
            // Nothing lies before the first tile.
            LookbackState<Value> seen = {kTileWhole, Op::identity()};
            if (lane < next) seen = loadState<Value>(m_states, next - 1 - lane);
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
            m_shared.value = before;
            m_shared.next = next;
        }
        return next;
    }

    // Returns whether a tile that was computed from the input has still not published; if it has,
    // its input may have been overwritten in place.
    __device__ bool isUnpublished(uint32_t tile)
    {
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) m_shared.next = loadState<Value>(m_states, tile).state;
        __syncthreads();
        return m_shared.next == 0;
    }

    Shared& m_shared;
    LookbackHead* m_head;
    uint64_t* m_states;
};

} // namespace sluice
