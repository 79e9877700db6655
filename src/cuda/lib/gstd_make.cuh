// SPDX-License-Identifier: MIT OR Apache-2.0
// A block produces the bytes of a Gstd part, a group of 4,096 or 8,192 at a time. For each byte
// shared memory holds its value or, if it copies a byte of the group, the place of that byte.
// Comments call this entry "what is known of" a byte.
//   make    A lane takes four words, 128 bytes apart. The highest mark up to a word is its run
//           (gstd_mark.cuh). Two words of memory, shifted, give its values, or else four places are
//           noted. Then each thread takes listed bytes, at most three.
//   chase   A lane takes its words again, follows the chains of copies of their bytes, and stores
//           them.
#pragma once

#include "cuda/lib/gstd_mark.cuh"

namespace sluice {

template <uint32_t Warps>
class GstdExpander : GstdMarker<Warps> {
    using Base = GstdMarker<Warps>;
    using Base::clearStarts;
    using Base::findFirst;
    using Base::kGroup;
    using Base::kMarks;
    using Base::kMostInside;
    using Base::kThreads;
    using Base::load;
    using Base::m_shared;
    using Base::m_tile;
    using Base::m_warp;
    using Base::mark;
    using typename Base::Part;
    using typename Base::Shared;
    using typename Base::Tile;

public:
    // `depth` is the maximum length of a chain of copies inside 512 bytes.
    __device__ GstdExpander(const Tile& tile, Shared& shared, uint32_t depth)
        : Base(tile, shared), m_depth(depth), m_pointers(sharedAddress(shared.made) - kPointer)
    {
    }

    // The whole block produces the bytes of a coded part.
    __device__ void expand(Part& part)
    {
        const uint32_t size = part.end - part.begin;
        findFirst(part);
        clearStarts();
        if (threadIdx.x == 0) m_shared.insideCount[0] = 0;
        __syncthreads();
        part.tail = m_shared.tail;
        uint3 words = load(part, 0);
        for (uint32_t group = 0, half = 0; group < size; group += kGroup, half ^= 1) {
            mark(part, group, words, half);
            __syncthreads(); // the marks and the bytes before are there
            if (threadIdx.x == 0 && part.begin + group != 0)
                bringBefore(part.begin + group, group == 0);
            const uint32_t insideCount = min(m_shared.insideCount[half], kMostInside);
            Inside inside = {}; // loaded long before it is stored
            if (threadIdx.x < insideCount) inside = loadInside(threadIdx.x, placeZero(part, group));
            const uint32_t at = group + kPiece * m_warp; // the warp's piece
            uint32_t bytes[kRounds];
            bool single = false;
            if (at < size) single = make(part, group, bytes);
            __syncthreads(); // the words are there, and marks have been used
            words = load(part, group + kGroup);
            if (threadIdx.x < insideCount) storeInside(threadIdx.x, inside);
#pragma unroll 1
            for (uint32_t i = threadIdx.x + kThreads; i < insideCount; i += kThreads)
                storeInside(i, loadInside(i, placeZero(part, group)));
            clearStarts();
            if (threadIdx.x == 0) m_shared.insideCount[half ^ 1] = 0;
            __syncthreads();
            if (at < size) {
                if (!single) finish(part, at, bytes);
                store(part, at, bytes);
                if (threadIdx.x == kThreads - 1) m_shared.before = bytes[kRounds - 1];
            }
        }
        __syncthreads();
    }

private:
    // Returns the remainder for value < 2^16 and 0 < divisor < 2^18, where the quotient of floats
    // is off by at most one; for other arguments the result has no meaning.
    __device__ static uint32_t modulo(uint32_t value, uint32_t divisor)
    {
        float inverse;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(static_cast<float>(divisor)));
        const uint32_t quotient = static_cast<uint32_t>(static_cast<float>(value) * inverse);
        const uint32_t result = value - quotient * divisor;
        return min(result, min(result + divisor, result - divisor));
    }

    // Returns what is known of the byte at `to`: the place of its source at `from`, if that is in
    // the group, or its value from memory. It is PTX because the compiler would wait and compare
    // between such loads.
    __device__ static uint32_t loadOrPoint(uint32_t from, uint32_t to, const uint8_t* group,
                                           uint32_t pointers)
    {
        uint32_t result;
        asm volatile(
            "{ .reg .pred p; .reg .s64 at; setp.lt.u32 p, %1, %2; mad.wide.s32 at, %1, 1, %3;"
            " @p mad.lo.s32 %0, %1, 2, %4; @!p ld.global.u8 %0, [at]; }"
            : "=r"(result)
            : "r"(from), "r"(to), "l"(group), "r"(pointers)
            : "memory");
        return result;
    }
    // Loads the two words around `from` if that is not in the group before `to`, and below `limit`.
    __device__ static void loadWords(int32_t from, uint32_t to, int32_t limit, const uint8_t* group,
                                     uint32_t& low, uint32_t& high)
    {
        asm volatile(
            "{ .reg .pred p, q; .reg .s64 at; .reg .s32 word; setp.ge.u32 p, %2, %3; "
            "setp.lt.and.s32 p, %2, %4, p;"
            " and.b32 word, %2, -4; mad.wide.s32 at, word, 1, %5; mov.u32 %0, 0; mov.u32 %1, 0;"
            " @p ld.global.u32 %0, [at]; @p ld.global.u32 %1, [at + 4]; }"
            : "=&r"(low), "=&r"(high)
            : "r"(from), "r"(to), "r"(limit), "l"(group)
            : "memory");
    }
    // The highest bit set, or -1.
    __device__ static int32_t highest(uint32_t bits)
    {
        int32_t result;
        asm("bfind.u32 %0, %1;" : "=r"(result) : "r"(bits));
        return result;
    }
    // If a byte's value is not known yet, replaces what is known of it by what is known of its
    // source.
    __device__ static void follow(uint32_t& made)
    {
        asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 0; @p ld.shared.s16 %0, [%0 + %1]; }"
                     : "+r"(made)
                     : "n"(kPointer)
                     : "memory");
    }

    // A word may copy bytes on both sides of the group's beginning; bytes before it are values.
    __device__ void bringBefore(uint32_t begin, bool load) const
    {
        if (load)
            m_shared.before =
                *global(reinterpret_cast<const uint32_t*>(m_tile.destination + begin - kBefore));
        const uint32_t word = m_shared.before;
        *reinterpret_cast<uint2*>(m_shared.made) =
            make_uint2(__byte_perm(word, 0, 0x4140), __byte_perm(word, 0, 0x4342));
    }

    // From here on places in a group count from the kBefore bytes before it.
    __device__ uint32_t firstPlace() const { return kBefore + kPiece * m_warp + 4 * laneIndex(); }
    __device__ const uint8_t* placeZero(const Part& part, uint32_t at) const
    {
        const uint8_t* result = m_tile.destination + part.begin + at - kBefore;
        // Without this the address is a sum of uniform registers that are moved for each load.
        asm volatile("" : "+l"(result));
        return result;
    }
    // From this place on, words of memory are incomplete or missing.
    __device__ int32_t limitOf(const Part& part, uint32_t at) const
    {
        return static_cast<int32_t>(m_tile.size & ~3u) - 4 -
               static_cast<int32_t>(part.begin + at - kBefore);
    }

    // Produces the warp's piece of the group at `at` if it is a single run whose source is entirely
    // in memory.
    __device__ bool makeSingle(const Part& part, uint32_t at, int32_t word,
                               uint32_t (&bytes)[kRounds]) const
    {
        const uint32_t place = firstPlace();
        const int32_t run = m_shared.run[word], from = static_cast<int32_t>(place) + (run >> 1);
        const uint32_t begin = kBefore + kPiece * m_warp,
                       source = begin + static_cast<uint32_t>(run >> 1);
        if (run == kRepeatsByte) {
            const int32_t byte =
                m_shared.begin[word] - 1 - static_cast<int32_t>(at) + static_cast<int32_t>(kBefore);
            if (byte >= static_cast<int32_t>(kBefore)) return false;
            const uint32_t value = *global(placeZero(part, at) + byte);
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r) {
                bytes[r] = value * 0x01010101u;
                *reinterpret_cast<uint2*>(m_shared.made + place + 4 * kWarpSize * r) =
                    make_uint2(value * 0x10001u, value * 0x10001u);
            }
            return true;
        }
        const bool there =
            run >= 0 || static_cast<int32_t>(source + kPiece) <= static_cast<int32_t>(kBefore);
        if (!there || (run & 1) != 0 || static_cast<int32_t>(source + kPiece) > limitOf(part, at))
            return false;
        const uint32_t* const words =
            global(reinterpret_cast<const uint32_t*>(placeZero(part, at) + (from & ~3)));
        uint32_t low[kRounds], high[kRounds];
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r) {
            low[r] = words[kWarpSize * r];
            high[r] = words[kWarpSize * r + 1];
        }
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r) {
            bytes[r] = __funnelshift_r(low[r], high[r], static_cast<uint32_t>(from) * 8);
            *reinterpret_cast<uint2*>(m_shared.made + place + 4 * kWarpSize * r) =
                make_uint2(__byte_perm(bytes[r], 0, 0x4140), __byte_perm(bytes[r], 0, 0x4342));
        }
        return true;
    }

    // Stores what is known of the bytes of the warp's piece of the group at `at`, except for runs
    // that begin inside a word. Returns true if `bytes` are already the final bytes.
    __device__ bool make(const Part& part, uint32_t at, uint32_t (&bytes)[kRounds]) const
    {
        const uint32_t lane = laneIndex(), first = firstPlace();
        const uint8_t* const zero = placeZero(part, at);
        const int32_t limit = limitOf(part, at);
        const uint4 starts = *reinterpret_cast<const uint4*>(m_shared.starts + kRounds * m_warp);
        // The last run that begins before the piece.
        int32_t carried = 0;
#pragma unroll
        for (uint32_t k = 0; k < kMarks; k += kWarpSize) {
            const uint32_t marks = m_shared.starts[k + lane], own = kRounds * m_warp;
            const uint32_t lower =
                own >= k + kWarpSize ? kAllLanes : (1u << (own > k ? own - k : 0)) - 1;
            const int32_t before = highest(__ballot_sync(kAllLanes, marks != 0) & lower);
            const int32_t last = highest(__shfl_sync(kAllLanes, marks, before & 31));
            if (before >= 0) carried = 32 * (static_cast<int32_t>(k) + before) + last;
        }
        const int32_t begin = static_cast<int32_t>(kWords * m_warp);
        const uint32_t* const entries = m_shared.first + at / kPiece + m_warp;
        if (((starts.x & ~1u) | starts.y | starts.z | starts.w) == 0 && entries[0] == entries[1] &&
            (m_shared.starts[kRounds * (m_warp + 1)] & 1) == 0 &&
            makeSingle(part, at, (starts.x & 1) != 0 ? begin : carried, bytes))
            return true;
        const uint32_t bits[kRounds] = {starts.x, starts.y, starts.z, starts.w};
        const uint32_t upTo = 0xffffffffu >> (31 - lane);
        constexpr uint32_t oneByte = 1u << kRounds;
        int32_t from[kRounds];
        uint32_t low[kRounds], high[kRounds];
        uint32_t flags = 0;          // counts of words to be made byte by byte, and of words of one
                                     // byte
        uint32_t words[kRounds / 2]; // two in each
        bool overlaps = false, behind = false;
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r) {
            const int32_t mark = highest(bits[r] & upTo), last = highest(bits[r]),
                          round = begin + static_cast<int32_t>(32 * r);
            const int32_t word = mark >= 0 ? mark + round : carried, run = m_shared.run[word];
            words[r / 2] = r % 2 == 0 ? static_cast<uint32_t>(word)
                                      : words[r / 2] + static_cast<uint32_t>(word) * 0x10000;
            if (r + 1 < kRounds) carried = last >= 0 ? last + round : carried;
            const uint32_t to = first + 4 * kWarpSize * r;
            from[r] = static_cast<int32_t>(to) + (run >> 1);
            if (__any_sync(kAllLanes, run & 1)) {
                // The repeated bytes of a match that overlaps itself are copied from the bytes
                // before the match.
                overlaps = true;
                if ((run & 1) != 0) {
                    const uint32_t offset = max(static_cast<uint32_t>(-(run >> 1)), 1u);
                    const uint32_t back = at - kBefore + to - m_shared.begin[word];
                    const uint32_t phase = modulo(back, offset);
                    from[r] -= static_cast<int32_t>(back - phase);
                    flags |= offset == 1 ? oneByte << r : phase + 3 >= offset ? 1u << r : 0;
                }
            }
            loadWords(from[r], to, limit, zero, low[r], high[r]);
            behind = behind || from[r] >= limit;
        }
        const uint32_t twice = (m_pointers & 0xffff) * 0x10001u + 0x20000u;
        if (!overlaps) {
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r)
                storeWord(first + 4 * kWarpSize * r, from[r], low[r], high[r], twice, 0x4140,
                          0x4342, 0x40004);
        } else {
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r) {
                const bool one = (flags & oneByte << r) != 0;
                storeWord(first + 4 * kWarpSize * r, from[r], low[r], high[r],
                          one ? twice - 0x20000u : twice, one ? 0x4040 : 0x4140,
                          one ? 0x4040 : 0x4342, one ? 0 : 0x40004);
            }
        }
        if (__any_sync(kAllLanes, static_cast<int>(behind || flags % oneByte != 0))) {
            uint32_t made[kRounds][4] = {};
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r) { // all loads first, by all lanes together
                if (__any_sync(kAllLanes,
                               static_cast<int>((flags >> r & 1) != 0 || from[r] >= limit)))
                    slowWord(part, at, first + 4 * kWarpSize * r,
                             words[r / 2] >> r % 2 * 16 & 0xffff, zero, made[r]);
            }
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r) {
                if (__any_sync(kAllLanes,
                               static_cast<int>((flags >> r & 1) != 0 || from[r] >= limit)))
                    *reinterpret_cast<uint2*>(m_shared.made + first + 4 * kWarpSize * r) =
                        make_uint2(__byte_perm(made[r][0], made[r][1], 0x5410),
                                   __byte_perm(made[r][2], made[r][3], 0x5410));
            }
        }
        return false;
    }

    // Stores what is known of a word: the bytes at `from`, widened, or their places.
    __device__ void storeWord(uint32_t to, int32_t from, uint32_t low, uint32_t high,
                              uint32_t places, uint32_t firsts, uint32_t seconds,
                              uint32_t further) const
    {
        const uint32_t value = __funnelshift_r(low, high, static_cast<uint32_t>(from) * 8);
        const uint32_t pair = static_cast<uint32_t>(from) * 0x20002u + places;
        const bool inGroup = static_cast<uint32_t>(from) < to;
        *reinterpret_cast<uint2*>(m_shared.made + to) =
            make_uint2(inGroup ? pair : __byte_perm(value, 0, firsts),
                       inGroup ? pair + further : __byte_perm(value, 0, seconds));
    }

    // Stores what is known of the at most three bytes of a word that belong to a run which begins
    // inside it.
    struct Inside {
        uint32_t made[3];
    };
    __device__ Inside loadInside(uint32_t i, const uint8_t* zero) const
    {
        const int2 run = m_shared.inside[i];
        const int32_t bytes = run.x >> 16, delta = run.y;
        const uint32_t to = kBefore + (run.x & 0xffff), source = to + static_cast<uint32_t>(delta);
        // A match of an offset below 3 repeats the bytes before it.
        const uint32_t second = bytes > 1 && delta != -1 ? source + 1 : source;
        const uint32_t third = bytes > 2 && delta != -1 && delta != -2 ? source + 2 : source;
        return {{loadOrPoint(source, to, zero, m_pointers),
                 loadOrPoint(second, to + 1, zero, m_pointers),
                 loadOrPoint(third, to + 2, zero, m_pointers)}};
    }
    __device__ void storeInside(uint32_t i, const Inside& inside) const
    {
        const int32_t run = m_shared.inside[i].x;
        uint16_t* const made = m_shared.made + kBefore + (run & 0xffff);
        made[0] = static_cast<uint16_t>(inside.made[0]);
        if (run >= 2 << 16) made[1] = static_cast<uint16_t>(inside.made[1]);
        if (run >= 3 << 16) made[2] = static_cast<uint16_t>(inside.made[2]);
    }

    // This is the run of a match of offset 1 that overlaps itself.
    static constexpr int32_t kRepeatsByte = -1;
    static constexpr uint32_t kUnlimited = 0xffffffffu;
    // Finds out what is known of a word byte by byte.
    __device__ void slowWord(const Part& part, uint32_t at, uint32_t to, uint32_t word,
                             const uint8_t* zero, uint32_t (&made)[4]) const
    {
        const uint32_t origin = part.begin + at - kBefore;
        const int32_t run = m_shared.run[word];
        const uint32_t own = to + static_cast<uint32_t>(run >> 1);
        const uint32_t back = at - kBefore + to - m_shared.begin[word];
        const uint32_t offset =
            (run & 1) != 0 ? max(static_cast<uint32_t>(-(run >> 1)), 1u) : kUnlimited;
        uint32_t phase = (run & 1) != 0 ? modulo(back, offset) : 0,
                 from = (run & 1) != 0 ? own - (back - phase) : own;
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            made[k] = loadOrPoint(origin + from < m_tile.size ? from : 0u - origin, to + k, zero,
                                  m_pointers);
            ++phase;
            from += phase == offset ? 1 - offset : 1;
            phase = phase == offset ? 0 : phase;
        }
    }

    // Finishes the bytes of the warp's piece at `at` of the part.
    __device__ void finish(const Part& part, uint32_t at, uint32_t (&bytes)[kRounds]) const
    {
        const uint16_t* const made = m_shared.made + firstPlace();
        uint2 known[kRounds];
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r)
            known[r] = *reinterpret_cast<const uint2*>(made + 4 * kWarpSize * r);
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r) {
            bytes[r] = __byte_perm(known[r].x, known[r].y, 0x6420);
            if (__any_sync(kAllLanes, ((known[r].x | known[r].y) & 0x80008000u) != 0))
                bytes[r] =
                    chase(known[r], part.end - part.begin - at, 4 * (kWarpSize * r + laneIndex()));
        }
    }
    // Follows the chain of copies of each byte of a word, which is at `place` of `size` bytes. In
    // each 512 bytes a chain has at most m_depth copies, and one more that leaves them.
    __device__ uint32_t chase(uint2 known, uint32_t size, uint32_t place) const
    {
        uint32_t made[4] = {lowHalf(known.x), highHalf(known.x), lowHalf(known.y),
                            highHalf(known.y)};
        const uint32_t most = Warps * (m_depth + 1);
#pragma unroll 1
        for (uint32_t step = 0; step < most; ++step) {
            if (step == m_depth) {
                bool inside = false;
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k)
                    inside = inside ||
                             (made[k] - m_pointers - 2 * (kBefore + kPiece * m_warp) < 2 * kPiece &&
                              place + k < size);
                if (inside) m_shared.tooDeep = 1;
            }
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k)
                follow(made[k]);
            if (static_cast<int32_t>(made[0] | made[1] | made[2] | made[3]) >= 0) break;
        }
        return __byte_perm(__byte_perm(made[0], made[1], 0x0040),
                           __byte_perm(made[2], made[3], 0x0040), 0x5410);
    }
    __device__ static uint32_t lowHalf(uint32_t pair)
    {
        return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(pair & 0xffff)));
    }
    __device__ static uint32_t highHalf(uint32_t pair)
    {
        return static_cast<uint32_t>(static_cast<int32_t>(pair) >> 16);
    }

    __device__ void store(const Part& part, uint32_t at, const uint32_t (&bytes)[kRounds]) const
    {
        const uint32_t to = part.begin + at + 4 * laneIndex();
        if (at + kPiece <= part.end - part.begin) {
            uint32_t* const words = global(reinterpret_cast<uint32_t*>(m_tile.destination + to));
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r)
                words[kWarpSize * r] = bytes[r];
        } else {
#pragma unroll 1
            for (uint32_t r = 0; r < kRounds; ++r)
                m_tile.store(to + 4 * kWarpSize * r,
                             r == 0   ? bytes[0]
                             : r == 1 ? bytes[1]
                             : r == 2 ? bytes[2]
                                      : bytes[3],
                             part.end);
        }
    }

    const uint32_t m_depth;
    const uint32_t m_pointers; // the address of what is known of the first byte, less kPointer
};

} // namespace sluice
