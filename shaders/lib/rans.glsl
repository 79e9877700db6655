// SPDX-License-Identifier: MIT OR Apache-2.0
// rANS (Duda 2009; the interleaving is that of Giesen, Interleaved entropy coders, 2014) over a lane group: each lane has a
// state of 32 bits that is its bit buffer too. Before each read the lanes whose state is below 2^16 take a word, in the order
// of the lanes, as long as there are words.
//
// Tables: 2^log slots, shared out among the symbols in their order. A byte of shared memory says whose a slot is, a word a
// symbol how many slots it has and which is the first.
//
// A shader that includes this file defines kRansSlotWords and kRansSymbols, the shared memory of a lane group: words of four
// slots, and symbols.
#ifndef SLUICE_RANS_GLSL
#define SLUICE_RANS_GLSL

#include "word_stream.glsl"

shared uint sSlots[kGroupsPerWorkgroup * kRansSlotWords];
shared uint sSymbols[kGroupsPerWorkgroup * kRansSymbols]; // slots, and the first one in the upper half

uint gState;
uint gWordsEnd; // in words

uint slotsAt(uint at) { return lgIndex() * kRansSlotWords + at; }
uint symbolsAt(uint at) { return lgIndex() * kRansSymbols + at; }

// The lanes with `on` refill; all of the group call it, and wordsMove after six times at most.
void ransRefill(bool on) {
    bool need = on && gState < 0x10000u;
    uint takers = lgBallot(need), at = gNext + uint(bitCount(takers & lgLanesBelow()));
    uint word = wordAt(at);
    gState = mix(gState, gState << 16 | word, need && at < gWordsEnd);
    gNext += uint(bitCount(takers));
}

// Begins with words [first, end) behind a 4-byte aligned address.
void ransBegin(bool on, uvec2 address, uint first, uint end) {
    uint skipped = first & ~1u;
    wordsBegin(add64(address, 2u * skipped), on ? (end - skipped + 1u) / 2u : 0u);
    gNext = first - skipped;
    gWordsEnd = on ? end - skipped : gNext;
    gState = 0u;
    ransRefill(on);
}

// n bits, 0 .. 16; without any the lane is not refilled.
uint ransBits(bool on, uint n) {
    on = on && n != 0u;
    ransRefill(on);
    uint value = mix(0u, gState & ((1u << n) - 1u), on);
    gState = mix(gState, gState >> n, on);
    return value;
}

// A symbol of the table whose slots begin at word `slots`, by lanes that have refilled.
uint ransTake(bool on, uint slots, uint symbols, uint log) {
    uint slot = gState & ((1u << log) - 1u);
    uint symbol = sSlots[slotsAt(slots + (slot >> 2))] >> (slot & 3u) * 8u & 255u;
    uint entry = sSymbols[symbolsAt(symbols + symbol)];
    gState = mix(gState, (entry & 0xffffu) * (gState >> log) + slot - (entry >> 16), on);
    return symbol;
}

uint ransSymbol(bool on, uint slots, uint symbols, uint log) {
    ransRefill(on);
    return ransTake(on, slots, symbols, log);
}

// ---------------------------------------------------------------------------------------------------------------
// Building a table: ransTable, then a row of 32 symbols at a time, in order, then ransFill. All lanes of the group; loops are
// as long as the largest table of the groups in lockstep wants.

uint gTableSum; // slots so far

void ransTable(bool on, uint slots, uint log) {
    gTableSum = 0u;
    lgBarrierShared(); // the table before has been used
    uint words = on ? 1u << log >> 2 : 0u;
    for (uint row = 0u; row < words; row += 32u)
        if (row + lgLane() < words)
            sSlots[slotsAt(slots + row + lgLane())] = 0u;
    lgBarrierShared();
}

// Symbol `symbol` = 32 * row + lane has so many slots.
void ransRow(bool on, uint slots, uint symbols, uint log, uint symbol, uint count) {
    uint before, sum;
    lgBallot3Scan(false, false, false, on ? count : 0u, before, sum);
    uint first = gTableSum + before;
    if (on) {
        sSymbols[symbolsAt(symbols + symbol)] = count | first << 16;
        if (count != 0u && first < 1u << log)
            atomicOr(sSlots[slotsAt(slots + (first >> 2))], symbol << (first & 3u) * 8u);
    }
    gTableSum += sum;
}

// Every slot whose symbol is not marked has that of the slot before. Returns whether the slots are all given away.
bool ransFill(bool on, uint slots, uint log) {
    lgBarrierShared();
    uint words = 1u << log >> 2, share = (words + 31u) / 32u, last = 0u;
    bool mine = on && share * lgLane() < words;
    for (uint i = 0u; wgAny(on && i < share); ++i) {
        uint marks = mine && i < share ? sSlots[slotsAt(slots + share * lgLane() + i)] : 0u;
        if (marks != 0u)
            last = marks >> (uint(findMSB(marks)) & 24u) & 255u;
    }
    // Symbols ascend: the nearest lane below with any has the highest.
    uint below = lgBallot(last != 0u) & lgLanesBelow();
    lgShare(last);
    uint symbol = lgShared(below != 0u ? uint(findMSB(below)) : 0u);
    symbol = below != 0u ? symbol : 0u;
    for (uint i = 0u; wgAny(on && i < share); ++i) {
        uint at = slotsAt(slots + share * lgLane() + i);
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
    return gTableSum == 1u << log;
}

#endif // SLUICE_RANS_GLSL
