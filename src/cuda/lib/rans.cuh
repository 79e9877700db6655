// SPDX-License-Identifier: MIT OR Apache-2.0
// rANS over a warp: 32 states fed from one list of 16-bit words, as in shaders/lib/rans.glsl and
// word_stream.glsl, and tables of 2^log slots (kernels/slots.h). All lanes of the warp call every
// function together.
#pragma once

#include "../../../shaders/lib/layout.h"
#include "slots.cuh"

namespace sluice {

struct RansShared {
    static constexpr uint32_t kSlots = 4096, kWords = 256;
    alignas(2 * kWords) uint16_t words[kWords]; // of the list: four rows of 64
    union {
        uint8_t slots[kSlots];      // whose a slot is
        uint16_t codes[kSlots / 2]; // for a prefix code instead
    };
    uint32_t symbols[256]; // slots, and the first one in the upper half
};

class RansReader {
public:
    static constexpr uint32_t kRow = 64, kRows = 4; // of 16-bit words

    uint32_t state;

    __device__ explicit RansReader(RansShared& use)
        : state(0), shared(use), words(static_cast<uint32_t>(__cvta_generic_to_shared(use.words))),
          codes(static_cast<uint32_t>(__cvta_generic_to_shared(use.codes)))
    {
    }

    // Begins with words [first, last) behind a 4-byte aligned address.
    __device__ void begin(const uint32_t* address, uint32_t first, uint32_t last)
    {
        list = address + first / 2;
        size = (last - (first & ~1u) + 1) / 2;
        next = 2 * (first & 1);
        end = 2 * (last - (first & ~1u));
        moveAt = 2 * kRow;
        state = 0;
        __syncwarp(); // the list before has been read
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row)
            store(row, load(row));
        ahead = load(kRows);
        __syncwarp();
        refill(true);
    }
    __device__ bool finished() const { return next >= end; }

    // The lanes with `on` and a state below 2^16 take a word, in the order of the lanes, as long as
    // there are words. After six of them at most, which take three rows, comes advance(). Enough:
    // all lanes are on, and there are words for all.
    template <bool Enough = false>
    __device__ void refill(bool on)
    {
        const bool need = (Enough || on) && state < 0x10000;
        const uint32_t takers = __ballot_sync(kAllLanes, need);
        const uint32_t at = next + 2 * static_cast<uint32_t>(__popc(takers & lanesBelow()));
        const uint32_t word = sharedHalf((at & (2 * RansShared::kWords - 2)) | words);
        state = need && (Enough || at < end) ? __byte_perm(word, state, 0x5410) : state;
        next += 2 * static_cast<uint32_t>(__popc(takers));
    }
    // With a prefix code, whose table has codes of `log` bits, the entry of the next symbol: its
    // length, and it from bit 8 on.
    __device__ uint32_t takeCode(bool on, uint32_t log)
    {
        uint32_t at;
        // two instructions, not three
        asm("mad.lo.u32 %0, %1, 2, %2;" : "=r"(at) : "r"(state & ((1u << log) - 1)), "r"(codes));
        const uint32_t entry = sharedHalf(at);
        const uint32_t rest = __funnelshift_r(state, 0, entry); // by the lowest five bits of it
        state = on ? rest : state;
        return entry;
    }
    __device__ bool holds(uint32_t count) const { return next + 2 * count <= end; }
    // Loads new words over those that have been taken.
    __device__ void advance()
    {
        while (next >= moveAt) {
            __syncwarp();
            store(moveAt / (2 * kRow) - 1, ahead);
            moveAt += 2 * kRow;
            ahead = load(moveAt / (2 * kRow) + kRows - 1);
            __syncwarp();
        }
    }
    // n: 0 .. 16 bits; without any the lane is not refilled.
    __device__ uint32_t bits(bool on, uint32_t n)
    {
        on = on && n != 0;
        refill(on);
        const uint32_t value = on ? state & ((1u << n) - 1) : 0;
        if (on) state >>= n;
        return value;
    }
    __device__ uint32_t symbol(bool on, const uint8_t* slots, const uint32_t* symbols, uint32_t log)
    {
        refill(on);
        return take(on, slots, symbols, log);
    }
    // What makes slots of a class (docs/format.md, 7.3).
    __device__ uint32_t slotsOf(bool on, uint32_t kind)
    {
        const uint32_t rest = bits(on && kind > 1, max(kind, 1u) - 1);
        return kind < 2 ? kind : 1u << (kind - 1) | rest;
    }
    __device__ uint32_t take(bool on, const uint8_t* slots, const uint32_t* symbols, uint32_t log)
    {
        const uint32_t slot = state & ((1u << log) - 1), symbol = slots[slot],
                       entry = symbols[symbol];
        if (on) state = (entry & 0xffff) * (state >> log) + slot - (entry >> 16);
        return symbol;
    }

private:
    __device__ uint32_t load(uint32_t row) const
    {
        const uint32_t at = row * 32 + laneIndex();
        return at < size ? __ldg(list + at) : 0;
    }
    __device__ void store(uint32_t row, uint32_t pair)
    {
        reinterpret_cast<uint32_t*>(shared.words)[row % kRows * kWarpSize + laneIndex()] = pair;
    }

    // By an address in shared memory: from a reference each access has more arithmetic.
    __device__ static uint32_t sharedHalf(uint32_t address)
    {
        return *static_cast<const uint16_t*>(__cvta_shared_to_generic(address));
    }

    RansShared& shared;
    const uint32_t words, codes; // their addresses in shared memory
    const uint32_t* list;
    uint32_t size, next, end, moveAt; // 4 bytes; bytes
    uint32_t ahead;                   // of the row that comes next
};

// A table in shared memory: begin, a row of 32 symbols at a time, in order, then finish.
struct RansTable {
    SlotTable table;

    __device__ RansTable(uint8_t* slots, uint32_t* symbols, uint32_t log)
        : table(slotsBegin({slots, symbols}, true, log))
    {
    }
    __device__ void row(bool on, uint32_t symbol, uint32_t count)
    {
        slotsRow(table, on, symbol, count);
    }
    // Whether all slots are given away.
    __device__ bool finish() { return slotsFill(table, true); }
};

// Reads what a description says of its classes and builds their table. False: it makes no sense.
__device__ inline bool ransClasses(RansReader& reader, RansShared& shared)
{
    const bool mine = laneIndex() < SLUICE_GS_CLASSES;
    const uint32_t kind = reader.bits(mine, 3), count = reader.slotsOf(mine, kind);
    reader.advance();
    RansTable classes(shared.slots, shared.symbols, SLUICE_GS_CLASS_LOG);
    classes.row(mine, laneIndex(), count);
    return classes.finish();
}

} // namespace sluice
