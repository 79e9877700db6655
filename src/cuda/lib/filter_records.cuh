// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds the records of a section from the bytes of its columns. filter_columns.cuh explains
// record, column, base and plane.
//
// shaders/lib/filter_records.glsl builds records byte by byte if they have packets or a stride that
// its writeQuads() does not take; here writeWords() takes any stride. Here several words are loaded
// before the first is stored, because the compiler cannot know that source and target are different
// memory.
#pragma once

#include "cuda/lib/filter_columns.cuh"

namespace sluice {
namespace {

// Returns byte `at` of the records, base included. `reciprocal` is reciprocalOfStride().
__device__ uint32_t recordByte(const TileAtWork& tile, uint32_t at, uint32_t reciprocal)
{
    const uint32_t i = tile.stride == 1 ? at : __umulhi(at, reciprocal);
    const ByteSource byte = shared.bytes[at - i * tile.stride];
    return (byte.at[i * byte.step] + (byte.base[i * byte.baseStep] & byte.baseMask)) & 0xff;
}
// Returns byte `at` of the section. Bytes at the end that do not fill a record are not filtered.
__device__ uint32_t planesByte(const TileAtWork& tile, uint32_t at, uint32_t reciprocal)
{
    return at >= tile.count * tile.stride ? tile.planes[at] : recordByte(tile, at, reciprocal);
}
// Returns the number with which recordByte() divides by the stride. The quotient is exact for
// positions below 2^20.
__device__ uint32_t reciprocalOfStride(const TileAtWork& tile)
{
    return 0xffffffffu / tile.stride + 1;
}

// Returns true if each of the `bytes` bytes of a record from byte `at` on comes from a plane, where
// it is next to the same byte of the next record.
__device__ bool arePlanes(const TileAtWork& tile, uint32_t at, uint32_t bytes)
{
    bool result = true;
    for (uint32_t k = 0; k < bytes; ++k) {
        const ByteSource& byte = shared.bytes[(at + k) % tile.stride];
        result = result && byte.step == 1 && byte.baseStep == 1;
    }
    return result;
}
// Returns true if the four bytes of a record from byte `at` on have no base, and are neighbours in
// memory where they are read.
__device__ bool areValues(const TileAtWork& tile, uint32_t at)
{
    const ByteSource& byte = shared.bytes[at % tile.stride];
    bool result = byte.baseMask == 0 && at % tile.stride + 4 <= tile.stride;
    for (uint32_t k = 1; k < 4 && result; ++k) {
        const ByteSource& other = shared.bytes[at % tile.stride + k];
        result = other.at == byte.at + k && other.step == byte.step && other.baseMask == 0;
    }
    return result;
}

// Writes four records at a time. A thread makes the same `Bytes` neighbouring bytes of each of
// them: all 3 bytes if the stride is 3, or 4 bytes if it is a multiple of 4. Begins at byte `lead`
// of the section, where the target is aligned. Returns how many bytes were written, or 0 if in some
// thread neither arePlanes nor areValues holds.
template <uint32_t Bytes, bool HasBase>
__device__ uint32_t writeQuads(const TileAtWork& tile, uint8_t* records, uint32_t lead)
{
    const uint32_t total = tile.count * tile.stride,
                   quads = total > lead ? (total - lead) / (4 * tile.stride) : 0;
    const uint32_t parts = tile.stride / Bytes, threads = kThreads / parts,
                   part = threadIdx.x % parts;
    const bool fromPlanes = arePlanes(tile, lead + Bytes * part, Bytes);
    if (__syncthreads_or(!fromPlanes && (Bytes == 3 || !areValues(tile, lead + Bytes * part))) != 0)
        return 0;
    if (threadIdx.x >= threads * parts) return quads * 4 * tile.stride;
    const uint32_t begin = threadIdx.x / parts;
    const uint8_t *own[Bytes], *base[Bytes];
    uint32_t baseMask[Bytes], advance = 4 * threads;
#pragma unroll
    for (uint32_t k = 0; k < Bytes; ++k) {
        const uint32_t at = lead + Bytes * part + k, i = 4 * begin + at / tile.stride;
        const ByteSource& byte = shared.bytes[at % tile.stride];
        own[k] = byte.at + i * byte.step;
        base[k] = byte.base + i * byte.baseStep;
        baseMask[k] = byte.baseMask;
    }
    if (!fromPlanes) {
        const uint32_t step = shared.bytes[(lead + Bytes * part) % tile.stride].step;
        advance *= step;
#pragma unroll
        for (uint32_t k = 1; k < Bytes; ++k)
            own[k] = own[0] + k * step;
    }
    uint32_t* to = reinterpret_cast<uint32_t*>(records + lead) + begin * tile.stride + part;
    // This many groups of four records are loaded before the first is stored.
    constexpr uint32_t atOnce = HasBase ? 1 : 2;
    for (uint32_t quad = begin; quad < quads; quad += atOnce * threads) {
        uint32_t words[atOnce][4] = {};
#pragma unroll
        for (uint32_t n = 0; n < atOnce; ++n) {
#pragma unroll
            for (uint32_t k = 0; k < Bytes; ++k) {
                if (n == 0 || quad + n * threads < quads) words[n][k] = loadWord(own[k]);
                own[k] += advance;
                if (!HasBase) continue;
                words[n][k] = filterAddBytes(words[n][k], loadWord(base[k]) & baseMask[k]);
                base[k] += advance;
            }
        }
#pragma unroll
        for (uint32_t n = 0; n < atOnce; ++n) {
            uint32_t(&word)[4] = words[n];
            if (n != 0 && quad + n * threads >= quads) break;
            if (Bytes == 4) {
                if (fromPlanes) transpose(word);
                if (tile.stride == 4) {
                    *global(reinterpret_cast<uint4*>(to)) =
                        make_uint4(word[0], word[1], word[2], word[3]);
                } else {
#pragma unroll
                    for (uint32_t k = 0; k < 4; ++k)
                        *global(to + k * parts) = word[k];
                }
            } else {
                // a, b and c are the bytes of records 0 to 3. The words to store are a0 b0 c0 a1,
                // b1 c1 a2 b2 and c2 a3 b3 c3.
                const uint32_t low = __byte_perm(word[0], word[1], 0x5140),
                               high = __byte_perm(word[0], word[1], 0x7362);
                *global(to + 0) = __byte_perm(low, word[2], 0x2410);
                *global(to + 1) = __byte_perm(__byte_perm(low, word[2], 0x0053), high, 0x5410);
                *global(to + 2) = __byte_perm(high, word[2], 0x7326);
            }
            to += threads * tile.stride;
        }
    }
    return quads * 4 * tile.stride;
}

// Writes records of any stride, word by word, from byte `lead` on, where the target is aligned.
// Returns how many bytes were written. The words of a thread are a whole number of records apart,
// so that the thread always reads the same columns.
__device__ uint32_t writeWords(const TileAtWork& tile, uint8_t* records, uint32_t lead)
{
    const uint32_t total = tile.count * tile.stride, words = total > lead ? (total - lead) / 4 : 0;
    const uint32_t unit = tile.stride % 4 == 0   ? tile.stride / 4
                          : tile.stride % 2 == 0 ? tile.stride / 2
                                                 : tile.stride;
    const uint32_t threads = kThreads / unit * unit, advance = 4 * threads / tile.stride;
    if (threadIdx.x >= threads) return 4 * words;
    ByteSource own[4];
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) {
        const uint32_t byteAt = lead + 4 * threadIdx.x + k, i = byteAt / tile.stride;
        own[k] = shared.bytes[byteAt - i * tile.stride];
        own[k].at += i * own[k].step;
        own[k].base += i * own[k].baseStep;
        own[k].step *= advance;
        own[k].baseStep *= advance;
    }
    uint32_t* to = reinterpret_cast<uint32_t*>(records + lead);
#pragma unroll 1
    for (uint32_t w = threadIdx.x; w < words; w += threads) {
        uint32_t value[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            value[k] = *global(own[k].at);
            own[k].at += own[k].step;
        }
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            value[k] += *global(own[k].base) & own[k].baseMask;
            own[k].base += own[k].baseStep;
        }
        *global(to + w) = packBytes(value[0], value[1], value[2], value[3]);
    }
    return 4 * words;
}

// Writes `size` bytes to `records`: the section's records, and then the bytes at its end that do
// not fill a record.
__device__ void writeRecords(const TileAtWork& tile, uint8_t* records, uint32_t size)
{
    const uint32_t alignment = tile.stride == 4 ? 16 : 4;
    const uint32_t lead =
        min((0u - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(records))) % alignment, size);
    uint32_t done = 0;
    if (tile.stride % 4 == 0) {
        done = tile.anyBase ? writeQuads<4, true>(tile, records, lead)
                            : writeQuads<4, false>(tile, records, lead);
    } else if (tile.stride == 3) {
        done = tile.anyBase ? writeQuads<3, true>(tile, records, lead)
                            : writeQuads<3, false>(tile, records, lead);
    }
    if (done == 0) done = writeWords(tile, records, lead);
    const uint32_t reciprocal = reciprocalOfStride(tile);
    for (uint32_t k = threadIdx.x; k < size - done; k += kThreads) {
        const uint32_t at = k < lead ? k : k + done;
        records[at] = static_cast<uint8_t>(planesByte(tile, at, reciprocal));
    }
}

// Copies `size` bytes from the section's beginning on. These bytes are not filtered.
__device__ void copyBytes(const TileAtWork& tile, uint32_t size)
{
    const uint32_t lead = min((0u - tile.position) & 3, size), words = (size - lead) / 4;
    const uint32_t* from = reinterpret_cast<const uint32_t*>(tile.source + tile.position + lead);
    uint32_t* to = reinterpret_cast<uint32_t*>(tile.target + tile.position + lead);
    constexpr uint32_t atOnce = 4; // words that are loaded before the first is stored
    for (uint32_t w = threadIdx.x; w < words; w += atOnce * kThreads) {
        uint32_t word[atOnce];
#pragma unroll
        for (uint32_t n = 0; n < atOnce; ++n)
            word[n] = from[min(w + n * kThreads, words - 1)];
#pragma unroll
        for (uint32_t n = 0; n < atOnce; ++n)
            if (w + n * kThreads < words) to[w + n * kThreads] = word[n];
    }
    for (uint32_t k = threadIdx.x; k < size - 4 * words; k += kThreads) {
        const uint32_t at = tile.position + (k < lead ? k : k + 4 * words);
        tile.target[at] = tile.source[at];
    }
}
} // namespace
} // namespace sluice
