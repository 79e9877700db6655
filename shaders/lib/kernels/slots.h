// SPDX-License-Identifier: MIT OR Apache-2.0
// A lane group gives the 2^log slots of a table to symbols, in the order of the symbols. Shared
// memory has one byte for each slot, its symbol, and one word for each symbol: its number of slots
// in the low half and its first slot in the upper half.
//
// The includer says where these bytes and words are. It defines the type SlotMemory; setSlot and
// slotAt for one slot (setSlot is called only for a slot that is 0); setSlotWord and slotWord for
// four slots; setSymbol and symbolAt for a symbol's word.
#ifndef SLUICE_KERNELS_SLOTS_H
#define SLUICE_KERNELS_SLOTS_H

#include "../compat.h"

SLUICE_KERNEL_BEGIN

// To build a table, all lanes of the lane group call slotsBegin, then slotsRow for each 32 symbols,
// in order, then slotsFill. Lane groups in lockstep make these calls together, as often as the
// largest of their tables needs; a lane or lane group with nothing to add passes `on` = false.
struct SlotTable {
    SlotMemory memory;
    u32 log, sum; // sum: how many slots have been given so far
};

SLUICE_DEVICE SlotTable slotsBegin(SlotMemory memory, bool on, u32 log) {
    SlotTable table;
    table.memory = memory;
    table.log = log;
    table.sum = 0u;
    // This barrier waits until all lanes are done with the previous table.
    lgBarrierShared();
    u32 words = on ? 1u << log >> 2 : 0u;
    for (u32 row = 0u; row < words; row += 32u)
        if (row + lgLane() < words) setSlotWord(memory, row + lgLane(), 0u);
    lgBarrierShared();
    return table;
}

// Gives this lane's symbol the next `count` slots, and stores the symbol in the first of them.
SLUICE_DEVICE void slotsRow(SLUICE_INOUT(SlotTable, table), bool on, u32 symbol, u32 count) {
    u32 before, sum;
    lgScan(on ? count : 0u, before, sum);
    u32 first = table.sum + before;
    if (on) {
        setSymbol(table.memory, symbol, count | first << 16);
        if (count != 0u && first < 1u << table.log) setSlot(table.memory, first, symbol);
    }
    table.sum += sum;
}

// Gives every slot that is still 0 the symbol of the slot before it. Returns whether exactly 2^log
// slots were given.
SLUICE_DEVICE bool slotsFill(SLUICE_IN(SlotTable) table, bool on) {
    lgBarrierShared();
    u32 words = 1u << table.log >> 2, share = (words + 31u) / 32u, from = share * lgLane();
    u32 own = on && from < words ? share : 0u, last = 0u;
    for (u32 i = 0u; i < own; ++i) {
        u32 marks = slotWord(table.memory, from + i);
        if (marks != 0u) last = marks >> (u32(findMSB(marks)) & 24u) & 255u;
    }
    // The last symbol before this lane's slots comes from the nearest lower lane that has any.
    u32 below = lgBallot(last != 0u) & lgLanesBelow();
    lgShare(last);
    u32 symbol = lgShared(last, below != 0u ? u32(findMSB(below)) : 0u);
    symbol = below != 0u ? symbol : 0u;
    for (u32 i = 0u; i < own; ++i) {
        u32 marks = slotWord(table.memory, from + i), word = 0u;
        SLUICE_UNROLL
        for (u32 k = 0u; k < 4u; ++k) {
            u32 mark = marks >> 8u * k & 255u;
            symbol = mark != 0u ? mark : symbol;
            word |= symbol << 8u * k;
        }
        setSlotWord(table.memory, from + i, word);
    }
    lgBarrierShared();
    return table.sum == 1u << table.log;
}

SLUICE_KERNEL_END
#endif
