// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads and stores little-endian numbers at any address.
#pragma once

#include <cstring>

#include "formats/integers.h"

namespace sluice {

// Structures that shaders read have the same bytes in memory as in files, and nothing swaps bytes.
#if defined(__BYTE_ORDER__)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "sluice is for little-endian machines: its formats and GPU structures are used in "
              "memory as they are");
#endif

// Returns a number of `size` bytes, 0 .. 8.
inline uint64_t loadLe(const void* from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i)
        value |= uint64_t(static_cast<const uint8_t*>(from)[i]) << 8 * i;
    return value;
}
inline uint32_t loadLe16(const void* from)
{
    const uint8_t* bytes = static_cast<const uint8_t*>(from);
    return uint32_t(bytes[0] | bytes[1] << 8); // compilers make this one load
}
inline uint32_t loadLe24(const void* from) { return uint32_t(loadLe(from, 3)); }
inline uint32_t loadLe32(const void* from)
{
    uint32_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
inline uint64_t loadLe64(const void* from)
{
    uint64_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Stores the low `size` bytes of a number.
inline void storeLe(void* to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        static_cast<uint8_t*>(to)[i] = uint8_t(value >> 8 * i);
}
inline void storeLe16(void* to, uint32_t value) { storeLe(to, value, 2); }
inline void storeLe32(void* to, uint32_t value) { std::memcpy(to, &value, sizeof value); }
inline void storeLe64(void* to, uint64_t value) { std::memcpy(to, &value, sizeof value); }

} // namespace sluice
