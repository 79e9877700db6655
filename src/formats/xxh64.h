// SPDX-License-Identifier: MIT OR Apache-2.0
// XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md). The low half of this hash is the checksum
// of a Zstandard frame.
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

// The XXH64 of bytes that come piece by piece.
class Xxh64Stream {
public:
    explicit Xxh64Stream(uint64_t seed = 0)
        : m_seed(seed), m_lanes{seed + Xxh64::kPrime1 + Xxh64::kPrime2, seed + Xxh64::kPrime2, seed,
                                seed - Xxh64::kPrime1}
    {
    }

    // `bytes` may be NULL if `size` is 0.
    void add(const void* bytes, size_t size)
    {
        const uint8_t* at = static_cast<const uint8_t*>(bytes);
        const size_t held = size_t(m_size % kStripe);
        m_size += size;
        if (held != 0) {
            const size_t more = size < kStripe - held ? size : kStripe - held;
            std::memcpy(m_held + held, at, more);
            if (held + more < kStripe) return;
            at += more;
            size -= more;
            addStripes(m_held, kStripe);
        }
        addStripes(at, size);
        if (size % kStripe != 0) std::memcpy(m_held, at + size / kStripe * kStripe, size % kStripe);
    }

    uint64_t value() const
    {
        using X = Xxh64;
        uint64_t hash = m_seed + X::kPrime5;
        if (m_size >= kStripe) {
            hash = X::rotate(m_lanes[0], 1) + X::rotate(m_lanes[1], 7) + X::rotate(m_lanes[2], 12) +
                   X::rotate(m_lanes[3], 18);
            for (const uint64_t lane : m_lanes)
                hash = (hash ^ X::round(0, lane)) * X::kPrime1 + X::kPrime4;
        }
        hash += m_size;
        const uint8_t* at = m_held;
        size_t left = size_t(m_size % kStripe);
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

private:
    static constexpr size_t kStripe = 32;

    void addStripes(const uint8_t* at, size_t size)
    {
        uint64_t lanes[4] = {m_lanes[0], m_lanes[1], m_lanes[2], m_lanes[3]};
        for (; size >= kStripe; at += kStripe, size -= kStripe) {
            for (uint32_t i = 0; i < 4; ++i)
                lanes[i] = Xxh64::round(lanes[i], loadLe64(at + 8 * i));
        }
        std::memcpy(m_lanes, lanes, sizeof lanes);
    }

    uint64_t m_seed, m_size = 0, m_lanes[4];
    uint8_t m_held[kStripe] = {}; // the bytes after the last complete stripe
};

// Returns the XXH64 of `size` bytes. `bytes` may be NULL if `size` is 0.
inline uint64_t xxh64(const void* bytes, size_t size, uint64_t seed)
{
    Xxh64Stream stream(seed);
    stream.add(bytes, size);
    return stream.value();
}

} // namespace sluice
