// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes GDeflate 1.0 (docs/format.md, section 1). A block of two warps takes a tile: the first
// warp turns bits into tokens, the second turns tokens into bytes (lib/lz_expand.cuh).
// shaders/gdeflate.comp explains the method.
//
// A *round* reads one symbol in each of 32 lanes. The first warp hands its tokens to the second in
// *phases* of up to kRounds rounds. Up to two phases are in flight; the warps synchronize by named
// barriers. The shaders do four rounds without a branch; here an iteration of the loop does two.
#include "formulas/gdeflate.h"
#include "cuda/kernels.h"
#include "cuda/lib/bit_reader.cuh"
#include "cuda/lib/huffman.cuh"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/lz_expand.cuh"
#include "cuda/lib/pitch.cuh"
#include "cuda/lib/region.cuh"
#include "cuda/lib/warp.cuh"
#include "cuda/tuning.h"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 2 * kWarpSize;
// How many bits index each look-up table: that of literals and lengths, that of distances, and that
// of the precode, which is the code of the code lengths.
constexpr uint32_t kLitBits = 10, kDistBits = 8, kPreBits = 7;
// The index in TileShared::table at which the table of distances begins.
constexpr uint32_t kDistTable = 1u << kLitBits;
constexpr uint32_t kRounds = 16; // rounds of a phase
// The ring of tokens must have room for the tokens of two phases, for 32 tokens that wait for a
// distance, for tokens that are not placed yet, and for those of an unfinished group
// (lib/lz_expand.cuh).
static_assert(2 * kRounds * kWarpSize + kWarpSize + kPlacedAtOnce + kGroup <= kTokenRing);

// Flags of the entries of look-up tables (huffmanEntry):
constexpr uint32_t kUndefined = 1u << 28; // the symbol must not occur
constexpr uint32_t kStores = 1u << 29;    // the symbol completes a token: a literal or a distance
constexpr uint32_t kLength = 1u << 30;    // the symbol begins a match
constexpr uint32_t kSpecial = 1u << 31;   // the symbol ends the block, or is undefined

// Returns the table entry of a symbol of the precode, whose code has `length` bits. The entry's
// base is the symbol.
__device__ uint32_t precodeEntry(uint32_t symbol, uint32_t length)
{
    return huffmanEntry(length, 0, 0, symbol);
}

// Returns the table entry of a literal or a length. The base of a literal is its byte; that of a
// length is the smallest length of the symbol, minus 1, as in a token.
__device__ uint32_t litEntry(uint32_t symbol, uint32_t length)
{
    if (symbol < 256) return huffmanEntry(length, 0, kStores, symbol);
    if (symbol == 256) return huffmanEntry(length, 0, kSpecial, 0);
    const uint32_t slot = symbol - 257;
    if (slot > 28) return huffmanEntry(length, 0, kSpecial | kUndefined, 0);
    if (slot == 28) return huffmanEntry(length, 16, kLength, 2);
    const uint32_t extraBits = gdeflateExtraBits(slot, 2);
    return huffmanEntry(length, extraBits, kLength,
                        2 + (gdeflateMantissa(slot, 2, extraBits) << extraBits));
}

// Returns the table entry of a distance. The base is the smallest distance of the symbol, minus 1.
__device__ uint32_t distEntry(uint32_t symbol, uint32_t length)
{
    const uint32_t extraBits = gdeflateExtraBits(symbol, 1);
    return huffmanEntry(length, extraBits, kStores,
                        gdeflateMantissa(symbol, 1, extraBits) << extraBits);
}

struct TileShared {
    ExpandShared expand;
    HuffmanCode code[2]; // [0]: literals and lengths, [1]: distances
    union {
        uint32_t table[kDistTable + (1u << kDistBits)]; // the look-up tables of these two codes
        // The code lengths are needed only until the tables are filled, so they share this memory.
        uint8_t lengths[SLUICE_GD_LITLEN_SYMS + SLUICE_GD_DIST_SYMS];
    };
    uint32_t sorted[SLUICE_GD_LITLEN_SYMS + SLUICE_GD_DIST_SYMS];
    HuffmanScratch huffman;
    uint32_t window[kBitWindow];
    // For phase p, the first warp writes published[p % 2]: in x how many tokens are complete, in y
    // the status, which is PENDING until the last phase.
    uint2 published[2];
    // For phase p, the second warp sets failed[p % 2] to whether it has found a bad token.
    uint32_t failed[2];
};

// The two warps hand phases over through the hardware's named barriers: "published" says that a
// phase's tokens are in shared memory, "taken" that the second warp is done with them. Two phases
// are in flight, so there are two barriers of each kind. The numbers of barriers must be constants:
// if a number is in a register, ptxas 13.0 reserves all 16 barriers for each block, and only four
// blocks fit on a processor.
template <uint32_t Barrier>
__device__ inline void await()
{
    asm volatile("barrier.cta.sync %0, %1;" ::"n"(Barrier), "n"(kThreads) : "memory");
}
template <uint32_t Barrier>
__device__ inline void arrive()
{
    asm volatile("barrier.cta.arrive %0, %1;" ::"n"(Barrier), "n"(kThreads) : "memory");
}
__device__ inline void awaitPublished(uint32_t phase) { phase % 2 == 0 ? await<0>() : await<1>(); }
__device__ inline void arrivePublished(uint32_t phase)
{
    phase % 2 == 0 ? arrive<0>() : arrive<1>();
}
__device__ inline void awaitTaken(uint32_t phase) { phase % 2 == 0 ? await<2>() : await<3>(); }
__device__ inline void arriveTaken(uint32_t phase) { phase % 2 == 0 ? arrive<2>() : arrive<3>(); }

// Says what the decoder reads next.
enum class Next {
    header,
    stored,
    symbols
};

// Turns bits into tokens, in the first warp. All lanes of the warp call each function together. A
// function that returns a status returns PENDING while there is more to decode.
struct TokenDecoder {
    TileShared& shared;
    BitReader bits;
    Next next = Next::header;
    bool final = false;
    uint32_t blocks = 0;
    uint32_t tokens = 0;     // how many tokens have begun
    uint32_t before = 0;     // `tokens` as it was before the last round
    uint32_t storedLeft = 0; // bytes that the stored block still has
    uint32_t pending = 0;    // mask of the lanes that read a distance next
    // For this lane's match: the number of its token, and its length - 1 in the upper half, as in a
    // token. `length` is 0 if the lane reads a literal or a length next.
    uint32_t slot = 0, length = 0;
    uint32_t tableMask = 0, tableBase = 0; // select the table that this lane reads next

    // Runs one phase.
    __device__ uint32_t phase();
    // Returns how many tokens are complete. If a lane still has to read a distance, the tokens of
    // the last round do not count.
    __device__ uint32_t completeTokens() const { return pending != 0 ? before : tokens; }

private:
    __device__ uint32_t readHeader();
    __device__ uint32_t readCodeLengths(uint32_t litCount, uint32_t distCount);
    __device__ uint32_t buildCodes(uint32_t type, uint32_t header);
    __device__ uint32_t storedRound();
    __device__ uint32_t symbolRounds();
    __device__ uint32_t symbolRound();
    __device__ bool twoRounds();
    __device__ void take(const TokenDecoder& after);
    __device__ uint32_t lastRounds();
    __device__ uint32_t symbol() const;
    __device__ void nextTable(uint32_t entry, uint32_t value);
    __device__ uint32_t endBlock();
};

// Reads the code lengths of a dynamic block into shared.lengths: first those of literals and
// lengths, and from index 288 on those of distances.
__device__ uint32_t TokenDecoder::readCodeLengths(uint32_t litCount, uint32_t distCount)
{
    const uint32_t total = litCount + distCount;
    uint32_t position = 0, carried = 0;
    while (position < total) {
        const uint32_t entry = shared.table[kDistTable + (bits.peek() & ((1u << kPreBits) - 1))];
        const uint32_t codeLength = entry & 31, symbol = entry >> 10;
        const uint32_t extraBits = symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
        const uint32_t extra = bits.peek() >> codeLength & ((1u << extraBits) - 1);
        const uint32_t run = symbol < 16 ? 1 : (symbol == 18 ? 11 : 3) + extra;
        const uint32_t inclusive = warpInclusiveSum(run), at = position + inclusive - run;
        const bool valid = at < total;

        // A repeat (symbol 16) has the value of the nearest lower lane that is no repeat.
        const uint32_t defines = __ballot_sync(kAllLanes, symbol != 16);
        const uint32_t defined = symbol < 16 ? symbol : 0;
        const uint32_t source = symbol == 16 ? defines & lanesBelow() : 1u << laneIndex();
        const uint32_t fromLane =
            __shfl_sync(kAllLanes, defined, source != 0 ? static_cast<int>(highestBit(source)) : 0);
        const uint32_t value = source != 0 ? fromLane : carried;
        if (valid && value != 0) {
#pragma unroll
            for (uint32_t k = 0; k < 6; ++k) {
                const uint32_t i = at + k;
                if (k < run && i < total) {
                    shared.lengths[i < litCount ? i : i - litCount + SLUICE_GD_LITLEN_SYMS] =
                        static_cast<uint8_t>(value);
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

// Builds the tables of a dynamic (type 2) or static (type 1) block. `header` is the bits of the
// stream behind the block's type.
__device__ uint32_t TokenDecoder::buildCodes(uint32_t type, uint32_t header)
{
    const uint32_t lane = laneIndex();
    uint32_t litCount = SLUICE_GD_LITLEN_SYMS, distCount = SLUICE_GD_DIST_SYMS;
    __syncwarp();
    if (type == 2) {
        litCount = (header & 31) + 257;
        distCount = (header >> 5 & 31) + 1;
        const uint32_t preCount = (header >> 10 & 15) + 4;
        // The order in which a header lists the code lengths of the precode's symbols (RFC 1951,
        // 3.2.7): 5 bits for each symbol, 12 symbols in a word.
        constexpr uint64_t order0 = 16ull | 17ull << 5 | 18ull << 10 | 0ull << 15 | 8ull << 20 |
                                    7ull << 25 | 9ull << 30 | 6ull << 35 | 10ull << 40 |
                                    5ull << 45 | 11ull << 50 | 4ull << 55;
        constexpr uint64_t order1 =
            12ull | 3ull << 5 | 13ull << 10 | 2ull << 15 | 14ull << 20 | 1ull << 25 | 15ull << 30;
        shared.lengths[lane] = 0;
        __syncwarp();
        if (lane < preCount) {
            const uint32_t place =
                static_cast<uint32_t>(lane < 12 ? order0 >> lane * 5 : order1 >> (lane - 12) * 5) &
                31;
            shared.lengths[place] = static_cast<uint8_t>(bits.peek() & 7);
            bits.consume(3);
        }
        if (!bits.refill()) return SLUICE_ST_TRUNCATED;
        if (!huffmanBuild<kPreBits, 1>(shared.lengths, shared.sorted, shared.code[0],
                                       shared.table + kDistTable, shared.huffman, precodeEntry)) {
            return SLUICE_ST_BAD_CODE;
        }
#pragma unroll
        for (uint32_t i = 0; i < sizeof(shared.lengths) / 4; i += kWarpSize) {
            if (i + lane < sizeof(shared.lengths) / 4)
                reinterpret_cast<uint32_t*>(shared.lengths)[i + lane] = 0;
        }
        __syncwarp();
        const uint32_t status = readCodeLengths(litCount, distCount);
        if (status != SLUICE_ST_OK) return status;
    } else {
#pragma unroll
        for (uint32_t i = lane; i < sizeof(shared.lengths); i += kWarpSize) {
            shared.lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
        }
    }
    constexpr uint32_t firstDistance = SLUICE_GD_LITLEN_SYMS;
    const bool good = huffmanBuild<kDistBits, SLUICE_GD_DIST_SYMS / kWarpSize>(
        shared.lengths + firstDistance, shared.sorted + firstDistance, shared.code[1],
        shared.table + kDistTable, shared.huffman, distEntry);
    // The table of literals overlaps the code lengths in memory, so it is built last.
    if (!good || !huffmanBuild<kLitBits, SLUICE_GD_LITLEN_SYMS / kWarpSize>(
                     shared.lengths, shared.sorted, shared.code[0], shared.table, shared.huffman,
                     litEntry)) {
        return SLUICE_ST_BAD_CODE;
    }
    pending = 0;
    nextTable(0, 0);
    return SLUICE_ST_OK;
}

// Does one round of a stored block: reads up to 32 bytes, one in each lane. A block of 0 bytes
// takes one round too, which only refills.
__device__ uint32_t TokenDecoder::storedRound()
{
    const uint32_t n = min(storedLeft, kWarpSize);
    if (laneIndex() < n) {
        shared.expand.token[(tokens + laneIndex()) % kTokenRing] = bits.peek() & 0xff;
        bits.consume(8);
    }
    if (!bits.refill()) return SLUICE_ST_TRUNCATED;
    tokens += n;
    storedLeft -= n;
    return storedLeft == 0 ? endBlock() : SLUICE_ST_PENDING;
}

// Returns the table entry of this lane's next symbol.
__device__ uint32_t TokenDecoder::symbol() const
{
    const uint32_t entry = shared.table[(bits.peek() & tableMask) | tableBase];
    if (entry != 0) return entry;
    const uint32_t kind = tableBase / kDistTable;
    return huffmanSearch(bits.peek(), shared.sorted + kind * SLUICE_GD_LITLEN_SYMS,
                         shared.code[kind]);
}

// Chooses the table for this lane's next symbol: after a length the lane reads a distance, after
// everything else a literal or a length. `entry` and `value` are those of the symbol just read.
__device__ void TokenDecoder::nextTable(uint32_t entry, uint32_t value)
{
    const uint32_t begins = entry & kLength;
    length = selectIf(begins, min(value, 0xffffu) << 16, 0);
    tableMask = selectIf(begins, (1u << kDistBits) - 1, (1u << kLitBits) - 1);
    tableBase = selectIf(begins, kDistTable, 0);
}

// Copies from `after`, the decoder's state some rounds later, the members that rounds change.
__device__ void TokenDecoder::take(const TokenDecoder& after)
{
    bits = after.bits;
    tokens = after.tokens;
    before = after.before;
    pending = after.pending;
    slot = after.slot;
    length = after.length;
    tableMask = after.tableMask;
    tableBase = after.tableBase;
}

// Does one round. A lane that has read a length in the round before reads the distance of that
// match; all other lanes read a literal or a length.
__device__ uint32_t TokenDecoder::symbolRound()
{
    const uint32_t entry = symbol();
    if (__any_sync(kAllLanes, static_cast<int>(entry) < 0)) return lastRounds();
    const uint32_t value = huffmanValue(entry, bits.peek());
    if (length == 0) slot = tokens + static_cast<uint32_t>(__popc(~pending & lanesBelow()));
    if (entry & kStores) shared.expand.token[slot % kTokenRing] = value + length;
    bits.consume(entry);
    nextTable(entry, value);
    if (!bits.refill()) return SLUICE_ST_TRUNCATED;
    before = tokens;
    tokens += kWarpSize - static_cast<uint32_t>(__popc(pending));
    pending = __ballot_sync(kAllLanes, static_cast<int>(length));
    return SLUICE_ST_PENDING;
}

// Does two rounds with one refill, which makes the chain of dependent instructions a third shorter.
// Returns false if this is not possible: if a lane's second symbol needs bits of the refill between
// the rounds, if a symbol ends the block or is undefined, or if the input may end. In that case
// nothing has changed, except for tokens that are not published yet.
__device__ bool TokenDecoder::twoRounds()
{
    TokenDecoder after = *this;
    const uint32_t entry0 = after.symbol();
    const uint32_t value0 = huffmanValue(entry0, after.bits.peek());
    if (length == 0) after.slot = tokens + static_cast<uint32_t>(__popc(~pending & lanesBelow()));
    if (entry0 & kStores) shared.expand.token[after.slot % kTokenRing] = value0 + length;
    after.bits.consume(entry0);
    after.nextTable(entry0, value0);
    after.before = tokens + kWarpSize - static_cast<uint32_t>(__popc(pending));
    after.pending = __ballot_sync(kAllLanes, static_cast<int>(after.length));

    const uint32_t left = after.bits.bits, entry1 = after.symbol();
    const uint32_t value1 = huffmanValue(entry1, after.bits.peek());
    if (after.length == 0)
        after.slot = after.before + static_cast<uint32_t>(__popc(~after.pending & lanesBelow()));
    if (entry1 & kStores) shared.expand.token[after.slot % kTokenRing] = value1 + after.length;
    after.bits.consume(entry1);
    after.nextTable(entry1, value1);
    after.tokens = after.before + kWarpSize - static_cast<uint32_t>(__popc(after.pending));
    const uint32_t rare = entry0 | entry1 | after.bits.bits | bits.room();
    after.bits.refillTwo(left);
    after.pending = __ballot_sync(kAllLanes, static_cast<int>(after.length));
    if (__any_sync(kAllLanes, static_cast<int>(rare) < 0)) return false;
    take(after);
    bits.moveWindow();
    return true;
}

// Does the rounds of one phase.
__device__ uint32_t TokenDecoder::symbolRounds()
{
    for (uint32_t round = 0; round < kRounds; round += 2) {
        if (twoRounds()) continue;
#pragma unroll 1
        for (uint32_t i = 0; i < 2; ++i) {
            const uint32_t status = symbolRound();
            if (status != SLUICE_ST_PENDING || next != Next::symbols) return status;
        }
    }
    return SLUICE_ST_PENDING;
}

// Does the round in which the block ends, and one more for matches that still lack their distance.
__device__ uint32_t TokenDecoder::lastRounds()
{
    const uint32_t lane = laneIndex();
    uint32_t entry = symbol();
    // In this round, lanes above the lowest end-of-block symbol read only distances.
    const uint32_t ends = __ballot_sync(kAllLanes, (entry & (kSpecial | kUndefined)) == kSpecial);
    // The mask of the lanes up to the lowest one with an end-of-block symbol; all ones if no lane
    // has it.
    const uint32_t upToEnd = ends ^ (ends - 1);
    if (~(pending | upToEnd) >> lane & 1) entry = 0;
    if (__any_sync(kAllLanes, (entry & kUndefined) != 0)) return SLUICE_ST_BAD_CODE;

    uint32_t value = huffmanValue(entry, bits.peek());
    // The mask of the lanes that begin a token, which an end-of-block symbol does not.
    const uint32_t begin = ~pending & upToEnd >> 1;
    if (length == 0) slot = tokens + static_cast<uint32_t>(__popc(begin & lanesBelow()));
    if (entry & kStores) shared.expand.token[slot % kTokenRing] = value + length;
    bits.consume(entry);
    nextTable(entry, value);
    if (!bits.refill()) return SLUICE_ST_TRUNCATED;
    before = tokens;
    tokens += static_cast<uint32_t>(__popc(begin));
    pending = __ballot_sync(kAllLanes, length != 0);

    if (pending != 0) {
        entry = length != 0 ? symbol() : 0;
        value = huffmanValue(entry, bits.peek());
        if (length != 0) shared.expand.token[slot % kTokenRing] = value + length;
        bits.consume(entry);
        if (!bits.refill()) return SLUICE_ST_TRUNCATED;
    }
    pending = 0;
    return endBlock();
}

// Ends the block. If it was the last one, the tile is complete.
__device__ uint32_t TokenDecoder::endBlock()
{
    next = Next::header;
    return final ? SLUICE_ST_OK : SLUICE_ST_PENDING;
}

// Reads the header of the next block and builds its codes.
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

// Runs one phase: reads a header, or does up to kRounds rounds.
__device__ uint32_t TokenDecoder::phase()
{
    if (next == Next::header) return readHeader();
    if (next == Next::symbols) return symbolRounds();
    uint32_t status = SLUICE_ST_PENDING;
    for (uint32_t round = 0; round < kRounds && status == SLUICE_ST_PENDING && next == Next::stored;
         ++round) {
        status = storedRound();
    }
    return status;
}

// Runs in the first warp: turns the tile's bits into tokens, phase by phase.
__device__ void decodeTokens(TileShared& shared, const uint8_t* source, uint32_t sourceSize)
{
    TokenDecoder decoder = {shared};
    uint32_t status = SLUICE_ST_PENDING;
    if (!decoder.bits.begin(reinterpret_cast<const uint32_t*>(source), sourceSize, shared.window))
        status = SLUICE_ST_TRUNCATED;
    for (uint32_t phase = 0;; ++phase) {
        bool wanted = true;
        if (phase >= 2) {
            awaitTaken(phase);
            wanted = uniform(shared.failed[phase % 2]) == 0;
        }
        if (status == SLUICE_ST_PENDING) status = wanted ? decoder.phase() : SLUICE_ST_OK;
        if (laneIndex() == 0)
            shared.published[phase % 2] = make_uint2(decoder.completeTokens(), status);
        arrivePublished(phase);
        if (status != SLUICE_ST_PENDING) return;
    }
}

// Runs in the second warp: turns tokens into bytes, and returns the tile's status. After a bad
// token it makes no more bytes, but goes through the phases until the first warp has seen the
// error.
template <typename Tile>
__device__ uint32_t expandTokens(TileShared& shared, const Tile& out, uint32_t size)
{
    LzExpander<Tile> expander = {shared.expand, out, size};
    expander.begin();
    uint32_t expanded = SLUICE_ST_OK;
    for (uint32_t phase = 0;; ++phase) {
        awaitPublished(phase);
        const uint2 said = shared.published[phase % 2],
                    published = make_uint2(uniform(said.x), uniform(said.y));
        const bool more = published.y == SLUICE_ST_PENDING;
        if (expanded == SLUICE_ST_OK) expanded = expander.expand(published.x, more);
        if (!more) {
            if (expanded != SLUICE_ST_OK) return expanded;
            expander.finish();
            return published.y == SLUICE_ST_OK && expander.end < size ? SLUICE_ST_TOO_SHORT
                                                                      : published.y;
        }
        if (laneIndex() == 0) shared.failed[phase % 2] = expanded != SLUICE_ST_OK;
        arriveTaken(phase);
    }
}

// Copies a tile that is stored without compression.
template <typename Tile>
__device__ void copyPlain(const uint8_t* source, const Tile& out, uint32_t size)
{
    const uint32_t* from = reinterpret_cast<const uint32_t*>(source);
#pragma unroll 8
    for (uint32_t i = threadIdx.x; i < size / 4; i += kThreads)
        *out.template pointer<uint32_t>(4 * i) = from[i];
    const uint32_t at = size / 4 * 4 + threadIdx.x;
    if (at < size) *out.template pointer<uint8_t>(at) = source[at];
}

template <typename Tile>
__global__ void __launch_bounds__(kThreads, kGdeflateBlocksPerProcessor)
    gdeflateKernel(RegionParams params)
{
    __shared__ TileShared shared;
    const uint32_t index = blockIdx.x;
    if (index >= regionCount(params)) return;

    const Region region = loadRegion(params, index);
    uint32_t status = SLUICE_ST_BAD_REGION;
    if (uniform(sourceAllowed(params, region, SLUICE_GD_MAX_COMPRESSED) &&
                destinationAllowed(params, region, SLUICE_GD_TILE_BYTES))) {
        const uint8_t* source = globalPointer<const uint8_t>(region.source);
        const Tile out(params, region.destination);
        const uint32_t size = static_cast<uint32_t>(region.size);
        if (uniform(params.flags & SLUICE_FLAG_STORED_IF_EQUAL &&
                    region.sourceSize == region.size)) {
            copyPlain(source, out, size);
            status = SLUICE_ST_OK;
        } else {
            if (uniform(warpIndex()) == 0) {
                decodeTokens(shared, source, static_cast<uint32_t>(region.sourceSize));
            } else {
                status = expandTokens(shared, out, size);
            }
        }
    }
    if (threadIdx.x == kWarpSize) writeStatus(params, index, status);
}

} // namespace

cudaError_t loadGdeflate(CudaTraits&)
{
    const cudaError_t error = load(gdeflateKernel<LinearTile>);
    return error != cudaSuccess ? error : load(gdeflateKernel<PitchedTile>);
}

cudaError_t launchGdeflate(cudaStream_t stream, const RegionParams& params)
{
    if (params.maxRegionCount == 0) return cudaSuccess;
    return params.rowBytes == 0
               ? launch(stream, gdeflateKernel<LinearTile>, params.maxRegionCount, kThreads, params)
               : launch(stream, gdeflateKernel<PitchedTile>, params.maxRegionCount, kThreads,
                        params);
}

} // namespace sluice
