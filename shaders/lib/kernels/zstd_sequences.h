// SPDX-License-Identifier: MIT OR Apache-2.0
// The step of the Zstandard decode that decodes sequences: their FSE tables and their bits (phases
// 2 and 3 in docs/format.md, 12.3). A team of lane groups decodes up to kZstdChains blocks at a
// time, which have about the same number of sequences since zstd_place.h sorts the blocks.
//
// First the team builds the three tables of each block in shared memory. If a block repeats a table
// of an earlier block, the table is built again from the earlier block's description, since that
// costs less than passing it on.
//
// A block is one chain of dependent steps, a step per sequence: each step needs the three states
// and the bit position of the step before. So all other work is kept out of the chain. In a round,
// lane k of the team's first lane group makes up to 32 steps of block k's chain. It reads bits from
// a ring buffer in shared memory and stores its states and positions. Meanwhile the other lane
// groups, the helpers, expand the steps of the round before. A helper takes a block, and each of
// its lanes takes a sequence: the lane reads the extra bits, and prefix sums over the lanes say
// where the sequence begins. The helper also loads words of the stream for the next rounds. In a
// team of one lane group, this lane group makes the steps of a round, then expands those before.
//
// Repeated offsets are found as in gstd_sequences.glsl: each lane finds the lane below whose offset
// it repeats. The repeated offsets at the beginning of the block are not known yet, so markers
// (SLUICE_ZS_MARKERS) stand for them.
//
// The includer defines kZstdChains; kZstdTeam, the lane groups of a team; kZstdTeams, the teams of
// a workgroup; zstdTeamBarrier(), a barrier for the team; zstdStoreStep(), which stores four words
// in sZstdWork; and, after zstd_codes.h, what fse.h needs.
#ifndef SLUICE_KERNELS_ZSTD_SEQUENCES_H
#define SLUICE_KERNELS_ZSTD_SEQUENCES_H

#include "zstd_slot.h"

SLUICE_KERNEL_BEGIN

// Indices of words that lane 0 of a lane group passes to its other lanes.
SLUICE_CONSTANT u32 kMode = 0u, kStatus = 1u, kLog = 2u, kEntries = 3u, kUsed = 4u, kGiven = 5u;
SLUICE_SHARED u32 sZstdGiven[kGroupsPerWorkgroup * kGiven];

// A step decodes a sequence, which has 89 bits at most. Of the ring's kZstdRing words, up to two
// above the position may be in use; a round loads at most kZstdLoads words. The ring's first two
// words are repeated after its last word, so that three consecutive words can be read without
// wrapping.
SLUICE_CONSTANT int kZstdStepBits = 89;
SLUICE_CONSTANT int kZstdLoads = 96;
// Steps are made four at a time. All rounds of a block except its last one have a multiple of four
// steps, and at least 12, since the ring has the bits of 13 steps.
SLUICE_CONSTANT u32 kZstdAtOnce = 4u;
SLUICE_CONSTANT u32 kZstdMostRounds = SLUICE_ZS_BLOCK_BYTES / SLUICE_ZS_MIN_MATCH / 12u + 3u;

// Returns the index in sZstdWork of word `word` of the stream.
SLUICE_DEVICE u32 zstdRingAt(u32 work, int word) { return work + (u32(word) & (kZstdRing - 1u)); }
// Returns the 32 bits of the stream from bit `at` on.
SLUICE_DEVICE u32 zstdRingBits(u32 work, int at) {
    u32 from = zstdRingAt(work, at >> 5);
    return funnelRight(sZstdWork[from], sZstdWork[from + 1u], u32(at) & 31u);
}
SLUICE_DEVICE void zstdSetRing(u32 work, int word, u32 value) {
    u32 at = zstdRingAt(work, word);
    sZstdWork[at] = value;
    if (at < work + 2u) sZstdWork[at + kZstdRing] = value;
}
// Returns the index in sZstdWork of step `step`, in one of two buffers (`turn`: 0 or 1) that rounds
// use alternately. A step is four words: its three states, and the bit position before it minus
// kZstdAhead; only the lowest 12 bits of this position are valid.
SLUICE_CONSTANT u32 kZstdAhead = 63u;
SLUICE_DEVICE u32 zstdStepAt(u32 work, u32 turn, u32 step) {
    return work + kZstdRingWords + 128u * turn + 4u * step;
}

// Indices of a chain's words in sZstdChains, which the team shares. Words marked "double" are
// pairs: rounds write them alternately, so that all can read the word of the round before.
SLUICE_CONSTANT u32 kBitsAt = 0u;    // address of the stream's words, two words
SLUICE_CONSTANT u32 kBitsCount = 2u; // number of the stream's words
SLUICE_CONSTANT u32 kTarget = 3u;    // address of the block's sequences, two words
SLUICE_CONSTANT u32 kCount = 5u;     // number of the block's sequences
SLUICE_CONSTANT u32 kEntry = 6u;     // slot * maxBlocks + block, plus 1; 0: there is no block
SLUICE_CONSTANT u32 kTaken = 7u, kMatches = 8u, kRepeats = 9u; // of the sequences expanded so far
SLUICE_CONSTANT u32 kStart = 12u;                              // first states, by zstdPackStates
SLUICE_CONSTANT u32 kBegin = 13u;      // first bit of the stream; 0x7fffffff if it is damaged
SLUICE_CONSTANT u32 kPosition = 14u;   // double: bit position after the round's steps
SLUICE_CONSTANT u32 kMade = 16u;       // double: number of the round's steps
SLUICE_CONSTANT u32 kDone = 18u;       // double: sequences that have been expanded
SLUICE_CONSTANT u32 kFilled = 20u;     // double: the lowest word of the stream in the ring
SLUICE_CONSTANT u32 kStateWords = 23u; // odd, against bank conflicts between chains
SLUICE_SHARED u32 sZstdChains[kZstdTeams * kZstdChains * kStateWords];

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

// Holds what a table's description says. entries: how many symbols occur; if the table has one
// symbol, that symbol.
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

// Finds and reads the description of table `kind` of a block. If another block has it, the
// descriptions before it in that block are read too, to find where it begins. In the block itself,
// `used` is the size of the descriptions before it.
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

// Lane group groupHere of the workgroup builds the three tables of a block for chain `chain`, with
// `entries` as scratch for a description. Returns whether they are valid. `logs` receives 4 bits
// for each table, log2 of its states; `used` the size of the descriptions in the block itself.
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
            // If the description belongs to another block, that block reports the fault.
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
        u64 states =
            zstdTableStates(chain * kZstdStates + zstdTableAt(kind), kind, builds ? log : 0u);
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

// The states and the bit position that a lane's chain has reached.
struct ZstdChain {
    u32 literals, offsets, matches; // states
    int position;
};

SLUICE_DEVICE u32 zstdPackStates(SLUICE_IN(ZstdChain) c) {
    return c.literals | c.offsets << 9 | c.matches << 18;
}
SLUICE_DEVICE void zstdSetStates(SLUICE_INOUT(ZstdChain, c), u32 packed) {
    c.literals = packed & 511u;
    c.offsets = packed >> 9 & 511u;
    c.matches = packed >> 18;
}

// Holds the words of a chain's three states.
struct ZstdStateWords {
    u32 l, o, m;
};
// `tables` says where the chain's three tables are.
SLUICE_DEVICE ZstdStateWords zstdStateWords(SLUICE_IN(ZstdChain) c,
                                            SLUICE_IN(ZstdStateWords) tables) {
    ZstdStateWords words;
    words.l = SLUICE_SHARED_WORD(sZstdStates, tables.l, c.literals);
    words.o = SLUICE_SHARED_WORD(sZstdStates, tables.o, c.offsets);
    words.m = SLUICE_SHARED_WORD(sZstdStates, tables.m, c.matches);
    return words;
}

// Returns how many bits of the stream the next state takes; `state` is the current state's word.
SLUICE_DEVICE u32 zstdStateBits(u32 state) { return state >> 12 & 31u; }

// Sets the next states from the words of the current ones. Their bits are the last that a sequence
// reads, so they are the lowest bits of `window`.
SLUICE_DEVICE void zstdNextStates(SLUICE_INOUT(ZstdChain, c), SLUICE_IN(ZstdStateWords) now,
                                  u32 window) {
    // The lowest five bits of these say how many bits a state takes, at most 18 for two of them.
    u32 oBits = now.o >> 12, mBits = now.m >> 12, lBits = now.l >> 12;
    c.offsets = (now.o >> 23) + lowBits(window, oBits);
    c.matches = (now.m >> 23) + lowBits(window >> (oBits & 31u), mBits);
    c.literals = (now.l >> 23) + lowBits(window >> (oBits + mBits & 31u), lBits);
}

// Makes the next `steps` steps, 1 to 32, and stores them from index `first` of sZstdWork on. With
// `ends` the last step is the block's last, which reads no bits for next states; otherwise `steps`
// is a multiple of four.
//
// The 63 bits below a position are loaded together with the three states, so a step waits for
// shared memory only once. If a sequence has more than 63 bits, which is rare, the whole round is
// made again by steps that load their bits after the states say where these are.
SLUICE_DEVICE void zstdSteps(SLUICE_INOUT(ZstdChain, c), u32 work, u32 states, u32 first, u32 steps,
                             bool ends) {
    ZstdChain begin = c;
    ZstdStateWords tables;
    tables.l = SLUICE_SHARED_BASE(sZstdStates, states);
    tables.o = SLUICE_SHARED_BASE(sZstdStates, states + zstdTableAt(1u));
    tables.m = SLUICE_SHARED_BASE(sZstdStates, states + zstdTableAt(2u));
    u32 ring = SLUICE_SHARED_BASE(sZstdWork, work), p = u32(c.position) - kZstdAhead, isShort = 64u;
    // Up to three steps too many are made and ignored, since a test in each would take longer.
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < steps; i += kZstdAtOnce) {
        SLUICE_UNROLL
        for (u32 k = 0u; k < kZstdAtOnce; ++k) {
            ZstdStateWords now = zstdStateWords(c, tables);
            u32 at = p >> 5 & (kZstdRing - 1u), w0 = SLUICE_SHARED_WORD(sZstdWork, ring, at),
                w1 = SLUICE_SHARED_WORD(sZstdWork, ring, at + 1u),
                w2 = SLUICE_SHARED_WORD(sZstdWork, ring, at + 2u), sum = now.l + now.o + now.m;
            zstdStoreStep(first + 4u * (i + k), now.l, now.o, now.m, p);
            // The lowest 6 bits of the sum are 63 minus the number of the sequence's bits.
            u32 window = shiftRight64(funnelRight(w0, w1, p), funnelRight(w1, w2, p), sum & 63u);
            zstdNextStates(c, now, window);
            isShort &= sum;
            p += sum + 1u;
        }
    }
    if ((isShort & 64u) == 0u) {
        c = begin;
        p = u32(c.position) - kZstdAhead;
        SLUICE_DONT_UNROLL
        for (u32 i = 0u; i < steps; i += kZstdAtOnce) {
            SLUICE_UNROLL
            for (u32 k = 0u; k < kZstdAtOnce; ++k) {
                ZstdStateWords now = zstdStateWords(c, tables);
                zstdStoreStep(first + 4u * (i + k), now.l, now.o, now.m, p);
                p += now.l + now.o + now.m + 1u;
                zstdNextStates(c, now, zstdRingBits(work, int(p + kZstdAhead)));
            }
        }
    }
    u32 last = first + 4u * (steps - 1u);
    if (steps % kZstdAtOnce != 0u) p = sZstdWork[last + 7u];
    c.position -= int((u32(c.position) - kZstdAhead - p) & kZstdRingMask);
    if (ends)
        c.position += int(zstdStateBits(sZstdWork[last]) + zstdStateBits(sZstdWork[last + 1u]) +
                          zstdStateBits(sZstdWork[last + 2u]));
}

SLUICE_DEVICE u32 zstdSymbolOf(u32 state) { return state >> 17 & 63u; }

struct ZstdSequence {
    u32 literals, match, offset; // offset: 1 to 3 repeat an offset; others are the offset + 3
};

// Reads the extra bits of the step at index `step` of sZstdWork. position: the bit at which its
// round ends, which completes the step's 12-bit position.
SLUICE_DEVICE ZstdSequence zstdExpand(u32 work, u32 step, int position) {
    u32 l = zstdSymbolOf(sZstdWork[step]), o = zstdSymbolOf(sZstdWork[step + 1u]),
        m = zstdSymbolOf(sZstdWork[step + 2u]);
    int at = position + int((sZstdWork[step + 3u] + kZstdAhead - u32(position)) & kZstdRingMask);
    u32 lBits = zstdExtraBits(SLUICE_ZS_LITERAL_LENGTHS, l),
        mBits = zstdExtraBits(SLUICE_ZS_MATCH_LENGTHS, m);
    ZstdSequence s;
    at -= int(o);
    s.offset = (1u << o) + lowBits(zstdRingBits(work, at), o);
    at -= int(mBits);
    s.match = SLUICE_ZS_MIN_MATCH + zstdBase(SLUICE_ZS_MATCH_LENGTHS, m) +
              lowBits(zstdRingBits(work, at), mBits);
    at -= int(lBits);
    s.literals = zstdBase(SLUICE_ZS_LITERAL_LENGTHS, l) + lowBits(zstdRingBits(work, at), lBits);
    return s;
}

// The three repeated offsets. A marker stands for one that is not known yet (SLUICE_ZS_MARKERS).
struct ZstdRepeats {
    u32 first, second, third;
};

// A sequence may change the list of the three repeated offsets. Returns the origin of the list's
// first offset after the lanes of the mask `changes` have changed it. An origin is the lane whose
// own offset it is, or 32, 33 or 34: the first, second or third offset of the list before all
// lanes.
SLUICE_DEVICE u32 zstdLatest(u32 changes) { return min(u32(findMSB(changes)), 32u); }
// Returns the origin of the second repeated offset after these changes.
SLUICE_DEVICE u32 zstdSecond(u32 changes) {
    u32 others = changes & ~(1u << (zstdLatest(changes) & 31u));
    return min(u32(findMSB(others)), changes != 0u ? 32u : 33u);
}
// Returns the origin of the third repeated offset; lanes in `swaps` only exchange the first two.
SLUICE_DEVICE u32 zstdThird(u32 changes, u32 swaps) {
    u32 others = changes & ~swaps;
    return others != 0u ? zstdSecond(changes & ((1u << (u32(findMSB(others)) & 31u)) - 1u)) : 34u;
}
// If `origin` is a lane, returns `value`, that lane's offset; otherwise an offset of `before`.
SLUICE_DEVICE u32 zstdOffsetOf(u32 origin, u32 value, SLUICE_IN(ZstdRepeats) before) {
    return origin < 32u    ? value
           : origin == 32u ? before.first
           : origin == 33u ? before.second
                           : before.third;
}

// Returns the offset of this lane's sequence, or a marker that stands for it (SLUICE_ZS_MARKERS).
// `before` has the repeated offsets before the first lane and receives those after the last lane.
SLUICE_DEVICE u32 zstdOffset(bool on, SLUICE_IN(ZstdSequence) s,
                             SLUICE_INOUT(ZstdRepeats, before)) {
    // If the sequence repeats an offset, `used` is its index in the list, 0 to 2. Or it is 3: the
    // first offset minus 1, which enters the list as a new one.
    bool fresh = on && s.offset > SLUICE_ZS_REPEATS, old = on && !fresh;
    u32 used = s.offset - (s.literals != 0u ? 1u : 0u), offset = s.offset - SLUICE_ZS_REPEATS;
    offset = offset < SLUICE_ZS_MARKERS ? offset : SLUICE_ZS_TOO_FAR;
    u32 fresher = lgBallot(fresh), changes = fresher | lgBallot(old && used != 0u),
        swaps = lgBallot(old && used == 1u), below = changes & lgLanesBelow();
    u32 origin = zstdLatest(below);
    origin = used == 1u ? zstdSecond(below) : origin;
    origin = used == 2u ? zstdThird(below, swaps & lgLanesBelow()) : origin;
    origin = old ? origin : lgLane();
    // way: in bits 0-5 an origin, from bit 6 on what is subtracted on the way to it. The lane of an
    // origin may repeat an offset, too, and so have an origin itself. Pointer jumping, which
    // doubles the distance each time, finds the last origin among 32 lanes in five iterations.
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

// Prepares the chain of a block. logs: log2 of the number of states of its three tables, 4 bits
// each. used: bytes of the table descriptions that stand before the bits of its sequences.
SLUICE_DEVICE void zstdBeginChain(SLUICE_IN(ZstdSlot) z, u32 chain, u32 work, bool on, u32 block,
                                  u32 logs, u32 used) {
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
    // The stream is read from its end, so the ring begins with its last words.
    int filled = (bits.end >> 5) + 2 - int(kZstdRing);
    SLUICE_UNROLL
    for (int i = 0; i < int(kZstdRing); i += 32) {
        int word = filled + i + int(lane);
        u32 value = u32(word) < bits.count ? loadWord(bits.words, u32(word)) : 0u;
        if (on) zstdSetRing(work, word, value);
    }
    if (!on || lane != 0u) return;
    ZstdChain c;
    u32 lLog = logs & 15u, oLog = logs >> 4 & 15u, mLog = logs >> 8;
    c.position = bits.end - int(lLog + oLog + mLog);
    u32 window = zstdWindow(bits, c.position);
    c.matches = lowBits(window, mLog);
    window >>= mLog;
    c.offsets = lowBits(window, oLog);
    c.literals = lowBits(window >> oLog, lLog);
    u64 target = add64(z.sequences, mul64(first, 8u));
    sZstdChains[state + kBitsAt] = lowWord(bits.words);
    sZstdChains[state + kBitsAt + 1u] = highWord(bits.words);
    sZstdChains[state + kBitsCount] = bits.count;
    sZstdChains[state + kTarget] = lowWord(target);
    sZstdChains[state + kTarget + 1u] = highWord(target);
    sZstdChains[state + kCount] = count;
    sZstdChains[state + kTaken] = 0u;
    sZstdChains[state + kMatches] = 0u;
    for (u32 i = 0u; i < SLUICE_ZS_REPEATS; ++i)
        sZstdChains[state + kRepeats + i] = zstdMarker(i);
    sZstdChains[state + kStart] = zstdPackStates(c);
    sZstdChains[state + kBegin] = bits.valid ? u32(bits.begin) : 0x7fffffffu;
    for (u32 turn = 0u; turn < 2u; ++turn) {
        sZstdChains[state + kPosition + turn] = u32(c.position);
        sZstdChains[state + kMade + turn] = 0u;
        sZstdChains[state + kDone + turn] = 0u;
        sZstdChains[state + kFilled + turn] = u32(filled);
    }
}

// Makes the steps of a round in the lane's chain, which decodes the sequences of a block in `count`
// steps. `decoded` have been made before the round; returns how many have been made after it.
SLUICE_DEVICE u32 zstdChainRound(SLUICE_INOUT(ZstdChain, c), u32 chain, u32 work, u32 turn,
                                 u32 decoded, u32 count) {
    u32 state = chain * kStateWords, steps = 0u;
    if (decoded < count) {
        int bits = c.position - 32 * int(sZstdChains[state + kFilled + (turn ^ 1u)]);
        steps = min(min(count - decoded, 32u), u32(max(bits, 0)) / u32(kZstdStepBits));
        if (decoded + steps < count) steps -= steps % kZstdAtOnce;
        if (steps != 0u)
            zstdSteps(c, work, chain * kZstdStates, zstdStepAt(work, turn, 0u), steps,
                      decoded + steps == count);
    }
    sZstdChains[state + kPosition + turn] = u32(c.position);
    sZstdChains[state + kMade + turn] = steps;
    return decoded + steps;
}

// Expands the steps that a chain made in the previous round: reads their extra bits and stores
// their sequences. Also loads words into the chain's ring for the next round. turn: 0 or 1, the
// buffer of the current round.
SLUICE_DEVICE void zstdExpandRound(u32 chain, u32 work, bool on, u32 turn) {
    u32 lane = lgLane(), state = chain * kStateWords, before = turn ^ 1u,
        done = sZstdChains[state + kDone + before], taken = sZstdChains[state + kTaken],
        matches = sZstdChains[state + kMatches], wordCount = sZstdChains[state + kBitsCount];
    int filled = int(sZstdChains[state + kFilled + before]),
        position = int(sZstdChains[state + kPosition + before]),
        room = int(kZstdRing) - 2 - ((position >> 5) - filled);
    u32 steps = on ? sZstdChains[state + kMade + before] : 0u;
    int loads = on ? min(max(room, 0), kZstdLoads) : 0;
    u64 words = joinU64(sZstdChains[state + kBitsAt], sZstdChains[state + kBitsAt + 1u]);
    u64 target = joinU64(sZstdChains[state + kTarget], sZstdChains[state + kTarget + 1u]);
    ZstdRepeats repeats;
    repeats.first = sZstdChains[state + kRepeats];
    repeats.second = sZstdChains[state + kRepeats + 1u];
    repeats.third = sZstdChains[state + kRepeats + 2u];
    int word = filled - 1 - int(lane);
    u32 value = 0u;
    if (u32(word) < wordCount && int(lane) < loads) value = loadWord(words, u32(word));
    bool has = lane < steps;
    ZstdSequence s;
    s.literals = s.match = 0u;
    s.offset = 1u;
    if (has) s = zstdExpand(work, zstdStepAt(work, before, lane), position);
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
    if (int(lane) < loads) zstdSetRing(work, word, value);
    // Few rounds need more than the 32 words loaded above.
    SLUICE_DONT_UNROLL
    for (int i = int(lane) + 32; i < loads; i += 32) {
        word = filled - 1 - i;
        zstdSetRing(work, word, u32(word) < wordCount ? loadWord(words, u32(word)) : 0u);
    }
    if (on && lane == 0u) {
        sZstdChains[state + kDone + turn] = done + steps;
        sZstdChains[state + kFilled + turn] = u32(filled - loads);
        // Any sum beyond the size of a block is a fault; the limit keeps it from overflowing.
        sZstdChains[state + kTaken] = min(taken + literalsSum, 1u << 24);
        sZstdChains[state + kMatches] = min(matches + lengthsSum, 1u << 24);
        sZstdChains[state + kRepeats] = repeats.first;
        sZstdChains[state + kRepeats + 1u] = repeats.second;
        sZstdChains[state + kRepeats + 2u] = repeats.third;
    }
}

// Stores what zstd_place needs of a block.
SLUICE_DEVICE void zstdEndChain(SLUICE_IN(ZstdSlot) z, u32 chain, u32 block, bool good) {
    u32 state = chain * kStateWords;
    if (!good) zstdFault(z, SLUICE_ZS_PHASE_SYMBOLS, block, 0u, SLUICE_ST_BAD_CODE);
    zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_TAKEN, sZstdChains[state + kTaken]);
    zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_MATCHES, sZstdChains[state + kMatches]);
    for (u32 i = 0u; i < SLUICE_ZS_REPEATS; ++i)
        zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + i, sZstdChains[state + kRepeats + i]);
}

// -----------------------------------------------------------------------------------------------
// The team

// Builds the tables of `blocks` blocks, from entry `first` of the turn's sorted list on, and
// prepares their chains. Each lane group that builds needs memory for a description (zstdEntries),
// and the team's begins with number `entry`. If there is too little left, fewer lane groups build
// tables.
SLUICE_DEVICE void zstdBegin(SLUICE_IN(ZstdParams) p, u32 base, u32 work, u32 first, u32 blocks,
                             u32 entry) {
    u32 lane = lgLane(), member = lgIndex() % kZstdTeam,
        builders = min(min(kZstdTeam, kZstdChains), max(p.slots * p.groups, entry + 1u) - entry);
    bool all = blocks != 0u;
    if (lane < kZstdChains && member == 0u) {
        sZstdChains[(base + lane) * kStateWords + kCount] = 0u;
        sZstdChains[(base + lane) * kStateWords + kEntry] = 0u;
        sZstdChains[(base + lane) * kStateWords + kDone] = 0u;
        sZstdChains[(base + lane) * kStateWords + kDone + 1u] = 0u;
    }
    zstdTeamBarrier();
    u32 number = entry + min(member, builders - 1u);
    u64 entries = zstdEntries(p, number);
    // Rings use the memory in which tables are built, so they are filled after all tables.
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < kZstdChains; i += builders) {
        u32 k = i + member, logs, used;
        bool on = all && member < builders && k < blocks;
        if (!wgAny(on)) continue;
        u32 own = on ? zstdOrdered(p, first + k) : 0u, chain = base + min(k, kZstdChains - 1u);
        if (own == SLUICE_ZS_NO_BLOCK) {
            on = false;
            own = 0u;
        }
        ZstdSlot z = zstdSlot(p, own / p.maxBlocks);
        on = zstdTables(z, lgIndex(), chain, on, own % p.maxBlocks, entries, logs, used);
        if (on && lane == 0u) {
            sZstdChains[chain * kStateWords + kEntry] = own + 1u;
            sZstdChains[chain * kStateWords + kTaken] = logs;
            sZstdChains[chain * kStateWords + kMatches] = used;
        }
    }
    zstdTeamBarrier();
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < kZstdChains; i += kZstdTeam) {
        u32 k = i + member, chain = base + min(k, kZstdChains - 1u), at = chain * kStateWords,
            own = k < kZstdChains ? sZstdChains[at + kEntry] : 0u, logs = sZstdChains[at + kTaken],
            used = sZstdChains[at + kMatches];
        bool on = own != 0u;
        if (!wgAny(on)) continue;
        lgBarrierShared();
        own = max(own, 1u) - 1u;
        zstdBeginChain(zstdSlot(p, own / p.maxBlocks), chain,
                       work + (chain - base) * kZstdChainWords, on, own % p.maxBlocks,
                       on ? logs : 0u, on ? used : 0u);
    }
    zstdTeamBarrier();
}

// Decodes the sequences of `blocks` blocks; the parameters are those of zstdBegin.
SLUICE_DEVICE void zstdDecode(SLUICE_IN(ZstdParams) p, u32 first, u32 blocks, u32 entry) {
    u32 team = lgIndex() / kZstdTeam, member = lgIndex() % kZstdTeam, base = team * kZstdChains,
        work = team * kZstdWork, lane = lgLane(), mine = base + min(lane, kZstdChains - 1u),
        state = mine * kStateWords;
    zstdBegin(p, base, work, first, blocks, entry);
    bool chained = member == 0u && lane < kZstdChains;
    // A lane group that only makes chains helps with no blocks.
    u32 helpers = max(kZstdTeam, 2u) - 1u, helper = kZstdTeam == 1u ? 0u : member - 1u,
        helped = kZstdTeam == 1u || member != 0u ? blocks : 0u, count = sZstdChains[state + kCount],
        decoded = 0u;
    ZstdChain c;
    zstdSetStates(c, sZstdChains[state + kStart]);
    c.position = int(sZstdChains[state + kPosition]);
    bool left = lgBallot(lane < kZstdChains && count != 0u) != 0u;
    SLUICE_DONT_UNROLL
    for (u32 round = 0u; round < kZstdMostRounds && wgAny(left); ++round) {
        u32 turn = round & 1u, before = decoded;
        if (chained)
            decoded = zstdChainRound(c, mine, work + lane * kZstdChainWords, turn, decoded, count);
        SLUICE_DONT_UNROLL
        for (u32 i = 0u; wgAny(i < helped); i += helpers) {
            u32 k = i + helper, chain = base + min(k, kZstdChains - 1u), at = chain * kStateWords;
            bool own = k < helped,
                 on = own && sZstdChains[at + kDone + (turn ^ 1u)] < sZstdChains[at + kCount];
            if (own && !on && lane == 0u) // the chain is done, so its count stays
                sZstdChains[at + kDone + turn] = sZstdChains[at + kCount];
            if (wgAny(on))
                zstdExpandRound(chain, work + (chain - base) * kZstdChainWords, on, turn);
        }
        zstdTeamBarrier();
        // A round expands the sequences that were decoded before it. The lane group of the chains
        // knows how many these are; the others read the same number from kDone.
        u32 done = member == 0u ? before : sZstdChains[state + kDone + turn];
        left = lgBallot(lane < kZstdChains && done < count) != 0u;
    }
    bool good = lgLoopsGoOn() && !left;
    u32 order = sZstdChains[state + kEntry];
    if (chained && order != 0u) {
        ZstdSlot z = zstdSlot(p, (order - 1u) / p.maxBlocks);
        zstdEndChain(z, mine, (order - 1u) % p.maxBlocks,
                     c.position == int(sZstdChains[state + kBegin]));
        if (!good) zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
    }
    zstdTeamBarrier();
}

// `team` is the team's number in the dispatch.
SLUICE_DEVICE void zstdSequences(SLUICE_IN(ZstdParams) p, u32 team) {
    u32 groups = p.slots * p.groups, teams = SLUICE_ZS_TEAMS(groups, kZstdChains), before, total;
    // The last bin has the blocks without sequences.
    u32 bin = lgLane() == SLUICE_ZS_BINS - 1u
                  ? 0u
                  : loadStoredWord(zstdTurn(p), SLUICE_ZS_TURN_BINS + lgLane());
    lgScan(bin, before, total);
    // A team decodes several blocks at once only if the turn has enough blocks to keep the GPU busy
    // anyway (p.spread), or more than the dispatch's teams could decode one by one.
    u32 least = (total + teams * SLUICE_ZS_BLOCK_TURNS - 1u) / (teams * SLUICE_ZS_BLOCK_TURNS),
        each = min(max(total / p.spread + 1u, least), kZstdChains);
    // If a driver ends this loop early, zstdPlace finds blocks that are SLUICE_ZS_NOT_DECODED, and
    // their region gets the status INTERNAL.
    SLUICE_DONT_UNROLL
    for (u32 turn = 0u; turn < SLUICE_ZS_BLOCK_TURNS; ++turn) {
        u32 at = ((p.begin * SLUICE_ZS_BLOCK_TURNS + turn) * teams + team) * each;
        bool on = team < teams && at < total;
        if (wgAny(on))
            zstdDecode(p, at, on ? min(each, total - at) : 0u,
                       min(team * kZstdChains, groups - 1u));
    }
}

SLUICE_KERNEL_END
#endif
