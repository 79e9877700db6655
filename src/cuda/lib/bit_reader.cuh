// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit reader of a warp. It feeds 32 bit streams, one per lane, from one list of 32-bit words,
// interleaved as in shaders/lib/bit_reader.glsl.
#pragma once

#include "cuda/lib/warp.cuh"

namespace sluice {

// The words of shared memory that a reader needs: a row of 32 words, in which the read position is,
// and the row behind it.
constexpr uint32_t kBitWindow = 2 * kWarpSize;

// Each lane holds up to 64 bits. A *refill* follows every step of decoding: each lane that has
// fewer than 32 bits takes one word. All lanes share one read position, from which they take words
// in the order of the lanes. The words pass through a window of two rows in shared memory. The row
// behind the window is already being loaded into registers (`ahead`), so that no refill waits for
// memory.
struct BitReader {
    const uint32_t* words;
    uint32_t* window;  // kBitWindow words of shared memory
    uint32_t count;    // number of words
    uint32_t lastMask; // ones in the valid bits of the last word
    uint32_t next;  // index of the next word, for all lanes; above `count`: the input was too short
    uint32_t limit; // when `next` reaches it, the window moves or the input ends
    uint32_t ahead; // this lane's word of the row behind the window
    // The lane has `bits` bits, which begin at bit 0 of `low` and go on in `high`. The lowest is
    // the next bit of the stream.
    uint32_t low, high, bits;

    // Begins to read the `bytes` bytes at `source`; `shared` has kBitWindow words. All lanes call
    // it together. Returns false if the input has fewer than 32 words.
    __device__ bool begin(const uint32_t* source, uint32_t bytes, uint32_t* shared)
    {
        words = source;
        window = shared;
        count = (bytes + 3) / 4;
        lastMask = bytes % 4 == 0 ? 0xffffffffu : (1u << (bytes % 4) * 8) - 1;
        const uint32_t row0 = load(0), row1 = load(1);
        ahead = load(2);
        window[laneIndex()] = valid(row0, 0);
        window[kWarpSize + laneIndex()] = valid(row1, 1);
        __syncwarp();
        next = low = high = bits = 0;
        limit = min(kWarpSize, count + 1);
        return refill();
    }

    // Returns the lane's next bits, the first one lowest. After a refill at least 32 of them are
    // valid.
    __device__ uint32_t peek() const { return low; }

    // Removes the lane's next n % 32 bits.
    __device__ void consume(uint32_t n)
    {
        n &= 31;
        low = __funnelshift_r(low, high, n);
        high >>= n;
        bits -= n;
    }

    // Refills all lanes together. Returns false if the input was too short.
    __device__ bool refill()
    {
        const bool full = bits >= 32;
        const uint32_t takers = ~__ballot_sync(kAllLanes, full);
        const uint32_t word =
            window[(next + static_cast<uint32_t>(__popc(takers & lanesBelow()))) % kBitWindow];
        // The shift is clamped, so lanes that have 32 bits or more add nothing here.
        low |= __funnelshift_lc(0, word, bits);
        if (!full) {
            high = __funnelshift_l(word, 0, bits);
            bits += 32;
        }
        next += static_cast<uint32_t>(__popc(takers));
        return next < limit || advance();
    }

    // Returns how many words would be left after a refill in which all 32 lanes take one. As a
    // signed integer, the number is negative if there are too few words.
    __device__ uint32_t room() const { return count - kWarpSize - next; }

    // Does the refills of two steps of decoding at once. `first` is how many bits this lane had
    // after the first step; the member `bits` is how many it has after the second. This function
    // does not test for the end of the input, so room() must not be negative. In the two steps
    // together, no lane may have consumed more bits than it had, so that none needs two words. All
    // lanes call this together.
    __device__ void refillTwo(uint32_t first)
    {
        const uint32_t takersFirst = __ballot_sync(kAllLanes, first < 32),
                       takers = __ballot_sync(kAllLanes, bits < 32);
        const uint32_t before =
            first < 32 ? takersFirst & lanesBelow() : takersFirst | (takers & lanesBelow());
        const uint32_t word = window[(next + static_cast<uint32_t>(__popc(before))) % kBitWindow];
        // The shift is clamped, so lanes that have 32 bits or more add nothing here.
        low |= __funnelshift_lc(0, word, bits);
        if (bits < 32) {
            high = __funnelshift_l(word, 0, bits);
            bits += 32;
        }
        next += static_cast<uint32_t>(__popc(takers));
    }
    // Moves the window if the read position has left its first row. Must be called after
    // refillTwo().
    __device__ void moveWindow()
    {
        if (next >= limit) advance();
    }

private:
    // Returns this lane's word of a row.
    __device__ uint32_t load(uint32_t row) const
    {
        const uint32_t index = row * kWarpSize + laneIndex();
        return index < count ? __ldg(words + index) : 0;
    }
    // Clears those bytes of the last word that are behind the end of the list. load() does not
    // clear them, because it would have to wait until the word has arrived.
    __device__ uint32_t valid(uint32_t word, uint32_t row) const
    {
        return row * kWarpSize + laneIndex() + 1 == count ? word & lastMask : word;
    }

    // Moves the window by one row. That is enough, because a refill takes at most 32 words. Returns
    // false if the input was too short.
    __device__ bool advance()
    {
        if (next > count) return false;
        const uint32_t row = next / kWarpSize;
        // The barrier waits until all lanes have read the row that is replaced.
        __syncwarp();
        window[(row + 1) % 2 * kWarpSize + laneIndex()] = valid(ahead, row + 1);
        ahead = load(row + 2);
        limit = min((row + 1) * kWarpSize, count + 1);
        __syncwarp();
        return true;
    }
};

} // namespace sluice
