// SPDX-License-Identifier: MIT OR Apache-2.0
// From the symbols of Gstd tiles to their bytes, 4,096 or 8,192 of a tile at once, a group.
// Literals wait in the output, so that runs, of literals or of a match, are all copies. What is
// known of each byte stands in shared memory: its value or, if it copies a byte of the group, where
// that one stands. 1. A thread takes a sequence, marks the first words of its runs, and lists bytes
// of theirs that stand before such a word. 2. A lane takes four words, 128 bytes apart: the highest
// mark up to one is its run. Two words of memory, shifted, are its
//    values, or four places what is known of it.
// 3. A thread takes listed bytes, three at most.
// 4. A lane takes its words again, follows the chains of copies of their bytes, and stores them.
// Where all tiles are at work at once a part is begun as soon as its symbols are known.
#include "kernels.h"
#include "lib/gstd_tile.cuh"
#include "lib/launch.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

#include "../api/plan_gstd.h"

#include <cstddef>

namespace sluice {
namespace {

// bytes of a warp, which are made at once
constexpr uint32_t kPiece = SLUICE_GS_GROUP;
constexpr uint32_t kWords = kPiece / 4, kRounds = kWords / kWarpSize; // of them; of a lane
constexpr uint32_t kPieces = SLUICE_GS_PART_BYTES / kPiece;           // of a part
constexpr uint32_t kBefore = 4; // values in front of those of a group, of the bytes before it
// What is known of a byte of a group: its value, or, negative, the address in shared memory of what
// is known of the byte that it copies, less this.
constexpr int32_t kPointer = 0x8000;

// Of its header, and if it is coded. Entries are its sequences, literals and a match each, and the
// literals behind them.
struct PartHeader {
    uint32_t begin, end; // of its output
    uint32_t first;      // of its words
    uint32_t word;       // that one
    uint32_t literalCount, sequences;
};

struct Part : PartHeader {
    const uint2* records; // of sequences
    uint32_t literals;    // where in the output they stand until they are used
    uint32_t tail;        // where in the part those behind the sequences begin
};

template <uint32_t Warps>
struct TileShared {
    static constexpr uint32_t kGroup = kPiece * Warps;  // bytes of all warps
    static constexpr uint32_t kMarks = kRounds * Warps; // words of a bit for each word of a group
    // A match has three bytes at least, so of four bytes two begin runs at most.
    static constexpr uint32_t kMostInside = kGroup / 2 + 2;
    static_assert(kMarks % kWarpSize == 0 && kRounds == 4 && kGroup < 1u << 16,
                  "16 bytes; half a word for a place");

    __align__(16) uint16_t made[kBefore + kGroup];
    // A bit for each word whose first byte belongs to another run than that of the word before; the
    // one behind the group too.
    __align__(16) uint32_t starts[kMarks + 4];
    int32_t run[kGroup / 4 + 1];    // of such words: how far the source is, times 2, and whether
                                    // the run overlaps it
    uint16_t begin[kGroup / 4 + 1]; // then: where in the part it begins
    // Of runs that begin inside a word: where, and, in the upper half, how many bytes of it they
    // have; how far the source is
    __align__(8) int2 inside[kMostInside];
    uint32_t insideCount[2];     // of this group and the next
    uint32_t before;             // the four bytes before a group
    uint32_t first[kPieces + 1]; // the entry that each piece of a part begins with; behind the last
                                 // none
    PartHeader parts[SLUICE_GS_MAX_PARTS];
    uint32_t tail; // of a part
    uint32_t badOffset, tooDeep;
    uint32_t status; // of what was waited for
};

struct Tile : GstdTile {
    const uint32_t* slot;
    uint32_t size;

    template <uint32_t Threads>
    __device__ void fill(uint32_t begin, uint32_t end, uint32_t value) const
    {
        for (uint32_t at = begin + 4 * threadIdx.x; at < end; at += 4 * Threads)
            store(at, value * 0x01010101u, end);
    }
    // From byte `from` of the source on, an even number.
    template <uint32_t Threads>
    __device__ void copyPlain(uint32_t begin, uint32_t end, uint32_t from) const
    {
        for (uint32_t at = begin + 4 * threadIdx.x; at < end; at += 4 * Threads) {
            const uint32_t position = from + at - begin;
            uint32_t bytes = source[position / 4];
            if (position % 4 != 0) {
                bytes >>= 16;
                if (at + 2 < end) bytes |= source[position / 4 + 1] << 16;
            }
            store(at, bytes, end);
        }
    }
};

template <uint32_t Warps>
class Expander {
    using Shared = TileShared<Warps>;
    static constexpr uint32_t kThreads = Warps * kWarpSize, kGroup = Shared::kGroup,
                              kMarks = Shared::kMarks;
    static constexpr uint32_t kMostInside = Shared::kMostInside;

public:
    __device__ Expander(const Tile& whole, Shared& use, uint32_t depthLimit)
        : tile(whole), shared(use), warp(uniform(warpIndex())), depth(depthLimit),
          pointers(static_cast<uint32_t>(__cvta_generic_to_shared(use.made)) - kPointer),
          startsAt(static_cast<uint32_t>(__cvta_generic_to_shared(use.starts))), below(lanesBelow())
    {
        asm volatile("" : "+r"(startsAt), "+r"(below)); // or they are made again at each use
    }

    // All threads come here in step.
    __device__ void expand(Part& part)
    {
        const uint32_t size = part.end - part.begin;
        findFirst(part);
        clearStarts();
        if (threadIdx.x == 0) shared.insideCount[0] = 0;
        __syncthreads();
        part.tail = shared.tail;
        uint3 words = load(part, 0);
        for (uint32_t group = 0, half = 0; group < size; group += kGroup, half ^= 1) {
            mark(part, group, words, half);
            __syncthreads(); // the marks; the bytes before
            if (threadIdx.x == 0 && part.begin + group != 0)
                bringBefore(part.begin + group, group == 0);
            const uint32_t insideCount = min(shared.insideCount[half], kMostInside);
            Inside inside = {}; // early, so that the loads are under way for long
            if (threadIdx.x < insideCount) inside = loadInside(threadIdx.x, placeZero(part, group));
            const uint32_t at = group + kPiece * warp; // the warp's piece
            uint32_t bytes[kRounds];
            bool single = false;
            if (at < size) single = make(part, group, bytes);
            __syncthreads(); // the words; marks have been used
            words = load(part, group + kGroup);
            if (threadIdx.x < insideCount) storeInside(threadIdx.x, inside);
#pragma unroll 1
            for (uint32_t i = threadIdx.x + kThreads; i < insideCount; i += kThreads)
                storeInside(i, loadInside(i, placeZero(part, group)));
            clearStarts();
            if (threadIdx.x == 0) shared.insideCount[half ^ 1] = 0;
            __syncthreads();
            if (at < size) {
                if (!single) finish(part, at, bytes);
                store(part, at, bytes);
                if (threadIdx.x == kThreads - 1) shared.before = bytes[kRounds - 1];
            }
        }
        __syncthreads();
    }

private:
    __device__ void clearStarts() const
    {
        if (threadIdx.x <= kMarks) shared.starts[threadIdx.x] = 0;
    }
    __device__ void findFirst(const Part& part) const
    {
        const uint32_t pieces = (part.end - part.begin + kPiece - 1) / kPiece;
        if (threadIdx.x == 0) shared.first[pieces] = kNone;
        const uint2* const records = global(part.records);
        constexpr uint32_t kTogether = 4; // under way
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i < part.sequences; i += kTogether * kThreads) {
            uint32_t words[kTogether], next[kTogether];
#pragma unroll
            for (uint32_t k = 0; k < kTogether; ++k) {
                const uint32_t own = min(i + k * kThreads, part.sequences - 1);
                words[k] = records[own].x;
                next[k] = records[own + 1].x;
            }
#pragma unroll
            for (uint32_t k = 0; k < kTogether; ++k) {
                const uint32_t begin = words[k] & 0xffff;
                enter(min(i + k * kThreads, part.sequences - 1), begin,
                      begin + lengthOf(words[k], next[k]), pieces);
            }
        }
        if (threadIdx.x == kThreads - 1) {
            const uint32_t size = part.end - part.begin;
            const uint32_t tail =
                size - (part.literalCount - (part.records[part.sequences].x >> 16));
            shared.tail = tail;
            enter(part.sequences, tail, size, pieces);
        }
    }
    __device__ void enter(uint32_t i, uint32_t begin, uint32_t next, uint32_t pieces) const
    {
        const uint32_t end = min((next + kPiece - 1) / kPiece, pieces);
#pragma unroll 1
        for (uint32_t piece = (begin + kPiece - 1) / kPiece; piece < end; ++piece)
            shared.first[piece] = i;
    }
    static constexpr uint32_t kNone = 0xffffffffu;
    // Of a sequence, from the first words of its record and the next.
    __device__ static uint32_t lengthOf(uint32_t word, uint32_t next)
    {
        return ((next - word - 1) & 0xffff) + 1;
    }

    // The first entries that meet the group at `at`, one a thread: both words, and the first of the
    // next.
    __device__ uint3 load(const Part& part, uint32_t at) const
    {
        return at < part.end - part.begin ? loadFrom(part, shared.first[at / kPiece] + threadIdx.x)
                                          : make_uint3(0, 0, 0);
    }
    __device__ static uint3 loadFrom(const Part& part, uint32_t i)
    {
        const uint2* record = part.records;
        asm volatile(""
                     : "+l"(record)); // not a sum of uniform registers, which must be moved each
                                      // time
        record = global(record) + i;
        const bool here = i < part.sequences;
        const uint2 words = here ? record[0] : make_uint2(0, 0);
        return make_uint3(words.x, words.y, here ? record[1].x : 0);
    }

    // The runs of the group at `at`.
    __device__ void mark(const Part& part, uint32_t at, uint3 words, uint32_t half) const
    {
        const uint32_t size = part.end - part.begin, end = min(kGroup, size - at);
        const uint32_t last =
            min(at + kGroup < size ? shared.first[(at + kGroup) / kPiece] : kNone, part.sequences);
        const uint32_t first = uniform(shared.first[at / kPiece]) + kWarpSize * warp,
                       turns = uniform(last + kWarpSize);
#pragma unroll 1
        for (uint32_t turn = first; turn + kWarpSize <= turns; turn += kThreads) {
            const uint32_t i = turn + laneIndex();
            uint3 after = make_uint3(0, 0, 0);
            if (turn + kThreads + kWarpSize <= turns) after = loadFrom(part, i + kThreads);
            const bool here = i < part.sequences;
            const uint32_t begin = words.x & 0xffff, literal = words.x >> 16, offset = words.y;
            const uint32_t match = begin + (((words.z >> 16) - literal) & 0xffff);
            // Of the group; none of an entry that is not there.
            const int32_t from = static_cast<int32_t>(here ? begin - at : end + 1);
            const int32_t between = static_cast<int32_t>(match - begin) + from;
            const int32_t to = static_cast<int32_t>(lengthOf(words.x, words.z)) + from;
            const bool wrong = offset - 1 >= part.begin + match;
            if (wrong && here && between < static_cast<int32_t>(end))
                storeShared(startsAt + kBadOffsetAt, 1);
            const uint32_t overlaps = static_cast<uint32_t>(to - between) > offset ? 1 : 0;
            put(half, end, from, between, to,
                static_cast<int32_t>(part.literals - part.begin + literal - begin),
                wrong ? 0 : -static_cast<int32_t>(offset), overlaps, match);
            words = after;
        }
        // The literals behind the sequences are where they belong.
        if (warp == 0 && part.tail < at + end) {
            const int32_t from = static_cast<int32_t>(laneIndex() == 0 ? part.tail - at : end + 1);
            put(half, end, from, static_cast<int32_t>(end), static_cast<int32_t>(end), 0, 0, 0, 0);
        }
    }
    // Two runs, [from, between) and [between, to), as far as they are in [0, end) of the group.
    __device__ void put(uint32_t half, uint32_t end, int32_t from, int32_t between, int32_t to,
                        int32_t literalDelta, int32_t matchDelta, uint32_t overlaps,
                        uint32_t match) const
    {
        const int32_t behind = static_cast<int32_t>(end) + 1;
        const int32_t first[2] = {max(from, 0), max(between, 0)},
                      last[2] = {min(between, behind), min(to, behind)};
        const int32_t delta[2] = {literalDelta, matchDelta};
        int32_t bytes[2];
        uint32_t lanes[2];
        bool inside[2];
#pragma unroll
        for (uint32_t k = 0; k < 2; ++k) {
            const int32_t word = (first[k] + 3) & ~3; // times 4
            const uint32_t bit = 1u << (static_cast<uint32_t>(word) / 4 & 31);
            const uint32_t flag = k == 1 ? overlaps : 0;
            putWord(startsAt, word, last[k], bit, 2 * delta[k] + static_cast<int32_t>(flag));
            if (k == 1 && flag != 0 && word < last[k])
                shared.begin[word / 4] = static_cast<uint16_t>(match);
            inside[k] = first[k] % 4 != 0 && first[k] < last[k];
            bytes[k] = min(word, last[k]) - first[k];
            lanes[k] = __ballot_sync(kAllLanes, inside[k]);
        }
        if ((lanes[0] | lanes[1]) == 0) return;
        const uint32_t firsts = static_cast<uint32_t>(__popc(lanes[0]));
        uint32_t rank = 0;
        if (laneIndex() == 0)
            rank = addShared(startsAt + kCountAt + 4 * half + below,
                             firsts + static_cast<uint32_t>(__popc(lanes[1])));
        rank = __shfl_sync(kAllLanes, rank, 0);
#pragma unroll
        for (uint32_t k = 0; k < 2; ++k) {
            const uint32_t place =
                rank + (k != 0 ? firsts : 0) + static_cast<uint32_t>(__popc(lanes[k] & below));
            if (inside[k] && place < kMostInside)
                shared.inside[place] = make_int2(first[k] + bytes[k] * 0x10000, delta[k]);
        }
    }
    // If word < last: its run and its bit.
    __device__ static void putWord(uint32_t starts, int32_t word, int32_t last, uint32_t bit,
                                   int32_t run)
    {
        asm volatile(
            "{ .reg .pred p; .reg .u32 at, to; setp.lt.s32 p, %1, %2; shr.u32 at, %1, 7; "
            "mad.lo.u32 at, at, 4, %0;"
            " add.u32 to, %1, %0; @p red.shared.or.b32 [at], %3; @p st.shared.u32 [to + %5], %4; }"
            :
            : "r"(starts), "r"(word), "r"(last), "r"(bit), "r"(run), "n"(kRunAt)
            : "memory");
    }
    // By one lane. The compiler sums over the warp before atomicAdd(), and here too where it knows
    // that the address is uniform.
    __device__ static uint32_t addShared(uint32_t at, uint32_t value)
    {
        uint32_t before;
        asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                     : "=r"(before)
                     : "r"(at), "r"(value)
                     : "memory");
        return before;
    }
    __device__ static void storeShared(uint32_t at, uint32_t value)
    {
        asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(value) : "memory");
    }
    static constexpr uint32_t kBadOffsetAt = offsetof(Shared, badOffset) - offsetof(Shared, starts);
    static constexpr uint32_t kCountAt = offsetof(Shared, insideCount) - offsetof(Shared, starts);
    static constexpr int kRunAt = sizeof(Shared::starts);

    // value < 2^16, 0 < divisor < 2^18: the quotient of floats is at most one off. Anything of
    // others.
    __device__ static uint32_t modulo(uint32_t value, uint32_t divisor)
    {
        float inverse;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(static_cast<float>(divisor)));
        const uint32_t quotient = static_cast<uint32_t>(static_cast<float>(value) * inverse);
        const uint32_t rest = value - quotient * divisor;
        return min(rest, min(rest + divisor, rest - divisor));
    }

    // Of a byte that copies one of the group at `from`, which stands before it, else its value from
    // memory. The compiler puts waiting for values, and more comparisons, between such loads.
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
    // The two words around `from`, if that is no place of the group before `to`, and less than
    // `limit`.
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
    __device__ static int32_t highest(uint32_t bits) // -1: none
    {
        int32_t result;
        asm("bfind.u32 %0, %1;" : "=r"(result) : "r"(bits));
        return result;
    }
    // What is known of the byte that this one copies, if it is not a value yet.
    __device__ static void follow(uint32_t& made)
    {
        asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 0; @p ld.shared.s16 %0, [%0 + %1]; }"
                     : "+r"(made)
                     : "n"(kPointer)
                     : "memory");
    }

    // A word may copy bytes on both sides of a group's begin; those before it are values.
    __device__ void bringBefore(uint32_t begin, bool load) const
    {
        if (load)
            shared.before =
                *global(reinterpret_cast<const uint32_t*>(tile.destination + begin - kBefore));
        const uint32_t word = shared.before;
        *reinterpret_cast<uint2*>(shared.made) =
            make_uint2(__byte_perm(word, 0, 0x4140), __byte_perm(word, 0, 0x4342));
    }

    // From here on places in a group count from the bytes before it that are known.
    __device__ uint32_t firstPlace() const { return kBefore + kPiece * warp + 4 * laneIndex(); }
    __device__ const uint8_t* placeZero(const Part& part, uint32_t at) const
    {
        const uint8_t* result = tile.destination + part.begin + at - kBefore;
        asm volatile(""
                     : "+l"(result)); // not a sum of uniform registers, which must be moved for
                                      // each load
        return result;
    }
    // Behind this, words of memory would not be whole or not there.
    __device__ int32_t limitOf(const Part& part, uint32_t at) const
    {
        return static_cast<int32_t>(tile.size & ~3u) - 4 -
               static_cast<int32_t>(part.begin + at - kBefore);
    }

    // The warp's piece of the group at `at` if it is one run that is there, with its bytes.
    __device__ bool makeSingle(const Part& part, uint32_t at, int32_t word,
                               uint32_t (&bytes)[kRounds]) const
    {
        const uint32_t place = firstPlace();
        const int32_t run = shared.run[word], from = static_cast<int32_t>(place) + (run >> 1);
        const uint32_t begin = kBefore + kPiece * warp,
                       source = begin + static_cast<uint32_t>(run >> 1);
        if (run == kRepeatsByte) {
            const int32_t byte =
                shared.begin[word] - 1 - static_cast<int32_t>(at) + static_cast<int32_t>(kBefore);
            if (byte >= static_cast<int32_t>(kBefore)) return false;
            const uint32_t value = *global(placeZero(part, at) + byte);
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r) {
                bytes[r] = value * 0x01010101u;
                *reinterpret_cast<uint2*>(shared.made + place + 4 * kWarpSize * r) =
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
            *reinterpret_cast<uint2*>(shared.made + place + 4 * kWarpSize * r) =
                make_uint2(__byte_perm(bytes[r], 0, 0x4140), __byte_perm(bytes[r], 0, 0x4342));
        }
        return true;
    }

    // What is known of the bytes of the warp's piece of the group at `at`, without runs that begin
    // inside a word. True: these are its bytes.
    __device__ bool make(const Part& part, uint32_t at, uint32_t (&bytes)[kRounds]) const
    {
        const uint32_t lane = laneIndex(), first = firstPlace();
        const uint8_t* const zero = placeZero(part, at);
        const int32_t limit = limitOf(part, at);
        const uint4 starts = *reinterpret_cast<const uint4*>(shared.starts + kRounds * warp);
        // The last run before.
        int32_t carried = 0;
#pragma unroll
        for (uint32_t k = 0; k < kMarks; k += kWarpSize) {
            const uint32_t marks = shared.starts[k + lane], own = kRounds * warp;
            const uint32_t lower =
                own >= k + kWarpSize ? kAllLanes : (1u << (own > k ? own - k : 0)) - 1;
            const int32_t before = highest(__ballot_sync(kAllLanes, marks != 0) & lower);
            const int32_t last = highest(__shfl_sync(kAllLanes, marks, before & 31));
            if (before >= 0) carried = 32 * (static_cast<int32_t>(k) + before) + last;
        }
        const int32_t begin = static_cast<int32_t>(kWords * warp);
        const uint32_t* const entries = shared.first + at / kPiece + warp;
        if (((starts.x & ~1u) | starts.y | starts.z | starts.w) == 0 && entries[0] == entries[1] &&
            (shared.starts[kRounds * (warp + 1)] & 1) == 0 &&
            makeSingle(part, at, (starts.x & 1) != 0 ? begin : carried, bytes))
            return true;
        const uint32_t bits[kRounds] = {starts.x, starts.y, starts.z, starts.w};
        const uint32_t upTo = 0xffffffffu >> (31 - lane);
        constexpr uint32_t kOneByte = 1u << kRounds;
        int32_t from[kRounds];
        // words to be made byte by byte, and those of one byte
        uint32_t low[kRounds], high[kRounds], flags = 0;
        uint32_t words[kRounds / 2]; // halves
        bool overlaps = false, behind = false;
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r) {
            const int32_t mark = highest(bits[r] & upTo), last = highest(bits[r]),
                          round = begin + static_cast<int32_t>(32 * r);
            const int32_t word = mark >= 0 ? mark + round : carried, run = shared.run[word];
            words[r / 2] = r % 2 == 0 ? static_cast<uint32_t>(word)
                                      : words[r / 2] + static_cast<uint32_t>(word) * 0x10000;
            if (r + 1 < kRounds) carried = last >= 0 ? last + round : carried;
            const uint32_t to = first + 4 * kWarpSize * r;
            from[r] = static_cast<int32_t>(to) + (run >> 1);
            if (__any_sync(kAllLanes, run & 1)) {
                // A match that overlaps itself is, as far as it repeats, made of the bytes before
                // it.
                overlaps = true;
                if ((run & 1) != 0) {
                    const uint32_t offset = max(static_cast<uint32_t>(-(run >> 1)), 1u);
                    const uint32_t back = at - kBefore + to - shared.begin[word];
                    const uint32_t rest = modulo(back, offset);
                    from[r] -= static_cast<int32_t>(back - rest);
                    flags |= offset == 1 ? kOneByte << r : rest + 3 >= offset ? 1u << r : 0;
                }
            }
            loadWords(from[r], to, limit, zero, low[r], high[r]);
            behind = behind || from[r] >= limit;
        }
        const uint32_t twice = (pointers & 0xffff) * 0x10001u + 0x20000u;
        if (!overlaps) {
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r)
                storeWord(first + 4 * kWarpSize * r, from[r], low[r], high[r], twice, 0x4140,
                          0x4342, 0x40004);
        } else {
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r) {
                const bool one = (flags & kOneByte << r) != 0;
                storeWord(first + 4 * kWarpSize * r, from[r], low[r], high[r],
                          one ? twice - 0x20000u : twice, one ? 0x4040 : 0x4140,
                          one ? 0x4040 : 0x4342, one ? 0 : 0x40004);
            }
        }
        if (__any_sync(kAllLanes, static_cast<int>(behind || flags % kOneByte != 0))) {
            uint32_t made[kRounds][4] = {};
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r) { // all loads before any use; by all lanes, so
                                                     // that they stay together
                if (__any_sync(kAllLanes,
                               static_cast<int>((flags >> r & 1) != 0 || from[r] >= limit)))
                    slowWord(part, at, first + 4 * kWarpSize * r,
                             words[r / 2] >> r % 2 * 16 & 0xffff, zero, made[r]);
            }
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r) {
                if (__any_sync(kAllLanes,
                               static_cast<int>((flags >> r & 1) != 0 || from[r] >= limit)))
                    *reinterpret_cast<uint2*>(shared.made + first + 4 * kWarpSize * r) =
                        make_uint2(__byte_perm(made[r][0], made[r][1], 0x5410),
                                   __byte_perm(made[r][2], made[r][3], 0x5410));
            }
        }
        return false;
    }

    // What is known of a word: the bytes around `from`, chosen and widened, or their places.
    __device__ void storeWord(uint32_t to, int32_t from, uint32_t low, uint32_t high,
                              uint32_t places, uint32_t firsts, uint32_t seconds,
                              uint32_t further) const
    {
        const uint32_t value = __funnelshift_r(low, high, static_cast<uint32_t>(from) * 8);
        const uint32_t pair = static_cast<uint32_t>(from) * 0x20002u + places;
        const bool here = static_cast<uint32_t>(from) < to;
        *reinterpret_cast<uint2*>(shared.made + to) =
            make_uint2(here ? pair : __byte_perm(value, 0, firsts),
                       here ? pair + further : __byte_perm(value, 0, seconds));
    }

    // What is known of the first bytes, three at most, of a run that begins inside a word.
    struct Inside {
        uint32_t made[3];
    };
    __device__ Inside loadInside(uint32_t i, const uint8_t* zero) const
    {
        const int2 run = shared.inside[i];
        const int32_t bytes = run.x >> 16, delta = run.y;
        const uint32_t to = kBefore + (run.x & 0xffff), source = to + static_cast<uint32_t>(delta);
        // Of a match of an offset below 3 the bytes before it again.
        const uint32_t second = bytes > 1 && delta != -1 ? source + 1 : source;
        const uint32_t third = bytes > 2 && delta != -1 && delta != -2 ? source + 2 : source;
        return {{loadOrPoint(source, to, zero, pointers),
                 loadOrPoint(second, to + 1, zero, pointers),
                 loadOrPoint(third, to + 2, zero, pointers)}};
    }
    __device__ void storeInside(uint32_t i, const Inside& inside) const
    {
        const int32_t run = shared.inside[i].x;
        uint16_t* const made = shared.made + kBefore + (run & 0xffff);
        made[0] = static_cast<uint16_t>(inside.made[0]);
        if (run >= 2 << 16) made[1] = static_cast<uint16_t>(inside.made[1]);
        if (run >= 3 << 16) made[2] = static_cast<uint16_t>(inside.made[2]);
    }

    static constexpr int32_t kRepeatsByte = -1; // the run of a match of offset 1 that overlaps
                                                // itself
    static constexpr uint32_t kUnlimited = 0xffffffffu;
    // What is known of a word, byte by byte.
    __device__ void slowWord(const Part& part, uint32_t at, uint32_t to, uint32_t word,
                             const uint8_t* zero, uint32_t (&made)[4]) const
    {
        const uint32_t origin = part.begin + at - kBefore;
        const int32_t run = shared.run[word];
        const uint32_t own = to + static_cast<uint32_t>(run >> 1);
        const uint32_t back = at - kBefore + to - shared.begin[word];
        const uint32_t offset =
            (run & 1) != 0 ? max(static_cast<uint32_t>(-(run >> 1)), 1u) : kUnlimited;
        uint32_t rest = (run & 1) != 0 ? modulo(back, offset) : 0,
                 from = (run & 1) != 0 ? own - (back - rest) : own;
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            made[k] =
                loadOrPoint(origin + from < tile.size ? from : 0u - origin, to + k, zero, pointers);
            ++rest;
            from += rest == offset ? 1 - offset : 1;
            rest = rest == offset ? 0 : rest;
        }
    }

    // The bytes of the warp's piece at `at` of the part.
    __device__ void finish(const Part& part, uint32_t at, uint32_t (&bytes)[kRounds]) const
    {
        const uint16_t* const made = shared.made + firstPlace();
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
    // The chain of copies of each byte of a word, as long as one may be: in each 512 bytes `depth`
    // copies of others of them, and one that leaves them. The word is at `place` of `size` bytes.
    __device__ uint32_t chase(uint2 known, uint32_t size, uint32_t place) const
    {
        uint32_t made[4] = {lowHalf(known.x), highHalf(known.x), lowHalf(known.y),
                            highHalf(known.y)};
        const uint32_t most = Warps * (depth + 1);
#pragma unroll 1
        for (uint32_t step = 0; step < most; ++step) {
            if (step == depth) {
                bool inside = false;
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k)
                    inside = inside ||
                             (made[k] - pointers - 2 * (kBefore + kPiece * warp) < 2 * kPiece &&
                              place + k < size);
                if (inside) shared.tooDeep = 1;
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
            uint32_t* const words = global(reinterpret_cast<uint32_t*>(tile.destination + to));
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r)
                words[kWarpSize * r] = bytes[r];
        } else {
#pragma unroll 1
            for (uint32_t r = 0; r < kRounds; ++r)
                tile.store(to + 4 * kWarpSize * r,
                           r == 0   ? bytes[0]
                           : r == 1 ? bytes[1]
                           : r == 2 ? bytes[2]
                                    : bytes[3],
                           part.end);
        }
    }

    const Tile& tile;
    Shared& shared;
    const uint32_t warp;
    const uint32_t depth;
    const uint32_t pointers; // the address of what is known of the first byte, less kPointer
    uint32_t startsAt;       // the address of the marks
    uint32_t below;          // a bit for each lane below
};

// Of a part, by all threads.
template <uint32_t Warps>
__device__ uint32_t partStatus(const Tile& tile, TileShared<Warps>& shared, uint32_t part,
                               uint32_t mark)
{
    if (mark == 0) return tile.slot[SLUICE_GS_PARTS_AT + part];
    if (threadIdx.x == 0) shared.status = waitFor(tile.slot + SLUICE_GS_PARTS_AT + part, mark);
    __syncthreads();
    const uint32_t status = shared.status;
    __syncthreads();
    return status;
}
// Of the first of the parts from `from` on that is bad.
template <uint32_t Warps>
__device__ uint32_t partsStatus(const Tile& tile, TileShared<Warps>& shared, uint32_t from,
                                uint32_t parts, uint32_t mark)
{
    for (uint32_t i = from; i < parts; ++i) {
        const uint32_t status = partStatus(tile, shared, i, mark);
        if (status != SLUICE_ST_OK) return status;
    }
    return SLUICE_ST_OK;
}

// What is known of the parts of a tile whose header is good, by the first warp.
template <uint32_t Warps>
__device__ void loadParts(const Tile& tile, TileShared<Warps>& shared, uint32_t parts)
{
    const uint32_t lane = laneIndex(), entry = lane < parts ? tile.source[1 + lane] : 0;
    const uint32_t size = lane < parts ? (entry & 0xffff) + 1 : 0,
                   words = lane < parts ? (entry >> 16) + 1 : 0;
    PartHeader part = {};
    part.end = warpInclusiveSum(size);
    part.begin = part.end - size;
    part.first = 2 + 2 * parts + warpInclusiveSum(words) - words;
    if (lane >= parts) return;
    part.word = tile.word(part.first);
    if ((part.word & 3) == SLUICE_GS_CODED && words >= SLUICE_GS_PART_HEADER) {
        part.literalCount = tile.word(part.first + 1) | (part.word >> 12 & 1) << 16;
        part.sequences = tile.word(part.first + 2);
    }
    shared.parts[lane] = part;
}

template <uint32_t Warps>
__device__ uint32_t expandTile(const Tile& tile, TileShared<Warps>& shared, uint32_t mark)
{
    const bool byPart = mark != 0;
    const uint32_t header = tile.source[0], parts = (header & 15) + 1;
    if (uniform(warpIndex()) == 0) loadParts(tile, shared, parts);
    __syncthreads();
    uint32_t status = partsStatus(tile, shared, 0, byPart ? 1 : parts, mark);
    if (status != SLUICE_ST_OK) return status;
    Expander<Warps> expander(tile, shared, (header >> 4 & 7) + 1);
    for (uint32_t i = 0; i < parts; ++i) {
        Part part;
        static_cast<PartHeader&>(part) = shared.parts[i];
        if ((part.word & 3) == SLUICE_GS_RUN) {
            tile.template fill<Warps * kWarpSize>(part.begin, part.end, part.word >> 8);
        } else if ((part.word & 3) == SLUICE_GS_PLAIN) {
            tile.template copyPlain<Warps * kWarpSize>(part.begin, part.end, 2 * (part.first + 1));
        } else {
            part.records = reinterpret_cast<const uint2*>(tile.slot + SLUICE_GS_SEQUENCES_AT) +
                           part.begin / SLUICE_GS_BYTES_PER_SEQUENCE + i;
            part.literals = part.end - part.literalCount;
            expander.expand(part);
            if (shared.badOffset != 0) {
                status = partsStatus(tile, shared, i + 1, byPart ? parts : 0, mark);
                return status != SLUICE_ST_OK ? status : SLUICE_ST_BAD_OFFSET;
            }
        }
        __syncthreads();
        status = partsStatus(tile, shared, i + 1, byPart ? min(i + 2, parts) : 0, mark);
        if (status != SLUICE_ST_OK) return status;
    }
    return shared.tooDeep != 0 ? SLUICE_ST_LIMIT : SLUICE_ST_OK;
}

template <uint32_t Warps, uint32_t BlocksPerProcessor>
__global__ void __launch_bounds__(Warps* kWarpSize, BlocksPerProcessor)
    gstdExpandKernel(GstdTurnParams params)
{
    extern __shared__ __align__(16) unsigned char sharedBytes[]; // more than can be declared
    TileShared<Warps>& shared = *reinterpret_cast<TileShared<Warps>*>(sharedBytes);
    letNextLaunchBegin(); // the symbols of the next turn
    const uint32_t index = params.firstTile + blockIdx.x;
    const bool byPart = params.epoch != 0;
    if (index >= regionCount(params)) {
        if (byPart && blockIdx.x == 0) waitForPreviousLaunch();
        return;
    }
    uint32_t* const slot = pointerFrom<uint32_t>(params.scratch) +
                           static_cast<uint64_t>(blockIdx.x) * SLUICE_GS_SLOT_WORDS;
    if (threadIdx.x == 0) {
        shared.badOffset = shared.tooDeep = 0;
        shared.status = byPart ? waitFor(slot, params.epoch) : slot[0];
    }
    __syncthreads();
    const Region region = loadRegion(params, index);
    Tile tile;
    tile.size = static_cast<uint32_t>(region.decompressedSize);
    tile.slot = slot;
    uint32_t status = shared.status;
    __syncthreads();
    if (status == SLUICE_ST_OK) { // then the addresses are what they should be
        tile.source = globalPointer<const uint32_t>(region.source);
        tile.destination = globalPointer<uint8_t>(region.destination);
        if ((params.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0 &&
            region.compressedSize == region.decompressedSize) {
            tile.template copyPlain<Warps * kWarpSize>(0, tile.size, 0);
        } else {
            status = expandTile(tile, shared, params.epoch);
            // Parts that it has not come to still write to the slot.
            if (byPart && status != SLUICE_ST_OK && threadIdx.x <= (tile.source[0] & 15))
                waitFor(slot + SLUICE_GS_PARTS_AT + threadIdx.x, params.epoch);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (byPart) publish(slot + kDoneAt, params.epoch);
        __threadfence(); // who waits for the status reads the bytes
        writeStatus(params, index, status);
    }
    // what comes next may count on the symbols too
    if (byPart && blockIdx.x == 0) waitForPreviousLaunch();
}

// Many tiles: more of them at a time; few tiles: each in less time.
constexpr uint32_t kManyWarps = 8, kFewWarps = 16;
constexpr auto kManyKernel = gstdExpandKernel<kManyWarps, 5>;
constexpr auto kFewKernel = gstdExpandKernel<kFewWarps, 2>;
static_assert(sizeof(TileShared<kFewWarps>) <= 65536, "what all devices have for a block");

template <uint32_t Warps>
cudaError_t loadKernel(void (*kernel)(GstdTurnParams))
{
    const cudaError_t error = load(kernel);
    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                sizeof(TileShared<Warps>));
}
template <uint32_t Warps>
cudaError_t launchKernel(cudaStream_t stream, void (*kernel)(GstdTurnParams),
                         const GstdTurnParams& turn)
{
    return launch(stream, kernel, turn.tileCount, Warps * kWarpSize, turn,
                  sizeof(TileShared<Warps>), turn.epoch != 0);
}

} // namespace

cudaError_t loadGstdExpand()
{
    const cudaError_t error = loadKernel<kManyWarps>(kManyKernel);
    return error != cudaSuccess ? error : loadKernel<kFewWarps>(kFewKernel);
}

cudaError_t launchGstdExpand(cudaStream_t stream, const GstdTurnParams& turn, bool fewTiles)
{
    if (fewTiles) return launchKernel<kFewWarps>(stream, kFewKernel, turn);
    return launchKernel<kManyWarps>(stream, kManyKernel, turn);
}

} // namespace sluice
