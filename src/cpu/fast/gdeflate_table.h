// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables that turn the next bits of a lane into a GDeflate symbol, its value and its size in bits.
#pragma once

#include "formats/gdeflate_symbols.h"

#include <algorithm>
#include <cstring>

namespace sluice::cpu::fast {

// An entry holds the number of bits of the code with its extra bits, the number of bits of the code
// alone, the kind of the symbol, and its least value. A round adds the entry's match flag to a
// lane's offset in the tables, so the flag's value is the distance between the tables of the two
// alphabets.
constexpr uint32_t kTableLog = 11, kTableSize = 1u << kTableLog;
constexpr uint32_t kTotalMask = 31, kCodeShift = 5, kCodeMask = 15;
constexpr uint32_t kLiteralBit = 9, kDistanceBit = 10;
constexpr uint32_t kIsLiteral = 1u << kLiteralBit, kIsDistance = 1u << kDistanceBit;
constexpr uint32_t kIsMatch = kTableSize;
constexpr uint32_t kSpecialBit = 12;
constexpr uint32_t kIsSpecial =
    1u << kSpecialBit; // one of the next three; the value is the place of a long code
constexpr uint32_t kIsLong = 1u << 13, kIsEnd = 1u << 14, kIsBad = 1u << 15;
constexpr uint32_t kValueShift = 16;

// Codes of more than kTableLog bits have their entries in groups: one group per prefix of kTableLog
// bits.
constexpr uint32_t kLongLog = gdeflate::kMaxCodeLength - kTableLog, kLongSize = 1u << kLongLog;

constexpr uint32_t entryOf(uint32_t flags, uint32_t extraBits, uint32_t value)
{
    return value << kValueShift | flags | extraBits;
}
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
// Adds the length of the code to an entry.
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

// Every group has at least two symbols; otherwise the code would not be complete.
constexpr uint32_t kLongLiterals = gdeflate::kMaxSymbols / 2,
                   kLongGroups = kLongLiterals + gdeflate::kDistanceSymbols / 2;

// Makes the table of a code from its lengths, 0 to kMaxCodeLength, and its groups of longTable from
// `group` on. Returns whether the code is complete, or one of the two that count as complete
// (docs/format.md, 1.4).
template <typename EntryOf>
bool buildTable(const uint8_t* lengths, uint32_t symbolCount, uint32_t* table, uint32_t* longTable,
                uint32_t group, EntryOf entryOf)
{
    constexpr uint32_t kMax = gdeflate::kMaxCodeLength;
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

    // Symbols are sorted by code. When the code length grows by one bit, the table doubles: its
    // upper half becomes a copy of its lower half.
    uint32_t code = 0, size = 1, symbol = 0, length = 1;
    table[0] = 0;
    for (; length <= kTableLog; ++length) {
        code <<= 1;
        std::memcpy(table + size, table, size * sizeof(uint32_t));
        size *= 2;
        for (uint32_t i = 0; i < count[length]; ++i)
            table[reverseBits(code++, length)] = withCode(entryOf(sorted[symbol++]), length);
    }
    uint32_t prefix = ~0u; // the low bits that all codes of the group have in common
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
            for (uint32_t at = reversed >> kTableLog; at < kLongSize;
                 at += 1u << (length - kTableLog))
                entries[at] = entry;
        }
    }
    return true;
}

} // namespace sluice::cpu::fast
