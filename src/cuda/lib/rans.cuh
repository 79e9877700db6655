// SPDX-License-Identifier: MIT OR Apache-2.0
// rANS over a warp: 32 states fed from one list of 16-bit words, as in shaders/lib/rans.glsl and
// word_stream.glsl, and tables of 2^log slots (kernels/slots.h). All lanes of the warp call every
// function together.
#pragma once

#include "layout/gstd.h"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/slots.cuh"

namespace sluice {

struct RansShared {
    static constexpr uint32_t kSlots = 4096, kWords = 256;
    alignas(2 * kWords) uint16_t words[kWords]; // four rows of 64 of the list
    union {
        uint8_t slots[kSlots];      // the symbol of each slot
        uint16_t codes[kSlots / 2]; // the table of a prefix code
    };
    uint32_t symbols[256]; // how many slots a symbol has; in the upper half its first one
};

class RansReader {
public:
    static constexpr uint32_t kRow = 64, kRows = 4; // of 16-bit words

    uint32_t state;

    __device__ explicit RansReader(RansShared& use)
        : state(0), m_shared(use), m_words(sharedAddress(use.words)),
          m_codes(sharedAddress(use.codes))
    {
    }

    // Begins with the words [first, last) of the list at a 4-byte aligned address.
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
    __device__ bool finished() const { return m_next >= m_end; }

    // Lanes with `on` and a state below 2^16 take a word each, in the order of the lanes, as long
    // as there are words. advance() must come after at most six calls, which take three rows.
    // `Enough` says that all lanes are on and there are words for all.
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
    // Takes a symbol of a prefix code whose table has an entry for each `log` bits. Returns the
    // entry: the code's length, and from bit 8 on the symbol.
    __device__ uint32_t takeCode(bool on, uint32_t log)
    {
        uint32_t at;
        // The compiler would take three instructions for it, not two.
        asm("mad.lo.u32 %0, %1, 2, %2;" : "=r"(at) : "r"(state & ((1u << log) - 1)), "r"(m_codes));
        const uint32_t entry = sharedHalf(at);
        const uint32_t shifted = __funnelshift_r(state, 0, entry); // by its lowest five bits
        state = on ? shifted : state;
        return entry;
    }
    __device__ bool holds(uint32_t count) const { return m_next + 2 * count <= m_end; }
    // Replaces rows whose words have been taken by new ones.
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
    // Takes n bits, 0 .. 16. A lane that takes none is not refilled.
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
    // Reads how many slots a class stands for (docs/format.md, 7.3).
    __device__ uint32_t slotsOf(bool on, uint32_t kind)
    {
        const uint32_t extra = bits(on && kind > 1, max(kind, 1u) - 1);
        return kind < 2 ? kind : 1u << (kind - 1) | extra;
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
        return at < m_size ? __ldg(m_list + at) : 0;
    }
    __device__ void store(uint32_t row, uint32_t pair)
    {
        reinterpret_cast<uint32_t*>(m_shared.words)[row % kRows * kWarpSize + laneIndex()] = pair;
    }

    // Loads by an address in shared memory, because a reference costs more arithmetic at each
    // access.
    __device__ static uint32_t sharedHalf(uint32_t address)
    {
        return *static_cast<const uint16_t*>(__cvta_shared_to_generic(address));
    }

    RansShared& m_shared;
    const uint32_t m_words, m_codes; // addresses in shared memory
    const uint32_t* m_list;
    uint32_t m_size;                  // in words of 32 bits
    uint32_t m_next, m_end, m_moveAt; // in bytes
    uint32_t m_ahead;                 // this lane's word of the row that comes next
};

// Builds a table: rows of 32 symbols in order, then finish().
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

// Reads the classes of a description and builds their table. Returns false if they are no valid
// table.
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
