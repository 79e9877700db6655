// SPDX-License-Identifier: MIT OR Apache-2.0
// Checksums of decoded tiles (docs/format.md, section 3), one tile per lane group. The tile is cut
// into 32 pieces, and each lane computes the XXH32 of one piece. The checksum is the XXH32 of these
// 32 words (github.com/Cyan4973/xxHash, doc/xxhash_spec.md; the seed is 0).
//
// The includer provides regions (region_params.glsl, region.cuh) and functions that read a tile:
// linearTile and pitchedTile return the Tile of a region without or with padding between rows;
// tileWord and tileByte read from that Tile.
#ifndef SLUICE_KERNELS_CHECKSUM_H
#define SLUICE_KERNELS_CHECKSUM_H

#include "../compat.h"
#include "../layout/regions.h"

SLUICE_KERNEL_BEGIN

SLUICE_CONSTANT u32 kXxhPrime1 = 0x9E3779B1u, kXxhPrime2 = 0x85EBCA77u, kXxhPrime3 = 0xC2B2AE3Du,
                    kXxhPrime4 = 0x27D4EB2Fu, kXxhPrime5 = 0x165667B1u;

struct XxhSums {
    u32 a, b, c, d;
};

SLUICE_DEVICE XxhSums xxhStart() {
    XxhSums sums;
    sums.a = kXxhPrime1 + kXxhPrime2;
    sums.b = kXxhPrime2;
    sums.c = 0u;
    sums.d = 0u - kXxhPrime1;
    return sums;
}

SLUICE_DEVICE u32 xxhRotate(u32 value, u32 bits) { return value << bits | value >> (32u - bits); }

SLUICE_DEVICE u32 xxhRound(u32 sum, u32 word) {
    return xxhRotate(sum + word * kXxhPrime2, 13u) * kXxhPrime1;
}

SLUICE_DEVICE u32 xxhMerge(XxhSums sums) {
    return xxhRotate(sums.a, 1u) + xxhRotate(sums.b, 7u) + xxhRotate(sums.c, 12u) +
           xxhRotate(sums.d, 18u);
}

SLUICE_DEVICE u32 xxhAvalanche(u32 hash) {
    hash = (hash ^ hash >> 15) * kXxhPrime2;
    hash = (hash ^ hash >> 13) * kXxhPrime3;
    return hash ^ hash >> 16;
}

// Returns the XXH32 of `size` bytes of a tile, from byte `begin` on, which is a multiple of 4.
SLUICE_GENERIC(Tile)
SLUICE_DEVICE u32 xxh32(Tile tile, u32 begin, u32 size) {
    u32 hash = kXxhPrime5, at = 0u;
    if (size >= 16u) {
        XxhSums sums = xxhStart();
        for (; at + 16u <= size; at += 16u) {
            sums.a = xxhRound(sums.a, tileWord(tile, begin + at));
            sums.b = xxhRound(sums.b, tileWord(tile, begin + at + 4u));
            sums.c = xxhRound(sums.c, tileWord(tile, begin + at + 8u));
            sums.d = xxhRound(sums.d, tileWord(tile, begin + at + 12u));
        }
        hash = xxhMerge(sums);
    }
    hash += size;
    SLUICE_DONT_UNROLL
    for (; at + 4u <= size; at += 4u)
        hash = xxhRotate(hash + tileWord(tile, begin + at) * kXxhPrime3, 17u) * kXxhPrime4;
    SLUICE_DONT_UNROLL
    for (; at < size; ++at)
        hash = xxhRotate(hash + tileByte(tile, begin + at) * kXxhPrime5, 11u) * kXxhPrime1;
    return xxhAvalanche(hash);
}

// Returns the XXH32 of the 32 words that the lanes hold, lane 0's first.
SLUICE_DEVICE u32 xxh32OfLanes(u32 word) {
    lgShare(word);
    XxhSums sums = xxhStart();
    SLUICE_UNROLL
    for (u32 lane = 0u; lane < 32u; lane += 4u) {
        sums.a = xxhRound(sums.a, lgShared(word, lane));
        sums.b = xxhRound(sums.b, lgShared(word, lane + 1u));
        sums.c = xxhRound(sums.c, lgShared(word, lane + 2u));
        sums.d = xxhRound(sums.d, lgShared(word, lane + 3u));
    }
    return xxhAvalanche(xxhMerge(sums) + 128u);
}

// If tile `index` has been decoded, compares its checksum with the expected one and sets its status
// to OK or BAD_CHECKSUM.
SLUICE_DEVICE void checksumTile(SLUICE_IN(RegionParams) p, u32 index) {
    u32 status = SLUICE_ST_PENDING, piece = 0u;
    if (index < regionCount(p)) status = loadWord(u64Of(p.status), index);
    bool checked = status == SLUICE_ST_OK || status == SLUICE_ST_UNVERIFIED, allowed = false;
    if (!wgAny(checked)) return;
    if (checked) {
        // The decode has found this region valid. But the list of regions may have changed since,
        // and must not lead outside the destination.
        Region region = loadRegion(p, index);
        allowed = destinationAllowed(p, region, SLUICE_MAX_TILE_BYTES);
        if (allowed) {
            u32 size = lowWord(region.size);
            u32 pieceBytes = 4u * (((size + 3u) / 4u + 31u) / 32u);
            u32 begin = min(size, pieceBytes * lgLane()), bytes = min(pieceBytes, size - begin);
            if (p.rowBytes == 0u)
                piece = xxh32(linearTile(p, region.destination), begin, bytes);
            else
                piece = xxh32(pitchedTile(p, region.destination), begin, bytes);
        }
    }
    u32 hash = xxh32OfLanes(piece);
    if (!checked || lgLane() != 0u) return;
    if (!allowed || hash != loadWord(u64Of(p.expected), index))
        writeStatus(p.status, p.maxRegionCount, index, SLUICE_ST_BAD_CHECKSUM);
    else if (status != SLUICE_ST_OK)
        storeWord(u64Of(p.status), index, SLUICE_ST_OK);
}

SLUICE_KERNEL_END
#endif
