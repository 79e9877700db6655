// SPDX-License-Identifier: MIT OR Apache-2.0
// DFloat11 and ECF8: decodes the codes of a window of 64 bits into registers, four bits per symbol.
// df11_unit.h explains window, gap, symbol and the table.
//
// Four bits are enough for every symbol of fp8. In bf16 they stand for the 15 neighbouring
// exponents that occur most, judged by the lengths of their codes. The few other symbols are
// listed, and replaced on output. An entry of the table has up to five symbols. A code that is too
// long for the table is looked up in the unit's own rows. A window with more symbols than the
// registers hold is decoded twice.
//
// The includer provides the type Form, which tells bf16 from fp8, and two functions of it:
// codeBytesOf returns the bytes of the longest code, maxSymbolOf the highest symbol. It also
// provides append(held, entry, words), which appends an entry's symbols to `held`, where the last
// symbol is lowest in x. append changes only the lowest `words` words of `held`; the caller knows
// that the symbols fit in these.
#ifndef SLUICE_KERNELS_DF11_WINDOWS_H
#define SLUICE_KERNELS_DF11_WINDOWS_H

#include "df11_unit.h"

SLUICE_KERNEL_BEGIN

// A window: `first` and `second` are its 64 bits, `third` the 32 bits after them. `gap` is the bit
// at which the window's codes start, `end` the bit, counted from this window's start, at which the
// next window's codes start. `index` is the window's number in the unit.
struct Window {
    u32 first, second, third;
    u32 gap, end, index;
};

// Returns 32 bits, from bit `at` of a window on. `at` is below 64; the bits may reach beyond the
// window's end.
SLUICE_DEVICE u32 bitsAt(SLUICE_IN(Window) window, u32 at) {
    bool upper = at < 32u;
    u32 high = upper ? window.first : window.second, low = upper ? window.second : window.third;
    return funnelLeft(high, low, at & 31u);
}

// Returns how many bits the stream has from bit `at` of a window on. It counts only the first 96
// bits from the window's start. That is enough, since `at` is below 64 and no code is longer than
// 32 bits.
SLUICE_DEVICE u32 bitsLeft(SLUICE_IN(Window) window, u32 at) {
    u32 left = min(wg.unit.encoded - min(window.index * 8u, wg.unit.encoded), 12u) * 8u;
    return left - min(at, left);
}

// Reads the code that begins at the highest bit of `bits`; the stream has `left` bits from there
// on. Returns the code's symbol in bits 0 .. 7, its length in bits 8 .. 15, and above that a
// status, which is PENDING if the code is good.
SLUICE_GENERIC(Form)
SLUICE_DEVICE u32 readCode(Form form, u32 bits, u32 left) {
    u32 row = 0u, code = SLUICE_ST_BAD_CODE << 16;
    bool on = left != 0u;
    SLUICE_DONT_UNROLL
    for (u32 depth = 0u; on && depth < codeBytesOf(form); ++depth) {
        u32 symbol = lutAt(row, bits >> (24u - 8u * depth) & 255u);
        row = 256u - symbol;
        on = symbol >= SLUICE_DF11_POINTER && row < wg.unit.rows - 1u;
        if (symbol < SLUICE_DF11_POINTER) {
            u32 length_ = lengthOf(symbol);
            if (symbol <= maxSymbolOf(form) && length_ > 8u * depth && length_ <= 8u * depth + 8u)
                code = symbol | length_ << 8 |
                       (length_ > left ? SLUICE_ST_TRUNCATED : SLUICE_ST_PENDING) << 16;
        }
    }
    return left == 0u ? SLUICE_ST_TRUNCATED << 16 : code;
}

// How far a window has been decoded. The codes that have been read end at bit `at`; counts / 4 is
// the number of their symbols. `other` tells about symbols that do not fit in four bits: it is 0 if
// there is none and kSeveral if there are several. If there is one, its low 8 bits are 1 + the
// symbol's index in the window, and the symbol begins at bit 8.
struct Progress {
    u32 at, status, counts, other;
};
SLUICE_CONSTANT u32 kSeveral = 0xffffffffu;

SLUICE_DEVICE Progress beginWindow(SLUICE_IN(Window) window) {
    Progress progress;
    progress.at = window.gap;
    progress.status = SLUICE_ST_PENDING;
    progress.counts = progress.other = 0u;
    return progress;
}

// Returns the bit of a window up to which the table may look: all codes that start before that bit
// end at it or before. Returns 0 if no such bit is known.
SLUICE_DEVICE u32 tableEndOf(SLUICE_IN(Window) window) {
    return window.index < wg.unit.tableWindows ? window.end : 0u;
}

// Returns the entry for the codes at progress.at, and moves past them. A symbol that does not fit
// in four bits is 15 in the entry. If the code there is bad, sets the status, returns an entry
// without symbols, and moves to the end of the window.
SLUICE_GENERIC(Form)
SLUICE_DEVICE u32 nextEntry(Form form, SLUICE_IN(Window) window, u32 tableEnd,
                            SLUICE_INOUT(Progress, progress)) {
    u32 bits = bitsAt(window, progress.at);
    u32 known = min(max(tableEnd, progress.at) - progress.at, kTableBits);
    u32 entry = wg.table[(1u << known) + funnelLeft(0u, bits, known)], taken = entry >> 28;
    if (entry == 0u) {
        u32 code = readCode(form, bits, bitsLeft(window, progress.at));
        progress.status = code >> 16;
        taken = kWindowBits;
        if (progress.status == SLUICE_ST_PENDING) {
            u32 nibble = (code & 255u) - wg.unit.base;
            entry = 4u << 20 | min(nibble, 15u);
            if (nibble >= wg.unit.nibbles)
                progress.other = progress.other != 0u
                                     ? kSeveral
                                     : (progress.counts / 4u + 1u) | (code & 255u) << 8;
            taken = code >> 8 & 255u;
        }
    }
    progress.at += taken;
    progress.counts += entry >> 20 & 31u;
    return entry;
}

// Returns the entry for the highest kTableBits bits of `bits`. All of these must belong to codes
// that start in the window.
SLUICE_DEVICE u32 fullEntry(u32 bits) { return wg.table[kSingles + (bits >> (32u - kTableBits))]; }

// Bits of `codes`, a result of decodeWindow. kLong: the window has more codes than the registers
// hold. kCount: the mask of the number of codes.
SLUICE_CONSTANT u32 kLong = 0x100u, kCount = 0xffu;

// Decodes the codes that start in a window. Returns PENDING if they are good and end where the next
// window's codes start, otherwise a status. `codes` is their number. If there are at most 32,
// `held` has their symbols, four bits each, the last one lowest; otherwise kLong is set in `codes`.
// `other` tells about symbols that do not fit in four bits, as Progress describes it: 0 for none.
SLUICE_GENERIC(Form)
SLUICE_DEVICE u32 decodeWindow(Form form, SLUICE_IN(Window) window, SLUICE_OUT(u32x4, held),
                               SLUICE_OUT(u32, codes), SLUICE_OUT(u32, other)) {
    Progress progress = beginWindow(window);
    u32 tableEnd = tableEndOf(window);
    held = makeU32x4(0u, 0u, 0u, 0u);
    if (tableEnd != 0u && window.gap <= kWindowBits - 5u * kTableBits) {
        // An entry takes at most kTableBits bits, so five entries stay inside this window, and
        // usually a sixth. An entry of 0 takes no bits and adds no symbols, so the loop below goes
        // on there.
        u32 high = funnelLeft(window.first, window.second, window.gap);
        u32 low = funnelLeft(window.second, window.third, window.gap);
        u32 first = fullEntry(high), taken = first >> 28;
        u32 second = fullEntry(high << taken);
        taken += second >> 28;
        u32 third = fullEntry(high << taken);
        taken += third >> 28;
        held.x = first & kEntrySymbols;
        append(held, second, 2u);
        append(held, third, 2u);
        high = funnelLeft(high, low, taken);
        u32 fourth = fullEntry(high);
        taken = fourth >> 28;
        u32 fifth = fullEntry(high << taken);
        taken += fifth >> 28;
        u32 sixth = fullEntry(high << taken);
        sixth = window.gap <= kWindowBits - 6u * kTableBits ? sixth : 0u;
        append(held, fourth, 3u);
        append(held, fifth, 4u);
        append(held, sixth, 4u);
        // Adds up bits 20 and higher of the entries: the sum is four times the number of symbols
        // plus 256 times the number of bits.
        u32 counts = (first >> 20) + (second >> 20) + (third >> 20) + (fourth >> 20) +
                     (fifth >> 20) + (sixth >> 20);
        progress.at += counts >> 8;
        progress.counts = counts & 255u;
    }
    // Each step takes at least one bit, so kWindowBits steps are enough.
    SLUICE_DONT_UNROLL
    SLUICE_WHILE(kWindowBits, progress.at < kWindowBits)
    append(held, nextEntry(form, window, tableEnd, progress), 4u);
    codes = progress.counts >> 2;
    codes |= codes > 32u ? kLong : 0u;
    other = progress.other;
    if (progress.status != SLUICE_ST_PENDING) return progress.status;
    // The last entry may have codes that start after the window; these are dropped. (A code that
    // readCode has read starts inside the window.)
    SLUICE_DONT_UNROLL
    SLUICE_WHILE(32u, progress.at >= kWindowBits + wg.lengths[held.x & 15u]) {
        progress.at -= wg.lengths[held.x & 15u];
        codes--;
        held = makeU32x4(funnelRight(held.x, held.y, 4u), funnelRight(held.y, held.z, 4u),
                         funnelRight(held.z, held.w, 4u), held.w >> 4);
    }
    return progress.at == window.end || window.index + 1u == wg.unit.blocks * kWindows
               ? SLUICE_ST_PENDING
               : SLUICE_ST_BAD_INDEX;
}

SLUICE_KERNEL_END
#endif
