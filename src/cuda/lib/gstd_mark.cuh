// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the runs of a group of a Gstd part (gstd_part.cuh explains group, piece, entry and run). A
// thread takes a sequence, whose record says where its literals and its match are. For each of
// these two runs, the thread marks the first whole word that the run has in the group. Up to three
// bytes of a run may come before that word, in a word that begins with bytes of another run. Such
// bytes go into the list m_shared.inside.
#pragma once

#include "cuda/lib/gstd_part.cuh"

#include <cstddef>

namespace sluice {

template <uint32_t Warps>
class GstdMarker {
    using Part = GstdPart;
    using Shared = GstdExpandShared<Warps>;
    static constexpr uint32_t kThreads = Warps * kWarpSize, kGroup = Shared::kGroup,
                              kMarks = Shared::kMarks, kMostInside = Shared::kMostInside;

public:
    __device__ explicit GstdMarker(Shared& shared)
        : m_shared(shared), m_warp(uniform(warpIndex())), m_startsAt(sharedAddress(shared.starts)),
          m_below(lanesBelow())
    {
        // Without this statement, the compiler computes these two members anew at each use.
        asm volatile("" : "+r"(m_startsAt), "+r"(m_below));
    }

    __device__ uint32_t warp() const { return m_warp; }
    __device__ void clearStarts() const
    {
        if (threadIdx.x <= kMarks) m_shared.starts[threadIdx.x] = 0;
    }
    // Finds, for each piece of the part, the sequence to which the piece's first byte belongs, and
    // stores its number in m_shared.first.
    __device__ void findFirst(const Part& part) const
    {
        const uint32_t pieces = (part.end - part.begin + kPiece - 1) / kPiece;
        if (threadIdx.x == 0) m_shared.first[pieces] = kNoEntry;
        const uint2* const records = global(part.records);
        constexpr uint32_t together = 4; // records that a thread loads at once
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i < part.sequences; i += together * kThreads) {
            uint32_t words[together], next[together];
#pragma unroll
            for (uint32_t k = 0; k < together; ++k) {
                const uint32_t own = min(i + k * kThreads, part.sequences - 1);
                words[k] = records[own].x;
                next[k] = records[own + 1].x;
            }
#pragma unroll
            for (uint32_t k = 0; k < together; ++k) {
                const uint32_t begin = words[k] & 0xffff;
                enter(min(i + k * kThreads, part.sequences - 1), begin,
                      begin + lengthOf(words[k], next[k]), pieces);
            }
        }
        if (threadIdx.x == kThreads - 1) {
            const uint32_t size = part.end - part.begin;
            const uint32_t tail =
                size - (part.literalCount - (part.records[part.sequences].x >> 16));
            m_shared.tail = tail;
            enter(part.sequences, tail, size, pieces);
        }
    }

    // Loads one record per thread. Thread 0 gets that of the sequence that makes byte `at` of the
    // part, which is the first byte of a group; other threads get those of the sequences behind it.
    // Returns both words of the record, and the first word of the next record.
    __device__ uint3 load(const Part& part, uint32_t at) const
    {
        return at < part.end - part.begin
                   ? loadFrom(part, m_shared.first[at / kPiece] + threadIdx.x)
                   : make_uint3(0, 0, 0);
    }

    // Marks the runs of the group at byte `at` of the part. `words` is what load() returned for
    // that group. `half` (0 or 1) selects the counter of runs that begin inside a word
    // (m_shared.insideCount); it alternates from group to group.
    __device__ void mark(const Part& part, uint32_t at, uint3 words, uint32_t half) const
    {
        const uint32_t size = part.end - part.begin, end = min(kGroup, size - at);
        const uint32_t last = min(
            at + kGroup < size ? m_shared.first[(at + kGroup) / kPiece] : kNoEntry, part.sequences);
        const uint32_t first = uniform(m_shared.first[at / kPiece]) + kWarpSize * m_warp,
                       turns = uniform(last + kWarpSize);
#pragma unroll 1
        for (uint32_t turn = first; turn + kWarpSize <= turns; turn += kThreads) {
            const uint32_t i = turn + laneIndex();
            uint3 after = make_uint3(0, 0, 0);
            if (turn + kThreads + kWarpSize <= turns) after = loadFrom(part, i + kThreads);
            const bool here = i < part.sequences;
            const uint32_t begin = words.x & 0xffff, literal = words.x >> 16, offset = words.y;
            const uint32_t match = begin + (((words.z >> 16) - literal) & 0xffff);
            // Positions relative to the group's beginning. In threads without a sequence they lie
            // behind the group, so that nothing is marked.
            const int32_t from = static_cast<int32_t>(here ? begin - at : end + 1);
            const int32_t between = static_cast<int32_t>(match - begin) + from;
            const int32_t to = static_cast<int32_t>(lengthOf(words.x, words.z)) + from;
            const bool wrong = offset - 1 >= part.begin + match;
            if (wrong && here && between < static_cast<int32_t>(end))
                storeShared(m_startsAt + kBadOffsetAt, 1);
            const uint32_t overlaps = static_cast<uint32_t>(to - between) > offset ? 1 : 0;
            put(half, end, from, between, to,
                static_cast<int32_t>(part.literals - part.begin + literal - begin),
                wrong ? 0 : -static_cast<int32_t>(offset), overlaps, match);
            words = after;
        }
        // The literals behind the last sequence are a run, too. They are in their places already,
        // so the distance to their source is 0.
        if (m_warp == 0 && part.tail < at + end) {
            const int32_t from = static_cast<int32_t>(laneIndex() == 0 ? part.tail - at : end + 1);
            put(half, end, from, static_cast<int32_t>(end), static_cast<int32_t>(end), 0, 0, 0, 0);
        }
    }

private:
    // Sequence i makes the bytes [begin, next) of the part. Stores i in m_shared.first for each
    // piece whose first byte is one of these bytes.
    __device__ void enter(uint32_t i, uint32_t begin, uint32_t next, uint32_t pieces) const
    {
        const uint32_t end = min((next + kPiece - 1) / kPiece, pieces);
#pragma unroll 1
        for (uint32_t piece = (begin + kPiece - 1) / kPiece; piece < end; ++piece)
            m_shared.first[piece] = i;
    }
    // Returns how many bytes a sequence makes. `word` and `next` are the first words of its record
    // and of the next record, which have positions of 16 bits. A sequence makes 1 to 65,536 bytes,
    // so a difference of 0 stands for 65,536.
    __device__ static uint32_t lengthOf(uint32_t word, uint32_t next)
    {
        return ((next - word - 1) & 0xffff) + 1;
    }
    __device__ static uint3 loadFrom(const Part& part, uint32_t i)
    {
        const uint2* record = part.records;
        // Without this statement, the compiler keeps the address as a sum of uniform registers, and
        // moves these to registers of each lane for every load.
        asm volatile("" : "+l"(record));
        record = global(record) + i;
        const bool here = i < part.sequences;
        const uint2 words = here ? record[0] : make_uint2(0, 0);
        return make_uint3(words.x, words.y, here ? record[1].x : 0);
    }
    // Marks two runs as far as they lie in bytes [0, end) of the group: the literals [from,
    // between), whose sources are `literalDelta` bytes away, and the match [between, to), whose
    // sources are `matchDelta` bytes away. `overlaps` is 1 if the match is longer than its offset.
    // Then `match` is the byte of the part at which the match begins; otherwise it is not used.
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
            const int32_t word = (first[k] + 3) & ~3; // the byte of the run's first whole word
            const uint32_t bit = 1u << (static_cast<uint32_t>(word) / 4 & 31);
            const uint32_t flag = k == 1 ? overlaps : 0;
            putWord(m_startsAt, word, last[k], bit, 2 * delta[k] + static_cast<int32_t>(flag));
            if (k == 1 && flag != 0 && word < last[k])
                m_shared.begin[word / 4] = static_cast<uint16_t>(match);
            inside[k] = first[k] % 4 != 0 && first[k] < last[k];
            bytes[k] = min(word, last[k]) - first[k];
            lanes[k] = __ballot_sync(kAllLanes, inside[k]);
        }
        if ((lanes[0] | lanes[1]) == 0) return;
        const uint32_t firsts = static_cast<uint32_t>(__popc(lanes[0]));
        uint32_t rank = 0;
        if (laneIndex() == 0)
            rank = addShared(m_startsAt + kCountAt + 4 * half + m_below,
                             firsts + static_cast<uint32_t>(__popc(lanes[1])));
        rank = __shfl_sync(kAllLanes, rank, 0);
#pragma unroll
        for (uint32_t k = 0; k < 2; ++k) {
            const uint32_t place =
                rank + (k != 0 ? firsts : 0) + static_cast<uint32_t>(__popc(lanes[k] & m_below));
            if (inside[k] && place < kMostInside)
                m_shared.inside[place] = make_int2(first[k] + bytes[k] * 0x10000, delta[k]);
        }
    }
    // If word < last, stores `run` for the word at byte `word` of the group, and sets the word's
    // mark, `bit`. `starts` is the address of the marks in shared memory.
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
    // Adds `value` at an address in shared memory and returns what was there; one lane calls this.
    // For atomicAdd() the compiler would first add up the values of all lanes of the warp. It would
    // do so here too if it knew that the address is uniform. To hide that, the caller adds m_below,
    // which is 0 in lane 0.
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

    Shared& m_shared;
    const uint32_t m_warp;
    uint32_t m_startsAt; // the address of m_shared.starts in shared memory
    uint32_t m_below;    // mask of the lanes below this one
};

} // namespace sluice
