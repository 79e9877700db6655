// SPDX-License-Identifier: MIT OR Apache-2.0
// The copies of the fast decoders. A *wild* copy copies whole blocks: it may write up to kWildBytes
// past the requested bytes, and read as far past the source. The caller makes sure that this memory
// exists, and later overwrites the bytes behind the requested ones.
#pragma once

#include "formats/integers.h"

#include <cstring>

namespace sluice::cpu::fast {

constexpr uint32_t kWildBytes = 32;

// These copy 8, 16 or 32 bytes. Compilers turn each into a few loads and stores. The source of
// copy8 and copy16 may overlap the destination, because these load all bytes before they store any.
inline void copy8(uint8_t* to, const uint8_t* from) { std::memcpy(to, from, 8); }
inline void copy16(uint8_t* to, const uint8_t* from)
{
    uint64_t words[2];
    std::memcpy(words, from, 16);
    std::memcpy(to, words, 16);
}
inline void copy32(uint8_t* to, const uint8_t* from)
{
    copy16(to, from);
    copy16(to + 16, from + 16);
}

// Makes a wild copy of `size` bytes, in blocks of 32. The source must not overlap the bytes that
// are written.
inline void copyWild(uint8_t* to, const uint8_t* from, uint32_t size)
{
    copy32(to, from);
    for (uint32_t at = 32; at < size; at += 32)
        copy32(to + at, from + at);
}

// Repeats the last `distance` bytes before `to`, at least 1, until `size` bytes are written. The
// result is that of to[i] = to[i - distance] for one i after the other. This is a wild copy.
inline void repeatWild(uint8_t* to, uint32_t distance, uint32_t size)
{
    const uint8_t* from = to - distance;
    if (distance >= 16) {
        copy16(to, from);
        copy16(to + 16, from + 16);
        for (uint32_t at = 32; at < size; at += 32) {
            copy16(to + at, from + at);
            copy16(to + at + 16, from + at + 16);
        }
        return;
    }
    if (distance == 1) {
        const uint64_t byte = *from * 0x0101010101010101u, words[2] = {byte, byte};
        for (uint32_t at = 0; at < size; at += 16)
            std::memcpy(to + at, words, 16);
        return;
    }
    // The distance is 2 to 15. Copies of eight bytes must not overlap their source, so they need a
    // distance of at least 8: `back`, a multiple of the real one. If the distance is below 8, the
    // first eight bytes are written one by one, so that the pattern reaches back far enough.
    uint32_t back = distance;
    if (distance < 8) {
        for (uint32_t i = 0; i < 8; ++i)
            to[i] = from[i];
        while (back < 8)
            back += distance;
        if (size <= 8) return;
        to += 8;
        size -= 8;
    }
    for (uint32_t at = 0; at < size; at += 8)
        copy8(to + at, to + at - back);
}

// Does what repeatWild does, but writes no byte past to + size.
inline void repeatExactly(uint8_t* to, uint32_t distance, uint32_t size)
{
    if (distance >= size) {
        std::memcpy(to, to - distance, size);
        return;
    }
    for (uint32_t i = 0; i < size; ++i)
        to[i] = to[i - std::ptrdiff_t(distance)];
}

} // namespace sluice::cpu::fast
