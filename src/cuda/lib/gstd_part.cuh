// SPDX-License-Identifier: MIT OR Apache-2.0
// The state of a block that makes the bytes of a part of a Gstd tile (gstd_expand.cu).
#pragma once

#include "cuda/lib/gstd_tile.cuh"
#include "cuda/lib/launch.cuh"

namespace sluice {

constexpr uint32_t kPiece = SLUICE_GS_GROUP;                // bytes that a warp makes at once
constexpr uint32_t kWords = kPiece / 4;                     // of a piece
constexpr uint32_t kRounds = kWords / kWarpSize;            // words of a lane
constexpr uint32_t kPieces = SLUICE_GS_PART_BYTES / kPiece; // of a part
constexpr uint32_t kBefore = 4;                             // values in front of a group's
constexpr uint32_t kNoEntry = 0xffffffffu;
// A byte of a group is known by its value or, as a negative number, by the address in shared memory
// of what is known of the byte that it copies, less this.
constexpr int32_t kPointer = 0x8000;

// A part's properties from its header; the counts are valid only if it is coded. Its entries are
// its sequences, each with literals and a match, and the literals behind them.
struct GstdPartHeader {
    uint32_t begin, end; // address of its output
    uint32_t first;      // where its words begin
    uint32_t word;       // the first of them
    uint32_t literalCount, sequences;
};

struct GstdPart : GstdPartHeader {
    const uint2* records; // its sequences
    uint32_t literals;    // where in the output they stand until they are used
    uint32_t tail;        // where in the part the literals behind the sequences begin
};

template <uint32_t Warps>
struct GstdExpandShared {
    static constexpr uint32_t kGroup = kPiece * Warps;  // bytes of all warps
    static constexpr uint32_t kMarks = kRounds * Warps; // words that have a bit for each word of a
                                                        // group
    // A match has at least three bytes, so at most two of four bytes begin runs.
    static constexpr uint32_t kMostInside = kGroup / 2 + 2;
    static_assert(kMarks % kWarpSize == 0 && kRounds == 4 && kGroup < 1u << 16,
                  "16 bytes; half a word for a place");

    __align__(16) uint16_t made[kBefore + kGroup];
    // A bit for each word whose first byte belongs to another run than the word before; also for
    // the word behind the group.
    __align__(16) uint32_t starts[kMarks + 4];
    // For each marked word, the distance of its run's source times 2, plus 1 if the run overlaps
    // its source; in that case also where in the part the run begins.
    int32_t run[kGroup / 4 + 1];
    uint16_t begin[kGroup / 4 + 1];
    // Runs that begin inside a word: where they begin and, in the upper half, how many bytes of the
    // word they have; and the distance of their source.
    __align__(8) int2 inside[kMostInside];
    uint32_t insideCount[2];     // of this group and the next
    uint32_t before;             // the four bytes before a group
    uint32_t first[kPieces + 1]; // the entry that each piece of a part begins with, followed by
                                 // kNoEntry
    GstdPartHeader parts[SLUICE_GS_MAX_PARTS];
    uint32_t tail; // of the part
    uint32_t badOffset, tooDeep;
    uint32_t status; // that all threads have waited for
};

struct GstdExpandTile : GstdTile {
    const uint32_t* slot;
    uint32_t size;

    template <uint32_t Threads>
    __device__ void fill(uint32_t begin, uint32_t end, uint32_t value) const
    {
        for (uint32_t at = begin + 4 * threadIdx.x; at < end; at += 4 * Threads)
            store(at, value * 0x01010101u, end);
    }
    // Copies bytes of the source, from byte `from` on, an even number.
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

} // namespace sluice
