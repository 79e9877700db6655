// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables that decode GDeflate symbols. From the next bits of a lane they give the kind of the
// symbol, its smallest value, and how many bits it takes. A block has one table for literals and
// lengths, and one for distances.
#pragma once

#include "formats/gdeflate_symbols.h"

#include <algorithm>
#include <cstring>

namespace sluice::cpu::fast {

// A table has an *entry* for each value of the next kTableLog bits. An entry has
// - in bits 0 to 4 the number of bits of the code and its extra bits together (kTotalMask),
// - in bits 5 to 8 the number of bits of the code alone,
// - in bits 9 to 15 flags,
// - from bit 16 on the symbol's smallest value, to which the extra bits are added.
//
// The flag kIsMatch marks a length. Its value, kTableSize, is also the offset of the table of
// distances behind the table of literals and lengths. So `entry & kIsMatch` is the offset of the
// table for the lane's next symbol.
constexpr uint32_t kTableLog = 11, kTableSize = 1u << kTableLog;
constexpr uint32_t kTotalMask = 31, kCodeShift = 5, kCodeMask = 15;
constexpr uint32_t kLiteralBit = 9, kDistanceBit = 10;
constexpr uint32_t kIsLiteral = 1u << kLiteralBit, kIsDistance = 1u << kDistanceBit;
constexpr uint32_t kIsMatch = kTableSize;
// kIsSpecial is set together with one of the three flags after it: the code is long (kIsLong), or
// the symbol is the end of the block (kIsEnd) or one that the format does not allow (kIsBad). An
// entry with kIsLong has no symbol; its value is the number of a group of long codes.
constexpr uint32_t kSpecialBit = 12;
constexpr uint32_t kIsSpecial = 1u << kSpecialBit;
constexpr uint32_t kIsLong = 1u << 13, kIsEnd = 1u << 14, kIsBad = 1u << 15;
constexpr uint32_t kValueShift = 16;

// Codes of more than kTableLog bits are in *groups*: the long codes with the same first kTableLog
// bits form one group. A group has an entry for each value of the next kLongLog bits.
constexpr uint32_t kLongLog = gdeflate::kMaxCodeLength - kTableLog, kLongSize = 1u << kLongLog;

// Makes the entry of a symbol. The length of the symbol's code is added later, by withCode().
constexpr uint32_t entryOf(uint32_t flags, uint32_t extraBits, uint32_t value)
{
    return value << kValueShift | flags | extraBits;
}
// Return the entry of a symbol, without the length of its code. literalEntry() is for the symbols
// of literals and lengths, distanceEntry() for those of distances.
constexpr uint32_t literalEntry(uint32_t symbol)
{
    using namespace gdeflate;
    if (symbol < kEndOfBlock) return entryOf(kIsLiteral, 0, symbol);
    if (symbol == kEndOfBlock) return entryOf(kIsSpecial | kIsEnd, 0, 0);
    if (symbol >= kLitLenSymbols) return entryOf(kIsSpecial | kIsBad, 0, 0);
    const uint32_t slot = symbol - kFirstLength;
    return entryOf(kIsMatch, lengthExtraBits(slot), lengthBase(slot));
}
constexpr uint32_t distanceEntry(uint32_t symbol)
{
    return entryOf(kIsDistance, gdeflate::distanceExtraBits(symbol),
                   gdeflate::distanceBase(symbol));
}
// Adds the size of a code, `length` bits, to an entry.
constexpr uint32_t withCode(uint32_t entry, uint32_t length)
{
    return entry + length + (length << kCodeShift);
}

// Returns the low `count` bits, 1 to 16, in reverse order.
constexpr uint32_t reverseBits(uint32_t value, uint32_t count)
{
    value = (value & 0x5555) << 1 | (value >> 1 & 0x5555);
    value = (value & 0x3333) << 2 | (value >> 2 & 0x3333);
    value = (value & 0x0f0f) << 4 | (value >> 4 & 0x0f0f);
    return ((value & 0xff) << 8 | value >> 8) >> (16 - count);
}

// The largest numbers of groups: kLongLiterals for literals and lengths, kLongGroups for both
// tables together. They are half the numbers of symbols, since each group of a complete code has at
// least two symbols.
constexpr uint32_t kLongLiterals = gdeflate::kMaxSymbols / 2,
                   kLongGroups = kLongLiterals + gdeflate::kDistanceSymbols / 2;

// Makes the table of a code from the code lengths of its symbols, 0 to kMaxCodeLength, where 0
// means that the symbol has no code. Writes the table to `table`, and its groups to longTable, from
// group number `group` on. entryOf(symbol) returns a symbol's entry without the size of its code.
// Returns false if the code is incomplete. Two incomplete codes are allowed (docs/format.md, 1.4):
// a single symbol with a code of 1 bit, and no symbol at all.
template <typename EntryOf>
bool buildTable(const uint8_t* lengths, uint32_t symbolCount, uint32_t* table, uint32_t* longTable,
                uint32_t group, EntryOf entryOf)
{
    constexpr uint32_t kMax = gdeflate::kMaxCodeLength;
    // count: symbols per code length. next: the index in `sorted` for the next symbol of a length.
    uint32_t count[kMax + 1] = {}, next[kMax + 2];
    for (uint32_t i = 0; i < symbolCount; ++i)
        ++count[lengths[i]];
    uint32_t used = 0, space = 0;
    for (uint32_t length = 1; length <= kMax; ++length) {
        next[length] = used;
        used += count[length];
        space += count[length] << (kMax - length);
    }
    if (used == 0 || (used == 1 && count[1] == 1)) {
        const uint32_t symbol =
            used == 0 ? 0 : uint32_t(std::find(lengths, lengths + symbolCount, 1) - lengths);
        std::fill_n(table, kTableSize, withCode(entryOf(symbol), 1));
        return true;
    }
    if (space != 1u << kMax) return false;
    uint16_t sorted[gdeflate::kMaxSymbols];
    for (uint32_t i = 0; i < symbolCount; ++i)
        if (lengths[i] != 0) sorted[next[lengths[i]]++] = uint16_t(i);

    // Add the codes in ascending order. The first bit of a code is the lowest bit of the index. So
    // when the code length grows by one bit, the table doubles, and its upper half starts as a copy
    // of the lower half.
    uint32_t code = 0, size = 1, symbol = 0, length = 1;
    table[0] = 0;
    for (; length <= kTableLog; ++length) {
        code <<= 1;
        std::memcpy(table + size, table, size * sizeof(uint32_t));
        size *= 2;
        for (uint32_t i = 0; i < count[length]; ++i)
            table[reverseBits(code++, length)] = withCode(entryOf(sorted[symbol++]), length);
    }
    uint32_t prefix = ~0u; // the first kTableLog bits of the codes of the current group
    for (; length <= kMax; ++length) {
        code <<= 1;
        for (uint32_t i = 0; i < count[length]; ++i) {
            const uint32_t reversed = reverseBits(code++, length);
            if ((reversed & (kTableSize - 1)) != prefix) {
                prefix = reversed & (kTableSize - 1);
                table[prefix] = group++ << kValueShift | kIsSpecial | kIsLong;
            }
            uint32_t* entries = longTable + (table[prefix] >> kValueShift) * kLongSize;
            const uint32_t entry = withCode(entryOf(sorted[symbol++]), length);
            // The bits that follow the code may have any value, so the entry is repeated.
            for (uint32_t at = reversed >> kTableLog; at < kLongSize;
                 at += 1u << (length - kTableLog))
                entries[at] = entry;
        }
    }
    return true;
}

} // namespace sluice::cpu::fast
