// SPDX-License-Identifier: MIT OR Apache-2.0
// The output of DFloat11 and ECF8 blocks. Symbols are *staged* before they are stored: they are
// collected in wg.stage in the order of their places, from place `staged` on, which is a multiple
// of 16. df11_unit.h explains block, window and place.
//
// The includer provides loadWindow, which loads a window of the unit, and storeOther, which stores
// the bf16 element at a place, given its symbol.
#ifndef SLUICE_KERNELS_DF11_OUTPUT_H
#define SLUICE_KERNELS_DF11_OUTPUT_H

#include "df11_windows.h"

SLUICE_KERNEL_BEGIN

// Plans where in the output the elements of block `block` go. The unit's list of positions gives
// the block elements [begin, end) of the unit. If that breaks a rule, the plan's status is
// BAD_INDEX.
SLUICE_DEVICE void planBlock(bool bf16, u32 block, u64 begin, u64 end) {
    u32 first = lowWord(begin), stop = lowWord(end);
    bool good = (block != 0u || begin == kNull) && !less64(end, begin) &&
                !less64(wide(wg.unit.elements), end) &&
                stop - first <= SLUICE_DF11_MAX_BLOCK_ELEMENTS;
    // How many bytes above a multiple of 16 the unit's output begins.
    u32 skipped = lowWord(wg.unit.target) & 15u;
    u32 lead = bf16 ? skipped >> 1 : skipped, origin = (first + lead) & ~15u;
    wg.plan[block & 1u].unitsAt =
        sub64(add64(wg.unit.target, mul64(origin, bf16 ? 2u : 1u)), wide(skipped));
    wg.plan[block & 1u].restAt =
        sub64(add64(wg.unit.rest, bf16 ? origin : origin >> 1), wide(bf16 ? lead : lead >> 1));
    wg.plan[block & 1u].begin = first + lead - origin;
    wg.plan[block & 1u].end = stop + lead - origin;
    wg.plan[block & 1u].status = !good                      ? SLUICE_ST_BAD_INDEX
                                 : stop == wg.unit.elements ? SLUICE_ST_OK
                                                            : SLUICE_ST_PENDING;
}

// Sets word `word` of wg.stage, if the array has that many.
SLUICE_DEVICE void stageAt(int word, u32 value) {
    if (u32(word) < kStageWords) wg.stage[word] = value;
}
// Sets bits in word `word` of wg.stage, if the array has that many.
SLUICE_DEVICE void stageBits(u32 word, u32 bits) {
    if (bits != 0u && word < kStageWords) atomicOr(SLUICE_AT(wg.stage[word]), bits);
}

// Stages the symbols of a window in wg.stage, whose first word begins with place `staged`. The
// window's first symbol is at `place`. `held` has the symbols, four bits each, the last one lowest;
// `codes` is their number, with the flag kLong if `held` lacks some. Two windows may share a word
// of wg.stage. stageOwn stores each word that begins with a symbol of this window. Later,
// stageShared adds the window's symbols before these to the last word of an earlier window.
SLUICE_DEVICE void stageOwn(u32 staged, u32x4 held, u32 codes, u32 place) {
    u32 count = codes & kCount;
    int last = int(place + count - 1u - staged) >> 3,
        words = last - (int(place + 7u - staged) >> 3) + 1;
    // A window with kLong is staged later, by stageWindow with atomicOr, so its words must be 0.
    if (codes > kCount) {
        SLUICE_DONT_UNROLL
        for (int i = 0; i < words && i < 8; ++i)
            stageAt(last - i, 0u);
        return;
    }
    u32 shift = ((0u - place - count) & 7u) * 4u;
    if (words > 0) stageAt(last, held.x << shift);
    if (words > 1) stageAt(last - 1, funnelLeft(held.y, held.x, shift));
    if (words > 2) stageAt(last - 2, funnelLeft(held.z, held.y, shift));
    if (words > 3) stageAt(last - 3, funnelLeft(held.w, held.z, shift));
}

// Adds the symbols that stageOwn leaves out: those in the window's first word of wg.stage, if an
// earlier window stores that word. The parameters are those of stageOwn.
SLUICE_DEVICE void stageShared(u32 staged, u32x4 held, u32 codes, u32 place) {
    u32 end = place + (codes & kCount), first = place >> 3, at = first - (staged >> 3);
    if ((place & 7u) == 0u || codes > kCount || at >= kStageWords) return;
    u32 shift = ((0u - end) & 7u) * 4u, words = ((end + 7u) >> 3) - first;
    u32 high = 0u, low = held.w; // two words of `held`, with the symbols to add
    high = words < 5u ? held.w : high;
    low = words < 5u ? held.z : low;
    high = words < 4u ? held.z : high;
    low = words < 4u ? held.y : low;
    high = words < 3u ? held.y : high;
    low = words < 3u ? held.x : low;
    high = words < 2u ? held.x : high;
    low = words < 2u ? 0u : low;
    atomicOr(SLUICE_AT(wg.stage[at]), funnelLeft(high, low, shift));
}

// Stages the symbols of window `index` by decoding the window again, because it has more symbols
// than the registers hold. `count` is their number, `place` the place of the first one.
SLUICE_GENERIC(Form)
SLUICE_DEVICE void stageWindow(Form form, u32 staged, u32 index, u32 count, u32 place) {
    Window window = loadWindow(form, index);
    Progress progress = beginWindow(window);
    u32 tableEnd = tableEndOf(window), end = place + count;
    SLUICE_DONT_UNROLL
    SLUICE_WHILE(kWindowBits, progress.at < kWindowBits && place < end) {
        u32 entry = nextEntry(form, window, tableEnd, progress), symbols = entry >> 22 & 7u;
        if (symbols != 0u) {
            u32 bits = (entry & kEntrySymbols) << (32u - 4u * symbols), shift = (place & 7u) * 4u;
            symbols = min(symbols, end - place);
            bits &= ~(0xffffffffu >> 4u * symbols);
            u32 at = (place >> 3) - (staged >> 3);
            stageBits(at, bits >> shift);
            stageBits(at + 1u, funnelRight(0u, bits, shift));
            place += symbols;
        }
    }
}

// Decodes window `index` again and stores the elements whose symbols do not fit in four bits, up to
// place `stop`. The window has `count` symbols, the first one at `place`. wg.plan[turn] is the plan
// of its block.
SLUICE_GENERIC(Form)
SLUICE_DEVICE void storeOthers(Form form, u32 turn, u32 index, u32 count, u32 place, u32 stop) {
    Window window = loadWindow(form, index);
    u32 at = window.gap, status = SLUICE_ST_PENDING;
    stop = min(place + count, stop);
    SLUICE_DONT_UNROLL
    SLUICE_WHILE(kWindowBits, at < kWindowBits && place < stop && status == SLUICE_ST_PENDING) {
        u32 code = readCode(form, bitsAt(window, at), bitsLeft(window, at)), symbol = code & 255u;
        status = code >> 16;
        if (status == SLUICE_ST_PENDING && symbol - wg.unit.base >= wg.unit.nibbles) // in bf16 only
            storeOther(wg.plan[turn].unitsAt, wg.plan[turn].restAt, place, symbol);
        at += code >> 8 & 255u;
        ++place;
    }
}

// Adds to wg.others the only symbol of a window that does not fit in four bits. Bits 0 .. 7 of
// `other` are 1 + the symbol's index in the window, the bits above are the symbol. The window's
// first symbol is at `place`. If the window has several such symbols (kSeveral), makes the count so
// large that all windows with such symbols are decoded again.
SLUICE_DEVICE void noteOther(u32 turn, u32 other, u32 place) {
    u32 at = atomicAdd(SLUICE_AT(wg.otherCounts[turn]), other == kSeveral ? kOthers + 1u : 1u);
    if (at < kOthers) wg.others[at] = ((place + (other & 255u) - 1u) & 0xffffu) | other >> 8 << 16;
}

// Returns `merged`, eight bf16 elements from place 8 * word on, with the symbols of wg.others put
// in. Before, each of these elements has the substitute symbol base + 15. `count` is the number of
// symbols that the list should have; if it is above kOthers, storeOthers stores their elements
// later.
SLUICE_DEVICE u32x4 addOthers(u32x4 merged, u32 word, u32 count) {
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < (count > kOthers ? 0u : count); ++i) {
        u32 other = wg.others[i], pair = other >> 1 & 3u;
        if ((other & 0xffffu) >> 3 == word) {
            u32 more = ((other >> 16) - wg.unit.base - 15u) << (7u + 16u * (other & 1u));
            merged.x += pair == 0u ? more : 0u;
            merged.y += pair == 1u ? more : 0u;
            merged.z += pair == 2u ? more : 0u;
            merged.w += pair == 3u ? more : 0u;
        }
    }
    return merged;
}

// Returns whether one of the eight symbols of a word is 15, which stands for a symbol that does not
// fit in four bits.
SLUICE_DEVICE bool hasFifteen(u32 symbols) {
    u32 pairs = symbols & symbols >> 1;
    return (pairs & pairs >> 2 & 0x11111111u) != 0u;
}

// Returns eight fp8 elements. `exponents` has their exponents, four bits each, the first one
// highest. Each byte of `rest` has the sign and mantissa of two elements, those of the first in its
// upper half.
SLUICE_DEVICE u32x2 mergeFp8(u32 exponents, u32 rest) {
    exponents = bigEndian(exponents);
    u32 even = (rest >> 4 & 0x7070707u) | (rest & 0x80808080u) | (exponents >> 1 & 0x78787878u);
    u32 odd = (rest & 0x7070707u) | (rest << 4 & 0x80808080u) | (exponents << 3 & 0x78787878u);
    return interleaveBytes(even, odd);
}

SLUICE_KERNEL_END
#endif
