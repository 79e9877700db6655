// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles of scans and reductions: loads, stores, and *keys*. All minima and maxima are computed as
// maxima of unsigned keys, one key for each element. Keys have the order of the elements' values
// or, for a minimum, the reverse order.
//
// A thread has kScanRows rows of a tile, each of 16 neighbouring bytes. Row r of all lanes of a
// warp is one range of memory.
#pragma once

#include "layout/lookback.h"
#include "layout/scan.h"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/runs.cuh"

namespace sluice {

constexpr uint32_t kScanThreads = 256;
constexpr uint32_t kScanWarps = kScanThreads / kWarpSize;
constexpr uint32_t kScanRows = 8;
constexpr uint32_t kScanTileBytes = kScanThreads * kScanRows * 16;

// The lowest key of an f32: that of -infinity for a maximum, of +infinity for a minimum.
constexpr uint32_t kLowestKey = 0x007fffff;

// encodeKey returns the key of an element, decodeKey the element that has a key. The element with
// the largest key is the wanted minimum or maximum.
__device__ inline uint32_t encodeIntegerKey(uint32_t bits, const ScanParams& params)
{
    return bits ^ params.flip;
}
__device__ inline uint32_t encodeFloatKey(uint32_t bits, const ScanParams& params)
{
    const bool isNan = (bits & 0x7fffffff) > 0x7f800000;
    const uint32_t key = bits >> 31 != 0 ? ~bits : bits | 0x80000000;
    return isNan ? kLowestKey : key ^ params.flip;
}
__device__ inline uint32_t encodeKey(uint32_t bits, const ScanParams& params)
{
    return params.isFloat == 0 ? encodeIntegerKey(bits, params) : encodeFloatKey(bits, params);
}
__device__ inline uint32_t decodeKey(uint32_t key, const ScanParams& params)
{
    if (params.isFloat == 0) return key ^ params.flip;
    key = max(key, kLowestKey) ^ params.flip;
    return key >> 31 != 0 ? key & 0x7fffffff : ~key;
}
__device__ inline uint64_t flip64(const ScanParams& params)
{
    return static_cast<uint64_t>(params.flip) << 32 | params.flip;
}
__device__ inline uint64_t encodeIntegerKey(uint64_t bits, const ScanParams& params)
{
    return bits ^ flip64(params);
}
__device__ inline uint64_t encodeKey(uint64_t bits, const ScanParams& params)
{
    return encodeIntegerKey(bits, params);
}
__device__ inline uint64_t decodeKey(uint64_t key, const ScanParams& params)
{
    return key ^ flip64(params);
}

__device__ inline uint32_t elementCount(const ScanParams& params)
{
    const uint32_t* count = pointerFrom<const uint32_t>(params.countBuffer);
    return count == nullptr ? params.maxCount : min(params.maxCount, *count);
}

template <typename Op, bool Segmented>
class ScanTile {
public:
    using Value = typename Op::Value;
    using OneRun = Run<Op, Segmented>;
    using Shared = RunShared<Op, Segmented, kScanWarps>;

    static constexpr uint32_t kPerRow = 16 / sizeof(Value);
    static constexpr uint32_t kRows = kScanRows;
    static constexpr uint32_t kElements = kScanTileBytes / sizeof(Value);

    struct alignas(16) Row {
        Value x[kPerRow];
    };

    // Returns how many tiles an input of `elements` elements has.
    static __device__ uint32_t count(uint32_t elements)
    {
        return elements / kElements + (elements % kElements != 0 ? 1u : 0u);
    }

    // Makes tile `tileIndex` of an input of `elements` elements; tiles behind the end are empty.
    __device__ ScanTile(const ScanParams& scanParams, uint32_t tileIndex, uint32_t elements)
        : index(tileIndex), m_params(&scanParams)
    {
        const uint32_t start = index * kElements;
        m_size = start < elements ? min(elements - start, kElements) : 0;
        m_aligned = ((m_params->input_.lo | m_params->output_.lo) & 15) == 0;
        m_wide = m_size == kElements && m_aligned;
    }

    // Loads this thread's elements of a row. Elements behind the end of the tile are the identity.
    __device__ Row load(uint32_t row) const
    {
        const Value* input = pointerFrom<const Value>(m_params->input_) + base();
        const uint32_t at = rowStart(row);
        Row result;
        if (m_wide) {
            *reinterpret_cast<uint4*>(&result) = __ldcs(reinterpret_cast<const uint4*>(input + at));
            return keys(result);
        }
#pragma unroll
        for (uint32_t i = 0; i < kPerRow; ++i)
            result.x[i] = at + i < m_size ? input[at + i] : Op::identity();
        return onlyInside(keys(result), at);
    }

    // Stores this thread's results of a row.
    __device__ void store(uint32_t row, Row values) const
    {
        Value* output = pointerFrom<Value>(m_params->output_) + base();
        const uint32_t at = rowStart(row);
        if constexpr (Op::kIsKey) {
#pragma unroll
            for (uint32_t i = 0; i < kPerRow; ++i)
                values.x[i] = decodeKey(values.x[i], *m_params);
        }
        if (m_wide || (m_aligned && at + kPerRow <= m_size)) {
            __stcs(reinterpret_cast<uint4*>(output + at), *reinterpret_cast<const uint4*>(&values));
        } else {
#pragma unroll
            for (uint32_t i = 0; i < kPerRow; ++i)
                if (at + i < m_size) output[at + i] = values.x[i];
        }
    }

    // Returns the head flags of this thread's elements of a row, bit i for element i. The flags of
    // a tile begin at bit 0 of a word, because tiles have a multiple of 32 elements.
    __device__ uint32_t heads(uint32_t row) const
    {
        if constexpr (!Segmented) return 0;
        const uint32_t at = rowStart(row);
        if (at >= m_size) return 0;
        return pointerFrom<const uint32_t>(m_params->heads)[(base() + at) / 32] >> at % 32;
    }

    // Combines this thread's elements of a row to a run.
    static __device__ OneRun runOf(const Row& row, uint32_t rowHeads)
    {
        OneRun run;
#pragma unroll
        for (uint32_t i = 0; i < kPerRow; ++i)
            run = join(run, OneRun{row.x[i], Segmented && (rowHeads >> i & 1) != 0});
        return run;
    }

    // This thread's elements of a tile.
    struct Elements {
        Row rows[kRows];
        uint32_t heads[kRows];

        // Combines the warp's elements to a run.
        __device__ OneRun warp() const
        {
            OneRun run;
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row) {
                const OneRun own = runOf(rows[row], heads[row]);
                // With segments the order matters, so rows of the warp are joined one by one.
                // Otherwise each lane joins its own rows first, and a single warpRun is enough.
                run = join(run, Segmented ? warpRun(own) : own);
            }
            return Segmented ? run : warpRun(run);
        }
    };

    // Loads this thread's elements.
    __device__ void load(Elements& elements) const
    {
        if (m_wide || !m_aligned) {
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row)
                elements.rows[row] = load(row);
        } else {
            // Whole rows are loaded without branches, so that all loads are in flight together. The
            // elements of the incomplete row are loaded afterwards.
            const Value* input = pointerFrom<const Value>(m_params->input_) + base();
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row) {
                uint4 words = make_uint4(0, 0, 0, 0);
                if (rowStart(row) + kPerRow <= m_size)
                    words = __ldcs(reinterpret_cast<const uint4*>(input + rowStart(row)));
                *reinterpret_cast<uint4*>(&elements.rows[row]) = words;
            }
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row) {
                const uint32_t at = rowStart(row);
                if (at < m_size && at + kPerRow > m_size) {
#pragma unroll
                    for (uint32_t i = 0; i < kPerRow; ++i)
                        if (at + i < m_size) elements.rows[row].x[i] = input[at + i];
                }
                elements.rows[row] = onlyInside(keys(elements.rows[row]), at);
            }
        }
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row)
            elements.heads[row] = heads(row);
    }

    // Loads this thread's elements from a copy of the tile in shared memory. The tile must be
    // whole.
    __device__ void load(Elements& elements, const uint8_t* copy) const
    {
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row) {
            elements.rows[row] =
                keys(*reinterpret_cast<const Row*>(copy + rowStart(row) * sizeof(Value)));
            elements.heads[row] = heads(row);
        }
    }

    // Combines all elements of the tile to a run; the whole block calls this. It is rarely needed,
    // so it goes row by row, which takes few registers.
    __device__ OneRun run(Shared& shared) const
    {
        OneRun run, total;
#pragma unroll 1
        for (uint32_t row = 0; row < kRows; ++row)
            run = join(run, warpRun(runOf(load(row), heads(row))));
        blockRunsBefore(run, shared, total);
        return total;
    }

    uint32_t index;

private:
    // Replaces elements behind the end of the tile by the identity.
    __device__ Row onlyInside(Row row, uint32_t at) const
    {
#pragma unroll
        for (uint32_t i = 0; i < kPerRow; ++i)
            row.x[i] = at + i < m_size ? row.x[i] : Op::identity();
        return row;
    }

    __device__ Row keys(Row row) const
    {
        if constexpr (Op::kIsKey) {
#pragma unroll
            for (uint32_t i = 0; i < kPerRow; ++i)
                row.x[i] = encodeKey(row.x[i], *m_params);
        }
        return row;
    }

    __device__ uint64_t base() const { return static_cast<uint64_t>(index) * kElements; }
    // Returns the index in the tile of this thread's first element of a row.
    static __device__ uint32_t rowStart(uint32_t row)
    {
        return (warpIndex() * kRows + row) * (kWarpSize * kPerRow) + laneIndex() * kPerRow;
    }

    const ScanParams* m_params;
    uint32_t m_size;
    bool m_aligned; // input and output are 16-byte aligned
    bool m_wide;    // m_aligned, and the tile is whole
};

// Stores the result of the command. A key is turned into the element that has it.
template <typename Op>
__device__ inline void storeResult(const ScanParams& params, typename Op::Value value)
{
    if constexpr (Op::kIsKey) value = decodeKey(value, params);
    *pointerFrom<typename Op::Value>(params.total) = value;
}

// Scratch has a partial result for each block, where a look-back would have its states. A partial
// result is a Run in two words: its value and its head flag, or a 64-bit value alone.

template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> loadPartial(const ScanParams& params, uint32_t index)
{
    const uint2 words =
        __ldcg(pointerFrom<const uint2>(params.scratch) + SLUICE_LOOKBACK_HEAD / 8 + index);
    Run<Op, Segmented> run;
    memcpy(&run.value, &words, sizeof run.value);
    run.head = Segmented && words.y != 0;
    return run;
}

template <typename Op, bool Segmented>
__device__ inline void storePartial(const ScanParams& params, uint32_t index,
                                    const Run<Op, Segmented>& run)
{
    uint2 words = {0, run.head ? 1u : 0u};
    memcpy(&words, &run.value, sizeof run.value);
    __stcg(pointerFrom<uint2>(params.scratch) + SLUICE_LOOKBACK_HEAD / 8 + index, words);
}

} // namespace sluice
