// SPDX-License-Identifier: MIT OR Apache-2.0
// The values of one column of a filtered section: residuals, which stand in planes or small
// records, and their places in the records of the tile.
#pragma once

#include "formats/filter.h"
#include "formats/little_endian.h"

namespace sluice::cpu::fast {

// Loads and stores of 8, 16 or 32 bits at any address. Compilers turn each into one instruction.
template <typename T>
inline T loadValue(const u8* from);
template <>
inline u8 loadValue<u8>(const u8* from)
{
    return *from;
}
template <>
inline u16 loadValue<u16>(const u8* from)
{
    return u16(loadLe16(from));
}
template <>
inline u32 loadValue<u32>(const u8* from)
{
    return loadLe32(from);
}
inline void storeValue(u8* to, u8 value) { *to = value; }
inline void storeValue(u8* to, u16 value)
{
    to[0] = u8(value);
    to[1] = u8(value >> 8);
}
inline void storeValue(u8* to, u32 value) { storeLe32(to, value); }

// Residuals are read this many at a time, so that one loop takes them out of their planes and
// another one predicts.
constexpr u32 kChunk = 256;

template <typename T>
class Residuals {
public:
    // `planes` are those of the column's bytes in `filtered`.
    Residuals(const FilterColumn& column, const FilterPlane* planes, const u8* filtered)
        : m_step(planes[0].step), m_isSplit(column.has(filterSplit)),
          m_isZigzag(column.has(filterZigzag))
    {
        for (u32 b = 0; b < sizeof(T); ++b)
            m_planes[b] = filtered + planes[b].start;
    }

    // Reads the values of records first .. first + count - 1, as differences. count is at most
    // kChunk.
    void read(u32 first, u32 count, T* to) const
    {
        if (sizeof(T) == 1 && m_step == 1) {
            std::memcpy(to, m_planes[0] + first, count);
        } else if (m_isSplit) {
            readPlanes(first, count, to);
        } else {
            const u8* from = m_planes[0] + size_t(first) * m_step;
            for (u32 i = 0; i < count; ++i, from += m_step)
                to[i] = loadValue<T>(from);
        }
        if (!m_isZigzag) return;
        for (u32 i = 0; i < count; ++i)
            to[i] = T(T(to[i] >> 1) ^ T(0u - (to[i] & 1u)));
    }

private:
    void readPlanes(u32 first, u32 count, T* to) const
    {
        const u8* planes[sizeof(T)];
        for (u32 b = 0; b < sizeof(T); ++b)
            planes[b] = m_planes[b] + first;
        for (u32 i = 0; i < count; ++i) {
            u32 value = 0;
            for (u32 b = 0; b < sizeof(T); ++b)
                value |= u32(planes[b][i]) << 8 * b;
            to[i] = T(value);
        }
    }

    const u8* m_planes[sizeof(T)];
    u32 m_step;
    bool m_isSplit, m_isZigzag;
};

// The values of a column in the records.
template <typename T>
struct Values {
    u8* first; // points to the value in record 0
    u32 stride;

    u8* at(u32 i) const { return first + size_t(i) * stride; }
    T get(u32 i) const { return loadValue<T>(at(i)); }
};

} // namespace sluice::cpu::fast
