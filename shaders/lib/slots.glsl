// SPDX-License-Identifier: MIT OR Apache-2.0
// 2^log slots of a table shared out among symbols in their order, by a lane group. A byte of shared
// memory says whose a slot is, a word a symbol how many slots it has and which is the first.
//
// A shader that includes this file defines kSlotWords and kSlotSymbols, the shared memory of a lane
// group: words of four slots, and symbols.
#ifndef SLUICE_SLOTS_GLSL
#define SLUICE_SLOTS_GLSL

#include "lanes.glsl"

shared uint sSlots[kGroupsPerWorkgroup * kSlotWords];
// slots, and the first one in the upper half
shared uint sSymbols[kGroupsPerWorkgroup * kSlotSymbols];

uint slotsAt(uint at) { return lgIndex() * kSlotWords + at; }
uint symbolsAt(uint at) { return lgIndex() * kSlotSymbols + at; }

// Building: slotsTable, then a row of 32 symbols at a time, in order, then slotsFill. All lanes of
// the group; loops are as long as the largest table of the groups in lockstep wants.

uint gSlotsSum; // slots so far

void slotsTable(bool on, uint log) {
    gSlotsSum = 0u;
    lgBarrierShared(); // the table before has been used
    uint words = on ? 1u << log >> 2 : 0u;
    for (uint row = 0u; row < words; row += 32u)
        if (row + lgLane() < words) sSlots[slotsAt(row + lgLane())] = 0u;
    lgBarrierShared();
}

// Symbol `symbol` = 32 * row + lane has so many slots.
void slotsRow(bool on, uint log, uint symbol, uint count) {
    uint before, sum;
    lgScan(on ? count : 0u, before, sum);
    uint first = gSlotsSum + before;
    if (on) {
        sSymbols[symbolsAt(symbol)] = count | first << 16;
        if (count != 0u && first < 1u << log)
            atomicOr(sSlots[slotsAt(first >> 2)], symbol << (first & 3u) * 8u);
    }
    gSlotsSum += sum;
}

// Every slot whose symbol is not marked has that of the slot before. Returns whether the slots are
// all given away.
bool slotsFill(bool on, uint log) {
    lgBarrierShared();
    uint words = 1u << log >> 2, share = (words + 31u) / 32u, last = 0u;
    bool mine = on && share * lgLane() < words;
    for (uint i = 0u; wgAny(on && i < share); ++i) {
        uint marks = mine && i < share ? sSlots[slotsAt(share * lgLane() + i)] : 0u;
        if (marks != 0u) last = marks >> (uint(findMSB(marks)) & 24u) & 255u;
    }
    // Symbols ascend: the nearest lane below with any has the highest.
    uint below = lgBallot(last != 0u) & lgLanesBelow();
    lgShare(last);
    uint symbol = lgShared(below != 0u ? uint(findMSB(below)) : 0u);
    symbol = below != 0u ? symbol : 0u;
    for (uint i = 0u; wgAny(on && i < share); ++i) {
        uint at = slotsAt(share * lgLane() + i);
        if (mine && i < share) {
            uint marks = sSlots[at], word = 0u;
            [[unroll]] for (uint k = 0u; k < 4u; ++k) {
                uint mark = marks >> 8u * k & 255u;
                symbol = mark != 0u ? mark : symbol;
                word |= symbol << 8u * k;
            }
            sSlots[at] = word;
        }
    }
    lgBarrierShared();
    return gSlotsSum == 1u << log;
}

#endif // SLUICE_SLOTS_GLSL
