// SPDX-License-Identifier: MIT OR Apache-2.0
// From the symbols of Gstd tiles to their bytes, 2,048 of a tile at once; the method is told in shaders/gstd_expand.comp, of
// which this is the native twin.
#include "kernels.h"
#include "lib/gstd_tile.cuh"
#include "lib/launch.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 128, kBlocksPerProcessor = 10;
constexpr uint32_t kBytes = 8, kGroup = kBytes * kThreads; // of a thread; of all, which are made at once
constexpr uint32_t kWords = kGroup / 32;                   // of a bit each
static_assert(kBytes == 8 && kWords <= 32 && kGroup % SLUICE_GS_GROUP == 0, "two words a thread; a word of the map a lane");
constexpr uint32_t kUnknown = 0xffffffffu;

// What is known of a group: three of them in turn, of which one is being used, the next one made and the one before cleared.
struct Marks {
    uint32_t starts[kWords + 2]; // behind a word of nothing, a bit for each byte that a run begins with; a word of nothing
    uint32_t first;              // the entry under way at the end of the group, or kUnknown
    uint32_t literals;           // of the tile: where those of the entry stand that is under way at its start
};

struct TileShared {
    Marks marks[3];
    int32_t run[2][kGroup]; // of bytes that a run begins with: how far the source is, times 2, and whether the run overlaps it
    uint32_t carried[2];    // where the match under way at the start of the group begins
    uint32_t repeated[64];  // for offsets below 8 and places in them: which of so many bytes the next eight are
    uint32_t badOffset, tooDeep;
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

    // All threads come here in step.
    __device__ void expand(const Part& part)
    {
        const uint32_t size = part.end - part.begin;
        for (uint32_t i = threadIdx.x; i < 3 * (kWords + 2); i += kThreads) shared.marks[i / (kWords + 2)].starts[i % (kWords + 2)] = 0;
        if (threadIdx.x < 3) shared.marks[threadIdx.x].first = kUnknown;
        uint32_t loaded = threadIdx.x;
        Words words = load(part, loaded);
        __syncthreads();
        if (threadIdx.x == 0) shared.marks[0].literals = part.literals;
        mark(part, 0, shared.marks[0], 0, loaded, words);
        uint32_t now = 0;
        for (uint32_t at = 0, half = 0; at < size; at += kGroup, half ^= 1) {
            __syncthreads(); // the marks; the bytes before
            Marks& own = shared.marks[now];
            Marks& next = shared.marks[now == 2 ? 0 : now + 1];
            Marks& before = shared.marks[now == 0 ? 2 : now - 1];
            uint32_t first = own.first;
            for (uint32_t more = kThreads; first == kUnknown && more < kGroup; more += kThreads) {
                __syncthreads(); // more entries begin in the group than there are threads
                loaded += kThreads;
                words = load(part, loaded);
                mark(part, at, own, half, loaded, words);
                __syncthreads();
                first = own.first;
            }
            loaded = first + threadIdx.x;
            words = load(part, loaded);
            if (threadIdx.x < kWords) before.starts[1 + threadIdx.x] = 0;
            if (threadIdx.x == 0) before.first = kUnknown;
            // Literals in the group itself must be read before something is written over them.
            const bool waits = own.literals < part.begin + at + kGroup;
            uint32_t bytes[2];
            if (at + kGroup <= size) {
                make<true>(part, at, own, half, bytes);
            } else {
                make<false>(part, at, own, half, bytes);
            }
            if (waits) __syncthreads();
            if (at + kGroup < size) {
                if (threadIdx.x == 0) next.literals = part.literals + (words.own.x >> 16);
                mark(part, at + kGroup, next, half ^ 1, loaded, words);
            }
            const uint32_t place = part.begin + at + kBytes * threadIdx.x;
            if (at + kGroup <= size) {
                uint32_t* const to = reinterpret_cast<uint32_t*>(tile.destination + place);
                to[0] = bytes[0];
                to[1] = bytes[1];
            } else {
                tile.store(place, bytes[0], part.end);
                tile.store(place + 4, bytes[1], part.end);
            }
            now = now == 2 ? 0 : now + 1;
        }
        __syncthreads();
    }

private:
    struct Words {
        uint2 own;
        uint32_t next;
    };
    __device__ static Words load(const Part& part, uint32_t i)
    {
        Words words = {};
        if (i <= part.entries) words.own = part.records[i];
        if (i < part.entries) words.next = part.records[i + 1].x;
        return words;
    }
    __device__ static Entry entryOf(const Part& part, uint32_t i, const Words& words)
    {
        const uint32_t size = part.end - part.begin, literal = words.own.x >> 16, nextLiteral = words.next >> 16;
        Entry entry;
        entry.literals = i < part.entries ? words.own.x & 0xffff : size - (part.literalCount - literal);
        entry.match = i < part.entries ? entry.literals + ((nextLiteral - literal) & 0xffff) : size;
        entry.next = i + 1 < part.entries ? words.next & 0xffff : i < part.entries ? size - (part.literalCount - nextLiteral) : size;
        entry.literalDelta = static_cast<int32_t>(part.literals + literal - (part.begin + entry.literals));
        entry.offset = words.own.y;
        return entry;
    }
    // Marks the runs of entry i in [at, at + kGroup), and tells whether it goes on behind.
    __device__ void mark(const Part& part, uint32_t at, Marks& marks, uint32_t half, uint32_t i, const Words& words) const
    {
        if (i > part.entries) return;
        const Entry entry = entryOf(part, i, words);
        const uint32_t end = at + kGroup;
        if (entry.literals >= end) return;
        if (entry.next >= end || i == part.entries) marks.first = i;
        uint32_t start = max(entry.literals, at);
        if (start < min(entry.match, end)) begin(marks, half, start - at, entry.literalDelta * 2);
        start = max(entry.match, at);
        if (start >= min(entry.next, end)) return;
        const bool bad = entry.offset == 0 || entry.offset > part.begin + entry.match;
        if (bad) shared.badOffset = 1;
        begin(marks, half, start - at, bad ? 0 : -2 * static_cast<int32_t>(entry.offset) | (entry.next - entry.match > entry.offset ? 1 : 0));
        if (entry.match <= at) shared.carried[half] = entry.match;
    }
    __device__ void begin(Marks& marks, uint32_t half, uint32_t place, int32_t run) const
    {
        atomicOr(&marks.starts[1 + place / 32], 1u << place % 32);
        shared.run[half][place] = run;
    }

    // value < 2^16, 0 < divisor < 2^18: the quotient of floats is at most one off. Anything of others.
    __device__ static uint32_t modulo(uint32_t value, uint32_t divisor)
    {
        const uint32_t quotient = static_cast<uint32_t>(__fdividef(static_cast<float>(value), static_cast<float>(divisor)));
        const uint32_t rest = value - quotient * divisor;
        return min(rest, min(rest + divisor, rest - divisor));
    }

    // The highest mark before word `word` of the map, which is not the first; place 0 has one.
    static __device__ uint32_t markBefore(const Marks& marks, uint32_t filled, uint32_t word)
    {
        static_assert(kWords <= 32, "a bit for each word");
        const uint32_t source = highestBit((filled & 0xffffffffu >> (32 - word)) | 1);
        return 32 * source + highestBit(marks.starts[1 + source] | 1);
    }

    // Bytes from `done` on of `bytes` are those from byte `from` of the tile on, at least `count` of them.
    __device__ void take(uint32_t (&bytes)[2], uint32_t done, uint32_t from, uint32_t count) const
    {
        // As words that have them where they belong, with anything around them.
        const uint32_t begin = from - done, shift = 8 * begin;
        uint32_t loaded[3] = {};
        if (begin + 12 <= tile.size && from >= done) {
            const uint32_t* const words = globalWords(begin & ~3u);
#pragma unroll
            for (uint32_t w = 0; w < 3; ++w) loaded[w] = words[w];
        } else {
#pragma unroll 1
            for (uint32_t k = 0; k < count; ++k) {
                const uint32_t at = begin % 4 + done + k, byte = static_cast<uint32_t>(tile.destination[from + k]) << at % 4 * 8;
                loaded[0] |= at / 4 == 0 ? byte : 0;
                loaded[1] |= at / 4 == 1 ? byte : 0;
                loaded[2] |= at / 4 == 2 ? byte : 0;
            }
        }
        const uint32_t kept = 8 * done; // bits
        const uint32_t lower = __funnelshift_lc(0, ~0u, kept), upper = ~__funnelshift_rc(~0u, 0, 64 - kept);
        bytes[0] = (bytes[0] & ~lower) | (__funnelshift_r(loaded[0], loaded[1], shift) & lower);
        bytes[1] = (bytes[1] & ~upper) | (__funnelshift_r(loaded[1], loaded[2], shift) & upper);
    }
    __device__ const uint32_t* globalWords(uint32_t at) const
    {
        const uint32_t* const words = reinterpret_cast<const uint32_t*>(tile.destination + at);
        __builtin_assume(__isGlobal(words));
        return words;
    }

    // The thread's bytes of the group at `at`. Whole: the part does not end in it. Piece by piece: what stands in one run comes
    // from bytes in a row.
    template <bool Whole>
    __device__ void make(const Part& part, uint32_t at, const Marks& marks, uint32_t half, uint32_t (&bytes)[2]) const
    {
        const uint32_t lane = laneIndex(), filled = __ballot_sync(kAllLanes, lane < kWords && marks.starts[1 + lane % kWords] != 0);
        const uint32_t group = part.begin + at, own = kBytes * threadIdx.x, word = own / 32, shift = own % 32;
        const uint32_t total = Whole ? kBytes : part.end - group > own ? min(kBytes, part.end - group - own) : 0;
        const uint32_t bits = marks.starts[1 + word], upTo = bits << (31 - shift);
        uint32_t pending = (bits >> shift & 0xfe) | 1u << total, done = 0; // where runs begin, and the end
        uint32_t start = own - static_cast<uint32_t>(__clz(static_cast<int>(upTo)));
        if (upTo == 0) start = markBefore(marks, filled, word);
        bytes[0] = bytes[1] = 0;
        while (done < total) {
            const int32_t run = shared.run[half][start];
            const uint32_t end = static_cast<uint32_t>(__ffs(static_cast<int>(pending))) - 1;
            const int32_t from = static_cast<int32_t>(own + done) + (run >> 1);
            if ((run & 1) != 0 || (run < 0 && from + static_cast<int32_t>(end - done) > 0)) {
                done = makeNested(group, at, marks, half, filled, bytes, start, run, done, end);
            } else {
                take(bytes, done, group + static_cast<uint32_t>(from), end - done);
                done = end;
            }
            start = own + end;
            pending &= pending - 1;
        }
    }

    // Bytes [done, end) of the thread's, of one run, which begins at `start`, and which copies the group or itself: places there
    // are of runs again, until a source is found that is there. Returns what is done.
    __device__ uint32_t makeNested(uint32_t group, uint32_t at, const Marks& marks, uint32_t half, uint32_t filled, uint32_t (&bytes)[2],
                                   uint32_t start, int32_t run, uint32_t done, uint32_t end) const
    {
        const int32_t own = static_cast<int32_t>(kBytes * threadIdx.x), nest = own & -static_cast<int32_t>(SLUICE_GS_GROUP);
        int32_t base = own, place = own + static_cast<int32_t>(done); // of the bytes wanted; of the piece, or of what it copies
        uint32_t piece = end - done, hops = 0, hopsToBase = 0, select = 0x76543210, result = end;
        for (uint32_t most = kBytes * (kGroup / SLUICE_GS_GROUP * (depth + 1) + 1); ; --most) {
            int32_t from = place + (run >> 1);
            if ((run & 1) != 0) {
                const int32_t begin = start == 0 ? static_cast<int32_t>(shared.carried[half] - at) : static_cast<int32_t>(start);
                const uint32_t offset = max(static_cast<uint32_t>(-(run >> 1)), 1u);
                const uint32_t rest = modulo(static_cast<uint32_t>(place - begin), offset);
                uint32_t left = offset - rest;
                from = begin - static_cast<int32_t>(left);
                if (piece == kBytes && offset < kBytes) { // so they are its bytes again and again
                    select = shared.repeated[8 * offset + rest];
                    from = base = begin - static_cast<int32_t>(offset);
                    end = left = offset;
                    hopsToBase = hops + 1;
                }
                piece = min(piece, left);
            }
            // A piece and its source each lie in one group of 512: hops are the same for all of its bytes.
            piece = min(piece, SLUICE_GS_GROUP - (static_cast<uint32_t>(from) & (SLUICE_GS_GROUP - 1)));
            if (run < 0 && from >= 0) {
                place = from;
                hops += from >= nest ? 1 : 0;
                if (hops > depth || most == 0) {
                    shared.tooDeep = 1;
                    return result;
                }
            } else {
                take(bytes, done, group + static_cast<uint32_t>(from), piece);
                done += piece;
                if (done >= end) break;
                place = base + static_cast<int32_t>(done);
                piece = end - done;
                hops = hopsToBase;
            }
            run = 0; // what is before the group is there
            if (place < 0) continue;
            // 32 bits up to the place's own, and those behind it.
            const uint32_t word = static_cast<uint32_t>(place + 1) / 32, shift = static_cast<uint32_t>(place + 1) % 32;
            const uint32_t below = marks.starts[word], above = marks.starts[word + 1];
            const uint32_t upTo = __funnelshift_r(below, above, shift);
            piece = min(piece, static_cast<uint32_t>(__clz(static_cast<int>(__brev(__funnelshift_r(above, 1, shift))))) + 1);
            start = static_cast<uint32_t>(place - __clz(static_cast<int>(upTo)));
            if (upTo == 0) start = markBefore(marks, filled, word);
            run = shared.run[half][start];
        }
        if (select != 0x76543210) {
            const uint32_t lower = bytes[0], upper = bytes[1];
            bytes[0] = __byte_perm(lower, upper, select);
            bytes[1] = __byte_perm(lower, upper, select >> 16);
        }
        return result;
    }

    const Tile& tile;
    TileShared& shared;
    uint32_t depth;
};

__device__ uint32_t expandTile(const Tile& tile, TileShared& shared)
{
    const uint32_t header = tile.source[0], parts = (header & 15) + 1;
    for (uint32_t i = 0; i < parts; ++i) {
        const uint32_t status = tile.slot[SLUICE_GS_PARTS_AT + i];
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
            part.entries = tile.word(first + 2);
            part.records = reinterpret_cast<const uint2*>(tile.slot + SLUICE_GS_SEQUENCES_AT) +
                           begin / SLUICE_GS_BYTES_PER_SEQUENCE + i;
            part.literalCount = tile.word(first + 1) | (w0 >> 12 & 1) << 16;
            part.literals = end - part.literalCount;
            if (part.entries != 0) expander.expand(part); // else all literals stand where they belong
            if (shared.badOffset != 0) return SLUICE_ST_BAD_OFFSET;
        }
        __syncthreads();
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
    if (threadIdx.x == 0) shared.badOffset = shared.tooDeep = 0;
    if (threadIdx.x < 64) {
        const uint32_t offset = max(threadIdx.x / 8, 1u);
        uint32_t select = 0;
        for (uint32_t k = 0, byte = threadIdx.x % 8 % offset; k < 8; ++k, byte = byte + 1 == offset ? 0 : byte + 1)
            select |= byte << 4 * k;
        shared.repeated[threadIdx.x] = select;
    }
    __syncthreads();
    const Region region = loadRegion(params, index);
    Tile tile;
    tile.size = static_cast<uint32_t>(region.decompressedSize);
    tile.slot = pointerFrom<const uint32_t>(params.scratch) + static_cast<uint64_t>(blockIdx.x) * SLUICE_GS_SLOT_WORDS;
    uint32_t status = tile.slot[0];
    if (status == SLUICE_ST_OK) { // then the addresses are what they should be
        tile.source = globalPointer<const uint32_t>(region.source);
        tile.destination = globalPointer<uint8_t>(region.destination);
        if ((params.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0 && region.compressedSize == region.decompressedSize) {
            tile.copyPlain(0, tile.size, 0);
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
