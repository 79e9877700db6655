// SPDX-License-Identifier: MIT OR Apache-2.0
// The step of the Zstandard decode that checks decoded sizes (phase 4 in docs/format.md, 12.3). One
// invocation per region adds up the sizes of its blocks, which gives each block its offset in the
// output, and finds the repeated offsets with which each block begins. Earlier passes of the same
// kernel choose the regions of a turn (zstdBeginTurn), and sort the turn's blocks before sequences
// and literals are decoded (zstdOrder).
#ifndef SLUICE_KERNELS_ZSTD_PLACE_H
#define SLUICE_KERNELS_ZSTD_PLACE_H

#include "zstd_slot.h"

SLUICE_KERNEL_BEGIN

// zstdOrder: how many blocks of each bin the workgroup has, later the next block's place in the
// list.
SLUICE_SHARED u32 sZstdBins[SLUICE_ZS_BINS];

// Offsets in the output of the block that zstdPlace takes next, and of its frame.
struct ZstdPlaces {
    u32 position, frameBegin;
};

// Checks the size of a block and returns a status. ends: this is the region's last block. `end`
// receives where the block's output ends.
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

// Stores which part of the pool in scratch a region has: it begins at unit `at` (units have
// SLUICE_ZS_UNIT bytes) and has room for blocks, then for literals, then for sequences.
SLUICE_DEVICE void zstdGivePool(u64 head, u32 at, u32 blocks, u32 literalUnits, u32 sequenceUnits) {
    storeWord(head, SLUICE_ZS_HEAD_POOL_AT, at);
    storeWord(head, SLUICE_ZS_HEAD_BLOCK_ROOM, blocks);
    storeWord(head, SLUICE_ZS_HEAD_LITERAL_UNITS, literalUnits);
    storeWord(head, SLUICE_ZS_HEAD_SEQUENCE_UNITS, sequenceUnits);
}

// Gives the regions from `first` on, whose needs a walk has measured, their parts of the pool, as
// far as the pool, the list of blocks and p.slots allow. There is always room for p.fullSlots
// regions. Returns how many regions have got a part. All lane groups of a workgroup do the same;
// the first one stores.
SLUICE_DEVICE u32 zstdShareOut(SLUICE_IN(ZstdParams) p, u32 first) {
    u32 count = 0u, units = 0u, blocks = 0u, most = min(p.slots, p.roundRegions - first),
        poolUnits = zstdPoolUnits(p);
    bool stores = lgIndex() == 0u;
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < most; i += 32u) {
        u32 n = i + lgLane(), unitsBefore, allUnits, blocksBefore, allBlocks;
        u64 head = zstdHead(p, first + n);
        u32 ownBlocks = max(min(loadStoredWord(head, SLUICE_ZS_HEAD_BLOCKS), p.maxBlocks), 1u),
            literals = min(loadStoredWord(head, SLUICE_ZS_HEAD_LITERALS),
                           SLUICE_ZS_MOST_LITERALS(p.maxRegionBytes, p.maxBlocks)),
            sequences = min(loadStoredWord(head, SLUICE_ZS_HEAD_SEQUENCES),
                            SLUICE_ZS_MOST_SEQUENCES(p.maxRegionBytes)),
            literalUnits = max(SLUICE_ZS_LITERAL_UNITS(literals), 1u),
            sequenceUnits = max(SLUICE_ZS_SEQUENCE_UNITS(sequences), 1u),
            own = SLUICE_ZS_BLOCK_UNITS(ownBlocks) + literalUnits + sequenceUnits;
        if (n >= most) own = ownBlocks = 0u;
        lgScan(own, unitsBefore, allUnits);
        lgScan(ownBlocks, blocksBefore, allBlocks);
        bool fits = n < most && units + unitsBefore + own <= poolUnits &&
                    blocks + blocksBefore + ownBlocks <= p.fullSlots * p.maxBlocks;
        if (fits && stores)
            zstdGivePool(head, units + unitsBefore, ownBlocks, literalUnits, sequenceUnits);
        u32 fitting = u32(bitCount(lgBallot(fits)));
        count += fitting;
        units += allUnits;
        blocks += allBlocks;
        if (fitting < 32u) break;
    }
    return count;
}

// Chooses the regions of a turn, which are decoded at the same time, gives each its part of the
// pool, and clears the turn's other words. If the round has only this turn, an invocation gives a
// region as much as it can need; otherwise one workgroup does all.
SLUICE_DEVICE void zstdBeginTurn(SLUICE_IN(ZstdParams) p, u32 thread) {
    u64 turn = zstdTurn(p);
    u32 first = 0u, count = p.roundRegions;
    if (p.roundRegions > p.fullSlots) {
        if ((p.pass & SLUICE_ZS_FIRST) == 0u)
            first = min(loadStoredWord(turn, SLUICE_ZS_TURN_NEXT), p.roundRegions);
        count = zstdShareOut(p, first);
        wgBarrierShared(); // all lane groups have read NEXT
    } else if (thread < count) {
        zstdGivePool(
            zstdHead(p, thread),
            thread * SLUICE_ZS_MOST_UNITS(p.maxRegionBytes, p.maxBlocks, p.flags), p.maxBlocks,
            SLUICE_ZS_LITERAL_UNITS(SLUICE_ZS_MOST_LITERALS(p.maxRegionBytes, p.maxBlocks)),
            SLUICE_ZS_SEQUENCE_UNITS(SLUICE_ZS_MOST_SEQUENCES(p.maxRegionBytes)));
    }
    if (thread >= 32u) return;
    storeWord(turn, SLUICE_ZS_TURN_BINS + thread, 0u);
    storeWord(turn, SLUICE_ZS_TURN_PLACED + thread, 0u);
    if (thread != 0u) return;
    storeWord(turn, SLUICE_ZS_TURN_FIRST, first);
    storeWord(turn, SLUICE_ZS_TURN_COUNT, count);
    storeWord(turn, SLUICE_ZS_TURN_NEXT, first + count);
}

// Returns the bin of a block, or SLUICE_ZS_BINS if neither its sequences nor its literals need to be
// decoded. There are two bins for each highest bit of the number of sequences. A block has at most
// 43,690, so there are 32 bins with the one of the blocks without sequences.
SLUICE_DEVICE u32 zstdBin(SLUICE_IN(ZstdSlot) z, u32 block) {
    u32 count = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SEQUENCES);
    if (count == 0u) return zstdHasHuffman(z, block) ? SLUICE_ZS_BINS - 1u : SLUICE_ZS_BINS;
    u32 log = u32(findMSB(count)),
        number = 1u + 2u * log + (log != 0u ? count >> (log - 1u) & 1u : 0u);
    return SLUICE_ZS_BINS - 1u - min(number, SLUICE_ZS_BINS - 1u);
}

// Sorts the blocks of the turn by their numbers of sequences, in two passes. Blocks that a team
// decodes together then have about the same number of sequences. A slot has
// SLUICE_ZS_ORDER_THREADS invocations, which are whole workgroups. The first pass counts the blocks
// of each bin. In the second pass, a workgroup takes places in the list for all its blocks at once.
SLUICE_DEVICE void zstdOrder(SLUICE_IN(ZstdParams) p, u32 thread) {
    u64 turn = zstdTurn(p);
    u32 threads = SLUICE_ZS_ORDER_THREADS(p.maxBlocks), slot = thread / threads,
        first = thread % threads, bin = wgInvocation(), before, all;
    ZstdSlot z = zstdSlot(p, slot);
    bool on = slot < zstdTurnRegions(p) && zstdGoesOn(z, SLUICE_ZS_PHASE_TABLES);
    u32 blocks = on ? zstdBlocks(z) : 0u;
    if (bin < SLUICE_ZS_BINS) sZstdBins[bin] = 0u;
    wgBarrierShared();
    SLUICE_DONT_UNROLL
    for (u32 block = first; block < blocks; block += threads) {
        u32 own = zstdBin(z, block);
        if (own < SLUICE_ZS_BINS) atomicAdd(SLUICE_AT(sZstdBins[own]), 1u);
    }
    wgBarrierShared();
    // In the second pass, a bin begins where the blocks of the bins before it end.
    lgScan(loadStoredWord(turn, SLUICE_ZS_TURN_BINS + lgLane()), before, all);
    u32 count = bin < SLUICE_ZS_BINS ? sZstdBins[bin] : 0u;
    if (p.pass == SLUICE_ZS_COUNT) {
        if (count != 0u) atomicAddWord(turn, SLUICE_ZS_TURN_BINS + bin, count);
    } else if (count != 0u) {
        sZstdBins[bin] = before + takeWord(turn, SLUICE_ZS_TURN_PLACED + bin, count);
    }
    wgBarrierShared();
    SLUICE_DONT_UNROLL
    for (u32 block = p.pass == SLUICE_ZS_ORDER ? first : blocks; block < blocks; block += threads) {
        u32 own = zstdBin(z, block);
        if (own >= SLUICE_ZS_BINS) continue;
        u32 at = atomicAdd(SLUICE_AT(sZstdBins[own]), 1u);
        storeWord(zstdOrderAt(p, at), 0u, slot * p.maxBlocks + block);
    }
    if (on && !sgLoopsGoOn()) zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
}

SLUICE_DEVICE void zstdPlace(SLUICE_IN(ZstdParams) p, u32 index) {
    if (index >= zstdTurnRegions(p)) return;
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
    // After a fault in an earlier dispatch there is nothing to do.
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
