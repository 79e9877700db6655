// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies of the fast decoders. They write whole blocks, past the end of what they copy. So the
// caller must have room for kWildBytes more than it asks for, and must write those bytes later.
#pragma once

#include "formats/integers.h"

#include <cstring>

namespace sluice::cpu::fast {

constexpr uint32_t kWildBytes = 32;

// Compilers turn these into one or two loads and stores.
inline void copy8(uint8_t* to, const uint8_t* from) { std::memcpy(to, from, 8); }
inline void copy16(uint8_t* to, const uint8_t* from)
{
    uint64_t words[2]; // both are loaded before one is stored
    std::memcpy(words, from, 16);
    std::memcpy(to, words, 16);
}
inline void copy32(uint8_t* to, const uint8_t* from)
{
    copy16(to, from);
    copy16(to + 16, from + 16);
}

// Copies `size` bytes that do not overlap their destination.
inline void copyWild(uint8_t* to, const uint8_t* from, uint32_t size)
{
    copy32(to, from);
    for (uint32_t at = 32; at < size; at += 32)
        copy32(to + at, from + at);
}

// Copies `size` bytes to `to` from `distance` bytes before, as if one after the other. `distance`
// is at least 1.
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
    // First eight bytes of the pattern are written, then copies come from so far back that eight
    // bytes do not overlap.
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

// Repeats the `distance` bytes before `to` likewise, but writes no byte past to + size.
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
