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

constexpr uint32_t kThreads = 256, kBlocksPerProcessor = 5;
constexpr uint32_t kBytes = 8, kGroup = kBytes * kThreads; // of a thread; of all, which are made at once
constexpr uint32_t kWords = kGroup / 32;                   // of a bit each
constexpr uint32_t kEntries = kThreads / kWarpSize * (kWarpSize - 1); // at once; a warp's last lane only has its next one
static_assert(kBytes == 8 && kWords <= 64 && kGroup % SLUICE_GS_GROUP == 0, "16 bytes of entries a thread; two words of the map a lane");
constexpr uint32_t kUnknown = 0xffffffffu;
// What is known of a byte of a group: its value, or, negative, the address in shared memory of what is known of the byte
// that it copies, less this.
constexpr int32_t kPointer = 0x8000;

struct TileShared {
    uint32_t starts[2][kWords]; // a bit for each byte of a group that a run begins with; of this group and the next
    __align__(16) int32_t run[kGroup]; // of these bytes: how far the source is, times 2, and whether the run overlaps it
    __align__(16) uint16_t made[kGroup];
    uint32_t first[2]; // the entry under way at the end of a group, or kUnknown
    uint32_t carried;  // where the match under way at the start of the group begins
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

// Entry i, if there is one: where in the part its literals and its match begin, and where the next entry does.
struct Entry {
    uint32_t literals, match, next;
    int32_t literalDelta; // how far the literals are from their place
    uint32_t offset;
};

class Expander {
public:
    __device__ Expander(const Tile& whole, TileShared& use, uint32_t depthLimit) : tile(whole), shared(use), depth(depthLimit)
    {
    }

    // The tile's groups alternate between the halves of `shared`; all threads come here in step.
    __device__ void expand(const Part& part)
    {
        const uint32_t size = part.end - part.begin;
        if (threadIdx.x < kWords) shared.starts[0][threadIdx.x] = 0;
        if (threadIdx.x == 0) shared.first[0] = kUnknown;
        const uint32_t ownEntry = threadIdx.x - warpIndex();
        uint32_t loaded = ownEntry;
        uint2 words = load(part, loaded);
        __syncthreads();
        mark(part, 0, 0, loaded, words);
        for (uint32_t at = 0, half = 0; at < size; at += kGroup, half ^= 1) {
            __syncthreads(); // the marks; the bytes before
            uint32_t first = shared.first[half];
            for (uint32_t more = kEntries; first == kUnknown && more < kGroup; more += kEntries) {
                __syncthreads(); // more entries begin in the group than there are threads
                loaded += kEntries;
                words = load(part, loaded);
                mark(part, at, half, loaded, words);
                __syncthreads();
                first = shared.first[half];
            }
            loaded = first + ownEntry;
            words = load(part, loaded);
            if (threadIdx.x < kWords) shared.starts[half ^ 1][threadIdx.x] = 0;
            if (threadIdx.x == 0) shared.first[half ^ 1] = kUnknown;
            uint32_t bytes[kBytes / 4];
            if (at + kGroup <= size) {
                make<true>(part, at, half, bytes);
            } else {
                make<false>(part, at, half, bytes);
            }
            if (at + kGroup < size) mark(part, at + kGroup, half ^ 1, loaded, words);
#pragma unroll
            for (uint32_t w = 0; w < kBytes / 4; ++w) tile.store(part.begin + at + kBytes * threadIdx.x + 4 * w, bytes[w], part.end);
        }
        __syncthreads();
    }

private:
    __device__ static uint2 load(const Part& part, uint32_t i)
    {
        return i <= part.entries ? part.records[i] : make_uint2(0, 0);
    }
    __device__ static Entry entryOf(const Part& part, uint32_t i, uint2 own, uint32_t next)
    {
        const uint32_t size = part.end - part.begin, literal = own.x >> 16, nextLiteral = next >> 16;
        Entry entry;
        entry.literals = i < part.entries ? own.x & 0xffff : size - (part.literalCount - literal);
        entry.match = i < part.entries ? entry.literals + ((nextLiteral - literal) & 0xffff) : size;
        entry.next = i + 1 < part.entries ? next & 0xffff : i < part.entries ? size - (part.literalCount - nextLiteral) : size;
        entry.literalDelta = static_cast<int32_t>(part.literals + literal - (part.begin + entry.literals));
        entry.offset = own.y;
        return entry;
    }
    // Marks the runs of entry i in [at, at + kGroup), and tells whether it goes on behind.
    __device__ void mark(const Part& part, uint32_t at, uint32_t half, uint32_t i, uint2 words) const
    {
        const uint32_t next = __shfl_down_sync(kAllLanes, words.x, 1);
        if (i > part.entries || laneIndex() == kWarpSize - 1) return;
        const Entry entry = entryOf(part, i, words, next);
        const uint32_t end = at + kGroup;
        if (entry.literals >= end) return;
        if (entry.next >= end || i == part.entries) shared.first[half] = i;
        uint32_t start = max(entry.literals, at);
        if (start < min(entry.match, end)) begin(half, start - at, entry.literalDelta * 2);
        start = max(entry.match, at);
        if (start >= min(entry.next, end)) return;
        const bool bad = entry.offset == 0 || entry.offset > part.begin + entry.match;
        if (bad) shared.badOffset = 1;
        begin(half, start - at, bad ? 0 : -2 * static_cast<int32_t>(entry.offset) | (entry.next - entry.match > entry.offset ? 1 : 0));
        if (entry.match <= at) shared.carried = entry.match;
    }
    __device__ void begin(uint32_t half, uint32_t place, int32_t run) const
    {
        atomicOr(&shared.starts[half][place / 32], 1u << place % 32);
        shared.run[place] = run;
    }

    // value < 2^16, 0 < divisor < 2^18: the quotient of floats is at most one off. Anything of others.
    __device__ static uint32_t modulo(uint32_t value, uint32_t divisor)
    {
        const uint32_t quotient = static_cast<uint32_t>(__fdividef(static_cast<float>(value), static_cast<float>(divisor)));
        const uint32_t rest = value - quotient * divisor;
        return min(rest, min(rest + divisor, rest - divisor));
    }

    static constexpr uint32_t kWarpBytes = kBytes * kWarpSize;

    // Are the warp's bytes from `first` of the group on, all of one run, there already? Then words of them are loaded.
    __device__ bool oneRun(const Part& part, uint32_t group, uint32_t first, int32_t run) const
    {
        const uint32_t from = group + first + static_cast<uint32_t>(run >> 1);
        const bool there = run >= 0 || from + kWarpBytes <= group;
        return there && (run & 1) == 0 && group + first + kWarpBytes <= part.end && (from + kWarpBytes + 3) / 4 * 4 <= tile.size;
    }

    // Of a byte that copies one of the group at `from`, which stands before it, else its value from memory. The compiler
    // puts waiting for values, and more comparisons, between such loads.
    __device__ static uint32_t loadOrPoint(uint32_t from, uint32_t own, const uint8_t* group, uint32_t pointers)
    {
        uint32_t result;
        asm volatile("{ .reg .pred p; .reg .s64 at; setp.lt.u32 p, %1, %2; mad.wide.s32 at, %1, 1, %3;"
                     " @p mad.lo.s32 %0, %1, 2, %4; @!p ld.global.u8 %0, [at]; }"
                     : "=r"(result)
                     : "r"(from), "r"(own), "l"(group), "r"(pointers)
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

    __device__ static bool isOpen(const uint32_t (&made)[kBytes])
    {
        uint32_t any = 0;
#pragma unroll
        for (uint32_t k = 0; k < kBytes; ++k) any |= made[k];
        return static_cast<int32_t>(any) < 0;
    }

    __device__ static void pack(const uint32_t (&made)[kBytes], uint32_t (&bytes)[kBytes / 4])
    {
#pragma unroll
        for (uint32_t w = 0; w < kBytes / 4; ++w) {
            const uint32_t low = __byte_perm(made[4 * w], made[4 * w + 1], 0x0040);
            bytes[w] = __byte_perm(low, __byte_perm(made[4 * w + 2], made[4 * w + 3], 0x0040), 0x5410);
        }
    }

    // The thread's bytes of the group at `at`. Whole: the part does not end in it.
    template <bool Whole>
    __device__ void make(const Part& part, uint32_t at, uint32_t half, uint32_t (&bytes)[kBytes / 4]) const
    {
        const uint32_t lane = laneIndex(), own = kBytes * threadIdx.x, word = own / 32, shift = own % 32;
        const uint32_t* starts = shared.starts[half];
        // The run of the first byte: the highest mark up to it.
        const uint32_t low = __ballot_sync(kAllLanes, lane < kWords && starts[lane % kWords] != 0);
        const uint32_t high = kWords > 32 ? __ballot_sync(kAllLanes, starts[(32 + lane) % kWords] != 0) : 0;
        const uint32_t marks = starts[word], upTo = marks & ((2u << shift) - 1);
        const uint32_t below = (1u << word % 32) - 1;
        const uint32_t lowBelow = word < 32 ? low & below : low, highBelow = word < 32 ? 0 : high & below;
        const uint32_t source = highBelow != 0 ? 32 + highestBit(highBelow) : highestBit(lowBelow | 1);
        const uint32_t before = starts[source];
        const uint32_t start = upTo != 0 ? 32 * word + highestBit(upTo) : 32 * source + highestBit(before | 1);

        const uint32_t group = part.begin + at;
        const uint32_t pointers = static_cast<uint32_t>(__cvta_generic_to_shared(shared.made)) - kPointer;
        uint32_t made[kBytes];
        bool open = false;
        const int32_t firstRun = shared.run[start];
        if (!__any_sync(kAllLanes, (lane * kBytes < 32 ? marks & ~1u : marks) != 0) &&
            oneRun(part, group, own - kBytes * lane, firstRun)) {
            const uint32_t from = group + own + static_cast<uint32_t>(firstRun >> 1);
            const uint32_t* words = global(reinterpret_cast<const uint32_t*>(tile.destination)) + from / 4;
            uint32_t loaded[kBytes / 4 + 1];
#pragma unroll
            for (uint32_t w = 0; w <= kBytes / 4; ++w) loaded[w] = w < kBytes / 4 || from % 4 != 0 ? words[w] : 0;
#pragma unroll
            for (uint32_t w = 0; w < kBytes / 4; ++w) {
                bytes[w] = __funnelshift_r(loaded[w], loaded[w + 1], from % 4 * 8);
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k) made[4 * w + k] = bytes[w] >> 8 * k & 255;
            }
        } else {
            uint32_t from[kBytes]; // from the group on
            uint32_t overlaps = 0;
            const int4* const own4 = reinterpret_cast<const int4*>(shared.run + own); // of bytes without a mark anything
            const int4 low4 = own4[0], high4 = own4[1];
            const int32_t begun[kBytes] = {low4.x, low4.y, low4.z, low4.w, high4.x, high4.y, high4.z, high4.w};
            int32_t run = firstRun;
#pragma unroll
            for (uint32_t k = 0; k < kBytes; ++k) {
                if (k != 0) run = (marks >> shift & 1u << k) != 0 ? begun[k] : run;
                from[k] = own + k + static_cast<uint32_t>(run >> 1);
                overlaps |= static_cast<uint32_t>(run);
            }
            asm("" : "+r"(overlaps)); // or it becomes a comparison of each
            if (__any_sync(kAllLanes, static_cast<int>(overlaps & 1))) {
                // Of a match that overlaps itself, the bytes before it: as many whole offsets back as it takes.
                uint32_t rest = 0, skip = 0; // what its first bytes are to this one, less those offsets; they
                run = firstRun;
                if ((run & 1) != 0) {
                    const uint32_t back = own - (start == 0 ? shared.carried - at : start);
                    rest = modulo(back, max(static_cast<uint32_t>(-(run >> 1)), 1u));
                    skip = back - rest;
                }
                from[0] -= skip;
#pragma unroll
                for (uint32_t k = 1; k < kBytes; ++k) {
                    const bool begins = (marks >> shift & 1u << k) != 0;
                    if (begins) run = shared.run[own + k]; // loaded again, for registers are scarce
                    rest = begins ? 0 : rest + 1;
                    skip = begins ? 0 : skip;
                    const uint32_t offset = (run & 1) != 0 ? static_cast<uint32_t>(-(run >> 1)) : 0;
                    if (rest == offset) {
                        rest = 0;
                        skip += offset;
                    }
                    from[k] -= skip;
                }
            }
#pragma unroll
            for (uint32_t k = 0; k < kBytes; ++k) { // behind the part any byte does
                if (!Whole && at + own + k >= part.end - part.begin) from[k] = 0u - group;
                made[k] = loadOrPoint(from[k], own + k, tile.destination + group, pointers);
            }
            open = isOpen(made);
            if (!open) pack(made, bytes);
        }
        uint32_t pairs[kBytes / 2];
#pragma unroll
        for (uint32_t k = 0; k < kBytes / 2; ++k) pairs[k] = __byte_perm(made[2 * k], made[2 * k + 1], 0x5410);
        reinterpret_cast<uint4*>(shared.made)[threadIdx.x] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
        __syncthreads();
        if (!open) return;

        // The chain of copies of each byte, all at once, as long as one may be: in each 512 bytes `depth` copies of others
        // of them, and one that leaves them.
        const uint32_t most = kGroup / SLUICE_GS_GROUP * (depth + 1);
#pragma unroll 1
        for (uint32_t step = 0; step < most; ++step) {
            if (step == depth) {
                bool inside = false;
#pragma unroll
                for (uint32_t k = 0; k < kBytes; ++k) inside = inside || ((made[k] - pointers) ^ 2 * own) < 2 * SLUICE_GS_GROUP;
                if (inside) shared.tooDeep = 1;
            }
#pragma unroll
            for (uint32_t k = 0; k < kBytes; ++k) follow(made[k]);
            if (!isOpen(made)) break;
        }
        pack(made, bytes);
    }

    const Tile& tile;
    TileShared& shared;
    uint32_t depth;
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
