// SPDX-License-Identifier: MIT OR Apache-2.0
// rANS (Duda 2009; the interleaving is that of Giesen, Interleaved entropy coders, 2014) over a
// lane group: each lane has a state of 32 bits that is also its bit buffer. Before each read, every
// lane whose state is below 2^16 takes a word, in lane order, until the list is used up.
//
// A table has 2^log slots. Each symbol has a contiguous range of slots, in the order of the
// symbols. For every 32 slots there are two words: a bit mask of the slots at which a symbol's
// range begins (the marks), and the number of symbols that begin before these slots. So a
// population count finds the entry of a slot's symbol, which holds the symbol, the number of its
// slots and its first slot. This takes a quarter of a byte per slot. The table is so compact
// because the use of shared memory decides how many lane groups run at once; it is also quick to
// fill.
//
// A shader that includes this file defines kRansWords, the shared memory of a lane group for its
// tables.
#ifndef SLUICE_RANS_GLSL
#define SLUICE_RANS_GLSL

#include "word_stream.glsl"

shared uint sRans[kGroupsPerWorkgroup * kRansWords];

uint gState;
uint gWordsEnd; // in words

uint ransAt(uint at) { return lgIndex() * kRansWords + at; }

// Refills the lanes that have `on` set. All lanes of the group call it, and must call wordsMove
// after at most six calls.
void ransRefill(bool on) {
    bool need = on && gState < 0x10000u;
    uint takers = lgBallot(need), at = gNext + uint(bitCount(takers & lgLanesBelow()));
    uint word = wordAt(at);
    gState = mix(gState, gState << 16 | word, need && at < gWordsEnd);
    gNext += uint(bitCount(takers));
}

// Opens words [first, end) of the list at `address`, which is 4-byte aligned. `elsewhere` is the
// address of a word that may be read if the list is empty.
void ransBegin(bool on, uvec2 address, uint first, uint end, uvec2 elsewhere) {
    uint skipped = first & ~1u;
    wordsBegin(add64(address, 2u * skipped), on ? (end - skipped + 1u) / 2u : 0u, elsewhere);
    gNext = first - skipped;
    gWordsEnd = on ? end - skipped : gNext;
    gState = 0u;
    ransRefill(on);
}

// Takes n bits, 0 .. 16. A lane with n = 0 is not refilled.
uint ransBits(bool on, uint n) {
    on = on && n != 0u;
    ransRefill(on);
    uint value = mix(0u, gState & ((1u << n) - 1u), on);
    gState = mix(gState, gState >> n, on);
    return value;
}

// Returns the entry of slot `slot` of the table whose marks and entries begin at words `marks` (an
// even number) and `entries`.
uint ransEntry(uint marks, uint entries, uint slot) {
    uint word = ransAt(marks + 2u * (slot >> 5)),
         bits = sRans[word] & ~(0xfffffffeu << (slot & 31u));
    uint at = entries - 1u + sRans[word + 1u] + uint(bitCount(bits)); // slot 0 is marked
    if (kLockstep) // a group without such a table may run in lockstep with a group that has one
        at = min(at, kRansWords - 1u);
    return sRans[ransAt(at)];
}

// Takes a symbol, in lanes that have been refilled.
uint ransTake(bool on, uint marks, uint entries, uint log) {
    uint slot = gState & ((1u << log) - 1u), entry = ransEntry(marks, entries, slot);
    gState = mix(gState, (entry & 0xfffu) * (gState >> log) + slot - (entry >> 12 & 0x7ffu), on);
    return entry >> 23;
}

uint ransSymbol(bool on, uint marks, uint entries, uint log) {
    ransRefill(on);
    return ransTake(on, marks, entries, log);
}

// -----------------------------------------------------------------------------------------------
// To build a table of 2^5 to 2^11 slots, call ransTable, then ransRow for 32 symbols at a time, in
// order, then ransFill. All lanes of the group call these; groups that are not `on` write nothing.

uint gTableSum, gTableSymbols; // slots assigned so far, and symbols that have slots

void ransTable(bool on, uint marks, uint log) {
    uint words = (1u << log) / 32u, at = lgLane();
    gTableSum = gTableSymbols = 0u;
    lgBarrierShared(); // all lanes are done with the previous table
    if (on && at < words)
        // Slot 0 is always marked. A valid table marks it anyway; this keeps reads of an invalid
        // table inside it.
        sRans[ransAt(marks + 2u * at)] = at == 0u ? 1u : 0u;
    if (on && at + 32u < words) sRans[ransAt(marks + 2u * at + 64u)] = 0u;
    lgBarrierShared();
}

// Gives the lane's symbol `count` slots.
void ransRow(bool on, uint marks, uint entries, uint log, uint symbol, uint count) {
    uint before, sum;
    uint begins = lgBallot3Scan(false, count != 0u, false, count, before, sum).y;
    uint first = gTableSum + before;
    if (on && count != 0u) {
        uint place = gTableSymbols + uint(bitCount(begins & lgLanesBelow()));
        sRans[ransAt(entries + place)] = count & 0xfffu | (first & 0x7ffu) << 12 | symbol << 23;
        if (first < 1u << log)
            atomicOr(sRans[ransAt(marks + 2u * (first >> 5))], 1u << (first & 31u));
    }
    gTableSum += sum;
    gTableSymbols += uint(bitCount(begins));
}

// Counts the symbols that begin before each word of marks. Returns whether all slots are assigned.
bool ransFill(bool on, uint marks, uint log) {
    lgBarrierShared();
    uint words = (1u << log) / 32u, share = (words + 31u) / 32u, own = share * lgLane(), before,
         sum;
    bool first = on && own < words, second = first && share == 2u;
    uint word = ransAt(marks + 2u * own);
    uint begins = first ? uint(bitCount(sRans[word])) : 0u,
         more = second ? uint(bitCount(sRans[word + 2u])) : 0u;
    lgScan(begins + more, before, sum);
    if (first) sRans[word + 1u] = before;
    if (second) sRans[word + 3u] = before + begins;
    lgBarrierShared();
    return gTableSum == 1u << log;
}

#endif // SLUICE_RANS_GLSL
