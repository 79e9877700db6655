// SPDX-License-Identifier: MIT OR Apache-2.0
// XXH32 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), the hash of tiles, headers and tables.
#pragma once

#include <cstring>

#include "formats/little_endian.h"

namespace sluice {

// The state of a hash that is being computed. It is plain data, so that it can be copied. add()
// takes bytes in pieces of any size.
struct Xxh32 {
    static constexpr uint32_t kPrime1 = 0x9E3779B1u, kPrime2 = 0x85EBCA77u, kPrime3 = 0xC2B2AE3Du,
                              kPrime4 = 0x27D4EB2Fu, kPrime5 = 0x165667B1u;

    uint32_t lane[4];
    uint32_t total; // number of bytes so far, modulo 2^32 as specified
    uint32_t large; // 1: `lane` is in use, since at least 16 bytes have been hashed
    uint32_t seed;
    uint32_t pending; // number of bytes in `tail`
    uint8_t tail[16];

    static uint32_t rotate(uint32_t value, uint32_t bits)
    {
        return value << bits | value >> (32 - bits);
    }

    void begin(uint32_t newSeed)
    {
        seed = newSeed;
        lane[0] = seed + kPrime1 + kPrime2;
        lane[1] = seed + kPrime2;
        lane[2] = seed;
        lane[3] = seed - kPrime1;
        total = large = pending = 0;
    }

    void stripe(const uint8_t* bytes)
    {
        for (uint32_t i = 0; i < 4; ++i)
            lane[i] = rotate(lane[i] + loadLe32(bytes + 4 * i) * kPrime2, 13) * kPrime1;
        large = 1;
    }

    void add(const void* data, size_t size)
    {
        if (size == 0) return;
        const uint8_t* bytes = static_cast<const uint8_t*>(data);
        total += uint32_t(size);
        if (pending != 0) {
            const size_t room = 16 - pending, take = size < room ? size : room;
            std::memcpy(tail + pending, bytes, take);
            pending += uint32_t(take);
            bytes += take;
            size -= take;
            if (pending < 16) return;
            stripe(tail);
            pending = 0;
        }
        for (; size >= 16; bytes += 16, size -= 16)
            stripe(bytes);
        if (size != 0) {
            std::memcpy(tail, bytes, size);
            pending = uint32_t(size);
        }
    }

    uint32_t value() const
    {
        uint32_t hash = seed + kPrime5;
        if (large != 0)
            hash =
                rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) + rotate(lane[3], 18);
        hash += total;
        const uint32_t words = pending / 4 % 4;
        for (uint32_t i = 0; i < words; ++i)
            hash = rotate(hash + loadLe32(tail + 4 * i) * kPrime3, 17) * kPrime4;
        for (uint32_t i = 0; i < pending % 4; ++i)
            hash = rotate(hash + tail[4 * words + i] * kPrime5, 11) * kPrime1;
        hash = (hash ^ hash >> 15) * kPrime2;
        hash = (hash ^ hash >> 13) * kPrime3;
        return hash ^ hash >> 16;
    }
};

// Returns the XXH32 of `size` bytes. `bytes` may be NULL if size is 0.
inline uint32_t xxh32(const void* bytes, size_t size, uint32_t seed)
{
    Xxh32 hash;
    hash.begin(seed);
    hash.add(bytes, size);
    return hash.value();
}

} // namespace sluice
