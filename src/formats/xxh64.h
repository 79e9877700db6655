// SPDX-License-Identifier: MIT OR Apache-2.0
// XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), of which Zstandard frames keep the low
// half.
#pragma once

#include "formats/little_endian.h"

namespace sluice {

struct Xxh64 {
    static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u, kPrime2 = 0xC2B2AE3D27D4EB4Fu,
                              kPrime3 = 0x165667B19E3779F9u, kPrime4 = 0x85EBCA77C2B2AE63u,
                              kPrime5 = 0x27D4EB2F165667C5u;

    static uint64_t rotate(uint64_t value, uint32_t bits)
    {
        return value << bits | value >> (64 - bits);
    }
    static uint64_t round(uint64_t lane, uint64_t input)
    {
        return rotate(lane + input * kPrime2, 31) * kPrime1;
    }
};

// XXH64 of size bytes. bytes may be NULL if size is 0.
inline uint64_t xxh64(const void* bytes, size_t size, uint64_t seed)
{
    using X = Xxh64;
    const uint8_t* at = static_cast<const uint8_t*>(bytes);
    size_t left = size;
    uint64_t hash = seed + X::kPrime5;
    if (left >= 32) {
        uint64_t lane[4] = {seed + X::kPrime1 + X::kPrime2, seed + X::kPrime2, seed,
                            seed - X::kPrime1};
        for (; left >= 32; at += 32, left -= 32) {
            for (uint32_t i = 0; i < 4; ++i)
                lane[i] = X::round(lane[i], loadLe64(at + 8 * i));
        }
        hash = X::rotate(lane[0], 1) + X::rotate(lane[1], 7) + X::rotate(lane[2], 12) +
               X::rotate(lane[3], 18);
        for (const uint64_t value : lane)
            hash = (hash ^ X::round(0, value)) * X::kPrime1 + X::kPrime4;
    }
    hash += size;
    for (; left >= 8; at += 8, left -= 8)
        hash = X::rotate(hash ^ X::round(0, loadLe64(at)), 27) * X::kPrime1 + X::kPrime4;
    if (left >= 4) {
        hash = X::rotate(hash ^ loadLe32(at) * X::kPrime1, 23) * X::kPrime2 + X::kPrime3;
        at += 4;
        left -= 4;
    }
    for (; left > 0; ++at, --left)
        hash = X::rotate(hash ^ *at * X::kPrime5, 11) * X::kPrime1;
    hash = (hash ^ hash >> 33) * X::kPrime2;
    hash = (hash ^ hash >> 29) * X::kPrime3;
    return hash ^ hash >> 32;
}

} // namespace sluice
