// SPDX-License-Identifier: MIT OR Apache-2.0
// Sections of run-length packets of a Targa file (docs/format.md, 8.4). A packet is a header byte
// and then pixels; the filtered section has all headers first and then all pixels. A header
// determines how many bytes its packet has in the output, so a prefix sum of these numbers finds
// where each header belongs.
//
// shaders/lib/filter_records.glsl inserts the headers while it makes the bytes of pixels, one by
// one. Here the fast loops for records put the pixels together in scratch, and writePackets then
// moves them between the headers.
#pragma once

#include "cuda/lib/filter_columns.cuh"

namespace sluice {
namespace {

// Scratch has a bit for each byte of the section's output, set if the byte is a header. Behind
// these words it has the number of bits that are set before each of them (filterHeaderBits in
// formulas/filter.h). headerBits and headerCounts return the two addresses.
__device__ uint32_t* headerBits(const TileAtWork& tile, uint32_t size)
{
    return reinterpret_cast<uint32_t*>(tile.scratch + 4 * filterHeaderBits(size));
}
__device__ uint32_t* headerCounts(const TileAtWork& tile, uint32_t size)
{
    return headerBits(tile, size) + filterHeaderWords(size);
}
// Returns the address in scratch, behind the bits and counts, at which the pixels are put together.
// Later writePackets moves them between the headers.
__device__ uint8_t* pixelRecords(const TileAtWork& tile, uint32_t size)
{
    const uint32_t* end = headerCounts(tile, size) + filterHeaderWords(size);
    return tile.scratch +
           (static_cast<uint32_t>(reinterpret_cast<const uint8_t*>(end) - tile.scratch) + 15) / 16 *
               16;
}

// Returns how many packets make up exactly the `size` bytes of the section, or 0 if no packet ends
// with the last byte. Sets the bits of these packets' headers, and computes the counts of the bits.
__device__ uint32_t countPackets(TileAtWork& tile, uint32_t size)
{
    constexpr uint32_t each = 4; // headers that a thread reads at once
    const uint32_t lead = tile.position & 3, bitWords = filterHeaderWords(size);
    uint32_t *bits = headerBits(tile, size), *counts = headerCounts(tile, size), bytes = 0;
    for (uint32_t w = threadIdx.x; w < bitWords; w += kThreads)
        bits[w] = 0;
    if (threadIdx.x == 0) shared.packets = 0;
    __syncthreads();
    for (uint32_t base = 0; base < size && bytes < size; base += kThreads * each) {
        const uint32_t k = base + threadIdx.x * each;
        uint32_t own[each], sum = 0, total;
#pragma unroll
        for (uint32_t e = 0; e < each; ++e)
            sum += own[e] = k + e < size
                                ? filterPacketBytes(tile.source[tile.position + k + e], tile.stride)
                                : 0;
        uint32_t at = bytes + exclusiveSum(tile, sum, total);
#pragma unroll
        for (uint32_t e = 0; e < each; ++e) {
            if (own[e] != 0 && at < size) atomicOr(&bits[(lead + at) / 32], 1u << (lead + at) % 32);
            at += own[e];
            if (own[e] != 0 && at == size) shared.packets = k + e + 1;
        }
        bytes += total;
    }
    __syncthreads();
    uint32_t before = 0;
    for (uint32_t base = 0; base < bitWords; base += kThreads) {
        const uint32_t w = base + threadIdx.x,
                       own = w < bitWords ? static_cast<uint32_t>(__popc(static_cast<int>(bits[w])))
                                          : 0;
        uint32_t total;
        const uint32_t sum = exclusiveSum(tile, own, total);
        if (w < bitWords) counts[w] = before + sum;
        before += total;
    }
    __syncthreads();
    return shared.packets;
}

// Writes the `size` bytes of the section: puts headers and pixels where they belong.
__device__ void writePackets(const TileAtWork& tile, uint32_t size)
{
    const uint32_t lead = tile.position & 3, words = (lead + size + 3) / 4;
    const uint32_t *bits = headerBits(tile, size), *counts = headerCounts(tile, size);
    const uint32_t *sourceWords = reinterpret_cast<const uint32_t*>(tile.source),
                   lastSource = (tile.tileSize - 1) / 4;
    const uint32_t* pixels = reinterpret_cast<const uint32_t*>(pixelRecords(tile, size));
    const uint32_t lastPixel = (max(tile.count * tile.stride, 1u) - 1) / 4;
    uint8_t* to = tile.target + tile.position - lead;
    // A thread makes this many words at a time: it loads what all of them need before it stores the
    // first.
    constexpr uint32_t atOnce = 4;
    for (uint32_t first = threadIdx.x; first < words; first += atOnce * kThreads) {
        uint32_t marks[atOnce], before[atOnce], pixel[atOnce], header[atOnce];
#pragma unroll
        for (uint32_t n = 0; n < atOnce; ++n) {
            const uint32_t w = min(first + n * kThreads, words - 1);
            marks[n] = bits[w / 8];
            before[n] = counts[w / 8];
        }
#pragma unroll
        // Loads four bytes of pixels and four headers, which are enough for a word of output.
        for (uint32_t n = 0; n < atOnce; ++n) {
            const uint32_t w = min(first + n * kThreads, words - 1), shift = 4 * (w % 8);
            before[n] +=
                static_cast<uint32_t>(__popc(static_cast<int>(marks[n] & ((1u << shift) - 1))));
            marks[n] >>= shift;
            const uint32_t skipped = 4 * w < lead ? lead - 4 * w : 0,
                           pixelAt = 4 * w + skipped - lead - before[n];
            pixel[n] = loadWordOf(pixels, pixelAt, lastPixel);
            header[n] = loadWordOf(sourceWords, tile.position + before[n], lastSource);
        }
#pragma unroll
        for (uint32_t n = 0; n < atOnce; ++n) {
            const uint32_t w = first + n * kThreads, skipped = 4 * w < lead ? lead - 4 * w : 0;
            if (n != 0 && w >= words) break;
            // `places` is a selector for __byte_perm. For each byte of the word it takes a byte of
            // pixels (0 .. 3) or a header (4 .. 7).
            uint32_t seen = 0, places = 0;
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                const uint32_t isHeader = marks[n] >> k & 1;
                places |= (isHeader != 0 ? 4 + seen : (k - seen - skipped) & 3) << 4 * k;
                seen += isHeader;
            }
            const uint32_t value = __byte_perm(pixel[n], header[n], places);
            if (skipped == 0 && 4 * w + 4 <= lead + size) {
                reinterpret_cast<uint32_t*>(to)[w] = value;
            } else {
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k)
                    if (4 * w + k - lead < size)
                        to[4 * w + k] = static_cast<uint8_t>(value >> 8 * k);
            }
        }
    }
}
} // namespace
} // namespace sluice
