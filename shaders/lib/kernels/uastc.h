// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcodes lists of regions of UASTC blocks (docs/uastc.md). GLSL and CUDA compile this text. A
// workgroup transcodes a *piece* of a region: consecutive blocks, one for each of its invocations,
// or SLUICE_UA_EACH(kind) for each if it sorts them. Each region gets p.pieces workgroups. The last
// one to end writes the region's status.
//
// Neighbouring blocks often have different modes, and the invocations of a subgroup would execute
// the code of all their modes one after the other. So with SLUICE_UASTC_SORTS, a workgroup first
// sorts its blocks by mode. For BC1 to BC5 and ETC it does not, because their encoders, which take
// most of the time, do the same for every mode.
//
// The includer provides the functions that compat.h names; storeUnit16, which stores 16 bytes;
// atomicAddGet, atomicOrWord, atomicMaxWord and atomicTake, which returns a word and makes it 0;
// deviceMemoryBarrier; and kThreads, the size of a workgroup. The argument `kind` is a constant,
// one of SLUICE_UA_GROUP_*.
#ifndef SLUICE_KERNELS_UASTC_H
#define SLUICE_KERNELS_UASTC_H

#include "uastc_targets.h"

SLUICE_KERNEL_BEGIN

SLUICE_SHARED u32 sUastcFound; // the flags SLUICE_UA_ANY_* of this piece

#ifdef SLUICE_UASTC_SORTS
// Blocks are sorted into bins: one for each mode, one for invalid modes (30), and one for block
// numbers past the end of the region (31). There are 32, so that a lane group can scan their
// counts.
SLUICE_CONSTANT u32 kUastcBins = 32u, kUastcAbsent = 31u,
                    kUastcMost = SLUICE_UA_MOST_EACH * kThreads;
SLUICE_SHARED u32 sUastcCounts[kUastcBins]; // blocks in each bin
SLUICE_SHARED u32 sUastcBegins[kUastcBins]; // blocks in the bins before
SLUICE_SHARED u32 sUastcSorted[kUastcMost]; // numbers of blocks in the piece, in the order of bins
#endif

struct UastcRegion {
    u64 source, destination;
    u32 width, height, columns, blocks; // sides in texels; blocks is 0 if the region is bad
};

SLUICE_DEVICE UastcRegion uastcRegion(SLUICE_IN(UastcParams) p, u32 index) {
    u64 at = add64(u64Of(p.regions), mul64(index, p.regionStride));
    UastcRegion region;
    region.source = joinU64(loadWord(at, 0u), loadWord(at, 1u));
    region.destination = joinU64(loadWord(at, 2u), loadWord(at, 3u));
    region.width = loadWord(at, 4u);
    region.height = loadWord(at, 5u);
    // If the sides are within these limits, no product below exceeds 64 bits.
    bool good = region.width - 1u < SLUICE_UA_MAX_SIDE && region.height - 1u < SLUICE_UA_MAX_SIDE;
    u32 rows = (region.height + 3u) >> 2;
    region.columns = (region.width + 3u) >> 2;
    region.blocks = 0u;
    if (!good) return region;
    u64 blocks = mul64(region.columns, rows),
        size = p.target == SLUICE_UA_RGBA8 ? scale64(mul64(region.width, region.height), 4u)
                                           : scale64(blocks, uastcBlockBytes(p.target));
    u32 alignment = p.target == SLUICE_UA_RGBA8 ? 4u : uastcBlockBytes(p.target);
    good = highWord(blocks) == 0u && lowWord(blocks) <= p.maxBlocks &&
           (lowWord(region.source) & 15u) == 0u &&
           (lowWord(region.destination) & (alignment - 1u)) == 0u &&
           inside64(region.source, scale64(blocks, SLUICE_UA_BLOCK_BYTES), u64Of(p.source),
                    u64Of(p.sourceSize)) &&
           inside64(region.destination, size, u64Of(p.destination), u64Of(p.destinationSize)) &&
           (p.inPlace == 0u || region.source == region.destination);
    if (good) region.blocks = lowWord(blocks);
    return region;
}

// Writes a region's status and, if the command wants them, the number of its invalid blocks and the
// index of the first one.
SLUICE_DEVICE void uastcEndRegion(SLUICE_IN(UastcParams) p, u32 index, u32 status, u32 invalid,
                                  u32 first) {
    writeStatus(p.status, p.maxRegionCount, index, status);
    if (highWord(u64Of(p.invalid)) == 0u && lowWord(u64Of(p.invalid)) == 0u) return;
    storeWord(u64Of(p.invalid), 2u * index, invalid);
    storeWord(u64Of(p.invalid), 2u * index + 1u, first);
}

// Stores those texels of a block that lie inside the region, whose sides need not be multiples of
// 4.
SLUICE_DEVICE void uastcStoreTexels(SLUICE_IN(UastcRegion) region, u32 block,
                                    SLUICE_IN(UastcTexels) texels) {
    u32 row = block / region.columns, x = 4u * (block - row * region.columns), y = 4u * row;
    u32 across = SLUICE_MIN(region.width - x, 4u), down = SLUICE_MIN(region.height - y, 4u);
    SLUICE_UNROLL
    for (u32 j = 0u; j < 4u; ++j) {
        if (j >= down) continue;
        u64 at = add64(region.destination, scale64(add64(mul64(y + j, region.width), wide(x)), 4u));
        if (across == 4u && (lowWord(at) & 15u) == 0u) {
            storeUnit16(at, texels.t[4u * j], texels.t[4u * j + 1u], texels.t[4u * j + 2u],
                        texels.t[4u * j + 3u]);
        } else {
            SLUICE_UNROLL
            for (u32 i = 0u; i < 4u; ++i)
                if (i < across) storeWord(at, i, texels.t[4u * j + i]);
        }
    }
}

// Transcodes block `index` of a region. Returns whether it is valid.
SLUICE_DEVICE bool uastcTranscode(SLUICE_IN(UastcParams) p, SLUICE_IN(UastcRegion) region,
                                  u32 index, u32 kind) {
    u32x4 unit = loadStoredUnit(region.source, index); // in place, overwritten below
    UastcBits block;
    block.x = unit.x;
    block.y = unit.y;
    block.z = unit.z;
    block.w = unit.w;
    UastcShape shape = uastcShape(block);
    uastcReplaceInvalid(block, shape);
    UastcAllEnds all = uastcAllEnds(block, shape);
    if (kind == SLUICE_UA_GROUP_RGBA8) {
        uastcStoreTexels(region, index, uastcTexels(block, shape, all));
        return shape.valid != 0u;
    }
    UastcBits made;
    if (kind == SLUICE_UA_GROUP_BC7)
        made = uastcBc7(block, shape, all);
    else if (kind == SLUICE_UA_GROUP_ASTC)
        made = uastcAstc(block, shape, all);
    else if (kind == SLUICE_UA_GROUP_BC)
        made = uastcBc(p.target, block, shape, all, uastcTexels(block, shape, all));
    else
        made = uastcEtc(p.target, block, shape, uastcTexels(block, shape, all));
    u64 at = add64(region.destination, mul64(index, uastcBlockBytes(p.target)));
    if (uastcBlockBytes(p.target) == SLUICE_UA_BLOCK_BYTES) {
        storeUnit16(at, made.x, made.y, made.z, made.w);
    } else {
        storeWord(at, 0u, made.x);
        storeWord(at, 1u, made.y);
    }
    return shape.valid != 0u;
}

#ifdef SLUICE_UASTC_SORTS
// Returns the mask of the lanes whose `bin` is the same as this lane's.
SLUICE_DEVICE u32 uastcPeers(u32 bin) {
    u32 peers = 0xffffffffu;
    SLUICE_UNROLL
    for (u32 bit = 0u; bit < 5u; ++bit) {
        bool has = (bin >> bit & 1u) != 0u;
        u32 with = lgBallot(has);
        peers &= has ? with : ~with;
    }
    return peers;
}

// Writes the numbers of the piece's blocks to sUastcSorted, in the order of their modes. Blocks of
// one mode may come in any order.
SLUICE_DEVICE void uastcSort(SLUICE_IN(UastcRegion) region, u32 first) {
    u32 bins[SLUICE_UA_MOST_EACH], places[SLUICE_UA_MOST_EACH];
    if (wgInvocation() < kUastcBins) sUastcCounts[wgInvocation()] = 0u;
    SLUICE_UNROLL
    for (u32 k = 0u; k < SLUICE_UA_MOST_EACH; ++k) {
        u32 block = first + k * kThreads + wgInvocation();
        UastcBits bits;
        bits.x = bits.y = bits.z = bits.w = 0u;
        if (block < region.blocks) bits.x = loadStoredWord(region.source, 4u * block);
        bins[k] =
            block < region.blocks ? SLUICE_MIN(uastcMode(bits), kUastcAbsent - 1u) : kUastcAbsent;
    }
    wgBarrierShared();
    SLUICE_UNROLL
    for (u32 k = 0u; k < SLUICE_UA_MOST_EACH; ++k) {
        u32 peers = uastcPeers(bins[k]), rank = u32(bitCount(peers & lgLanesBelow())), begin = 0u;
        if (rank == 0u) begin = atomicAdd(SLUICE_AT(sUastcCounts[bins[k]]), u32(bitCount(peers)));
        lgShare(begin);
        places[k] = lgShared(begin, u32(findLSB(peers))) + rank;
    }
    wgBarrierShared();
    u32 before, total;
    lgScan(sUastcCounts[lgLane()], before, total);
    if (lgIndex() == 0u) sUastcBegins[lgLane()] = before;
    wgBarrierShared();
    SLUICE_UNROLL
    for (u32 k = 0u; k < SLUICE_UA_MOST_EACH; ++k)
        sUastcSorted[SLUICE_MIN(sUastcBegins[bins[k]] + places[k], kUastcMost - 1u)] =
            k * kThreads + wgInvocation();
    wgBarrierShared();
}
#endif

// Transcodes block `index` of a region, if the region has that many. If the block is invalid,
// counts it in the region's words of scratch (at `words`) and sets a flag in sUastcFound.
SLUICE_DEVICE void uastcCheckedBlock(SLUICE_IN(UastcParams) p, SLUICE_IN(UastcRegion) region,
                                     u64 words, u32 index, u32 kind) {
    if (index >= region.blocks || uastcTranscode(p, region, index, kind)) return;
    atomicAddWord(words, SLUICE_UA_INVALID, 1u);
    atomicMaxWord(words, SLUICE_UA_FIRST, ~index);
    deviceMemoryBarrier();
    atomicOr(SLUICE_AT(sUastcFound), SLUICE_UA_ANY_INVALID);
}

// Transcodes the piece of a region, consecutive blocks, that belongs to one workgroup. `group` is
// the workgroup's number in the dispatch.
SLUICE_DEVICE void uastcPiece(SLUICE_IN(UastcParams) p, u32 group, u32 kind) {
    u32 index = group / p.pieces, piece = group - index * p.pieces;
    if (index >= countOf(u64Of(p.regionCount), p.maxRegionCount)) return;
    UastcRegion region = uastcRegion(p, index);
#ifdef SLUICE_UASTC_SORTS
    u32 each = SLUICE_UA_EACH(kind);
#else
    u32 each = 1u;
#endif
    u32 first = piece * each * kThreads;
    if (first >= region.blocks) {
        if (region.blocks == 0u && piece == 0u && wgInvocation() == 0u)
            uastcEndRegion(p, index, SLUICE_ST_BAD_REGION, 0u, ~0u);
        return;
    }
    if (wgInvocation() == 0u) sUastcFound = 0u;
    u64 words = add64(u64Of(p.scratch), mul64(index, 4u * SLUICE_UA_SCRATCH_WORDS));
#ifdef SLUICE_UASTC_SORTS
    bool sorts = each == SLUICE_UA_MOST_EACH;
    if (sorts) uastcSort(region, first);
    wgBarrierShared();
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < each; ++k) {
        u32 number = k * kThreads + wgInvocation();
        uastcCheckedBlock(p, region, words, first + (sorts ? sUastcSorted[number] : number), kind);
    }
#else
    // There is no loop here. With a loop, SwiftShader needs 12 GiB of memory to compile the kernel
    // (seen with Debian's chromium-common 156), without it 1 GiB.
    wgBarrierShared();
    uastcCheckedBlock(p, region, words, first + wgInvocation(), kind);
#endif
    if (!sgLoopsGoOn()) atomicOr(SLUICE_AT(sUastcFound), SLUICE_UA_ANY_STOPPED);
    wgBarrierShared();
    if (wgInvocation() != 0u) return;
    if (sUastcFound != 0u) atomicOrWord(words, SLUICE_UA_ENDED, sUastcFound);
    u32 before = atomicAddGet(words, SLUICE_UA_ENDED, 1u),
        pieces = (region.blocks - 1u) / (each * kThreads);
    if ((before & ~(SLUICE_UA_ANY_INVALID | SLUICE_UA_ANY_STOPPED)) != pieces) return;
    // All pieces have ended, and their accesses to these words are atomic. A piece that has found
    // an invalid block has made INVALID and FIRST visible before it counted itself in ENDED.
    u32 status = SLUICE_ST_OK, invalid = 0u, least = ~0u;
    atomicTake(words, SLUICE_UA_ENDED);
    if ((before & SLUICE_UA_ANY_INVALID) != 0u) {
        deviceMemoryBarrier();
        status = SLUICE_ST_BAD_CODE;
        invalid = atomicTake(words, SLUICE_UA_INVALID);
        least = ~atomicTake(words, SLUICE_UA_FIRST);
    }
    if ((before & SLUICE_UA_ANY_STOPPED) != 0u) status = SLUICE_ST_INTERNAL;
    uastcEndRegion(p, index, status, invalid, least);
}

SLUICE_KERNEL_END
#endif
