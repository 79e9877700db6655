// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables as Zstandard describes and builds them (RFC 8878, 4.1), by a lane group.
//
// A description is serial: the width of a count depends on the counts before it. So one lane reads
// a description, while other lanes read other ones. The whole group builds a table, without a
// serial step:
//   Zstandard walks through the table in odd steps, so that step number s reaches place s * step.
//   So place p is reached at step number p / step, which is a multiplication by the inverse of the
//   step. The walk skips places of symbols that occur less than once. The skipped steps are marked,
//   and the marks before a step are counted to get its index among the other steps. A table of
//   slots maps that index to a symbol. The states of a symbol are numbered in the order of their
//   places: ballots count the places of a symbol among 32 places, and a count per symbol is carried
//   over to the next 32.
//
// The includer provides what slots.h needs, and fseSame, which returns the lanes that have the same
// symbol, for symbols below 2^bits. lgBarrierAll() must be called between fseRead and fseRow.
#ifndef SLUICE_KERNELS_FSE_H
#define SLUICE_KERNELS_FSE_H

#include "../layout/fse.h"
#include "slots.h"

SLUICE_KERNEL_BEGIN

// -----------------------------------------------------------------------------------------------
// Descriptions

struct FseDescription {
    u32 status; // SLUICE_ST_OK, BAD_CODE, TRUNCATED, TOO_LONG (more states than wanted) or INTERNAL
    u32 log, entries, lastSymbol, bytes;
};

// The symbols that occur, in ascending order: symbol, count << 8, and bit 31 if it occurs less than
// once (the count is 1 then).
SLUICE_DEVICE u32 fseEntry(u32 symbol, u32 count, bool low) {
    return symbol | count << 8 | u32(low) << 31;
}

// Returns the 32 bits that start at bit `at` of a list of words; bits past its end are 0.
SLUICE_DEVICE u32 fseBits(u64 words, u32 count, u32 at) {
    u32 low = 0u, high = 0u, word = at >> 5;
    if (word < count) low = loadWord(words, word);
    if (word + 1u < count) high = loadWord(words, word + 1u);
    return funnelRight(low, high, at);
}

SLUICE_CONSTANT u32 kFseLongest = 1024u; // bytes; no description is that long
// Enough for all values and repeat codes of a description: 256 symbols, each with a repeat code,
// and 85 repeat codes of three.
SLUICE_CONSTANT u32 kFseSteps = 640u;

// One lane reads a description of at most `size` bytes at any address. It writes the symbols to
// `entries`; there are at most as many as states. maxStates is the largest number of states that is
// accepted.
SLUICE_DEVICE FseDescription fseRead(u64 address, u32 size, u32 maxSymbols, u32 maxLog,
                                     u32 maxStates, u64 entries) {
    u64 words = wordOf(address);
    u32 begin = (lowWord(address) & 3u) * 8u, at = begin, end = at + min(size, kFseLongest) * 8u,
        count = (end + 31u) >> 5;
    FseDescription d;
    d.log = (fseBits(words, count, at) & 15u) + SLUICE_FSE_LOG_MIN;
    d.status = d.log > maxLog            ? SLUICE_ST_BAD_CODE
               : 1u << d.log > maxStates ? SLUICE_ST_TOO_LONG
                                         : SLUICE_ST_OK;
    d.entries = d.lastSymbol = 0u;
    at += 4u;
    u32 symbol = 0u, left = 1u << min(d.log, SLUICE_FSE_LOG_MAX); // states that have not been
                                                                  // assigned
    bool zeros = false;
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < kFseSteps && d.status == SLUICE_ST_OK && left != 0u; ++i) {
        u32 bits = fseBits(words, count, at);
        bool tooMany = !zeros && symbol >= maxSymbols;
        if (zeros) { // this many more symbols do not occur
            u32 repeat = bits & 3u;
            at += 2u;
            symbol += repeat;
            zeros = repeat == 3u;
        } else {
            // The value is at most left + 1; the lowest values take one bit less.
            u32 n = u32(findMSB(left + 1u)), shorter = (2u << n) - 2u - left;
            u32 low = bits & ((1u << n) - 1u);
            bool longer = low >= shorter;
            u32 value = longer ? bits & ((2u << n) - 1u) : low;
            if (longer && value >> n != 0u) value -= shorter;
            at += longer ? n + 1u : n;
            zeros = value == 1u;
            u32 slots = value == 0u ? 1u : value - 1u;
            if (!tooMany && !zeros && at <= end) {
                storeWord(entries, d.entries, fseEntry(symbol, slots, value == 0u));
                ++d.entries;
                d.lastSymbol = symbol;
            }
            left -= slots;
            ++symbol;
        }
        d.status = tooMany               ? SLUICE_ST_BAD_CODE
                   : at > end            ? SLUICE_ST_TRUNCATED
                   : symbol > maxSymbols ? SLUICE_ST_BAD_CODE
                                         : SLUICE_ST_OK;
    }
    if (d.status == SLUICE_ST_OK && left != 0u) d.status = SLUICE_ST_INTERNAL;
    d.bytes = (at - begin + 7u) >> 3;
    return d;
}

// -----------------------------------------------------------------------------------------------
// Tables. Call fseBegin, then fseRow for 32 symbols at a time, in order, then fseStates, in all
// lanes of the group. The caller must have checked the counts: in groups that are `on` they add up
// to 2^log, where log is 5 .. 9.

// A bit for each step at which the walk skips a place, and the number of such steps before each
// word of bits.
SLUICE_SHARED u32x2 sFseSkipped[kGroupsPerWorkgroup * 16u];

struct FseTable {
    SlotTable slots;
    u32 group;    // of the workgroup
    u32 lows;     // number of symbols so far that occur less than once
    bool zeroLow; // symbol 0 is one of them
};

SLUICE_DEVICE u32 fseInverse(u32 log) { // of the step, modulo 2^log
    // The initial inverse is right in 3 bits, and each iteration doubles the number of right bits.
    u32 walk = (1u << log >> 1) + (1u << log >> 3) + 3u, inverse = walk;
    inverse *= 2u - walk * inverse;
    return inverse * (2u - walk * inverse);
}

SLUICE_DEVICE FseTable fseBegin(SlotMemory memory, u32 group, bool on, u32 log) {
    FseTable table;
    table.slots = slotsBegin(memory, on, log);
    table.group = group;
    table.lows = 0u;
    table.zeroLow = false;
    if (lgLane() < 16u) sFseSkipped[group * 16u + lgLane()] = makeU32x2(0u, 0u);
    lgBarrierShared();
    return table;
}

// Each lane that is `on` passes a symbol and its count; `low` means that the symbol occurs less
// than once. Symbols must be in ascending order.
SLUICE_DEVICE void fseRow(SLUICE_INOUT(FseTable, table), bool on, u32 symbol, u32 count, bool low) {
    low = low && on;
    u32x2 votes = lgBallot2(low, low && symbol == 0u);
    slotsRow(table.slots, on, symbol, low ? 0u : count);
    u32 size = 1u << table.slots.log;
    // symbols that occur less than once take the last places
    u32 place = size - 1u - table.lows - u32(bitCount(votes.x & lgLanesBelow()));
    if (low && place < size) {
        u32 turn = place * fseInverse(table.slots.log) & (size - 1u);
        setSlot(table.slots.memory, place, symbol);
        atomicOr(SLUICE_AT(sFseSkipped[table.group * 16u + (turn >> 5)].x), 1u << (turn & 31u));
        setSymbol(table.slots.memory, symbol, 1u);
    }
    table.lows += u32(bitCount(votes.x));
    table.zeroLow = table.zeroLow || votes.y != 0u;
}

// Writes the 2^log states as base, symbol << 16, bits << 24.
SLUICE_DEVICE void fseStates(SLUICE_IN(FseTable) table, bool on, u32 symbolBits, u64 states) {
    // The slots give the symbol of each step of the walk. The symbols that occur less than once
    // follow at the end.
    slotsFill(table.slots, on);
    u32 lane = lgLane(), words = table.group * 16u, before, sum;
    lgScan(lane < 16u ? u32(bitCount(sFseSkipped[words + (lane & 15u)].x)) : 0u, before, sum);
    if (lane < 16u) sFseSkipped[words + lane].y = before;
    lgBarrierShared();
    u32 log = table.slots.log, size = 1u << log, end = size - table.lows;
    u32 inverse = fseInverse(log);
    SLUICE_DONT_UNROLL
    for (u32 row = 0u; wgAny(on && row < size); row += 32u) {
        u32 place = row + lane, walk = place * inverse & (size - 1u);
        u32x2 skipped = sFseSkipped[words + (walk >> 5)];
        u32 turn = walk - skipped.y - u32(bitCount(skipped.x & ((1u << (walk & 31u)) - 1u)));
        u32 at = place >= end ? place : turn;
        u32 symbol = slotAt(table.slots.memory, at & ((1u << SLUICE_FSE_LOG_MAX) - 1u));
        // symbol 0 cannot mark a slot, since 0 means no mark
        symbol = table.zeroLow && place == size - 1u ? 0u : symbol;
        u32 same = fseSame(symbol, symbolBits),
            next = symbolAt(table.slots.memory, symbol) & 0xffffu;
        bool here = on && row < size;
        lgBarrierShared();
        if (here && same >> lane == 1u)
            setSymbol(table.slots.memory, symbol, next + u32(bitCount(same)));
        lgBarrierShared();
        u32 state = next + u32(bitCount(same & lgLanesBelow()));
        u32 bits = log - u32(findMSB(max(state, 1u)));
        if (here)
            storeWord(states, place,
                      (((state << bits) - size) & 0xffffu) | symbol << 16 | bits << 24);
    }
}

SLUICE_KERNEL_END
#endif
