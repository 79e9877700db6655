// SPDX-License-Identifier: MIT OR Apache-2.0
// LZ match copies of a warp, many at once; the method is told in shaders/lib/lz_copy.glsl.
#pragma once

#include "warp.cuh"

namespace sluice {

constexpr uint32_t kMatchRing = 64;

// A match waiting for its copy, in shared memory: byte i of it is byte source + i % period of the tile.
struct Match {
    uint32_t target; // position | length << 16
    uint32_t origin; // source | period << 16; period is at most the length

    __device__ uint32_t position() const { return target & 0xffff; }
    __device__ uint32_t length() const { return target >> 16; }
    __device__ uint32_t end() const { return position() + length(); }
    __device__ uint32_t source() const { return origin & 0xffff; }
    __device__ uint32_t period() const { return origin >> 16; }
};

struct MatchQueue {
    Match ring[kMatchRing];
    uint4 ready[kWarpSize]; // x, y: the match; z: index of its first destination word in the round
};

// One destination word of a match: its index, its bytes [from, to) and their values in place.
struct CopyUnit {
    uint32_t word, from, to, value;
};

struct LzCopier {
    MatchQueue& queue; // shared memory
    uint8_t* out;      // the tile, 4-byte aligned
    uint32_t size;     // bytes in the tile
    uint32_t head, count;

    __device__ Match& slot(uint32_t index) { return queue.ring[(head + index) % kMatchRing]; }

    // Queues the matches of the lanes in the ballot `lanes`, in lane order. All lanes together.
    __device__ void push(bool mine, uint32_t lanes, uint32_t position, uint32_t length, uint32_t distance)
    {
        if (mine) {
            slot(count + static_cast<uint32_t>(__popc(lanes & lanesBelow()))) =
                Match{position | length << 16, (position - distance) | min(distance, length) << 16};
        }
        count += static_cast<uint32_t>(__popc(lanes));
    }

    __device__ uint32_t loadWord(uint32_t index) const
    {
        // A tile that ends inside a word: read no byte past it.
        if (index * 4 + 4 <= size) return reinterpret_cast<const uint32_t*>(out)[index];
        uint32_t word = 0;
        for (uint32_t k = 0; k < 3; ++k) {
            if (index * 4 + k < size) word |= static_cast<uint32_t>(out[index * 4 + k]) << 8 * k;
        }
        return word;
    }

    // `owner`: which entry of queue.ready the unit belongs to.
    __device__ CopyUnit load(uint32_t unit, uint32_t owner) const
    {
        CopyUnit r;
        const uint4 entry = queue.ready[owner];
        const Match match = {entry.x, entry.y};
        const uint32_t position = match.position(), source = match.source();
        r.word = position / 4 + unit - entry.z;
        r.from = max(position, r.word * 4);
        r.to = min(match.end(), r.word * 4 + 4);
        if (r.to - position <= match.period()) {
            // Within the first period: two words, shifted into place. The first may begin before the tile.
            const int start = static_cast<int>(r.word * 4 + source) - static_cast<int>(position);
            const int index = start >> 2;
            const int boundary = index * 4 + 4;
            const uint32_t low = static_cast<int>(r.from + source - position) < boundary ? loadWord(static_cast<uint32_t>(index)) : 0;
            const uint32_t high = static_cast<int>(r.to + source - position) > boundary ? loadWord(static_cast<uint32_t>(index + 1)) : 0;
            r.value = __funnelshift_r(low, high, static_cast<uint32_t>(start) * 8);
        } else {
            uint32_t offset = (r.from - position) % match.period();
            r.value = 0;
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                if (r.from + k < r.to) {
                    r.value |= static_cast<uint32_t>(out[source + offset]) << ((r.from + k) & 3) * 8;
                    offset = offset + 1 == match.period() ? 0 : offset + 1;
                }
            }
        }
        return r;
    }

    __device__ void store(const CopyUnit& unit)
    {
        if (unit.to - unit.from == 4) {
            reinterpret_cast<uint32_t*>(out)[unit.word] = unit.value;
        } else {
#pragma unroll
            for (uint32_t k = 0; k < 3; ++k) {
                const uint32_t at = unit.from + k;
                if (at < unit.to) out[at] = static_cast<uint8_t>(unit.value >> (at & 3) * 8);
            }
        }
    }

    // The matches of the batch, before this lane's, whose output overlaps [from, to): an interval of lanes, as a mask.
    __device__ uint32_t writersOf(uint32_t from, uint32_t to)
    {
        const uint32_t lane = laneIndex();
        uint32_t first = 0, end = 0;
#pragma unroll
        for (uint32_t step = 16; step != 0; step /= 2) {
            const uint32_t x = first + step - 1, y = end + step - 1;
            const Match mx = slot(x), my = slot(y);
            first += x < lane && mx.end() <= from ? step : 0;
            end += y < lane && my.position() < to ? step : 0;
        }
        return first < end ? ((1u << end) - 1) & ~((1u << first) - 1) : 0;
    }

    // Copies the oldest 32 matches, or all if there are fewer. All lanes together.
    __device__ void flush()
    {
        const uint32_t lane = laneIndex(), n = min(count, kWarpSize);
        __syncwarp();
        bool pending = lane < n;
        Match match = pending ? slot(lane) : Match{0, 1};
        const uint32_t batchStart = slot(0).position();

        // A match that reads only what one earlier match of the batch writes can read that one's source instead; all
        // lanes do so at once, which halves the length of a chain each time.
        uint32_t waitsFor = 0;
        bool look = pending;
        for (uint32_t step = 0; step < 5; ++step) {
            if (look) {
                const uint32_t from = match.source(), to = from + match.period();
                waitsFor = to > batchStart ? writersOf(from, to) : 0;
                look = waitsFor != 0 && (waitsFor & (waitsFor - 1)) == 0;
                if (look) {
                    const Match writer = slot(static_cast<uint32_t>(__ffs(static_cast<int>(waitsFor)) - 1));
                    uint32_t offset = from - writer.position();
                    look = from >= writer.position() && to <= writer.end();
                    if (look && offset >= writer.period()) offset %= writer.period();
                    look = look && offset + match.period() <= writer.period();
                    if (look) match.origin = (writer.source() + offset) | match.period() << 16;
                }
            }
            __syncwarp();
            if (look) slot(lane).origin = match.origin;
            if (!__any_sync(kAllLanes, look)) break;
            __syncwarp();
        }
        if (look) { // redirected in the last step
            const uint32_t from = match.source(), to = from + match.period();
            waitsFor = to > batchStart ? writersOf(from, to) : 0;
        }
        const uint32_t units = ((match.position() & 3) + match.length() + 3) / 4;

        uint32_t left = n == 32 ? kAllLanes : (1u << n) - 1;
        while (left != 0) { // the oldest pending match is always ready
            const bool ready = pending && (left & waitsFor) == 0;
            const uint32_t done = __ballot_sync(kAllLanes, ready);
            const uint32_t inclusive = warpInclusiveSum(ready ? units : 0);
            const uint32_t total = __shfl_sync(kAllLanes, inclusive, 31), first = inclusive - units;
            if (ready) {
                queue.ready[__popc(done & lanesBelow())] = make_uint4(match.target, match.origin, first, 0);
            }
            __syncwarp();
            // Load-balancing search: a bit for each unit that begins a match; the bits up to a unit count its owner.
            uint32_t begun = 0;
            for (uint32_t base = 0; base < total; base += 2 * kWarpSize) {
                const uint32_t at = first - base;
                const uint32_t startsA = warpOr(ready && at < 32 ? 1u << at : 0);
                const uint32_t startsB = warpOr(ready && at - 32 < 32 ? 1u << (at - 32) : 0);
                const uint32_t upTo = lanesBelow() * 2 + 1;
                const uint32_t unitA = base + lane, unitB = unitA + kWarpSize;
                const uint32_t ownerA = begun + static_cast<uint32_t>(__popc(startsA & upTo)) - 1;
                begun += static_cast<uint32_t>(__popc(startsA));
                const uint32_t ownerB = begun + static_cast<uint32_t>(__popc(startsB & upTo)) - 1;
                begun += static_cast<uint32_t>(__popc(startsB));
                CopyUnit a = {0, 0, 0, 0}, b = {0, 0, 0, 0};
                if (unitA < total) a = load(unitA, ownerA);
                if (unitB < total) b = load(unitB, ownerB);
                store(a);
                store(b);
            }
            pending = pending && !ready;
            left &= ~done;
            __syncwarp();
        }
        head = (head + n) % kMatchRing;
        count -= n;
    }
};

} // namespace sluice
