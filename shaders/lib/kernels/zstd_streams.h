// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the one or four streams of literals of a Zstandard block, by all lanes of a lane group at
// once. Included by zstd_literals.h.
//
// Each stream is cut into parts of equal numbers of bits, one for each of its lanes. It is not
// known where the first codeword of a part begins. But a decoder that starts at any bit soon falls
// into step with the real codewords, so a lane starts some way before its part. If the lane before
// it has ended at another bit than this lane has begun at, this lane decodes its part again from
// that bit. When all lanes agree, all are right, and prefix sums of their numbers of symbols say
// where each lane writes. If they do not agree after a few attempts, the first lane decodes the
// stream alone.
#ifndef SLUICE_KERNELS_ZSTD_STREAMS_H
#define SLUICE_KERNELS_ZSTD_STREAMS_H

#include "zstd_slot.h"
#include "zstd_tree.h"

SLUICE_KERNEL_BEGIN

// A lane loads the words of its stream eight symbols ahead, since a load takes as long as several
// symbols. Until then they are kept here, in a ring buffer of eight words for each lane.
SLUICE_SHARED u32 sZstdRing[kGroupsPerWorkgroup * 8u * 32u];

// Returns the index in sZstdRing of the lane's word that has the bit at `depth`. A depth is a
// negated bit position, since streams are read downwards.
SLUICE_DEVICE u32 zstdRingAt(u32 groupHere, u32 depth) {
    return (groupHere * 256u + lgLane()) | (depth & 0xe0u);
}
// Loads a word of the stream. For an index outside the stream, the result is not used.
SLUICE_DEVICE u32 zstdStreamWord(SLUICE_IN(ZstdBits) bits, int word) {
    return loadWord(bits.words, min(u32(word), bits.count - 1u));
}
SLUICE_DEVICE u32 zstdTableShift(u32 log) { return 32u - min(log, SLUICE_ZS_MAX_CODE_LENGTH); }

SLUICE_CONSTANT u32 kZstdTurn = 8u; // symbols that a loop iteration (turn) of zstdTurns decodes
SLUICE_CONSTANT u32 kZstdTurnBits = kZstdTurn * SLUICE_ZS_DICTIONARY_CODE_LENGTH; // at most

// Decodes symbols one by one, downwards from bit `position`, until `position` is at or below
// `border`, but at most kZstdTurnBits symbols. Returns the number of symbols.
SLUICE_DEVICE u32 zstdSteps(u32 groupHere, u32 log, SLUICE_IN(ZstdBits) bits,
                            SLUICE_INOUT(int, position), int border) {
    u32 count = 0u, shift = zstdTableShift(log);
    SLUICE_DONT_UNROLL
    for (; count < kZstdTurnBits && position > border; ++count)
        position -= int(zstdEntry(groupHere, zstdWindow(bits, position - 32) >> shift) & 255u);
    return count;
}

// Says which words of the slot's literals a lane writes, and how many symbols before them it only
// decodes.
struct ZstdWritten {
    u32 first, words, skipped;
};

// Decodes eight symbols per loop iteration, downwards from bit `position`, in at most `turns`
// iterations. Returns the number of symbols. Without `writes` it stops before an iteration that
// could pass `border`. With `writes` it ignores `border`, writes the symbols, and sets `position`
// to the bit reached after `marked` iterations. isLong: codewords of 12 bits may occur.
SLUICE_DEVICE u32 zstdTurns(SLUICE_IN(ZstdSlot) z, u32 groupHere, u32 log, SLUICE_IN(ZstdBits) bits,
                            SLUICE_INOUT(int, position), int border, u32 turns, bool writes,
                            bool isLong, SLUICE_IN(ZstdWritten) written, u32 marked) {
    // depth: minus the position of the next symbol. edge: the depth at which `low` begins.
    u32 depth = u32(-position), edge = (depth & ~31u) + 32u, stored = edge + 32u, before = 0u,
        turn = 0u, shift = zstdTableShift(log);
    int word = (position - 1) >> 5, least = border + int(kZstdTurn * log);
    u32 high = zstdStreamWord(bits, word), low = zstdStreamWord(bits, word - 1),
        next = zstdStreamWord(bits, word - 2), load0 = zstdStreamWord(bits, word - 3),
        load1 = zstdStreamWord(bits, word - 4), load2 = zstdStreamWord(bits, word - 5);
    sZstdRing[zstdRingAt(groupHere, edge)] = next;
    SLUICE_DONT_UNROLL
    for (; turn < turns && (writes || int(0u - depth) >= least); ++turn) {
        if (writes && turn == marked) position = int(0u - depth);
        // An iteration uses up at most three words, so the ring gets three new ones each time.
        sZstdRing[zstdRingAt(groupHere, stored)] = load0;
        sZstdRing[zstdRingAt(groupHere, stored + 32u)] = load1;
        sZstdRing[zstdRingAt(groupHere, stored + 64u)] = load2;
        stored = edge + 128u;
        word = int(~edge) >> 5;
        load0 = zstdStreamWord(bits, word - 5);
        load1 = zstdStreamWord(bits, word - 6);
        load2 = zstdStreamWord(bits, word - 7);
        SLUICE_UNROLL
        for (u32 four = 0u; four < 2u; ++four) {
            u32 made = 0u;
            SLUICE_UNROLL
            for (u32 k = 0u; k < 4u; k += 2u) {
                // Two codewords have 24 bits at most, so one window serves both.
                u32 window = funnelLeft(high, low, depth & 31u);
                SLUICE_UNROLL
                for (u32 j = 0u; j < 2u; ++j) {
                    u32 entry = zstdEntry(groupHere, window >> shift), n = entry & 255u,
                        symbol = entry >> 8;
                    if (isLong && n > SLUICE_ZS_MAX_CODE_LENGTH)
                        symbol = symbolAt(slotMemory(groupHere), window >> (32u - log) & 255u);
                    made |= symbol << 8u * (k + j);
                    window = funnelLeft(window, 0u, n);
                    depth += n;
                }
                bool leaves = int(depth) >= int(edge);
                high = leaves ? low : high;
                low = leaves ? next : low;
                edge += leaves ? 32u : 0u;
                next = sZstdRing[zstdRingAt(groupHere, edge)];
            }
            // The word has the symbols of `before` less the first `skipped`, then those of `made`.
            u32 index = 2u * turn + four - 1u;
            if (writes && index < written.words)
                storeWord(z.literals, written.first + index,
                          funnelRight(before, made, 8u * written.skipped));
            before = made;
        }
    }
    if (!writes) position = int(0u - depth);
    return kZstdTurn * turn;
}

// A lane's stream, as far as it is known before it is decoded.
struct ZstdStream {
    ZstdBits bits;
    u32 to, count; // index of its first byte in the slot's literals; number of its literals
    u32 size;      // in bits
    bool good;
};

// Finds this lane's stream among the one or four at offset `at` of the source.
SLUICE_DEVICE ZstdStream zstdStreamOf(SLUICE_IN(ZstdSlot) z, bool on, u32 log, u32 at, u32 size,
                                      u32 to, u32 count, u32 streams) {
    ZstdStream s;
    u32 stream = lgLane() * streams >> 5, before = 0u, own = size;
    s.good = on;
    s.to = to;
    s.count = count;
    if (on && streams != 1u) {
        u32 jumps = zstdWord(z, at), size0 = jumps & 0xffffu, size1 = jumps >> 16,
            size2 = zstdWord(z, at + 4u) & 0xffffu, left = size - 6u;
        s.good = size >= 6u && size0 + size1 + size2 <= left;
        before = 6u + (stream > 0u ? size0 : 0u) + (stream > 1u ? size1 : 0u) +
                 (stream > 2u ? size2 : 0u);
        own = stream == 0u ? size0 : stream == 1u ? size1 : stream == 2u ? size2 : size - before;
        // With 6 or 9 literals the first three streams have them all.
        u32 share = zstdStreamShare(count, streams), first = min(stream * share, count);
        s.to = to + stream * zstdStreamRoom(count, streams);
        s.count = min(share, count - first);
    }
    s.bits = zstdBits(z, at + before, s.good ? own : 0u);
    s.size = u32(s.bits.end - s.bits.begin);
    // A codeword has at least 1 and at most `log` bits.
    s.good = s.good && s.bits.valid && s.size >= s.count && s.size <= s.count * log;
    return s;
}

// Holds what a lane knows of its part of a stream.
struct ZstdPart {
    int begin;   // where the first codeword begins
    int end;     // where the first codeword after the part begins
    u32 symbols; // how many codewords begin in the part
    bool fails;  // the values above may be wrong
};

// A part has a multiple of `log` bits, and its lane starts a multiple of `log` bits before it. That
// matters if all codewords have `log` bits, or lengths with another common divisor: a lane that
// starts between multiples of the divisor would never fall into step with the codewords.
SLUICE_CONSTANT u32 kZstdLeastPart = 16u; // in units of `log` bits
SLUICE_CONSTANT u32 kZstdLeastCut = 64u;  // in these units; shorter streams are not cut
SLUICE_CONSTANT u32 kZstdPasses = 6u;

// All lanes call this. Decodes this lane's part of its stream, which `lanes` lanes share, without
// writing. If the stream is not cut, the part has no symbols.
SLUICE_DEVICE ZstdPart zstdPartOf(SLUICE_IN(ZstdSlot) z, u32 groupHere, u32 log,
                                  SLUICE_IN(ZstdStream) s, bool cut, u32 lanes) {
    u32 number = lgLane() & (lanes - 1u),
        units = max((s.size + lanes * log - 1u) / (lanes * log), kZstdLeastPart),
        early = min(max(units >> 2, 24u), 64u);
    int upper = s.bits.end - int(number * units * log),
        lower = max(upper - int(units * log), s.bits.begin);
    bool has = cut && upper > s.bits.begin, runs = has;
    ZstdPart part;
    part.begin = min(upper + int(early * log), s.bits.end);
    part.end = part.begin;
    part.symbols = 0u;
    // A part with more than 5/16 of all symbols is given up, as cutting would gain little.
    u32 turns = (5u * s.count >> 7) + 4u;
    ZstdWritten none;
    none.first = none.words = none.skipped = 0u;
    SLUICE_DONT_UNROLL
    for (u32 pass = 0u; pass < kZstdPasses && wgAny(lgBallot(runs) != 0u); ++pass) {
        int at = part.begin, border = pass == 0u ? upper : lower;
        u32 symbols = 0u;
        if (runs) {
            symbols =
                zstdTurns(z, groupHere, log, s.bits, at, border, turns, false, false, none, 0u);
            symbols += zstdSteps(groupHere, log, s.bits, at, border);
        }
        // The first pass decodes what is before the part, to find the part's first codeword.
        if (pass == 0u) {
            part.begin = at;
            continue;
        }
        if (runs) {
            part.end = at;
            part.symbols = symbols;
        }
        lgShare(u32(part.end));
        int before = int(lgShared(u32(part.end), (lgLane() - 1u) & 31u));
        runs = has && number != 0u && before != part.begin;
        if (runs) part.begin = before;
    }
    bool last = lower == s.bits.begin;
    part.fails = runs || (has && (part.end > lower || (last && part.end != lower)));
    return part;
}

// All lanes call this, with on = false if they have no block. Decodes the one or four streams at
// offset `at` of the source, with `count` literals in total, to byte `to` of the slot's literals.
// If a stream is damaged, at least one lane returns true.
SLUICE_DEVICE bool zstdStreams(SLUICE_IN(ZstdSlot) z, u32 groupHere, bool on, u32 log, u32 at,
                               u32 size, u32 to, u32 count, u32 streams) {
    ZstdStream s = zstdStreamOf(z, on, log, at, size, to, count, streams);
    u32 lanes = 32u / streams, leader = lgLane() & ~(lanes - 1u), before, all;
    bool leads = lgLane() == leader, cut = s.good && s.size > kZstdLeastCut * log;
    ZstdPart part = zstdPartOf(z, groupHere, log, s, cut, lanes);
    u32 failing = lgBallot(part.fails) >> leader & 0xffffffffu >> (32u - lanes);
    lgScan(part.symbols, before, all);
    lgShare(before);
    u32 begin = lgShared(before, leader), behind = lgShared(before, (leader + lanes) & 31u),
        first = before - begin, end = first + part.symbols,
        sum = (leader + lanes == 32u ? all : behind) - begin;
    bool alone = s.good && !(cut && failing == 0u && sum == s.count);
    if (alone) {
        first = 0u;
        end = leads ? s.count : 0u;
        part.begin = s.bits.end;
    }
    // A lane writes each word whose first symbol is in its part. The lane before it writes the
    // symbols in front of these words.
    ZstdWritten written;
    u32 word = (first + 3u) >> 2, words = ((end + 3u) >> 2) - word;
    written.skipped = (0u - first) & 3u;
    written.first = (s.to >> 2) + word;
    written.words = min(words, z.literalRoom - min(written.first, z.literalRoom));
    int position = part.begin;
    u32 turns = (words >> 1) + 1u, marked = s.count / kZstdTurn;
    bool isLong = wgAny(log > SLUICE_ZS_MAX_CODE_LENGTH), writes = s.good && words != 0u,
         good = s.good;
    if (writes && isLong)
        zstdTurns(z, groupHere, log, s.bits, position, 0, turns, true, true, written, marked);
    if (writes && !isLong)
        zstdTurns(z, groupHere, log, s.bits, position, 0, turns, true, false, written, marked);
    if (alone && writes)
        good = zstdSteps(groupHere, log, s.bits, position, s.bits.begin) == s.count % kZstdTurn &&
               position == s.bits.begin;
    return on && leads && !good;
}

SLUICE_KERNEL_END
#endif
