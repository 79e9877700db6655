// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables by a warp: descriptions read by a lane each, tables built by all of them.
// shaders/lib/fse.glsl says how.
#pragma once

#include "../../../shaders/lib/layout.h"
#include "rans.cuh"

namespace sluice {

struct FseDescription {
    uint32_t status, log, entries, lastSymbol, bytes;
};

// A symbol that occurs: symbol, count << 8, bit 31 if it is less than one.
struct FseEntry {
    uint32_t symbol, count;
    bool low;
};
__device__ inline uint32_t packed(const FseEntry& entry)
{
    return entry.symbol | entry.count << 8 | static_cast<uint32_t>(entry.low) << 31;
}
__device__ inline FseEntry unpacked(uint32_t word)
{
    return {word & 255, word >> 8 & 1023, word >> 31 != 0};
}

// One lane reads a description of at most `size` bytes, and writes its symbols to `entries`: one
// for each of the states at most.
__device__ inline FseDescription fseRead(const uint8_t* bytes, uint32_t size, uint32_t maxSymbols,
                                         uint32_t maxLog, uint32_t maxStates, uint32_t* entries)
{
    constexpr uint32_t kLongest = 1024, kSteps = 640; // bytes; values and repeats of one
    const uint32_t skipped = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(bytes) % 4);
    const uint32_t* const words = reinterpret_cast<const uint32_t*>(bytes - skipped);
    uint32_t at = skipped * 8;
    const uint32_t begin = at, end = at + min(size, kLongest) * 8, count = (end + 31) / 32;
    const auto peek = [&] {
        const uint32_t low = at / 32 < count ? words[at / 32] : 0,
                       high = at / 32 + 1 < count ? words[at / 32 + 1] : 0;
        return __funnelshift_r(low, high, at);
    };
    FseDescription d = {};
    d.log = (peek() & 15) + SLUICE_FSE_LOG_MIN;
    d.status = d.log > maxLog            ? SLUICE_ST_BAD_CODE
               : 1u << d.log > maxStates ? SLUICE_ST_TOO_LONG
                                         : SLUICE_ST_OK;
    at += 4;
    uint32_t symbol = 0, left = 1u << d.log; // what has not been given away
    bool zeros = false;
    for (uint32_t i = 0; i < kSteps && d.status == SLUICE_ST_OK && left != 0; ++i) {
        const uint32_t bits = peek();
        const bool tooMany = !zeros && symbol >= maxSymbols;
        if (zeros) { // how many more symbols do not occur
            const uint32_t repeat = bits & 3;
            at += 2;
            symbol += repeat;
            zeros = repeat == 3;
        } else {
            // A value up to left + 1; the lowest ones are a bit shorter.
            const uint32_t n = highestBit(left + 1);
            const uint32_t shorter = (2u << n) - 2 - left, low = bits & ((1u << n) - 1);
            const bool longer = low >= shorter;
            uint32_t value = longer ? bits & ((2u << n) - 1) : low;
            if (longer && value >> n != 0) value -= shorter;
            at += longer ? n + 1 : n;
            zeros = value == 1;
            const uint32_t slots = value == 0 ? 1 : value - 1;
            if (!tooMany && !zeros && at <= end) {
                entries[d.entries++] = packed({symbol, slots, value == 0});
                d.lastSymbol = symbol;
            }
            left -= slots;
            ++symbol;
        }
        if (tooMany)
            d.status = SLUICE_ST_BAD_CODE;
        else if (at > end)
            d.status = SLUICE_ST_TRUNCATED;
        else if (symbol > maxSymbols)
            d.status = SLUICE_ST_BAD_CODE;
    }
    if (d.status == SLUICE_ST_OK && left != 0) d.status = SLUICE_ST_INTERNAL;
    d.bytes = (at - begin + 7) / 8;
    return d;
}

struct FseShared {
    uint8_t slots[1u << SLUICE_FSE_LOG_MAX];
    uint32_t symbols[SLUICE_FSE_SYMBOLS];
    uint2 skipped[16]; // steps at which the walk meets a place that it passes over, a bit each; how
                       // many there are before
};

// A table: begin, a row of 32 symbols at a time, in order, then states. The counts add up to 2^log.
class FseTable {
public:
    __device__ FseTable(FseShared& use, uint32_t tableLog)
        : shared(use), rans(use.slots, use.symbols, tableLog), log(tableLog)
    {
        const uint32_t size = 1u << log, step = size / 2 + size / 8 + 3;
        inverse = step * (2 - step * step); // right in 6 bits; from 3
        inverse *= 2 - step * inverse;
        if (laneIndex() < 16) shared.skipped[laneIndex()] = make_uint2(0, 0);
        __syncwarp();
    }

    __device__ void row(bool on, const FseEntry& entry)
    {
        const bool low = on && entry.low;
        const uint32_t lows = __ballot_sync(kAllLanes, low);
        zeroLow = zeroLow || __any_sync(kAllLanes, low && entry.symbol == 0);
        rans.row(on, entry.symbol, low ? 0 : entry.count);
        const uint32_t place =
            (1u << log) - 1 - lowSymbols - static_cast<uint32_t>(__popc(lows & lanesBelow()));
        if (low && place < 1u << log) {
            const uint32_t step = place * inverse & ((1u << log) - 1);
            shared.slots[place] = static_cast<uint8_t>(entry.symbol);
            atomicOr(&shared.skipped[step / 32].x, 1u << step % 32);
            shared.symbols[entry.symbol] = 1;
        }
        lowSymbols += static_cast<uint32_t>(__popc(lows));
    }

    // symbolBits: of the symbols, 8 at most.
    __device__ void states(uint32_t symbolBits, uint32_t* out)
    {
        if (symbolBits <= 6)
            statesOf<6>(out); // as most codes of Zstandard's
        else
            statesOf<8>(out);
    }

private:
    template <uint32_t SymbolBits>
    __device__ void statesOf(uint32_t* out)
    {
        rans.finish(); // for each step of the walk whose turn it is; behind, the symbols that occur
                       // less than once
        const uint32_t lane = laneIndex();
        const uint32_t mine = lane < 16 ? static_cast<uint32_t>(__popc(shared.skipped[lane].x)) : 0,
                       sum = warpInclusiveSum(mine);
        if (lane < 16) shared.skipped[lane].y = sum - mine;
        __syncwarp();
        const uint32_t size = 1u << log, end = size - lowSymbols;
        for (uint32_t row = 0; row < size; row += kWarpSize) {
            const uint32_t place = row + lane, step = place * inverse & (size - 1);
            const uint2 skipped = shared.skipped[step / 32];
            const uint32_t before =
                skipped.y + static_cast<uint32_t>(__popc(skipped.x & ((1u << step % 32) - 1)));
            const uint32_t at = place >= end ? place : step - before;
            uint32_t symbol = shared.slots[at % sizeof(shared.slots)];
            // its mark in the table is that of no symbol
            if (zeroLow && place == size - 1) symbol = 0;
            const uint32_t same = sameSymbol<SymbolBits>(symbol),
                           next = shared.symbols[symbol] & 0xffff;
            __syncwarp();
            if (same >> lane == 1)
                shared.symbols[symbol] = next + static_cast<uint32_t>(__popc(same));
            __syncwarp();
            const uint32_t state = next + static_cast<uint32_t>(__popc(same & lanesBelow()));
            const uint32_t bits = log - highestBit(max(state, 1u));
            out[place] = (((state << bits) - size) & 0xffff) | symbol << 16 | bits << 24;
        }
    }

    // The lanes whose symbol is the same, of symbols below 2^Bits.
    template <uint32_t Bits>
    static __device__ uint32_t sameSymbol(uint32_t symbol)
    {
        uint32_t same = kAllLanes;
#pragma unroll
        for (uint32_t b = 0; b < Bits; ++b) {
            const uint32_t bit = symbol & 1u << b;
            // the lanes that agree with this one
            same &= ballotIf(bit) ^ selectIf(bit, 0, kAllLanes);
        }
        return same;
    }

    FseShared& shared;
    RansTable rans;
    uint32_t log, inverse, lowSymbols = 0;
    bool zeroLow = false; // symbol 0 occurs less than once
};

} // namespace sluice
