// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes predictions that are sums of residuals: differences from the records before, of orders 1
// to kLeft3 (for order n, sums are taken n times), and UP, which sums down each column of the
// image. A warp takes a column. filter_columns.cuh explains record, column, value and plane.
//
// shaders/lib/filter_differences.glsl has one loop for columns of all widths, and loads wide values
// in halves, because registers are scarce there. Here columns of bytes have their own loops. If
// there are fewer columns than warps, several warps share a column here: sumResiduals() and
// sumBytes() return the sum of a warp's part, which warps with later parts add.
#pragma once

#include "cuda/lib/filter_columns.cuh"

namespace sluice {
namespace {

// Replaces the warp's values, kPerLane in each lane, by their prefix sums, `order` times. carry[o]
// is the sum of pass o over all earlier calls; pass o begins with it and adds its own sum to it.
__device__ void sumValues(uint32_t (&values)[kPerLane], uint32_t (&carry)[kLeft3], uint32_t order)
{
#pragma unroll
    for (uint32_t o = 0; o < kLeft3; ++o) {
        if (o >= order) break;
        uint32_t sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < kPerLane; ++k)
            sum = values[k] += sum;
        const uint32_t inclusive = warpInclusiveSum(sum), before = carry[o] + inclusive - sum;
#pragma unroll
        for (uint32_t k = 0; k < kPerLane; ++k)
            values[k] += before;
        carry[o] += __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
    }
}

// Loads the residuals of kPerLane records, from record `begin` on, a multiple of kPerLane. Values
// behind the last record have no meaning.
__device__ void loadResiduals(const TileAtWork& tile, uint32_t column, uint32_t begin,
                              uint32_t (&values)[kPerLane])
{
    const uint32_t step = shared.step[column], byteStep = shared.byteStep[column],
                   bytes = bytesOf(column);
    const uint8_t* from = tile.planes + shared.from[column];
    // Each byte of these residuals has a plane of its own, so whole words of the planes are loaded.
    if (bytes == 4 && step == 1) {
#pragma unroll
        for (uint32_t w = 0; w < kPerLane / 4; ++w) {
            uint32_t square[4];
#pragma unroll
            for (uint32_t b = 0; b < 4; ++b)
                square[b] = loadWordBefore(from + b * byteStep, begin + 4 * w, tile.count);
            transpose(square);
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k)
                values[4 * w + k] = square[k];
        }
    } else if (bytes == 4) {
#pragma unroll
        for (uint32_t k = 0; k < kPerLane; ++k)
            values[k] = loadWord(from + min(begin + k, tile.count - 1) * step);
    } else {
#pragma unroll
        for (uint32_t k = 0; k < kPerLane; ++k) {
            const uint8_t* at = from + min(begin + k, tile.count - 1) * step;
            values[k] = bytes == 2 ? at[0] | at[byteStep] << 8 : at[0];
        }
    }
    if ((shared.column[column] & kZigzag) == 0) return;
    const uint32_t mask = maskOf(bytes);
#pragma unroll
    for (uint32_t k = 0; k < kPerLane; ++k)
        values[k] = filterUnzigzag(values[k], mask);
}

// Undoes differences of order `order` for records [firstRecord, end). A step takes kWarpSize *
// kPerLane records; firstRecord is a multiple of that. `before` is the value of the record before
// firstRecord, or 0 for orders above 1, which begin with record 0.
__device__ void undoDifferences(const TileAtWork& tile, uint32_t column, uint32_t order,
                                uint32_t firstRecord, uint32_t end, uint32_t before)
{
    uint32_t carry[kLeft3] = {before};
#pragma unroll 1
    for (uint32_t base = firstRecord; base < end; base += kWarpSize * kPerLane) {
        const uint32_t begin = base + laneIndex() * kPerLane;
        uint32_t values[kPerLane];
        loadResiduals(tile, column, begin, values);
        sumValues(values, carry, order);
        if (begin < end)
            for (uint32_t b = 0; b < bytesOf(column); ++b)
                storeBytes(tile, column, b, begin, values);
    }
}
// Returns the sum of the residuals of records [firstRecord, end), a whole number of steps of
// undoDifferences.
__device__ uint32_t sumResiduals(const TileAtWork& tile, uint32_t column, uint32_t firstRecord,
                                 uint32_t end)
{
    uint32_t sum = 0;
#pragma unroll 1
    for (uint32_t base = firstRecord; base < end; base += kWarpSize * kPerLane) {
        uint32_t values[kPerLane];
        loadResiduals(tile, column, base + laneIndex() * kPerLane, values);
#pragma unroll
        for (uint32_t k = 0; k < kPerLane; ++k)
            sum += values[k];
    }
    return warpSum(sum);
}

// Like sumResiduals, for residuals that are neighbouring bytes at `plane`. Only the first `records`
// bytes there belong to the column.
__device__ uint32_t sumBytes(uint32_t column, const uint8_t* plane, uint32_t records,
                             uint32_t begin, uint32_t end)
{
    constexpr uint32_t wordsOfLane = kPerLane / 4;
    const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(plane) & 3);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(plane - lead);
    const uint32_t lastWord = (lead + records - 1) / 4;
    const bool hasZigzag = (shared.column[column] & kZigzag) != 0;
    uint32_t sum = 0;
#pragma unroll 2
    for (uint32_t base = begin; base < end; base += kWarpSize * kPerLane) {
        uint32_t around[wordsOfLane + 1];
#pragma unroll
        for (uint32_t k = 0; k <= wordsOfLane; ++k)
            around[k] = words[min((base + laneIndex() * kPerLane) / 4 + k, lastWord)];
#pragma unroll
        for (uint32_t k = 0; k < wordsOfLane; ++k) {
            const uint32_t packed = __funnelshift_r(around[k], around[k + 1], 8 * lead);
            sum = __dp4a(hasZigzag ? filterUnzigzagBytes(packed) : packed, 0x01010101u, sum);
        }
    }
    return warpSum(sum);
}

// Like undoDifferences, for residuals that are `records` neighbouring bytes at `plane`. Words are
// loaded one step ahead.
__device__ void undoByteDifferences(const TileAtWork& tile, uint32_t column, const uint8_t* plane,
                                    uint32_t records, uint32_t order, uint32_t firstRecord,
                                    uint32_t end, uint32_t before)
{
    constexpr uint32_t wordsOfLane = kPerLane / 4;
    const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(plane) & 3);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(plane - lead);
    const uint32_t lastWord = (lead + records - 1) / 4;
    const bool hasZigzag = (shared.column[column] & kZigzag) != 0;
    uint32_t carry[kLeft3] = {before}, next[wordsOfLane + 1];
    uint32_t begin = firstRecord + laneIndex() * kPerLane;
#pragma unroll
    for (uint32_t k = 0; k <= wordsOfLane; ++k)
        next[k] = words[min(begin / 4 + k, lastWord)];
    for (uint32_t base = firstRecord; base < end; base += kWarpSize * kPerLane) {
        uint32_t values[kPerLane], packed[wordsOfLane];
#pragma unroll
        for (uint32_t k = 0; k < wordsOfLane; ++k)
            packed[k] = __funnelshift_r(next[k], next[k + 1], 8 * lead);
#pragma unroll
        for (uint32_t k = 0; k <= wordsOfLane; ++k)
            next[k] = words[min((begin + kWarpSize * kPerLane) / 4 + k, lastWord)];
#pragma unroll
        for (uint32_t k = 0; k < kPerLane; ++k)
            values[k] =
                byteOf(hasZigzag ? filterUnzigzagBytes(packed[k / 4]) : packed[k / 4], k % 4);
        sumValues(values, carry, order);
        if (begin + kPerLane <= records) {
            storeBytes(tile, column, 0, begin, values);
        } else {
// With UP, only the first row is undone here. Behind it may be residuals of the next row, which
// must not be overwritten.
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k)
                if (begin + k < records) storeValue(tile, column, begin + k, values[k]);
        }
        begin += kWarpSize * kPerLane;
    }
}

// Undoes UP for a column of bytes. Its residuals are neighbouring bytes at `from`, and its first
// row is undone already. A lane takes four neighbouring columns of the image, which are one word of
// each row, and sums down all rows.
__device__ void undoByteUp(const TileAtWork& tile, uint32_t column, const uint8_t* from)
{
    const uint32_t quads = (min(tile.width, tile.count) + 3) / 4,
                   rowCount = (tile.count + tile.width - 1) / tile.width;
    const bool hasZigzag = (shared.column[column] & kZigzag) != 0, isAligned = tile.width % 4 == 0;
    const uint32_t fromLead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 3);
    const uint32_t* fromWords = reinterpret_cast<const uint32_t*>(from - fromLead);
    const uint32_t lastFrom = (fromLead + tile.count - 1) / 4;
    uint8_t* values = tile.scratch + shared.values[column];
    // This barrier makes the first row visible, which other lanes have undone.
    __syncwarp();
    for (uint32_t base = 0; base < quads; base += kWarpSize) {
        const uint32_t quad = base + laneIndex();
        if (quad >= quads) continue;
        uint32_t sum = reinterpret_cast<const uint32_t*>(values)[quad];
        for (uint32_t row = 1; row < rowCount; row += kRowsAhead) {
            uint32_t packed[kRowsAhead];
#pragma unroll
            for (uint32_t k = 0; k < kRowsAhead; ++k) {
                const uint32_t at = fromLead + (row + k) * tile.width + 4 * quad;
                packed[k] = __funnelshift_r(fromWords[min(at / 4, lastFrom)],
                                            fromWords[min(at / 4 + 1, lastFrom)], 8 * (at & 3));
            }
#pragma unroll
            for (uint32_t k = 0; k < kRowsAhead; ++k) {
                const uint32_t i = (row + k) * tile.width + 4 * quad;
                sum = filterAddBytes(sum, hasZigzag ? filterUnzigzagBytes(packed[k]) : packed[k]);
                if (isAligned) {
                    if (i < tile.count) *reinterpret_cast<uint32_t*>(values + i) = sum;
                } else {
                    for (uint32_t b = 0; b < 4; ++b)
                        if (i + b < tile.count && 4 * quad + b < tile.width)
                            values[i + b] = static_cast<uint8_t>(sum >> 8 * b);
                }
            }
        }
    }
}

// The whole block undoes UP for all columns wider than a byte. Their first rows are undone already.
// A thread takes one position in the row and sums down all rows.
__device__ void undoWideUps(const TileAtWork& tile)
{
    const uint32_t across = min(tile.width, tile.count);
    for (uint32_t task = threadIdx.x; task < shared.upCount * across; task += kThreads) {
        const uint32_t image = task / across, x = task - image * across, column = shared.ups[image];
        uint32_t sum = loadValue(tile, column, x);
        for (uint32_t i = x + tile.width; i < tile.count; i += kRowsAhead * tile.width) {
            uint32_t values[kRowsAhead];
#pragma unroll
            for (uint32_t k = 0; k < kRowsAhead; ++k)
                values[k] = i + k * tile.width < tile.count
                                ? residual(tile, column, i + k * tile.width)
                                : 0;
#pragma unroll
            for (uint32_t k = 0; k < kRowsAhead; ++k) {
                sum += values[k];
                if (i + k * tile.width < tile.count)
                    storeValue(tile, column, i + k * tile.width, sum);
            }
        }
    }
}
} // namespace
} // namespace sluice
