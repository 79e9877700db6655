// SPDX-License-Identifier: MIT OR Apache-2.0
// rANS (Duda 2009) over a lane group. The lanes are interleaved as in Giesen, Interleaved entropy
// coders, 2014: each lane has a state of 32 bits, which is also its bit buffer, and all lanes share
// one list of 16-bit words. Before each read, every lane whose state is below 2^16 takes the next
// word, in the order of the lanes, until the list is used up.
//
// A table has 2^log *slots*. The low bits of the state are the number of a slot, and the slot tells
// the symbol. Each symbol has a range of slots, and the ranges follow each other in the order of
// the symbols. For every 32 slots there are two words. The first has a *mark* for each of the
// slots, a bit that is set if a symbol's range begins there. The second is the number of symbols
// that begin before these 32 slots. So that number plus the population count of the marks up to a
// slot finds the symbol's *entry*: a word with the symbol, its number of slots and its first slot.
//
// The two words take a quarter of a byte per slot. They are that compact because shared memory
// limits occupancy. They are also quick to fill.
//
// A shader that includes this file defines kRansWords, the words of shared memory that each lane
// group has for its tables.
#ifndef SLUICE_RANS_GLSL
#define SLUICE_RANS_GLSL

#include "word_stream.glsl"

shared uint sRans[kGroupsPerWorkgroup * kRansWords];

uint gState;    // the lane's state
uint gWordsEnd; // the end of the list, as a number of a 16-bit word (like gNext)

// Returns the index in sRans of word `at` of this lane group's tables.
uint ransAt(uint at) { return lgIndex() * kRansWords + at; }

// Gives a word to each lane that is `on` and has a state below 2^16. All lanes of the lane group
// call this together. After at most six calls the caller must call wordsMove, which loads more
// words into shared memory.
void ransRefill(bool on) {
    bool need = on && gState < 0x10000u;
    uint takers = lgBallot(need), at = gNext + uint(bitCount(takers & lgLanesBelow()));
    uint word = wordAt(at);
    gState = mix(gState, gState << 16 | word, need && at < gWordsEnd);
    gNext += uint(bitCount(takers));
}

// Begins to read the 16-bit words [first, end) of the list at `address`, a multiple of 4.
// `elsewhere` is the address of any word that may be loaded if the list is empty.
void ransBegin(bool on, uvec2 address, uint first, uint end, uvec2 elsewhere) {
    uint skipped = first & ~1u;
    wordsBegin(add64(address, 2u * skipped), on ? (end - skipped + 1u) / 2u : 0u, elsewhere);
    gNext = first - skipped;
    gWordsEnd = on ? end - skipped : gNext;
    gState = 0u;
    ransRefill(on);
}

// Returns the next n bits (0 .. 16) of each lane's state, and removes them. n may differ between
// lanes. A lane with n = 0 does not refill.
uint ransBits(bool on, uint n) {
    on = on && n != 0u;
    ransRefill(on);
    uint value = mix(0u, gState & ((1u << n) - 1u), on);
    gState = mix(gState, gState >> n, on);
    return value;
}

// Returns the entry of the symbol that has slot `slot`. The table's marks begin at word `marks`, an
// even number, and its entries at word `entries`.
uint ransEntry(uint marks, uint entries, uint slot) {
    uint word = ransAt(marks + 2u * (slot >> 5)),
         bits = sRans[word] & ~(0xfffffffeu << (slot & 31u));
    // Slot 0 has a mark in every table, so the count is at least 1.
    uint at = entries - 1u + sRans[word + 1u] + uint(bitCount(bits));
    // A lane group that has no table may run in lockstep with one that has. It reads meaningless
    // words here, so the index must be limited.
    if (kLockstep) at = min(at, kRansWords - 1u);
    return sRans[ransAt(at)];
}

// Decodes and returns a symbol in each lane that is `on` and has refilled. The table has 2^log
// slots; `marks` and `entries` are the words at which its marks and its entries begin.
uint ransTake(bool on, uint marks, uint entries, uint log) {
    uint slot = gState & ((1u << log) - 1u), entry = ransEntry(marks, entries, slot);
    gState = mix(gState, (entry & 0xfffu) * (gState >> log) + slot - (entry >> 12 & 0x7ffu), on);
    return entry >> 23;
}

// Refills, then decodes a symbol (ransTake).
uint ransSymbol(bool on, uint marks, uint entries, uint log) {
    ransRefill(on);
    return ransTake(on, marks, entries, log);
}

// -----------------------------------------------------------------------------------------------
// To build a table of 2^5 to 2^11 slots, all lanes of all lane groups call ransTable, then ransRow
// for each 32 symbols in order, one symbol per lane, then ransFill. Lane groups that are not `on`
// write nothing.

uint gTableSum, gTableSymbols; // slots assigned so far, and symbols that have slots

// Begins the table whose marks stand at word `marks`: no slot is assigned yet.
void ransTable(bool on, uint marks, uint log) {
    uint words = (1u << log) / 32u, at = lgLane();
    gTableSum = gTableSymbols = 0u;
    // This barrier waits until all lanes are done with the table that was here before.
    lgBarrierShared();
    if (on && at < words)
        // Slot 0 is marked even if the table turns out to be invalid, because without a mark there
        // ransEntry would access words outside of the table.
        sRans[ransAt(marks + 2u * at)] = at == 0u ? 1u : 0u;
    if (on && at + 32u < words) sRans[ransAt(marks + 2u * at + 64u)] = 0u;
    lgBarrierShared();
}

// Gives this lane's symbol the next `count` slots, after those of the previous symbols.
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

// Stores, after each word of marks, how many symbols begin before that word. Returns whether the
// table is valid, that is, whether exactly 2^log slots are assigned.
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
