// SPDX-License-Identifier: MIT OR Apache-2.0
// GDeflate 1.0 decode: a block of two warps a tile, of which the first turns bits into tokens and the second tokens into
// bytes. Format, rounds, limits and the order of errors: docs/format.md; the method: shaders/gdeflate.comp, of which this
// is the native twin.
#include "kernels.h"
#include "lib/bit_reader.cuh"
#include "lib/huffman.cuh"
#include "lib/launch.cuh"
#include "lib/lz_expand.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 2 * kWarpSize;
constexpr uint32_t kLitBits = 10, kDistBits = 8, kPreBits = 7;
constexpr uint32_t kDistTable = 1u << kLitBits, kIdle = kDistTable + (1u << kDistBits); // places in TileShared::table
constexpr uint32_t kRounds = 8; // a phase
static_assert(2 * kRounds * kWarpSize + kWarpSize + kGroup <= kTokenRing, "two phases and what is left of the one before");

// Flags of table entries
constexpr uint32_t kStores = 1u << 10;    // completes a token: a literal or a distance
constexpr uint32_t kLength = 1u << 11;    // begins a match
constexpr uint32_t kSpecial = 1u << 12;   // end of block, or
constexpr uint32_t kUndefined = 1u << 13; // a symbol that must not occur

__device__ uint32_t precodeEntry(uint32_t symbol, uint32_t length)
{
    return huffmanEntry(length, 0, 0, symbol);
}

// Lengths and distances: 2 or 1 bits below a leading one, shifted by the extra bits (RFC 1951, 3.2.5).
__device__ uint32_t litEntry(uint32_t symbol, uint32_t length)
{
    if (symbol < 256) return huffmanEntry(length, 0, kStores, symbol);
    if (symbol == 256) return huffmanEntry(length, 0, kSpecial, 0);
    const uint32_t slot = symbol - 257;
    if (slot > 28) return huffmanEntry(length, 0, kSpecial | kUndefined, 0);
    if (slot == 28) return huffmanEntry(length, 16, kLength, 1);
    const uint32_t extraBits = max(slot / 4, 1u) - 1;
    return huffmanEntry(length, extraBits, kLength, 1 + (slot < 4 ? slot : (4 + slot % 4) << extraBits));
}

__device__ uint32_t distEntry(uint32_t symbol, uint32_t length)
{
    const uint32_t extraBits = max(symbol / 2, 1u) - 1;
    return huffmanEntry(length, extraBits, kStores, symbol < 2 ? symbol : (2 + symbol % 2) << extraBits);
}

struct TileShared {
    ExpandShared expand;
    HuffmanCode litCode, distCode;
    union {
        uint32_t table[kIdle + 1]; // literals and lengths, distances, and an entry that does nothing
        uint8_t lengths[SLUICE_GD_LITLEN_SYMS + SLUICE_GD_DIST_SYMS]; // dead before the table is filled
    };
    uint32_t litSorted[SLUICE_GD_LITLEN_SYMS];
    uint32_t distSorted[SLUICE_GD_DIST_SYMS];
    uint32_t rank[16];
    uint32_t window[kBitWindow];
    uint2 published[2]; // by the first warp, in turn: tokens that are complete; status, PENDING as long as there will be more
    uint32_t failed[2];         // by the second, likewise: a bad token was found
};

enum class Next { header, stored, symbols };

// Bits to tokens.
struct TokenDecoder {
    TileShared& shared;
    BitReader bits;
    Next next = Next::header;
    bool final = false;
    uint32_t blocks = 0;
    uint32_t tokens = 0;     // begun
    uint32_t complete = 0;   // all tokens below are complete
    uint32_t storedLeft = 0; // bytes of a stored block
    bool ended = false;      // the end-of-block symbol was seen
    uint32_t litLanes = 0;   // lanes that read a literal/length symbol next
    uint32_t slot = 0, length = 0;             // of this lane: where its match stands; its length, as in the token
    uint32_t tableMask = 0, tableBase = kIdle; // of this lane: of the table that it reads next

    __device__ uint32_t phase();

private:
    __device__ uint32_t readHeader();
    __device__ uint32_t readCodeLengths(uint32_t litCount, uint32_t distCount);
    __device__ uint32_t buildCodes(uint32_t type, uint32_t header);
    __device__ uint32_t storedRound();
    __device__ uint32_t symbolRound();
    __device__ uint32_t endBlock();
};

// Reads the code lengths of a dynamic block: literal/length codes first, distances behind the 288 places of those.
__device__ uint32_t TokenDecoder::readCodeLengths(uint32_t litCount, uint32_t distCount)
{
    const uint32_t total = litCount + distCount;
    uint32_t position = 0, carried = 0;
    while (position < total) {
        const uint32_t entry = shared.table[kDistTable + (bits.peek() & ((1u << kPreBits) - 1))];
        const uint32_t codeLength = entry & 31, symbol = entry >> 16;
        const uint32_t extraBits = symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
        const uint32_t extra = bits.peek() >> codeLength & ((1u << extraBits) - 1);
        const uint32_t run = symbol < 16 ? 1 : (symbol == 18 ? 11 : 3) + extra;
        const uint32_t inclusive = warpInclusiveSum(run), at = position + inclusive - run;
        const bool valid = at < total;

        // A repeat takes its value from the nearest lower lane that defines one.
        const uint32_t defines = __ballot_sync(kAllLanes, symbol != 16);
        const uint32_t defined = symbol < 16 ? symbol : 0;
        const uint32_t source = symbol == 16 ? defines & lanesBelow() : 1u << laneIndex();
        const uint32_t fromLane = __shfl_sync(kAllLanes, defined, source != 0 ? 31 - __clz(static_cast<int>(source)) : 0);
        const uint32_t value = source != 0 ? fromLane : carried;
        if (valid && value != 0) {
#pragma unroll
            for (uint32_t k = 0; k < 6; ++k) {
                const uint32_t i = at + k;
                if (k < run && i < total) {
                    shared.lengths[i < litCount ? i : i - litCount + SLUICE_GD_LITLEN_SYMS] = static_cast<uint8_t>(value);
                }
            }
        }
        carried = __shfl_sync(kAllLanes, value, 31);
        if (valid) bits.consume(codeLength + extraBits);
        const bool enough = bits.refill();
        const bool bad = valid && (at + run > total || (symbol == 16 && at == 0));
        if (!enough) return SLUICE_ST_TRUNCATED;
        if (__any_sync(kAllLanes, bad)) return SLUICE_ST_BAD_CODE;
        position += __shfl_sync(kAllLanes, inclusive, 31);
    }
    return SLUICE_ST_OK;
}

// Builds the tables of a dynamic (type 2) or static (type 1) block.
__device__ uint32_t TokenDecoder::buildCodes(uint32_t type, uint32_t header)
{
    const uint32_t lane = laneIndex();
    uint32_t litCount = SLUICE_GD_LITLEN_SYMS, distCount = SLUICE_GD_DIST_SYMS;
    __syncwarp();
    if (type == 2) {
        litCount = (header & 31) + 257;
        distCount = (header >> 5 & 31) + 1;
        const uint32_t preCount = (header >> 10 & 15) + 4;
        // Where precode length i stands (RFC 1951, 3.2.7), 5 bits each, 12 to a word.
        constexpr uint64_t order0 = 16ull | 17ull << 5 | 18ull << 10 | 0ull << 15 | 8ull << 20 | 7ull << 25 | 9ull << 30 |
                                    6ull << 35 | 10ull << 40 | 5ull << 45 | 11ull << 50 | 4ull << 55;
        constexpr uint64_t order1 = 12ull | 3ull << 5 | 13ull << 10 | 2ull << 15 | 14ull << 20 | 1ull << 25 | 15ull << 30;
        if (lane < 19) shared.lengths[lane] = 0;
        __syncwarp();
        if (lane < preCount) {
            const uint32_t place = static_cast<uint32_t>(lane < 12 ? order0 >> lane * 5 : order1 >> (lane - 12) * 5) & 31;
            shared.lengths[place] = static_cast<uint8_t>(bits.peek() & 7);
            bits.consume(3);
        }
        if (!bits.refill()) return SLUICE_ST_TRUNCATED;
        if (!huffmanSort(shared.lengths, 19, shared.litSorted, shared.litCode, shared.rank, precodeEntry)) return SLUICE_ST_BAD_CODE;
        huffmanFill<kPreBits>(shared.table + kDistTable, shared.litSorted, shared.litCode);
        for (uint32_t i = lane; i < sizeof(shared.lengths); i += kWarpSize) shared.lengths[i] = 0;
        __syncwarp();
        const uint32_t status = readCodeLengths(litCount, distCount);
        if (status != SLUICE_ST_OK) return status;
    } else {
        for (uint32_t i = lane; i < sizeof(shared.lengths); i += kWarpSize) {
            shared.lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
        }
    }
    const bool goodLit = huffmanSort(shared.lengths, litCount, shared.litSorted, shared.litCode, shared.rank, litEntry);
    const bool goodDist = huffmanSort(shared.lengths + SLUICE_GD_LITLEN_SYMS, distCount, shared.distSorted, shared.distCode,
                                      shared.rank, distEntry);
    if (!goodLit || !goodDist) return SLUICE_ST_BAD_CODE;
    huffmanFill<kLitBits>(shared.table, shared.litSorted, shared.litCode);
    huffmanFill<kDistBits>(shared.table + kDistTable, shared.distSorted, shared.distCode);
    if (lane == 0) shared.table[kIdle] = 0;
    ended = false;
    litLanes = kAllLanes;
    tableMask = (1u << kLitBits) - 1;
    tableBase = length = 0;
    __syncwarp();
    return SLUICE_ST_OK;
}

// One round of a stored block; an empty one still refills lane 0.
__device__ uint32_t TokenDecoder::storedRound()
{
    const uint32_t n = min(storedLeft, kWarpSize);
    if (laneIndex() < n) {
        shared.expand.token[(tokens + laneIndex()) % kTokenRing] = bits.peek() & 0xff;
        bits.consume(8);
    }
    if (!bits.refill()) return SLUICE_ST_TRUNCATED;
    tokens += n;
    complete = tokens;
    storedLeft -= n;
    return storedLeft == 0 ? endBlock() : SLUICE_ST_PENDING;
}

// One symbol a lane: the distance of the match whose length it read in the round before, or a literal or length. The loop
// over rounds is the caller's.
__device__ uint32_t TokenDecoder::symbolRound()
{
    const uint32_t lane = laneIndex();
    uint32_t entry = shared.table[tableBase + (bits.peek() & tableMask)];
    if (entry == 0 && tableMask != 0) {
        entry = tableBase != 0 ? huffmanSearch(bits.peek(), shared.distSorted, shared.distCode)
                               : huffmanSearch(bits.peek(), shared.litSorted, shared.litCode);
    }
    const uint32_t special = __ballot_sync(kAllLanes, (entry & kSpecial) != 0);
    if (special != 0) {
        // Lanes above the lowest end-of-block symbol read nothing, but for distances.
        const uint32_t ends = __ballot_sync(kAllLanes, (entry & (kSpecial | kUndefined)) == kSpecial);
        const uint32_t upToEnd = ends ^ (ends - 1); // all ones if there is none
        if (litLanes & ~upToEnd & 1u << lane) entry = 0;
        if (__any_sync(kAllLanes, (entry & kUndefined) != 0)) return SLUICE_ST_BAD_CODE;
        ended = ends != 0;
        litLanes &= ended ? upToEnd >> 1 : kAllLanes; // the end itself is no token
    }
    const uint32_t value = huffmanValue(entry, bits.peek());
    if (litLanes >> lane & 1) slot = tokens + static_cast<uint32_t>(__popc(litLanes & lanesBelow()));
    if (entry & kStores) shared.expand.token[slot % kTokenRing] = value + length;
    bits.consume(entry);

    const bool begins = entry & kLength;
    length = begins ? min(value, 0xffffu) << 16 : 0; // 65,537 bytes and 65,538 are both too long
    const uint32_t begun = static_cast<uint32_t>(__popc(litLanes));
    const uint32_t pending = __ballot_sync(kAllLanes, begins);
    litLanes = ended ? 0 : ~pending;
    tableMask = begins ? (1u << kDistBits) - 1 : ended ? 0 : (1u << kLitBits) - 1;
    tableBase = begins ? kDistTable : ended ? kIdle : 0;
    if (!bits.refill()) return SLUICE_ST_TRUNCATED;
    complete = tokens;
    tokens += begun;
    if (pending == 0) complete = tokens;
    return ended && pending == 0 ? endBlock() : SLUICE_ST_PENDING;
}

__device__ uint32_t TokenDecoder::endBlock()
{
    next = Next::header;
    return final ? SLUICE_ST_OK : SLUICE_ST_PENDING;
}

__device__ uint32_t TokenDecoder::readHeader()
{
    if (blocks++ == SLUICE_GD_MAX_BLOCKS) return SLUICE_ST_LIMIT;
    uint32_t header = __shfl_sync(kAllLanes, bits.peek(), 0);
    if (laneIndex() == 0) bits.consume(3);
    if (!bits.refill()) return SLUICE_ST_TRUNCATED;
    final = header & 1;
    const uint32_t type = header >> 1 & 3;
    if (type == 3) return SLUICE_ST_BAD_CODE;

    header = __shfl_sync(kAllLanes, bits.peek(), 0);
    if (type == 0) {
        storedLeft = header & 0xffff;
        if (laneIndex() == 0) bits.consume(16);
        next = Next::stored;
        return SLUICE_ST_PENDING;
    }
    if (type == 2) {
        if (laneIndex() == 0) bits.consume(14);
        if (!bits.refill()) return SLUICE_ST_TRUNCATED;
    }
    next = Next::symbols;
    const uint32_t status = buildCodes(type, header);
    return status == SLUICE_ST_OK ? SLUICE_ST_PENDING : status;
}

// A header, or some rounds. PENDING: there is more to come.
__device__ uint32_t TokenDecoder::phase()
{
    if (next == Next::header) return readHeader();
    uint32_t status = SLUICE_ST_PENDING;
    for (uint32_t round = 0; round < kRounds && status == SLUICE_ST_PENDING && next != Next::header; ++round) {
        status = next == Next::symbols ? symbolRound() : storedRound();
    }
    return status;
}

// All threads of the block together; the result counts in the second warp.
__device__ uint32_t decodeTile(TileShared& shared, const uint8_t* source, uint32_t sourceSize, uint8_t* out, uint32_t size)
{
    const bool decodes = warpIndex() == 0;
    TokenDecoder decoder = {shared};
    LzExpander expander = {shared.expand, out, size, 0, 0, 0, 0};
    uint32_t ended = SLUICE_ST_PENDING, status = SLUICE_ST_OK;
    if (decodes) {
        if (!decoder.bits.begin(reinterpret_cast<const uint32_t*>(source), sourceSize, shared.window)) ended = SLUICE_ST_TRUNCATED;
    } else {
        expander.begin();
    }
    uint2 available = {0, SLUICE_ST_PENDING};
    bool failed = false;
    for (uint32_t turn = 0; available.y == SLUICE_ST_PENDING && !failed; turn ^= 1) {
        if (decodes) {
            if (ended == SLUICE_ST_PENDING) ended = decoder.phase();
            if (laneIndex() == 0) shared.published[turn] = make_uint2(decoder.complete, ended);
        } else {
            status = expander.consume(available.x);
            if (laneIndex() == 0) shared.failed[turn] = status != SLUICE_ST_OK;
        }
        __syncthreads();
        available = shared.published[turn];
        failed = shared.failed[turn] != 0;
    }
    if (!decodes && !failed) {
        status = expander.consume(available.x);
        if (status == SLUICE_ST_OK) {
            expander.finish();
            status = available.y != SLUICE_ST_OK ? available.y : expander.end < size ? SLUICE_ST_TOO_SHORT : SLUICE_ST_OK;
        }
    }
    return status;
}

__device__ void copyPlain(const uint8_t* source, uint8_t* destination, uint32_t size)
{
    const uint32_t* from = reinterpret_cast<const uint32_t*>(source);
    uint32_t* to = reinterpret_cast<uint32_t*>(destination);
#pragma unroll 8
    for (uint32_t i = threadIdx.x; i < size / 4; i += kThreads) to[i] = from[i];
    const uint32_t at = size / 4 * 4 + threadIdx.x;
    if (at < size) destination[at] = source[at];
}

__global__ void __launch_bounds__(kThreads) gdeflateKernel(RegionParams params)
{
    __shared__ TileShared shared;
    const uint32_t index = blockIdx.x;
    if (index >= regionCount(params)) return;

    const Region region = loadRegion(params, index);
    uint32_t status = SLUICE_ST_BAD_REGION;
    if (sourceAllowed(params, region) && destinationAllowed(params, region)) {
        const uint8_t* source = reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(region.source));
        uint8_t* destination = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(region.destination));
        const uint32_t size = static_cast<uint32_t>(region.decompressedSize);
        if (params.flags & SLUICE_FLAG_STORED_IF_EQUAL && region.compressedSize == region.decompressedSize) {
            copyPlain(source, destination, size);
            status = SLUICE_ST_OK;
        } else {
            status = decodeTile(shared, source, static_cast<uint32_t>(region.compressedSize), destination, size);
        }
    }
    if (threadIdx.x == kWarpSize) writeStatus(params, index, status);
}

} // namespace

cudaError_t loadGdeflate()
{
    return load(gdeflateKernel);
}

cudaError_t launchGdeflate(cudaStream_t stream, const RegionParams& params)
{
    if (params.maxRegionCount == 0) return cudaSuccess;
    return launch(stream, gdeflateKernel, params.maxRegionCount, kThreads, params);
}

} // namespace sluice
