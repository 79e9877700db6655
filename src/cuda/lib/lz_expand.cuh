// SPDX-License-Identifier: MIT OR Apache-2.0
// One warp turns LZ tokens into bytes, many at once. shaders/lib/lz_expand.glsl explains the method
// and its words: a token is a literal or a match; tokens are *placed* when the bit of their first
// byte is set; a *group* is the bytes that the warp makes at once.
#pragma once

#include "layout/base.h"
#include "cuda/lib/warp.cuh"

namespace sluice {

// The upper half of a token is its length - 1. The lower half is a literal's byte or a match's
// distance - 1. Matches have at least 3 bytes. A match of 65,536 bytes or more gets the length
// 65,536. That is too long for any tile of 64 KiB, because a match cannot begin at the first byte
// of a tile.
__device__ inline bool isMatch(uint32_t token) { return token > 0xffff; }
__device__ inline uint32_t tokenLength(uint32_t token) { return (token >> 16) + 1; }

// A lane makes this many bytes of a group, and places this many tokens at once. In the shader it
// makes half as many bytes. With twice as many, a tile takes more registers and shared memory, but
// the warp waits for memory half as often.
constexpr uint32_t kPerLane = 8;
constexpr uint32_t kGroup = kPerLane * kWarpSize;        // bytes that the warp makes at once
constexpr uint32_t kPlacedAtOnce = kPerLane * kWarpSize; // most tokens that are placed at once
constexpr uint32_t kTokenRing = 2048;                    // tokens that the ring holds
// Words of the ring of bits (ExpandShared::starts), each with the bits of 32 bytes of output.
constexpr uint32_t kStartRing = 64;

struct __align__(16) ExpandShared
{
    // A bit for each byte of output, set if it is the first byte of a token.
    uint32_t starts[kStartRing];
    uint32_t token[kTokenRing];
    // For each byte of a group, an entry of 16 bits (see kValue).
    uint4 group[kWarpSize];
};

// Turns the tokens in shared.token into the bytes of a tile. Tile is LinearTile or PitchedTile
// (pitch.cuh). All lanes call each function together.
template <typename Tile>
struct LzExpander {
    static constexpr uint32_t kGroupWords = kGroup / 32; // words of bits for a group

    ExpandShared& shared;
    const Tile& out;             // the tile's output, 4-byte aligned
    uint32_t size;               // bytes of the tile
    uint32_t placed = 0;         // tokens that have been placed
    uint32_t end = 0;            // bytes that the placed tokens make
    uint32_t at = 0;             // bytes that have been made, a multiple of kGroup
    uint32_t begun = 0;          // placed tokens that begin before `at`
    uint32_t below[kGroupWords]; // mask of the bytes of a group before this lane's

    __device__ void begin()
    {
        const uint32_t lane = laneIndex(), word = lane * kPerLane / 32;
#pragma unroll
        for (uint32_t i = 0; i < kGroupWords; ++i) {
            below[i] = i < word ? kAllLanes : i == word ? (1u << lane * kPerLane % 32) - 1 : 0;
        }
        // The loop does not count from `lane`: if the number of iterations depended on the lane,
        // the compiler would assume behind the loop that the lanes diverge (uniform() in warp.cuh).
        static_assert(kStartRing % kWarpSize == 0);
#pragma unroll
        for (uint32_t i = 0; i < kStartRing / kWarpSize; ++i)
            shared.starts[i * kWarpSize + lane] = 0;
        __syncwarp();
    }

    // Places the tokens with numbers below `complete`: sets the bits of their first bytes. Makes
    // the whole groups of bytes that the tokens fill. If `more` tokens follow later, up to
    // kPlacedAtOnce - 1 tokens may stay unplaced. Returns the error of the first bad token, or
    // SLUICE_ST_OK.
    __device__ uint32_t expand(uint32_t complete, bool more)
    {
        const uint32_t least = more ? kPlacedAtOnce : 1;
        while (complete - placed >= least) {
            const uint32_t status = place(complete);
            if (status != SLUICE_ST_OK) return status;
            while (end - at >= kGroup)
                makeGroup<true>();
        }
        return SLUICE_ST_OK;
    }

    // Makes the bytes behind the last whole group.
    __device__ void finish()
    {
        if (end != at) makeGroup<false>();
    }

private:
    // Places up to kPlacedAtOnce tokens, kPerLane in each lane. The first lane begins with token
    // `placed`, rounded down to a multiple of kPerLane. Tokens whose bytes would begin behind the
    // ring of bits stay unplaced. Returns the error of the first bad token, or SLUICE_ST_OK.
    __device__ uint32_t place(uint32_t complete)
    {
        const uint32_t room = at + kStartRing * 32;
        const uint32_t first = placed / kPerLane * kPerLane + kPerLane * laneIndex();
        uint32_t token[kPerLane];
#pragma unroll
        for (uint32_t i = 0; i < kPerLane; i += 4) {
            const uint4 quad =
                reinterpret_cast<const uint4*>(shared.token)[first % kTokenRing / 4 + i / 4];
            token[i] = quad.x;
            token[i + 1] = quad.y;
            token[i + 2] = quad.z;
            token[i + 3] = quad.w;
        }
        const bool whole = placed % kPerLane == 0 && complete - placed >= kPlacedAtOnce;
        uint32_t start[kPerLane + 1] = {};
#pragma unroll
        for (uint32_t i = 0; i < kPerLane; ++i) {
            const bool mine = whole || first + i - placed < complete - placed;
            start[i + 1] = start[i] + (mine ? tokenLength(token[i]) : 0);
        }
        const uint32_t inclusive = warpInclusiveSum(start[kPerLane]),
                       last = end + __shfl_sync(kAllLanes, inclusive, 31);
        const uint32_t before = end + inclusive - start[kPerLane];
        // Bit i of `far` is set if token i of the lane is a match whose source lies before the
        // tile. Bit i of `take` is set if the token is placed now.
        uint32_t far = 0, take = (1u << kPerLane) - 1;
#pragma unroll
        for (uint32_t i = 0; i <= kPerLane; ++i)
            start[i] += before;
#pragma unroll
        for (uint32_t i = 0; i < kPerLane; ++i)
            far |= isMatch(token[i]) && (token[i] & 0xffff) >= start[i] ? 1u << i : 0;

        uint32_t next = placed + kPlacedAtOnce, nextEnd = last;
        if (!whole || last > min(room, size) || __any_sync(kAllLanes, static_cast<int>(far))) {
            uint32_t bad = 0, reached = 0;
            take = 0;
#pragma unroll
            for (uint32_t i = 0; i < kPerLane; ++i) {
                if (first + i - placed >= complete - placed || start[i] >= room) continue;
                take |= 1u << i;
                reached = start[i + 1];
                if (start[i + 1] > size) bad |= 1u << i;
            }
            bad |= far & take;
            const uint32_t lanes = __ballot_sync(kAllLanes, static_cast<int>(bad));
            if (lanes != 0) {
                const uint32_t offset = far & bad & (0u - bad);
                return __shfl_sync(kAllLanes, offset, __ffs(static_cast<int>(lanes)) - 1)
                           ? SLUICE_ST_BAD_OFFSET
                           : SLUICE_ST_TOO_LONG;
            }
            next = placed + uniform(warpSum(static_cast<uint32_t>(__popc(take))));
            nextEnd = uniform(warpMax(reached));
        }
#pragma unroll
        for (uint32_t i = 0; i < kPerLane; ++i) {
            if (take >> i & 1)
                atomicOr(&shared.starts[start[i] / 32 % kStartRing], 1u << start[i] % 32);
        }
        placed = next;
        end = nextEnd;
        __syncwarp();
        return SLUICE_ST_OK;
    }

    // Makes the kGroup bytes from `at` on, kPerLane in each lane. If the group is not whole, bytes
    // from `end` on are not stored.
    template <bool Whole>
    __device__ void makeGroup()
    {
        // Load-balancing search: each token has a bit at its first byte. So the number of bits set
        // up to a byte, minus 1, is the number of the token that makes the byte.
        const uint32_t lane = laneIndex(), self = kPerLane * lane;
        uint4* const group = reinterpret_cast<uint4*>(shared.starts) +
                             at / kGroup * (kGroup / 128) % (kStartRing / 4);
        uint32_t index = begun - 1;
#pragma unroll
        for (uint32_t i = 0; i < kGroupWords / 4; ++i) {
            const uint4 starts = group[i];
            index += static_cast<uint32_t>(
                __popc(starts.x & below[4 * i]) + __popc(starts.y & below[4 * i + 1]) +
                __popc(starts.z & below[4 * i + 2]) + __popc(starts.w & below[4 * i + 3]));
        }
        static_assert(kPerLane == 8);
        const uint32_t own = reinterpret_cast<const uint8_t*>(group)[lane];
        // If the source of a byte lies inside the group, the byte's entry refers to the source's
        // entry. All other entries have the byte's value.
        uint32_t entry[kPerLane];
        bool chained = false;
#pragma unroll
        for (uint32_t k = 0; k < kPerLane; ++k) {
            index += own >> k & 1;
            const uint32_t t = shared.token[index % kTokenRing];
            const uint32_t source =
                // The index of the source in the group; huge if the source lies before the group.
                self + k - 1 - (t & 0xffff);
            const bool inside = isMatch(t) && source < kGroup;
            uint32_t value = t;
            if (isMatch(t) && source >= kGroup)
                value = *out.template pointer<const uint8_t>(at + source);
            entry[k] = inside ? 2 * source : (value & 0xff) | kValue;
            chained = chained || inside;
        }
        begun = __shfl_sync(kAllLanes, index, 31) + 1;
        // After this barrier all lanes have read the bits, which may now be overwritten.
        __syncwarp();
        if (__any_sync(kAllLanes, chained)) follow(entry);

        const uint32_t position = at + self;
#pragma unroll
        for (uint32_t i = 0; i < kPerLane; i += 4) {
            const uint32_t bytes =
                __byte_perm(__byte_perm(entry[i], entry[i + 1], 0x0040),
                            __byte_perm(entry[i + 2], entry[i + 3], 0x0040), 0x5410);
            const uint32_t place = position + i;
            if (Whole || place + 4 <= end) {
                *out.template pointer<uint32_t>(place) = bytes;
            } else {
                for (uint32_t k = 0; k < 3; ++k) {
                    if (place + k < end)
                        *out.template pointer<uint8_t>(place + k) =
                            static_cast<uint8_t>(bytes >> 8 * k);
                }
            }
        }
        at += kGroup;
        if (lane < kGroupWords / 4) group[lane] = make_uint4(0, 0, 0, 0);
        // This makes the bytes visible to the lanes that will copy them.
        __syncwarp();
    }

    // An entry is this flag plus the byte's value or, if the source of the byte lies inside the
    // group, the offset in bytes of the source's entry in shared.group.
    static constexpr uint32_t kValue = 0x8000;

    // Pointer jumping: each step halves the length of every chain of sources inside the group. A
    // chain has at most kGroup = 2^8 bytes, so eight steps are enough.
    __device__ void follow(uint32_t (&entry)[kPerLane])
    {
        const uint8_t* group = reinterpret_cast<const uint8_t*>(shared.group);
#pragma unroll 1
        for (uint32_t step = 0; step < 8; ++step) {
            uint32_t known = kValue;
            shared.group[laneIndex()] = make_uint4(
                __byte_perm(entry[0], entry[1], 0x5410), __byte_perm(entry[2], entry[3], 0x5410),
                __byte_perm(entry[4], entry[5], 0x5410), __byte_perm(entry[6], entry[7], 0x5410));
            __syncwarp();
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k) {
                if ((entry[k] & kValue) == 0)
                    entry[k] = *reinterpret_cast<const uint16_t*>(group + entry[k]);
                known &= entry[k];
            }
            __syncwarp();
            if (!__any_sync(kAllLanes, known == 0)) break;
        }
    }
};

} // namespace sluice
