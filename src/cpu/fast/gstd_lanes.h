// SPDX-License-Identifier: MIT OR Apache-2.0
// The 32 lanes of a part of a Gstd tile, their words, and the tables that they decode with.
#pragma once

#include "layout/gstd.h"
#include "formats/little_endian.h"

#include <algorithm>

namespace sluice::cpu::fast {

// An entry of an rANS table for a slot: 8 bits of the symbol, 12 of the slot's place among the
// symbol's slots, 12 of the number of those.
constexpr u32 kPlaceShift = 8, kFrequencyShift = 20, kPlaceMask = 0xfff;

// `frequencies` has `count` symbols. Returns whether they add up to 2^log.
inline bool buildSlots(const u32* frequencies, u32 count, u32 log, u32* slots)
{
    u32 sum = 0;
    for (u32 i = 0; i < count; ++i)
        sum += frequencies[i]; // each is below 2^12
    if (sum != 1u << log) return false;
    for (u32 symbol = 0; symbol < count; ++symbol)
        for (u32 place = 0; place < frequencies[symbol]; ++place)
            *slots++ = frequencies[symbol] << kFrequencyShift | place << kPlaceShift | symbol;
    return true;
}

// Where the lanes take words from. Loops keep it in a local variable, because the compiler must
// expect a store of bytes to change a member.
struct Words {
    const u8* next;
    const u8* end;

    // Returns whether `count` words are left.
    bool have(u32 count) const { return size_t(end - next) >= size_t(2) * count; }
};

// kIsSafe says that there are enough words, so that this need not be checked.
template <bool kIsSafe>
inline u32 refilled(u32 state, Words& words)
{
    if (kIsSafe) {
        const u32 wants = state < 0x10000 ? ~0u : 0, word = loadLe16(words.next);
        words.next += wants & 2;
        return wants != 0 ? state << 16 | word : state;
    }
    if (state >= 0x10000 || words.next == words.end) return state;
    const u32 word = loadLe16(words.next);
    words.next += 2;
    return state << 16 | word;
}

// Returns the state after the symbol of `slot`, whose entry is given.
inline u32 advanced(u32 state, u32 entry, u32 log)
{
    return (entry >> kFrequencyShift) * (state >> log) + (entry >> kPlaceShift & kPlaceMask);
}

struct Lanes {
    u32 states[SLUICE_GS_LANES];
    Words words;

    void start(const u8* first, const u8* end)
    {
        words = {first, end};
        for (u32& state : states)
            state = refilled<false>(0, words);
    }
    // Lanes read in their order, each refills first.
    u32 bits(u32 lane, u32 count)
    {
        if (count == 0) return 0;
        const u32 state = refilled<false>(states[lane], words);
        states[lane] = state >> count;
        return state & ((1u << count) - 1);
    }
    u32 symbol(u32 lane, const u32* slots, u32 log)
    {
        const u32 state = refilled<false>(states[lane], words);
        const u32 entry = slots[state & ((1u << log) - 1)];
        states[lane] = advanced(state, entry, log);
        return entry & 0xff;
    }
};

} // namespace sluice::cpu::fast
