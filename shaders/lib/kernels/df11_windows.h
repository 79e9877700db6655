// SPDX-License-Identifier: MIT OR Apache-2.0
// DFloat11 and ECF8: decodes the codes of a window of 64 bits into registers, four bits per symbol.
//
// Four bits are enough for fp8. In bf16 they stand for those 15 neighbouring exponents that have
// the shortest codes; the few other symbols are listed and inserted on output. An entry of the
// table has up to five symbols. Codes that are too long for it are looked up in the unit's own
// rows, and a window with more symbols than the registers hold is decoded twice.
//
// The includer provides the type Form, the unit's form, with codeBytesOf and maxSymbolOf. It also
// provides append, which appends an entry's symbols to the held symbols, of which the last one is
// lowest in x, and changes only the given number of words.
#ifndef SLUICE_KERNELS_DF11_WINDOWS_H
#define SLUICE_KERNELS_DF11_WINDOWS_H

#include "df11_unit.h"

SLUICE_KERNEL_BEGIN

// A window: its bytes and the four bytes after it, its gap (where its first code starts), and where
// the next window's codes start, relative to this window's start.
struct Window {
    u32 first, second, third;
    u32 gap, end, index;
};

// Returns the 32 bits of a window that start at bit `at`, which is below 64.
SLUICE_DEVICE u32 bitsAt(SLUICE_IN(Window) window, u32 at) {
    bool upper = at < 32u;
    u32 high = upper ? window.first : window.second, low = upper ? window.second : window.third;
    return funnelLeft(high, low, at & 31u);
}

// Returns how many bits of the stream follow, starting at bit `at` of a window. The result may be
// lower than that, but only where it is still longer than any code.
SLUICE_DEVICE u32 bitsLeft(SLUICE_IN(Window) window, u32 at) {
    u32 left = min(wg.unit.encoded - min(window.index * 8u, wg.unit.encoded), 12u) * 8u;
    return left - min(at, left);
}

// Reads the code at the upper end of `bits`, of which the stream has `left`. Returns its symbol in
// bits 0 .. 7, its length in bits 8 .. 15 and the status above, which is PENDING if the code is
// good.
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

// The progress in a window. The codes so far end at bit `at`, and have counts / 4 symbols. `other`
// is 0 if all symbols fit in four bits, and kSeveral if several do not. If a single one does not,
// `other` is 1 + its index, with the symbol itself shifted left by 8.
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

// Returns the bit of a window up to which the table may look: codes that start before that bit end
// at or before it. Returns 0 if no such bit is known.
SLUICE_DEVICE u32 tableEndOf(SLUICE_IN(Window) window) {
    return window.index < wg.unit.tableWindows ? window.end : 0u;
}

// Returns the entry for the codes at progress.at, with symbol 15 for a symbol that does not fit in
// four bits. If the code there is bad, the status is set, the entry has no symbols and decoding of
// the window ends.
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

// Returns the entry for the top bits of `bits`, all of which are known.
SLUICE_DEVICE u32 fullEntry(u32 bits) { return wg.table[kSingles + (bits >> (32u - kTableBits))]; }

// Marks a window that has too many codes for the registers.
SLUICE_CONSTANT u32 kLong = 0x100u, kCount = 0xffu;

// Decodes the codes that start in a window. Returns PENDING if they are good and end where the next
// window's codes start. `codes` is their number. If there are at most 32, `held` receives their
// symbols, four bits each, the last one lowest; otherwise kLong is set in `codes`. `other` is as in
// Progress.
SLUICE_GENERIC(Form)
SLUICE_DEVICE u32 decodeWindow(Form form, SLUICE_IN(Window) window, SLUICE_OUT(u32x4, held),
                               SLUICE_OUT(u32, codes), SLUICE_OUT(u32, other)) {
    Progress progress = beginWindow(window);
    u32 tableEnd = tableEndOf(window);
    held = makeU32x4(0u, 0u, 0u, 0u);
    if (tableEnd != 0u && window.gap <= kWindowBits - 5u * kTableBits) {
        // Such a window has room for five entries and usually a sixth; an entry of 0 changes
        // nothing.
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
        // `counts` is four times the number of symbols plus 256 times the number of bits.
        u32 counts = (first >> 20) + (second >> 20) + (third >> 20) + (fourth >> 20) +
                     (fifth >> 20) + (sixth >> 20);
        progress.at += counts >> 8;
        progress.counts = counts & 255u;
    }
    // each step takes at least one bit
    SLUICE_DONT_UNROLL
    SLUICE_WHILE(kWindowBits, progress.at < kWindowBits)
    append(held, nextEntry(form, window, tableEnd, progress), 4u);
    codes = progress.counts >> 2;
    codes |= codes > 32u ? kLong : 0u;
    other = progress.other;
    if (progress.status != SLUICE_ST_PENDING) return progress.status;
    // An entry may hold codes that start after the window; these are dropped. (Codes that are not
    // in the table never start after it.)
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
