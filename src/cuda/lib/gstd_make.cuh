// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the bytes of a coded part of Gstd, one group after the other. gstd_part.cuh explains group,
// piece, run and the *entry of a byte*: the byte's value or, if the byte copies another one, a
// reference to the entry of that one. For each group:
// - make: a warp makes a piece. A lane takes four words of the piece, one in each round; they lie
//   128 bytes apart. The highest mark at or below a word gives the word's run (gstd_mark.cuh). If
//   the run's source lies before the group, the four values come from two words of memory, shifted;
//   otherwise four references are stored.
// - inside: runs that begin inside a word are in a list. A thread takes one of these runs and
//   stores the entries that the run has in that word, at most three.
// - chase: a lane takes its four words again, follows the references of their bytes from entry to
//   entry up to a value, and stores the bytes in the tile.
#pragma once

#include "cuda/lib/gstd_mark.cuh"

namespace sluice {

template <uint32_t Warps>
class GstdExpander {
    using Tile = GstdExpandTile;
    using Part = GstdPart;
    using Shared = GstdExpandShared<Warps>;
    static constexpr uint32_t kThreads = Warps * kWarpSize, kGroup = Shared::kGroup,
                              kMarks = Shared::kMarks, kMostInside = Shared::kMostInside;

public:
    // `depth` is how many copies may depend on each other inside a group of the format, which has
    // 512 bytes (docs/format.md, 7.6).
    __device__ GstdExpander(const Tile& tile, Shared& shared, uint32_t depth)
        : m_tile(tile), m_shared(shared), m_marker(shared), m_depth(depth),
          m_pointers(sharedAddress(shared.made) - kPointer)
    {
    }

    // The whole block makes the bytes of a coded part.
    __device__ void expand(Part& part)
    {
        const uint32_t size = part.end - part.begin;
        m_marker.findFirst(part);
        m_marker.clearStarts();
        if (threadIdx.x == 0) m_shared.insideCount[0] = 0;
        __syncthreads();
        part.tail = m_shared.tail;
        uint3 words = m_marker.load(part, 0);
        for (uint32_t group = 0, half = 0; group < size; group += kGroup, half ^= 1) {
            m_marker.mark(part, group, words, half);
            // After this barrier, the marks and the bytes of the group before are visible.
            __syncthreads();
            if (threadIdx.x == 0 && part.begin + group != 0)
                bringBefore(part.begin + group, group == 0);
            const uint32_t insideCount = min(m_shared.insideCount[half], kMostInside);
            // These loads begin here, long before their results are stored.
            Inside inside = {};
            if (threadIdx.x < insideCount) inside = loadInside(threadIdx.x, placeZero(part, group));
            // The byte of the part at which the warp's piece begins.
            const uint32_t at = group + kPiece * m_marker.warp();
            uint32_t bytes[kRounds];
            bool single = false;
            if (at < size) single = make(part, group, bytes);
            // After this barrier the entries of all words are stored, and no warp reads the marks
            // any more.
            __syncthreads();
            words = m_marker.load(part, group + kGroup);
            if (threadIdx.x < insideCount) storeInside(threadIdx.x, inside);
#pragma unroll 1
            for (uint32_t i = threadIdx.x + kThreads; i < insideCount; i += kThreads)
                storeInside(i, loadInside(i, placeZero(part, group)));
            m_marker.clearStarts();
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
    // Returns value modulo divisor, for value < 2^16 and 0 < divisor < 2^18; for other arguments
    // the result has no meaning. The quotient of floats is off by at most one. So there are three
    // candidates for the remainder, and the right one is the smallest, because negative ones wrap
    // around to large numbers.
    __device__ static uint32_t modulo(uint32_t value, uint32_t divisor)
    {
        float inverse;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(static_cast<float>(divisor)));
        const uint32_t quotient = static_cast<uint32_t>(static_cast<float>(value) * inverse);
        const uint32_t result = value - quotient * divisor;
        return min(result, min(result + divisor, result - divisor));
    }

    // Returns the entry of the byte at place `to`, whose source is at place `from`. Place 0 is
    // kBefore bytes before the group, and `group` is its address in the tile. If 0 <= from < to,
    // the source has an entry too, and the result refers to it (`pointers` is m_pointers).
    // Otherwise the result is the value of the source. From C++ the compiler would make code that
    // waits after each load, and would repeat the comparison.
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
    // Loads into `low` and `high` the two words of memory that contain the four bytes from place
    // `from` on. Loads nothing if these bytes have entries (0 <= from < to), or if `from` is not
    // below `limit`, where the words would lie behind the tile.
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
    // Returns the index of the highest bit set, or -1.
    __device__ static int32_t highest(uint32_t bits)
    {
        int32_t result;
        asm("bfind.u32 %0, %1;" : "=r"(result) : "r"(bits));
        return result;
    }
    // If `made` is the entry of a byte whose value is not known yet, replaces it by the entry of
    // the byte that it copies.
    __device__ static void follow(uint32_t& made)
    {
        asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 0; @p ld.shared.s16 %0, [%0 + %1]; }"
                     : "+r"(made)
                     : "n"(kPointer)
                     : "memory");
    }

    // The source of a word may begin before the group and end inside it. So the kBefore bytes
    // before the group have entries too, which are values. Thread 0 stores these. `load` means that
    // the values must be loaded from the tile; otherwise they are in m_shared.before.
    __device__ void bringBefore(uint32_t begin, bool load) const
    {
        if (load)
            m_shared.before =
                *global(reinterpret_cast<const uint32_t*>(m_tile.destination + begin - kBefore));
        const uint32_t word = m_shared.before;
        *reinterpret_cast<uint2*>(m_shared.made) =
            make_uint2(__byte_perm(word, 0, 0x4140), __byte_perm(word, 0, 0x4342));
    }

    // From here on, place p of a group is the byte p - kBefore of the group. firstPlace returns the
    // place of this lane's first word. placeZero returns the address of place 0 in the tile, for
    // the group at byte `at` of the part.
    __device__ uint32_t firstPlace() const
    {
        return kBefore + kPiece * m_marker.warp() + 4 * laneIndex();
    }
    __device__ const uint8_t* placeZero(const Part& part, uint32_t at) const
    {
        const uint8_t* result = m_tile.destination + part.begin + at - kBefore;
        // Without this statement, the compiler keeps the address as a sum of uniform registers, and
        // moves these to registers of each lane for every load.
        asm volatile("" : "+l"(result));
        return result;
    }
    // Returns the first place for which loadWords would load words that are not both in the tile.
    __device__ int32_t limitOf(const Part& part, uint32_t at) const
    {
        return static_cast<int32_t>(m_tile.size & ~3u) - 4 -
               static_cast<int32_t>(part.begin + at - kBefore);
    }

    // If the warp's piece of the group at `at` is a single run whose source is already in memory,
    // makes the piece. Otherwise returns false. `word` is the run's index in m_shared.run.
    __device__ bool makeSingle(const Part& part, uint32_t at, int32_t word,
                               uint32_t (&bytes)[kRounds]) const
    {
        const uint32_t place = firstPlace();
        const int32_t run = m_shared.run[word], from = static_cast<int32_t>(place) + (run >> 1);
        const uint32_t begin = kBefore + kPiece * m_marker.warp(),
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

    // Stores an entry (gstd_part.cuh) for each byte of the warp's piece of the group at `at`. If a
    // run begins inside a word, its bytes in that word are left to storeInside. Returns true if
    // `bytes` has the final bytes already.
    __device__ bool make(const Part& part, uint32_t at, uint32_t (&bytes)[kRounds]) const
    {
        const uint32_t lane = laneIndex(), first = firstPlace();
        const uint8_t* const zero = placeZero(part, at);
        const int32_t limit = limitOf(part, at);
        const uint4 starts =
            *reinterpret_cast<const uint4*>(m_shared.starts + kRounds * m_marker.warp());
        // The index in m_shared.run of the last run that is marked before the piece.
        int32_t carried = 0;
#pragma unroll
        for (uint32_t k = 0; k < kMarks; k += kWarpSize) {
            const uint32_t marks = m_shared.starts[k + lane], own = kRounds * m_marker.warp();
            const uint32_t lower =
                own >= k + kWarpSize ? kAllLanes : (1u << (own > k ? own - k : 0)) - 1;
            const int32_t before = highest(__ballot_sync(kAllLanes, marks != 0) & lower);
            const int32_t last = highest(__shfl_sync(kAllLanes, marks, before & 31));
            if (before >= 0) carried = 32 * (static_cast<int32_t>(k) + before) + last;
        }
        const int32_t begin = static_cast<int32_t>(kWords * m_marker.warp());
        const uint32_t* const entries = m_shared.first + at / kPiece + m_marker.warp();
        if (((starts.x & ~1u) | starts.y | starts.z | starts.w) == 0 && entries[0] == entries[1] &&
            (m_shared.starts[kRounds * (m_marker.warp() + 1)] & 1) == 0 &&
            makeSingle(part, at, (starts.x & 1) != 0 ? begin : carried, bytes))
            return true;
        const uint32_t bits[kRounds] = {starts.x, starts.y, starts.z, starts.w};
        const uint32_t upTo = 0xffffffffu >> (31 - lane);
        constexpr uint32_t oneByte = 1u << kRounds;
        int32_t from[kRounds];
        uint32_t low[kRounds], high[kRounds];
        // Bit r is set if word r has to be made byte by byte; bit kRounds + r is set if word r
        // repeats a single byte.
        uint32_t flags = 0;
        // For each round, the index in m_shared.run of the lane's run; two indices in each word.
        uint32_t words[kRounds / 2];
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
                // A match that is longer than its offset repeats bytes that it has made itself.
                // Their sources are moved back by a multiple of the offset, to the bytes before the
                // match.
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
            // All words are loaded first, by all lanes together, so that their loads overlap.
            for (uint32_t r = 0; r < kRounds; ++r) {
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

    // Stores the four entries of the word at place `to`, 16 bits each. If `from` is in the group,
    // they refer to the entries from place `from` on. For that, `places` has m_pointers in both
    // halves, plus 2 in the upper one, because byte 1 follows byte 0; `further` adds 4 to both
    // halves, for bytes 2 and 3. Otherwise the entries are the bytes of memory at `from`, which
    // loadWords has loaded to `low` and `high`. For that, the __byte_perm selectors `firsts` and
    // `seconds` widen bytes 0 and 1, or bytes 2 and 3, to 16 bits. For a word that repeats one
    // byte, the caller passes values that make all four entries that of byte 0.
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

    // The entries that a run has in the word inside which it begins, at most three. loadInside
    // returns those of run i of m_shared.inside; storeInside stores them.
    struct Inside {
        uint32_t made[3];
    };
    __device__ Inside loadInside(uint32_t i, const uint8_t* zero) const
    {
        const int2 run = m_shared.inside[i];
        const int32_t bytes = run.x >> 16, delta = run.y;
        const uint32_t to = kBefore + (run.x & 0xffff), source = to + static_cast<uint32_t>(delta);
        // If the offset is 1, all bytes have the same source. If it is 2, the third byte has the
        // source of the first.
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

    // The value in m_shared.run of a match that has offset 1 and is longer than 1 byte. Such a
    // match repeats one byte.
    static constexpr int32_t kRepeatsByte = -1;
    static constexpr uint32_t kUnlimited = 0xffffffffu;
    // Loads the entries of the word at place `to` byte by byte. This is for words at the end of the
    // tile, and for words in which a match repeats. `word` is the run's index in m_shared.run.
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

    // Turns the entries of this lane's four words into values. The words belong to the warp's
    // piece, which begins at byte `at` of the part.
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
    // Follows the references of a word with the entries `known`, and returns its bytes. The word is
    // at byte `place` of the piece, and `size` bytes of the part are left from the piece's
    // beginning on. The number of steps is bounded: a chain has at most m_depth copies in each 512
    // bytes, and one more copy leads out of them.
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
                    inside =
                        inside || (made[k] - m_pointers - 2 * (kBefore + kPiece * m_marker.warp()) <
                                       2 * kPiece &&
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
    // These return a half of `pair` as a signed number, so that references are negative (kPointer).
    __device__ static uint32_t lowHalf(uint32_t pair)
    {
        return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(pair & 0xffff)));
    }
    __device__ static uint32_t highHalf(uint32_t pair)
    {
        return static_cast<uint32_t>(static_cast<int32_t>(pair) >> 16);
    }

    // Stores the lane's four words of the piece that begins at byte `at` of the part.
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

    const Tile& m_tile;
    Shared& m_shared;
    const GstdMarker<Warps> m_marker;
    const uint32_t m_depth;
    const uint32_t m_pointers; // the address of entry 0, minus kPointer
};

} // namespace sluice
