// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/archive/blake2b.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr uint64_t kStart[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr uint8_t kOrder[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

constexpr uint32_t kRounds = 12;

inline uint64_t rotateRight(uint64_t value, uint32_t bits)
{
    return value >> bits | value << (64 - bits);
}

inline void mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d, uint64_t x, uint64_t y)
{
    a += b + x;
    d = rotateRight(d ^ a, 32);
    c += d;
    b = rotateRight(b ^ c, 24);
    a += b + y;
    d = rotateRight(d ^ a, 16);
    c += d;
    b = rotateRight(b ^ c, 63);
}

} // namespace

Blake2b::Blake2b()
{
    std::copy(std::begin(kStart), std::end(kStart), m_state);
    // The parameter word: fan-out 1, depth 1, no key, and the size of the output in bytes.
    m_state[0] ^= 0x01010000 ^ sizeof(Digest);
}

void Blake2b::compress(const uint8_t* block, bool last)
{
    uint64_t words[16], v[16];
    for (uint32_t i = 0; i < 16; ++i)
        words[i] = loadLe64(block + 8 * i);
    std::copy(m_state, m_state + 8, v);
    std::copy(std::begin(kStart), std::end(kStart), v + 8);
    v[12] ^= m_count; // the upper half of the count is 0, since nobody hashes 2^64 bytes
    if (last) v[14] = ~v[14];
    for (uint32_t round = 0; round < kRounds; ++round) {
        const uint8_t* order = kOrder[round % 10];
        mix(v[0], v[4], v[8], v[12], words[order[0]], words[order[1]]);
        mix(v[1], v[5], v[9], v[13], words[order[2]], words[order[3]]);
        mix(v[2], v[6], v[10], v[14], words[order[4]], words[order[5]]);
        mix(v[3], v[7], v[11], v[15], words[order[6]], words[order[7]]);
        mix(v[0], v[5], v[10], v[15], words[order[8]], words[order[9]]);
        mix(v[1], v[6], v[11], v[12], words[order[10]], words[order[11]]);
        mix(v[2], v[7], v[8], v[13], words[order[12]], words[order[13]]);
        mix(v[3], v[4], v[9], v[14], words[order[14]], words[order[15]]);
    }
    for (uint32_t i = 0; i < 8; ++i)
        m_state[i] ^= v[i] ^ v[i + 8];
}

void Blake2b::add(const void* bytes, size_t size)
{
    const uint8_t* from = static_cast<const uint8_t*>(bytes);
    while (size != 0) {
        if (m_used == sizeof m_block) { // not earlier, since finish() compresses the last block
            m_count += sizeof m_block;
            compress(m_block, false);
            m_used = 0;
        }
        if (m_used == 0) {
            for (; size > sizeof m_block; from += sizeof m_block, size -= sizeof m_block) {
                m_count += sizeof m_block;
                compress(from, false);
            }
        }
        const size_t part = std::min(size, sizeof m_block - m_used);
        std::memcpy(m_block + m_used, from, part);
        m_used += part;
        from += part;
        size -= part;
    }
}

Digest Blake2b::finish()
{
    m_count += m_used;
    std::fill(m_block + m_used, m_block + sizeof m_block, uint8_t(0));
    compress(m_block, true);
    Digest digest;
    for (uint32_t i = 0; i < digest.size() / 8; ++i)
        storeLe64(digest.data() + 8 * i, m_state[i]);
    return digest;
}

} // namespace sluice
