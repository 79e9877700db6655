// SPDX-License-Identifier: MIT OR Apache-2.0
// A tile of a compaction: loads its elements, tests them, and ranks the kept ones. An element's
// *rank* is how many elements of the tile are kept before it.
//
// A thread holds four rows of a tile. A row is 16 consecutive bytes, one element of 12 or 20 bytes,
// or four elements of 1 or 2 bytes, each of which takes a word. Row r of all lanes of a warp is one
// range of the input.
#pragma once

#include "layout/compact.h"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/warp.cuh"

namespace sluice {

constexpr uint32_t kCompactThreads = 256;
constexpr uint32_t kCompactWarps = kCompactThreads / kWarpSize;
constexpr uint32_t kCompactRows = 4;

__device__ inline bool hasMode(const CompactParams& params, uint32_t bits)
{
    return (params.mode & bits) != 0;
}

// Returns the number of elements of the input.
__device__ inline uint32_t elementCount(const CompactParams& params)
{
    const uint32_t* count = pointerFrom<const uint32_t>(params.countBuffer);
    return count == nullptr ? params.maxCount : min(params.maxCount, *count);
}

// Returns a key for the f32 with these bits: keys as unsigned numbers have the order of the f32
// values. -0 has the key of 0.
__device__ inline uint32_t floatKey(uint32_t bits)
{
    if (bits == 0x80000000u) bits = 0;
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

// A tile of the input. `Bytes` is the size of an element.
template <uint32_t Bytes>
class CompactTile {
public:
    static constexpr bool kSmall = Bytes < 4;
    static constexpr uint32_t kWords = kSmall ? 1 : Bytes / 4; // words of an element in a tile
    static constexpr bool kWide = SLUICE_COMPACT_IS_WIDE(Bytes);
    static constexpr uint32_t kRowWords = kWide ? kWords : 4;
    static constexpr uint32_t kPerRow = kRowWords / kWords; // elements of one thread in a row
    static constexpr uint32_t kRows = kCompactRows;
    static constexpr uint32_t kElements = kRows * kPerRow * kCompactThreads;

    // A thread's row: 16 bytes of memory, one element of a WIDE size, or four small elements with a
    // word each.
    struct alignas(kWide ? 4 : 16) Row {
        uint32_t w[kRowWords];
    };

    // The input of the tests BYTES and MASK: a selector (a byte or a bit) decides for each element
    // whether it is kept. For each row of this thread `w` has the selectors, that of the first
    // element lowest.
    struct Selectors {
        uint32_t w[kRows];
    };

    // This thread's elements of a tile, and which of them are kept.
    struct Elements {
        Row rows[kRows];
        uint32_t keep = 0;     // kPerRow bits per row, set for kept elements
        uint32_t ranks[kRows]; // the rank of each row's first kept element in the tile
        uint32_t kept;         // how many elements the whole tile keeps
    };

    // Returns how many tiles an input of `elements` elements has.
    static __device__ uint32_t count(uint32_t elements)
    {
        return elements / kElements + (elements % kElements != 0 ? 1u : 0u);
    }

    // Makes tile `index` of an input with `elements` elements. A tile past the end is empty.
    __device__ CompactTile(const CompactParams& compactParams, uint32_t index, uint32_t elements)
        : m_params(compactParams)
    {
        start = index * kElements;
        size = start < elements ? min(elements - start, kElements) : 0;
        m_input =
            pointerFrom<const uint8_t>(m_params.input_) + static_cast<uint64_t>(start) * Bytes;
        const bool mask = (m_params.mode & SLUICE_COMPACT_MODE_TEST) == SLUICE_COMPACT_TEST_MASK;
        m_selectors =
            pointerFrom<const uint32_t>(m_params.selectors) + (mask ? start / 32 : start / 4);
        m_wholeRows = size == kElements && !kWide && (m_params.input_.lo & 15) == 0;
    }

    // Returns the index in the tile of this thread's first element of a row.
    static __device__ uint32_t rowStart(uint32_t row)
    {
        return ((warpIndex() * kRows + row) * kWarpSize + laneIndex()) * kPerRow;
    }

    // Returns how many elements this thread has in a row.
    __device__ uint32_t rowSize(uint32_t row) const
    {
        const uint32_t at = rowStart(row);
        return at < size ? min(size - at, kPerRow) : 0;
    }

    // Returns the address of the tile's elements in the input.
    __device__ const uint8_t* bytes() const { return m_input; }

    __device__ bool readsElements() const
    {
        return u64From(m_params.output_) != 0 || test() >= SLUICE_COMPACT_TEST_COMPARE;
    }

    // Loads the elements and tests them.
    __device__ void load(Elements& e) const
    {
        if (readsElements()) {
            if (m_wholeRows) {
                loadRows(e, m_input);
            } else {
#pragma unroll
                for (uint32_t row = 0; row < kRows; ++row)
                    e.rows[row] = loadPartOfRow(row);
            }
        }
        setKeep(e, loadSelectors(), m_input);
    }

    // Loads a whole tile from `from`, an aligned address: that of the tile in the input, or that of
    // a copy in shared memory.
    __device__ void loadRows(Elements& e, const uint8_t* from) const
    {
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row)
            e.rows[row] = unpack(reinterpret_cast<const Packed*>(from)[rowStart(row) / kPerRow]);
    }

    __device__ Selectors loadSelectors() const
    {
        Selectors result = {};
        if (test() == SLUICE_COMPACT_TEST_BYTES) {
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row)
                if (rowSize(row) != 0)
                    result.w[row] = m_selectors[rowStart(row) / 4] >> 8 * (rowStart(row) % 4);
        } else if (test() == SLUICE_COMPACT_TEST_MASK) {
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row)
                if (rowSize(row) != 0)
                    result.w[row] = m_selectors[rowStart(row) / 32] >> rowStart(row) % 32;
        }
        return result;
    }

    // Tests the elements and sets e.keep. `from` is the address from which they were loaded; the
    // test UNIQUE also reads from there the element before each row.
    __device__ void setKeep(Elements& e, const Selectors& chosen, const uint8_t* from) const
    {
        e.keep = 0;
        const auto each = [&](auto&& bitsOfRow) {
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row)
                e.keep |= (bitsOfRow(row) & kRowBits) << row * kPerRow;
        };
        if (test() == SLUICE_COMPACT_TEST_COMPARE) {
            if (hasMode(m_params, SLUICE_COMPACT_MODE_F32)) {
                each([&](uint32_t row) { return inRange<true>(e.rows[row]); });
            } else {
                each([&](uint32_t row) { return inRange<false>(e.rows[row]); });
            }
        } else if (test() == SLUICE_COMPACT_TEST_BYTES) {
            each([&](uint32_t row) { return bytesSet(chosen.w[row]); });
        } else if (test() == SLUICE_COMPACT_TEST_MASK) {
            each([&](uint32_t row) { return chosen.w[row]; });
        } else if (test() == SLUICE_COMPACT_TEST_NON_ZERO) {
            each([&](uint32_t row) { return notZero(e.rows[row]); });
        } else {
            each([&](uint32_t row) { return differing(row, e.rows[row], from); });
        }
        if (hasMode(m_params, SLUICE_COMPACT_MODE_INVERT)) e.keep = ~e.keep;
        if (size == kElements) {
            if constexpr (kRows * kPerRow < 32) e.keep &= (1u << kRows * kPerRow) - 1;
        } else {
            uint32_t valid = 0;
#pragma unroll
            for (uint32_t row = 0; row < kRows; ++row)
                valid |= ((1u << rowSize(row)) - 1) << row * kPerRow;
            e.keep &= valid;
        }
    }

    // Computes e.ranks, and e.kept, the number of elements that the tile keeps. The whole block
    // calls it, with a barrier between two calls that use the same array `shared`.
    static __device__ void rank(Elements& e, uint32_t (&shared)[kCompactWarps])
    {
        // A warp keeps at most 128 elements of a row, so a count fits in a byte, and the counts of
        // four rows are summed at once, as the bytes of a word.
        uint32_t warpKept = 0;
#pragma unroll
        for (uint32_t first = 0; first < kRows; first += 4) {
            uint32_t counts = 0;
#pragma unroll
            for (uint32_t i = 0; i < 4; ++i)
                counts |= static_cast<uint32_t>(__popc(e.keep >> (first + i) * kPerRow & kRowBits))
                          << 8 * i;
            const uint32_t inclusive = warpInclusiveSum(counts), before = inclusive - counts;
            const uint32_t totals =
                __shfl_sync(kAllLanes, inclusive, static_cast<int>(kWarpSize - 1));
#pragma unroll
            for (uint32_t i = 0; i < 4; ++i) {
                e.ranks[first + i] = warpKept + (before >> 8 * i & 255);
                warpKept += totals >> 8 * i & 255;
            }
        }
        const WarpPrefix prefix = blockExclusiveSumInTurn(warpKept, shared);
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row)
            e.ranks[row] += prefix.before;
        e.kept = prefix.total;
    }

    // Returns how many elements the tile keeps. The whole block calls it.
    __device__ uint32_t kept(uint32_t (&shared)[kCompactWarps]) const
    {
        Elements e;
        load(e);
        return blockExclusiveSum(warpSum(static_cast<uint32_t>(__popc(e.keep))), shared).total;
    }

    uint32_t start; // index of the tile's first element
    uint32_t size;

private:
    static constexpr uint32_t kRowBits = (1u << kPerRow) - 1;

    // A row as it is in memory.
    static constexpr uint32_t kPackedWords = kSmall ? Bytes : kRowWords;
    struct alignas(kWide ? 4 : 4 * kPackedWords) Packed {
        uint32_t w[kPackedWords];
    };

    __device__ uint32_t test() const { return m_params.mode & SLUICE_COMPACT_MODE_TEST; }

    static __device__ Row unpack(const Packed& packed)
    {
        Row row;
#pragma unroll
        for (uint32_t i = 0; i < kRowWords; ++i) {
            row.w[i] = Bytes == 1   ? packed.w[0] >> 8 * i & 0xff
                       : Bytes == 2 ? packed.w[i / 2 % kPackedWords] >> 16 * (i % 2) & 0xffff
                                    : packed.w[i % kPackedWords];
        }
        return row;
    }

    // Returns an element of 1 or 2 bytes as a word.
    __device__ uint32_t smallAt(const uint8_t* element) const
    {
        return Bytes == 1 ? *element : *reinterpret_cast<const uint16_t*>(element);
    }

    // Loads a row of a tile that is not whole. Words past the tile's end have no meaning.
    __device__ Row loadPartOfRow(uint32_t row) const
    {
        const uint32_t at = rowStart(row), here = rowSize(row);
        Row result;
#pragma unroll
        for (uint32_t i = 0; i < kRowWords; ++i) {
            if constexpr (kSmall) {
                result.w[i] = i < here ? smallAt(m_input + (at + i) * Bytes) : 0;
            } else {
                result.w[i] = i < here * kWords
                                  ? reinterpret_cast<const uint32_t*>(m_input)[at * kWords + i]
                                  : 0;
            }
        }
        return result;
    }

    // The tests. Each returns a bit for each element of a row, set if the element passes. Bits past
    // the tile's end have no meaning.

    static __device__ uint32_t bytesSet(uint32_t bytes)
    {
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t i = 0; i < kPerRow; ++i)
            bits |= (bytes & 0xffu << 8 * i) != 0 ? 1u << i : 0;
        return bits;
    }

    static __device__ uint32_t notZero(const Row& values)
    {
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t i = 0; i < kRowWords; ++i)
            bits |= values.w[i] != 0 ? 1u << i / kWords : 0;
        return bits;
    }

    template <bool IsFloat>
    __device__ uint32_t inRange(const Row& values) const
    {
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t i = 0; i < kPerRow; ++i) {
            bool in;
            if constexpr (kWords == 2) {
                const uint64_t key =
                    static_cast<uint64_t>(values.w[2 * i + 1]) << 32 | values.w[2 * i];
                in = key - u64From(m_params.low) <= u64From(m_params.span);
            } else {
                const uint32_t word = values.w[i * kWords];
                in = (IsFloat ? floatKey(word) : word) - m_params.low.lo <= m_params.span.lo;
            }
            bits |= in ? 1u << i : 0;
        }
        return bits;
    }

    // Returns a mask of the elements that differ from the element before them. The input's first
    // element counts as different.
    __device__ uint32_t differing(uint32_t row, const Row& values, const uint8_t* from) const
    {
        const uint32_t at = rowStart(row);
        uint32_t bits = 0;
        if (rowSize(row) != 0) {
            bool differs = start == 0 && at == 0;
            if (!differs) {
                const uint8_t* before = from + at * Bytes - Bytes;
                if constexpr (kSmall) {
                    differs = smallAt(before) != values.w[0];
                } else {
#pragma unroll
                    for (uint32_t k = 0; k < kWords; ++k)
                        differs =
                            differs || reinterpret_cast<const uint32_t*>(before)[k] != values.w[k];
                }
            }
            bits = differs ? 1 : 0;
        }
#pragma unroll
        for (uint32_t i = kWords; i < kRowWords; ++i)
            bits |= values.w[i] != values.w[i - kWords] ? 1u << i / kWords : 0;
        return bits;
    }

    const CompactParams& m_params;
    const uint8_t* m_input;
    const uint32_t* m_selectors;
    bool m_wholeRows; // the tile is whole, and its rows are aligned
};

} // namespace sluice
