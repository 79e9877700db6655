// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds FSE tables (Finite State Entropy) as Zstandard describes and builds them (RFC 8878, 4.1),
// one table per lane group.
//
// A table has 2^log *states*. Its description says how many of them each symbol has. Reading a
// description is serial, because the width of each number depends on earlier numbers. So one lane
// reads a description, while other lanes read other descriptions. The whole lane group then builds
// a table, without a serial step:
//
// Zstandard deals the states out to the symbols by a walk through the table in strides of an odd
// number w: step s of the walk reaches place s * w modulo 2^log. Place p is therefore reached at
// step p * v modulo 2^log, where v is the inverse of w (fseInverse). Symbols that occur less than
// once have the last places of the table, which the walk leaves out. A bit set has the steps that
// would reach these places. A step's number minus the number of bits set before it is the step's
// rank among the steps that are not left out. A table of slots (slots.h) gives the symbol of that
// rank.
//
// The states of a symbol are numbered in the order of their places. For 32 places at a time,
// ballots count the places that have the same symbol, and a count for each symbol is carried on to
// the next 32.
//
// The includer provides what slots.h needs, and fseSame(symbol, bits), which returns the mask of
// the lanes that have the same symbol; symbols are below 2^bits. It must call lgBarrierAll()
// between fseRead and fseRow, so that all lanes see the entries that fseRead stores.
#ifndef SLUICE_KERNELS_FSE_H
#define SLUICE_KERNELS_FSE_H

#include "../layout/fse.h"
#include "slots.h"

SLUICE_KERNEL_BEGIN

// -----------------------------------------------------------------------------------------------
// Descriptions

struct FseDescription {
    // SLUICE_ST_OK, BAD_CODE, TRUNCATED, TOO_LONG (more than maxStates states) or INTERNAL.
    u32 status;
    // log: log2 of the number of states. entries: how many symbols occur. lastSymbol: the last of
    // these symbols. bytes: the size of the description.
    u32 log, entries, lastSymbol, bytes;
};

// Returns the word that is stored for a symbol that occurs: the symbol in bits 0 .. 7, its number
// of states from bit 8 on, and bit 31 if it occurs less than once (`low`; `count` is 1 for it).
// Words are stored in ascending order of symbols.
SLUICE_DEVICE u32 fseEntry(u32 symbol, u32 count, bool low) {
    return symbol | count << 8 | u32(low) << 31;
}

// Returns the 32 bits from bit `at` on of a list of `count` words; bits past the list's end are 0.
SLUICE_DEVICE u32 fseBits(u64 words, u32 count, u32 at) {
    u32 low = 0u, high = 0u, word = at >> 5;
    if (word < count) low = loadWord(words, word);
    if (word + 1u < count) high = loadWord(words, word + 1u);
    return funnelRight(low, high, at);
}

SLUICE_CONSTANT u32 kFseLongest = 1024u; // in bytes; no description is longer
// Most steps of the loop that reads a description. There are at most 597: 256 values, a repeat code
// below 3 after each, and 85 repeat codes of 3, each of which skips three symbols.
SLUICE_CONSTANT u32 kFseSteps = 640u;

// One lane calls this to read a description at `address`, which may have any alignment, of at most
// `size` bytes. Writes an fseEntry to `entries` for each symbol that occurs. There are at most as
// many entries as states, since each symbol takes a state. Refuses more than maxStates states.
SLUICE_DEVICE FseDescription fseRead(u64 address, u32 size, u32 maxSymbols, u32 maxLog,
                                     u32 maxStates, u64 entries) {
    u64 words = wordOf(address);
    u32 begin = (lowWord(address) & 3u) * 8u, at = begin, end = at + min(size, kFseLongest) * 8u,
        count = (end + 31u) >> 5;
    FseDescription d;
    d.log = (fseBits(words, count, at) & 15u) + SLUICE_FSE_LOG_MIN;
    // Without any bytes d.log is meaningless, so the size is tested before it.
    d.status = size == 0u                ? SLUICE_ST_TRUNCATED
               : d.log > maxLog          ? SLUICE_ST_BAD_CODE
               : 1u << d.log > maxStates ? SLUICE_ST_TOO_LONG
                                         : SLUICE_ST_OK;
    d.entries = d.lastSymbol = 0u;
    at += 4u;
    // `left` is how many states have not been given to a symbol yet.
    u32 symbol = 0u, left = 1u << min(d.log, SLUICE_FSE_LOG_MAX);
    bool zeros = false;
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < kFseSteps && d.status == SLUICE_ST_OK && left != 0u; ++i) {
        u32 bits = fseBits(words, count, at);
        bool tooMany = !zeros && symbol >= maxSymbols;
        // A repeat code says that the next 0 to 3 symbols do not occur. After a 3 comes another
        // repeat code.
        if (zeros) {
            u32 repeat = bits & 3u;
            at += 2u;
            symbol += repeat;
            zeros = repeat == 3u;
        } else {
            // The value is at most left + 1. The lowest values take one bit less than the others.
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
// To build a table, all lanes of the lane group call fseBegin, then fseRow for each 32 symbols, in
// order, then fseStates. A lane group without a table passes `on` = false to fseBegin and
// fseStates; it calls them only because lane groups in lockstep run together. The caller must have
// checked the counts: in lane groups that are `on` they add up to 2^log, and log is 5 .. 9.

// The walk through the table leaves out the places of symbols that occur less than once. x has a
// bit for each of 32 steps of the walk, set if the step would reach such a place. y is the number
// of bits set in the x of earlier entries.
SLUICE_SHARED u32x2 sFseSkipped[kGroupsPerWorkgroup * 16u];

struct FseTable {
    SlotTable slots;
    u32 group;    // the lane group's number in the workgroup
    u32 lows;     // how many symbols so far occur less than once
    bool zeroLow; // symbol 0 occurs less than once
};

// Returns the inverse modulo 2^log of the walk's stride, an odd number of places per step.
SLUICE_DEVICE u32 fseInverse(u32 log) {
    // An odd number is its own inverse modulo 8, so the first 3 bits of `inverse` are right. Each
    // of the two Newton steps doubles the number of right bits, to 12; log is at most 9.
    u32 walk = (1u << log >> 1) + (1u << log >> 3) + 3u, inverse = walk;
    inverse *= 2u - walk * inverse;
    return inverse * (2u - walk * inverse);
}

// Begins the table of lane group `group` of the workgroup.
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

// Each lane that is `on` passes a symbol and its number of states. `low` says that the symbol
// occurs less than once. The caller passes symbols in ascending order over lanes and calls.
SLUICE_DEVICE void fseRow(SLUICE_INOUT(FseTable, table), bool on, u32 symbol, u32 count, bool low) {
    low = low && on;
    u32x2 votes = lgBallot2(low, low && symbol == 0u);
    slotsRow(table.slots, on, symbol, low ? 0u : count);
    u32 size = 1u << table.slots.log;
    // Symbols that occur less than once get the last places of the table.
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

// Writes the 2^log states to `states`. A state is a word: the symbol is in bits 16 .. 23, and the
// number of bits to read is in bits 24 and up. The next state is the low half plus the value of
// these bits. An includer that keeps states in another form defines its own SLUICE_FSE_STORE, for
// which `states` may then mean something else.
#ifndef SLUICE_FSE_STORE
#define SLUICE_FSE_STORE(states, place, base, symbol, bits)                                        \
    storeWord(states, place, (base) | (symbol) << 16 | (bits) << 24)
#endif
SLUICE_DEVICE void fseStates(SLUICE_IN(FseTable) table, bool on, u32 symbolBits, u64 states) {
    // slotsFill gives slot s the symbol of step s of the walk. It counts only steps that the walk
    // does not leave out. The last slots already have the symbols that occur less than once, at
    // their places in the table.
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
        // Symbol 0 cannot be stored in its slot, since 0 there means that no symbol begins.
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
        if (here) SLUICE_FSE_STORE(states, place, ((state << bits) - size) & 0xffffu, symbol, bits);
    }
}

SLUICE_KERNEL_END
#endif
