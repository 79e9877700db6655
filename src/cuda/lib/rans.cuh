// SPDX-License-Identifier: MIT OR Apache-2.0
// rANS over a warp. The lanes' words are interleaved as in shaders/lib/rans.glsl and
// word_stream.glsl: each lane has a state of 32 bits, which is also its bit buffer, and all lanes
// take 16-bit words from one list. A table has 2^log *slots*, and each symbol has a range of them.
// Unlike in the shaders, a table has a byte for each slot (kernels/slots.h). All lanes of the warp
// call every function together.
#pragma once

#include "layout/gstd.h"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/slots.cuh"

namespace sluice {

struct RansShared {
    static constexpr uint32_t kSlots = 4096, kWords = 256;
    alignas(2 * kWords) uint16_t words[kWords]; // four rows of 64 words of the list
    union {
        uint8_t slots[kSlots];      // the symbol of each slot
        uint16_t codes[kSlots / 2]; // or the table of a prefix code (see takeCode)
    };
    // For each symbol, the number of its slots in bits 0 .. 15, and its first slot from bit 16 on.
    uint32_t symbols[256];
};

class RansReader {
public:
    // The number of 16-bit words in a row, and of rows in shared memory.
    static constexpr uint32_t kRow = 64, kRows = 4;

    uint32_t state;

    __device__ explicit RansReader(RansShared& use)
        : state(0), m_shared(use), m_words(sharedAddress(use.words)),
          m_codes(sharedAddress(use.codes))
    {
    }

    // Begins to read the 16-bit words [first, last) of the list at `address`, which is 4-byte
    // aligned.
    __device__ void begin(const uint32_t* address, uint32_t first, uint32_t last)
    {
        m_list = address + first / 2;
        m_size = (last - (first & ~1u) + 1) / 2;
        m_next = 2 * (first & 1);
        m_end = 2 * (last - (first & ~1u));
        m_moveAt = 2 * kRow;
        state = 0;
        __syncwarp(); // all lanes have read the previous list
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row)
            store(row, load(row));
        m_ahead = load(kRows);
        __syncwarp();
        refill(true);
    }
    // Returns whether all words have been taken.
    __device__ bool finished() const { return m_next >= m_end; }

    // Each lane that is `on` and has a state below 2^16 takes a word, in the order of the lanes,
    // while there are words. advance() must be called after at most six calls, which take at most
    // three rows. `Enough` means that all lanes are on and that there are words for all.
    template <bool Enough = false>
    __device__ void refill(bool on)
    {
        const bool need = (Enough || on) && state < 0x10000;
        const uint32_t takers = __ballot_sync(kAllLanes, need);
        const uint32_t at = m_next + 2 * static_cast<uint32_t>(__popc(takers & lanesBelow()));
        const uint32_t word = sharedHalf((at & (2 * RansShared::kWords - 2)) | m_words);
        state = need && (Enough || at < m_end) ? __byte_perm(word, state, 0x5410) : state;
        m_next += 2 * static_cast<uint32_t>(__popc(takers));
    }
    // Decodes a symbol of a prefix code whose table has an entry for each value of `log` bits.
    // Returns the entry: the code's length in bits 0 .. 7, and above it the symbol.
    __device__ uint32_t takeCode(bool on, uint32_t log)
    {
        uint32_t at;
        // This is one instruction. From C++ the compiler would make several, to compute the whole
        // address.
        asm("mad.lo.u32 %0, %1, 2, %2;" : "=r"(at) : "r"(state & ((1u << log) - 1)), "r"(m_codes));
        const uint32_t entry = sharedHalf(at);
        // The shift uses the lowest five bits of the entry, which are the code's length.
        const uint32_t shifted = __funnelshift_r(state, 0, entry);
        state = on ? shifted : state;
        return entry;
    }
    // Returns whether the list has at least `count` more words.
    __device__ bool holds(uint32_t count) const { return m_next + 2 * count <= m_end; }
    // Loads the next rows of the list over those rows in shared memory that are used up.
    __device__ void advance()
    {
        while (m_next >= m_moveAt) {
            __syncwarp();
            store(m_moveAt / (2 * kRow) - 1, m_ahead);
            m_moveAt += 2 * kRow;
            m_ahead = load(m_moveAt / (2 * kRow) + kRows - 1);
            __syncwarp();
        }
    }
    // Removes the next n bits (0 .. 16) from each lane's state and returns them. Lanes that take no
    // bits do not refill.
    __device__ uint32_t bits(bool on, uint32_t n)
    {
        on = on && n != 0;
        refill(on);
        const uint32_t value = on ? state & ((1u << n) - 1) : 0;
        if (on) state >>= n;
        return value;
    }
    // Refills, then decodes a symbol.
    __device__ uint32_t symbol(bool on, const uint8_t* slots, const uint32_t* symbols, uint32_t log)
    {
        refill(on);
        return take(on, slots, symbols, log);
    }
    // Reads a number of slots of class `kind` (docs/format.md, 7.3). Classes 0 and 1 are the number
    // itself. In higher classes, kind - 1 extra bits follow a leading 1.
    __device__ uint32_t slotsOf(bool on, uint32_t kind)
    {
        const uint32_t extra = bits(on && kind > 1, max(kind, 1u) - 1);
        return kind < 2 ? kind : 1u << (kind - 1) | extra;
    }
    // Decodes a symbol in each lane that is `on` and has refilled.
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
        return at < m_size ? __ldg(m_list + at) : 0;
    }
    __device__ void store(uint32_t row, uint32_t pair)
    {
        reinterpret_cast<uint32_t*>(m_shared.words)[row % kRows * kWarpSize + laneIndex()] = pair;
    }

    // Loads 16 bits from an address in shared memory. An access by address takes less arithmetic
    // than an access by reference.
    __device__ static uint32_t sharedHalf(uint32_t address)
    {
        return *static_cast<const uint16_t*>(__cvta_shared_to_generic(address));
    }

    RansShared& m_shared;
    const uint32_t m_words, m_codes; // addresses in shared memory
    const uint32_t* m_list;
    uint32_t m_size;                  // in 32-bit words
    uint32_t m_next, m_end, m_moveAt; // positions in the list, in bytes
    uint32_t m_ahead;                 // this lane's 32-bit word of the row that is stored next
};

// Builds a table. row() is called once for every 32 symbols, in order, and finish() at the end.
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
    // Returns whether all slots are assigned.
    __device__ bool finish() { return slotsFill(table, true); }
};

// A class stands for the numbers of slots of the same length in bits (docs/format.md, 7.3). Reads
// how many slots each class has itself, and builds the table with which classes are decoded.
// Returns false if that table is not valid.
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
