// SPDX-License-Identifier: MIT OR Apache-2.0
// From the symbols of Gstd tiles to their bytes, 512 of a tile at once; the method is told in shaders/gstd_expand.comp, of
// which this is the native twin.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 128, kGroup = SLUICE_GS_GROUP, kWords = kGroup / 32;
static_assert(kThreads * 4 == kGroup, "four bytes a thread");
constexpr uint32_t kRing = 256, kAhead = 176;
constexpr uint32_t kValue = 0x80000000u;
constexpr uint32_t kPointers = 1, kBadOffset = 2;

struct TileShared {
    uint2 entries[kRing];    // see layout.h
    uint32_t starts[kWords]; // a bit for each byte that an entry begins with
    uint32_t cover[kWords];  // entries that begin before these 32 bytes
    uint32_t begun;          // entries that begin before the next group
    uint32_t bytes[kGroup];  // of each byte: its value and kValue, or which one it copies over how many
    uint32_t flags;          // kPointers of this group, and kBadOffset
    uint32_t tooDeep;        // copies were nested deeper than the tile says
};

struct Tile {
    const uint32_t* source;
    uint8_t* destination;
    const uint32_t* slot;

    __device__ uint32_t word(uint32_t index) const { return source[index / 2] >> index % 2 * 16 & 0xffff; }
    // Four bytes from position `at`, a multiple of 4, of which those before `end` exist.
    __device__ void store(uint32_t at, uint32_t bytes, uint32_t end) const
    {
        if (at + 4 <= end) {
            *reinterpret_cast<uint32_t*>(destination + at) = bytes;
            return;
        }
        for (; at < end; ++at, bytes >>= 8) destination[at] = static_cast<uint8_t>(bytes);
    }
    __device__ void fill(uint32_t begin, uint32_t end, uint32_t value) const
    {
        for (uint32_t at = begin + 4 * threadIdx.x; at < end; at += kGroup) store(at, value * 0x01010101u, end);
    }
    // From byte `from` of the source on, an even number.
    __device__ void copyPlain(uint32_t begin, uint32_t end, uint32_t from) const
    {
        for (uint32_t at = begin + 4 * threadIdx.x; at < end; at += kGroup) {
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

struct Part {
    uint32_t begin, end;     // of its output
    uint32_t entries;        // sequences, and the literals behind the last one
    const uint2* records;    // where they stand
    uint32_t literalCount;
    uint32_t literals;       // where its literals stand in the output,
    uint32_t literalsInside; // how many of them, and
    const uint32_t* last;    // where the others do
};

class Expander {
public:
    __device__ Expander(const Tile& whole, TileShared& use, uint32_t depthLimit) : tile(whole), shared(use), depth(depthLimit)
    {
    }

    // False: a match begins before the tile.
    __device__ bool expand(const Part& part)
    {
        uint32_t loaded = 0, begun = 0;
        const uint32_t size = part.end - part.begin;
        for (uint32_t at = 0; at < size; at += kGroup) {
            loaded = loadRing(part, loaded, begun);
            if (threadIdx.x < kWords) shared.starts[threadIdx.x] = 0;
            if (threadIdx.x == 0) shared.flags &= ~kPointers;
            __syncthreads();
            mark(part, at, begun);
            __syncthreads();
            uint32_t bytes[4];
            const uint32_t found = find(part, at, size, bytes);
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) shared.bytes[4 * threadIdx.x + k] = bytes[k];
            if (found != 0) atomicOr(&shared.flags, found);
            __syncthreads();
            begun = shared.begun;
            const uint32_t seen = shared.flags;
            if ((seen & kPointers) != 0) follow(bytes);
            bool deep = false;
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) deep = deep || bytes[k] < kValue || (bytes[k] >> 16 & 255) > depth;
            if (deep) shared.tooDeep = 1;
            const uint32_t packed = (bytes[0] & 255) | (bytes[1] & 255) << 8 | (bytes[2] & 255) << 16 | bytes[3] << 24;
            tile.store(part.begin + at + 4 * threadIdx.x, packed, part.end);
            __syncthreads();
            if ((seen & kBadOffset) != 0) return false;
        }
        return true;
    }

private:
    // Keeps the ring full: entries up to `begun` + kAhead.
    __device__ uint32_t loadRing(const Part& part, uint32_t loaded, uint32_t begun) const
    {
        const uint32_t want = min(begun + kAhead, part.entries);
        const uint32_t end = min(max(begun, 1u) - 1 + kRing, part.entries);
        while (loaded < want) {
            const uint32_t i = loaded + threadIdx.x;
            if (i < end) shared.entries[i % kRing] = part.records[i];
            loaded = min(loaded + kThreads, end);
        }
        return loaded;
    }
    // Where entry i begins, from the part's first byte on.
    __device__ uint32_t beginOf(const Part& part, uint32_t i) const
    {
        const uint32_t entry = shared.entries[i % kRing].x, size = part.end - part.begin;
        return i + 1 < part.entries    ? entry & 0xffff
               : i + 1 == part.entries ? size - (part.literalCount - (entry >> 16))
                                       : size;
    }
    // Marks what begins in [at, at + kGroup), counted from the part's first byte. `begun` entries begin before.
    __device__ void mark(const Part& part, uint32_t at, uint32_t begun) const
    {
        for (uint32_t from = threadIdx.x; from <= kGroup / SLUICE_GS_MIN_MATCH + 1; from += kThreads) {
            const uint32_t number = begun + from; // entry number - 1; the first one is under way
            if (number > part.entries) return;
            const bool first = from == 0;
            const uint32_t start = first ? at : beginOf(part, number - 1), next = beginOf(part, number);
            if (start >= at + kGroup) return;
            if (!first) atomicOr(&shared.starts[(start - at) / 32], 1u << start % 32);
            const uint32_t end = min(next - at, kGroup);
            for (uint32_t word = first ? 0 : (start - at) / 32 + 1; word < kWords && 32 * word <= end; ++word)
                shared.cover[word] = number;
            if (next >= at + kGroup || number == part.entries) shared.begun = number;
        }
    }
    // What the thread's four bytes are. Returns flags.
    __device__ uint32_t find(const Part& part, uint32_t at, uint32_t size, uint32_t (&bytes)[4]) const
    {
        const uint32_t own = 4 * threadIdx.x, word = own / 32, shift = own % 32, starts = shared.starts[word];
        uint32_t number = shared.cover[word] + static_cast<uint32_t>(__popc(starts & ((1u << shift) - 1))), flags = 0;
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            number += starts >> (shift + k) & 1;
            const uint32_t position = at + own + k;
            bytes[k] = kValue;
            if (position >= size) continue;
            const uint2 entry = shared.entries[(number - 1) % kRing];
            const uint32_t start = beginOf(part, number - 1), after = position - start;
            uint32_t literal = entry.x >> 16;
            const uint32_t literals =
                number == part.entries ? size : ((shared.entries[number % kRing].x >> 16) - literal) & 0xffff;
            if (after < literals) {
                literal += after;
                const uint32_t rest = literal - part.literalsInside;
                bytes[k] |= literal < part.literalsInside ? tile.destination[part.literals + literal]
                                                          : part.last[rest / 4] >> rest % 4 * 8 & 255;
                continue;
            }
            const uint32_t match = part.begin + start + literals, back = part.begin + position - match, offset = entry.y;
            if (offset == 0 || offset > match) {
                flags |= kBadOffset;
                continue;
            }
            // Of a match that overlaps itself, the bytes before it.
            const uint32_t from = back < offset ? match + back - offset : match - offset + back % offset;
            const uint32_t group = part.begin + at;
            if (from >= group) {
                bytes[k] = (from - group) | 1u << 16;
                flags |= kPointers;
            } else {
                bytes[k] |= tile.destination[from];
            }
        }
        return flags;
    }
    // As many steps as chains of `depth` copies want.
    __device__ void follow(uint32_t (&bytes)[4]) const
    {
        for (uint32_t left = depth; left != 0; left /= 2) {
            uint32_t other[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) other[k] = bytes[k] < kValue ? shared.bytes[bytes[k] % kGroup] : 0;
            __syncthreads();
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                if (bytes[k] >= kValue) continue;
                bytes[k] = other[k] + (bytes[k] & 0xff0000);
                shared.bytes[4 * threadIdx.x + k] = bytes[k];
            }
            __syncthreads();
        }
    }

    const Tile& tile;
    TileShared& shared;
    uint32_t depth;
};

__device__ uint32_t expandTile(const Tile& tile, TileShared& shared)
{
    const uint32_t header = tile.source[0], parts = (header & 15) + 1;
    for (uint32_t i = 0; i < parts; ++i) {
        const uint32_t status = tile.slot[SLUICE_GS_PARTS_AT + SLUICE_GS_PART_WORDS * i];
        if (status != SLUICE_ST_OK) return status;
    }
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
            part.entries = tile.word(first + 2) + 1;
            part.records = reinterpret_cast<const uint2*>(tile.slot + SLUICE_GS_SEQUENCES_AT) +
                           begin / SLUICE_GS_BYTES_PER_SEQUENCE + i;
            part.literalCount = tile.word(first + 1) | (w0 >> 12 & 1) << 16;
            part.literals = (end - part.literalCount + 3) & ~3u;
            part.literalsInside = (end - min(part.literals, end)) & ~3u;
            part.last = tile.slot + SLUICE_GS_PARTS_AT + SLUICE_GS_PART_WORDS * i + 1;
            if (!expander.expand(part)) return SLUICE_ST_BAD_OFFSET;
        }
        __syncthreads();
        begin = end;
        first += (entry >> 16) + 1;
    }
    return shared.tooDeep != 0 ? SLUICE_ST_LIMIT : SLUICE_ST_OK;
}

__global__ void __launch_bounds__(kThreads) gstdExpandKernel(GstdParams params)
{
    __shared__ TileShared shared;
    const uint32_t index = params.firstTile + blockIdx.x;
    if (index >= regionCount(params)) return;
    if (threadIdx.x == 0) shared.flags = shared.tooDeep = 0;
    __syncthreads();
    const Region region = loadRegion(params, index);
    Tile tile;
    tile.source = reinterpret_cast<const uint32_t*>(static_cast<uintptr_t>(region.source));
    tile.destination = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(region.destination));
    tile.slot = pointerFrom<const uint32_t>(params.scratch) + static_cast<uint64_t>(blockIdx.x) * SLUICE_GS_SLOT_WORDS;
    uint32_t status = tile.slot[0];
    if (status == SLUICE_ST_OK) {
        if ((params.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0 && region.compressedSize == region.decompressedSize) {
            tile.copyPlain(0, static_cast<uint32_t>(region.decompressedSize), 0);
        } else {
            status = expandTile(tile, shared);
        }
    }
    if (threadIdx.x == 0) writeStatus(params, index, status);
}

} // namespace

cudaError_t loadGstdExpand()
{
    return load(gstdExpandKernel);
}

cudaError_t launchGstdExpand(cudaStream_t stream, const GstdParams& params)
{
    return launch(stream, gstdExpandKernel, params.tileCount, kThreads, params);
}

} // namespace sluice
