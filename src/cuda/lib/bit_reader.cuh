// SPDX-License-Identifier: MIT OR Apache-2.0
// Bit reader of a warp: 32 bit streams fed from one list of words, as in shaders/lib/bit_reader.glsl.
#pragma once

#include "warp.cuh"

namespace sluice {

// Each lane holds up to 64 bits. After every step the lanes that fell below 32 bits take one word each, in lane order,
// from the shared read position.
struct BitReader {
    const uint32_t* words;
    uint32_t count;    // words there are
    uint32_t lastMask; // valid bits of the last one
    uint32_t next;     // shared read position; past count: the input was too short
    uint32_t low, high, bits;

    __device__ void begin(const uint32_t* source, uint32_t bytes)
    {
        words = source;
        count = (bytes + 3) / 4;
        lastMask = bytes % 4 == 0 ? 0xffffffffu : (1u << (bytes % 4) * 8) - 1;
        next = low = high = bits = 0;
        refill();
    }

    // The next bits, least significant first; 32 of them are valid after a refill.
    __device__ uint32_t peek() const { return low; }

    __device__ void consume(uint32_t n) // 0 .. 31
    {
        low = __funnelshift_r(low, high, n);
        high >>= n;
        bits -= n;
    }

    // All lanes together. False: the input was too short.
    __device__ bool refill()
    {
        const bool take = bits < 32;
        const uint32_t takers = __ballot_sync(kAllLanes, take);
        if (take) {
            const uint32_t index = next + static_cast<uint32_t>(__popc(takers & lanesBelow()));
            uint32_t word = index < count ? __ldg(words + index) : 0;
            if (index + 1 == count) word &= lastMask;
            low |= word << bits;
            high = __funnelshift_l(word, 0, bits);
            bits += 32;
        }
        next += static_cast<uint32_t>(__popc(takers));
        return next <= count;
    }
};

} // namespace sluice
