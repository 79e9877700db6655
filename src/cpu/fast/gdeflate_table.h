// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables that turn the next bits of a lane into a GDeflate symbol, its value and its size in bits.
#pragma once

#include "formats/gdeflate_symbols.h"

#include <algorithm>
#include <cstring>

namespace sluice::cpu::fast {

// An entry: the bits of the code with its extra bits and of the code alone, the kind of the symbol,
// and its least value. A round adds the entry's `match` to a lane's place in the tables, so the
// flag's value is the distance between the tables of the two alphabets.
constexpr u32 kTableLog = 11, kTableSize = 1u << kTableLog;
constexpr u32 kTotalMask = 31, kCodeShift = 5, kCodeMask = 15;
constexpr u32 kLiteralBit = 9, kDistanceBit = 10;
constexpr u32 kIsLiteral = 1u << kLiteralBit, kIsDistance = 1u << kDistanceBit;
constexpr u32 kIsMatch = kTableSize;
constexpr u32 kSpecialBit = 12;
constexpr u32 kIsSpecial =
    1u << kSpecialBit; // one of the next three; the value is the place of a long code
constexpr u32 kIsLong = 1u << 13, kIsEnd = 1u << 14, kIsBad = 1u << 15;
constexpr u32 kValueShift = 16;

// The entries of longer codes: one group for each prefix of kTableLog bits that longer codes have.
constexpr u32 kLongLog = gdeflate::kMaxCodeLength - kTableLog, kLongSize = 1u << kLongLog;

constexpr u32 entryOf(u32 flags, u32 extraBits, u32 value)
{
    return value << kValueShift | flags | extraBits;
}
constexpr u32 literalEntry(u32 symbol)
{
    using namespace gdeflate;
    if (symbol < kEndOfBlock) return entryOf(kIsLiteral, 0, symbol);
    if (symbol == kEndOfBlock) return entryOf(kIsSpecial | kIsEnd, 0, 0);
    if (symbol >= kLitLenSymbols) return entryOf(kIsSpecial | kIsBad, 0, 0);
    const u32 slot = symbol - kFirstLength;
    return entryOf(kIsMatch, lengthExtraBits(slot), lengthBase(slot));
}
constexpr u32 distanceEntry(u32 symbol)
{
    return entryOf(kIsDistance, gdeflate::distanceExtraBits(symbol),
                   gdeflate::distanceBase(symbol));
}
// Returns an entry with the length of its code.
constexpr u32 withCode(u32 entry, u32 length) { return entry + length + (length << kCodeShift); }

// Returns the low `count` bits, 1 to 16, in reverse order.
constexpr u32 reverseBits(u32 value, u32 count)
{
    value = (value & 0x5555) << 1 | (value >> 1 & 0x5555);
    value = (value & 0x3333) << 2 | (value >> 2 & 0x3333);
    value = (value & 0x0f0f) << 4 | (value >> 4 & 0x0f0f);
    return ((value & 0xff) << 8 | value >> 8) >> (16 - count);
}

// Every group has at least two symbols; otherwise the code would not be complete.
constexpr u32 kLongLiterals = gdeflate::kMaxSymbols / 2,
              kLongGroups = kLongLiterals + gdeflate::kDistanceSymbols / 2;

// Makes the table of a code from its lengths, 0 to kMaxCodeLength, and its groups of longTable from
// `group` on. Returns whether the code is complete, or one of the two that count as complete
// (docs/format.md, 1.4).
template <typename EntryOf>
bool buildTable(const u8* lengths, u32 symbolCount, u32* table, u32* longTable, u32 group,
                EntryOf entryOf)
{
    constexpr u32 kMax = gdeflate::kMaxCodeLength;
    u32 count[kMax + 1] = {}, next[kMax + 2];
    for (u32 i = 0; i < symbolCount; ++i)
        ++count[lengths[i]];
    u32 used = 0, space = 0;
    for (u32 length = 1; length <= kMax; ++length) {
        next[length] = used;
        used += count[length];
        space += count[length] << (kMax - length);
    }
    if (used == 0 || (used == 1 && count[1] == 1)) {
        const u32 symbol =
            used == 0 ? 0 : u32(std::find(lengths, lengths + symbolCount, 1) - lengths);
        std::fill_n(table, kTableSize, withCode(entryOf(symbol), 1));
        return true;
    }
    if (space != 1u << kMax) return false;
    u16 sorted[gdeflate::kMaxSymbols];
    for (u32 i = 0; i < symbolCount; ++i)
        if (lengths[i] != 0) sorted[next[lengths[i]]++] = u16(i);

    // Codes ascend in the order of the list. When the length grows by a bit, the table doubles by a
    // copy of itself.
    u32 code = 0, size = 1, symbol = 0, length = 1;
    table[0] = 0;
    for (; length <= kTableLog; ++length) {
        code <<= 1;
        std::memcpy(table + size, table, size * sizeof(u32));
        size *= 2;
        for (u32 i = 0; i < count[length]; ++i)
            table[reverseBits(code++, length)] = withCode(entryOf(sorted[symbol++]), length);
    }
    u32 prefix = ~0u; // the low bits that the codes of the group share
    for (; length <= kMax; ++length) {
        code <<= 1;
        for (u32 i = 0; i < count[length]; ++i) {
            const u32 reversed = reverseBits(code++, length);
            if ((reversed & (kTableSize - 1)) != prefix) {
                prefix = reversed & (kTableSize - 1);
                table[prefix] = group++ << kValueShift | kIsSpecial | kIsLong;
            }
            u32* entries = longTable + (table[prefix] >> kValueShift) * kLongSize;
            const u32 entry = withCode(entryOf(sorted[symbol++]), length);
            for (u32 at = reversed >> kTableLog; at < kLongSize; at += 1u << (length - kTableLog))
                entries[at] = entry;
        }
    }
    return true;
}

} // namespace sluice::cpu::fast
