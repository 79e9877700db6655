// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the bytes of a tile in a destination whose rows have padding between them
// (RegionParams::rowBytes is not 0). Regions count *logical* bytes, without the padding.
// shaders/lib/pitch.glsl divides bit by bit, since Vulkan devices need not have 64-bit integers.
#pragma once

#include "layout/regions.h"
#include "cuda/lib/launch.cuh"

namespace sluice {

// A tile in a destination whose rows have no padding. It has the functions of PitchedTile.
class LinearTile {
public:
    __device__ LinearTile(const RegionParams&, uint64_t tile)
        : m_begin(reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(tile)))
    {
    }

    template <typename T>
    __device__ T* pointer(uint32_t n) const
    {
        // Without this the compiler makes generic accesses, which find out at run time what memory
        // they access and are slower.
        __builtin_assume(__isGlobal(m_begin));
        return reinterpret_cast<T*>(m_begin + n);
    }

private:
    uint8_t* m_begin;
};

class PitchedTile {
public:
    // `tile` is the address that the tile would have without padding: params.destination plus the
    // number of its first logical byte.
    __device__ PitchedTile(const RegionParams& params, uint64_t tile)
        : m_rowBytes(params.rowBytes), m_rowPitch(params.rowPitch), m_magic(params.rowMagic),
          m_shift(params.rowShift)
    {
        const uint64_t base = u64From(params.destination), offset = tile - base,
                       first = offset / m_rowBytes;
        m_row = base + first * m_rowPitch;
        m_column = static_cast<uint32_t>(offset - first * m_rowBytes);
    }

    // Returns the address of byte n of the tile, n < 2^30. The four bytes of a word of the tile are
    // neighbours in memory, since a row is a whole number of words.
    __device__ uint64_t address(uint32_t n) const
    {
        const uint32_t at = m_column + n, rows = __umulhi(at, m_magic) >> m_shift;
        return m_row + static_cast<uint64_t>(rows) * m_rowPitch + (at - rows * m_rowBytes);
    }

    template <typename T>
    __device__ T* pointer(uint32_t n) const
    {
        return globalPointer<T>(address(n));
    }

private:
    uint32_t m_rowBytes, m_rowPitch, m_magic, m_shift;
    uint64_t m_row;    // address of the row in which the tile begins
    uint32_t m_column; // the byte of that row with which it begins
};

} // namespace sluice
