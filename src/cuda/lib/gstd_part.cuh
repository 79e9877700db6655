// SPDX-License-Identifier: MIT OR Apache-2.0
// The shared memory of a block that makes the bytes of a Gstd part (gstd_expand.cu).
//
// Words of the gstd_*.cuh files:
// - sequence: some literals and the match behind them. SLUICE_GS_SEQUENCES_AT (layout/gstd.h)
//   describes its record in scratch.
// - run: literals or a match, that is, neighbouring bytes whose sources are neighbours too.
// - group: the bytes of a part that the block makes at once, 4,096 or 8,192.
// - piece: the 512 bytes of a group that a warp makes; these are the groups of the format.
// - round: a lane makes kRounds words of a piece, one in each round.
// - entry of a byte: its value (0 .. 255) or, if it copies another byte of the group, a negative
//   number that refers to the entry of that byte.
#pragma once

#include "cuda/lib/gstd_tile.cuh"
#include "cuda/lib/launch.cuh"

namespace sluice {

constexpr uint32_t kPiece = SLUICE_GS_GROUP;                // a warp makes this many bytes at once
constexpr uint32_t kWords = kPiece / 4;                     // words of a piece
constexpr uint32_t kRounds = kWords / kWarpSize;            // words that a lane makes of a piece
constexpr uint32_t kPieces = SLUICE_GS_PART_BYTES / kPiece; // most pieces of a part
constexpr uint32_t kBefore = 4; // this many bytes before a group have entries too
constexpr uint32_t kNoEntry = 0xffffffffu;
// A byte's entry is its value or, if it copies another byte of the group, the shared memory address
// of that byte's entry, minus kPointer. As a 16-bit number, this difference is negative.
constexpr int32_t kPointer = 0x8000;

// Holds what a part's header says. The counts are valid only if the part is coded.
struct GstdPartHeader {
    uint32_t begin, end; // the part makes the bytes [begin, end) of the tile
    uint32_t first;      // the 16-bit word of the tile's source at which the part begins
    uint32_t word;       // the part's first word, which has its kind in bits 0 and 1
    uint32_t literalCount, sequences;
};

struct GstdPart : GstdPartHeader {
    const uint2* records; // the records of its sequences
    uint32_t literals;    // the byte of the tile at which its literals stand until they are used
    uint32_t tail; // the byte of the part at which the literals behind the last sequence begin
};

template <uint32_t Warps>
struct GstdExpandShared {
    static constexpr uint32_t kGroup = kPiece * Warps; // a piece for each warp
    // This many words hold a bit for each word of the group.
    static constexpr uint32_t kMarks = kRounds * Warps;
    // Matches have at least three bytes, and between two runs of literals there is a match. So at
    // most two runs begin inside four neighbouring bytes.
    static constexpr uint32_t kMostInside = kGroup / 2 + 2;
    static_assert(kMarks % kWarpSize == 0 && kRounds == 4 && kGroup < 1u << 16,
                  "16 bytes; half a word for a place");

    // The entries of the group's bytes and of the kBefore bytes before the group.
    __align__(16) uint16_t made[kBefore + kGroup];
    // The marks: a bit for each word of the group, set if it is the first whole word that a run has
    // in the group. The word behind the group has a bit too.
    __align__(16) uint32_t starts[kMarks + 4];
    // For each marked word: twice the distance from a byte of its run to the byte's source, a
    // signed number, plus 1 if the run is a match longer than its offset. In that case `begin` is
    // the byte of the part at which the run begins.
    int32_t run[kGroup / 4 + 1];
    uint16_t begin[kGroup / 4 + 1];
    // Runs that begin inside a word. x is the byte of the group at which the run begins and, from
    // bit 16 on, how many bytes the run has in that word; y is the distance from a byte to its
    // source.
    __align__(8) int2 inside[kMostInside];
    uint32_t insideCount[2]; // the length of `inside`, for this group and for the next
    uint32_t before;         // the values of the four bytes before the group
    // For each piece of the part, the sequence to which its first byte belongs. kNoEntry follows
    // the last piece.
    uint32_t first[kPieces + 1];
    GstdPartHeader parts[SLUICE_GS_MAX_PARTS];
    uint32_t tail; // GstdPart::tail
    uint32_t badOffset, tooDeep;
    uint32_t status; // a part's status, which one thread has read for all
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
    // Copies bytes of the source, from byte `from` on, to bytes [begin, end) of the tile. `from` is
    // even.
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
