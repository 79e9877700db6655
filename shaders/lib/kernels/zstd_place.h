// SPDX-License-Identifier: MIT OR Apache-2.0
// A step of the Zstandard decode, the sizes of phase 4: one invocation a region adds up what its
// blocks decode to, which gives each block its place in the output, checks the sizes, and finds the
// repeated offsets with which each block begins.
#ifndef SLUICE_KERNELS_ZSTD_PLACE_H
#define SLUICE_KERNELS_ZSTD_PLACE_H

#include "zstd_slot.h"

SLUICE_KERNEL_BEGIN

// The sizes of what zstdPlace has placed.
struct ZstdPlaces {
    u32 position, frameBegin;
};

// Checks the size of a block and returns a status; `end` receives where its output ends.
SLUICE_DEVICE u32 zstdCheckSize(SLUICE_IN(ZstdSlot) z, u32 block, SLUICE_IN(ZstdPlaces) at,
                                bool ends, SLUICE_OUT(u32, end)) {
    u32 info = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_INFO),
        size = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SIZE);
    end = at.position;
    if ((info & 3u) == SLUICE_ZS_COMPRESSED) {
        u32 taken = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_TAKEN);
        if (taken == SLUICE_ZS_NOT_DECODED) return SLUICE_ST_INTERNAL;
        if (taken > size) return SLUICE_ST_BAD_CODE;
        size += zstdBlockWord(z, block, SLUICE_ZS_BLOCK_MATCHES);
        if (size > info >> SLUICE_ZS_INFO_MAXIMUM) return SLUICE_ST_LIMIT;
    }
    u32 content = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_CONTENT_SIZE),
        room = z.decoded - at.position, inFrame = at.position - at.frameBegin + size;
    bool hasSize = (info & SLUICE_ZS_INFO_HAS_SIZE) != 0u,
         last = (info & SLUICE_ZS_INFO_LAST) != 0u;
    if (size > room || (hasSize && inFrame > content)) return SLUICE_ST_TOO_LONG;
    if ((ends && size < room) || (last && hasSize && inFrame < content)) return SLUICE_ST_TOO_SHORT;
    end = at.position + size;
    return SLUICE_ST_OK;
}

// Sorts the blocks of the turn by their numbers of sequences, in three passes. An invocation has a
// block.
SLUICE_DEVICE void zstdOrder(SLUICE_IN(ZstdParams) p, u32 thread) {
    u64 turn = zstdTurn(p);
    if (p.pass == SLUICE_ZS_CLEAR) {
        if (thread < SLUICE_ZS_TURN_BYTES / 4u) storeWord(turn, thread, 0u);
        return;
    }
    if (thread >= p.slots * p.maxBlocks) return;
    ZstdSlot z = zstdSlot(p, thread / p.maxBlocks);
    u32 block = thread % p.maxBlocks;
    if (!zstdGoesOn(z, SLUICE_ZS_PHASE_TABLES) || block >= zstdBlocks(z)) return;
    u32 count = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES);
    if (count == 0u) return;
    // There are two bins for each number of bits, and a block has less than 2^16 sequences.
    u32 log = u32(findMSB(count)), bin = 2u * log + (log != 0u ? count >> (log - 1u) & 1u : 0u);
    bin = SLUICE_ZS_BINS - 1u - min(bin, SLUICE_ZS_BINS - 1u);
    if (p.pass == SLUICE_ZS_COUNT) {
        atomicAddWord(turn, SLUICE_ZS_TURN_BINS + bin, 1u);
        return;
    }
    u32 at = takeWord(turn, SLUICE_ZS_TURN_PLACED + bin, 1u);
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < bin; ++i)
        at += loadStoredWord(turn, SLUICE_ZS_TURN_BINS + i);
    if (at < p.slots * p.maxBlocks) storeWord(zstdOrderAt(p, at), 0u, thread);
}

SLUICE_DEVICE void zstdPlace(SLUICE_IN(ZstdParams) p, u32 index) {
    if (index >= p.slots) return;
    ZstdSlot z = zstdSlot(p, index);
    if (!zstdGoesOn(z, SLUICE_ZS_PHASE_OUTPUT)) return;
    u32 blocks = zstdBlocks(z), block = loadStoredWord(z.head, SLUICE_ZS_HEAD_PLACED),
        status = SLUICE_ST_OK;
    ZstdPlaces at;
    at.position = loadStoredWord(z.head, SLUICE_ZS_HEAD_POSITION);
    at.frameBegin = loadStoredWord(z.head, SLUICE_ZS_HEAD_FRAME_BEGIN);
    u32 r0 = loadStoredWord(z.head, SLUICE_ZS_HEAD_REPEATS),
        r1 = loadStoredWord(z.head, SLUICE_ZS_HEAD_REPEATS + 1u),
        r2 = loadStoredWord(z.head, SLUICE_ZS_HEAD_REPEATS + 2u);
    // After a fault in a dispatch before, there is nothing to do.
    if (loadStoredWord(z.head, SLUICE_ZS_HEAD_FAULT) != SLUICE_ZS_NO_FAULT) return;
    SLUICE_DONT_UNROLL
    for (u32 turn = 0u; turn < SLUICE_ZS_SERIAL_TURNS && block < blocks; ++turn) {
        if ((zstdBlockWord(z, block, SLUICE_ZS_BLOCK_INFO) & SLUICE_ZS_INFO_FIRST) != 0u) {
            at.frameBegin = at.position;
            r0 = SLUICE_ZS_FIRST_REPEATS & 255u;
            r1 = SLUICE_ZS_FIRST_REPEATS >> 8 & 255u;
            r2 = SLUICE_ZS_FIRST_REPEATS >> 16;
            if (z.dictionarySize != 0u) {
                r0 = zstdDictionaryWord(z, SLUICE_ZS_DICTIONARY_REPEATS);
                r1 = zstdDictionaryWord(z, SLUICE_ZS_DICTIONARY_REPEATS + 1u);
                r2 = zstdDictionaryWord(z, SLUICE_ZS_DICTIONARY_REPEATS + 2u);
            }
        }
        u32 end;
        status = zstdCheckSize(z, block, at, block + 1u == blocks, end);
        if (status != SLUICE_ST_OK) break;
        u32 e0 = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS),
            e1 = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + 1u),
            e2 = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + 2u);
        zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS, r0);
        zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + 1u, r1);
        zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_REPEATS + 2u, r2);
        zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_BEGIN, at.position);
        zstdSetBlockWord(z, block, SLUICE_ZS_BLOCK_FRAME_BEGIN, at.frameBegin);
        e0 = zstdResolve(e0, r0, r1, r2);
        e1 = zstdResolve(e1, r0, r1, r2);
        r2 = zstdResolve(e2, r0, r1, r2);
        r1 = e1;
        r0 = e0;
        at.position = end;
        ++block;
    }
    if (status == SLUICE_ST_OK && blocks == 0u && z.decoded != 0u) status = SLUICE_ST_TOO_SHORT;
    if (status != SLUICE_ST_OK) zstdFault(z, SLUICE_ZS_PHASE_OUTPUT, block, 0u, status);
    if (!sgLoopsGoOn() ||
        ((p.pass & SLUICE_ZS_LAST) != 0u && status == SLUICE_ST_OK && block < blocks))
        zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
    storeWord(z.head, SLUICE_ZS_HEAD_PLACED, block);
    storeWord(z.head, SLUICE_ZS_HEAD_POSITION, at.position);
    storeWord(z.head, SLUICE_ZS_HEAD_FRAME_BEGIN, at.frameBegin);
    storeWord(z.head, SLUICE_ZS_HEAD_REPEATS, r0);
    storeWord(z.head, SLUICE_ZS_HEAD_REPEATS + 1u, r1);
    storeWord(z.head, SLUICE_ZS_HEAD_REPEATS + 2u, r2);
}

SLUICE_KERNEL_END
#endif
