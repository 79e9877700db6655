// SPDX-License-Identifier: MIT OR Apache-2.0
// Steps of the Zstandard decode that make the bytes of large regions and check offsets (phase 4 in
// docs/format.md, 12.3). An invocation makes four bytes. zstd_expand.h makes the bytes of other
// regions.
//
// LINK finds the block and the sequence of each byte by two binary searches. It links the byte to
// its value or to the earlier byte that it copies. FOLLOW replaces each link by one several hops
// further on (pointer doubling), so that the number of passes is logarithmic in the length of the
// longest chain, whatever the input. An invocation may read a link while another replaces it. That
// race is harmless, since the old and the new link lead to the same value. FINISH writes the
// values.
//
// The includer provides storeBytes(target, value, first, end), which stores bytes [first, end) of a
// word.
#ifndef SLUICE_KERNELS_ZSTD_BYTES_H
#define SLUICE_KERNELS_ZSTD_BYTES_H

#include "zstd_slot.h"

SLUICE_KERNEL_BEGIN

// Returns the last block that begins at or before byte `position` of the output; count: blocks, at
// least 1.
SLUICE_DEVICE u32 zstdBlockAt(SLUICE_IN(ZstdSlot) z, u32 position, u32 count) {
    u32 at = 0u;
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < 20u; ++k) {
        u32 next = at + (1u << (19u - k));
        if (next < count && zstdBlockWord(z, next, SLUICE_ZS_BLOCK_BEGIN) <= position) at = next;
    }
    return at;
}

// A sequence: where it begins in its block's output, its first literal, its offset, and where the
// next sequence begins in the output (end) and in the literals (literalEnd).
struct ZstdPiece {
    u32 begin, literal, offset, end, literalEnd;
};

SLUICE_DEVICE ZstdPiece zstdPiece(SLUICE_IN(ZstdSlot) z, u32 block, u32 sequence) {
    u32 count = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES),
        at = 2u * (zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES_AT) + sequence);
    at = min(at, 2u * z.sequenceRoom - 2u);
    u32 low = loadWord(z.sequences, at), high = loadWord(z.sequences, at + 1u);
    ZstdPiece s;
    s.begin = low & 0x1ffffu;
    s.literal = high & 0x1ffffu;
    s.offset = low >> 17 | high >> 17 << 15;
    if (sequence + 1u < count && at + 3u < 2u * z.sequenceRoom) {
        s.end = loadWord(z.sequences, at + 2u) & 0x1ffffu;
        s.literalEnd = loadWord(z.sequences, at + 3u) & 0x1ffffu;
    } else {
        s.literalEnd = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_TAKEN);
        s.end = s.literalEnd + zstdBlockWord(z, block, SLUICE_ZS_BLOCK_MATCHES);
    }
    return s;
}

// Returns the last sequence of the block that begins at or before byte `at` of its output.
SLUICE_DEVICE u32 zstdSequenceAt(SLUICE_IN(ZstdSlot) z, u32 block, u32 at, u32 count) {
    u32 first = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES_AT), found = 0u;
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < 16u; ++k) {
        u32 next = found + (1u << (15u - k));
        if (next < count && first + next < z.sequenceRoom &&
            (loadWord(z.sequences, 2u * (first + next)) & 0x1ffffu) <= at)
            found = next;
    }
    return found;
}

SLUICE_DEVICE u32 zstdLiteral(SLUICE_IN(ZstdSlot) z, u32 block, u32 info, u32 literal) {
    u32 kind = info >> SLUICE_ZS_INFO_LITERALS & 3u,
        at = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_LITERALS);
    if (kind == SLUICE_ZS_LITERALS_RAW) return zstdByte(z, at + literal);
    if (kind == SLUICE_ZS_LITERALS_RLE) return zstdByte(z, at);
    u32 streams = (info & SLUICE_ZS_INFO_FOUR_STREAMS) != 0u ? 4u : 1u,
        count = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SIZE),
        stream = literal / max(zstdStreamShare(count, streams), 1u);
    u32 place = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_LITERALS_AT) +
                stream * zstdStreamRoom(count, streams) + literal -
                stream * zstdStreamShare(count, streams);
    return loadByte(z.literals, min(place, 4u * z.literalRoom - 1u));
}

// Returns the link of byte `position` of the output: SLUICE_ZS_VALUE | the byte's value, or the
// position of the byte that it copies.
SLUICE_DEVICE u32 zstdLink(SLUICE_IN(ZstdSlot) z, u32 position, u32 blocks) {
    u32 block = zstdBlockAt(z, position, blocks),
        info = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_INFO), kind = info & 3u,
        content = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_CONTENT),
        begin = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_BEGIN), at = position - begin;
    if (kind == SLUICE_ZS_RAW) return SLUICE_ZS_VALUE | zstdByte(z, content + at);
    if (kind == SLUICE_ZS_RLE) return SLUICE_ZS_VALUE | zstdByte(z, content);
    u32 count = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES);
    if (count == 0u) return SLUICE_ZS_VALUE | zstdLiteral(z, block, info, at);
    ZstdPiece s = zstdPiece(z, block, zstdSequenceAt(z, block, at, count));
    u32 match = s.begin + s.literalEnd - s.literal;
    if (at < match) return SLUICE_ZS_VALUE | zstdLiteral(z, block, info, s.literal + at - s.begin);
    if (at >= s.end)
        return SLUICE_ZS_VALUE | zstdLiteral(z, block, info, s.literalEnd + at - s.end);
    u32 offset = zstdResolve(s.offset, zstdBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS),
                             zstdBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + 1u),
                             zstdBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + 2u));
    // An offset may reach before the frame, into the content of the dictionary.
    u32 frame = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_FRAME_BEGIN), done = position - frame,
        reach = begin + match - frame + zstdDictionaryContent(z);
    if (offset - 1u < reach && offset <= done) return position - offset;
    if (offset - 1u < reach)
        return SLUICE_ZS_VALUE | loadByte(z.dictionary, z.dictionarySize - (offset - done));
    zstdFault(z, SLUICE_ZS_PHASE_OUTPUT, block, 1u, SLUICE_ST_BAD_OFFSET);
    return SLUICE_ZS_VALUE;
}

// `thread` is the invocation's number in the dispatch.
SLUICE_DEVICE void zstdBytes(SLUICE_IN(ZstdParams) p, u32 thread) {
    u32 words = (p.maxRegionBytes + 3u) >> 2, all = p.begin + thread, index = all / words,
        word = all % words;
    if (index >= zstdTurnRegions(p)) return;
    ZstdSlot z = zstdSlot(p, index);
    // After a fault in this phase, the blocks before it are still made: they may have earlier
    // faults, and the checksums of earlier frames are still compared.
    if (!zstdGoesOn(z, SLUICE_ZS_PHASE_OUTPUT)) return;
    u32 end = min(loadStoredWord(z.head, SLUICE_ZS_HEAD_POSITION), z.decoded), first = 4u * word;
    if (first >= end) return;
    u32 count = min(end - first, 4u), value = 0u;
    bool unknown = false;
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < count; ++k) {
        if (p.pass == SLUICE_ZS_LINK) {
            u32 placed = min(loadStoredWord(z.head, SLUICE_ZS_HEAD_PLACED), z.blockRoom);
            u32 link = zstdLink(z, first + k, placed);
            storeWord(z.links, first + k, link);
            continue;
        }
        u32 link = loadStoredWord(z.links, first + k);
        if (p.pass == SLUICE_ZS_FOLLOW && link < SLUICE_ZS_VALUE) {
            SLUICE_DONT_UNROLL
            for (u32 hop = 0u; hop < SLUICE_ZS_HOPS && link < SLUICE_ZS_VALUE; ++hop)
                link = loadStoredWord(z.links, min(link, z.decoded - 1u));
            storeWord(z.links, first + k, link);
        }
        value |= (link & 255u) << 8u * k;
        unknown = unknown || link < SLUICE_ZS_VALUE;
    }
    if (p.pass == SLUICE_ZS_FINISH) {
        if (unknown)
            zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
        else
            storeBytes(add64(z.destination, wide(first)), value, 0u, count);
    }
    if (!sgLoopsGoOn()) zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
}

SLUICE_KERNEL_END
#endif
