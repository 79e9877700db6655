// SPDX-License-Identifier: MIT OR Apache-2.0
// A destination with padded rows: where the bytes of a tile lie, as in shaders/lib/pitch.glsl.
#pragma once

#include "launch.cuh"

namespace sluice {

// A tile in one piece, with the same functions.
class LinearTile {
public:
    __device__ LinearTile(const RegionParams&, uint64_t tile)
        : begin(reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(tile)))
    {
    }

    template <typename T>
    __device__ T* pointer(uint32_t n) const
    {
        __builtin_assume(__isGlobal(begin)); // else every access asks which memory it is
        return reinterpret_cast<T*>(begin + n);
    }

private:
    uint8_t* begin;
};

class PitchedTile {
public:
    // tile: the region's destination, whose logical offset is its distance to params.destination.
    __device__ PitchedTile(const RegionParams& params, uint64_t tile)
        : rowBytes(params.rowBytes), rowPitch(params.rowPitch), magic(params.rowMagic),
          shift(params.rowShift)
    {
        const uint64_t base = u64From(params.destination), offset = tile - base,
                       first = offset / rowBytes;
        row = base + first * rowPitch;
        column = static_cast<uint32_t>(offset - first * rowBytes);
    }

    // The address of byte n of the tile, n < 2^30. The word that holds it is contiguous.
    __device__ uint64_t address(uint32_t n) const
    {
        const uint32_t at = column + n, rows = __umulhi(at, magic) >> shift;
        return row + static_cast<uint64_t>(rows) * rowPitch + (at - rows * rowBytes);
    }

    template <typename T>
    __device__ T* pointer(uint32_t n) const
    {
        return globalPointer<T>(address(n));
    }

private:
    uint32_t rowBytes, rowPitch, magic, shift;
    uint64_t row;    // address of the row in which the tile begins
    uint32_t column; // the byte of that row with which it begins
};

} // namespace sluice
