// SPDX-License-Identifier: MIT OR Apache-2.0
// A step of the Zstandard decode: the tables and the bits of sequences, of phases 2 and 3. A lane
// group takes up to kZstdChains blocks at a time, of about as many sequences each (zstd_place.h).
//
// First it builds the three tables of each block in shared memory. A table that is repeated is
// built once more, from the description in the block that owns it; that takes less than handing it
// on would.
//
// The three states and the position in the bits of a block are one chain of dependent steps. Lane k
// makes 32 steps of block k's, with the bits in a ring in shared memory, and leaves symbols and
// positions. Then, for one block after the other, each lane expands one sequence: it takes its
// extra bits, and sums over the lanes give its place. Meanwhile the words that the next steps may
// need are loaded. Repeated offsets are found as those of Gstd are (gstd_sequences.glsl): each lane
// looks for the lane below whose offset it takes. The offsets with which the block begins are not
// known yet, so markers stand for them.
//
// The includer defines kZstdChains, and what fse.h needs, with zstd_codes.h before it.
#ifndef SLUICE_KERNELS_ZSTD_SEQUENCES_H
#define SLUICE_KERNELS_ZSTD_SEQUENCES_H

#include "zstd_slot.h"

SLUICE_KERNEL_BEGIN

// Words that lane 0 gives to the others.
SLUICE_CONSTANT u32 kMode = 0u, kStatus = 1u, kLog = 2u, kEntries = 3u, kUsed = 4u, kGiven = 5u;
SLUICE_SHARED u32 sZstdGiven[kGroupsPerWorkgroup * kGiven];

// A step of the chain takes 89 bits at most, so 32 steps take no more than 90 words. Each round
// loads at most kZstdLoads words; there are kZstdRing, of which two may be in use above the
// position.
SLUICE_CONSTANT int kZstdLoads = 96;
SLUICE_CONSTANT int kZstdRing = 128;

SLUICE_DEVICE u32 zstdRing(u32 work, int word) {
    return sZstdWork[work + (u32(word) & u32(kZstdRing - 1))];
}
SLUICE_DEVICE u32 zstdRingBits(u32 work, int at) {
    return funnelRight(zstdRing(work, at >> 5), zstdRing(work, (at >> 5) + 1), u32(at) & 31u);
}
SLUICE_DEVICE u32 zstdStepAt(u32 work, u32 step) { return work + u32(kZstdRing) + 2u * step; }

// The lanes share these words of a chain.
SLUICE_CONSTANT u32 kBitsAt = 0u; // address, two words, and number of the words of the bits
SLUICE_CONSTANT u32 kBitsCount = 2u;
SLUICE_CONSTANT u32 kFilled = 3u; // the lowest word of the bits that is in the ring
SLUICE_CONSTANT u32 kPosition = 4u;
SLUICE_CONSTANT u32 kTarget = 5u; // address of the block's sequences, two words
SLUICE_CONSTANT u32 kCount = 7u;  // of them
SLUICE_CONSTANT u32 kTaken = 8u, kMatches = 9u, kRepeats = 10u; // so far
SLUICE_CONSTANT u32 kStateWords = 13u;
SLUICE_SHARED u32 sZstdChains[kGroupsPerWorkgroup * kZstdChains * kStateWords];

// -----------------------------------------------------------------------------------------------
// Tables

// Returns the number of states of a symbol in a predefined table; 15 stands for "less than one".
SLUICE_DEVICE u32 zstdPredefined(u32 kind, u32 symbol) {
    u32 word = 0x11111111u, row = symbol >> 3;
    if (kind == SLUICE_ZS_LITERAL_LENGTHS)
        word = row == 0u   ? 0x22222234u
               : row == 1u ? 0x11122222u
               : row == 2u ? 0x22222222u
               : row == 3u ? 0x11111232u
                           : 0x0000ffffu;
    else if (kind == SLUICE_ZS_OFFSETS)
        word = row == 0u   ? 0x22111111u
               : row == 1u ? 0x11111112u
               : row == 2u ? 0x11111111u
                           : 0x000fffffu;
    else if (row != 2u && row != 3u && row != 4u)
        word = row == 0u   ? 0x22222341u
               : row == 1u ? 0x11111112u
               : row == 5u ? 0xff111111u
                           : 0x000fffffu;
    return word >> 4u * (symbol & 7u) & 15u;
}

// Holds what one lane reads of a table. If the table has one symbol, `entries` is that symbol.
struct ZstdTable {
    u32 mode, status, log, entries, bytes;
};

// Reads the description of a table, at offset `at` of the source.
SLUICE_DEVICE ZstdTable zstdDescription(SLUICE_IN(ZstdSlot) z, u32 kind, u32 mode, u32 at, u32 size,
                                        u64 entries) {
    ZstdTable table;
    table.mode = mode;
    table.status = SLUICE_ST_OK;
    table.log = table.entries = table.bytes = 0u;
    bool offsets = kind == SLUICE_ZS_OFFSETS;
    if (mode == SLUICE_ZS_PREDEFINED) {
        table.log = offsets ? 5u : 6u;
        table.entries = offsets ? 29u : zstdSymbols(kind);
    } else if (mode != SLUICE_ZS_REPEAT && size == 0u) {
        table.status = SLUICE_ST_TRUNCATED;
    } else if (mode == SLUICE_ZS_ONE_SYMBOL) {
        table.entries = zstdByte(z, at);
        table.bytes = 1u;
        if (table.entries >= zstdSymbols(kind)) table.status = SLUICE_ST_BAD_CODE;
    } else if (mode == SLUICE_ZS_FSE) {
        FseDescription d = fseRead(add64(z.words, wide(z.shift + at)), size, zstdSymbols(kind),
                                   zstdMostLog(kind), SLUICE_ZS_MAX_STATES, entries);
        table.status = d.status;
        table.log = d.log;
        table.entries = d.entries;
        table.bytes = d.bytes;
    }
    return table;
}

// Finds and reads the description of table `kind` of a block. Descriptions follow each other, so
// those before it in the block that has it are read too, but for the block's own, where `used` says
// how many bytes are behind, and for the dictionary's.
SLUICE_DEVICE ZstdTable zstdFindTable(SLUICE_IN(ZstdSlot) slot, u32 block, u32 kind, u32 used,
                                      u64 entries) {
    ZstdSlot z = slot;
    u32 owner = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_OWNERS + 1u + kind);
    u32 modes = zstdBlockWord(z, owner, SLUICE_ZS_BLOCK_INFO) >> SLUICE_ZS_INFO_MODES,
        at = zstdBlockWord(z, owner, SLUICE_ZS_BLOCK_TABLES),
        size = zstdBlockWord(z, owner, SLUICE_ZS_BLOCK_TABLE_BYTES);
    bool own = owner == block, given = owner == SLUICE_ZS_OWNER_DICTIONARY;
    at += own ? used : 0u;
    size -= own ? used : 0u;
    if (given) {
        modes = SLUICE_ZS_FSE << 2u * kind;
        at = min(zstdDictionaryWord(z, SLUICE_ZS_DICTIONARY_TABLES + kind), z.dictionarySize);
        size = z.dictionarySize - at;
        z = zstdDictionarySlot(slot);
    }
    ZstdTable table;
    table.status = SLUICE_ST_OK;
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k <= kind && table.status == SLUICE_ST_OK; ++k) {
        if (k < kind && (own || given)) continue;
        table = zstdDescription(z, k, modes >> 2u * k & 3u, at, size, entries);
        at += table.bytes;
        size -= table.bytes;
    }
    if (!own) table.bytes = 0u;
    return table;
}

// Builds the three tables of a block, the lane group's number `chain`; `entries` is memory of the
// lane group. Returns whether that
// succeeded. `logs` receives 4 bits for each, `used` the bytes of the block's own descriptions.
SLUICE_DEVICE bool zstdTables(SLUICE_IN(ZstdSlot) z, u32 groupHere, u32 chain, bool on, u32 block,
                              u64 entries, SLUICE_OUT(u32, logs), SLUICE_OUT(u32, used)) {
    u32 given = groupHere * kGiven;
    logs = used = 0u;
    SLUICE_DONT_UNROLL
    for (u32 kind = 0u; kind < SLUICE_ZS_TABLES; ++kind) {
        if (on && lgLane() == 0u) {
            ZstdTable table = zstdFindTable(z, block, kind, used, entries);
            sZstdGiven[given + kMode] = table.mode;
            sZstdGiven[given + kStatus] = table.status;
            sZstdGiven[given + kLog] = table.log;
            sZstdGiven[given + kEntries] = table.entries;
            sZstdGiven[given + kUsed] = used + table.bytes;
            // A fault in another block's description is that block's.
            if (table.status != SLUICE_ST_OK &&
                zstdBlockWord(z, block, SLUICE_ZS_BLOCK_OWNERS + 1u + kind) == block)
                zstdFault(z, SLUICE_ZS_PHASE_TABLES, block, 1u + kind, table.status);
        }
        lgBarrierAll();
        u32 mode = sZstdGiven[given + kMode], log = sZstdGiven[given + kLog],
            count = sZstdGiven[given + kEntries];
        on = on && sZstdGiven[given + kStatus] == SLUICE_ST_OK;
        used = on ? sZstdGiven[given + kUsed] : 0u;
        bool builds = on && mode != SLUICE_ZS_ONE_SYMBOL;
        logs |= (on ? log : 0u) << 4u * kind;
        u64 states = joinU64(chain * kZstdStates + zstdTableAt(kind), kind);
        if (on && !builds && lgLane() == 0u) zstdSetState(states, 0u, 0u, count, 0u);
        if (wgAny(builds)) {
            count = builds ? count : 0u;
            FseTable table = fseBegin(slotMemory(groupHere), groupHere, builds,
                                      builds ? log : SLUICE_FSE_LOG_MIN);
            SLUICE_DONT_UNROLL
            for (u32 row = 0u; wgAny(row < count); row += 32u) {
                u32 at = row + lgLane(), symbol = at, states1 = 0u;
                bool has = at < count, low = false;
                if (has && mode == SLUICE_ZS_PREDEFINED) {
                    states1 = zstdPredefined(kind, symbol);
                    low = states1 == 15u;
                } else if (has) {
                    u32 entry = loadStoredWord(entries, at);
                    symbol = entry & 255u;
                    states1 = entry >> 8 & 1023u;
                    low = entry >> 31 != 0u;
                }
                fseRow(table, has, symbol, low ? 1u : states1, low);
            }
            fseStates(table, builds, 6u, states);
        }
        lgBarrierShared();
    }
    return on;
}

// -----------------------------------------------------------------------------------------------
// Bits

// The chain of states of a lane's block.
struct ZstdChain {
    u32 literals, offsets, matches; // states
    int position, begin;            // of the bits; begin: no position if they are damaged
};

// Makes the next `steps` steps, at most 32. With `ends` the last of them has no next state.
SLUICE_DEVICE void zstdSteps(SLUICE_INOUT(ZstdChain, c), u32 work, u32 states, u32 steps,
                             bool ends) {
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < steps; i += 4u) {
        SLUICE_UNROLL
        for (u32 k = 0u; k < 4u; ++k) {
            if (i + k < steps) {
                u32 l = sZstdStates[states + c.literals],
                    o = sZstdStates[states + zstdTableAt(1u) + c.offsets],
                    m = sZstdStates[states + zstdTableAt(2u) + c.matches];
                sZstdWork[zstdStepAt(work, i + k)] = l >> 20 | o >> 20 << 6 | m >> 20 << 12;
                sZstdWork[zstdStepAt(work, i + k) + 1u] = u32(c.position);
                u32 lBits = l >> 7 & 15u, oBits = o >> 7 & 15u, mBits = m >> 7 & 15u;
                c.position -= int((l + o + m) & 127u);
                // The bits of the three states are the last of the sequence.
                u32 window = zstdRingBits(work, c.position);
                if (ends && i + k + 1u == steps) {
                    c.position += int(lBits + oBits + mBits);
                } else {
                    c.offsets = (o >> 11 & 511u) + zstdLow(window, oBits);
                    window >>= oBits;
                    c.matches = (m >> 11 & 511u) + zstdLow(window, mBits);
                    c.literals = (l >> 11 & 511u) + zstdLow(window >> mBits, lBits);
                }
            }
        }
    }
}

struct ZstdSequence {
    u32 literals, match, offset; // the offset's value as it is stored
};

// Takes the extra bits of step i.
SLUICE_DEVICE ZstdSequence zstdExpand(u32 work, u32 i) {
    u32 symbols = sZstdWork[zstdStepAt(work, i)];
    int at = int(sZstdWork[zstdStepAt(work, i) + 1u]);
    u32 l = symbols & 63u, o = symbols >> 6 & 63u, m = symbols >> 12 & 63u;
    u32 lBits = zstdExtraBits(SLUICE_ZS_LITERAL_LENGTHS, l),
        mBits = zstdExtraBits(SLUICE_ZS_MATCH_LENGTHS, m);
    ZstdSequence s;
    at -= int(o);
    s.offset = (1u << o) + zstdLow(zstdRingBits(work, at), o);
    at -= int(mBits);
    s.match = SLUICE_ZS_MIN_MATCH + zstdBase(SLUICE_ZS_MATCH_LENGTHS, m) +
              zstdLow(zstdRingBits(work, at), mBits);
    at -= int(lBits);
    s.literals = zstdBase(SLUICE_ZS_LITERAL_LENGTHS, l) + zstdLow(zstdRingBits(work, at), lBits);
    return s;
}

// The repeated offsets, as numbers or markers.
struct ZstdRepeats {
    u32 first, second, third;
};

// The lanes of `changes` change the list of repeated offsets, those of `swaps` by exchanging the
// first two. These return where its offsets come from after that: from a lane, whose own offset it
// is, or 32, 33 and 34 for the list before all lanes.
SLUICE_DEVICE u32 zstdLatest(u32 changes) { return min(u32(findMSB(changes)), 32u); }
SLUICE_DEVICE u32 zstdSecond(u32 changes) {
    u32 others = changes & ~(1u << (zstdLatest(changes) & 31u));
    return min(u32(findMSB(others)), changes != 0u ? 32u : 33u);
}
SLUICE_DEVICE u32 zstdThird(u32 changes, u32 swaps) {
    u32 others = changes & ~swaps;
    return others != 0u ? zstdSecond(changes & ((1u << (u32(findMSB(others)) & 31u)) - 1u)) : 34u;
}
SLUICE_DEVICE u32 zstdOffsetOf(u32 origin, u32 value, SLUICE_IN(ZstdRepeats) before) {
    return origin < 32u    ? value
           : origin == 32u ? before.first
           : origin == 33u ? before.second
                           : before.third;
}

// Returns the offset of this lane's sequence, as a number or marker, and replaces the repeated
// offsets before the first lane by those behind the last.
SLUICE_DEVICE u32 zstdOffset(bool on, SLUICE_IN(ZstdSequence) s,
                             SLUICE_INOUT(ZstdRepeats, before)) {
    // Index 3 is the first offset, minus 1; it changes the list as a new offset does.
    bool fresh = on && s.offset > SLUICE_ZS_REPEATS, old = on && !fresh;
    u32 used = s.offset - (s.literals != 0u ? 1u : 0u), offset = s.offset - SLUICE_ZS_REPEATS;
    offset = offset < SLUICE_ZS_MARKERS ? offset : SLUICE_ZS_TOO_FAR;
    u32 fresher = lgBallot(fresh), changes = fresher | lgBallot(old && used != 0u),
        swaps = lgBallot(old && used == 1u), below = changes & lgLanesBelow();
    u32 origin = zstdLatest(below);
    origin = used == 1u ? zstdSecond(below) : origin;
    origin = used == 2u ? zstdThird(below, swaps & lgLanesBelow()) : origin;
    origin = old ? origin : lgLane();
    // From bit 6 on, how much is subtracted on the way. An origin may have an origin itself; five
    // jumps reach the end of any way in 32 lanes.
    u32 way = origin | (old && used == 3u ? 64u : 0u);
    bool far = old && origin < 32u && (fresher >> origin & 1u) == 0u;
    u32 follows = lgBallot(far);
    if (wgAny(follows != 0u)) {
        SLUICE_UNROLL
        for (u32 i = 0u; i < 5u; ++i) {
            lgShare(way);
            u32 next = lgShared(way, way & 31u);
            bool jumps = (way & 63u) < 32u && (way & 63u) != lgLane();
            way = jumps ? next + (way & 0xffffffc0u) : way;
        }
    }
    lgShare(offset);
    u32 value = lgShared(offset, way & 31u);
    value = zstdMinus(zstdOffsetOf(way & 63u, value, before), way >> 6);
    lgShare(value);
    u32 p0 = zstdLatest(changes), p1 = zstdSecond(changes), p2 = zstdThird(changes, swaps),
        v0 = lgShared(value, p0 & 31u), v1 = lgShared(value, p1 & 31u),
        v2 = lgShared(value, p2 & 31u);
    ZstdRepeats after;
    after.first = zstdOffsetOf(p0, v0, before);
    after.second = zstdOffsetOf(p1, v1, before);
    after.third = zstdOffsetOf(p2, v2, before);
    before = after;
    return value;
}

// Prepares the chain of a block, whose sequences' bits begin behind `used` bytes of descriptions.
SLUICE_DEVICE ZstdChain zstdBeginChain(SLUICE_IN(ZstdSlot) z, u32 chain, u32 work, bool on,
                                       u32 block, u32 logs, u32 used) {
    u32 lane = lgLane(),
        first = min(zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES_AT), z.sequenceRoom),
        count = on ? zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES) : 0u,
        state = chain * kStateWords;
    count = min(count, min(z.sequenceRoom - first, SLUICE_ZS_BLOCK_BYTES / SLUICE_ZS_MIN_MATCH));
    ZstdBits bits;
    bits.words = z.words;
    bits.count = 0u;
    bits.begin = bits.end = 0;
    bits.valid = false;
    if (on)
        bits = zstdBits(z, zstdBlockWord(z, block, SLUICE_ZS_BLOCK_TABLES) + used,
                        zstdBlockWord(z, block, SLUICE_ZS_BLOCK_TABLE_BYTES) - used);
    if (!bits.valid) count = 0u;
    // The ring begins with the words up to the one above the first bits.
    int filled = (bits.end >> 5) + 2 - kZstdRing;
    SLUICE_UNROLL
    for (int i = 0; i < kZstdRing; i += 32) {
        u32 word = u32(filled + i) + lane;
        sZstdWork[work + (word & u32(kZstdRing - 1))] =
            word < bits.count ? loadWord(bits.words, word) : 0u;
    }
    ZstdChain c;
    u32 lLog = logs & 15u, oLog = logs >> 4 & 15u, mLog = logs >> 8;
    c.position = bits.end - int(lLog + oLog + mLog);
    c.begin = bits.valid ? bits.begin : 0x7fffffff;
    u32 window = zstdWindow(bits, c.position);
    c.matches = zstdLow(window, mLog);
    window >>= mLog;
    c.offsets = zstdLow(window, oLog);
    c.literals = zstdLow(window >> oLog, lLog);
    if (lane == 0u) {
        u64 target = add64(z.sequences, mul64(first, 8u));
        sZstdChains[state + kBitsAt] = lowWord(bits.words);
        sZstdChains[state + kBitsAt + 1u] = highWord(bits.words);
        sZstdChains[state + kBitsCount] = bits.count;
        sZstdChains[state + kFilled] = u32(filled);
        sZstdChains[state + kPosition] = u32(c.position);
        sZstdChains[state + kTarget] = lowWord(target);
        sZstdChains[state + kTarget + 1u] = highWord(target);
        sZstdChains[state + kCount] = count;
        sZstdChains[state + kTaken] = 0u;
        sZstdChains[state + kMatches] = 0u;
        for (u32 i = 0u; i < SLUICE_ZS_REPEATS; ++i)
            sZstdChains[state + kRepeats + i] = zstdMarker(i);
    }
    return c;
}

// Expands the next sequences of a block, of which `done` are behind, and loads words for the next
// round.
SLUICE_DEVICE void zstdExpandRound(u32 chain, u32 work, bool on, u32 done) {
    u32 lane = lgLane(), state = chain * kStateWords, count = sZstdChains[state + kCount],
        taken = sZstdChains[state + kTaken], matches = sZstdChains[state + kMatches],
        wordCount = sZstdChains[state + kBitsCount];
    int filled = int(sZstdChains[state + kFilled]), position = int(sZstdChains[state + kPosition]),
        room = kZstdRing - 2 - ((position >> 5) - filled);
    u32 steps = on ? min(count - done, 32u) : 0u;
    int loads = on ? min(max(room, 0), kZstdLoads) : 0;
    u64 words = joinU64(sZstdChains[state + kBitsAt], sZstdChains[state + kBitsAt + 1u]);
    u64 target = joinU64(sZstdChains[state + kTarget], sZstdChains[state + kTarget + 1u]);
    ZstdRepeats repeats;
    repeats.first = sZstdChains[state + kRepeats];
    repeats.second = sZstdChains[state + kRepeats + 1u];
    repeats.third = sZstdChains[state + kRepeats + 2u];
    u32 word = u32(filled) - 1u - lane, value = 0u;
    if (word < wordCount && int(lane) < loads) value = loadWord(words, word);
    bool has = lane < steps;
    ZstdSequence s;
    s.literals = s.match = 0u;
    s.offset = 1u;
    if (has) s = zstdExpand(work, lane);
    u32 literalsBefore, literalsSum, lengthsBefore, lengthsSum;
    lgScan(s.literals, literalsBefore, literalsSum);
    lgScan(s.match, lengthsBefore, lengthsSum);
    u32 offset = zstdOffset(has, s, repeats);
    lgBarrierShared();
    if (has) {
        u32 literal = taken + literalsBefore, at = literal + matches + lengthsBefore;
        storeWord(target, 2u * (done + lane), (at & 0x1ffffu) | offset << 17);
        storeWord(target, 2u * (done + lane) + 1u, (literal & 0x1ffffu) | offset >> 15 << 17);
    }
    if (int(lane) < loads) sZstdWork[work + (word & u32(kZstdRing - 1))] = value;
    // Few rounds take more than 32 words.
    SLUICE_DONT_UNROLL
    for (int i = int(lane) + 32; i < loads; i += 32) {
        word = u32(filled) - 1u - u32(i);
        sZstdWork[work + (word & u32(kZstdRing - 1))] =
            word < wordCount ? loadWord(words, word) : 0u;
    }
    if (on && lane == 0u) {
        sZstdChains[state + kFilled] = u32(filled - loads);
        // Sums beyond the size of a block are faults, however large; they must not overflow.
        sZstdChains[state + kTaken] = min(taken + literalsSum, 1u << 24);
        sZstdChains[state + kMatches] = min(matches + lengthsSum, 1u << 24);
        sZstdChains[state + kRepeats] = repeats.first;
        sZstdChains[state + kRepeats + 1u] = repeats.second;
        sZstdChains[state + kRepeats + 2u] = repeats.third;
    }
}

// Leaves what place needs of a block.
SLUICE_DEVICE void zstdEndChain(SLUICE_IN(ZstdSlot) z, u32 chain, u32 block, bool good) {
    u32 state = chain * kStateWords;
    if (!good) zstdFault(z, SLUICE_ZS_PHASE_SYMBOLS, block, 0u, SLUICE_ST_BAD_CODE);
    zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_TAKEN, sZstdChains[state + kTaken]);
    zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_MATCHES, sZstdChains[state + kMatches]);
    for (u32 i = 0u; i < SLUICE_ZS_REPEATS; ++i)
        zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + i, sZstdChains[state + kRepeats + i]);
}

// Decodes the sequences of `blocks` blocks, from number `first` of the turn's order on.
SLUICE_DEVICE void zstdDecode(SLUICE_IN(ZstdParams) p, u32 groupHere, u32 first, u32 blocks,
                              u64 entries) {
    u32 lane = lgLane(), base = groupHere * kZstdChains, work = groupHere * kZstdWork,
        state = (base + min(lane, kZstdChains - 1u)) * kStateWords, own = 0u, most = 0u;
    bool chained = lane < kZstdChains;
    if (chained) sZstdChains[state + kCount] = 0u;
    // Rings lie where tables are built, so they come after all tables.
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < kZstdChains; ++k) {
        bool on = k < blocks;
        if (!wgAny(on)) continue;
        u32 entry = on ? zstdOrdered(p, first + k) : 0u, logs, used;
        ZstdSlot z = zstdSlot(p, entry / p.maxBlocks);
        on = zstdTables(z, groupHere, base + k, on, entry % p.maxBlocks, entries, logs, used);
        if (lane == k && on) {
            own = entry + 1u;
            sZstdChains[state + kCount] = own;
            sZstdChains[state + kTaken] = logs;
            sZstdChains[state + kMatches] = used;
        }
    }
    ZstdChain c;
    c.literals = c.offsets = c.matches = 0u;
    c.position = c.begin = 0;
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < kZstdChains; ++k) {
        lgBarrierShared();
        u32 at = (base + k) * kStateWords, entry = sZstdChains[at + kCount],
            logs = sZstdChains[at + kTaken], used = sZstdChains[at + kMatches];
        bool on = entry != 0u;
        if (!wgAny(on)) continue;
        lgBarrierShared();
        entry = max(entry, 1u) - 1u;
        ZstdSlot z = zstdSlot(p, entry / p.maxBlocks);
        ZstdChain begun = zstdBeginChain(z, base + k, work + k * kZstdChainWords, on,
                                         entry % p.maxBlocks, on ? logs : 0u, on ? used : 0u);
        if (lane == k) c = begun;
    }
    lgBarrierShared();
    for (u32 k = 0u; k < kZstdChains; ++k)
        most = max(most, sZstdChains[(base + k) * kStateWords + kCount]);
    u32 count = chained ? sZstdChains[state + kCount] : 0u;
    SLUICE_DONT_UNROLL
    for (u32 done = 0u; wgAny(done < most); done += 32u) {
        if (done < count) {
            u32 steps = min(count - done, 32u);
            zstdSteps(c, work + lane * kZstdChainWords, (base + lane) * kZstdStates, steps,
                      done + steps == count);
            sZstdChains[state + kPosition] = u32(c.position);
        }
        lgBarrierShared();
        SLUICE_DONT_UNROLL
        for (u32 k = 0u; k < kZstdChains; ++k) {
            bool on = done < sZstdChains[(base + k) * kStateWords + kCount];
            if (wgAny(on)) zstdExpandRound(base + k, work + k * kZstdChainWords, on, done);
        }
        lgBarrierShared();
    }
    bool good = lgLoopsGoOn();
    if (own == 0u) return;
    ZstdSlot z = zstdSlot(p, (own - 1u) / p.maxBlocks);
    zstdEndChain(z, base + lane, (own - 1u) % p.maxBlocks, c.position == c.begin);
    if (!good) zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
}

// `group` is the lane group's number in the dispatch, groupHere its number in the workgroup.
SLUICE_DEVICE void zstdSequences(SLUICE_IN(ZstdParams) p, u32 group, u32 groupHere) {
    u32 groups = p.slots * p.groups, before, total;
    lgScan(loadStoredWord(zstdTurn(p), SLUICE_ZS_TURN_BINS + lgLane()), before, total);
    // A lane group has more than one chain only if all that run at once would have one.
    u32 each = min(total / p.spread + 1u, kZstdChains);
    ZstdSlot z = zstdSlot(p, group < groups ? group / p.groups : 0u);
    u64 entries = add64(z.entries, mul64(group % p.groups, SLUICE_ZS_ENTRY_BYTES));
    // A block that a driver does not let come to its turn is seen when blocks are placed.
    SLUICE_DONT_UNROLL
    for (u32 turn = 0u; turn < SLUICE_ZS_BLOCK_TURNS; ++turn) {
        u32 at = ((p.begin / p.groups + turn) * groups + group) * each;
        bool on = group < groups && at < total;
        if (wgAny(on)) zstdDecode(p, groupHere, at, on ? min(each, total - at) : 0u, entries);
    }
}

SLUICE_KERNEL_END
#endif
