// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoupled look-back: a single pass over the tiles of an input, in which each tile needs its
// *prefix*, the combined value of all tiles before it. shaders/lib/lookback.glsl describes the
// method, its words, the layout of the scratch and the papers. Here a state is one 64-bit word, or
// two words if values have 64 bits. Each word has 32 bits of the value and the kind of the state,
// because the two words of a state need not become visible to other threads together.
//
// An operation (Op) is one of runs.cuh for uint32_t or uint64_t, such as Sum<uint32_t>. It must be
// commutative.
#pragma once

#include "layout/lookback.h"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/runs.cuh"

namespace sluice {

constexpr uint32_t kTileOwn = 1; // the kind of a state that has the tile's own value
// The kind of a state that has the combined value of this tile and all tiles before it.
constexpr uint32_t kTileWhole = 2;

struct LookbackHead {
    uint32_t ticket;
    uint32_t done;
    uint32_t ofCommand[2]; // a command may use these; it must set them back to zero
};
static_assert(sizeof(LookbackHead) == SLUICE_LOOKBACK_HEAD,
              "the head's size is part of the requirements");

// The state that a tile has published.
template <typename Value>
struct LookbackState {
    uint32_t state; // its kind; 0 if the tile has published nothing yet
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

// Returns the state of a tile. Its kind is 0 until all of its words are visible.
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

// Returns the first lane for which `condition` holds, or 32 if it holds for none.
__device__ inline uint32_t firstLane(bool condition)
{
    const uint32_t lanes = __ballot_sync(kAllLanes, condition);
    return lanes == 0 ? kWarpSize : static_cast<uint32_t>(__ffs(static_cast<int>(lanes)) - 1);
}

// Does a block's part of a look-back. Shared is the shared memory that this needs.
template <typename Op>
class Lookback {
public:
    using Value = typename Op::Value;

    // The result of a warp of the scanner in a round: how many of its tiles have published, up to
    // the first that has not (`ready`), and the combined value of these tiles (`run`).
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
        // How many blocks were done before this one. This is not kept in `ticket`, because other
        // threads may still be reading that word.
        uint32_t left;
        // The rounds of the scanner use these in turn, so that one barrier per round is enough.
        ScannedWarp scanned[2][kMaxWarps];
    };

    __device__ Lookback(Shared& sharedState, U64Pair scratch)
        : m_shared(sharedState), m_head(pointerFrom<LookbackHead>(scratch)),
          m_states(reinterpret_cast<uint64_t*>(m_head + 1))
    {
    }

    // One thread takes the next tile, and gets its number.
    __device__ uint32_t take() { return atomicAdd(&m_head->ticket, 1u); }

    // The whole block takes the next tile; all threads get its number.
    __device__ uint32_t ticket()
    {
        const uint32_t taken = threadIdx.x == 0 ? take() : 0;
        if (threadIdx.x == 0) m_shared.ticket = taken;
        __syncthreads();
        return m_shared.ticket;
    }

    // Publishes the value of `tile`; the whole block calls this. `own` is the tile's value, in
    // thread 0 only. `final` means that later tiles need nothing from before this tile, for example
    // because a segment begins in it. `inPlace` means that the caller will overwrite the tile's
    // input.
    __device__ void publish(uint32_t tile, Value own, bool final, bool inPlace)
    {
        store(tile, own, final || tile == 0 ? kTileWhole : kTileOwn);
        // In place, a block that computes this tile's value itself must not read overwritten input
        // without seeing this state too.
        if (inPlace && threadIdx.x == 0) __threadfence();
    }

    // Returns the prefix of `tile`. The whole block calls this after publish(), with the same
    // `own`, `final` and `inPlace`. A tile that has published nothing is polled `polls` times
    // before its value is computed anew; with SLUICE_LOOKBACK_NEVER no state is read. `scanned`
    // means that block 0 is a scanner. recompute(tile, value) computes a tile's value from the
    // input, with the whole block, and returns true if the tiles before that tile do not count,
    // because a segment begins in it.
    template <typename Recompute>
    __device__ Value wait(uint32_t tile, Value own, bool final, uint32_t polls, bool inPlace,
                          bool scanned, Recompute recompute)
    {
        final = final || tile == 0;
        // In place, the input of finished tiles has been overwritten, so their states must be read.
        if (inPlace && polls == SLUICE_LOOKBACK_NEVER) polls = 0;
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
            // If there was a scanner, it was too late. From now on the block looks back itself.
            scanned = false;
            // After this barrier all threads have read m_shared, so it may be written again.
            __syncthreads();
        }
        return before;
    }

    // Loads the state of the tile before `tile`. The caller passes it to await later, so that the
    // load overlaps with other work. The result is valid in thread 0.
    using Seen = LookbackState<Value>;
    __device__ Seen peek(uint32_t tile) const
    {
        const Seen nothing = {kTileWhole, Op::identity()};
        return threadIdx.x == 0 && tile != 0 ? loadState<Value>(m_states, tile - 1) : nothing;
    }

    // Thread 0 waits until the scanner has reached `tile`. It leaves the tile's prefix in
    // m_shared.value, and in m_shared.next how many tiles that prefix lacks: 0, or `tile` if the
    // scanner was too late for `polls` polls. `seen` is the result of peek.
    __device__ void await(uint32_t tile, uint32_t polls, Seen seen)
    {
        if (threadIdx.x != 0) return;
        for (uint32_t i = 0; i < polls && seen.state != kTileWhole; ++i)
            seen = loadState<Value>(m_states, tile - 1);
        const bool found = seen.state == kTileWhole;
        m_shared.value = found ? seen.value : Op::identity();
        m_shared.next = found ? 0 : tile;
    }

    // Does publish() and wait(); the whole block calls it.
    template <typename Recompute>
    __device__ Value prefix(uint32_t tile, Value own, bool final, uint32_t polls, bool inPlace,
                            Recompute recompute)
    {
        publish(tile, own, final, inPlace);
        return wait(tile, own, final, polls, inPlace, false, recompute);
    }

    // The scanner's work, which the whole block 0 does: turns the tiles' own values into inclusive
    // values, one tile per thread at a time. Gives up after `polls` rounds without a new value.
    __device__ void scan(uint32_t tiles, uint32_t polls)
    {
        OneRun carry;
        uint32_t turn = 0;
        for (uint32_t base = 0, idle = 0; base < tiles && idle <= polls; turn ^= 1) {
            const uint32_t at = base + threadIdx.x;
            LookbackState<Value> seen = {0, Op::identity()};
            if (at < tiles) seen = loadState<Value>(m_states, at);
            // How many of the warp's tiles have published, up to the first that has not.
            const uint32_t ready = firstLane(seen.state == 0);
            const OneRun run = inclusiveRun(OneRun{seen.value, seen.state == kTileWhole});
            ScannedWarp& warp = m_shared.scanned[turn][warpIndex()];
            if (laneIndex() + 1 == ready) warp.run = run;
            if (laneIndex() == 0) warp.ready = ready;
            __syncthreads();

            OneRun before;
            // `open` is true while all tiles of the warps so far have published.
            bool open = true, mine = false;
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

    // Tells the other blocks that this block reads and writes no more states. The whole block calls
    // this once. Work between this call and clean() hides the latency of the atomic.
    __device__ void leave()
    {
        __syncthreads();
        if (threadIdx.x != blockDim.x - 1) return;
        // The states must be stored before another block clears them.
        __threadfence();
        m_shared.left = atomicAdd(&m_head->done, 1u);
    }

    // The last block to leave clears the scratch. The whole block calls this.
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
    // Returns the combination of the runs of this lane and of all lanes below it. This is fast if
    // no lane has a head (the beginning of a segment), as is usually the case.
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

    // Stores a tile's state, in thread 0.
    __device__ void store(uint32_t tile, Value value, uint32_t state)
    {
        if (threadIdx.x == 0) storeState(m_states, tile, value, state);
    }

    // One warp combines `before` with the values that the tiles below `next` have published, the
    // nearest first. It leaves the result in m_shared.value. It returns, and leaves in
    // m_shared.next, a number n: the values of tiles 0 to n - 1 are still missing. If n is not 0,
    // tile n - 1 did not publish within `polls` polls.
    __device__ uint32_t poll(uint32_t next, Value before, uint32_t polls)
    {
        const uint32_t lane = laneIndex();
        for (uint32_t idle = 0; next != 0 && polls != SLUICE_LOOKBACK_NEVER && idle <= polls;) {
            // Lanes that would look before the first tile act as if they had found the inclusive
            // value of no tiles.
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

    // Returns true if a tile has still not published. The block asks this after it has computed the
    // tile's value from the input. In place, the tile's input may have been overwritten if the tile
    // has published meanwhile, and the computed value is then not valid.
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
