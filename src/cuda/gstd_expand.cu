// SPDX-License-Identifier: MIT OR Apache-2.0
// From the symbols of Gstd tiles to their bytes, 2,048 of a tile at once; the method is told in shaders/gstd_expand.comp, of
// which this is the native twin. Where all tiles are at work at once a part is begun as soon as its symbols are known.
#include "kernels.h"
#include "lib/gstd_tile.cuh"
#include "lib/launch.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

#include "../api/gstd_params.h"

namespace sluice {
namespace {

#ifndef SLUICE_GX_WARPS
#define SLUICE_GX_WARPS 8
#define SLUICE_GX_BLOCKS 4
#endif
constexpr uint32_t kWarps = SLUICE_GX_WARPS, kThreads = kWarps * kWarpSize, kBlocksPerProcessor = SLUICE_GX_BLOCKS;
constexpr uint32_t kPiece = SLUICE_GS_GROUP, kGroup = kPiece * kWarps; // bytes of a warp; of all, which are made at once
constexpr uint32_t kWords = kPiece / 4, kRounds = kWords / kWarpSize;  // of a warp; of a lane
constexpr uint32_t kPieces = SLUICE_GS_PART_BYTES / kPiece;            // of a part
// A match has three bytes at least, so of four bytes two begin runs at most.
constexpr uint32_t kMostRuns = kPiece / 2 + 2, kMostTurns = (kPiece / SLUICE_GS_MIN_MATCH + 2) / kWarpSize + 1;
constexpr uint32_t kBefore = 8; // values in front of those of a group; the last three may be pointed at
// What is known of a byte of a group: its value, or, negative, the address in shared memory of what is known of the byte
// that it copies, less this.
constexpr int32_t kPointer = 0x8000;

// Of the bytes that a warp makes.
struct PieceShared {
    uint32_t starts[kRounds]; // a bit for each word whose first byte belongs to another run than that of the word before
    int32_t run[kWords];      // of such words: how far the source is, times 2, and whether the run overlaps it
    int32_t begin[kWords];    // then: where it begins
    // Runs that begin inside a word: place, 9 bits; how many bytes it has of the word, 2; from bit 12 on how far the source is
    uint32_t inside[kMostRuns];
};

struct TileShared {
    __align__(16) uint16_t made[kBefore + kGroup];
    __align__(16) PieceShared pieces[kWarps];
    uint16_t first[kPieces + 1]; // the entry that each piece of a part begins with
    uint32_t badOffset, tooDeep;
    uint32_t status; // of what was waited for
};

struct Tile : GstdTile {
    const uint32_t* slot;
    uint32_t size;

    __device__ void fill(uint32_t begin, uint32_t end, uint32_t value) const
    {
        for (uint32_t at = begin + 4 * threadIdx.x; at < end; at += 4 * kThreads) store(at, value * 0x01010101u, end);
    }
    // From byte `from` of the source on, an even number.
    __device__ void copyPlain(uint32_t begin, uint32_t end, uint32_t from) const
    {
        for (uint32_t at = begin + 4 * threadIdx.x; at < end; at += 4 * kThreads) {
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

// A coded part. Entries are its sequences, literals and a match each, and the literals behind them.
struct Part {
    uint32_t begin, end;  // of its output
    uint32_t entries;     // sequences
    const uint2* records; // where they stand
    uint32_t literalCount, literals; // where in the output they stand until they are used
};

class Expander {
public:
    __device__ Expander(const Tile& whole, TileShared& use, uint32_t depthLimit)
        : tile(whole), shared(use), warp(uniform(warpIndex())), own(use.pieces[warp]), depth(depthLimit),
          pointers(static_cast<uint32_t>(__cvta_generic_to_shared(use.made + kBefore)) - kPointer)
    {
    }

    // All threads come here in step.
    __device__ void expand(const Part& part)
    {
        const uint32_t size = part.end - part.begin;
        findFirst(part);
        __syncthreads();
        uint32_t at = kPiece * warp; // of the part: where the warp's piece begins
        uint3 words = load(part, at);
        for (uint32_t group = 0; group < size; group += kGroup, at += kGroup) {
            if (at < size) mark(part, at, words);
            __syncthreads(); // the bytes before
            words = load(part, at + kGroup);
            if (group != 0 || part.begin != 0) bringBefore(part.begin + group);
            if (at < size) make(part, group);
            __syncthreads();
            if (at < size) finish(part, at);
        }
        __syncthreads();
    }

private:
    // Where entry i begins: in the part, and among the literals.
    __device__ static uint32_t wordOf(const Part& part, uint32_t i)
    {
        return i <= part.entries ? part.records[i].x : 0;
    }
    __device__ static uint32_t beginOf(const Part& part, uint32_t i, uint32_t word)
    {
        const uint32_t size = part.end - part.begin;
        return i < part.entries ? word & 0xffff : i == part.entries ? size - (part.literalCount - (word >> 16)) : size;
    }
    __device__ void findFirst(const Part& part) const
    {
        const uint32_t pieces = (part.end - part.begin + kPiece - 1) / kPiece;
#pragma unroll 2
        for (uint32_t i = threadIdx.x; i <= part.entries; i += kThreads) {
            const uint32_t begin = beginOf(part, i, wordOf(part, i)), next = beginOf(part, i + 1, wordOf(part, i + 1));
            const uint32_t end = min((next + kPiece - 1) / kPiece, pieces);
            for (uint32_t piece = (begin + kPiece - 1) / kPiece; piece < end; ++piece)
                shared.first[piece] = static_cast<uint16_t>(i);
        }
    }

    // The first entries that meet the piece at `at`, one a lane: both words, and the first of the next.
    __device__ uint3 load(const Part& part, uint32_t at) const
    {
        return at < part.end - part.begin ? loadFrom(part, shared.first[at / kPiece] + laneIndex()) : make_uint3(0, 0, 0);
    }
    __device__ static uint3 loadFrom(const Part& part, uint32_t i)
    {
        const uint2 words = i <= part.entries ? part.records[i] : make_uint2(0, 0);
        return make_uint3(words.x, words.y, wordOf(part, i + 1));
    }

    // The runs of the piece at `at`.
    __device__ void mark(const Part& part, uint32_t at, uint3 words)
    {
        const uint32_t size = part.end - part.begin, end = min(at + kPiece, size);
        if (laneIndex() < kRounds) own.starts[laneIndex()] = 0;
        insideCount = 0;
        __syncwarp();
        uint32_t i = shared.first[at / kPiece] + laneIndex();
#pragma unroll 1
        for (uint32_t turn = 0; turn < kMostTurns; ++turn) {
            const uint32_t literal = words.x >> 16, nextLiteral = words.z >> 16;
            const uint32_t begin = beginOf(part, i, words.x), next = beginOf(part, i + 1, words.z);
            const uint32_t match = i < part.entries ? begin + ((nextLiteral - literal) & 0xffff) : next;
            const int32_t literalDelta = static_cast<int32_t>(part.literals + literal - (part.begin + begin));
            const uint32_t offset = words.y;
            const bool bad = match < end && next > match && (offset == 0 || offset > part.begin + match);
            if (bad) shared.badOffset = 1;
            const int32_t matchDelta = bad ? 0 : -static_cast<int32_t>(offset);
            uint32_t from = max(begin, at), to = min(match, end);
            put(at, from, to, literalDelta, 0, 0);
            from = max(match, at);
            to = min(next, end);
            put(at, from, to, matchDelta, next - match > offset ? 1 : 0, match);
            if (__any_sync(kAllLanes, next >= end)) break;
            i += kWarpSize;
            words = loadFrom(part, i);
        }
        __syncwarp();
    }
    __device__ void put(uint32_t at, uint32_t from, uint32_t to, int32_t delta, uint32_t overlaps, uint32_t begin)
    {
        const uint32_t place = from - at, word = (place + 3) / 4, last = to - at;
        const bool any = from < to;
        if (any && 4 * word < last) {
            atomicOr(&own.starts[word / 32], 1u << word % 32);
            own.run[word] = 2 * delta | static_cast<int32_t>(overlaps);
            if (overlaps != 0) own.begin[word] = static_cast<int32_t>(begin);
        }
        const bool inside = any && place % 4 != 0;
        const uint32_t lanes = __ballot_sync(kAllLanes, inside);
        const uint32_t rank = insideCount + static_cast<uint32_t>(__popc(lanes & lanesBelow()));
        if (inside && rank < kMostRuns)
            own.inside[rank] = place | (min(4 * word, last) - place) << 9 | static_cast<uint32_t>(delta) << 12;
        insideCount += static_cast<uint32_t>(__popc(lanes));
    }

    // value < 2^16, 0 < divisor < 2^18: the quotient of floats is at most one off. Anything of others.
    __device__ static uint32_t modulo(uint32_t value, uint32_t divisor)
    {
        const uint32_t quotient = static_cast<uint32_t>(__fdividef(static_cast<float>(value), static_cast<float>(divisor)));
        const uint32_t rest = value - quotient * divisor;
        return min(rest, min(rest + divisor, rest - divisor));
    }

    // Of a byte that copies one of the group at `from`, which stands before it, else its value from memory. The compiler
    // puts waiting for values, and more comparisons, between such loads.
    __device__ static uint32_t loadOrPoint(uint32_t from, uint32_t to, const uint8_t* group, uint32_t pointers)
    {
        uint32_t result;
        asm volatile("{ .reg .pred p; .reg .s64 at; setp.lt.u32 p, %1, %2; mad.wide.s32 at, %1, 1, %3;"
                     " @p mad.lo.s32 %0, %1, 2, %4; @!p ld.global.u8 %0, [at]; }"
                     : "=r"(result)
                     : "r"(from), "r"(to), "l"(group), "r"(pointers)
                     : "memory");
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
    __device__ void bringBefore(uint32_t begin) const
    {
        if (threadIdx.x == 0) {
            const uint32_t word = *global(reinterpret_cast<const uint32_t*>(tile.destination + begin - 4));
            uint32_t* const to = reinterpret_cast<uint32_t*>(shared.made) + kBefore / 2;
            to[-2] = __byte_perm(word, 0, 0x4140);
            to[-1] = __byte_perm(word, 0, 0x4342);
        }
    }

    // What is known of the bytes of the warp's piece of the group at `at`.
    __device__ void make(const Part& part, uint32_t at) const
    {
        const uint32_t group = part.begin + at, lane = laneIndex(), before = kPiece * warp;
        uint8_t* const bytes = tile.destination + group;
        const uint32_t* const words = reinterpret_cast<const uint32_t*>(bytes);
        // Behind this, words of memory would not be whole or not there.
        const int32_t limit = static_cast<int32_t>(tile.size & ~3u) - 4 - static_cast<int32_t>(group);
        const uint4 starts = *reinterpret_cast<const uint4*>(own.starts);
        const uint32_t bits[kRounds] = {starts.x, starts.y, starts.z, starts.w};
        const uint32_t upTo = 0xffffffffu >> (31 - lane);
        uint32_t carried = 0;
        int32_t runs[kRounds], from[kRounds];
        uint32_t places[kRounds], low[kRounds], high[kRounds];
        uint32_t slow = 0;
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r) {
            const uint32_t marks = bits[r] & upTo;
            places[r] = marks != 0 ? 32 * r + highestBit(marks) : carried;
            carried = bits[r] != 0 ? 32 * r + highestBit(bits[r]) : carried;
            runs[r] = own.run[places[r]];
            const uint32_t to = before + 4 * (32 * r + lane);
            from[r] = static_cast<int32_t>(to) + (runs[r] >> 1);
            if ((runs[r] & 1) != 0 || from[r] >= limit) slow |= 1u << r;
            const bool here = static_cast<uint32_t>(from[r]) + 3 < to + 3;
            low[r] = high[r] = 0;
            if (!here && (slow >> r & 1) == 0) {
                const uint32_t* const source = global(words) + (from[r] >> 2);
                low[r] = source[0];
                high[r] = source[1];
            }
        }
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r) {
            const uint32_t to = before + 4 * (32 * r + lane);
            const bool here = static_cast<uint32_t>(from[r]) + 3 < to + 3;
            const uint32_t value = __funnelshift_r(low[r], high[r], static_cast<uint32_t>(from[r]) * 8);
            const uint32_t pair = ((static_cast<uint32_t>(from[r]) * 2 + pointers) & 0xffff) * 0x10001u + 0x20000u;
            uint2 known = here ? make_uint2(pair, pair + 0x40004u)
                               : make_uint2(__byte_perm(value, 0, 0x4140), __byte_perm(value, 0, 0x4342));
            if (__any_sync(kAllLanes, static_cast<int>(slow >> r & 1))) {
                if ((slow >> r & 1) != 0) known = makeWord(part, at, to, runs[r], places[r], bytes);
            }
            *reinterpret_cast<uint2*>(shared.made + kBefore + to) = known;
        }
        __syncwarp();
#pragma unroll 1
        for (uint32_t i = lane; i < min(insideCount, kMostRuns); i += kWarpSize) {
            const uint32_t run = own.inside[i], count = run >> 9 & 3;
            const int32_t delta = static_cast<int32_t>(run) >> 12;
            const uint32_t to = before + run % 512, source = to + static_cast<uint32_t>(delta);
            // Of a match of an offset below 3 the bytes before it again.
            const uint32_t second = source + (delta == -1 ? 0 : 1);
            const uint32_t third = delta == -1 || delta == -2 ? source : source + 2;
            uint16_t* const made = shared.made + kBefore + to;
            const uint32_t a = loadOrPoint(source, to, bytes, pointers);
            const uint32_t b = count > 1 ? loadOrPoint(second, to + 1, bytes, pointers) : 0;
            const uint32_t c = count > 2 ? loadOrPoint(third, to + 2, bytes, pointers) : 0;
            made[0] = static_cast<uint16_t>(a);
            if (count > 1) made[1] = static_cast<uint16_t>(b);
            if (count > 2) made[2] = static_cast<uint16_t>(c);
        }
    }
    // The same of one word, byte by byte: a match that overlaps itself is, as far as it repeats, made of the bytes before it.
    __device__ uint2 makeWord(const Part& part, uint32_t at, uint32_t to, int32_t run, uint32_t place, const uint8_t* bytes) const
    {
        const uint32_t group = part.begin + at;
        uint32_t rest = 0, offset = kUnlimited, from = to + static_cast<uint32_t>(run >> 1);
        if ((run & 1) != 0) {
            offset = max(static_cast<uint32_t>(-(run >> 1)), 1u);
            const uint32_t back = at + to - static_cast<uint32_t>(own.begin[place]);
            rest = modulo(back, offset);
            from -= back - rest;
        }
        uint32_t made[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            const bool there = group + from < tile.size || from < to + k;
            made[k] = loadOrPoint(there ? from : 0u - group, to + k, bytes, pointers);
            ++rest;
            from += rest == offset ? 1 - offset : 1;
            rest = rest == offset ? 0 : rest;
        }
        return make_uint2(__byte_perm(made[0], made[1], 0x5410), __byte_perm(made[2], made[3], 0x5410));
    }
    static constexpr uint32_t kUnlimited = 0xffffffffu;

    // The bytes of the warp's piece at `at` of the part.
    __device__ void finish(const Part& part, uint32_t at) const
    {
        const uint32_t lane = laneIndex(), before = kPiece * warp;
        uint32_t pairs[2 * kRounds], bytes[kRounds], any = 0;
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r) {
            const uint2 known = *reinterpret_cast<const uint2*>(shared.made + kBefore + before + 4 * (32 * r + lane));
            pairs[2 * r] = known.x;
            pairs[2 * r + 1] = known.y;
            any |= known.x | known.y;
        }
        if (__any_sync(kAllLanes, (any & 0x80008000u) != 0)) {
            chase(part, at, pairs);
        }
#pragma unroll
        for (uint32_t r = 0; r < kRounds; ++r) {
            bytes[r] = __byte_perm(pairs[2 * r], pairs[2 * r + 1], 0x6420);
        }
        const uint32_t to = part.begin + at + 4 * lane;
        if (at + kPiece <= part.end - part.begin) {
            uint32_t* const words = global(reinterpret_cast<uint32_t*>(tile.destination + to));
#pragma unroll
            for (uint32_t r = 0; r < kRounds; ++r) words[kWarpSize * r] = bytes[r];
        } else {
#pragma unroll 1
            for (uint32_t r = 0; r < kRounds; ++r) {
                const uint32_t word = r == 0 ? bytes[0] : r == 1 ? bytes[1] : r == 2 ? bytes[2] : bytes[3];
                tile.store(to + 4 * kWarpSize * r, word, part.end);
            }
        }
    }
    // The chain of copies of each byte, all at once, as long as one may be: in each 512 bytes `depth` copies of others
    // of them, and one that leaves them.
    __device__ void chase(const Part& part, uint32_t at, uint32_t (&pairs)[2 * kRounds]) const
    {
        uint32_t made[4 * kRounds];
#pragma unroll
        for (uint32_t k = 0; k < 2 * kRounds; ++k) {
            made[2 * k] = static_cast<uint32_t>(static_cast<int32_t>(pairs[k] << 16) >> 16);
            made[2 * k + 1] = static_cast<uint32_t>(static_cast<int32_t>(pairs[k]) >> 16);
        }
        const uint32_t most = kWarps * (depth + 1);
#pragma unroll 1
        for (uint32_t step = 0; step < most; ++step) {
            if (step == depth) {
                bool inside = false;
#pragma unroll
                for (uint32_t k = 0; k < 4 * kRounds; ++k) {
                    const uint32_t place = 4 * (kWarpSize * (k / 4) + laneIndex()) + k % 4;
                    inside = inside || (made[k] - pointers - 2 * kPiece * warp < 2 * kPiece && at + place < part.end - part.begin);
                }
                if (inside) shared.tooDeep = 1;
            }
            uint32_t any = 0;
#pragma unroll
            for (uint32_t k = 0; k < 4 * kRounds; ++k) follow(made[k]);
#pragma unroll
            for (uint32_t k = 0; k < 4 * kRounds; ++k) any |= made[k];
            if (static_cast<int32_t>(any) >= 0) break;
        }
#pragma unroll
        for (uint32_t k = 0; k < 2 * kRounds; ++k) pairs[k] = __byte_perm(made[2 * k], made[2 * k + 1], 0x5410);
    }

    const Tile& tile;
    TileShared& shared;
    const uint32_t warp;
    PieceShared& own;
    uint32_t depth;
    uint32_t pointers;
    uint32_t insideCount = 0;
};

// Of a part, by all threads.
__device__ uint32_t partStatus(const Tile& tile, TileShared& shared, uint32_t part, bool byPart)
{
    if (!byPart) return tile.slot[SLUICE_GS_PARTS_AT + part];
    if (threadIdx.x == 0) shared.status = waitFor(tile.slot + SLUICE_GS_PARTS_AT + part);
    __syncthreads();
    const uint32_t status = shared.status;
    __syncthreads();
    return status;
}
// Of the first of the parts from `from` on that is bad.
__device__ uint32_t partsStatus(const Tile& tile, TileShared& shared, uint32_t from, uint32_t parts, bool byPart)
{
    for (uint32_t i = from; i < parts; ++i) {
        const uint32_t status = partStatus(tile, shared, i, byPart);
        if (status != SLUICE_ST_OK) return status;
    }
    return SLUICE_ST_OK;
}

__device__ uint32_t expandTile(const Tile& tile, TileShared& shared, bool byPart)
{
    const uint32_t header = tile.source[0], parts = (header & 15) + 1;
    uint32_t status = partsStatus(tile, shared, 0, byPart ? 1 : parts, byPart);
    if (status != SLUICE_ST_OK) return status;
    Expander expander(tile, shared, (header >> 4 & 7) + 1);
    uint32_t begin = 0, first = 2 + 2 * parts;
    for (uint32_t i = 0; i < parts; ++i) {
        const uint32_t entry = tile.source[1 + i], w0 = tile.word(first), end = begin + (entry & 0xffff) + 1;
        if ((w0 & 3) == SLUICE_GS_RUN) {
            tile.fill(begin, end, w0 >> 8);
        } else if ((w0 & 3) == SLUICE_GS_PLAIN) {
            tile.copyPlain(begin, end, 2 * (first + 1));
        } else {
            Part part;
            part.begin = begin;
            part.end = end;
            part.entries = tile.word(first + 2);
            part.records = reinterpret_cast<const uint2*>(tile.slot + SLUICE_GS_SEQUENCES_AT) +
                           begin / SLUICE_GS_BYTES_PER_SEQUENCE + i;
            part.literalCount = tile.word(first + 1) | (w0 >> 12 & 1) << 16;
            part.literals = end - part.literalCount;
            expander.expand(part);
            if (shared.badOffset != 0) {
                status = partsStatus(tile, shared, i + 1, byPart ? parts : 0, byPart);
                return status != SLUICE_ST_OK ? status : SLUICE_ST_BAD_OFFSET;
            }
        }
        __syncthreads();
        status = partsStatus(tile, shared, i + 1, byPart ? min(i + 2, parts) : 0, byPart);
        if (status != SLUICE_ST_OK) return status;
        begin = end;
        first += (entry >> 16) + 1;
    }
    return shared.tooDeep != 0 ? SLUICE_ST_LIMIT : SLUICE_ST_OK;
}

__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor) gstdExpandKernel(GstdParams params)
{
    __shared__ TileShared shared;
    letNextLaunchBegin(); // the symbols of the next turn
    const uint32_t index = params.firstTile + blockIdx.x;
    if (index >= regionCount(params)) return;
    const bool byPart = (params.flags & kGstdByPart) != 0;
    const uint32_t* const slot =
        pointerFrom<const uint32_t>(params.scratch) + static_cast<uint64_t>(blockIdx.x) * SLUICE_GS_SLOT_WORDS;
    if (threadIdx.x == 0) {
        shared.badOffset = shared.tooDeep = 0;
        shared.status = byPart ? waitFor(slot) : slot[0];
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
        if ((params.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0 && region.compressedSize == region.decompressedSize) {
            tile.copyPlain(0, tile.size, 0);
        } else {
            status = expandTile(tile, shared, byPart);
        }
    }
    if (threadIdx.x == 0) writeStatus(params, index, status);
    if (byPart && blockIdx.x == 0) waitForLaunchBefore(); // what comes next may count on the symbols too
}

} // namespace

cudaError_t loadGstdExpand()
{
    return load(gstdExpandKernel);
}

cudaError_t launchGstdExpand(cudaStream_t stream, const GstdParams& params, bool byPart)
{
    GstdParams own = params;
    if (byPart) own.flags |= kGstdByPart;
    return launch(stream, gstdExpandKernel, params.tileCount, kThreads, own, 0, byPart);
}

} // namespace sluice
