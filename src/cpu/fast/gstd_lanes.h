// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the parts of a Gstd tile: 32 *lanes*, the words that they share, and the rANS tables
// (docs/format.md, 7.2).
//
// Each lane has a *state* of 32 bits, and reads bits or a symbol from its lower end. If the state
// is below 2^16, the lane *refills* before it reads: it shifts in the next 16-bit word. A table of
// log k divides 2^k *slots* among the symbols. The low k bits of the state select a slot, and the
// symbol that owns this slot is read.
#pragma once

#include "layout/gstd.h"
#include "formats/little_endian.h"

namespace sluice::cpu::fast {

// An rANS table has an entry for each slot: in bits 0 to 7 the slot's symbol, in bits 8 to 19 the
// index of the slot among the slots of this symbol, in bits 20 to 31 the number of these slots.
constexpr uint32_t kPlaceShift = 8, kFrequencyShift = 20, kPlaceMask = 0xfff;

// Makes a table in which symbol i of `count` has frequencies[i] slots. Returns false, and makes no
// table, if these do not add up to 2^log.
inline bool buildSlots(const uint32_t* frequencies, uint32_t count, uint32_t log, uint32_t* slots)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += frequencies[i]; // each is below 2^12
    if (sum != 1u << log) return false;
    for (uint32_t symbol = 0; symbol < count; ++symbol)
        for (uint32_t place = 0; place < frequencies[symbol]; ++place)
            *slots++ = frequencies[symbol] << kFrequencyShift | place << kPlaceShift | symbol;
    return true;
}

// The words of a part that no lane has taken yet. Loops keep a copy in a local variable, which can
// stay in registers. A member could not, because the compiler must assume that a store to bytes
// changes it.
struct Words {
    const uint8_t* next;
    const uint8_t* end;

    // Returns whether `count` words are left.
    bool have(uint32_t count) const { return size_t(end - next) >= size_t(2) * count; }
};

// Refills a lane if its state is below 2^16 and words are left, and returns its new state. With
// kIsSafe the caller guarantees that words are left, and this is not checked.
template <bool kIsSafe>
inline uint32_t refilled(uint32_t state, Words& words)
{
    if (kIsSafe) {
        const uint32_t wants = state < 0x10000 ? ~0u : 0, word = loadLe16(words.next);
        words.next += wants & 2;
        return wants != 0 ? state << 16 | word : state;
    }
    if (state >= 0x10000 || words.next == words.end) return state;
    const uint32_t word = loadLe16(words.next);
    words.next += 2;
    return state << 16 | word;
}

// Returns the state after the symbol with this entry has been read. The table has 2^log slots.
inline uint32_t advanced(uint32_t state, uint32_t entry, uint32_t log)
{
    return (entry >> kFrequencyShift) * (state >> log) + (entry >> kPlaceShift & kPlaceMask);
}

// The lanes of a part. They take words from one list, so in each step of the format the caller must
// let them read in ascending order.
struct Lanes {
    uint32_t states[SLUICE_GS_LANES];
    Words words;

    // Gives each lane its first word.
    void start(const uint8_t* first, const uint8_t* end)
    {
        words = {first, end};
        for (uint32_t& state : states)
            state = refilled<false>(0, words);
    }
    // Refills a lane if needed, unless `count` is 0, and reads `count` bits from it.
    uint32_t bits(uint32_t lane, uint32_t count)
    {
        if (count == 0) return 0;
        const uint32_t state = refilled<false>(states[lane], words);
        states[lane] = state >> count;
        return state & ((1u << count) - 1);
    }
    // Refills a lane if needed, and reads a symbol from it. `slots` is a table with 2^log slots.
    uint32_t symbol(uint32_t lane, const uint32_t* slots, uint32_t log)
    {
        const uint32_t state = refilled<false>(states[lane], words);
        const uint32_t entry = slots[state & ((1u << log) - 1)];
        states[lane] = advanced(state, entry, log);
        return entry & 0xff;
    }
};

} // namespace sluice::cpu::fast
