// SPDX-License-Identifier: MIT OR Apache-2.0
// From LZ tokens to bytes, by one warp, many bytes at once; the method is told in shaders/lib/lz_expand.glsl.
#pragma once

#include "warp.cuh"

namespace sluice {

// A token: the length - 1 in the upper half; in the lower half a literal's byte or a match's distance - 1. Matches are
// 3 bytes at least; one of 65,536 bytes or more is said to be 65,536 long, which no tile can hold.
__device__ inline bool isMatch(uint32_t token)
{
    return token > 0xffff;
}
__device__ inline uint32_t tokenLength(uint32_t token)
{
    return (token >> 16) + 1;
}

constexpr uint32_t kTokenRing = 1024; // tokens
constexpr uint32_t kStartRing = 64;   // words of 32 bytes of output each
constexpr uint32_t kGroup = 128;      // bytes that a warp makes at once

struct __align__(16) ExpandShared {
    uint32_t starts[kStartRing]; // a bit for each byte of output that begins a token
    uint32_t token[kTokenRing];
    uint2 group[kWarpSize]; // for each byte of a group, 16 bits that say what it is or which one it copies
};

struct LzExpander {
    ExpandShared& shared;
    uint8_t* out;    // the tile, 4-byte aligned
    uint32_t size;   // bytes in the tile
    uint32_t at;     // bytes made, a multiple of kGroup
    uint32_t begun;  // tokens that begin before `at`
    uint32_t end;    // bytes that have a token in `starts`
    uint32_t placed; // tokens in `starts`
    uint32_t below[4]; // of this lane: the bits of a group that stand below its own

    __device__ void begin()
    {
        const uint32_t lane = laneIndex(), quarter = lane / 8;
        for (uint32_t i = lane; i < kStartRing; i += kWarpSize) shared.starts[i] = 0;
        at = begun = end = placed = 0;
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) below[i] = i < quarter ? kAllLanes : i == quarter ? (1u << lane % 8 * 4) - 1 : 0;
        __syncwarp();
    }

    // Takes the tokens up to number `complete`, but for a rest below 64 if more are to come, and makes all whole groups
    // that they fill. All lanes together.
    __device__ uint32_t consume(uint32_t complete, bool more)
    {
        const uint32_t least = more ? 2 * kWarpSize : 1;
        while (complete - placed >= least) {
            const uint32_t status = place(min(complete - placed, 2 * kWarpSize));
            if (status != SLUICE_ST_OK) return status;
            while (end - at >= kGroup) makeGroup<true>();
        }
        return SLUICE_ST_OK;
    }

    // Makes the bytes behind the last whole group.
    __device__ void finish()
    {
        if (end != at) makeGroup<false>();
    }

private:
    __device__ uint32_t token(uint32_t index) const { return shared.token[index % kTokenRing]; }

    // Marks where the next n tokens (1 .. 64, two a lane) begin, or fewer if they begin past the ring.
    __device__ uint32_t place(uint32_t n)
    {
        const uint32_t first = 2 * laneIndex();
        const uint32_t a = first < n ? token(placed + first) : 0, b = first + 1 < n ? token(placed + first + 1) : 0;
        const uint32_t lengthA = tokenLength(a), both = lengthA + tokenLength(b);
        const uint32_t inclusive = warpInclusiveSum(both), last = end + __shfl_sync(kAllLanes, inclusive, 31);
        const uint32_t startA = end + inclusive - both, startB = startA + lengthA, endB = startA + both;
        const uint32_t room = at + kStartRing * 32;

        bool takeA = true, takeB = true;
        const bool farA = isMatch(a) && (a & 0xffff) >= startA, farB = isMatch(b) && (b & 0xffff) >= startB;
        if (n < 2 * kWarpSize || last > min(room, size) || __any_sync(kAllLanes, farA || farB)) {
            takeA = first < n && startA < room;
            takeB = first + 1 < n && startB < room;
            const bool badA = takeA && (farA || startB > size), badB = takeB && (farB || endB > size);
            const uint32_t bad = __ballot_sync(kAllLanes, badA || badB);
            if (bad != 0) {
                const int offset = __shfl_sync(kAllLanes, badA ? farA : farB, __ffs(static_cast<int>(bad)) - 1);
                return offset != 0 ? SLUICE_ST_BAD_OFFSET : SLUICE_ST_TOO_LONG;
            }
            n = static_cast<uint32_t>(__popc(__ballot_sync(kAllLanes, takeA)) + __popc(__ballot_sync(kAllLanes, takeB)));
            end = warpMax(takeB ? endB : takeA ? startB : 0);
        } else {
            end = last;
        }
        if (takeA) atomicOr(&shared.starts[startA / 32 % kStartRing], 1u << startA % 32);
        if (takeB) atomicOr(&shared.starts[startB / 32 % kStartRing], 1u << startB % 32);
        placed += n;
        __syncwarp();
        return SLUICE_ST_OK;
    }

    // Makes the 128 bytes from `at` on, four a lane. A group that is not whole has bytes past `end`, which are not written.
    template <bool Whole>
    __device__ void makeGroup()
    {
        // Load-balancing search: the bits up to a byte count its token.
        const uint32_t lane = laneIndex(), self = 4 * lane;
        uint4& group = reinterpret_cast<uint4*>(shared.starts)[at / kGroup % (kStartRing / 4)];
        const uint4 starts = group;
        const uint32_t low = lane & 8 ? starts.y : starts.x, high = lane & 8 ? starts.w : starts.z;
        const uint32_t own = (lane & 16 ? high : low) >> lane % 8 * 4;
        uint32_t index = begun - 1 + static_cast<uint32_t>(__popc(starts.x & below[0]) + __popc(starts.y & below[1]) +
                                                           __popc(starts.z & below[2]) + __popc(starts.w & below[3]));
        // A byte of a match whose source lies inside the group copies that one, any other has its value.
        uint32_t entry[4];
        bool chained = false;
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            index += own >> k & 1;
            const uint32_t t = token(index);
            const uint32_t source = self + k - 1 - (t & 0xffff); // from `at`; wraps if it is before
            const bool inside = isMatch(t) && source < kGroup;
            uint32_t value = t;
            if (isMatch(t) && source >= kGroup) value = out[at + source];
            entry[k] = inside ? source << 8 : (value & 0xff) | kValue;
            chained = chained || inside;
        }
        begun = __shfl_sync(kAllLanes, index, 31) + 1;
        __syncwarp(); // the bits are read
        if (__any_sync(kAllLanes, chained)) follow(entry);
        const uint32_t bytes = __byte_perm(__byte_perm(entry[0], entry[1], 0x0040), __byte_perm(entry[2], entry[3], 0x0040), 0x5410);

        const uint32_t position = at + self;
        if (Whole || position + 4 <= end) {
            *reinterpret_cast<uint32_t*>(out + position) = bytes;
        } else {
            for (uint32_t k = 0; k < 3; ++k) {
                if (position + k < end) out[position + k] = static_cast<uint8_t>(bytes >> 8 * k);
            }
        }
        at += kGroup;
        if (lane == 0) group = make_uint4(0, 0, 0, 0);
        __syncwarp(); // the bytes are visible
    }

    // What is known of a byte of a group: its value and this flag, or above the low 8 bits the byte that it copies.
    static constexpr uint32_t kValue = 0x8000;

    // Pointer jumping: chains of sources inside the group halve in each step; seven steps end the longest.
    __device__ void follow(uint32_t (&entry)[4])
    {
        const uint8_t* group = reinterpret_cast<const uint8_t*>(shared.group);
#pragma unroll 1
        for (uint32_t step = 0; step < 7; ++step) {
            shared.group[laneIndex()] = make_uint2(__byte_perm(entry[0], entry[1], 0x5410), __byte_perm(entry[2], entry[3], 0x5410));
            __syncwarp();
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                if ((entry[k] & kValue) == 0) entry[k] = *reinterpret_cast<const uint16_t*>(group + (entry[k] >> 7));
            }
            __syncwarp();
            const bool open = (entry[0] & entry[1] & entry[2] & entry[3] & kValue) == 0;
            if (!__any_sync(kAllLanes, open)) break;
        }
    }
};

} // namespace sluice
