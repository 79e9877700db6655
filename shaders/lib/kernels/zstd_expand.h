// SPDX-License-Identifier: MIT OR Apache-2.0
// The step of the Zstandard decode that makes the bytes of regions that are not large. A workgroup
// takes a region and makes its bytes in order, in groups of kZstdGroup bytes. So bytes that a group
// copies from before itself are already there. A group lies in one block. A byte's index in its
// group is its place; place 0 is at a word boundary of the output. A group takes three steps:
//
// - mark: each sequence that overlaps the group sets the bit of its first place, and stores a
//   record under its number in the group. It also stores this number for each of the places 0, 32,
//   64 ... that it covers. So a byte finds its record without a search: the number stored for the
//   last such place, plus the count of bits set since then.
// - make: each invocation takes eight bytes, 32 bytes apart. Literals, and bytes copied from before
//   the group, are loaded. A byte copied from inside the group is stored as a link to that place.
//   If a match is longer than its offset, all its bytes link to bytes before it, to keep chains of
//   links short.
// - follow: each link is replaced by the one 8 hops further on. The next round does so with the new
//   links, so that it gets 8 times as far. Almost all chains end in the first round; the longest
//   possible one takes kZstdRounds.
//
// The includer defines kInvocations, expandBarrier(), expandLoad(address), which loads a byte that
// the workgroup may have stored before the last expandBarrier(), and
// storeBytes(target, value, first, end), which stores bytes [first, end) of a word.
#ifndef SLUICE_KERNELS_ZSTD_EXPAND_H
#define SLUICE_KERNELS_ZSTD_EXPAND_H

#include "zstd_slot.h"

SLUICE_KERNEL_BEGIN

SLUICE_CONSTANT u32 kZstdBytes = SLUICE_ZS_EXPAND_BYTES;
SLUICE_CONSTANT u32 kZstdGroup = kZstdBytes * kInvocations;
SLUICE_CONSTANT u32 kZstdMarks = kZstdGroup / 32u;
// The most records that a group needs, one for each sequence. A sequence has at least three bytes.
// A group may begin inside one, and literals after a block's last match also take a record.
SLUICE_CONSTANT u32 kZstdRecords = kZstdGroup / SLUICE_ZS_MIN_MATCH + 3u;
SLUICE_CONSTANT u32 kZstdRounds = 5u; // 8^5 hops are more than a group has bytes
SLUICE_CONSTANT u32 kZstdKnown = 0x8000u;

SLUICE_SHARED u32 sZstdMarks[kZstdMarks];
SLUICE_SHARED u32 sZstdNumbers[kZstdMarks]; // of the record for place 32 * i
// A sequence's record; a place is the index of a byte in the group. x is the place of its match; y
// its offset; z the index of its first literal in ZstdSource::literals, minus the literal's place;
// w zstdInverse of the offset if the match is longer than the offset, else 0. The flag kZstdApart
// in y says that its literals lie in two streams or are one repeated byte; then z is the number of
// its first literal in the block, minus the literal's place.
SLUICE_CONSTANT u32 kZstdApart = 0x80000000u;
SLUICE_SHARED u32x4 sZstdRecords[kZstdRecords];
// A word for each byte of the group, at index zstdMadeAt(place). It is a link, the index in this
// array of the byte that it copies. Or, if its value is known: its own index + kZstdKnown, with the
// value in the upper 16 bits.
SLUICE_SHARED u32 sZstdMade[kZstdGroup + kZstdGroup / 32u];
SLUICE_SHARED u32 sZstdOpen[kZstdRounds + 1u]; // not 0: round i has chains to follow
SLUICE_SHARED u32 sZstdNext;                   // the first sequence of the next group

// Where the bytes of a block come from.
struct ZstdSource {
    u32 kind, begin, end; // kind of block; begin and end of its output
    u32 sequences, first; // number of sequences, and index of the first in the slot
    u32 most;             // the last index in the slot's sequences
    u32 taken;            // literals that sequences take
    u32 matchesEnd;       // where the last match ends in the block
    u32 frameBegin, r0, r1, r2;
    // Literal i is byte at + (i & mask) + i / share * skip of `literals`, and never after byte
    // `last`. share: literals of each stream; skip: padding after each stream.
    u64 literals;
    u32 at, mask, share, skip, last;
};

SLUICE_DEVICE ZstdSource zstdSource(SLUICE_IN(ZstdSlot) z, u32 block, u32 regionEnd) {
    ZstdSource s;
    u32 info = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_INFO),
        size = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SIZE), matches = 0u;
    s.kind = info & 3u;
    s.sequences = s.first = s.taken = 0u;
    s.most = z.sequenceRoom - 1u;
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

// Returns the index of a literal in s.literals.
SLUICE_DEVICE u32 zstdLiteralAt(SLUICE_IN(ZstdSource) s, u32 literal) {
    u32 at = s.at + (literal & s.mask);
    at += literal >= s.share ? s.skip : 0u;
    at += literal >= 2u * s.share ? s.skip : 0u;
    at += literal >= 3u * s.share ? s.skip : 0u;
    return min(at, s.last);
}

// Returns the reciprocal of an offset, times 2^32, for zstdModulo.
SLUICE_DEVICE u32 zstdInverse(u32 offset) { return 0xffffffffu / max(offset, 1u); }
// Returns past % offset for a byte that is `past` bytes, less than a block, after the beginning of
// a match. inverse: zstdInverse of the offset; it may be 0 if past < offset. The quotient from the
// product is right or one too small, which min() corrects.
SLUICE_DEVICE u32 zstdModulo(u32 past, u32 offset, u32 inverse) {
    u32 rest = past - highWord(mul64(past, inverse)) * offset;
    return min(rest, rest - offset);
}

// Marks where sequence i of the block begins in the group, and stores its record; i = s.sequences
// stands for the literals after the last match. first: the group's first sequence. base: the byte
// of the block at place 0. The group makes places [low, high). Returns whether sequence i +
// kInvocations begins in the group.
SLUICE_DEVICE bool zstdMark(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdSource) s, u32 block, u32 first,
                            u32 i, u32 base, u32 low, u32 high) {
    u32 size = s.end - s.begin, begin = s.matchesEnd, literal = s.taken, offset = 1u, end = size,
        nextLiteral = literal + end - begin, later = i + kInvocations;
    // All words are loaded at once, needed or not, so that the loads overlap. That also brings
    // sequence `later` into the cache for the next group.
    u32 last = max(s.sequences, 1u) - 1u, from = 2u * min(s.first + min(i, last), s.most),
        nextFrom = 2u * min(s.first + min(i + 1u, last), s.most);
    u32 x = loadWord(z.sequences, from), y = loadWord(z.sequences, from + 1u),
        nextX = loadWord(z.sequences, nextFrom), nextY = loadWord(z.sequences, nextFrom + 1u),
        laterX = loadWord(z.sequences, 2u * min(s.first + min(later, last), s.most)),
        laterBegin = later < s.sequences ? laterX & 0x1ffffu : s.matchesEnd;
    if (i < s.sequences) {
        begin = x & 0x1ffffu;
        literal = y & 0x1ffffu;
        offset = zstdResolve(x >> 17 | y >> 17 << 15, s.r0, s.r1, s.r2);
        nextLiteral = i < last ? nextY & 0x1ffffu : s.taken;
        end = i < last ? nextX & 0x1ffffu : s.matchesEnd;
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
    u32 firstAt = s.at + literal;
    bool apart = false;
    if (s.skip != 0u || s.mask == 0u) {
        u32 lastLiteral = max(nextLiteral, literal + 1u) - 1u;
        firstAt = zstdLiteralAt(s, literal);
        apart = zstdLiteralAt(s, lastLiteral) - firstAt != lastLiteral - literal || s.mask == 0u;
    }
    u32 inverse = ending - int(match) > int(offset) ? zstdInverse(offset) : 0u;
    sZstdRecords[number] = makeU32x4(match, offset | (apart ? kZstdApart : 0u),
                                     (apart ? literal : firstAt) - u32(place), inverse);
    u32 at = u32(max(place, 0)), word = (at + 31u) >> 5,
        words = (u32(min(max(ending, 0), int(high))) + 31u) >> 5;
    if (place > int(low)) atomicOr(SLUICE_AT(sZstdMarks[at >> 5]), 1u << (at & 31u));
    if (place <= int(low)) word = 0u;
    if (word < words) sZstdNumbers[word] = number;
    SLUICE_DONT_UNROLL
    for (++word; word < words; word += 16u) {
        SLUICE_UNROLL
        for (u32 k = 0u; k < 16u; ++k)
            if (word + k < words) sZstdNumbers[word + k] = number;
    }
    if (ending >= int(high)) sZstdNext = ending > int(high) ? i : i + 1u;
    return later <= s.sequences && int(laterBegin - base) < int(high);
}

// The words of sZstdMade for the bytes of an invocation (at), and the index of the first (first).
struct ZstdMade {
    u32 first, at[kZstdBytes];
};

// Returns the index of a place in sZstdMade. A word of padding after every 32 avoids bank
// conflicts, both if 32 invocations access neighbouring places and if they access every fourth
// place.
SLUICE_DEVICE u32 zstdMadeAt(u32 place) { return place + (place >> 5); }
// Returns the index of byte k of an invocation in sZstdMade. An invocation takes every 32nd byte,
// so that 32 neighbouring invocations load neighbouring bytes, records and links.
SLUICE_DEVICE u32 zstdOwnAt(SLUICE_IN(ZstdMade) made, u32 k) { return made.first + 33u * k; }

// Finds the source of the byte at `place`, whose sequence has this record. base: the byte of the
// output at place 0. Returns true if the byte is to be loaded from address `from`, false if it
// copies place `link`. With any = false there must be neither a dictionary nor the flag kZstdApart.
SLUICE_DEVICE bool zstdFind(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdSource) s, u32 base, u32 low,
                            u32 place, u32x4 record, bool any, SLUICE_OUT(u64, from),
                            SLUICE_OUT(u32, link)) {
    u32 offset = any ? record.y & ~kZstdApart : record.y, past = place - record.x,
        source = record.x - offset + zstdModulo(past, offset, record.w),
        literal = min(record.z + place, s.last);
    bool copied = int(past) >= 0;
    if (any && offset != record.y) literal = zstdLiteralAt(s, record.z + place);
    from = add64(copied ? z.destination : s.literals, wide(copied ? base + source : literal));
    // A source before the frame is in the dictionary.
    if (any && copied && int(base + source - s.frameBegin) < 0)
        from = add64(z.dictionary, wide(z.dictionarySize + base + source - s.frameBegin));
    link = min(source, place);
    return !copied || int(source) < int(low);
}

// Loads this invocation's bytes, or stores links for those that copy bytes of the group. `made`
// receives its words of sZstdMade. The addresses of four bytes are found before the first of them
// is loaded, so that the four loads overlap.
SLUICE_DEVICE void zstdMake(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdSource) s, u32 base, u32 low,
                            u32 high, SLUICE_INOUT(ZstdMade, made)) {
    u32 own = wgInvocation(), word = (own >> 5) * kZstdBytes, first = 32u * word + (own & 31u),
        below = (2u << (own & 31u)) - 2u, every = kZstdKnown;
    bool whole = low == 0u && high == kZstdGroup && z.dictionarySize == 0u;
    made.first = first + word;
    SLUICE_UNROLL
    for (u32 four = 0u; four < kZstdBytes; four += 4u) {
        u64 from[4];
        u32 loads = 0u, numbers[4], apart = 0u, link;
        SLUICE_UNROLL
        for (u32 i = 0u; i < 4u; ++i) {
            u32 k = four + i,
                number = sZstdNumbers[word + k] + u32(bitCount(sZstdMarks[word + k] & below));
            numbers[i] = min(number, kZstdRecords - 1u);
            u32x4 record = sZstdRecords[numbers[i]];
            bool loaded = zstdFind(z, s, base, low, first + 32u * k, record, false, from[i], link);
            made.at[k] = loaded ? kZstdKnown | zstdOwnAt(made, k) : zstdMadeAt(link);
            loads |= loaded ? 1u << i : 0u;
            apart |= record.y;
        }
        if (apart >= kZstdApart || !whole) {
            loads = 0u;
            SLUICE_UNROLL
            for (u32 i = 0u; i < 4u; ++i) {
                u32 k = four + i, place = first + 32u * k;
                bool inside = place - low < high - low,
                     loaded = zstdFind(z, s, base, low, place, sZstdRecords[numbers[i]], true,
                                       from[i], link);
                made.at[k] = loaded || !inside ? kZstdKnown | zstdOwnAt(made, k) : zstdMadeAt(link);
                loads |= loaded && inside ? 1u << i : 0u;
            }
        }
        SLUICE_UNROLL
        for (u32 i = 0u; i < 4u; ++i)
            if ((loads >> i & 1u) != 0u) made.at[four + i] += expandLoad(from[i]) << 16;
    }
    SLUICE_UNROLL
    for (u32 k = 0u; k < kZstdBytes; ++k) {
        sZstdMade[zstdOwnAt(made, k)] = made.at[k];
        every &= made.at[k];
    }
    if (every == 0u) sZstdOpen[0] = 1u;
}

// Follows the group's chains of links. Returns whether all have ended; kZstdRounds are enough.
SLUICE_DEVICE bool zstdFollow(SLUICE_INOUT(ZstdMade, made)) {
    SLUICE_DONT_UNROLL
    for (u32 round = 0u; round < kZstdRounds; ++round) {
        if (sZstdOpen[round] == 0u) return true;
        u32 every = kZstdKnown;
        SLUICE_UNROLL
        for (u32 k = 0u; k < kZstdBytes; ++k)
            every &= made.at[k];
        bool open = every == 0u;
        SLUICE_DONT_UNROLL
        for (u32 hop = 0u; hop < SLUICE_ZS_HOPS && every == 0u; ++hop) {
            every = kZstdKnown;
            // The word of a known byte leads to itself, so the loads need no condition. Another
            // invocation may store a word meanwhile. This race is harmless: the old and the new
            // word lead to the same value.
            SLUICE_UNROLL
            for (u32 k = 0u; k < kZstdBytes; ++k) {
                made.at[k] = sZstdMade[made.at[k] & (kZstdKnown - 1u)];
                every &= made.at[k];
            }
        }
        if (open) {
            SLUICE_UNROLL
            for (u32 k = 0u; k < kZstdBytes; ++k)
                sZstdMade[zstdOwnAt(made, k)] = made.at[k];
            if (every == 0u) sZstdOpen[round + 1u] = 1u;
        }
        wgBarrierShared();
    }
    return sZstdOpen[kZstdRounds] == 0u;
}

// Copies places [low, high) of the group from sZstdMade to the output.
SLUICE_DEVICE void zstdStoreGroup(SLUICE_IN(ZstdSlot) z, u32 base, u32 low, u32 high) {
    SLUICE_UNROLL
    for (u32 k = 0u; k < kZstdBytes / 4u; ++k) {
        u32 place = 4u * (wgInvocation() + k * kInvocations), at = zstdMadeAt(place), value = 0u;
        SLUICE_UNROLL
        for (u32 i = 0u; i < 4u; ++i)
            value |= (sZstdMade[at + i] >> 16 & 255u) << 8u * i;
        u32 from = max(place, low) - place, to = min(max(high, place) - place, 4u);
        if (from < to) storeBytes(add64(z.destination, wide(base + place)), value, from, to);
    }
}

// Stores places [low, high) of a group of a raw or RLE block.
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
// sequence of this byte, and becomes the sequence of the first byte after the group.
SLUICE_DEVICE u32 zstdExpandGroup(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdSource) s, u32 block,
                                  u32 position, SLUICE_INOUT(u32, next)) {
    u32 own = wgInvocation(), base = position & ~3u, low = position & 3u,
        high = min(s.end - base, kZstdGroup);
    if (s.kind != SLUICE_ZS_COMPRESSED) {
        zstdCopyGroup(z, s, base, low, high);
        return base + high;
    }
    if (own < kZstdMarks) sZstdMarks[own] = 0u;
    if (own <= kZstdRounds) sZstdOpen[own] = 0u;
    if (own == 0u) sZstdNext = next;
    expandBarrier();
    bool more = true;
    SLUICE_DONT_UNROLL
    for (u32 i = own; i < kZstdRecords && more && next + i <= s.sequences; i += kInvocations)
        more = zstdMark(z, s, block, next, next + i, base - s.begin, low, high);
    wgBarrierShared();
    next = sZstdNext;
    ZstdMade made;
    zstdMake(z, s, base, low, high, made);
    wgBarrierShared();
    if (!zstdFollow(made)) zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
    zstdStoreGroup(z, base, low, high);
    return base + high;
}

// `index` is the number of the workgroup, and of its region in the turn.
SLUICE_DEVICE void zstdExpand(SLUICE_IN(ZstdParams) p, u32 index) {
    if (index >= zstdTurnRegions(p)) return;
    ZstdSlot z = zstdSlot(p, index);
    // After a fault in this phase, the blocks before it are still made: they may have earlier
    // faults, and the checksums of earlier frames are still compared.
    if (!zstdGoesOn(z, SLUICE_ZS_PHASE_OUTPUT)) return;
    u32 blocks = min(loadStoredWord(z.head, SLUICE_ZS_HEAD_PLACED), z.blockRoom),
        end = min(loadStoredWord(z.head, SLUICE_ZS_HEAD_POSITION), z.decoded),
        block = loadStoredWord(z.head, SLUICE_ZS_HEAD_EXPAND_BLOCK),
        position = loadStoredWord(z.head, SLUICE_ZS_HEAD_EXPAND_AT),
        next = loadStoredWord(z.head, SLUICE_ZS_HEAD_EXPAND_NEXT);
    // Groups of raw blocks have no barrier, and the first invocation stores these words again.
    wgBarrierShared();
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
