// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit reader of a warp: 32 bit streams fed from one list of words, as in
// shaders/lib/bit_reader.glsl.
#pragma once

#include "cuda/lib/warp.cuh"

namespace sluice {

// Words of shared memory that a reader needs: two rows of 32, of which the first holds the read
// position.
constexpr uint32_t kBitWindow = 2 * kWarpSize;

// Each lane holds up to 64 bits. After every step the lanes that fell below 32 bits take one word
// each, in lane order, from the shared read position. The words pass through a window in shared
// memory, and the row after the window is already on its way, so that no refill waits for memory.
struct BitReader {
    const uint32_t* words;
    uint32_t* window;  // kBitWindow words of shared memory
    uint32_t count;    // number of words
    uint32_t lastMask; // valid bits of the last word
    uint32_t next;     // shared read position; past count: the input was too short
    uint32_t limit;    // when next gets here, the window moves or the input is over
    uint32_t ahead;    // this lane's word of the row after the window
    uint32_t low, high, bits;

    // All lanes begin together. Returns false if there are fewer than 32 words.
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

    // Returns the next bits, least significant first; 32 of them are valid after a refill.
    __device__ uint32_t peek() const { return low; }

    // Takes n bits, 0 .. 31; higher bits of n are ignored.
    __device__ void consume(uint32_t n)
    {
        n &= 31;
        low = __funnelshift_r(low, high, n);
        high >>= n;
        bits -= n;
    }

    // All lanes refill together. Returns false if the input was too short.
    __device__ bool refill()
    {
        const bool full = bits >= 32;
        const uint32_t takers = ~__ballot_sync(kAllLanes, full);
        const uint32_t word =
            window[(next + static_cast<uint32_t>(__popc(takers & lanesBelow()))) % kBitWindow];
        low |= __funnelshift_lc(0, word, bits); // adds nothing from 32 bits on
        if (!full) {
            high = __funnelshift_l(word, 0, bits);
            bits += 32;
        }
        next += static_cast<uint32_t>(__popc(takers));
        return next < limit || advance();
    }

    // Negative as an integer if there is not a word left for every lane.
    __device__ uint32_t room() const { return count - kWarpSize - next; }

    // Refills for two rounds at once. There must be room(), and no lane may have consumed more bits
    // than it had, so that none takes two words. `first` is how many bits this lane had after the
    // first round. All lanes call it together.
    __device__ void refillTwo(uint32_t first)
    {
        const uint32_t takersFirst = __ballot_sync(kAllLanes, first < 32),
                       takers = __ballot_sync(kAllLanes, bits < 32);
        const uint32_t before =
            first < 32 ? takersFirst & lanesBelow() : takersFirst | (takers & lanesBelow());
        const uint32_t word = window[(next + static_cast<uint32_t>(__popc(before))) % kBitWindow];
        low |= __funnelshift_lc(0, word, bits); // adds nothing from 32 bits on
        if (bits < 32) {
            high = __funnelshift_l(word, 0, bits);
            bits += 32;
        }
        next += static_cast<uint32_t>(__popc(takers));
    }
    __device__ void moveWindow()
    {
        if (next >= limit) advance();
    }

private:
    __device__ uint32_t load(uint32_t row) const
    {
        const uint32_t index = row * kWarpSize + laneIndex();
        return index < count ? __ldg(words + index) : 0;
    }
    // Clears the bytes of the last word that are past the end. This is done after loading, because
    // at the load it would have to wait for the word.
    __device__ uint32_t valid(uint32_t word, uint32_t row) const
    {
        return row * kWarpSize + laneIndex() + 1 == count ? word & lastMask : word;
    }

    // A refill takes at most 32 words, so it crosses at most one row boundary.
    __device__ bool advance()
    {
        if (next > count) return false;
        const uint32_t row = next / kWarpSize;
        __syncwarp(); // all lanes have read the row that is replaced
        window[(row + 1) % 2 * kWarpSize + laneIndex()] = valid(ahead, row + 1);
        ahead = load(row + 2);
        limit = min((row + 1) * kWarpSize, count + 1);
        __syncwarp();
        return true;
    }
};

} // namespace sluice
