// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads and stores of little-endian numbers at any address.
#pragma once

#include <cstring>

#include "formats/integers.h"

namespace sluice {

// Structures that shaders read have the formats' byte order in memory, and nothing here swaps
// bytes.
#if defined(__BYTE_ORDER__)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "sluice is for little-endian machines: its formats and GPU structures are used in "
              "memory as they are");
#endif

// Loads a number of `size` bytes, 0 .. 8.
inline u64 loadLe(const void* from, size_t size)
{
    u64 value = 0;
    for (size_t i = 0; i < size; ++i)
        value |= u64(static_cast<const u8*>(from)[i]) << 8 * i;
    return value;
}
inline u32 loadLe16(const void* from)
{
    const u8* bytes = static_cast<const u8*>(from);
    return u32(bytes[0] | bytes[1] << 8); // compilers make one load of this
}
inline u32 loadLe24(const void* from) { return u32(loadLe(from, 3)); }
inline u32 loadLe32(const void* from)
{
    u32 value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
inline u64 loadLe64(const void* from)
{
    u64 value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Stores the low `size` bytes of a number.
inline void storeLe(void* to, u64 value, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        static_cast<u8*>(to)[i] = u8(value >> 8 * i);
}
inline void storeLe16(void* to, u32 value) { storeLe(to, value, 2); }
inline void storeLe32(void* to, u32 value) { std::memcpy(to, &value, sizeof value); }
inline void storeLe64(void* to, u64 value) { std::memcpy(to, &value, sizeof value); }

} // namespace sluice
