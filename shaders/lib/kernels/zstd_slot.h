// SPDX-License-Identifier: MIT OR Apache-2.0
// All steps of the Zstandard decode share slots of scratch (layout/zstd.h), faults, and the
// bytes of a region's source at any alignment. GLSL and CUDA compile the steps from one text each;
// docs/notes/zstd.md explains them.
//
// The includer provides the files of compat.h and regions (region_params.glsl, region.cuh).
#ifndef SLUICE_KERNELS_ZSTD_SLOT_H
#define SLUICE_KERNELS_ZSTD_SLOT_H

#include "../layout/zstd.h"
#include "../compat.h"

SLUICE_KERNEL_BEGIN

struct ZstdSlot {
    u64 head, blocks, entries, literals, sequences, links;
    u64 words; // the word with the first byte of the source
    u32 shift; // bytes of this word before that byte
    u32 size;  // of the source, in bytes
    u32 decoded;
    u64 destination;
    u64 dictionary, dictionaryHead; // the bytes, and what is known of them
    u32 dictionarySize;
    // How many blocks, words of literals and sequences the slot has room for. Each step keeps its
    // accesses within these, whatever the steps before have left.
    u32 blockRoom, literalRoom, sequenceRoom;
};

// Returns slot `index` of the turn. The source may be accessed only if the region is valid.
SLUICE_DEVICE ZstdSlot zstdSlot(SLUICE_IN(ZstdParams) p, u32 index) {
    ZstdSlot z;
    u32 words = (p.maxRegionBytes + 3u) >> 2;
    z.dictionaryHead = u64Of(p.scratch);
    z.dictionary = u64Of(p.dictionary);
    z.dictionarySize = p.dictionarySize;
    z.head = add64(add64(z.dictionaryHead, wide(SLUICE_ZS_DICTIONARY_BYTES + SLUICE_ZS_TURN_BYTES)),
                   scale64(u64Of(p.slotBytes), index));
    z.blocks = add64(z.head, wide(SLUICE_ZS_HEAD_BYTES));
    z.entries = add64(z.head, wide(SLUICE_ZS_ENTRIES_AT(p.maxBlocks)));
    z.literals = add64(z.entries, mul64(p.groups, 2u * SLUICE_ZS_ENTRY_BYTES));
    z.sequences =
        add64(add64(z.literals, mul64(words, 4u)), mul64(p.maxBlocks, SLUICE_ZS_LITERALS_EXTRA));
    z.links = add64(z.sequences, mul64(p.maxRegionBytes / SLUICE_ZS_MIN_MATCH + 1u, 8u));
    Region region = loadRegion(p, p.firstRegion + index);
    z.words = wordOf(region.source);
    z.shift = lowWord(region.source) & 3u;
    z.size = lowWord(region.sourceSize);
    z.decoded = lowWord(region.size);
    z.destination = region.destination;
    z.blockRoom = p.maxBlocks;
    z.literalRoom = words + p.maxBlocks * (SLUICE_ZS_LITERALS_EXTRA / 4u);
    z.sequenceRoom = p.maxRegionBytes / SLUICE_ZS_MIN_MATCH + 1u;
    return z;
}

SLUICE_DEVICE u64 zstdTurn(SLUICE_IN(ZstdParams) p) {
    return add64(u64Of(p.scratch), wide(SLUICE_ZS_DICTIONARY_BYTES));
}
// Returns the address of entry i of the turn's order.
SLUICE_DEVICE u64 zstdOrderAt(SLUICE_IN(ZstdParams) p, u32 i) {
    u64 slot = add64(add64(zstdTurn(p), wide(SLUICE_ZS_TURN_BYTES)),
                     scale64(u64Of(p.slotBytes), min(i / p.maxBlocks, p.slots - 1u)));
    return add64(slot, wide(SLUICE_ZS_ORDER_AT(p.maxBlocks) + 4u * (i % p.maxBlocks)));
}
SLUICE_DEVICE u32 zstdOrdered(SLUICE_IN(ZstdParams) p, u32 i) {
    return min(loadStoredWord(zstdOrderAt(p, i), 0u), p.slots * p.maxBlocks - 1u);
}

// Returns the slot with the bytes of the dictionary in place of the region's source.
SLUICE_DEVICE ZstdSlot zstdDictionarySlot(SLUICE_IN(ZstdSlot) slot) {
    ZstdSlot z = slot;
    z.words = z.dictionary;
    z.shift = 0u;
    z.size = z.dictionarySize;
    return z;
}
// Returns a word of what is known of the dictionary, 0 without one.
SLUICE_DEVICE u32 zstdDictionaryWord(SLUICE_IN(ZstdSlot) z, u32 word) {
    return z.dictionarySize == 0u ? 0u : loadStoredWord(z.dictionaryHead, word);
}
SLUICE_DEVICE u32 zstdDictionaryContent(SLUICE_IN(ZstdSlot) z) {
    return z.dictionarySize - zstdDictionaryWord(z, SLUICE_ZS_DICTIONARY_CONTENT);
}

// Whether the region is one that may be decoded.
SLUICE_DEVICE bool zstdAllowed(SLUICE_IN(ZstdParams) p, u32 index) {
    Region region = loadRegion(p, index);
    return sourceInside(p, region, SLUICE_ZS_MAX_SOURCE) &&
           (lowWord(region.destination) & 3u) == 0u && highWord(region.size) == 0u &&
           lowWord(region.size) <= p.maxRegionBytes &&
           inside64(region.destination, region.size, u64Of(p.destination),
                    u64Of(p.destinationSize));
}

SLUICE_DEVICE void zstdFault(SLUICE_IN(ZstdSlot) z, u32 phase, u32 block, u32 order, u32 status) {
    atomicMinWord(z.head, SLUICE_ZS_HEAD_FAULT, SLUICE_ZS_FAULT(phase, block, order, status));
}

// Returns whether no fault is known of a phase before `phase`, so that the step of that phase has
// something to do.
SLUICE_DEVICE bool zstdGoesOn(SLUICE_IN(ZstdSlot) z, u32 phase) {
    return loadStoredWord(z.head, SLUICE_ZS_HEAD_FAULT) >= phase << 30;
}

SLUICE_DEVICE u32 zstdBlockWord(SLUICE_IN(ZstdSlot) z, u32 block, u32 word) {
    return loadStoredWord(z.blocks, min(block, z.blockRoom - 1u) * SLUICE_ZS_BLOCK_WORDS + word);
}
// Returns how many blocks the walk has found.
SLUICE_DEVICE u32 zstdBlocks(SLUICE_IN(ZstdSlot) z) {
    return min(loadStoredWord(z.head, SLUICE_ZS_HEAD_BLOCKS), z.blockRoom);
}
SLUICE_DEVICE void zstdSetBlockWord(SLUICE_IN(ZstdSlot) z, u32 block, u32 word, u32 value) {
    storeWord(z.blocks, min(block, z.blockRoom - 1u) * SLUICE_ZS_BLOCK_WORDS + word, value);
}

// Returns the 4 bytes at offset `at` of the source; those behind its end are meaningless.
SLUICE_DEVICE u32 zstdWord(SLUICE_IN(ZstdSlot) z, u32 at) {
    u32 first = at + z.shift, words = (z.shift + z.size + 3u) >> 2, word = first >> 2, low = 0u,
        high = 0u;
    if (word < words) low = loadWord(z.words, word);
    if (word + 1u < words) high = loadWord(z.words, word + 1u);
    return funnelRight(low, high, (first & 3u) * 8u);
}
SLUICE_DEVICE u32 zstdByte(SLUICE_IN(ZstdSlot) z, u32 at) { return zstdWord(z, at) & 255u; }

// A stream of bits that is read from its end towards its beginning. Positions count bits from
// `words` on; those below `begin` are not in the stream, which only their comparison with `begin`
// shows.
struct ZstdBits {
    u64 words;
    u32 count; // of words
    int begin, end;
    bool valid; // the last byte has the bit that marks the end
};

SLUICE_DEVICE ZstdBits zstdBits(SLUICE_IN(ZstdSlot) z, u32 at, u32 size) {
    ZstdBits bits;
    u32 first = at + z.shift;
    bits.words = add64(z.words, wide(first & ~3u));
    bits.begin = int((first & 3u) * 8u);
    bits.count = ((first & 3u) + size + 3u) >> 2;
    u32 last = size == 0u ? 0u : zstdByte(z, at + size - 1u);
    bits.valid = last != 0u;
    bits.end = bits.begin + int((max(size, 1u) - 1u) * 8u) + findMSB(max(last, 1u));
    return bits;
}

// Returns the 32 bits from position `at` on, which may lie outside the stream.
SLUICE_DEVICE u32 zstdWindow(SLUICE_IN(ZstdBits) bits, int at) {
    u32 word = u32(at >> 5), low = 0u, high = 0u;
    if (word < bits.count) low = loadWord(bits.words, word);
    if (word + 1u < bits.count) high = loadWord(bits.words, word + 1u);
    return funnelRight(low, high, u32(at) & 31u);
}

// Returns how many symbols a table of sequences may have, and the most log2 of its states.
SLUICE_DEVICE u32 zstdSymbols(u32 kind) {
    return kind == SLUICE_ZS_LITERAL_LENGTHS ? SLUICE_ZS_LITERAL_LENGTH_SYMBOLS
           : kind == SLUICE_ZS_OFFSETS       ? SLUICE_ZS_OFFSET_SYMBOLS
                                             : SLUICE_ZS_MATCH_LENGTH_SYMBOLS;
}
SLUICE_DEVICE u32 zstdMostLog(u32 kind) {
    return kind == SLUICE_ZS_OFFSETS ? SLUICE_ZS_OFFSET_LOG : SLUICE_ZS_LENGTH_LOG;
}

// Returns the lowest n bits; n: 0 .. 31.
SLUICE_DEVICE u32 zstdLow(u32 value, u32 n) { return value & ((1u << n) - 1u); }

// Returns how many literals the first streams have each, and the bytes that each has in the slot.
SLUICE_DEVICE u32 zstdStreamShare(u32 literals, u32 streams) {
    return (literals + streams - 1u) / streams;
}
SLUICE_DEVICE u32 zstdStreamRoom(u32 literals, u32 streams) {
    return (zstdStreamShare(literals, streams) + 3u) & ~3u;
}

// Returns a new value of a repeated offset: `value`, minus n. Both markers and numbers stay what
// they are; an offset that would become less than 1 becomes 0, which is no offset.
SLUICE_DEVICE u32 zstdMinus(u32 value, u32 n) {
    if (value < SLUICE_ZS_MARKERS) return value > n ? value - n : 0u;
    return value < SLUICE_ZS_TOO_FAR ? value + n : value;
}
// Returns what a marker stands for, if the repeated offsets are r0 to r2, or a number as it is.
SLUICE_DEVICE u32 zstdResolve(u32 value, u32 r0, u32 r1, u32 r2) {
    if (value < SLUICE_ZS_MARKERS || value >= SLUICE_ZS_TOO_FAR) return value;
    u32 which = (value - SLUICE_ZS_MARKERS) >> 16;
    return zstdMinus(which == 0u   ? r0
                     : which == 1u ? r1
                                   : r2,
                     (value - SLUICE_ZS_MARKERS) & 0xffffu);
}
SLUICE_DEVICE u32 zstdMarker(u32 which) { return SLUICE_ZS_MARKERS + (which << 16); }

SLUICE_KERNEL_END
#endif
