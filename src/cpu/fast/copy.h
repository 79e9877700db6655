// SPDX-License-Identifier: MIT OR Apache-2.0
// Copy functions for the fast decoders. A *wild* copy rounds the size up: it may write up to
// kWildBytes behind the requested bytes, and read up to kWildBytes behind the source. The caller
// makes sure that this memory may be accessed, and overwrites the excess bytes later.
#pragma once

#include "formats/integers.h"

#include <cstring>

namespace sluice::cpu::fast {

constexpr uint32_t kWildBytes = 32;

// Copy 8, 16 or 32 bytes. Compilers turn each function into a few loads and stores. For copy8 and
// copy16 source and destination may overlap, because all bytes are loaded before any is stored.
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

// Copies `size` bytes in blocks of 32, so it may write up to kWildBytes behind them (a wild copy).
// The source must not overlap the bytes that are written.
inline void copyWild(uint8_t* to, const uint8_t* from, uint32_t size)
{
    copy32(to, from);
    for (uint32_t at = 32; at < size; at += 32)
        copy32(to + at, from + at);
}

// Repeats the `distance` bytes before `to` (at least 1) in `size` bytes from `to` on, as if to[i] =
// to[i - distance] were done for ascending i. May write up to kWildBytes more (a wild copy).
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
    // The distance is 2 to 15. The loop copies eight bytes at a time, and a copy must not overlap
    // its source. So the source lies `back` bytes before, the smallest multiple of the distance
    // that is at least 8. If the distance is below 8, first write eight bytes one by one, so that
    // there is a source that far back.
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

// Writes the bytes that repeatWild writes, but none past to + size.
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
