// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit streams of a tile of the float codec (docs/format.md, 6.3), and the decoding of rows. The
// tile's words are one list for all lanes of a warp. Each lane holds two words; when it has used up
// one, it takes the next word of the list. If several lanes take a word at the same time, they do
// so in the order of the lanes. The words pass through a ring in shared memory.
//
// A row is 256 symbols, 8 per lane. A lane makes four *look-ups* in a row, each of which gives one
// or two symbols. If that makes fewer than 8 symbols, the missing ones are decoded one by one. In
// the last two rows lanes take 16 bits at a time, and only if the next look-up needs them.
#pragma once

#include "cuda/lib/float_table.cuh"

namespace sluice::float_decode {

// True for types whose plane of bits has 3 or 4 bits per element. Their loads have a hint that
// makes the L2 cache fetch 256 bytes, and so the next row too.
template <uint32_t Type>
constexpr bool kHint = bitsOf(Type) >= 3;
// Loads data that is read only once.
template <uint32_t Type>
__device__ inline uint32_t loadOnce(const uint32_t* from)
{
    if (!kHint<Type>) return __ldcs(from);
    uint32_t value;
    asm("ld.global.cs.L2::256B.u32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
}
template <uint32_t Type>
__device__ inline uint2 loadOnce(const uint2* from)
{
    if (!kHint<Type>) return __ldcs(from);
    uint2 value;
    asm("ld.global.cs.L2::256B.v2.u32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "l"(from));
    return value;
}

// Returns threadIdx.x. It is read anew each time, so that it occupies no register in between.
__device__ inline uint32_t threadNow()
{
    uint32_t result;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(result));
    return result;
}
__device__ inline void storeShared(uint32_t at, uint2 value)
{
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};"
                 :
                 : "r"(at), "r"(value.x), "r"(value.y)
                 : "memory");
}
__device__ inline uint32_t loadSharedHalf(uint32_t at)
{
    uint16_t value;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(value) : "r"(at) : "memory");
    return value;
}
// A lane has used up a word if bit 5 of `used` differs from bit 5 of `before`. Such a lane moves
// `low` to `high` and takes a word into `low`. The words are in shared memory from address `next`
// on, which this function advances. `below` is Stream::below. In PTX, one predicate serves for all
// of this.
__device__ inline void takeWord(uint32_t used, uint32_t before, uint32_t below, uint32_t& next,
                                uint32_t& high, uint32_t& low)
{
    asm volatile("{ .reg .pred p; .reg .u32 t, at;"
                 " xor.b32 t, %3, %4; and.b32 t, t, 32; setp.ne.u32 p, t, 0;"
                 " vote.sync.ballot.b32 t, p, 0xffffffff;"
                 " mul.lo.u32 at, t, %5; popc.b32 at, at; mad.lo.u32 at, at, 4, %0;"
                 " @p mov.u32 %1, %2; @p ld.shared.u32 %2, [at];"
                 " popc.b32 t, t; mad.lo.u32 %0, t, 4, %0; }"
                 : "+r"(next), "+r"(high), "+r"(low)
                 : "r"(used), "r"(before), "r"(below)
                 : "memory");
}

// Returns true if `flags` is not 0 in some lane, or if `next` has reached `end`.
__device__ inline bool anyLane(uint32_t flags, uint32_t next, uint32_t end)
{
    uint32_t result;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; setp.ge.or.u32 p, %2, %3, p; "
                 "vote.sync.any.pred p, p, 0xffffffff;"
                 " selp.u32 %0, 1, 0, p; }"
                 : "=r"(result)
                 : "r"(flags), "r"(next), "r"(end));
    return result != 0;
}

// The bits of a lane, and the list of words from which all lanes of the warp take. Words behind the
// end of the list are 0. Between two calls of move(), the warp may take at most kChunk words,
// because the ring is sure to hold only that many.
template <uint32_t Type>
struct Stream {
    // How many loads of 8 bytes a lane makes for a chunk.
    static constexpr uint32_t kLoads = kChunk / (2 * kWarpSize);
    BlockShared& shared;
    uint32_t at;    // index of the next pair of words of the list that this lane loads
    uint32_t table; // the table's address in shared memory
    // A ballot multiplied by this number keeps only the bits of the lanes below this one, moved to
    // the top of the word. So the population count of the product counts these lanes.
    uint32_t below;
    // Addresses in shared memory: that of the next word, and the end of the ring's chunk that has
    // to be used up before move() loads another.
    uint32_t next, moveAt;
    // The lane's two words. In the last rows, these are the lane's remaining bits, the next one
    // highest.
    uint32_t high = 0, low = 0;
    uint32_t used = 0;   // how many bits of `high` are used, in the lowest six bits
    uint32_t before = 0; // `used` at the last take(); a word is used up if bit 5 has changed
    // This lane's words of the chunk that enters the ring next.
    uint2 ahead[kLoads];

    // Begins to read the list of `units` pairs of words at `begin`. hasWhole means that the tile
    // has more rows than the last two; each lane then begins with two words.
    __device__ Stream(BlockShared& block, const uint2* begin, uint32_t units, bool hasWhole)
        : shared(block), at(laneIndex()), table(sharedAddress(block.table)),
          below(laneIndex() == 0 ? 0 : 1u << (32 - laneIndex())), next(ring()),
          moveAt(next + 4 * kChunk)
    {
        const TileWords from = {begin, units, hasWhole ? kUnit * kWarpSize : 0};
        if (hasWhole) {
            const uint2 first = load(from);
            high = first.x;
            low = first.y;
        }
        uint2 first[kLoads], second[kLoads];
        load(from, first);
        load(from, second);
        load(from, ahead);
        // After this barrier all lanes have read the words of the previous tile.
        __syncwarp();
        if (laneIndex() == 0) shared.tiles[warpIndex()] = from;
        store(0, first);
        store(kChunk, second);
        __syncwarp();
    }
    // Returns the address of the warp's ring. It is needed so rarely that computing it each time is
    // better than a register.
    __device__ uint32_t ring() const
    {
        return sharedAddress(shared.ring) + threadNow() / kWarpSize * (4 * kRing);
    }
    // Loads this lane's next pair of words.
    __device__ uint2 load(const TileWords& from)
    {
        const uint2 result = at < from.units ? loadOnce<Type>(from.begin + at) : make_uint2(0, 0);
        at += kWarpSize;
        return result;
    }
    // Loads this lane's pairs of words of a chunk.
    __device__ void load(const TileWords& from, uint2 (&to)[kLoads])
    {
#pragma unroll
        for (uint32_t i = 0; i < kLoads; ++i)
            to[i] = load(from);
    }
    // Stores this lane's pairs of words of a chunk, which begins at word `place` of the ring.
    __device__ void store(uint32_t place, const uint2 (&from)[kLoads])
    {
#pragma unroll
        for (uint32_t i = 0; i < kLoads; ++i)
            storeShared(ring() + 4 * (place + 2 * (i * kWarpSize + threadNow() % kWarpSize)),
                        from[i]);
    }
    // Returns TRUNCATED if the lanes have taken more words than the list has, else OK.
    __device__ uint32_t status() const
    {
        const TileWords& tile = shared.tiles[warpIndex()];
        const uint32_t loads = (at - laneIndex()) / kWarpSize - (tile.first != 0 ? 1 : 0);
        // This is how often the read position has gone back to the beginning of the ring.
        const uint32_t turns = (loads / kLoads - 3) / 2;
        const uint32_t bytes = tile.first + turns * (8 * kChunk) + (next - ring());
        return (bytes + kUnit - 1) / kUnit > tile.units ? SLUICE_ST_TRUNCATED : SLUICE_ST_OK;
    }
    // Each lane that has used up one of its two words takes another.
    __device__ void take()
    {
        takeWord(used, before, below, next, high, low);
        before = used;
    }
    // Returns the table's entry for the code in the highest bits of `bits`. From C++ the compiler
    // would make two logic instructions for the address, and the pipe of these instructions limits
    // the speed of a row.
    __device__ uint32_t entryOf(uint32_t bits) const
    {
        uint32_t result;
        asm volatile("{ .reg .u32 at; shr.u32 at, %1, %3; mad.lo.u32 at, at, 4, %2; ld.shared.u32 "
                     "%0, [at]; }"
                     : "=r"(result)
                     : "r"(bits), "r"(table), "n"(32 - kMaxBits)
                     : "memory");
        return result;
    }
    // Returns the lane's next bits, the first one highest.
    __device__ uint32_t window() const { return __funnelshift_l(low, high, used); }
    // Makes two look-ups, each of which gives one or two symbols.
    __device__ void takePairs(uint32_t& first, uint32_t& second)
    {
        const uint32_t bits = window();
        first = entryOf(bits);
        second = entryOf(__funnelshift_l(0, bits, first));
        used += first + second;
    }
    // Moves the ring if a chunk of it has been taken. The ring's third chunk is a copy of the
    // first, so that a whole chunk can be read without wrapping from any place in the first two.
    __device__ void move()
    {
        if (__any_sync(kAllLanes, next >= moveAt)) {
            __syncwarp();
            const uint32_t middle = ring() + 4 * kChunk;
            if (moveAt == middle) {
                store(0, ahead);
                store(2 * kChunk, ahead);
                moveAt = middle + 4 * kChunk;
            } else {
                store(kChunk, ahead);
                next -= 8 * kChunk;
                moveAt = middle;
            }
            load(shared.tiles[threadNow() / kWarpSize], ahead);
            __syncwarp();
        }
    }

    // Begins the last rows. From here on, the bits of `high` and, behind them, of `low` begin with
    // the lane's next bit. `used` is now how many bits the lane has; all bits behind these are 0.
    __device__ void beginLast(bool hasWhole)
    {
        const uint32_t two = used & 31 | (used ^ before) & 32;
        const bool one = two >= 32;
        high = one ? low << (two & 31) : __funnelshift_l(low, high, two);
        low = one ? 0 : low << two;
        used = hasWhole ? 64 - two : 0;
    }
    // Lanes with `need` take 16 bits. They must have fewer than kMaxBits bits, so `high` has room.
    __device__ void takeHalf(bool need)
    {
        const uint32_t takers = __ballot_sync(kAllLanes, need);
        const uint32_t word =
            loadSharedHalf(next + 2 * static_cast<uint32_t>(__popc(takers * below)));
        if (need) {
            high |= word << (16 - used);
            used += 16;
        }
        next += 2 * static_cast<uint32_t>(__popc(takers));
    }
    // Removes `count` bits. This is for the last rows.
    __device__ void drop(uint32_t count)
    {
        high = __funnelshift_l(low, high, count);
        low = __funnelshift_l(0, low, count);
        used -= count;
    }
};

__device__ inline uint32_t flagsOf(const uint32_t (&pairs)[4])
{
    return (pairs[0] | pairs[1] | pairs[2] | pairs[3]) & kShort;
}
// Returns a flag (kShort) for each of a lane's four look-ups, set if the look-up found only one
// symbol. Each flag is in a byte of its own, that of the last look-up in the lowest byte.
__device__ inline uint32_t shortOnes(const uint32_t (&pairs)[4])
{
    const uint32_t low = __byte_perm(pairs[3], pairs[2], 0x40),
                   high = __byte_perm(pairs[1], pairs[0], 0x40);
    return __byte_perm(low, high, 0x5410) & kShort * 0x1010101;
}
// If `what` equals `with`, replaces `a` by the bytes of `a` and `b` that Selector chooses. From C++
// the compiler would always permute and then select.
template <uint32_t Selector>
__device__ inline void permuteIfSame(uint32_t& a, uint32_t b, uint32_t what, uint32_t with)
{
    asm("{ .reg .pred p; setp.eq.u32 p, %2, %3; @p prmt.b32 %0, %0, %1, %4; }"
        : "+r"(a)
        : "r"(b), "r"(what), "r"(with), "n"(Selector));
}
// If `what` is above `than`, replaces `a` by the bytes of `a` and `b` that Selector chooses.
template <uint32_t Selector>
__device__ inline void permuteIfMore(uint32_t& a, uint32_t b, uint32_t what, uint32_t than)
{
    asm("{ .reg .pred p; setp.gt.u32 p, %2, %3; @p prmt.b32 %0, %0, %1, %4; }"
        : "+r"(a)
        : "r"(b), "r"(what), "r"(than), "n"(Selector));
}
// Appends the first symbol of entry `one` to a row. The symbol fills the last look-up that has
// found only one symbol, and the symbols behind it move forward by one place. `shorts` is what
// shortOnes has returned; its lowest flag is cleared. In lanes with shorts == 0 nothing changes.
template <uint32_t Type>
__device__ inline void addSymbol(uint32_t (&pairs)[4], uint32_t& shorts, uint32_t one)
{
    constexpr uint32_t shift = isByte(Type) ? 0x3520 : 0x5432,
                       fill = isByte(Type) ? 0x3510 : 0x5410;
    const uint32_t last = shorts & (0 - shorts);
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t own = kShort << (24 - 8 * i), next = i < 3 ? pairs[i + 1] : one;
        permuteIfSame<fill>(pairs[i], next, last, own);
        if (i > 0) permuteIfMore<shift>(pairs[i], next, last, own);
    }
    shorts &= shorts - 1;
}

// Decodes a row, except the last two of a tile. Each word of `pairs` gets two symbols, in the bits
// where table entries have them.
template <uint32_t Type>
__device__ inline void decodeRow(Stream<Type>& stream, uint32_t (&pairs)[4])
{
    stream.take();
    stream.takePairs(pairs[0], pairs[1]);
    stream.take();
    stream.takePairs(pairs[2], pairs[3]);
    // One vote covers both rare cases: symbols are missing, or the ring has to move.
    if (__builtin_expect(anyLane(flagsOf(pairs), stream.next, stream.moveAt), 0)) {
        // The loop below takes at most 4 words per lane, that is, no more than a chunk.
        stream.move();
        uint32_t shorts = shortOnes(pairs);
#pragma unroll 1
        while (__any_sync(kAllLanes, shorts != 0)) {
            stream.take();
            const uint32_t one = stream.entryOf(stream.window());
            stream.used += shorts != 0 ? one >> formOf(Type).length : 0;
            addSymbol<Type>(pairs, shorts, one);
        }
        stream.move();
    }
}

// Decodes one of the last two rows.
template <uint32_t Type>
__device__ inline void decodeLastRow(Stream<Type>& stream, uint32_t (&pairs)[4])
{
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t guess = stream.entryOf(stream.high);
        stream.takeHalf(stream.used < ((guess & kShort) != 0 ? kMaxBits : guess & 15));
        pairs[i] = stream.entryOf(stream.high);
        stream.drop(pairs[i] & 15);
    }
    stream.move();
    uint32_t shorts = shortOnes(pairs);
#pragma unroll 1
    while (__any_sync(kAllLanes, shorts != 0)) {
        const uint32_t guess = stream.entryOf(stream.high);
        stream.takeHalf(shorts != 0 && stream.used < (guess >> formOf(Type).length & 15));
        const uint32_t one = stream.entryOf(stream.high);
        stream.drop(shorts != 0 ? one >> formOf(Type).length & 15 : 0);
        addSymbol<Type>(pairs, shorts, one);
        stream.move();
    }
}

} // namespace sluice::float_decode
