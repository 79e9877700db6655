// SPDX-License-Identifier: MIT OR Apache-2.0
// A step of the Zstandard decode: the bytes of regions that are not large. A workgroup has a region
// and makes its bytes in order, kZstdGroup of them at a time, so that whatever a group copies from
// before it is there already. Places are bytes of the group; its first one is at a word of the
// output, and a group lies in one block.
//
// - mark: each sequence that meets the group sets the bit of its first place and leaves what its
//   bytes need, at the number that it has in the group. It also gives its number to the first of
//   the places 0, 32, 64 ... that it has. So a byte finds its sequence without a search: the number
//   at the last such place that got one, plus the bits since its own word of bits began.
// - make: each invocation takes eight bytes. Literals and bytes before the group are loaded; a byte
//   that copies one of the group notes its place. Sources of matches that overlap themselves are
//   taken from before the match, so that a run is no long chain.
// - follow: chains of such notes are followed a few hops, and then again over what that gave, so
//   that each round makes 8 times as many hops as the one before. Almost all chains end in the
//   first round; the longest that a group can have takes kZstdRounds.
//
// The includer defines kInvocations, expandLoad(base, index), which loads a byte that the workgroup
// may have stored before the last expandBarrier(), and storeBytes(target, value, first, end), which
// stores bytes [first, end) of a word.
#ifndef SLUICE_KERNELS_ZSTD_EXPAND_H
#define SLUICE_KERNELS_ZSTD_EXPAND_H

#include "zstd_slot.h"

SLUICE_KERNEL_BEGIN

SLUICE_CONSTANT u32 kZstdBytes = SLUICE_ZS_EXPAND_BYTES;
SLUICE_CONSTANT u32 kZstdGroup = kZstdBytes * kInvocations;
SLUICE_CONSTANT u32 kZstdMarks = kZstdGroup / 32u;
SLUICE_CONSTANT u32 kZstdCovers = (kZstdMarks + 31u) / 32u;
// A sequence has three bytes at least; a part of one begins the group, and literals end a block.
SLUICE_CONSTANT u32 kZstdRecords = kZstdGroup / SLUICE_ZS_MIN_MATCH + 3u;
SLUICE_CONSTANT u32 kZstdRounds = 5u; // 8^5 hops are more than a group has bytes
SLUICE_CONSTANT u32 kZstdKnown = 0x8000u;

SLUICE_SHARED u32 sZstdMarks[kZstdMarks];
SLUICE_SHARED u32 sZstdNumbers[kZstdMarks]; // of the sequence at place 32 * i, if it was given
SLUICE_SHARED u32 sZstdCovers[kZstdCovers]; // a bit for each of sZstdNumbers that was
// The place of a sequence's match, its offset, and where its first literal is in the literals,
// minus the literal's place. With kZstdApart, which is added to the offset, its literals lie in two
// streams or are one byte repeated; then the last word is the literal's number, minus its place.
SLUICE_CONSTANT u32 kZstdApart = 0x80000000u;
SLUICE_SHARED u32 sZstdRecords[3u * kZstdRecords];
// 16 bits for each byte: kZstdKnown | its value, or the place that it copies.
SLUICE_SHARED u32 sZstdMade[kZstdGroup / 2u];
SLUICE_SHARED u32 sZstdOpen[kZstdRounds + 1u]; // not 0: a chain is left before round i
SLUICE_SHARED u32 sZstdNext;                   // the sequence at the end of the group

// Holds what the bytes of a block are made of.
struct ZstdSource {
    u32 kind, begin, end; // its output
    u32 sequences, first; // their number, and that of the first in the slot
    u32 taken;            // literals that sequences take
    u32 matchesEnd;       // where the last match ends in the block
    u32 frameBegin, r0, r1, r2;
    // Literal i is byte i & mask of `literals`, from byte `at` on, plus `skip` for each whole
    // `share`; no byte lies behind byte `last`.
    u64 literals;
    u32 at, mask, share, skip, last;
};

SLUICE_DEVICE ZstdSource zstdSource(SLUICE_IN(ZstdSlot) z, u32 block, u32 regionEnd) {
    ZstdSource s;
    u32 info = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_INFO),
        size = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SIZE), matches = 0u;
    s.kind = info & 3u;
    s.sequences = s.first = s.taken = 0u;
    u32 literalKind = info >> SLUICE_ZS_INFO_LITERALS & 3u, at;
    if (s.kind == SLUICE_ZS_COMPRESSED) {
        s.first = min(zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES_AT), z.sequenceRoom);
        s.sequences =
            min(zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES), z.sequenceRoom - s.first);
        s.taken = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_TAKEN);
        matches = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_MATCHES);
        at = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_LITERALS);
    } else {
        literalKind = s.kind == SLUICE_ZS_RAW ? SLUICE_ZS_LITERALS_RAW : SLUICE_ZS_LITERALS_RLE;
        at = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_CONTENT);
    }
    s.matchesEnd = s.taken + matches;
    s.begin = min(zstdBlockWord(z, block, SLUICE_ZS_BLOCK_BEGIN), regionEnd);
    s.end = s.begin + min(size + matches, regionEnd - s.begin);
    s.frameBegin = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_FRAME_BEGIN);
    s.r0 = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS);
    s.r1 = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + 1u);
    s.r2 = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + 2u);
    s.mask = literalKind == SLUICE_ZS_LITERALS_RLE ? 0u : 0xffffffffu;
    s.literals = z.words;
    s.at = z.shift + at;
    s.share = SLUICE_ZS_BLOCK_BYTES;
    s.skip = 0u;
    s.last = z.shift + z.size - 1u;
    if (literalKind >= SLUICE_ZS_LITERALS_HUFFMAN) {
        u32 streams = (info & SLUICE_ZS_INFO_FOUR_STREAMS) != 0u ? 4u : 1u;
        s.literals = z.literals;
        s.at = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_LITERALS_AT);
        s.share = max(zstdStreamShare(size, streams), 1u);
        s.skip = zstdStreamRoom(size, streams) - zstdStreamShare(size, streams);
        s.last = 4u * z.literalRoom - 1u;
    }
    return s;
}

// Returns the place of a literal in s.literals.
SLUICE_DEVICE u32 zstdLiteralAt(SLUICE_IN(ZstdSource) s, u32 literal) {
    u32 at = s.at + (literal & s.mask);
    at += literal >= s.share ? s.skip : 0u;
    at += literal >= 2u * s.share ? s.skip : 0u;
    at += literal >= 3u * s.share ? s.skip : 0u;
    return min(at, s.last);
}

// Marks sequence i of the block, counted from `first` in the group, whose places [low, high) begin
// at byte `base` of the block. Number s.sequences is the literals behind all matches. Returns
// whether the next sequence may begin in the group.
SLUICE_DEVICE bool zstdMark(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdSource) s, u32 block, u32 first,
                            u32 i, u32 base, u32 low, u32 high) {
    u32 size = s.end - s.begin, begin = s.matchesEnd, literal = s.taken, offset = 1u, end = size,
        nextLiteral = literal + end - begin;
    if (i < s.sequences) {
        u32 at = 2u * (s.first + i), x = loadWord(z.sequences, at),
            y = loadWord(z.sequences, at + 1u);
        begin = x & 0x1ffffu;
        literal = y & 0x1ffffu;
        offset = zstdResolve(x >> 17 | y >> 17 << 15, s.r0, s.r1, s.r2);
        nextLiteral = s.taken;
        end = s.matchesEnd;
        if (i + 1u < s.sequences) {
            end = loadWord(z.sequences, at + 2u) & 0x1ffffu;
            nextLiteral = loadWord(z.sequences, at + 3u) & 0x1ffffu;
        }
    }
    int place = int(begin - base), ending = int(min(end, size) - base);
    if (place >= int(high)) return false;
    u32 number = min(i - first, kZstdRecords - 1u), match = u32(place) + nextLiteral - literal;
    // The offset is checked against the bytes of dictionary and frame before the match.
    if (i < s.sequences && offset - 1u >= s.begin + begin + nextLiteral - literal - s.frameBegin +
                                              zstdDictionaryContent(z)) {
        zstdFault(z, SLUICE_ZS_PHASE_OUTPUT, block, 1u, SLUICE_ST_BAD_OFFSET);
        match = 0x7fffffffu;
        offset = 1u;
    }
    u32 firstAt = zstdLiteralAt(s, literal), last = max(nextLiteral, literal + 1u) - 1u;
    bool apart = zstdLiteralAt(s, last) - firstAt != last - literal || s.mask == 0u;
    sZstdRecords[3u * number] = match;
    sZstdRecords[3u * number + 1u] = offset | (apart ? kZstdApart : 0u);
    sZstdRecords[3u * number + 2u] = (apart ? literal : firstAt) - u32(place);
    bool carried = place <= int(low);
    u32 at = carried ? 0u : u32(place), cover = (at + 31u) >> 5;
    if (!carried) atomicOr(SLUICE_AT(sZstdMarks[at >> 5]), 1u << (at & 31u));
    if (int(32u * cover) < min(ending, int(high))) {
        sZstdNumbers[cover] = number;
        atomicOr(SLUICE_AT(sZstdCovers[cover >> 5]), 1u << (cover & 31u));
    }
    if (ending >= int(high)) sZstdNext = ending > int(high) ? i : i + 1u;
    return ending < int(high) && i < s.sequences;
}

// Returns the number of the sequence that has place `own`.
SLUICE_DEVICE u32 zstdNumberAt(u32 own) {
    u32 word = own >> 5, row = word >> 5, bits = sZstdCovers[row] & ((2u << (word & 31u)) - 1u);
    SLUICE_UNROLL
    for (u32 k = 1u; k < kZstdCovers; ++k) {
        if (bits == 0u && row != 0u) {
            --row;
            bits = sZstdCovers[row];
        }
    }
    u32 from = 32u * row + u32(findMSB(max(bits, 1u)));
    return sZstdNumbers[from] +
           u32(bitCount(sZstdMarks[word] & ((2u << (own & 31u)) - 1u) & 0xfffffffeu));
}

// Where a byte comes from, two bits for each.
SLUICE_CONSTANT u32 kZstdFromGroup = 0u, kZstdFromLiterals = 1u, kZstdFromOutput = 2u,
                    kZstdFromDictionary = 3u;

// Holds what each byte of an invocation is made of: its place there, or, with kZstdFromGroup, what
// sZstdMade has for it.
struct ZstdFound {
    u32 kinds;
    u32 at[kZstdBytes];
};

SLUICE_DEVICE ZstdFound zstdFind(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdSource) s, u32 base, u32 low,
                                 u32 high) {
    ZstdFound found;
    u32 own = kZstdBytes * wgInvocation(), marks = sZstdMarks[own >> 5] >> (own & 31u), number = 0u,
        offset = 1u, literal = 0u;
    int match = 0, past = 0;
    bool apart = false;
    if (own < high) number = zstdNumberAt(own);
    found.kinds = 0u;
    SLUICE_UNROLL
    for (u32 k = 0u; k < kZstdBytes; ++k) {
        u32 place = own + k;
        bool begins = k != 0u && (marks >> k & 1u) != 0u;
        number += begins ? 1u : 0u;
        ++past;
        past = past == int(offset) ? 0 : past;
        if (k == 0u || begins) {
            u32 record = 3u * min(number, kZstdRecords - 1u);
            match = int(sZstdRecords[record]);
            offset = sZstdRecords[record + 1u];
            literal = sZstdRecords[record + 2u];
            apart = offset >= kZstdApart;
            offset &= ~kZstdApart;
            past = int(place) - match;
            // A match that is longer than its offset repeats what is before it. Those that begin
            // here have not come so far.
            if (k == 0u && past >= int(offset)) past = int(u32(past) % max(offset, 1u));
        }
        int from = match - int(offset) + past;
        bool copied = past >= 0, inside = place >= low && place < high,
             before = z.dictionarySize != 0u && int(base - s.frameBegin) + from < 0;
        // The dictionary's content stands before the frame.
        u32 outside = base + u32(from) + (before ? z.dictionarySize - s.frameBegin : 0u),
            kind = !copied  ? kZstdFromLiterals
                   : before ? kZstdFromDictionary
                            : kZstdFromOutput;
        bool links = copied && from >= int(low);
        u32 literalAt = min(literal + place, s.last);
        if (apart) literalAt = zstdLiteralAt(s, literal + place);
        found.at[k] = !inside ? kZstdKnown : links ? u32(from) : copied ? outside : literalAt;
        found.kinds |= inside && !links ? kind << 2u * k : 0u;
    }
    return found;
}

// Makes the group's bytes, as far as they do not copy others of it. The group begins at byte `base`
// of the output. All bytes are found before the first is loaded, so that the loads do not wait for
// each other.
SLUICE_DEVICE void zstdMake(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdSource) s, u32 base, u32 low,
                            u32 high) {
    u32 own = kZstdBytes * wgInvocation();
    ZstdFound found = zstdFind(z, s, base, low, high);
    SLUICE_UNROLL
    for (u32 k = 0u; k < kZstdBytes; ++k) {
        u32 kind = found.kinds >> 2u * k & 3u;
        u64 memory = s.literals;
        if (kind == kZstdFromOutput) memory = z.destination;
        if (kind == kZstdFromDictionary) memory = z.dictionary;
        if (kind != kZstdFromGroup) found.at[k] = kZstdKnown | expandLoad(memory, found.at[k]);
    }
    SLUICE_UNROLL
    for (u32 k = 0u; k < kZstdBytes; k += 2u) {
        sZstdMade[(own + k) >> 1] = found.at[k] | found.at[k + 1u] << 16;
        if ((found.at[k] & found.at[k + 1u] & kZstdKnown) == 0u) sZstdOpen[0] = 1u;
    }
}

// Follows the chains of the group. Returns whether all of them have ended, which is so after
// kZstdRounds.
SLUICE_DEVICE bool zstdFollow(u32 high) {
    u32 own = kZstdBytes * wgInvocation();
    SLUICE_DONT_UNROLL
    for (u32 round = 0u; round < kZstdRounds; ++round) {
        if (sZstdOpen[round] == 0u) return true;
        u32 made[kZstdBytes], every = kZstdKnown;
        SLUICE_UNROLL
        for (u32 k = 0u; k < kZstdBytes; ++k) {
            made[k] = sZstdMade[(own + k) >> 1] >> 16u * (k & 1u) & 0xffffu;
            every &= made[k];
        }
        bool open = own < high && every == 0u;
        u32 hops = open ? SLUICE_ZS_HOPS : 0u;
        SLUICE_DONT_UNROLL
        for (u32 hop = 0u; hop < hops && every == 0u; ++hop) {
            every = kZstdKnown;
            SLUICE_UNROLL
            for (u32 k = 0u; k < kZstdBytes; ++k) {
                u32 place = min(made[k] & (kZstdKnown - 1u), kZstdGroup - 1u);
                u32 next = sZstdMade[place >> 1] >> 16u * (place & 1u) & 0xffffu;
                made[k] = (made[k] & kZstdKnown) != 0u ? made[k] : next;
                every &= made[k];
            }
        }
        if (open) {
            SLUICE_UNROLL
            for (u32 k = 0u; k < kZstdBytes; k += 2u)
                sZstdMade[(own + k) >> 1] = made[k] | made[k + 1u] << 16;
            if (every == 0u) sZstdOpen[round + 1u] = 1u;
        }
        wgBarrierShared();
    }
    return sZstdOpen[kZstdRounds] == 0u;
}

// Stores places [low, high) of the group, which are in sZstdMade.
SLUICE_DEVICE void zstdStoreGroup(SLUICE_IN(ZstdSlot) z, u32 base, u32 low, u32 high) {
    u32 own = kZstdBytes * wgInvocation();
    SLUICE_UNROLL
    for (u32 k = 0u; k < kZstdBytes; k += 4u) {
        u32 place = own + k, a = sZstdMade[place >> 1], b = sZstdMade[(place >> 1) + 1u];
        u32 value = (a & 255u) | (a >> 16 & 255u) << 8 | (b & 255u) << 16 | (b >> 16 & 255u) << 24;
        u32 from = max(place, low) - place, to = min(max(high, place) - place, 4u);
        if (from < to) storeBytes(add64(z.destination, wide(base + place)), value, from, to);
    }
}

// Stores places [low, high) of a group in a block that is plain bytes or one byte.
SLUICE_DEVICE void zstdCopyGroup(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdSource) s, u32 base, u32 low,
                                 u32 high) {
    u32 own = kZstdBytes * wgInvocation();
    SLUICE_UNROLL
    for (u32 k = 0u; k < kZstdBytes; k += 4u) {
        u32 place = own + k, from = max(place, low) - place, to = min(max(high, place) - place, 4u),
            at = s.at - z.shift, value;
        if (s.mask == 0u)
            value = zstdByte(z, at) * 0x01010101u;
        else
            value = zstdWord(z, at + base + place + from - s.begin) << 8u * (from & 3u);
        if (from < to) storeBytes(add64(z.destination, wide(base + place)), value, from, to);
    }
}

// Makes the group from byte `position` of the output on and returns where it ends. `next` is the
// block's sequence that has this byte, and then the one behind.
SLUICE_DEVICE u32 zstdExpandGroup(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdSource) s, u32 block,
                                  u32 position, SLUICE_INOUT(u32, next)) {
    u32 own = wgInvocation(), base = position & ~3u, low = position & 3u,
        high = min(s.end - base, kZstdGroup);
    if (s.kind != SLUICE_ZS_COMPRESSED) {
        zstdCopyGroup(z, s, base, low, high);
        return base + high;
    }
    if (own < kZstdMarks) sZstdMarks[own] = 0u;
    if (own < kZstdCovers) sZstdCovers[own] = 0u;
    if (own <= kZstdRounds) sZstdOpen[own] = 0u;
    if (own == 0u) sZstdNext = next;
    expandBarrier();
    bool more = true;
    SLUICE_DONT_UNROLL
    for (u32 i = own; i < kZstdRecords && more && next + i <= s.sequences; i += kInvocations)
        more = zstdMark(z, s, block, next, next + i, base - s.begin, low, high);
    wgBarrierShared();
    next = sZstdNext;
    zstdMake(z, s, base, low, high);
    wgBarrierShared();
    if (!zstdFollow(high)) zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
    zstdStoreGroup(z, base, low, high);
    return base + high;
}

// `index` is the number of the workgroup, and of its region in the turn.
SLUICE_DEVICE void zstdExpand(SLUICE_IN(ZstdParams) p, u32 index) {
    ZstdSlot z = zstdSlot(p, index);
    // Behind a fault of this phase, blocks before it are still wanted: for faults in them, and for
    // the checksums of frames before.
    if (!zstdGoesOn(z, SLUICE_ZS_PHASE_OUTPUT)) return;
    u32 blocks = min(loadStoredWord(z.head, SLUICE_ZS_HEAD_PLACED), z.blockRoom),
        end = min(loadStoredWord(z.head, SLUICE_ZS_HEAD_POSITION), z.decoded),
        block = loadStoredWord(z.head, SLUICE_ZS_HEAD_EXPAND_BLOCK),
        position = loadStoredWord(z.head, SLUICE_ZS_HEAD_EXPAND_AT),
        next = loadStoredWord(z.head, SLUICE_ZS_HEAD_EXPAND_NEXT);
    if (block >= blocks) return;
    ZstdSource s = zstdSource(z, block, end);
    SLUICE_DONT_UNROLL
    for (u32 turn = 0u; turn < SLUICE_ZS_EXPAND_TURNS && block < blocks; ++turn) {
        if (position < s.end) position = zstdExpandGroup(z, s, block, position, next);
        if (position < s.end) continue;
        ++block;
        next = 0u;
        if (block < blocks) s = zstdSource(z, block, end);
    }
    bool good = wgLoopsGoOn() && ((p.pass & SLUICE_ZS_LAST) == 0u || block == blocks);
    if (wgInvocation() != 0u) return;
    if (!good) zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
    storeWord(z.head, SLUICE_ZS_HEAD_EXPAND_BLOCK, block);
    storeWord(z.head, SLUICE_ZS_HEAD_EXPAND_AT, position);
    storeWord(z.head, SLUICE_ZS_HEAD_EXPAND_NEXT, next);
}

SLUICE_KERNEL_END
#endif
