// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcodes lists of regions of UASTC blocks (docs/uastc.md). GLSL and CUDA compile this text. An
// invocation has a block. A workgroup has a *piece* of a region, as many consecutive blocks as it
// has invocations; how many pieces a region may have is known from the command. The workgroup of a
// region that ends last writes its status.
//
// The includer provides the files of compat.h; storeUnit16, which stores 16 bytes; atomicAddGet,
// atomicOrWord, atomicMaxWord and atomicTake, which returns a word and makes it 0;
// deviceMemoryBarrier; and kThreads, the size of a workgroup. `kind` is one of SLUICE_UA_GROUP_*,
// and a constant.
#ifndef SLUICE_KERNELS_UASTC_H
#define SLUICE_KERNELS_UASTC_H

#include "uastc_targets.h"

SLUICE_KERNEL_BEGIN

SLUICE_SHARED u32 sUastcFound; // SLUICE_UA_ANY_*, of this piece

struct UastcRegion {
    u64 source, destination;
    u32 width, height, columns, blocks; // in texels, then in blocks; blocks 0: a bad region
};

SLUICE_DEVICE UastcRegion uastcRegion(SLUICE_IN(UastcParams) p, u32 index) {
    u64 at = add64(u64Of(p.regions), mul64(index, p.regionStride));
    UastcRegion region;
    region.source = joinU64(loadWord(at, 0u), loadWord(at, 1u));
    region.destination = joinU64(loadWord(at, 2u), loadWord(at, 3u));
    region.width = loadWord(at, 4u);
    region.height = loadWord(at, 5u);
    // No product below exceeds 64 bits, for sides that have been checked.
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

// Writes a region's status, and how many of its blocks are invalid.
SLUICE_DEVICE void uastcEndRegion(SLUICE_IN(UastcParams) p, u32 index, u32 status, u32 invalid,
                                  u32 first) {
    writeStatus(p.status, p.maxRegionCount, index, status);
    if (highWord(u64Of(p.invalid)) == 0u && lowWord(u64Of(p.invalid)) == 0u) return;
    storeWord(u64Of(p.invalid), 2u * index, invalid);
    storeWord(u64Of(p.invalid), 2u * index + 1u, first);
}

// Stores the texels of a block that lie in the level.
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
    u32x4 unit = loadStoredUnit(region.source, index); // which is overwritten below if in place
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

// `group` is the workgroup's number in the dispatch.
SLUICE_DEVICE void uastcPiece(SLUICE_IN(UastcParams) p, u32 group, u32 kind) {
    u32 index = group / p.pieces, piece = group - index * p.pieces;
    if (index >= countOf(u64Of(p.regionCount), p.maxRegionCount)) return;
    UastcRegion region = uastcRegion(p, index);
    u32 first = piece * kThreads, block = first + wgInvocation();
    if (first >= region.blocks) {
        if (region.blocks == 0u && piece == 0u && wgInvocation() == 0u)
            uastcEndRegion(p, index, SLUICE_ST_BAD_REGION, 0u, ~0u);
        return;
    }
    if (wgInvocation() == 0u) sUastcFound = 0u;
    wgBarrierShared();
    u64 words = add64(u64Of(p.scratch), mul64(index, 4u * SLUICE_UA_SCRATCH_WORDS));
    if (block < region.blocks && !uastcTranscode(p, region, block, kind)) {
        atomicAddWord(words, SLUICE_UA_INVALID, 1u);
        atomicMaxWord(words, SLUICE_UA_FIRST, ~block);
        deviceMemoryBarrier();
        atomicOr(SLUICE_AT(sUastcFound), SLUICE_UA_ANY_INVALID);
    }
    if (!sgLoopsGoOn()) atomicOr(SLUICE_AT(sUastcFound), SLUICE_UA_ANY_STOPPED);
    wgBarrierShared();
    if (wgInvocation() != 0u) return;
    if (sUastcFound != 0u) atomicOrWord(words, SLUICE_UA_ENDED, sUastcFound);
    u32 before = atomicAddGet(words, SLUICE_UA_ENDED, 1u), pieces = (region.blocks - 1u) / kThreads;
    if ((before & ~(SLUICE_UA_ANY_INVALID | SLUICE_UA_ANY_STOPPED)) != pieces) return;
    // All pieces have ended. Their accesses to these words are atomic, and invocations that found
    // invalid blocks waited until theirs were visible.
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
