// SPDX-License-Identifier: MIT OR Apache-2.0
// All steps of the Zstandard decode use this file: slots of scratch (layout/zstd.h), faults, and
// reads of a region's source at any alignment. docs/notes/zstd.md explains the steps, which GLSL
// and CUDA compile from the same text.
//
// The includer provides the functions that compat.h names, and regions (region_params.glsl,
// region.cuh).
#ifndef SLUICE_KERNELS_ZSTD_SLOT_H
#define SLUICE_KERNELS_ZSTD_SLOT_H

#include "../layout/zstd.h"
#include "../compat.h"

SLUICE_KERNEL_BEGIN

struct ZstdSlot {
    u64 head, blocks, literals, sequences, links;
    u32 region;  // its number in the list of regions
    u64 words;   // address of the word with the first byte of the source
    u32 shift;   // bytes of this word before the first byte of the source
    u32 size;    // of the source, in bytes
    u32 decoded; // bytes that the region decodes to
    u64 destination;
    u64 dictionary, dictionaryHead; // its bytes, and the words SLUICE_ZS_DICTIONARY_*
    u32 dictionarySize;
    // How many blocks, words of literals and sequences the slot has room for. Each step keeps its
    // accesses within these limits, whatever values earlier steps have stored.
    u32 blockRoom, literalRoom, sequenceRoom;
};

SLUICE_DEVICE u64 zstdTurn(SLUICE_IN(ZstdParams) p) {
    return add64(u64Of(p.scratch), wide(SLUICE_ZS_DICTIONARY_BYTES));
}
SLUICE_DEVICE u32 zstdTurnRegions(SLUICE_IN(ZstdParams) p) {
    return min(loadStoredWord(zstdTurn(p), SLUICE_ZS_TURN_COUNT), p.slots);
}

// zstdUnit returns the address of unit `unit` of scratch, counted from the end of the turn's words.
// The next functions say where the arrays there begin, most of them as units (layout/zstd.h).
SLUICE_DEVICE u64 zstdUnit(SLUICE_IN(ZstdParams) p, u32 unit) {
    return add64(add64(zstdTurn(p), wide(SLUICE_ZS_TURN_BYTES)), mul64(unit, SLUICE_ZS_UNIT));
}
SLUICE_DEVICE u32 zstdFirstEntry(SLUICE_IN(ZstdParams) p) {
    return SLUICE_ZS_ORDER_UNITS(p.fullSlots, p.maxBlocks);
}
SLUICE_DEVICE u32 zstdPool(SLUICE_IN(ZstdParams) p) {
    return zstdFirstEntry(p) + 2u * p.slots * p.groups; // an entry is a unit
}
SLUICE_DEVICE u32 zstdPoolUnits(SLUICE_IN(ZstdParams) p) {
    return p.fullSlots * SLUICE_ZS_MOST_UNITS(p.maxRegionBytes, p.maxBlocks, p.flags);
}
SLUICE_DEVICE u64 zstdHead(SLUICE_IN(ZstdParams) p, u32 region) {
    return zstdUnit(p, zstdPool(p) + zstdPoolUnits(p) + min(region, p.roundRegions - 1u));
}
// Returns the memory for FSE descriptions of lane group `group` of zstd_sequences. zstd_literals
// passes the numbers of its lane groups plus p.slots * p.groups, so that its memory comes after
// that.
SLUICE_DEVICE u64 zstdEntries(SLUICE_IN(ZstdParams) p, u32 group) {
    return zstdUnit(p, zstdFirstEntry(p) + group);
}
// Returns the address of entry i of the turn's sorted list of blocks.
SLUICE_DEVICE u64 zstdOrderAt(SLUICE_IN(ZstdParams) p, u32 i) {
    return add64(zstdUnit(p, 0u), mul64(min(i, p.fullSlots * p.maxBlocks - 1u), 4u));
}
// Returns entry i of this list: slot * maxBlocks + block. Returns SLUICE_ZS_NO_BLOCK if the entry is
// no block of the turn. That happens only if a driver has left a loop of zstdOrder early.
SLUICE_DEVICE u32 zstdOrdered(SLUICE_IN(ZstdParams) p, u32 i) {
    u32 own = loadStoredWord(zstdOrderAt(p, i), 0u), slot = own / p.maxBlocks;
    if (slot >= zstdTurnRegions(p)) return SLUICE_ZS_NO_BLOCK;
    u64 head = zstdHead(p, loadStoredWord(zstdTurn(p), SLUICE_ZS_TURN_FIRST) + slot);
    return own % p.maxBlocks < loadStoredWord(head, SLUICE_ZS_HEAD_BLOCKS) ? own
                                                                           : SLUICE_ZS_NO_BLOCK;
}

// Returns where the data of region `index` of the round are. Its part of the pool may be accessed
// only in the turn that decodes it, and its source only if the region is valid.
SLUICE_DEVICE ZstdSlot zstdRegion(SLUICE_IN(ZstdParams) p, u32 index) {
    ZstdSlot z;
    z.dictionaryHead = u64Of(p.scratch);
    z.dictionary = u64Of(p.dictionary);
    z.dictionarySize = p.dictionarySize;
    z.head = zstdHead(p, index);
    z.blockRoom = loadStoredWord(z.head, SLUICE_ZS_HEAD_BLOCK_ROOM);
    u32 literals = loadStoredWord(z.head, SLUICE_ZS_HEAD_LITERAL_UNITS),
        sequences = loadStoredWord(z.head, SLUICE_ZS_HEAD_SEQUENCE_UNITS);
    // Before a region's first turn, its head has meaningless words, so this index is limited.
    u32 at = min(loadStoredWord(z.head, SLUICE_ZS_HEAD_POOL_AT), zstdPoolUnits(p) - 1u);
    z.blocks = zstdUnit(p, zstdPool(p) + at);
    z.literals = add64(z.blocks, mul64(SLUICE_ZS_BLOCK_UNITS(z.blockRoom), SLUICE_ZS_UNIT));
    z.sequences = add64(z.literals, mul64(literals, SLUICE_ZS_UNIT));
    z.links = add64(z.sequences, mul64(sequences, SLUICE_ZS_UNIT));
    z.literalRoom = literals * (SLUICE_ZS_UNIT / 4u);
    z.sequenceRoom = sequences * (SLUICE_ZS_UNIT / 8u);
    z.region = p.firstRegion + min(index, p.roundRegions - 1u);
    Region region = loadRegion(p, z.region);
    z.words = wordOf(region.source);
    z.shift = lowWord(region.source) & 3u;
    z.size = lowWord(region.sourceSize);
    z.decoded = lowWord(region.size);
    z.destination = region.destination;
    return z;
}
// Does what zstdRegion does for the region of a slot.
SLUICE_DEVICE ZstdSlot zstdSlot(SLUICE_IN(ZstdParams) p, u32 slot) {
    return zstdRegion(p, loadStoredWord(zstdTurn(p), SLUICE_ZS_TURN_FIRST) + slot);
}

// Returns the slot with the bytes of the dictionary in place of the region's source.
SLUICE_DEVICE ZstdSlot zstdDictionarySlot(SLUICE_IN(ZstdSlot) slot) {
    ZstdSlot z = slot;
    z.words = z.dictionary;
    z.shift = 0u;
    z.size = z.dictionarySize;
    return z;
}
// Returns word SLUICE_ZS_DICTIONARY_... of the dictionary, or 0 if there is no dictionary.
SLUICE_DEVICE u32 zstdDictionaryWord(SLUICE_IN(ZstdSlot) z, u32 word) {
    return z.dictionarySize == 0u ? 0u : loadStoredWord(z.dictionaryHead, word);
}
SLUICE_DEVICE u32 zstdDictionaryContent(SLUICE_IN(ZstdSlot) z) {
    return z.dictionarySize - zstdDictionaryWord(z, SLUICE_ZS_DICTIONARY_CONTENT);
}

// Returns whether the region lies in the buffers, has allowed sizes, and is aligned.
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

// Returns whether no phase before `phase` has found a fault. Otherwise `phase` need not run.
SLUICE_DEVICE bool zstdGoesOn(SLUICE_IN(ZstdSlot) z, u32 phase) {
    return loadStoredWord(z.head, SLUICE_ZS_HEAD_FAULT) >= phase << 30;
}

SLUICE_DEVICE u32 zstdBlockWord(SLUICE_IN(ZstdSlot) z, u32 block, u32 word) {
    return loadStoredWord(z.blocks, min(block, z.blockRoom - 1u) * SLUICE_ZS_BLOCK_WORDS + word);
}
// Returns how many blocks of the region the walk over its headers has found.
SLUICE_DEVICE u32 zstdBlocks(SLUICE_IN(ZstdSlot) z) {
    return min(loadStoredWord(z.head, SLUICE_ZS_HEAD_BLOCKS), z.blockRoom);
}
SLUICE_DEVICE void zstdSetBlockWord(SLUICE_IN(ZstdSlot) z, u32 block, u32 word, u32 value) {
    storeWord(z.blocks, min(block, z.blockRoom - 1u) * SLUICE_ZS_BLOCK_WORDS + word, value);
}

// Returns whether a block's literals are coded by a Huffman tree.
SLUICE_DEVICE bool zstdHasHuffman(SLUICE_IN(ZstdSlot) z, u32 block) {
    u32 info = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_INFO);
    return (info & 3u) == SLUICE_ZS_COMPRESSED &&
           (info >> SLUICE_ZS_INFO_LITERALS & 3u) >= SLUICE_ZS_LITERALS_HUFFMAN;
}

// Returns the 4 bytes at offset `at` of the source; bytes past its end have any value.
SLUICE_DEVICE u32 zstdWord(SLUICE_IN(ZstdSlot) z, u32 at) {
    u32 first = at + z.shift, words = (z.shift + z.size + 3u) >> 2, word = first >> 2, low = 0u,
        high = 0u;
    if (word < words) low = loadWord(z.words, word);
    if (word + 1u < words) high = loadWord(z.words, word + 1u);
    return funnelRight(low, high, (first & 3u) * 8u);
}
SLUICE_DEVICE u32 zstdByte(SLUICE_IN(ZstdSlot) z, u32 at) { return zstdWord(z, at) & 255u; }

// A stream of bits that is read from its end towards its beginning. A position is the number of a
// bit from `words` on. Bits below `begin` can be read but are not in the stream, so the caller must
// compare positions with `begin`.
struct ZstdBits {
    u64 words;
    u32 count; // of words
    int begin, end;
    bool valid; // the last byte has a 1 bit; its highest one ends the stream
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

// Returns how many symbols table `kind` of sequences may have.
SLUICE_DEVICE u32 zstdSymbols(u32 kind) {
    return kind == SLUICE_ZS_LITERAL_LENGTHS ? SLUICE_ZS_LITERAL_LENGTH_SYMBOLS
           : kind == SLUICE_ZS_OFFSETS       ? SLUICE_ZS_OFFSET_SYMBOLS
                                             : SLUICE_ZS_MATCH_LENGTH_SYMBOLS;
}
// Returns log2 of the most states that table `kind` may have.
SLUICE_DEVICE u32 zstdMostLog(u32 kind) {
    return kind == SLUICE_ZS_OFFSETS ? SLUICE_ZS_OFFSET_LOG : SLUICE_ZS_LENGTH_LOG;
}

// Returns the lowest n bits; n: 0 .. 31.

// Returns how many literals each stream has; the last may have fewer.
SLUICE_DEVICE u32 zstdStreamShare(u32 literals, u32 streams) {
    return (literals + streams - 1u) / streams;
}
// Returns how many bytes of scratch the decoded literals of each stream take, a multiple of 4.
SLUICE_DEVICE u32 zstdStreamRoom(u32 literals, u32 streams) {
    return (zstdStreamShare(literals, streams) + 3u) & ~3u;
}

// Subtracts n from `value`, an offset or a marker (SLUICE_ZS_MARKERS). An offset that would become
// less than 1 becomes 0, which is invalid. A marker stays a marker and adds n to what it subtracts.
SLUICE_DEVICE u32 zstdMinus(u32 value, u32 n) {
    if (value < SLUICE_ZS_MARKERS) return value > n ? value - n : 0u;
    return value < SLUICE_ZS_TOO_FAR ? value + n : value;
}
// Returns the offset that a marker stands for if the repeated offsets are r0, r1 and r2. Other
// values are returned unchanged.
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
