// SPDX-License-Identifier: MIT OR Apache-2.0
// XXH32 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), the hash of tiles, headers and tables.
#pragma once

#include <cstring>

#include "formats/little_endian.h"

namespace sluice {

// A hash in progress, as plain data that can be copied. add() takes the bytes in pieces of any
// size.
struct Xxh32 {
    static constexpr u32 kPrime1 = 0x9E3779B1u, kPrime2 = 0x85EBCA77u, kPrime3 = 0xC2B2AE3Du,
                         kPrime4 = 0x27D4EB2Fu, kPrime5 = 0x165667B1u;

    u32 lane[4];
    u32 total; // bytes so far, modulo 2^32 as the specification has it
    u32 large; // 1 once a whole stripe of 16 bytes has been hashed
    u32 seed;
    u32 pending; // bytes in tail
    u8 tail[16];

    static u32 rotate(u32 value, u32 bits) { return value << bits | value >> (32 - bits); }

    void begin(u32 newSeed)
    {
        seed = newSeed;
        lane[0] = seed + kPrime1 + kPrime2;
        lane[1] = seed + kPrime2;
        lane[2] = seed;
        lane[3] = seed - kPrime1;
        total = large = pending = 0;
    }

    void stripe(const u8* bytes)
    {
        for (u32 i = 0; i < 4; ++i)
            lane[i] = rotate(lane[i] + loadLe32(bytes + 4 * i) * kPrime2, 13) * kPrime1;
        large = 1;
    }

    void add(const void* data, size_t size)
    {
        if (size == 0) return;
        const u8* bytes = static_cast<const u8*>(data);
        total += u32(size);
        if (pending != 0) {
            const size_t room = 16 - pending, take = size < room ? size : room;
            std::memcpy(tail + pending, bytes, take);
            pending += u32(take);
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
            pending = u32(size);
        }
    }

    u32 value() const
    {
        u32 hash = seed + kPrime5;
        if (large != 0)
            hash =
                rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) + rotate(lane[3], 18);
        hash += total;
        const u32 words = pending / 4 % 4;
        for (u32 i = 0; i < words; ++i)
            hash = rotate(hash + loadLe32(tail + 4 * i) * kPrime3, 17) * kPrime4;
        for (u32 i = 0; i < pending % 4; ++i)
            hash = rotate(hash + tail[4 * words + i] * kPrime5, 11) * kPrime1;
        hash = (hash ^ hash >> 15) * kPrime2;
        hash = (hash ^ hash >> 13) * kPrime3;
        return hash ^ hash >> 16;
    }
};

// Returns the XXH32 of `size` bytes. `bytes` may be NULL if size is 0.
inline u32 xxh32(const void* bytes, size_t size, u32 seed)
{
    Xxh32 hash;
    hash.begin(seed);
    hash.add(bytes, size);
    return hash.value();
}

} // namespace sluice
