// SPDX-License-Identifier: MIT OR Apache-2.0
// A lane group assigns the 2^log slots of a table to symbols, in the order of the symbols. Shared
// memory has one byte per slot, which holds its symbol, and one word per symbol, which holds its
// number of slots and its first slot.
//
// The includer defines where both are: SlotMemory, setSlot (for a slot that is 0), slotAt,
// setSlotWord and slotWord (four slots), setSymbol and symbolAt.
#ifndef SLUICE_KERNELS_SLOTS_H
#define SLUICE_KERNELS_SLOTS_H

#include "../compat.h"

SLUICE_KERNEL_BEGIN

// To build a table, all lanes of the group call slotsBegin, then slotsRow for 32 symbols at a time,
// in order, then slotsFill. Loops are as long as the largest table of the groups in lockstep needs.
struct SlotTable {
    SlotMemory memory;
    u32 log, sum; // sum: slots so far
};

SLUICE_DEVICE SlotTable slotsBegin(SlotMemory memory, bool on, u32 log) {
    SlotTable table;
    table.memory = memory;
    table.log = log;
    table.sum = 0u;
    lgBarrierShared(); // all lanes are done with the previous table
    u32 words = on ? 1u << log >> 2 : 0u;
    for (u32 row = 0u; row < words; row += 32u)
        if (row + lgLane() < words) setSlotWord(memory, row + lgLane(), 0u);
    lgBarrierShared();
    return table;
}

// Gives the lane's symbol `count` slots.
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

// Gives every unmarked slot the symbol of the slot before it. Returns whether all slots are
// assigned.
SLUICE_DEVICE bool slotsFill(SLUICE_IN(SlotTable) table, bool on) {
    lgBarrierShared();
    u32 words = 1u << table.log >> 2, share = (words + 31u) / 32u, from = share * lgLane();
    u32 own = on && from < words ? share : 0u, last = 0u;
    for (u32 i = 0u; i < own; ++i) {
        u32 marks = slotWord(table.memory, from + i);
        if (marks != 0u) last = marks >> (u32(findMSB(marks)) & 24u) & 255u;
    }
    // Symbols ascend, so the nearest lower lane that has a symbol has the highest one.
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
