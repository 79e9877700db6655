// SPDX-License-Identifier: MIT OR Apache-2.0
// The 32 lanes of a part of a Gstd tile, their words, and the tables that they decode with.
#pragma once

#include "layout/gstd.h"
#include "formats/little_endian.h"

#include <algorithm>

namespace sluice::cpu::fast {

// An entry of an rANS table for a slot: 8 bits of the symbol, 12 of the slot's place among the
// symbol's slots, 12 of the number of those.
constexpr uint32_t kPlaceShift = 8, kFrequencyShift = 20, kPlaceMask = 0xfff;

// `frequencies` has `count` symbols. Returns whether they add up to 2^log.
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

// Where the lanes take words from. Loops keep it in a local variable, because the compiler must
// expect a store of bytes to change a member.
struct Words {
    const uint8_t* next;
    const uint8_t* end;

    // Returns whether `count` words are left.
    bool have(uint32_t count) const { return size_t(end - next) >= size_t(2) * count; }
};

// kIsSafe says that there are enough words, so that this need not be checked.
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

// Returns the state after the symbol of `slot`, whose entry is given.
inline uint32_t advanced(uint32_t state, uint32_t entry, uint32_t log)
{
    return (entry >> kFrequencyShift) * (state >> log) + (entry >> kPlaceShift & kPlaceMask);
}

struct Lanes {
    uint32_t states[SLUICE_GS_LANES];
    Words words;

    void start(const uint8_t* first, const uint8_t* end)
    {
        words = {first, end};
        for (uint32_t& state : states)
            state = refilled<false>(0, words);
    }
    // Lanes read in their order, each refills first.
    uint32_t bits(uint32_t lane, uint32_t count)
    {
        if (count == 0) return 0;
        const uint32_t state = refilled<false>(states[lane], words);
        states[lane] = state >> count;
        return state & ((1u << count) - 1);
    }
    uint32_t symbol(uint32_t lane, const uint32_t* slots, uint32_t log)
    {
        const uint32_t state = refilled<false>(states[lane], words);
        const uint32_t entry = slots[state & ((1u << log) - 1)];
        states[lane] = advanced(state, entry, log);
        return entry & 0xff;
    }
};

} // namespace sluice::cpu::fast
