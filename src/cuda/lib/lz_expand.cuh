// SPDX-License-Identifier: MIT OR Apache-2.0
// From LZ tokens to bytes, by one warp, many bytes at once; the method is told in shaders/lib/lz_expand.glsl.
#pragma once

#include "warp.cuh"

namespace sluice {

// A token: a literal is its byte; a match is its distance - 1, with its length - 2 in the upper half.
__device__ inline bool isMatch(uint32_t token)
{
    return token > 0xffff;
}
__device__ inline uint32_t tokenLength(uint32_t token)
{
    return isMatch(token) ? (token >> 16) + 2 : 1;
}

constexpr uint32_t kTokenRing = 1024; // tokens
constexpr uint32_t kStartRing = 64;   // words of 32 bytes of output each
constexpr uint32_t kGroup = 128;      // bytes that a warp makes at once

struct __align__(16) ExpandShared {
    uint32_t starts[kStartRing]; // a bit for each byte of output that begins a token
    uint32_t token[kTokenRing];
    uint32_t pointer[kGroup / 4]; // for each byte of a group: which byte of the group it copies
    uint32_t value[kGroup / 4];
};

struct LzExpander {
    ExpandShared& shared;
    uint8_t* out;    // the tile, 4-byte aligned
    uint32_t size;   // bytes in the tile
    uint32_t at;     // bytes made, a multiple of kGroup
    uint32_t begun;  // tokens that begin before `at`
    uint32_t end;    // bytes that have a token in `starts`
    uint32_t placed; // tokens in `starts`

    __device__ void begin()
    {
        for (uint32_t i = laneIndex(); i < kStartRing; i += kWarpSize) shared.starts[i] = 0;
        at = begun = end = placed = 0;
        __syncwarp();
    }

    // Takes the tokens up to number `complete` and makes all whole groups that they fill. All lanes together.
    __device__ uint32_t consume(uint32_t complete)
    {
        while (placed != complete) {
            const uint32_t status = place(min(complete - placed, 2 * kWarpSize));
            if (status != SLUICE_ST_OK) return status;
            while (end - at >= kGroup) makeGroup();
        }
        return SLUICE_ST_OK;
    }

    // Makes the bytes behind the last whole group.
    __device__ void finish()
    {
        if (end != at) makeGroup();
    }

private:
    __device__ uint32_t token(uint32_t index) const { return shared.token[index % kTokenRing]; }

    // Marks where the next n tokens (1 .. 64, two a lane) begin, or fewer if they begin past the ring.
    __device__ uint32_t place(uint32_t n)
    {
        const uint32_t first = 2 * laneIndex();
        const uint32_t a = token(placed + first), b = token(placed + first + 1);
        const uint32_t lengthA = tokenLength(a), lengthB = tokenLength(b);
        const uint32_t both = lengthA + lengthB;
        const uint32_t startA = end + warpInclusiveSum(both) - both, startB = startA + lengthA, endB = startA + both;
        const uint32_t room = at + kStartRing * 32;
        const bool takeA = first < n && startA < room, takeB = first + 1 < n && startB < room;

        const bool badA = takeA && ((isMatch(a) && (a & 0xffff) >= startA) || startB > size);
        const bool badB = takeB && ((isMatch(b) && (b & 0xffff) >= startB) || endB > size);
        const uint32_t bad = __ballot_sync(kAllLanes, badA || badB);
        if (bad != 0) {
            const bool farA = isMatch(a) && (a & 0xffff) >= startA, farB = isMatch(b) && (b & 0xffff) >= startB;
            const bool offset = badA ? farA : farB;
            return __shfl_sync(kAllLanes, offset, __ffs(static_cast<int>(bad)) - 1) ? SLUICE_ST_BAD_OFFSET : SLUICE_ST_TOO_LONG;
        }
        if (takeA) atomicOr(&shared.starts[startA / 32 % kStartRing], 1u << startA % 32);
        if (takeB) atomicOr(&shared.starts[startB / 32 % kStartRing], 1u << startB % 32);
        placed += static_cast<uint32_t>(__popc(__ballot_sync(kAllLanes, takeA)) + __popc(__ballot_sync(kAllLanes, takeB)));
        end = warpMax(takeB ? endB : takeA ? startB : 0);
        __syncwarp();
        return SLUICE_ST_OK;
    }

    // Makes the 128 bytes from `at` on, four a lane; bytes past `end` are not written.
    __device__ void makeGroup()
    {
        const uint32_t lane = laneIndex();
        // Load-balancing search: the bits up to a byte count its token.
        uint4& group = reinterpret_cast<uint4*>(shared.starts)[at / kGroup % (kStartRing / 4)];
        const uint4 starts = group;
        const uint32_t quarter = lane / 8, shift = lane % 8 * 4;
        const uint32_t word = quarter < 2 ? (quarter == 0 ? starts.x : starts.y) : (quarter == 2 ? starts.z : starts.w);
        const uint32_t x = __popc(starts.x), y = __popc(starts.y), z = __popc(starts.z), w = __popc(starts.w);
        const uint32_t before = (quarter > 0 ? x : 0) + (quarter > 1 ? y : 0) + (quarter > 2 ? z : 0);
        uint32_t index = begun + before + static_cast<uint32_t>(__popc(word & ((1u << shift) - 1))) - 1;
        begun += x + y + z + w;

        uint32_t made = 0, self = 4 * lane, chained = 0; // of each byte: its value; bit 7: has it
        uint32_t pointer[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            index += word >> (shift + k) & 1;
            const uint32_t t = token(index);
            const uint32_t back = (t & 0xffff) + 1;
            const uint32_t source = self + k - back; // from `at`; wraps if it is before
            pointer[k] = self + k;
            if (!isMatch(t)) {
                made |= t << 8 * k;
            } else if (source < kGroup) {
                pointer[k] = source;
                chained |= 1u << k;
            } else {
                made |= static_cast<uint32_t>(out[at + source]) << 8 * k;
            }
        }

        if (__any_sync(kAllLanes, chained != 0)) {
            // Pointer jumping: a chain of sources inside the group halves in each step. Bit 7: has its value.
            const uint8_t* pointers = reinterpret_cast<const uint8_t*>(shared.pointer);
            const uint8_t* values = reinterpret_cast<const uint8_t*>(shared.value);
            shared.value[lane] = made;
            uint32_t open = chained;
            for (uint32_t step = 0; step < 7; ++step) {
                uint32_t packed = 0;
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k) packed |= (pointer[k] | (open >> k & 1 ? 0 : 0x80u)) << 8 * k;
                __syncwarp(); // the step before has been read
                shared.pointer[lane] = packed;
                __syncwarp();
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k) {
                    if (open >> k & 1) {
                        const uint32_t p = pointers[pointer[k]];
                        if (p & 0x80) open &= ~(1u << k);
                        pointer[k] = p & 0x7f;
                    }
                }
                if (!__any_sync(kAllLanes, open != 0)) break;
            }
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                if (chained >> k & 1) made |= static_cast<uint32_t>(values[pointer[k]]) << 8 * k;
            }
        }

        const uint32_t position = at + self;
        if (position + 4 <= end) {
            *reinterpret_cast<uint32_t*>(out + position) = made;
        } else {
            for (uint32_t k = 0; k < 3; ++k) {
                if (position + k < end) out[position + k] = static_cast<uint8_t>(made >> 8 * k);
            }
        }
        at += kGroup;
        __syncwarp(); // the bits are read, the bytes visible
        if (lane == 0) group = make_uint4(0, 0, 0, 0);
        __syncwarp();
    }
};

} // namespace sluice
