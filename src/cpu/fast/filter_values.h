// SPDX-License-Identifier: MIT OR Apache-2.0
// The values of one column of a filtered section. The filtered bytes have a *residual* for each
// value: its difference from a guess. A column's residuals are stored either in planes, one for
// each byte of a residual, or unsplit, m_step bytes apart. In the tile the values are stored in
// *records*, which are `stride` bytes apart.
#pragma once

#include "formats/filter.h"
#include "formats/little_endian.h"

namespace sluice::cpu::fast {

// Load and store values of 8, 16 or 32 bits at any address. Compilers turn each into one
// instruction.
template <typename T>
inline T loadValue(const uint8_t* from);
template <>
inline uint8_t loadValue<uint8_t>(const uint8_t* from)
{
    return *from;
}
template <>
inline uint16_t loadValue<uint16_t>(const uint8_t* from)
{
    return uint16_t(loadLe16(from));
}
template <>
inline uint32_t loadValue<uint32_t>(const uint8_t* from)
{
    return loadLe32(from);
}
inline void storeValue(uint8_t* to, uint8_t value) { *to = value; }
inline void storeValue(uint8_t* to, uint16_t value)
{
    to[0] = uint8_t(value);
    to[1] = uint8_t(value >> 8);
}
inline void storeValue(uint8_t* to, uint32_t value) { storeLe32(to, value); }

// Residuals are read in chunks of this size: one loop joins their bytes, then another loop adds the
// guesses.
constexpr uint32_t kChunk = 256;

// Reads the residuals of one column whose values have the type T.
template <typename T>
class Residuals {
public:
    // planes: where the residuals are stored. If they are split, there is a plane for each byte of
    // a residual, which holds that byte of all residuals. Otherwise planes[0] says where the
    // residuals begin, and the others are not used.
    Residuals(const FilterColumn& column, const FilterPlane* planes, const uint8_t* filtered)
        : m_step(planes[0].step), m_isSplit(column.has(filterSplit)),
          m_isZigzag(column.has(filterZigzag))
    {
        for (uint32_t b = 0; b < sizeof(T); ++b)
            m_planes[b] = filtered + planes[b].start;
    }

    // Reads the residuals of records first .. first + count - 1 and undoes their zigzag form, which
    // keeps the sign in bit 0. `count` is at most kChunk.
    void read(uint32_t first, uint32_t count, T* to) const
    {
        if (sizeof(T) == 1 && m_step == 1) {
            std::memcpy(to, m_planes[0] + first, count);
        } else if (m_isSplit) {
            readPlanes(first, count, to);
        } else {
            const uint8_t* from = m_planes[0] + size_t(first) * m_step;
            for (uint32_t i = 0; i < count; ++i, from += m_step)
                to[i] = loadValue<T>(from);
        }
        if (!m_isZigzag) return;
        for (uint32_t i = 0; i < count; ++i)
            to[i] = T(T(to[i] >> 1) ^ T(0u - (to[i] & 1u)));
    }

private:
    // Reads residuals that are split: byte b of each residual is in plane b.
    void readPlanes(uint32_t first, uint32_t count, T* to) const
    {
        const uint8_t* planes[sizeof(T)];
        for (uint32_t b = 0; b < sizeof(T); ++b)
            planes[b] = m_planes[b] + first;
        for (uint32_t i = 0; i < count; ++i) {
            uint32_t value = 0;
            for (uint32_t b = 0; b < sizeof(T); ++b)
                value |= uint32_t(planes[b][i]) << 8 * b;
            to[i] = T(value);
        }
    }

    // The addresses at which the planes begin or, in m_planes[0], residuals that are not split.
    const uint8_t* m_planes[sizeof(T)];
    uint32_t m_step; // bytes from one record's residual to the next one's
    bool m_isSplit, m_isZigzag;
};

// Where a column's values are in the records of the tile.
template <typename T>
struct Values {
    uint8_t* first;  // the value of record 0
    uint32_t stride; // bytes from one record to the next

    uint8_t* at(uint32_t i) const { return first + size_t(i) * stride; }
    T get(uint32_t i) const { return loadValue<T>(at(i)); }
};

} // namespace sluice::cpu::fast
